"""Recommend a calibration method, with reasons in plain words.

The decision rests on proper scores (NLL, Brier score) of held-out samples, by the lower end of the simultaneous
interval of a method's gain. The simplest method is the default; a richer one is recommended if it gains a relevant
amount over it. If only a richer one significantly improves on the logits as given, the simplest stays the default as
long as its own estimates are gains and the richer one's are not larger in both scores. A method whose estimate loses a
relevant amount in one score is not recommended for the other. An ECE is reported but does not decide: a constant
prediction can have an ECE of 0, and the bootstrap interval of a difference of ECEs does not cover.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from focal_lib.calibration.methods import AS_GIVEN, Method
from focal_lib.tool.evaluation.comparison import PROPER, Evaluation

RELEVANT = 0.005  # share of the reference's score
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
    base = first if table.is_better(first, AS_GIVEN) else AS_GIVEN
    if better := [method for method in others if table.is_better(method, base)]:
        best = max(better, key=lambda method: max(g.share(g.gain) for g in table.gains(method, base)))
        if base == AS_GIVEN and table.gains_in_both(first, AS_GIVEN) and not table.gains_in_both(best, first):
            return Advice(first, f"Use {first.label} scaling: {table.instead(first, best)}.")
        rather = "the logits as given" if base == AS_GIVEN else base.label
        return Advice(best, f"Use {best.label} rather than {rather}: {table.found(best, base)}.")
    if base == first:
        return Advice(first, f"Use {first.label} scaling: {table.found(first, AS_GIVEN)}. {table.room(others, first)}")
    return Advice(None, f"Leave the logits as they are. {table.room([first, *others], AS_GIVEN)}")


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

    def gains_in_both(self, method: Method, reference: Method) -> bool:
        """Whether by the estimates both scores fall."""
        return all(g.gain > 0 for g in self.gains(method, reference))

    def found(self, method: Method, reference: Method) -> str:
        """'the NLL falls by 0.12 (31.2%), with 95 % by at least 0.1 (26.0%) and ...; the ECE goes from ...; ...'."""
        than = "" if reference == AS_GIVEN else f"compared with {reference.label}, "
        sure = " and ".join(g.surely_falls() for g in self.gains(method, reference) if g.better)
        before, after = (100 * self.evaluation.adaptive_ece(one) for one in (reference, method))
        verb = "goes" if after <= before else "rises"
        return (
            f"{than}{sure}; the ECE (equal mass) {verb} from {before:.2f} to {after:.2f} points; {self.changes(method)}"
        )

    def instead(self, first: Method, best: Method) -> str:
        """Why the simplest is recommended, although only a richer one gains significantly."""
        falls = " and ".join(g.falls() for g in self.gains(first, AS_GIVEN))
        shown = " and ".join(g.surely_falls() for g in self.gains(best, AS_GIVEN) if g.better)
        return (
            f"{falls} by the estimates; {best.label}, of which a gain is shown ({shown}), is not "
            f"estimated to be better than that in both scores; {self.changes(first)}"
        )

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
