"""The kinds of evidence a claim can rest on. Each computes its own verdict; none is typed in."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from fractions import Fraction
from typing import Any, Protocol

import sympy as sp

from focal_lib.metrics.intervals import Interval
from focal_lib.theory.certificates import checker
from focal_lib.theory.certificates.checker import Box

__all__ = [
    "All",
    "Certificate",
    "Conditional",
    "Counterexample",
    "Derivation",
    "Disproof",
    "Evidence",
    "Measurement",
    "Search",
    "Step",
    "Unchecked",
    "Verdict",
    "certificates",
    "step",
]


class Verdict(StrEnum):
    """What a check can conclude. Order is from strongest support to none."""

    PROVED = "PROVED"
    CERTIFIED = "CERTIFIED"
    NUMERIC = "NUMERIC"
    REPRODUCED = "REPRODUCED"
    CONDITIONAL = "CONDITIONAL"
    NOT_REPRODUCED = "NOT REPRODUCED"
    REFUTED = "REFUTED"
    UNCHECKABLE = "UNCHECKABLE HERE"
    FAILED = "CHECK FAILED"  # the evidence does not support any verdict: a defect, never published


HOLDS = (Verdict.PROVED, Verdict.CERTIFIED, Verdict.NUMERIC, Verdict.REPRODUCED)


class Evidence(Protocol):
    """Anything with a verdict and a text a reader can follow."""

    @property
    def verdict(self) -> Verdict: ...

    def describe(self) -> str:
        """Markdown, with the numbers that the verdict rests on."""
        ...


@dataclass(frozen=True)
class Step:
    """One step of a derivation: what it says and what is left of it after sympy."""

    text: str
    residual: Any  # a sympy expression that must be 0, or a bool that must be True

    @property
    def holds(self) -> bool:
        if isinstance(self.residual, sp.Basic) and not isinstance(self.residual, sp.logic.boolalg.Boolean):
            return bool(self.residual == 0)
        return bool(self.residual == True)  # noqa: E712  (sympy's true is not Python's)


def step(text: str, left: Any, right: Any = None, simplify: Callable[[Any], Any] = sp.simplify) -> Step:
    """The step left = right, reduced by sympy now; with one side, a condition that must be true."""
    if right is None:
        return Step(text, left)
    return Step(text, simplify(sp.sympify(left) - sp.sympify(right)))


@dataclass(frozen=True)
class Derivation:
    """A proof whose every step sympy reduced to 0 or to true: PROVED."""

    steps: tuple[Step, ...]
    remark: str = ""

    @property
    def verdict(self) -> Verdict:
        return Verdict.PROVED if self.steps and all(s.holds for s in self.steps) else Verdict.FAILED

    def describe(self) -> str:
        lines = [f"{i}. {'✓' if s.holds else '✗'} {s.text}" for i, s in enumerate(self.steps, 1)]
        return "\n".join(lines) + (f"\n\n{self.remark}" if self.remark else "")


@dataclass(frozen=True)
class Disproof:
    """A derivation of the opposite: REFUTED without a single point, as for 'may get stuck'."""

    opposite: Derivation

    @property
    def verdict(self) -> Verdict:
        return Verdict.REFUTED if self.opposite.verdict == Verdict.PROVED else Verdict.FAILED

    def describe(self) -> str:
        return f"The opposite is derived:\n\n{self.opposite.describe()}"


@dataclass(frozen=True)
class Certificate:
    """Signs proved by ball arithmetic on every box of a cover, and by analysis outside it.

    `functions` are what must be positive, from the sympy expressions; `boxes` is the subdivision, found
    by other code. The verdict comes from theory.certificates.checker alone, which checks cover and signs.
    """

    statement: str
    functions: Mapping[str, Callable[[Any], Any]]
    boxes: Mapping[str, tuple[Box, ...]]  # for each function, a cover of [low, high]
    low: Fraction
    high: Fraction
    remainder: tuple[Step, ...] = ()

    def holds(self) -> bool:
        """Whether every function has a cover and is positive on each box of it."""
        return self._boxes_hold

    @functools.cached_property
    def _boxes_hold(self) -> bool:  # thousands of boxes: checked once
        return bool(self.functions) and all(
            checker.covers(self.boxes.get(name, ()), self.low, self.high)
            and all(checker.positive(function, box) for box in self.boxes[name])
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
        return f"{self.statement}: certified on {count:,} boxes." + (f"\n\n{rest}" if rest else "")


@dataclass(frozen=True)
class Counterexample:
    """A point where the statement is false by `margin`, an Arb ball that excludes 0: REFUTED."""

    text: str
    margin: Any  # flint.arb, proved > 0
    how: str = "proved by ball arithmetic"

    @property
    def verdict(self) -> Verdict:
        return Verdict.REFUTED if bool(self.margin > 0) else Verdict.FAILED

    def describe(self) -> str:
        return f"{self.text} (violated by {float(self.margin.mid()):.6g}, {self.how})"


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


@dataclass(frozen=True)
class Measurement:
    """What a paper prints against what was measured here: REPRODUCED, or not.

    A number must lie within `tolerance` of the printed one; `signed` and `effect` judge an interval, too; any other
    condition comes as `holds`. Without one of these there is nothing to judge: CHECK FAILED.
    """

    quantity: str
    printed: str
    measured: float
    expected: float | None = None
    tolerance: float = 0.0
    interval: Interval | None = None
    over: str = ""  # what the interval is over: '4 seeds'
    holds: bool | None = None
    said: str = "printed"  # 'asked', 'claimed' where the number is the book's own

    @classmethod
    def signed(cls, quantity: str, printed: str, interval: Interval, sign: int, over: str = "") -> Measurement:
        """A claim about a sign: the whole interval must lie on that side of 0."""
        holds = interval.low > 0 if sign > 0 else interval.high < 0
        return cls(quantity, printed, interval.estimate, interval=interval, over=over, holds=holds)

    @classmethod
    def effect(
        cls, quantity: str, printed: str, interval: Interval, expected: float, tolerance: float, over: str = ""
    ) -> Measurement:
        """A claim about the size of an effect: within `tolerance` of it, and an interval on its side of 0."""
        there = interval.low > 0 if expected > 0 else interval.high < 0
        near = abs(interval.estimate - expected) <= tolerance
        return cls(quantity, printed, interval.estimate, interval=interval, over=over, holds=there and near)

    @property
    def verdict(self) -> Verdict:
        if self.holds is not None:
            good = self.holds
        elif self.expected is not None:
            good = abs(self.measured - self.expected) <= self.tolerance
        else:
            return Verdict.FAILED
        return Verdict.REPRODUCED if good else Verdict.NOT_REPRODUCED

    def describe(self) -> str:
        span = "" if self.interval is None else f" {_labelled(self.interval, self.over)}"
        return f"{self.quantity}: {self.said} {self.printed}, recomputed {self.measured:.6g}{span}"


def _labelled(interval: Interval, over: str) -> str:
    """'[-0.46, 0.35] (95 % t interval, 4 seeds)'."""
    name = interval.kind
    if name != "min to max":
        name = f"{100 * interval.level:g} % {name} interval"
    return f"[{interval.low:.4g}, {interval.high:.4g}] ({name}{', ' * bool(over)}{over})"


@dataclass(frozen=True)
class Conditional:
    """True exactly under `condition`: evidence that it holds there, and that it fails outside."""

    condition: str
    inside: Evidence
    outside: Evidence

    @property
    def verdict(self) -> Verdict:
        sound = self.inside.verdict in HOLDS and self.outside.verdict == Verdict.REFUTED
        return Verdict.CONDITIONAL if sound else Verdict.FAILED

    def describe(self) -> str:
        return (
            f"Holds if and only if {self.condition}.\n\n*Inside* ({self.inside.verdict}):\n\n"
            f"{self.inside.describe()}\n\n*Outside* ({self.outside.verdict}):\n\n{self.outside.describe()}"
        )


@dataclass(frozen=True)
class All:
    """Several pieces of evidence for one claim; the verdict is the weakest of theirs."""

    parts: tuple[Evidence, ...]

    @property
    def verdict(self) -> Verdict:
        order = list(Verdict)
        return max((p.verdict for p in self.parts), key=order.index, default=Verdict.FAILED)

    def describe(self) -> str:
        texts = [p.describe() for p in self.parts]
        if len(texts) > 1 and not any("\n" in text for text in texts):
            return "\n".join(f"* {text}" for text in texts)
        return "\n\n".join(texts)


@dataclass(frozen=True)
class Unchecked:
    """A claim that cannot be checked here, and why."""

    reason: str
    numbers: Mapping[str, float] = field(default_factory=dict)

    @property
    def verdict(self) -> Verdict:
        return Verdict.UNCHECKABLE

    def describe(self) -> str:
        return self.reason


def certificates(evidence: Evidence) -> list[Certificate]:
    """Every certificate inside a piece of evidence."""
    if isinstance(evidence, Certificate):
        return [evidence]
    parts = evidence.parts if isinstance(evidence, All) else ()
    parts = (evidence.inside, evidence.outside) if isinstance(evidence, Conditional) else parts
    return [found for part in parts for found in certificates(part)]
