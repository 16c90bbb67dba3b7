"""M20 section 3, Figs. 1 and 2: how a network becomes overconfident with cross-entropy, on recorded runs."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
from scipy.special import softmax

from focal_lib.metrics.intervals import t_interval
from reproduction.engine.store import Result
from reproduction.ledger.evidence import All, Evidence
from reproduction.ledger.ledger import Rows
from reproduction.ledger.measurement import Measurement
from reproduction.studies.epochs.while_training import histories, lowest_epoch
from reproduction.studies.shared.from_runs import (
    BOOK_RUNS,
    LONG,
    LONG_SIZE,
    M20_FIGURES,
    SIZE,
    long_results,
    on_one_test_set,
    over_seeds,
    results,
    say_sign,
    signed_by_seed,
    with_gamma,
)
from reproduction.studies.shared.recorded import BOOK
from reproduction.studies.shared.regimes import like_m20_or_l25, recorded_as
from reproduction.studies.shared.two_way import BySeed

CHAPTER = "miscalibration"
THROUGHOUT = f"cross-entropy, from the fourth epoch to the last; {LONG_SIZE}"
AFTER_DROP = f"cross-entropy, from the first epoch evaluated after the first drop to the last; {LONG_SIZE}"
HIGHEST_BIN = 0.96  # the last of 25
LEARNT = 0.01  # training error
ECE = "test ECE (equal mass, a fraction)"
add_reading = Rows(CHAPTER, "our reading", needs=BOOK_RUNS, regime=partial(recorded_as, M20_FIGURES, BOOK))
add_long = Rows(CHAPTER, "our reading", needs=f"results/{LONG}", regime=partial(like_m20_or_l25, "M20", LONG))
add_ours = Rows(CHAPTER, "ours", needs=BOOK_RUNS)


def cross_entropy_runs() -> list[Result]:
    """Those of the default grid, in seed order."""
    return with_gamma(results(), 0.0)


def change(
    name: str, column: str, sign: int, split: str = "test", *, dropped: bool = False, while_any: bool = False
) -> Measurement:
    """The last evaluated epoch minus the first, over seeds, against the sign claimed.

    Args:
        dropped: of the epochs after the first drop of the learning rate.
        while_any: to the last epoch at which the column has a value, as that of misclassified samples has not once
            every sample is learnt.

    Raises:
        ValueError: a run has a value at fewer than two epochs.
    """
    runs, found = with_gamma(long_results(), 0.0), []
    for run in runs:
        values = histories([run], split).set_index("epoch")[column]
        values = values[values.index > run.spec.training.drops[0]] if dropped else values
        found.append(values.dropna() if while_any else values)
    if (fewest := min(map(len, found))) < 2:
        raise ValueError(f"{column} must have a value at two epochs or more of each run. Got {fewest}.")
    changes: Any = np.array([float(values.iloc[-1] - values.iloc[0]) for values in found])
    if split == "test":  # the same images for every seed; training samples are drawn by each
        changes = BySeed(tuple(run.spec.seed for run in runs), changes)
    last = "last epoch with such a sample" if while_any else "last epoch"
    quantity = f"{name}, {last} minus epoch {found[0].index[0]} (CIFAR-10, cross-entropy)"
    return signed_by_seed(quantity, say_sign(sign), changes, sign)


add_long(
    "m20.fig1_train_nll",
    "Average training NLL decreases throughout training",
    "M20 section 3, Fig. 1 (a)",
    "'The average train NLL (for both correctly and incorrectly classified training samples) broadly decreases "
    "throughout training.' (Taken as: by sign, of all, of the correctly classified and of the misclassified, "
    r"of which the last epoch is the last evaluated one that has any; " + THROUGHOUT + ".)",
    lambda: All.of(
        change("train NLL", "nll", -1, "train"),
        change("train NLL of correctly classified samples", "nll_right", -1, "train"),
        change("train NLL of misclassified samples", "nll_wrong", -1, "train", while_any=True),
    ),
)
add_long(
    "m20.fig1_test_nll",
    "Test NLL rises late, through the misclassified samples alone",
    "M20 section 3, Fig. 1 (a), (b)",
    "'After the 150th epoch (where the learning rate drops by a factor of 10), there is a marked rise in the average "
    "test NLL'; this 'is caused only by the incorrectly classified samples, as the average NLL for the correctly "
    "classified samples continues "
    r"to decrease'. (Taken as: by sign, " + AFTER_DROP + ".)",
    lambda: All.of(
        change("test NLL", "nll", 1, dropped=True),
        change("test NLL of misclassified samples", "nll_wrong", 1, dropped=True),
        change("test NLL of correctly classified samples", "nll_right", -1, dropped=True),
    ),
)

# The history of a run has ECE of equal mass.
add_long(
    "m20.fig1_ece",
    "Test ECE rises late in training",
    "M20 section 3, Fig. 1 (c)",
    r"'After epoch 150, the test set ECE rises, indicating that the network is becoming miscalibrated.' "
    r"(Taken as: ECE of equal mass, by sign, " + AFTER_DROP + ".)",
    lambda: change(ECE, "adaptive_ece", 1, dropped=True),
)
add_long(
    "m20.fig1_entropies",
    "Entropies of test predictions decrease throughout training",
    "M20 section 3, Fig. 1 (b)",
    "'The entropies of the softmax distributions for both the correctly and incorrectly classified test samples "
    "decrease throughout training (in "
    r"other words, the distributions get peakier).' (Taken as: by sign, " + THROUGHOUT + ".)",
    lambda: All.of(
        change("softmax entropy of correctly classified test samples", "entropy_right", -1),
        change("softmax entropy of misclassified test samples", "entropy_wrong", -1),
    ),
)


@add_long(
    "m20.fig1_training_error",
    "Training error rises slightly between the drops, then reaches zero",
    "M20 section 3, Fig. 1 (c)",
    "'Between training epochs 150 and 250, i.e. between the two points where there are drops in the "
    "learning rate, the training set classification error rises slightly, before dropping to exactly 0 after epoch "
    "250.' (Taken as: a higher mean over the second half of the epochs between the drops than over the first, the middle one among these; no error "
    f"from then on. Here: cross-entropy; {LONG_SIZE}.)",
    instead="it falls, to a few images",
)
def fig1_training_error() -> Evidence:
    """Of M20's one ResNet-50; of these networks every fourth epoch is evaluated."""
    runs = with_gamma(long_results(), 0.0)
    rises, left = zip(
        *(error_around_drops(histories([run], "train"), run.spec.training.drops) for run in runs), strict=True
    )
    rise = "training error between the drops, mean over the second half of the epochs minus the first"
    after = Measurement("largest training error after the second drop", "0", max(left), 0.0)
    return All.of(signed_by_seed(rise, "positive", rises, 1), after)


def error_around_drops(history: pd.DataFrame, drops: Sequence[int]) -> tuple[float, float]:
    """By how much the error rises from the first half of the epochs between two drops to the second; the largest after."""
    error = history.set_index("epoch")["error"]
    first, second = drops
    between, middle = error[(error.index > first) & (error.index <= second)], (first + second) / 2
    rise = between[between.index > middle].mean() - between[between.index <= middle].mean()
    return float(rise), float(error[error.index > second].max())


@add_reading(
    "m20.fig2_highest_bin",
    "Training pushes nearly all training samples into the highest bin",
    "M20 section 3, Fig. 2",
    f"'Over time, the network gradually pushes all of the training samples towards the highest confidence bin.' "
    f"(Taken as: of 25 bins; at the end of training it holds 99 % of them or more, cross-entropy; 'gradually' is not "
    f"judged; {SIZE}.)",
)
def fig2_highest_bin() -> Evidence:
    """Share of training samples with a confidence above 0.96, a number a seed."""
    shares = [highest_bin_share(result) for result in cross_entropy_runs()]
    quantity = "share of training samples in the highest of 25 bins (Fashion-MNIST, cross-entropy)"
    return Measurement.near(quantity, "all", t_interval(shares), 1.0, 0.01, over_seeds(shares), said="claimed")


def highest_bin_share(result: Result) -> float:
    """Of the training samples of a run, after training."""
    if result.train is None:
        raise FileNotFoundError(f"the run {result.spec.digest} was recorded without its logits on training data")
    return float((softmax(result.train.logits.astype(np.float64), -1).max(-1) > HIGHEST_BIN).mean())


@add_reading(
    "m20.fig2_after_perfect",
    "Confidence keeps rising after perfect training accuracy",
    "M20 section 3, Fig. 2",
    f"'It thus keeps on increasing the confidence of correct predictions even after having reached perfect accuracy "
    f"on the training set.' (Taken as: from the first evaluated epoch without a training error to the last, "
    f"cross-entropy; {SIZE}.)",
)
def fig2_after_perfect() -> Evidence:
    """Mean confidence on training data, where every prediction is correct."""
    rises = np.array([rise_after_perfect(histories([result], "train")) for result in cross_entropy_runs()])
    quantity = (
        "mean training confidence, last epoch minus the first without a training error (Fashion-MNIST, cross-entropy)"
    )
    return signed_by_seed(quantity, "positive", rises, 1)


def rise_after_perfect(history: pd.DataFrame) -> float:
    """Confidence at the last epoch minus that at the first one without an error.

    Raises:
        ValueError: every epoch has one.
    """
    perfect = history[history["error"] == 0]
    if perfect.empty:
        raise ValueError(f"an epoch must be without a training error. Got {history['error'].min():g} or more.")
    return float(history["confidence"].iloc[-1] - perfect["confidence"].iloc[0])


@add_ours(
    "m20.nll_overfits_not_error",
    "NLL and ECE overfit, the classification error does not",
    "M20 section 3, Fig. 1, asked of the book's networks",
    f"The NLL overfits, the error does not: from the epoch of the lowest test NLL to the last, test NLL and ECE "
    f"(equal mass) rise, and the test error falls; cross-entropy, {SIZE}, a constant learning rate. (The epoch is "
    f"chosen for each seed by the other seeds.)",
)
def nll_overfits_not_error() -> Evidence:
    """Three changes, a number a seed."""
    asked = {"nll": ("test NLL", 1), "adaptive_ece": (ECE, 1), "error": ("test error", -1)}
    parts = []
    for column, (what, sign) in asked.items():
        quantity = f"{what}, last epoch minus that of the lowest test NLL (Fashion-MNIST, cross-entropy)"
        parts.append(signed_by_seed(quantity, say_sign(sign), changes_after_lowest(column), sign, said="asked"))
    return All.of(*parts)


def changes_after_lowest(column: str) -> BySeed:
    """A column on test data at the last epoch, minus at the epoch of the lowest test NLL, a number a seed."""
    frame = histories(cross_entropy_runs(), "test")
    found = []
    for seed, run in frame.groupby("seed"):
        values = run.set_index("epoch")[column]
        found.append(float(values.iloc[-1] - values.loc[lowest_epoch(frame, "nll", int(str(seed)))]))
    return BySeed(tuple(run.spec.seed for run in cross_entropy_runs()), np.array(found))


@add_ours(
    "m20.nll_turns_early",
    "Test NLL begins to rise before the training set is learnt",
    "M20 section 3, Fig. 1 (c), asked of the book's networks",
    f"The test NLL begins to rise before the training set is learnt: at the epoch where it is lowest more than "
    f"{100 * LEARNT:g} % of the training samples are misclassified; cross-entropy, {SIZE}, a constant learning rate. "
    f"(The epoch is chosen for each seed by the other seeds. M20's network 'has a very low training set classification "
    f"error throughout the period of miscalibration'.)",
)
def nll_turns_early() -> Evidence:
    """The training error there minus the threshold, a number a seed; the epoch is by one test set."""
    test, train = (histories(cross_entropy_runs(), split) for split in ("test", "train"))
    above = [
        float(run.set_index("epoch")["error"].loc[lowest_epoch(test, "nll", int(str(seed)))]) - LEARNT
        for seed, run in train.groupby("seed")
    ]
    quantity = f"training error at the epoch of the lowest test NLL, minus {LEARNT:g} (Fashion-MNIST, cross-entropy)"
    return on_one_test_set(signed_by_seed(quantity, "positive", above, 1, said="asked"))
