"""KK24 Table 1 on recorded CIFAR-10 runs of a small network, by KK24's ECE: equal mass (section 5.1)."""

from __future__ import annotations

from typing import Any

import numpy as np

from focal_lib.claims.evidence import All, Evidence, Measurement
from focal_lib.claims.from_runs import Setting, difference, name_metric, over_seeds
from focal_lib.claims.ledger import claim
from focal_lib.metrics.intervals import paired_t_interval
from focal_lib.results.recorded import read_table

CHAPTER = "13_table1"
RUNS = "cifar10-resnet8"
ECE = "adaptive-ece"
LOSSES = ("cross-entropy", "focal 1", "focal 3", "focal 5", "focal 7", "flsd-53")


def gain_of_focal_losses() -> Measurement:
    """Adaptive ECE after focal temperature scaling minus after temperature scaling: mean over focal losses of a seed."""
    frame = read_table(RUNS).query("metric == @ECE and objective == @ECE and loss in @LOSSES[1:]")
    wide = frame.pivot_table(index=["loss", "seed"], columns="method", values="value")
    gains = (wide["focal-temperature"] - wide["temperature"]).groupby("seed").mean().to_numpy()
    interval = paired_t_interval(gains, np.zeros_like(gains))
    quantity = f"mean over focal losses of the difference of {name_metric(ECE)}, focal-temperature minus temperature"
    return Measurement.signed(quantity, "negative", interval, -1, over_seeds(gains))


def _gain_in_words(_: Any) -> str:
    """The gain in points on average for focal losses, its interval, and the number of seeds."""
    gain = gain_of_focal_losses()
    if gain.interval is None:
        return ""
    level, low, high = 100 * gain.interval.level, gain.interval.low, gain.interval.high
    return (
        f"{gain.measured:+.2f} points on average for focal losses, "
        f"{level:g} % interval {low:.2f} to {high:.2f}, {gain.over}"
    )


@claim(
    "kk24.table1_ece_every_loss",
    source="KK24 Table 1, section 5.2, on CIFAR-10",
    statement=r"Focal temperature scaling improves the ECE (equal mass, KK24's) of temperature scaling for all baseline losses.",
    chapter=CHAPTER,
    needs=f"results/{RUNS}",
    headline="focal temperature scaling improves ECE (equal mass) for every loss",
    instead=_gain_in_words,
)
def table1_ece_every_loss() -> Evidence:
    """A small ResNet instead of ResNet-50; each loss on its own."""
    pairs = ((Setting(loss, "focal-temperature", ECE), Setting(loss, "temperature", ECE)) for loss in LOSSES)
    return All(tuple(difference(RUNS, ECE, ours, theirs, "negative", -1) for ours, theirs in pairs))


@claim(
    "kk24.table1_ece_focal_losses",
    source="KK24 Table 1, section 5.2, on CIFAR-10",
    statement=r"On average over networks trained with focal losses, focal temperature scaling improves the ECE (equal mass, KK24's) of "
    r"temperature scaling.",
    chapter=CHAPTER,
    needs=f"results/{RUNS}",
)
def table1_ece_focal_losses() -> Evidence:
    """The mean over the five focal losses of each seed, then over seeds."""
    return gain_of_focal_losses()


@claim(
    "kk24.table1_gamma_accuracy",
    source="KK24 section 5.2, on CIFAR-10",
    statement=r"Models trained with a higher $\gamma$ have worse accuracy.",
    chapter=CHAPTER,
    needs=f"results/{RUNS}",
)
def table1_gamma_accuracy() -> Evidence:
    """gamma = 7 against cross-entropy."""
    return difference(RUNS, "error", Setting("focal 7"), Setting("cross-entropy"), "positive", 1)
