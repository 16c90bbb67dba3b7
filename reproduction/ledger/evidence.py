"""The kinds of evidence a claim can rest on. Each computes its own verdict; none is typed in."""

from __future__ import annotations

import functools
import hashlib
import re
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from fractions import Fraction
from typing import Any, Self

import sympy as sp

from focal_lib.metrics.intervals import Interval
from reproduction.ledger.certificates import checker
from reproduction.ledger.certificates.checker import Box
from reproduction.ledger.judgement import HOLDS, Evidence, Verdict
from reproduction.ledger.measurement import Measurement, say_range
from reproduction.ledger.regime import Condition


@dataclass(frozen=True)
class Step:
    """One step of a derivation: what it says and what is left of it after sympy."""

    text: str
    residual: Any  # a sympy expression that must be 0, a bool that must be True, or several of them
    equations: str = ""  # a digest of both sides of each, so that the record knows which they were

    @property
    def holds(self) -> bool:
        if isinstance(self.residual, tuple):
            return bool(self.residual) and all(map(_holds, self.residual))
        return _holds(self.residual)


def _holds(residual: Any) -> bool:
    if isinstance(residual, sp.Basic) and not isinstance(residual, sp.logic.boolalg.Boolean):
        return bool(residual == 0)
    return bool(residual == True)  # noqa: E712  (sympy's true is not Python's)


def step(text: str, *shown: Any, simplify: Callable[[Any], Any] = sp.simplify) -> Step:
    """A step that shows equations (left, right), each reduced by sympy now and apart, so that no errors cancel.

    One equation may stand without its brackets, and what stands alone is a condition that must be true.
    """
    if len(shown) == 1 and not isinstance(shown[0], tuple):
        return Step(text, shown[0])
    equations = shown if all(isinstance(each, tuple) for each in shown) else (shown,)
    residuals = tuple(simplify(sp.sympify(left) - sp.sympify(right)) for left, right in equations)
    written = hashlib.sha256(str(equations).encode()).hexdigest()[:8]
    return Step(text, residuals[0] if len(residuals) == 1 else residuals, written)


def derivation(*steps: Step, remark: str = "", where: sp.Set | None = None) -> Derivation:
    """The derivation by these steps, for a claim that writes them out."""
    return Derivation(steps, remark, where)


@dataclass(frozen=True)
class Derivation(Evidence):
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

    def _means(self) -> str:
        return f"it holds: sympy reduced {_each(len(self.steps), 'step')} of a proof"

    def _changes(self) -> str:
        return "a step that sympy does not reduce, or one that is missing"


def _each(count: int, name: str) -> str:
    """'each of the 5 steps', 'the one step'."""
    return f"the one {name}" if count == 1 else f"each of the {count:,} {name}{'es' if name[-1] == 'x' else 's'}"


@dataclass(frozen=True)
class Disproof(Evidence):
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

    def _means(self) -> str:
        return f"it is false: sympy reduced {_each(len(self.opposite.steps), 'step')} of a proof of the opposite"

    def _changes(self) -> str:
        return f"in the proof of the opposite {self.opposite.would_change()}"


@dataclass(frozen=True)
class Certificate(Evidence):
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

    @functools.cached_property
    def holds(self) -> bool:
        """Whether every function has boxes that prove it positive; of thousands of boxes, asked once."""
        return bool(self.functions) and all(
            checker.certifies(function, self.symbol, self.boxes.get(name, ()), self.low, self.high)
            for name, function in self.functions.items()
        )

    @property
    def verdict(self) -> Verdict:
        return Verdict.CERTIFIED if self.holds and all(s.holds for s in self.remainder) else Verdict.FAILED

    def as_json(self) -> dict[str, Any]:
        """Statement, range and boxes as (low, high, order of the derivative), fractions as 'a/b'."""
        boxes = {name: [(str(b.low), str(b.high), b.order) for b in found] for name, found in self.boxes.items()}
        return {"statement": self.statement, "low": str(self.low), "high": str(self.high), "boxes": boxes}

    def describe(self) -> str:
        count = sum(len(boxes) for boxes in self.boxes.values())
        rest = "\n".join(f"* {'✓' if s.holds else '✗'} {s.text}" for s in self.remainder)
        zeros = {box.low: box.order for boxes in self.boxes.values() for box in boxes if box.order}
        known = f", the order of the zero at {', '.join(map(str, zeros))} by exact derivatives" if zeros else ""
        return f"{self.statement}: certified on {count:,} boxes{known}." + (f"\n\n{rest}" if rest else "")

    def _means(self) -> str:
        boxes = sum(map(len, self.boxes.values()))
        return f"it holds: ball arithmetic proves a sign on {_each(boxes, 'box')} of a cover"

    def _changes(self) -> str:
        return "a box on which the sign is not proved, a gap between boxes, or a step outside that does not reduce"


@dataclass(frozen=True)
class Counterexample(Evidence):
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

    def number(self) -> str:
        return f"violated by {float(self.margin.mid()):.2g}"

    def _means(self) -> str:
        return f"it is false: at one point it is violated by {float(self.margin.mid()):.3g}, {self.how}"

    def _changes(self) -> str:
        return "nothing: one point where it is false suffices"


@dataclass(frozen=True)
class Search(Evidence):
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

    def number(self) -> str:
        return f"smallest margin {self.worst:.2g}"

    def _means(self) -> str:
        return f"it holds at {_each(self.points, 'point')} tried, which is no proof"

    def _changes(self) -> str:
        least = f"{0 - self.tolerance:g} (the smallest found: {self.worst:.4g})"
        return f"one point with a margin below {least}; or, for the better, a proof"


@dataclass(frozen=True)
class Conditional(Evidence):
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

    def number(self) -> str:
        return f"if {self.condition}"

    def _means(self) -> str:
        elsewhere = ", and only then" if self.exact else "; elsewhere there is a point where it is false"
        return f"it holds if {self.condition}{elsewhere}"

    def _changes(self) -> str:
        return f"inside, {self.inside.would_change()}; outside, {self.outside.would_change()}"


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


@dataclass(frozen=True)
class All(Evidence):
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
        """Of the parts that chance may contradict."""
        measured = [part for part in self.parts if isinstance(part, Measurement) and part.has_confidence]
        return [part.interval for part in measured if part.interval is not None]

    @functools.cached_property
    def _judged(self) -> list[Evidence]:
        """The parts, those that are measured as one of so many."""
        count = max(1, len(self._intervals))
        return [part.among(count) if isinstance(part, Measurement) else part for part in self.parts]

    @property
    def _leaves(self) -> list[Evidence]:
        """The parts, and those of parts that are several."""
        return [leaf for part in self._judged for leaf in (part._leaves if isinstance(part, All) else [part])]

    @property
    def verdict(self) -> Verdict:
        return Verdict.UNDECIDED if self._waiting else self._weakest

    @property
    def _weakest(self) -> Verdict:
        return max((part.verdict for part in self._judged), key=list(Verdict).index, default=Verdict.FAILED)

    @property
    def _waiting(self) -> list[Evidence]:
        """The leaves whose runs are planned and not all there; none where no run could change the verdict."""
        if self._weakest in (Verdict.REFUTED, Verdict.UNCHECKABLE, Verdict.FAILED):
            return []
        return [part for part in self._leaves if isinstance(part, Measurement) and not part.complete]

    @property
    def _deciding(self) -> list[Evidence]:
        """The leaves whose verdict is that of all: those that wait, else the weakest."""
        return self._waiting or [part for part in self._leaves if part.verdict == self.verdict]

    def describe(self) -> str:
        texts, count = [part.describe() for part in self._judged], len(self._intervals)
        if count > 1:
            level = 100 * (1 - (1 - self._intervals[0].level) / count)
            texts.append(
                f"all {count} must be reproduced, each by its interval; one contradicts by its {level:.1f} % interval "
                "(Bonferroni)"
            )
        if len(texts) > 1 and not any("\n" in text for text in texts):
            return "\n".join(f"* {text}" for text in texts)
        return "\n\n".join(texts)

    def number(self) -> str:
        """That of the first part that decides."""
        said, count, every = self._deciding[0].number(), len(self._deciding), len(self._leaves)
        return said if every == 1 or not said else f"{said} ({count} of {every} parts)"

    def _means(self) -> str:
        said, count, every = self._deciding[0].conclude(), len(self._deciding), len(self._leaves)
        if every == 1:
            return said
        if self.verdict in HOLDS:  # those that decide have the weakest support
            which = "the weakest" if count == 1 else f"one of the {count} weakest"
            return f"{said} ({'the first' if count == every else which} of {every} parts, which all hold)"
        return f"{said} ({'the one' if count == 1 else f'the first of {count}'} such, of {every} parts)"

    def _changes(self) -> str:
        first, count = self._deciding[0], len(self._deciding)
        said = first.would_change()
        if self._waiting or len(self._leaves) == 1 or isinstance(first, Counterexample):
            return said
        if self.verdict == Verdict.UNDECIDED:
            return f"data that contradict one part, or that show all; of the first of {count} open ones, {said}"
        return said if count == 1 else f"in {'one' if self.verdict in HOLDS else 'each'} of {count} parts {said}"


@dataclass(frozen=True)
class Unchecked(Evidence):
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
        return ""  # `would_change` has said it

    def _means(self) -> str:
        return "it is not judged here"

    def _changes(self) -> str:
        return f"what is missing: {self.reason}"


def certificates(evidence: Evidence) -> list[Certificate]:
    """Every certificate inside a piece of evidence."""
    if isinstance(evidence, Certificate):
        return [evidence]
    parts = evidence.parts if isinstance(evidence, All) else ()
    parts = (evidence.inside, evidence.outside) if isinstance(evidence, Conditional) else parts
    return [found for part in parts for found in certificates(part)]


def outline(evidence: Evidence) -> str:
    """What it consists of, without what was found: as 'All(2 Derivation(12 Step), Measurement(above 0))'.

    What it asks for is there: of a measurement the range that is claimed, of a search its points, of a certificate
    which functions are positive where.
    """
    said = []
    if isinstance(evidence, Measurement):
        said = [] if evidence.claimed is None else [say_range(evidence.claimed)]
    if isinstance(evidence, Search):
        said = [f"points {evidence.points}", f"tolerance {evidence.tolerance:g}"]
    if isinstance(evidence, Certificate):
        said = [*evidence.functions, f"{evidence.low} to {evidence.high}"]
    if isinstance(evidence, Conditional):
        said = [evidence.condition, f"of {evidence.domain}"]
    kinds = [_kind(part) for part in _held(evidence) if isinstance(part, _PARTS)]
    said += [f"{count} {kind}" if count > 1 else kind for kind, count in Counter(kinds).items()]
    return type(evidence).__name__ + (f"({', '.join(said)})" if said else "")


def _kind(part: Evidence | Step | Condition) -> str:
    if isinstance(part, Evidence):
        return outline(part)
    if isinstance(part, Condition):
        return f"Condition({say_range(part.within, '.4g')})"
    shown = part.residual if isinstance(part.residual, tuple) else (part.residual,)
    stated = sum(isinstance(each, bool) for each in shown)
    return f"Step({len(shown) - stated}{f' and {stated} stated' if stated else ''})"


def wording(evidence: Evidence | Step | Condition) -> list[str]:
    """The words of its steps, quantities and remarks, '#' for each number but those of a proof, which are typed."""
    said = []
    for part in _held(evidence):
        if isinstance(part, _PARTS):
            said += wording(part)
        elif isinstance(part, str) and part:
            said.append(part if isinstance(evidence, Step | Derivation) else _NUMBER.sub("#", part))
    return said


_PARTS = (Evidence, Step, Condition)
_NUMBER = re.compile(r"[-+]?\d+(?:\.\d+)?(?:e[-+]?\d+)?")


def _held(evidence: Any) -> list[Any]:
    held = [getattr(evidence, one.name) for one in fields(evidence)]
    return [part for value in held for part in (value if isinstance(value, tuple) else [value])]
