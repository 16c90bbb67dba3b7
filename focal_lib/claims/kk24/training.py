"""KK24 sections 1, 2 and 4.1: what training with focal loss does, measured on Fashion-MNIST."""

from __future__ import annotations

import numpy as np
import pandas as pd

from focal_lib.claims.evidence import All, Evidence, Measurement
from focal_lib.claims.from_runs import gaps, on_runs, temperatures
from focal_lib.claims.ledger import claim
from focal_lib.metrics.intervals import paired_t_interval

CHAPTER = "08_training"
SIZE = "Fashion-MNIST, 2,000 training images, small CNN"


def column(frame: pd.DataFrame, gamma: float, name: str, split: str | None = None) -> np.ndarray:
    """Values of one loss over seeds, in seed order."""
    kept = frame[frame["gamma"] == gamma]
    kept = kept if split is None else kept[kept["split"] == split]
    return kept.sort_values("seed")[name].to_numpy()


def focal_gammas(frame: pd.DataFrame) -> list[float]:
    return sorted(g for g in frame["gamma"].unique() if g > 0)


@claim(
    "kk24.ce_overconfident",
    source="KK24 sections 1 and 4.1",
    statement=rf"Cross-entropy is well calibrated on the training data and overconfident on test data. ({SIZE}.)",
    chapter="01_overconfidence",
    needs="runs",
)
@on_runs
def ce_overconfident() -> Evidence:
    """Confidence minus accuracy on test above 0; on train within one point."""
    test = paired_t_interval(column(gaps(), 0.0, "confidence", "test"), column(gaps(), 0.0, "accuracy", "test"))
    train = column(gaps(), 0.0, "gap", "train")
    return All(
        (
            Measurement.signed("confidence - accuracy on test", "> 0", test, 1),
            Measurement("largest gap on train", "about 0", float(np.abs(train).max()), 0.0, 0.01),
        )
    )


@claim(
    "kk24.ce_temperature",
    source="KK24 section 4.1",
    statement=r"The overconfidence of cross-entropy is a temperature of about 2 to 2.5 on validation.",
    chapter=CHAPTER,
    needs="runs",
)
@on_runs
def ce_temperature() -> Evidence:
    """Higher here: few training images, trained to zero training error."""
    t = column(temperatures(), 0.0, "T")
    return Measurement(
        f"validation temperature, {SIZE}", "2 to 2.5", float(t.mean()), 2.25, 0.25, (float(t.min()), float(t.max()))
    )


@claim(
    "kk24.focal_underconfident",
    source="KK24 sections 1 and 4.1",
    statement=rf"Focal loss pushes the model to underconfident predictions on the training data. ({SIZE}.)",
    chapter=CHAPTER,
    needs="runs",
)
@on_runs
def focal_underconfident() -> Evidence:
    """Accuracy minus confidence on train, for every gamma."""
    return All(tuple(_positive_gap(g) for g in focal_gammas(gaps())))


def _positive_gap(gamma: float) -> Measurement:
    gap = paired_t_interval(column(gaps(), gamma, "accuracy", "train"), column(gaps(), gamma, "confidence", "train"))
    return Measurement.signed(rf"accuracy - confidence on train, $\gamma = {gamma:g}$", "> 0", gap, 1)


@claim(
    "kk24.proper_part_calibrated",
    source="KK24 sections 3.2 and 4.1",
    statement=rf"After the map with the $\gamma$ of training, training predictions are calibrated as those of cross-entropy are. ({SIZE}.)",
    chapter=CHAPTER,
    needs="runs",
)
@on_runs
def proper_part_calibrated() -> Evidence:
    """The gap on train after the map stays within half a point; before it, it is up to fifteen."""
    parts = []
    for g in focal_gammas(gaps()):
        after = column(gaps(), g, "mapped_gap", "train")
        parts.append(
            Measurement(
                rf"mean gap on train after the map, $\gamma = {g:g}$", "about 0", float(after.mean()), 0.0, 0.005
            )
        )
    return All(tuple(parts))


@claim(
    "kk24.focal_temperature_near_one",
    source="KK24 sections 2 and 4.1",
    statement=rf"The optimal temperature of focal loss is nearer 1 than that of cross-entropy. ({SIZE}.)",
    chapter=CHAPTER,
    needs="runs",
)
@on_runs
def focal_temperature_near_one() -> Evidence:
    """abs(log T) of cross-entropy minus that of focal loss, paired by seed."""
    base = np.abs(np.log(column(temperatures(), 0.0, "T")))
    parts = []
    for g in focal_gammas(temperatures()):
        nearer = paired_t_interval(base, np.abs(np.log(column(temperatures(), g, "T"))))
        parts.append(Measurement.signed(rf"$|\log T|$, cross-entropy minus $\gamma = {g:g}$", "> 0", nearer, 1))
    return All(tuple(parts))


@claim(
    "kk24.generalisation_compensation",
    source="KK24 section 4.1",
    statement=r"The generalisation gap is a temperature factor that does not depend on the loss: the map's own temperature times "
    r"that of cross-entropy gives the temperature of focal loss.",
    chapter=CHAPTER,
    needs="runs",
)
@on_runs
def generalisation_compensation() -> Evidence:
    """T_focal / T_CE against the temperature closest to the map (three classes), within 10 %."""
    from focal_lib.theory.closest_temperature import closest_temperature

    base = column(temperatures(), 0.0, "T")
    parts = []
    for g in focal_gammas(temperatures()):
        ratio, expected = float((column(temperatures(), g, "T") / base).mean()), closest_temperature(g, 3).temperature
        parts.append(
            Measurement(rf"$T_{{\gamma={g:g}}}/T_{{CE}}$", f"{expected:.2f} (map)", ratio, expected, 0.1 * expected)
        )
    return All(tuple(parts))


@claim(
    "kk24.gamma_trades_accuracy",
    source="KK24 section 5.2",
    statement=rf"Models trained with higher $\gamma$ have better ECE but worse accuracy. ({SIZE}; before any scaling.)",
    chapter=CHAPTER,
    needs="runs",
)
@on_runs
def gamma_trades_accuracy() -> Evidence:
    """Cross-entropy against the largest gamma, paired by seed."""
    top = max(focal_gammas(gaps()))
    better = paired_t_interval(column(gaps(), 0.0, "ece", "test"), column(gaps(), top, "ece", "test"))
    worse = paired_t_interval(column(gaps(), 0.0, "accuracy", "test"), column(gaps(), top, "accuracy", "test"))
    return All(
        (
            Measurement.signed(rf"test ECE, cross-entropy minus $\gamma = {top:g}$", "> 0", better, 1),
            Measurement.signed(rf"test accuracy, cross-entropy minus $\gamma = {top:g}$", "> 0", worse, 1),
        )
    )
