"""M20 Table 6 and App. F, Fig. 8, asked of the book's own runs: very confident predictions, and shared mistakes."""

from __future__ import annotations

import functools
from collections.abc import Iterator

import pandas as pd

from reproduction.ledger.evidence import All, Evidence
from reproduction.ledger.ledger import Rows
from reproduction.ledger.measurement import Measurement
from reproduction.studies.epochs.confident import CONFIDENT, confidence_where_agreed, confident_shares
from reproduction.studies.printed_tables.from_tables import M20_TABLE_6
from reproduction.studies.shared.from_runs import (
    BOOK_RUNS,
    SIZE,
    on_one_test_set,
    paired,
    results,
    say_sign,
    signed_by_seed,
    values_by_seed,
)

CHAPTER = "miscalibration"
GAMMAS = (1.0, 2.0, 3.0)
HERE = (
    rf"for each of $\gamma = 1, 2, 3$, where M20 has FLSD-53; {SIZE}; temperatures by ECE on validation, as M20 "
    rf"choose them, here of equal mass, and here not near 1"
)
HERE_BEFORE = rf"for each of $\gamma = 1, 2, 3$, where M20 has FLSD-53; {SIZE}"
MISTAKES = (
    "'On misclassified samples, we observe a very low confidence for the focal loss model.' (Taken as: a lower mean "
    "confidence than cross-entropy's, how low is not judged"
)
ALIKE = "on the test samples that the four networks of a seed all misclassify, {}.)"
add_ours = Rows(CHAPTER, "ours", needs=BOOK_RUNS)


@functools.cache
def shares() -> pd.DataFrame:
    """Table 6 of the default grid's runs with cross-entropy and M20's gammas."""
    return confident_shares([r for r in results() if r.spec.is_focal and r.spec.gamma in (0.0, *GAMMAS)])


@functools.cache
def where_agreed() -> pd.DataFrame:
    """Fig. 8 of the same runs, over all images and not four."""
    return confidence_where_agreed([r for r in results() if r.spec.is_focal and r.spec.gamma in (0.0, *GAMMAS)])


def _against_cross_entropy(
    name: str, frame: pd.DataFrame, column: str, sign: int, stage: str, gammas: tuple[float, ...] = GAMMAS, **where: str
) -> Iterator[Measurement]:
    """For each gamma, focal minus cross-entropy at a stage, paired over seeds."""
    for gamma in gammas:
        focal, base = (values_by_seed(frame, column, gamma=g, stage=stage, **where) for g in (gamma, 0.0))
        quantity = rf"{name} {stage} temperature scaling, $\gamma = {gamma:g}$ minus cross-entropy (Fashion-MNIST)"
        yield on_one_test_set(paired(quantity, say_sign(sign), focal, base, sign, "claimed"))


add_ours(
    "m20.table6_before_here",
    "Gamma 1 and 2 have fewer very confident predictions before scaling",
    "M20 section 6, on Table 6, taken further",
    rf"'$|S_{{99}}|$ for the focal loss model is much lower than for the cross-entropy' model 'before temperature "
    rf"scaling'. (Taken as: lower, how much is not judged, for $\gamma = 1$ and $2$, where M20 has {M20_TABLE_6}; "
    rf"{SIZE}. For $\gamma = 3$: m20.table6_before.)",
    lambda: All.of(*_against_cross_entropy("share above 0.99", shares(), "share", -1, "before", GAMMAS[:2])),
)
add_ours(
    "m20.table6_after_here",
    "Every gamma has more very confident predictions after scaling",
    "M20 section 6, on Table 6, taken further",
    f"'However, after temperature scaling, $|S_{{99}}|$ for focal loss is significantly higher than for' "
    f"cross-entropy. (MMCE was not run. Taken as: higher, how much is not judged, {HERE}.)",
    lambda: All.of(*_against_cross_entropy("share above 0.99", shares(), "share", 1, "after")),
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
    above = values_by_seed(shares(), "right", gamma=0.0, stage="before") - CONFIDENT
    quantity = "accuracy where the confidence is 0.99 or more, minus 0.99 (Fashion-MNIST, cross-entropy)"
    return on_one_test_set(signed_by_seed(quantity, "negative", above, -1, said="asked"))


add_ours(
    "m20.fig8_wrong_before_here",
    "Focal networks are less confident on mistakes before scaling",
    "M20 App. F, Fig. 8, before temperature scaling, asked of the book's networks",
    rf"{MISTAKES}, before temperature scaling, {ALIKE.format(HERE_BEFORE)}",
    lambda: All.of(*_on_mistakes("before")),
)
add_ours(
    "m20.fig8_wrong_after_here",
    "Focal networks are less confident on mistakes after scaling",
    "M20 App. F, Fig. 8, after temperature scaling, asked of the book's networks",
    rf"{MISTAKES}, after temperature scaling, {ALIKE.format(HERE)}",
    lambda: All.of(*_on_mistakes("after")),
)


def _on_mistakes(stage: str) -> Iterator[Measurement]:
    yield from _against_cross_entropy(
        "confidence on shared mistakes", where_agreed(), "confidence", -1, stage, kind="wrong"
    )
