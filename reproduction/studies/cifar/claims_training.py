"""KK24 sections 1, 2 and 4.1: what training with focal loss does, measured on Fashion-MNIST."""

from __future__ import annotations

import numpy as np

from focal_lib.metrics.intervals import t_interval
from focal_lib.theory.closest_temperature import closest_temperature
from reproduction.ledger.evidence import All, Evidence, Unchecked
from reproduction.ledger.ledger import Rows
from reproduction.ledger.measurement import Measurement
from reproduction.studies.shared.from_runs import (
    COMPENSATION,
    SIZE,
    classes,
    comparison,
    focal_gammas,
    gaps,
    over_seeds,
    paired,
    signed_by_seed,
    temperatures,
    values_by_seed,
)

CHAPTER = "08_training"
add_quoted = Rows(CHAPTER, "quoted")
add_paraphrased = Rows(CHAPTER, "paraphrased", needs="runs")
add_reading = Rows(CHAPTER, "our reading", needs="runs")
add_ours = Rows(CHAPTER, "ours", needs="runs")


def _gap(gamma: float, column: str, split: str) -> np.ndarray:
    return values_by_seed(gaps(), column, gamma=gamma, split=split)


def _temperature(gamma: float) -> np.ndarray:
    return values_by_seed(temperatures(), "temperature", gamma=gamma)


@add_reading(
    "kk24.ce_overconfident",
    "KK24 sections 1 and 4.1",
    f"Cross-entropy is well calibrated on the training data and overconfident on test data. (Taken as: a gap of at "
    f"most 0.01 on training data, our threshold, and confidence above accuracy on test data. {SIZE}.)",
    chapter="01_overconfidence",
)
def ce_overconfident() -> Evidence:
    """Confidence minus accuracy on test above 0; on train within one point."""
    test = _gap(0.0, "confidence", "test"), _gap(0.0, "accuracy", "test")
    return All((paired("confidence - accuracy on test", "> 0", *test, 1), _near_zero(0.0, "gap", 0.01)))


def _near_zero(gamma: float, column: str, within: float) -> Measurement:
    """A gap on train against 0."""
    gaps_by_seed = _gap(gamma, column, "train")
    gap = t_interval(gaps_by_seed)
    after = "" if column == "gap" else rf" after the map, $\gamma = {gamma:g}$"
    text = f"about 0 (within {within:g})"
    quantity = f"confidence - accuracy on train{after}"
    return Measurement(quantity, text, gap.estimate, 0.0, within, interval=gap, over=over_seeds(gaps_by_seed))


# What is typical, no single data set says.
add_quoted(
    "kk24.ce_temperature",
    "KK24 section 4.1",
    "'A typical level of overconfidence could approximately be quantified with a temperature of 2-2.5', needed 'to "
    "achieve calibration on a validation set'.",
    lambda: Unchecked(
        "typical of the data sets and networks of the work that KK24 cites; no training of that size is on record "
        "here. Temperatures of such networks would come from `focal grid workflow/grids/kk24-table1.yaml` and `focal "
        "grid workflow/grids/kk24-tinyimagenet.yaml`, and whether they are typically 2 to 2.5 is then to be judged by "
        "hand, from `validation_temperatures` of these runs; kk24.ce_temperature_above_one measures the sign, "
        "kk24.ce_temperature_printed counts those that three of the papers print"
    ),
)


@add_reading(
    "kk24.ce_temperature_above_one",
    "KK24 section 4.1",
    f"Networks trained with cross-entropy 'are generally overconfident on the validation set'. (Taken as: the "
    f"temperature fitted there is above 1. {SIZE}.)",
)
def ce_temperature_above_one() -> Evidence:
    """log T, over seeds."""
    logs = np.log(_temperature(0.0))
    return signed_by_seed(r"$\log T$ of cross-entropy, on validation", "> 0", logs, 1)


# Against cross-entropy, too: where all is learnt by heart, any confidence is below the accuracy.
add_paraphrased(
    "kk24.focal_underconfident",
    "KK24 Abstract, sections 1 and 6",
    f"Focal loss pushes the model to underconfident predictions on the training data. (Taken as: accuracy less "
    f"confidence is above 0, and above that of cross-entropy; 'slightly', section 6, is not judged. {SIZE}.)",
    lambda: All(tuple(part for g in focal_gammas(gaps()) for part in _underconfident(g))),
)


def _underconfident(gamma: float) -> tuple[Measurement, Measurement]:
    accuracy, confidence = (_gap(gamma, column, "train") for column in ("accuracy", "confidence"))
    of_cross_entropy = _gap(0.0, "accuracy", "train") - _gap(0.0, "confidence", "train")
    named = rf"accuracy - confidence on train, $\gamma = {gamma:g}$"
    return (
        paired(named, "> 0", accuracy, confidence, 1),
        paired(f"{named}, minus that of cross-entropy", "> 0", accuracy - confidence, of_cross_entropy, 1),
    )


# The gap on train after the map; before it, it is up to fifteen points.
add_reading(
    "kk24.proper_part_calibrated",
    "KK24 sections 3.2 and 4.1",
    rf"After the map with the $\gamma$ of training, training predictions are calibrated as those of cross-entropy "
    rf"are. (Taken as: a mean gap of at most half a point. {SIZE}.)",
    lambda: All(tuple(_near_zero(g, "mapped_gap", 0.005) for g in focal_gammas(gaps()))),
)


@add_reading(
    "kk24.focal_temperature_near_one",
    "KK24 sections 2 and 4.1",
    rf"For focal loss 'the optimal temperature is frequently close to 1', that of cross-entropy 'often reported to be in the range of [1.5, 3]'. "
    rf"(Taken as: that of focal loss is nearer 1; neither how near nor the range is judged: chapter 8 has the temperatures. {SIZE}.)",
)
def focal_temperature_near_one() -> Evidence:
    """abs(log T) of cross-entropy minus that of focal loss, paired by seed."""
    base = np.abs(np.log(_temperature(0.0)))
    parts = []
    for g in focal_gammas(temperatures()):
        quantity = rf"$|\log T|$, cross-entropy minus $\gamma = {g:g}$"
        parts.append(paired(quantity, "> 0", base, np.abs(np.log(_temperature(g))), 1))
    return All(tuple(parts))


@add_ours(
    "kk24.generalisation_compensation",
    "KK24 section 4.1, which assumes a similar compensation for every loss",
    r"The 'generalization compensation' is one temperature factor for every loss: what a focal network says, after the map with its "
    rf"$\gamma$ of training, needs the temperature that cross-entropy needs, to within 10 %. ({SIZE}.)",
)
def generalisation_compensation() -> Evidence:
    """The temperature after the map over that of cross-entropy, paired by seed."""
    base, parts = _temperature(0.0), []
    for g in focal_gammas(temperatures()):
        ratio = t_interval(values_by_seed(temperatures(), "mapped_temperature", gamma=g) / base)
        quantity = rf"$T/T_{{CE}}$ after the map, $\gamma = {g:g}$"
        parts.append(Measurement.near(quantity, "1", ratio, 1.0, COMPENSATION, over_seeds(base), said="claimed"))
    return All(tuple(parts))


@add_ours(
    "kk24.compensation_one_temperature",
    "KK24 section 4.1, 'the composition of temperature during training and generalization compensation'",
    r"In place of the map one temperature does: that closest to the map, times that of cross-entropy, is the temperature of focal loss to "
    rf"within 10 %. (Closest by the largest difference over the simplex of as many classes as the networks have. {SIZE}.)",
)
def compensation_one_temperature() -> Evidence:
    """T_focal / T_CE, paired by seed, against the temperature closest to the map of ten classes."""
    base = _temperature(0.0)
    parts = []
    for g in focal_gammas(temperatures()):
        expected = closest_temperature(g, classes()).temperature
        ratio = t_interval(_temperature(g) / base)
        quantity = rf"$T_{{\gamma={g:g}}}/T_{{CE}}$ against the map of {classes()} classes"
        apart, over = COMPENSATION * expected, over_seeds(base)
        parts.append(Measurement.near(quantity, f"{expected:.3f}", ratio, expected, apart, over, said="predicted"))
    return All(tuple(parts))


@add_reading(
    "kk24.gamma_trades_accuracy",
    "KK24 section 5.2",
    rf"'Models trained with higher' $\gamma$ 'have generally better ECE but worse accuracy'. (Taken as: the largest $\gamma$ "
    rf"against cross-entropy, the ECE of equal mass, KK24's, after temperature scaling by it, as in Table 1. {SIZE}.)",
)
def gamma_trades_accuracy() -> Evidence:
    """Cross-entropy against the largest gamma, paired by seed."""
    top = max(focal_gammas(gaps()))
    scaled = comparison(method="temperature", objective="adaptive-ece")
    ece, other_ece = (values_by_seed(scaled, "adaptive_ece", gamma=g) for g in (0.0, top))
    accuracy, other_accuracy = (_gap(g, "accuracy", "test") for g in (0.0, top))
    against = rf"on test, cross-entropy minus $\gamma = {top:g}$"
    return All(
        (
            paired(f"adaptive ECE (equal mass) after temperature scaling {against}", "> 0", ece, other_ece, 1),
            paired(f"accuracy {against}", "> 0", accuracy, other_accuracy, 1),
        )
    )
