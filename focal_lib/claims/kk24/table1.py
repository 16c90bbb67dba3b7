"""KK24 Table 1 on recorded CIFAR-10 runs of a small network."""

from __future__ import annotations

import numpy as np

from focal_lib.claims.evidence import All, Evidence, Measurement
from focal_lib.claims.from_runs import on_recorded, recorded_table, seeds_apart
from focal_lib.claims.ledger import claim
from focal_lib.metrics.intervals import paired_t_interval

CHAPTER = "13_table1"
RUNS = "cifar10-resnet8"
LOSSES = ("cross-entropy", "focal 1", "focal 3", "focal 5", "focal 7", "flsd-53")


def _gains(losses: tuple[str, ...]) -> np.ndarray:
    """ECE after focal temperature scaling minus after temperature scaling, mean over losses: one number a seed."""
    frame = recorded_table(RUNS).query("metric == 'ece' and loss in @losses")
    wide = frame.pivot_table(index=["loss", "seed"], columns="stage", values="value")
    return (wide["fts, ece"] - wide["ts, ece"]).groupby("seed").mean().to_numpy()


@claim(
    "kk24.table1_ece_every_loss",
    source="KK24 Table 1, section 5.2, on CIFAR-10",
    statement=r"Focal temperature scaling improves the ECE of temperature scaling for all baseline losses.",
    chapter=CHAPTER,
)
@on_recorded(RUNS)
def table1_ece_every_loss() -> Evidence:
    """A small ResNet instead of ResNet-50; each loss on its own."""
    return All(
        tuple(seeds_apart(RUNS, "ece", (loss, "fts, ece"), (loss, "ts, ece"), "negative", -1) for loss in LOSSES)
    )


@claim(
    "kk24.table1_ece_focal_losses",
    source="KK24 Table 1, section 5.2, on CIFAR-10",
    statement=r"On average over networks trained with focal losses, focal temperature scaling improves the ECE of temperature scaling.",
    chapter=CHAPTER,
)
@on_recorded(RUNS)
def table1_ece_focal_losses() -> Evidence:
    """The mean over the five focal losses of each seed, then over seeds."""
    gains = _gains(LOSSES[1:])
    interval = paired_t_interval(gains, np.zeros_like(gains))
    return Measurement.signed(
        "mean difference of ECE over focal losses, in points (CIFAR-10, resnet8)", "negative", interval, -1
    )


@claim(
    "kk24.table1_gamma_accuracy",
    source="KK24 section 5.2, on CIFAR-10",
    statement=r"Models trained with a higher $\gamma$ have worse accuracy.",
    chapter=CHAPTER,
)
@on_recorded(RUNS)
def table1_gamma_accuracy() -> Evidence:
    """gamma = 7 against cross-entropy."""
    return seeds_apart(RUNS, "error", ("focal 7", "pre"), ("cross-entropy", "pre"), "positive", 1)
