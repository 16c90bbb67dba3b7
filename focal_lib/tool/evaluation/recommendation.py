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
class _Comparison:
    """Gain of a method over a reference in a proper score; positive is better."""

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

    def words(self) -> str:
        gain, least = (f"{by:.3g} ({self.share(by):.1%})" for by in (self.gain, self.least))
        return f"the {_NAMES[self.metric]} falls by {gain}, with 95 % by at least {least}"


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
    base = first if _is_better(table.against(first, AS_GIVEN)) else AS_GIVEN
    better = [method for method in others if _is_better(table.against(method, base))]
    if better:
        best = max(better, key=lambda method: max(c.share(c.gain) for c in table.against(method, base)))
        if base == AS_GIVEN and table.gains_in_both(first, AS_GIVEN) and not table.gains_in_both(best, first):
            return Advice(first, f"Use {first.label} scaling: {table.instead(first, best)}.")
        return Advice(best, f"Use {best.label} rather than {_named(base)}: {table.gains(best, base)}.")
    if base == first:
        return Advice(first, f"Use {first.label} scaling: {table.gains(first, AS_GIVEN)}. {table.room(others, first)}")
    return Advice(None, f"Leave the logits as they are. {table.room([first, *others], AS_GIVEN)}")


def check_relevant(relevant: float) -> None:
    """Raise ValueError unless it lies in [0, 1)."""
    if not 0 <= relevant < 1:
        raise ValueError(f"relevant must lie in [0, 1). Got {relevant}.")


def _is_better(found: list[_Comparison]) -> bool:
    return any(c.better for c in found) and not any(c.worse for c in found)


def _named(base: Method) -> str:
    return "the logits as given" if base == AS_GIVEN else base.label


class _Table:
    """Comparisons of methods, and sentences on them."""

    def __init__(self, evaluation: Evaluation, differences: pd.DataFrame, relevant: float) -> None:
        self.evaluation, self.relevant = evaluation, relevant
        keys = zip(*(differences[name] for name in ("method", "objective", "reference", "metric")), strict=True)
        self.rows: dict[Any, Any] = dict(zip(keys, differences.itertuples(index=False), strict=True))

    def against(self, method: Method, reference: Method) -> list[_Comparison]:
        found = []
        for metric, scores in PROPER.items():
            row = self.rows[(*method, reference.name, metric)]
            score = self.evaluation.design.mean(scores(self.evaluation.scores[reference]))
            low, high = row.low, row.high
            if np.isnan(low):  # an infinite score is known, and a single group tells nothing
                low, high = (-np.inf, np.inf) if np.isfinite(row.difference) else (row.difference, row.difference)
            found.append(_Comparison(metric, -row.difference, -high, -low, score, self.relevant * score))
        return found

    def gains_in_both(self, method: Method, reference: Method) -> bool:
        """Whether by the estimates both scores fall."""
        return all(c.gain > 0 for c in self.against(method, reference))

    def gains(self, method: Method, reference: Method) -> str:
        """'the NLL falls by 0.12 (31.2%), with 95 % by at least 0.1 (26.0%) and ...; the ECE goes from ...; ...'."""
        than = "" if reference == AS_GIVEN else f"compared with {reference.label}, "
        sure = " and ".join(c.words() for c in self.against(method, reference) if c.better)
        before, after = (100 * self.evaluation.adaptive_ece(one) for one in (reference, method))
        verb = "goes" if after <= before else "rises"
        return (
            f"{than}{sure}; the ECE (equal mass) {verb} from {before:.2f} to {after:.2f} points; {self.changes(method)}"
        )

    def instead(self, first: Method, best: Method) -> str:
        """Why the simplest is recommended, although only a richer one gains significantly."""
        falls = (
            f"the {_NAMES[c.metric]} falls by {c.gain:.3g} ({c.share(c.gain):.1%})"
            for c in self.against(first, AS_GIVEN)
        )
        shown = " and ".join(c.words() for c in self.against(best, AS_GIVEN) if c.better)
        return (
            f"{' and '.join(falls)} by the estimates; {best.label}, of which a gain is shown ({shown}), is not "
            f"estimated to be better than that in both scores; {self.changes(first)}"
        )

    def changes(self, method: Method) -> str:
        changed, n = self.evaluation.changed[method], self.evaluation.n_test
        if not changed:
            return "no prediction changes its class"
        scores, mean = self.evaluation.scores, self.evaluation.design.mean
        before, after = (100 * (1 - mean(scores[one].correct)) for one in (AS_GIVEN, method))
        return f"{changed:,} of {n:,} predictions change their class (error {before:.2f} to {after:.2f} per cent)"

    def loss(self, method: Method, reference: Method) -> str:
        """'changes the NLL by -0.0046 and the Brier score by +0.0029'."""
        found = self.against(method, reference)
        return "changes " + " and ".join(f"the {_NAMES[c.metric]} by {-c.gain:+.2g}" for c in found)

    def room(self, methods: list[Method], base: Method) -> str:
        """Whether another method might still gain a relevant amount."""
        if not methods:
            return "No other method was tried."
        found = {method: self.against(method, base) for method in methods}
        still = [m for m, cs in found.items() if not any(c.worse for c in cs) and not all(c.settled for c in cs)]
        mixed = [m for m, cs in found.items() if any(c.worse for c in cs) and not all(c.settled for c in cs)]
        amount, other = f"{self.relevant:.1%}", " other" if base in self.evaluation.fits else ""
        if not still and mixed:
            losses = "; ".join(f"{m.label} {self.loss(m, base)}" for m in mixed)
            return (
                f"No{other} method that was tried is shown to gain {amount} of one score without an estimated loss of "
                f"the other: {losses}."
            )
        if not still:
            return (
                f"No{other} method that was tried gains {amount} of the NLL or Brier score, by intervals that hold "
                "together with 95 %."
            )
        most = max(still, key=lambda m: max(c.share(c.most) for c in found[m]))
        share = max(c.share(c.most) for c in found[most])
        if np.isinf(share):
            design = self.evaluation.design
            alone = design.groups is not None and design.independent(self.evaluation.n_test) < 2
            why = "all samples to test on are one group" if alone else f"{self.tested()} hold too few errors to tell"
            return f"Whether a{'nother' if other else ''} method gains is left open: {why}."
        return (
            f"Whether a{'nother' if other else ''} method gains {amount} of the NLL or Brier score is left open by the "
            f"{self.tested()}: {most.label} may gain up to {min(share, 1):.1%}."
        )

    def tested(self) -> str:
        """'4,000 samples to test on', or '400 groups ...': what counts as one."""
        n, design = self.evaluation.n_test, self.evaluation.design
        return f"{n:,} samples to test on" if design.groups is None else f"{design.independent(n):,} groups to test on"
