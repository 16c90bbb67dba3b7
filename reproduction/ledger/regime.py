"""What must hold before a measurement says anything of a claim, for it or against it: a paper's networks, say."""

from __future__ import annotations

import math
from dataclasses import dataclass

from reproduction.ledger.judgement import Evidence, Range, Verdict


@dataclass(frozen=True)
class Condition:
    """A number of what was measured, which must lie within what is printed of the paper's, or wanted, ends included."""

    quantity: str
    measured: float
    within: Range
    source: str  # where the paper says so: 'M20 Table 1'

    @property
    def holds(self) -> bool:
        low, high = self.within
        return low <= self.measured <= high

    def describe(self) -> str:
        """'temperature of cross-entropy: 1.35 here, at least 2.2 by M20 Table 1'."""
        ends = zip(("at least", "at most"), self.within, strict=True)
        wanted = " and ".join(f"{words} {_number(end)}" for words, end in ends if math.isfinite(end))
        return f"{self.quantity}: {_number(self.measured)} here, {wanted} by {self.source}"


@dataclass(frozen=True)
class InRegime(Evidence):
    """Evidence that is judged where these conditions hold; else OUT OF REGIME, neither for nor against."""

    conditions: tuple[Condition, ...]
    found: Evidence

    @property
    def verdict(self) -> Verdict:
        if self.found.verdict in (Verdict.FAILED, Verdict.UNCHECKABLE):
            return self.found.verdict
        return Verdict.OUT_OF_REGIME if self._unmet else self.found.verdict

    @property
    def _unmet(self) -> list[Condition]:
        return [condition for condition in self.conditions if not condition.holds]

    def describe(self) -> str:
        """The conditions, then what was measured."""
        lines = [f"* {one.describe()}{'' if one.holds else ': outside'}" for one in self.conditions]
        return "\n".join(["What must hold first:", "", *lines, "", self.found.describe()])

    def number(self) -> str:
        return self._unmet[0].describe() if self._unmet else self.found.number()

    def _means(self) -> str:
        if not self._unmet:
            return self.found.conclude()
        return f"neither for nor against: {'; '.join(one.describe() for one in self._unmet)}"

    def _changes(self) -> str:
        return "runs of which that holds" if self._unmet else self.found.would_change()


def _number(value: float) -> str:
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.4g}"
