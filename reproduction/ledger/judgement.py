"""What a check can conclude, and the rule by which what is measured is judged."""

from __future__ import annotations

import math
from enum import StrEnum

from focal_lib.metrics.intervals import Interval


class Verdict(StrEnum):
    """What a check can conclude. Order is from strongest support to none."""

    FORMALLY_PROVED = "FORMALLY PROVED"  # of a claim, not of evidence: it holds, and Coq's kernel checked a proof of it
    PROVED = "PROVED"
    CERTIFIED = "CERTIFIED"
    NUMERIC = "NUMERIC"
    REPRODUCED = "REPRODUCED"
    CONFIRMED = "CONFIRMED"  # of a statement of this book what REPRODUCED is of a paper's
    CONDITIONAL = "CONDITIONAL"
    UNDECIDED = "UNDECIDED"
    OUT_OF_REGIME = "OUT OF REGIME"  # the networks measured are not such that the claim is about them
    NOT_REPRODUCED = "NOT REPRODUCED"
    NOT_CONFIRMED = "NOT CONFIRMED"
    REFUTED = "REFUTED"
    UNCHECKABLE = "UNCHECKABLE HERE"
    FAILED = "CHECK FAILED"  # the evidence does not support any verdict: a defect, never published


HOLDS = (
    Verdict.FORMALLY_PROVED,
    Verdict.PROVED,
    Verdict.CERTIFIED,
    Verdict.NUMERIC,
    Verdict.REPRODUCED,
    Verdict.CONFIRMED,
)


class Evidence:
    """What a claim rests on: it has a verdict, computed and never typed in, and texts that a reader can follow."""

    @property
    def verdict(self) -> Verdict:
        raise NotImplementedError

    def describe(self) -> str:
        """Markdown, with the numbers that the verdict rests on."""
        raise NotImplementedError

    def number(self) -> str:
        """The number that matters most, in a few words: '0.127698 where 8 % is printed'; '' for none."""
        return ""

    def conclude(self) -> str:
        """What the verdict means, in one line: 'it holds: sympy reduced each of the 5 steps of a proof'."""
        return "it supports no verdict: the check fails" if self.verdict == Verdict.FAILED else self._means()

    def would_change(self) -> str:
        """What would make the verdict change, in one line: 'a step that sympy does not reduce'."""
        return "a check that does not fail" if self.verdict == Verdict.FAILED else self._changes()

    def _means(self) -> str:
        raise NotImplementedError

    def _changes(self) -> str:
        raise NotImplementedError


Range = tuple[float, float]  # both ends belong to it
POSITIVE, NEGATIVE = (math.ulp(0.0), math.inf), (-math.inf, -math.ulp(0.0))


def interval_among(interval: Interval, parts: int) -> Interval:
    """That by which one of so many parts contradicts: at 1 - (1 - level) / parts (Bonferroni; Holm's first step)."""
    return interval.at(1 - (1 - interval.level) / parts) if parts > 1 and interval.is_confidence else interval


def judge(interval: Interval, claimed: Range, parts: int = 1) -> Verdict:
    """The rule for what is measured.

    REPRODUCED: the whole interval lies in what is claimed. NOT REPRODUCED: the data contradict, the interval holds
    nothing of what is claimed. UNDECIDED: it holds some of that and some that is not claimed.

    Args:
        interval: of what was measured; without a spread, a number.
        claimed: the values for which the claim is true: those above 0 for 'higher'.
        parts: of a claim of so many, all of which must hold, any one may contradict by chance: it must do so by its
            `interval_among` them.
    """
    if claimed[0] <= interval.low and interval.high <= claimed[1]:
        return Verdict.REPRODUCED
    interval = interval_among(interval, parts)
    contradicted = interval.high < claimed[0] or interval.low > claimed[1]  # neither, without an interval: one seed
    return Verdict.NOT_REPRODUCED if contradicted else Verdict.UNDECIDED
