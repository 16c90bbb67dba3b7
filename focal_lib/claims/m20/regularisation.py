"""M20 section 4, Figs. 3 (h) and 4 (b) to (d): weights and gradients while training, on the book's own runs."""

from __future__ import annotations

import numpy as np

from focal_lib.claims.evidence import Evidence
from focal_lib.claims.from_runs import paired, results
from focal_lib.claims.ledger import claim

CHAPTER = "10_gradient_factor"
ON = "(Fashion-MNIST, small CNN, focal $\\gamma = 3$)"


def followed(gamma: float, column: str, epoch: int) -> np.ndarray:
    """A column of the training history at the first (0) or last (-1) evaluated epoch, one number a seed."""
    values = []
    for result in results():
        if result.spec.gamma == gamma:
            history = result.history[result.history["split"] == "train"].sort_values("epoch")
            values.append(float(history[column].iloc[epoch]))
    return np.array(values)


@claim(
    "m20.weight_norm_late",
    source="M20 section 4, Fig. 3 (h)",
    statement=r"At the end of training the last layer of the cross-entropy network has the larger weights.",
    chapter=CHAPTER,
    fidelity="paraphrased",
    needs="runs",
)
def weight_norm_late() -> Evidence:
    """Norm after the last epoch, cross-entropy minus gamma = 3, paired over seeds."""
    quantity = f"norm of the last layer, cross-entropy minus focal, last epoch {ON}"
    return paired(quantity, "positive", followed(0.0, "weight_norm", -1), followed(3.0, "weight_norm", -1), 1)


@claim(
    "m20.weight_norm_early",
    source="M20 section 4, Fig. 3 (h)",
    statement=r"Early in training the weights of the focal network are larger.",
    chapter=CHAPTER,
    fidelity="paraphrased",
    needs="runs",
)
def weight_norm_early() -> Evidence:
    """The same after the first evaluated epoch."""
    quantity = f"norm of the last layer, cross-entropy minus focal, first evaluated epoch {ON}"
    return paired(quantity, "negative", followed(0.0, "weight_norm", 0), followed(3.0, "weight_norm", 0), -1)


@claim(
    "m20.gradient_norms",
    source="M20 section 4, Fig. 4 (b) to (d)",
    statement=r"As training progresses the gradient norms of cross-entropy decrease less rapidly than those of focal loss.",
    chapter=CHAPTER,
    fidelity="paraphrased",
    needs="runs",
)
def gradient_norms() -> Evidence:
    """Log ratio, last over first evaluated epoch, of the 0.9 quantile over training samples."""
    base, focal = (np.log(followed(g, "gradient_q90", -1) / followed(g, "gradient_q90", 0)) for g in (0.0, 3.0))
    return paired(f"log of the fall, cross-entropy minus focal {ON}", "positive", base, focal, 1)
