"""M20 Table 6 and App. F, Fig. 8, asked of the book's own runs: very confident predictions, and shared mistakes."""

from __future__ import annotations

import functools
from collections.abc import Callable

import numpy as np
from scipy.special import softmax

from reproduction.engine.store import Result
from reproduction.ledger.evidence import All, Evidence
from reproduction.ledger.ledger import Rows
from reproduction.ledger.measurement import Measurement
from reproduction.studies.epochs.confident import AS_M20, CONFIDENT, agreed, share_above
from reproduction.studies.printed_tables.from_tables import M20_TABLE_6
from reproduction.studies.shared.from_runs import (
    BOOK_RUNS,
    SIZE,
    on_test_images,
    paired,
    results,
    say_sign,
    signed_by_seed,
    with_gamma,
    with_remark,
)
from reproduction.studies.shared.scalings import compare_scaling, m20_temperature
from reproduction.studies.shared.two_way import BySeed, kept_images

CHAPTER = "miscalibration"
GAMMAS = (1.0, 2.0, 3.0)
BY_M20 = "temperatures of least ECE of equal width, in steps of 0.1 as M20 have them"
HERE = (
    rf"for each of $\gamma = 1, 2, 3$, where M20 has FLSD-53; {SIZE}; temperatures by ECE on validation, as M20 "
    rf"choose them, here of equal mass in steps of 0.01, and here not near 1; by equal width in M20's steps of 0.1 the verdict is another"
)
HERE_BEFORE = rf"for each of $\gamma = 1, 2, 3$, where M20 has FLSD-53; {SIZE}"
MISTAKES = (
    "'On misclassified samples, we observe a very low confidence for the focal loss model.' (Taken as: a lower mean "
    "confidence than cross-entropy's, how low is not judged"
)
ALIKE = "on the test samples that the four networks of a seed all misclassify, {}.)"
add_ours = Rows(CHAPTER, "ours", needs=BOOK_RUNS)


@functools.cache
def _temperatures(stage: str) -> dict[tuple[float, int], float]:
    """(gamma, seed) -> temperature chosen on validation, of the default grid's runs with cross-entropy and GAMMAS."""
    runs = [run for gamma in (0.0, *GAMMAS) for run in with_gamma(results(), gamma)]
    if stage == BY_M20:
        chosen = [m20_temperature(run) for run in runs]
    else:
        chosen = list(compare_scaling(runs, [AS_M20])["temperature"])
    return {(float(run.spec.gamma), run.spec.seed): float(t) for run, t in zip(runs, chosen, strict=True)}


def _temperature(run: Result, stage: str) -> float:
    return 1.0 if stage == "before" else _temperatures(stage)[run.spec.gamma, run.spec.seed]


def share(gamma: float, stage: str) -> BySeed:
    """Table 6: the share of test samples with a confidence of 0.99 or more, at a stage."""
    runs = with_gamma(results(), gamma)
    return on_test_images(runs, lambda run: share_above(run.test, CONFIDENT, _temperature(run, stage))[0])


def right(gamma: float) -> BySeed:
    """Table 6: how many of these are right, as trained."""
    return on_test_images(with_gamma(results(), gamma), lambda run: share_above(run.test)[1])


def on_mistakes(gamma: float, stage: str) -> BySeed:
    """Fig. 8, over all samples that the losses of a seed misclassify and not four: the mean confidence on them."""
    every = [with_gamma(results(), g) for g in (0.0, *GAMMAS)]
    runs, values = with_gamma(results(), gamma), []
    images = len(runs[0].test.labels)
    for run, group in zip(runs, zip(*every, strict=True), strict=True):
        wrong = agreed(group, False)
        top = softmax(run.test.logits[wrong].astype(np.float64) / _temperature(run, stage), -1).max(-1)
        values.append([top[kept[wrong]].mean() for kept in kept_images(images)])
    return BySeed(tuple(run.spec.seed for run in runs), np.array(values), images)


def _against_cross_entropy(
    name: str, of: Callable[[float, str], BySeed], stage: str, sign: int, gammas: tuple[float, ...] = GAMMAS
) -> Evidence:
    """For each gamma, focal minus cross-entropy at a stage, paired over seeds; in a remark by M20's temperatures."""
    quantity = rf"{name} {stage} temperature scaling, $\gamma = {{:g}}$ minus cross-entropy (Fashion-MNIST)"

    def at(stage: str) -> list[Measurement]:
        base = of(0.0, stage)
        return [paired(quantity.format(g), say_sign(sign), of(g, stage), base, sign, "claimed") for g in gammas]

    found = at(stage)
    if stage == "after":
        by_m20 = at(BY_M20)
        means = ", ".join(f"{one.measured:+.3f}" for one in by_m20)
        found[-1] = with_remark(found[-1], f"By {BY_M20}: {means}, together {All.of(*by_m20).verdict}")
    return All.of(*found)


add_ours(
    "m20.table6_before_here",
    "Gamma 1 and 2 have fewer very confident predictions before scaling",
    "M20 section 6, on Table 6, taken further",
    rf"'$|S_{{99}}|$ for the focal loss model is much lower than for the cross-entropy' model 'before temperature "
    rf"scaling'. (Taken as: lower, how much is not judged, for $\gamma = 1$ and $2$, where M20 has {M20_TABLE_6}; "
    rf"{SIZE}. For $\gamma = 3$: m20.table6_before.)",
    lambda: _against_cross_entropy("share above 0.99", share, "before", -1, GAMMAS[:2]),
)
add_ours(
    "m20.table6_after_here",
    "Every gamma has more very confident predictions after scaling",
    "M20 section 6, on Table 6, taken further",
    f"'However, after temperature scaling, $|S_{{99}}|$ for focal loss is significantly higher than for' "
    f"cross-entropy. (MMCE was not run. Taken as: higher, how much is not judged, {HERE}.)",
    lambda: _against_cross_entropy("share above 0.99", share, "after", 1),
    instead="most have fewer",
)


@add_ours(
    "m20.table6_right_here",
    "Very confident predictions of cross-entropy are right too rarely",
    "M20 Table 6, asked of the book's networks",
    f"Of what a network trained with cross-entropy predicts with a confidence of 0.99 or more, fewer than 99 % are "
    f"right; {SIZE}, as trained.",
)
def table6_right_here() -> Evidence:
    """That accuracy minus 0.99, a number a seed; Table 6 prints 96.33 and 96.72 %."""
    above = right(0.0).map(lambda found: found - CONFIDENT)
    quantity = "accuracy where the confidence is 0.99 or more, minus 0.99 (Fashion-MNIST, cross-entropy)"
    return signed_by_seed(quantity, "negative", above, -1, said="asked")


add_ours(
    "m20.fig8_wrong_before_here",
    "Focal networks are less confident on mistakes before scaling",
    "M20 App. F, Fig. 8, before temperature scaling, asked of the book's networks",
    rf"{MISTAKES}, before temperature scaling, {ALIKE.format(HERE_BEFORE)}",
    lambda: _against_cross_entropy("confidence on shared mistakes", on_mistakes, "before", -1),
)
add_ours(
    "m20.fig8_wrong_after_here",
    "Focal networks are less confident on mistakes after scaling",
    "M20 App. F, Fig. 8, after temperature scaling, asked of the book's networks",
    rf"{MISTAKES}, after temperature scaling, {ALIKE.format(HERE)}",
    lambda: _against_cross_entropy("confidence on shared mistakes", on_mistakes, "after", -1),
)
