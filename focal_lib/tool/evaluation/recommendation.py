"""Recommend a calibration method, with reasons in plain words.

It is a decision and no test: a temperature with a prior costs next to nothing where it is not needed, and much is lost
without it where it is. So a temperature is the default. The logits as given are left alone where it does not lower the
NLL of the held-out samples, and these hold enough errors to tell. A richer method is recommended if by the lower end
of the simultaneous interval it gains a relevant amount of the NLL or Brier score over that, and loses in neither by
the estimates. Then a method that is shown to be miscalibrated gives way to one that is not, where that costs nothing by
the estimates, of enough errors. Of two classes it is shown by observed/expected, too: a temperature, which draws rare
events towards 1/2, can lower the NLL and promise too many. There it is enough that no score is shown to be larger. An
ECE does not decide: a constant prediction can have an ECE of 0.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from focal_lib.calibration.methods import AS_GIVEN, Method
from focal_lib.tool.evaluation.comparison import PROPER, Evaluation

RELEVANT = 0.005  # share of the reference's score
_ERRORS = 10  # samples, or groups, with an error: with fewer, estimates do not decide against a temperature
_NAMES = {"nll": "NLL", "brier": "Brier score"}


@dataclass(frozen=True)
class Advice:
    """The method to use, None for the logits as given, and the reasons in plain words."""

    method: Method | None
    words: str

    @property
    def kept(self) -> Method:
        """The method to use, AS_GIVEN for the logits as given."""
        return self.method or AS_GIVEN


@dataclass(frozen=True)
class _Gain:
    """Gain of a method over a reference in a proper score, with its interval; positive is better."""

    metric: str
    gain: float
    least: float
    most: float
    score: float  # of the reference
    relevant: float  # the smallest gain that matters

    @property
    def better(self) -> bool:
        """Whether it significantly gains a relevant amount, above 0."""
        return self.least >= self.relevant and self.least > 0

    @property
    def worse(self) -> bool:
        """Whether it loses significantly, or by a relevant estimate."""
        return self.most < 0 or self.gain <= -self.relevant < 0

    @property
    def settled(self) -> bool:
        """Whether a relevant gain is excluded, also for a reference score of 0."""
        return self.most < self.relevant or self.score == 0

    def share(self, by: float) -> float:
        """Gain as a share of the reference's score; 0 for a score of 0."""
        return by / self.score if self.score > 0 else 0.0

    def falls(self) -> str:
        """'the NLL falls by 0.12 (31.2%)'."""
        return f"the {_NAMES[self.metric]} falls by {self.gain:.3g} ({self.share(self.gain):.1%})"

    def moves(self) -> str:
        """'the NLL falls by 0.12 (31.2%)', or rises."""
        rises = f"the {_NAMES[self.metric]} rises by {-self.gain:.3g} ({-self.share(self.gain):.1%})"
        return rises if self.gain < 0 else self.falls()

    def surely_falls(self) -> str:
        """'the NLL falls by 0.12 (31.2%), with 95 % by at least 0.1 (26.0%)'."""
        return f"{self.falls()}, with 95 % by at least {self.least:.3g} ({self.share(self.least):.1%})"


def advise(evaluation: Evaluation, differences: pd.DataFrame, *, relevant: float = RELEVANT) -> Advice:
    """Recommend a method, with the certainty of its gain.

    Args:
        evaluation: the methods, the simplest first, and their scores.
        differences: of comparison.differences.
        relevant: the smallest relevant gain, as a share of the reference's score.

    Raises:
        ValueError: relevant not in [0, 1).
    """
    check_relevant(relevant)
    table = _Table(evaluation, differences, relevant)
    first, *others = evaluation.fits
    base = AS_GIVEN if table.is_earned(first) else first
    better = [method for method in others if table.is_better(method, base)]
    kept = max(better, key=lambda method: max(g.share(g.gain) for g in table.gains(method, base)), default=base)
    if instead := table.calibrated_instead(kept, [AS_GIVEN, *evaluation.fits]):
        return instead
    if kept != base:
        rather = "the logits as given" if base == AS_GIVEN else base.label
        return Advice(kept, f"Use {kept.label} rather than {rather}: {table.found(kept, base)}.")
    room = table.room([method for method in evaluation.fits if method != base], base)
    if base == AS_GIVEN:
        return Advice(None, f"Leave the logits as they are: {first.label} scaling gains nothing. {room}")
    found = table.found(first, AS_GIVEN) if table.is_better(first, AS_GIVEN) else table.estimated(first)
    return Advice(first, f"Use {first.label} scaling: {found}. {room}")


def check_relevant(relevant: float) -> None:
    """Raise ValueError unless it lies in [0, 1)."""
    if not 0 <= relevant < 1:
        raise ValueError(f"relevant must lie in [0, 1). Got {relevant}.")


class _Table:
    """Gains of methods over references, and sentences on them."""

    def __init__(self, evaluation: Evaluation, differences: pd.DataFrame, relevant: float) -> None:
        self.evaluation, self.relevant = evaluation, relevant
        self.rows: Any = differences.set_index(["method", "objective", "reference", "metric"])

    def gains(self, method: Method, reference: Method) -> list[_Gain]:
        found = []
        for metric, scores in PROPER.items():
            by, low, high = self.rows.loc[(*method, reference.name, metric), ["difference", "low", "high"]]
            score = self.evaluation.design.mean(scores(self.evaluation.scores[reference]))
            if np.isnan(low):  # an infinite score is known, and a single group tells nothing
                low, high = (-np.inf, np.inf) if np.isfinite(by) else (by, by)
            found.append(_Gain(metric, -by, -high, -low, score, self.relevant * score))
        return found

    def is_better(self, method: Method, reference: Method) -> bool:
        gains = self.gains(method, reference)
        return any(g.better for g in gains) and not any(g.worse for g in gains)

    def is_earned(self, first: Method) -> bool:
        """Whether the simplest method does not lower the NLL of held-out samples that hold enough errors to tell."""
        nll = next(g for g in self.gains(first, AS_GIVEN) if g.metric == "nll")
        return nll.gain <= 0 and (self.errors >= _ERRORS or nll.score == 0)

    @property
    def errors(self) -> int:
        """Number of samples, or of groups, with an error as given."""
        wrong, groups = self.evaluation.scores[AS_GIVEN].correct < 1, self.evaluation.design.groups
        return int(wrong.sum()) if groups is None else len(np.unique(groups[wrong]))

    def calibrated_instead(self, kept: Method, methods: list[Method]) -> Advice | None:
        """Another method of which less is shown to be off than of the kept one, at no cost that is seen.

        None where there are too few errors for either score to tell.
        """
        if self.errors < _ERRORS or not (of_kept := self.evaluation.shown_off(kept)):
            return None
        off = {m: self.evaluation.shown_off(m) for m in methods if m != kept and self.costs_nothing(m, kept)}
        fewest = min((len(own) for own in off.values()), default=len(of_kept))
        if fewest >= len(of_kept):
            return None
        mean, scores = self.evaluation.design.mean, self.evaluation.scores
        method = min((m for m in off if len(off[m]) == fewest), key=lambda m: mean(scores[m].log_loss))
        use = "Leave the logits as they are" if method == AS_GIVEN else f"Use {method.label}"
        cost = "by the estimates neither NLL nor Brier score is larger"
        if self.evaluation.is_binary:
            cost = "neither NLL nor Brier score is shown to be larger"
        words = (
            f"{use} rather than {kept.label}: of that it is shown that the probabilities are off "
            f"({self.in_words(kept)}), of this {'less' if fewest else 'not'} ({self.in_words(method)}), and {cost}; "
            f"{self.changes(method)}."
        )
        return Advice(None if method == AS_GIVEN else method, words)

    def costs_nothing(self, method: Method, kept: Method) -> bool:
        """Whether neither score is larger than the kept method's: by the estimates, of two classes by the interval."""
        design, scores = self.evaluation.design, self.evaluation.scores
        pairs = [(of(scores[method]), of(scores[kept])) for of in PROPER.values()]
        if all(design.mean(own) <= design.mean(of_kept) for own, of_kept in pairs):
            return True
        finite = all(np.isfinite(own).all() and np.isfinite(of_kept).all() for own, of_kept in pairs)
        if not (self.evaluation.is_binary and finite):
            return False
        return all(design.mean_interval(own - of_kept).low <= 0 for own, of_kept in pairs)

    def in_words(self, method: Method) -> str:
        """'p = 0.03', of two classes 'p = 0.03, observed/expected 0.92 [0.87, 0.97]'."""
        p = p_in_words(self.evaluation.calibration_p(method))
        if not self.evaluation.is_binary:
            return p
        ratio = self.evaluation.observed_expected(method)
        return f"{p}, observed/expected {ratio.estimate:.2f} [{ratio.low:.2f}, {ratio.high:.2f}]"

    def found(self, method: Method, reference: Method) -> str:
        """'the NLL falls by 0.12 (31.2%), with 95 % by at least 0.1 (26.0%) and ...; the ECE goes from ...; ...'."""
        than = "" if reference == AS_GIVEN else f"compared with {reference.label}, "
        sure = " and ".join(g.surely_falls() for g in self.gains(method, reference) if g.better)
        before, after = (100 * self.evaluation.calibration_error(one) for one in (reference, method))
        of = f" of class {self.evaluation.event}" if self.evaluation.is_binary else ""
        verb = "goes" if after <= before else "rises"
        ece = f"the ECE{of} ({self.evaluation.bins}) {verb} from {before:.2f} to {after:.2f} points"
        return f"{than}{sure}{self.without_zeros(method, reference)}; {ece}; {self.changes(method)}"

    def without_zeros(self, method: Method, reference: Method) -> str:
        """' (by 0.012, 3.1%, without the 4 labels ...)'; '' unless labels have probability 0 as given."""
        scores = self.evaluation.scores
        if reference != AS_GIVEN or self.evaluation.floor is None or not (none := self.evaluation.zeros).any():
            return ""
        design = self.evaluation.design.take(~none)
        before, after = (design.mean(scores[one].log_loss[~none]) for one in (reference, method))
        by = f"{'falls' if after <= before else 'rises'} by {abs(before - after):.3g} ({abs(1 - after / before):.1%})"
        are = "label that has" if none.sum() == 1 else "labels that have"
        return f" (without the {none.sum():,} {are} probability 0 as given the NLL {by})"

    def estimated(self, first: Method) -> str:
        """Why the simplest method is recommended, although no gain is shown."""
        gains, too_few = self.gains(first, AS_GIVEN), f"of {self.errors} errors, too few to tell"
        falls = " and ".join(g.moves() for g in gains) + self.without_zeros(first, AS_GIVEN)
        why = f"{'which is not shown' if gains[0].gain > 0 else too_few}, but it costs less than it may save"
        return f"by the estimates {falls}, {why}; {self.changes(first)}"

    def changes(self, method: Method) -> str:
        changed, n = self.evaluation.changed[method], self.evaluation.n_test
        if not changed:
            return "no prediction changes its class"
        scores, mean = self.evaluation.scores, self.evaluation.design.mean
        before, after = (100 * (1 - mean(scores[one].correct)) for one in (AS_GIVEN, method))
        return f"{changed:,} of {n:,} predictions change their class (error {before:.2f} to {after:.2f} per cent)"

    def room(self, methods: list[Method], base: Method) -> str:
        """Whether another method might still gain a relevant amount."""
        if not methods:
            return "No other method was tried."
        found = {method: self.gains(method, base) for method in methods}
        is_open = {method: gains for method, gains in found.items() if not all(g.settled for g in gains)}
        mixed = {method: gains for method, gains in is_open.items() if any(g.worse for g in gains)}
        still = {method: max(g.share(g.most) for g in is_open[method]) for method in is_open if method not in mixed}
        amount, other = f"{self.relevant:.1%}", base in self.evaluation.fits
        if not still:
            none = f"No{' other' if other else ''} method that was tried"
            if not mixed:
                return f"{none} gains {amount} of the NLL or Brier score, by intervals that hold together with 95 %."
            losses = "; ".join(
                f"{method.label} changes " + " and ".join(f"the {_NAMES[g.metric]} by {-g.gain:+.2g}" for g in gains)
                for method, gains in mixed.items()
            )
            return f"{none} is shown to gain {amount} of one score without an estimated loss of the other: {losses}."
        most = max(still, key=still.__getitem__)
        count, units = self.evaluation.units
        tested, whether = f"{count:,} {units} to test on", f"Whether a{'nother' if other else ''} method gains"
        if np.isinf(still[most]):
            alone = units == "groups" and count < 2
            why = "all samples to test on are one group" if alone else f"{tested} hold too few errors to tell"
            return f"{whether} is left open: {why}."
        return (
            f"{whether} {amount} of the NLL or Brier score is left open by the {tested}: {most.label} may gain up to "
            f"{min(still[most], 1):.1%}."
        )


def p_in_words(p: float) -> str:
    """'p = 0.03', 'p < 0.001'."""
    return f"p = {p:.2g}" if p >= 0.001 else "p < 0.001"
