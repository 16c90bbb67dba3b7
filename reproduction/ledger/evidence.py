"""The kinds of evidence a claim can rest on. Each computes its own verdict; none is typed in."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, Protocol, Self

import sympy as sp

from focal_lib.metrics.intervals import Interval
from reproduction.ledger.certificates import checker
from reproduction.ledger.certificates.checker import Box
from reproduction.ledger.judgement import HOLDS, NOTHING, SO_HERE, Verdict
from reproduction.ledger.measurement import Measurement
from reproduction.pages.tables import in_words


class Evidence(Protocol):
    """Anything with a verdict and a text a reader can follow."""

    @property
    def verdict(self) -> Verdict: ...

    def describe(self) -> str:
        """Markdown, with the numbers that the verdict rests on."""
        ...

    def conclude(self) -> str:
        """What the verdict means, in one line: 'it holds: sympy reduced each of the 5 steps of a proof'."""
        ...

    def would_change(self) -> str:
        """What would make the verdict change, in one line: 'a step that sympy does not reduce'."""
        ...


@dataclass(frozen=True)
class Step:
    """One step of a derivation: what it says and what is left of it after sympy."""

    text: str
    residual: Any  # a sympy expression that must be 0, a bool that must be True, or several of them

    @property
    def holds(self) -> bool:
        if isinstance(self.residual, tuple):
            return bool(self.residual) and all(map(_holds, self.residual))
        return _holds(self.residual)


def _holds(residual: Any) -> bool:
    if isinstance(residual, sp.Basic) and not isinstance(residual, sp.logic.boolalg.Boolean):
        return bool(residual == 0)
    return bool(residual == True)  # noqa: E712  (sympy's true is not Python's)


def step(text: str, left: Any, right: Any = None, simplify: Callable[[Any], Any] = sp.simplify) -> Step:
    """The step left = right, reduced by sympy now; with one side, a condition that must be true."""
    if right is None:
        return Step(text, left)
    return Step(text, simplify(sp.sympify(left) - sp.sympify(right)))


def step_of_several(text: str, *equations: tuple[Any, Any]) -> Step:
    """A step that says several things at once: each (left, right) is asked apart, so that no errors cancel."""
    return Step(text, tuple(sp.simplify(sp.sympify(left) - sp.sympify(right)) for left, right in equations))


@dataclass(frozen=True)
class Derivation:
    """A proof whose every step sympy reduced to 0 or to true: PROVED. A step that two lemmas share stands once."""

    steps: tuple[Step, ...]
    remark: str = ""
    where: sp.Set | None = None  # the cases it proves, as a side of a `Conditional`

    def __post_init__(self) -> None:
        object.__setattr__(self, "steps", tuple(dict.fromkeys(self.steps)))

    @property
    def verdict(self) -> Verdict:
        return Verdict.PROVED if self.steps and all(s.holds for s in self.steps) else Verdict.FAILED

    def describe(self) -> str:
        lines = [f"{i}. {'✓' if s.holds else '✗'} {s.text}" for i, s in enumerate(self.steps, 1)]
        return "\n".join(lines) + (f"\n\n{self.remark}" if self.remark else "")

    def conclude(self) -> str:
        if self.verdict == Verdict.FAILED:
            return NOTHING
        return f"it holds: sympy reduced {_each(len(self.steps), 'step')} of a proof"

    def would_change(self) -> str:
        if failing := [str(i) for i, s in enumerate(self.steps, 1) if not s.holds]:
            return f"a proof of step {', '.join(failing)}, which sympy does not reduce"
        return (
            "a step that sympy does not reduce, or one that is missing" if self.steps else "a proof: there is no step"
        )


def _each(count: int, name: str) -> str:
    """'each of the 5 steps', 'the one step'."""
    return f"the one {name}" if count == 1 else f"each of the {count:,} {name}{'es' if name[-1] == 'x' else 's'}"


@dataclass(frozen=True)
class Disproof:
    """A derivation of the opposite: REFUTED without a single point, as for 'may get stuck'."""

    opposite: Derivation

    @property
    def where(self) -> sp.Set | None:
        """The cases in which the opposite is proved."""
        return self.opposite.where

    @property
    def verdict(self) -> Verdict:
        return Verdict.REFUTED if self.opposite.verdict == Verdict.PROVED else Verdict.FAILED

    def describe(self) -> str:
        return f"The opposite is derived:\n\n{self.opposite.describe()}"

    def conclude(self) -> str:
        if self.verdict == Verdict.FAILED:
            return NOTHING
        return f"it is false: sympy reduced {_each(len(self.opposite.steps), 'step')} of a proof of the opposite"

    def would_change(self) -> str:
        return f"in the proof of the opposite {self.opposite.would_change()}"


@dataclass(frozen=True)
class Certificate:
    """Signs proved by ball arithmetic on every box of a cover, and by analysis outside it.

    `functions` are what must be positive, sympy expressions in `symbol`; `boxes` is the subdivision, found by other
    code. The verdict comes from theory.certificates.checker alone: cover, signs, and the order of the zero at the low
    end of every box of higher order.
    """

    statement: str
    functions: Mapping[str, sp.Expr]
    symbol: sp.Symbol
    boxes: Mapping[str, tuple[Box, ...]]  # for each function, a cover of [low, high]
    low: Fraction
    high: Fraction
    remainder: tuple[Step, ...] = ()

    def holds(self) -> bool:
        """Whether every function has boxes that prove it positive."""
        return self._boxes_hold

    @functools.cached_property
    def _boxes_hold(self) -> bool:  # thousands of boxes: checked once
        return bool(self.functions) and all(
            checker.certifies(function, self.symbol, self.boxes.get(name, ()), self.low, self.high)
            for name, function in self.functions.items()
        )

    @property
    def verdict(self) -> Verdict:
        return Verdict.CERTIFIED if self.holds() and all(s.holds for s in self.remainder) else Verdict.FAILED

    def as_json(self) -> dict[str, Any]:
        """Statement, range and boxes as (low, high, order of the derivative), fractions as 'a/b'."""
        boxes = {name: [(str(b.low), str(b.high), b.order) for b in found] for name, found in self.boxes.items()}
        return {"statement": self.statement, "low": str(self.low), "high": str(self.high), "boxes": boxes}

    def describe(self) -> str:
        count = sum(len(boxes) for boxes in self.boxes.values())
        rest = "\n".join(f"* {'✓' if s.holds else '✗'} {s.text}" for s in self.remainder)
        zeros = {box.low: box.order for boxes in self.boxes.values() for box in boxes if box.order}
        known = f", the order of the zero at {', '.join(map(str, zeros))} by exact Taylor coefficients" if zeros else ""
        return f"{self.statement}: certified on {count:,} boxes{known}." + (f"\n\n{rest}" if rest else "")

    def conclude(self) -> str:
        if self.verdict == Verdict.FAILED:
            return NOTHING
        text = (
            f"it holds: ball arithmetic proves a sign on {_each(sum(map(len, self.boxes.values())), 'box')} of a cover"
        )
        return f"{text}, sympy {_each(len(self.remainder), 'step')} outside" if self.remainder else text

    def would_change(self) -> str:
        outside = ", or a step outside the cover that does not reduce" if self.remainder else ""
        return f"a box on which the sign is not proved, or a gap between boxes{outside}"


@dataclass(frozen=True)
class Counterexample:
    """A point where the statement is false by `margin`, an Arb ball that excludes 0: REFUTED."""

    text: str
    margin: Any  # flint.arb, proved > 0
    how: str = "proved by ball arithmetic"
    where: sp.Set | None = None  # the case that it is one of, as a side of a `Conditional`

    @property
    def verdict(self) -> Verdict:
        return Verdict.REFUTED if bool(self.margin > 0) else Verdict.FAILED

    def describe(self) -> str:
        return f"{self.text} (violated by {float(self.margin.mid()):.6g}, {self.how})"

    def conclude(self) -> str:
        if self.verdict == Verdict.FAILED:
            return NOTHING
        return f"it is false: at one point it is violated by {float(self.margin.mid()):.3g}, {self.how}"

    def would_change(self) -> str:
        if self.verdict == Verdict.FAILED:
            return "a margin proved to be above 0"
        return "nothing: one point where it is false suffices"


@dataclass(frozen=True)
class Search:
    """A dense search that found no violation: NUMERIC. `worst` is the smallest margin seen."""

    domain: str
    points: int
    worst: float
    tolerance: float = 0.0

    @property
    def verdict(self) -> Verdict:
        return Verdict.NUMERIC if self.points > 0 and self.worst >= -self.tolerance else Verdict.FAILED

    def describe(self) -> str:
        return f"{self.points:,} points over {self.domain}; smallest margin {self.worst:.4g}"

    def conclude(self) -> str:
        if self.verdict == Verdict.FAILED:
            return NOTHING
        return f"it holds at {_each(self.points, 'point')} tried, which is no proof"

    def would_change(self) -> str:
        margin = f"a margin below {0 - self.tolerance:g}"
        if self.verdict == Verdict.FAILED:
            return f"no point with {margin}; the smallest found is {self.worst:.4g}"
        return f"one point with {margin} (the smallest found: {self.worst:.4g}); or, for the better, a proof"


@dataclass(frozen=True)
class Conditional:
    """True under a condition, false elsewhere or at least somewhere else.

    The condition is the set of cases that `inside` says it proves, its `where`. `outside` is a Disproof, of every other
    case of `domain`, or a Counterexample, which is one: 'if and only if' is said where the two sides leave no case out.

    Raises:
        ValueError: a side does not say where; the sets overlap, or leave `domain`; a Disproof leaves a case out.
    """

    parameter: str  # what the condition is about, in LaTeX
    domain: sp.Set  # the cases of the claim
    inside: Evidence
    outside: Disproof | Counterexample
    names: Mapping[sp.Expr, str] = field(default_factory=dict)  # LaTeX for ends of the sets that have a name
    remark: str = ""  # what the condition is, after it

    def __post_init__(self) -> None:
        within, beyond = _where(self.inside), _where(self.outside)
        apart = within.is_subset(self.domain - beyond) and beyond.is_subset(self.domain - within)
        if not apart or within.is_empty or beyond.is_empty:
            raise ValueError(
                f"the two sides must be apart, within {self.domain}, and neither empty. Got {within} and {beyond}."
            )
        if isinstance(self.outside, Disproof) and not self.exact:
            raise ValueError(
                f"the two sides must be all cases, {self.domain}: a disproof is of every other. "
                f"Got {within} and {beyond}."
            )

    @property
    def exact(self) -> bool:
        """Whether the two sides leave no case out."""
        within, beyond = _where(self.inside), _where(self.outside)
        return bool(self.domain - within == beyond and self.domain - beyond == within)

    @property
    def condition(self) -> str:
        """In Markdown, from the set that `inside` proves."""
        return say_set(self.parameter, _where(self.inside), self.names) + self.remark

    @property
    def verdict(self) -> Verdict:
        sound = self.inside.verdict in HOLDS and self.outside.verdict == Verdict.REFUTED
        return Verdict.CONDITIONAL if sound else Verdict.FAILED

    @property
    def weaker(self) -> Verdict:
        """What the weaker of the two sides rests on; a disproof is a proof, a counterexample a ball's sign."""
        outside = Verdict.PROVED if isinstance(self.outside, Disproof) else Verdict.CERTIFIED
        sides = (self.inside.verdict, outside if self.outside.verdict == Verdict.REFUTED else Verdict.FAILED)
        return max(sides, key=list(Verdict).index)

    def describe(self) -> str:
        head = f"Holds if and only if {self.condition}" if self.exact else f"Holds if {self.condition}"
        fails = "Fails everywhere else" if isinstance(self.outside, Disproof) else "Fails, for example, at"
        return (
            f"{head} ({self.weaker}).\n\n*Inside* ({self.inside.verdict}):\n\n"
            f"{self.inside.describe()}\n\n*{fails}*:\n\n{self.outside.describe()}"
        )

    def conclude(self) -> str:
        if self.verdict == Verdict.FAILED:
            return NOTHING
        if self.exact:
            return f"it holds if {self.condition}, and only then"
        return f"it holds if {self.condition}; elsewhere there is a point where it is false"

    def would_change(self) -> str:
        inside = self.inside.would_change()
        if isinstance(self.outside, Disproof):
            outside = self.outside.opposite.would_change()
            return f"{inside}, on either side" if inside == outside else f"inside, {inside}; outside, {outside}"
        if self.exact:
            return f"inside, {inside}; outside, nothing: one point where it is false suffices"
        open_ = say_set(self.parameter, self.domain - _where(self.inside) - _where(self.outside), self.names)
        return f"inside, {inside}; or, for the better, a proof for some of the other cases, {open_}"


def _where(side: Evidence) -> sp.Set:
    """The cases that a side of a `Conditional` says it is about."""
    found = getattr(side, "where", None)
    if not isinstance(found, sp.Set):
        raise ValueError(f"each side of a condition must say where, with a set of sympy. Got {found!r}.")
    return found


def say_set(parameter: str, cases: sp.Set, names: Mapping[sp.Expr, str] | None = None) -> str:
    """'$0 < p_0 \\le 1$', '$q \\in \\{0, 1\\}$': that the parameter lies in the set.

    Raises:
        NotImplementedError: neither an interval, nor finitely many cases, nor several of these.
    """
    if isinstance(cases, sp.Union):
        parts = sorted(cases.args, key=sp.default_sort_key)
        return " or ".join(say_set(parameter, part, names) for part in parts)
    if isinstance(cases, sp.FiniteSet):
        told = [_say_end(element, names) for element in sorted(cases.args)]
        return f"${parameter} = {told[0]}$" if len(told) == 1 else rf"${parameter} \in \{{{', '.join(told)}\}}$"
    if not isinstance(cases, sp.Interval):
        raise NotImplementedError(f"cases must be intervals or finitely many. Got {cases}.")
    above, below = cases.start, cases.end
    from_, to = ("<" if cases.left_open else r"\le"), ("<" if cases.right_open else r"\le")
    if below == sp.oo:
        greater = ">" if cases.left_open else r"\ge"
        return f"${parameter} {greater} {_say_end(above, names)}$"
    low = "" if above == -sp.oo else f"{_say_end(above, names)} {from_} "
    return f"${low}{parameter} {to} {_say_end(below, names)}$"


def _say_end(end: sp.Expr, names: Mapping[sp.Expr, str] | None) -> str:
    return (names or {}).get(end) or sp.latex(end)


_NO_RUNS_CHANGE = (Verdict.REFUTED, Verdict.UNCHECKABLE, Verdict.FAILED)


@dataclass(frozen=True)
class All:
    """Several pieces of evidence for one claim; the verdict is the weakest of theirs.

    Of several measurements with confidence intervals each must be reproduced by its own interval, which needs no
    correction; that one of them contradicts is judged with Bonferroni's, see `judge`, which needs t intervals. As long
    as one waits for runs that are planned, nothing is concluded, whatever the others show.

    Raises:
        ValueError: several confidence intervals, not all of them t intervals.
    """

    parts: tuple[Evidence, ...]
    where: sp.Set | None = None  # the cases that they prove together, as a side of a `Conditional`

    @classmethod
    def of(cls, *parts: Evidence) -> Self:
        """These pieces, one by one."""
        return cls(parts)

    def __post_init__(self) -> None:
        kinds = {interval.kind for interval in self._intervals}
        if len(self._intervals) > 1 and kinds != {"t"}:
            raise ValueError(f"several confidence intervals must be t intervals. Got {', '.join(sorted(kinds))}.")

    @property
    def _intervals(self) -> list[Interval]:
        measured = [part for part in self.parts if isinstance(part, Measurement) and part.has_confidence]
        return [part.interval for part in measured if part.interval is not None]

    @property
    def _count(self) -> int:
        """Of the parts that chance may contradict."""
        return max(1, len(self._intervals))

    @property
    def _verdicts(self) -> list[Verdict]:
        return [_verdict_among(part, self._count) for part in self.parts]

    @property
    def verdict(self) -> Verdict:
        return Verdict.UNDECIDED if self._waiting else self._weakest

    @property
    def _weakest(self) -> Verdict:
        return max(self._verdicts, key=list(Verdict).index, default=Verdict.FAILED)

    def describe(self) -> str:
        count = self._count
        texts = [p.describe_among(count) if isinstance(p, Measurement) else p.describe() for p in self.parts]
        if count > 1:
            level = 100 * (1 - (1 - self._intervals[0].level) / count)
            texts.append(
                f"all {count} must be reproduced, each by its interval; one contradicts by its {level:.1f} % interval "
                "(Bonferroni)"
            )
        if len(texts) > 1 and not any("\n" in text for text in texts):
            return "\n".join(f"* {text}" for text in texts)
        return "\n\n".join(texts)

    @property
    def _leaves(self) -> list[tuple[Evidence, int]]:
        """The parts, and those of parts that are several, each with the number of those judged together."""
        found: list[tuple[Evidence, int]] = []
        for part in self.parts:
            found += part._leaves if isinstance(part, All) else [(part, self._count)]
        return found

    @property
    def _waiting(self) -> list[tuple[Evidence, int]]:
        """The leaves whose runs are planned and not all there; none where no run could change the verdict."""
        if self._weakest in _NO_RUNS_CHANGE:
            return []
        return [(part, n) for part, n in self._leaves if isinstance(part, Measurement) and not part.complete]

    @property
    def _deciding(self) -> list[tuple[Evidence, int]]:
        """The leaves whose verdict is that of all: those that wait, else the weakest; where all are proofs, as one."""
        if self._waiting:
            return self._waiting
        weakest, leaves = self.verdict, self._leaves
        proofs = [part for part, _ in leaves if isinstance(part, Derivation)]
        if len(proofs) == len(leaves) > 0:
            return [(Derivation(tuple(step for proof in proofs for step in proof.steps)), 1)]
        return [(part, n) for part, n in leaves if weakest == _verdict_among(part, n)]

    def conclude(self) -> str:
        if self.verdict == Verdict.FAILED:
            return NOTHING
        (first, count), *others = self._deciding
        every = len(self._leaves)
        if every == 1 or not isinstance(first, Measurement | Search | Certificate):
            return first.conclude()
        if isinstance(first, Measurement):
            where = f"in {1 + len(others)} of {every} parts"
            such = f"{'such as' if others else 'namely'} {in_words(first.quantity)}"
            return f"{SO_HERE[self.verdict]} {where}, {such}: {first.reason_among(count)}"
        return f"{first.conclude()}; of {every} parts this is {'among ' if others else ''}the weakest"

    def would_change(self) -> str:
        (first, count), *others = self._deciding or [(Derivation(()), 1)]
        said = first.would_change_among(count) if isinstance(first, Measurement) else first.would_change()
        every = len(self._leaves)
        if self._waiting:
            return said
        if self.verdict == Verdict.UNDECIDED and every > 1:
            shown = f"each of the {1 + len(others)} open ones" if others else "the open one"
            return (
                f"data that contradict one of the {every} parts, and {SO_HERE[Verdict.NOT_REPRODUCED]}; "
                f"or data that show {shown}, and {SO_HERE[Verdict.REPRODUCED]}. For the one named: {said}"
            )
        if not others or isinstance(first, Counterexample):
            return said
        named = "the one named" if isinstance(first, Measurement) else "the first"
        needed = f"one of {len(self._leaves)}" if self.verdict in HOLDS else f"each of {1 + len(others)}"
        return f"a change in {needed} parts; for {named}: {said}"


def _verdict_among(part: Evidence, count: int) -> Verdict:
    return part.verdict_among(count) if isinstance(part, Measurement) else part.verdict


@dataclass(frozen=True)
class Unchecked:
    """A claim that cannot be checked here, and why."""

    reason: str
    numbers: Mapping[str, float] = field(default_factory=dict)
    lacks_runs: bool = False  # it could be checked where the runs are that it is about

    @property
    def verdict(self) -> Verdict:
        return Verdict.UNCHECKABLE

    @property
    def commands(self) -> list[str]:
        """Those that the reason names, which would check it, where data or machines are at hand."""
        return re.findall(r"`((?:focal|make|python -m) [^`]+)`", self.reason)

    def describe(self) -> str:
        return self.reason

    def conclude(self) -> str:
        return "it is not judged: what that would take is not at hand"

    def would_change(self) -> str:
        return f"what is missing: {self.reason}"


def certificates(evidence: Evidence) -> list[Certificate]:
    """Every certificate inside a piece of evidence."""
    if isinstance(evidence, Certificate):
        return [evidence]
    parts = evidence.parts if isinstance(evidence, All) else ()
    parts = (evidence.inside, evidence.outside) if isinstance(evidence, Conditional) else parts
    return [found for part in parts for found in certificates(part)]
