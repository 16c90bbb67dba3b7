"""L25 section 5.4: AUROC of telling known inputs from unknown ones, as printed and on the book's networks."""

from __future__ import annotations

import functools
from dataclasses import replace

import pandas as pd

from focal_lib.claims.evidence import All, Evidence
from focal_lib.claims.from_runs import SIZE, contrast_by_seed, focal_gammas, over_seeds, results
from focal_lib.claims.from_tables import rows_higher
from focal_lib.claims.ledger import claim
from focal_lib.claims.measurement import Measurement
from focal_lib.metrics.intervals import t_interval_if_any
from focal_lib.results.recorded import read_unknown
from focal_lib.results.unknown_inputs import measure_detection
from focal_lib.results.written_unknown import FRESH_DIGITS, RECORDED_DIGITS, digit_contrasts
from focal_lib.training.contrasts import Contrast

CHAPTER = "19_unknown_inputs"
UNKNOWN = "mnist-5k"
RECORDED = "results/unknown-inputs"
STAGES = ("pre", "post")
ON_DIGITS = f"({SIZE}; 5,000 of MNIST's digits as unknown inputs; score: the largest probability, as trained.)"


@functools.cache
def digits() -> pd.DataFrame:
    """What the networks of the default grid say of digits."""
    return measure_detection(results(), UNKNOWN)


def fcl_digits() -> pd.DataFrame:
    """What networks trained with FCL and FLSD-53 said of them, beside cross-entropy."""
    return read_unknown("fashion-mnist-unknown", UNKNOWN)


def _contrast(table: pd.DataFrame, contrast: Contrast, said: str) -> Measurement:
    """A loss minus cross-entropy over seeds, in points of AUROC."""
    return contrast_by_seed(f"{contrast}, in points", table, contrast, said)


@claim(
    "l25.auroc_above_cross_entropy",
    source="L25 section 5.4, row by row",
    statement=r"In the table of section 5.4 FCL has a higher AUROC than cross-entropy ('Weight Decay') in 8 of 8 rows, FLSD-53 in 7 of 8, before "
    r"and after temperature scaling.",
    chapter=CHAPTER,
    fidelity="ours",
)
def auroc_above_cross_entropy() -> Evidence:
    """Counted in the printed table."""
    counts = {"fcl": 8, "flsd-53": 7}
    return All(
        tuple(
            rows_higher("L25", "AUROC table", stage, loss, "cross-entropy", count)
            for loss, count in counts.items()
            for stage in STAGES
        )
    )


@claim(
    "l25.fcl_other_shifts",
    source="L25 section 5.4",
    statement=r"'FCL enhances the model's ability to distinguish between in-distribution and out-of-distribution samples', and it is suggested that it "
    r"generalises 'well across different types of OoD shifts'. (Taken as: a higher AUROC than cross-entropy on one more shift, with each of the "
    rf"paper's two pairs of $\gamma$ and $\lambda$ for CIFAR-10. The paper does not say by which score. {ON_DIGITS[1:-1]})",
    chapter=CHAPTER,
    fidelity="our reading",
    needs=RECORDED,
)
def fcl_other_shifts() -> Evidence:
    """The first two contrasts that were written down for these runs."""
    return All(tuple(_contrast(fcl_digits(), contrast, "claimed") for contrast in RECORDED_DIGITS[:2]))


@claim(
    "l25.flsd53_digits",
    source="L25 section 5.4, its column of FLSD-53, asked of the book's networks",
    statement=rf"FLSD-53 has a higher AUROC than cross-entropy. {ON_DIGITS}",
    chapter=CHAPTER,
    fidelity="ours",
    needs=RECORDED,
)
def flsd53_digits() -> Evidence:
    """The third contrast that was written down for these runs."""
    return _contrast(fcl_digits(), RECORDED_DIGITS[2], "asked")


@claim(
    "l25.focal_digits",
    source="L25 section 5.4, asked of focal loss with one gamma",
    statement=rf"Focal loss with $\gamma = 3$ has a higher AUROC than cross-entropy, by the largest probability, by entropy and by energy, as trained. "
    rf"({SIZE}; 5,000 of MNIST's digits as unknown inputs.)",
    chapter=CHAPTER,
    fidelity="ours",
    needs="runs",
)
def focal_digits() -> Evidence:
    """Three of the contrasts that were written down before."""
    asked = [c for c in digit_contrasts() if c.ours.losses == ("focal 3",) and c.ours.method == "none"]
    return All(tuple(_contrast(digits(), c, "asked") for c in asked if c.metric.startswith("auroc")))


@claim(
    "l25.energy_above_probability",
    source="L25 section 5.4, which does not say by which score",
    statement=rf"By energy the AUROC is higher than by the largest probability, for cross-entropy and every $\gamma$. ({SIZE}; 5,000 of MNIST's digits as "
    r"unknown inputs; seen in these runs first, and not written down before.)",
    chapter=CHAPTER,
    fidelity="ours",
    needs="runs",
)
def energy_above_probability() -> Evidence:
    """Two scores of the same networks, paired over seeds."""
    trained = digits().query("method == 'none'")
    labels = ["cross-entropy", *(f"focal {gamma:g}" for gamma in focal_gammas(trained))]
    parts = []
    for label in labels:
        wide = trained[trained["loss"] == label].pivot(index="seed", columns="metric", values="value")
        values = wide["auroc energy"] - wide["auroc max-probability"]
        quantity = f"AUROC by energy minus by the largest probability, {label}, in points"
        found = Measurement.signed(quantity, "positive", t_interval_if_any(values), 1, over_seeds(values))
        parts.append(replace(found, said="asked"))
    return All(tuple(parts))


@claim(
    "l25.energy_fresh_seeds",
    source="L25 section 5.4, which does not say by which score",
    statement=rf"By energy focal loss with $\gamma = 3$ has a higher AUROC than cross-entropy. ({SIZE}; 5,000 of MNIST's digits as unknown inputs; "
    r"four seeds, trained after others had suggested it.)",
    chapter=CHAPTER,
    fidelity="ours",
    needs=RECORDED,
)
def energy_fresh_seeds() -> Evidence:
    """The primary contrast of the fresh seeds."""
    return _contrast(read_unknown("fashion-mnist-fresh", UNKNOWN), FRESH_DIGITS[0], "asked")
