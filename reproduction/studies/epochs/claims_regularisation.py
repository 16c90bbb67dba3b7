"""M20 section 4, Figs. 3 (h) and 4 (b) to (d): weights and gradients while training, on the book's own runs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from focal_lib.theory.gain import confidence_threshold
from reproduction.engine.store import Result
from reproduction.ledger.evidence import All, Evidence, Unchecked
from reproduction.ledger.ledger import Rows, claim
from reproduction.studies.epochs.while_training import histories
from reproduction.studies.shared.from_runs import (
    M20_FIGURES,
    SIZE,
    paired,
    results,
    runs_if_trained,
    signed_if_any,
    with_gamma,
)

CHAPTER = "16_miscalibration"
ON = "(Fashion-MNIST, small CNN, focal $\\gamma = 3$)"
add_reading = Rows(CHAPTER, "our reading", needs="runs")
add_ours = Rows(CHAPTER, "ours", needs="runs")


def followed(gamma: float, column: str, epoch: int) -> np.ndarray:
    """A column of the training history at the first (0) or last (-1) evaluated epoch, one number a seed."""
    values = []
    for result in with_gamma(results(), gamma):
        history = result.history[result.history["split"] == "train"].sort_values("epoch")
        values.append(float(history[column].iloc[epoch]))
    return np.array(values)


@add_reading(
    "m20.weight_norm_late",
    "M20 section 4, Fig. 3 (h)",
    rf"At the end of training the last layer of the cross-entropy network has the larger weights. (Here: $\gamma = 3$; {SIZE}.)",
)
def weight_norm_late() -> Evidence:
    """Norm after the last epoch, cross-entropy minus gamma = 3, paired over seeds."""
    quantity = f"norm of the last layer, cross-entropy minus focal, last epoch {ON}"
    return paired(quantity, "positive", followed(0.0, "weight_norm", -1), followed(3.0, "weight_norm", -1), 1)


@claim(
    "m20.weight_norm_early",
    source="M20 section 4, Fig. 3 (h)",
    statement="'The weight norms of the models trained with focal loss are initially higher than that for the model "
    "trained using cross-entropy'; 'a complete reversal in the ordering of the weight norms occurs between epochs 150 "
    "and 250'. (Where its grid has been trained, taken as: the norm of the last layer, each focal loss minus "
    "cross-entropy, is positive after the first epoch and at epoch 150, negative at 250.)",
    chapter=CHAPTER,
    fidelity="our reading",
)
def weight_norm_early() -> Evidence:
    """It is about M20's networks and their 350 epochs: unchecked without those of the grid."""
    runs = runs_if_trained(M20_FIGURES)
    if not runs:
        return Unchecked(
            f"needs a ResNet-50 trained on CIFAR-10 for 350 epochs with M20's learning rates: `focal grid workflow/grids/{M20_FIGURES}.yaml`, "
            "after which this claim is checked; what the norms are early in the book's own runs m20.weight_norm_fifth says"
        )
    parts = []
    for gamma in sorted({run.spec.gamma for run in runs if run.spec.is_focal} - {0.0}):
        for epoch, sign in ((1, 1), (150, 1), (250, -1)):
            lead = norms_at(runs, gamma, epoch) - norms_at(runs, 0.0, epoch)
            quantity = rf"norm of the last layer after epoch {epoch}, $\gamma = {gamma:g}$ minus cross-entropy"
            parts.append(signed_if_any(quantity, "positive" if sign > 0 else "negative", lead, sign))
    return All(tuple(parts))


def norms_at(runs: Sequence[Result], gamma: float, epoch: int) -> np.ndarray:
    """The norm of the last layer after an epoch, of the runs with a gamma, in seed order."""
    frame = histories(with_gamma(runs, gamma), "train")
    return frame[frame["epoch"] == epoch].sort_values("seed")["weight_norm"].to_numpy()


@add_ours(
    "m20.weight_norm_fifth",
    "M20 section 4, Fig. 3 (h), past the threshold",
    rf"After five epochs, the confidence past $p_0$, the last layer of the cross-entropy network has the larger weights already ({SIZE}).",
)
def weight_norm_fifth() -> Evidence:
    """The norm after the first evaluated epoch, cross-entropy minus gamma = 3, paired over seeds."""
    quantity = f"norm of the last layer, cross-entropy minus focal, epoch {first_epoch()} {ON}"
    found = paired(quantity, "positive", followed(0.0, "weight_norm", 0), followed(3.0, "weight_norm", 0), 1, "asked")
    confidence = f"mean confidence of the focal networks is {followed(3.0, 'confidence', 0).min():.2f} or more"
    return replace(found, remark=f"There the {confidence}, past the threshold {confidence_threshold(3.0):.4f}")


def first_epoch() -> int:
    """The first evaluated epoch of the default grid."""
    return int(min(result.history["epoch"].min() for result in results()))


@add_reading(
    "m20.gradient_norms",
    "M20 section 4, Fig. 4 (b) to (d)",
    rf"As training progresses the gradient norms of cross-entropy 'decrease less rapidly than those for focal loss'. "
    rf"(Taken as: the 0.9 quantile over training samples, from the fifth epoch to the last, $\gamma = 3$; {SIZE}.)",
)
def gradient_norms() -> Evidence:
    """Log ratio, last over first evaluated epoch, of the 0.9 quantile over training samples."""
    base, focal = (np.log(followed(g, "gradient_q90", -1) / followed(g, "gradient_q90", 0)) for g in (0.0, 3.0))
    return paired(f"log of last over fifth epoch, cross-entropy minus focal {ON}", "positive", base, focal, 1)
