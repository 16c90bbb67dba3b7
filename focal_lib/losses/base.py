"""What every training loss shares: what a training loop asks of it, shapes checked, samples reduced."""

from __future__ import annotations

from typing import Literal

import torch
from torch import Tensor, nn

Reduction = Literal["mean", "sum", "none"]


class TrainingLoss(nn.Module):
    """A loss of logits (n, K) and labels (n,), with the hooks that a training loop calls."""

    learns_from_validation = False  # whether after_validation does anything: else the loop spares its forward passes
    takes_sum = True  # whether a recipe that sums the losses of a batch sums these
    # whether objective can be compiled with a network, and a step of it replayed: first derivatives, no draws, no
    # loops; what changes is changed in start_epoch, or in place in buffers
    one_graph = True

    def start_epoch(self, epoch: int) -> None:
        """Before each epoch; 0 is the first."""

    def objective(self, logits: Tensor, labels: Tensor, model: nn.Module, generator: torch.Generator) -> Tensor:
        """Scalar to minimise, for weights of the model that the logits (n, K) were computed with."""
        loss: Tensor = self(logits, labels)
        return loss

    def after_validation(self, confidence: Tensor, correct: Tensor) -> None:
        """After each epoch, with the confidence (m,) and the correctness (m,) of the validation samples."""

    def diagnostics(self, model: nn.Module, inputs: Tensor, labels: Tensor) -> dict[str, float]:
        """What the history records of this loss alone: column -> value."""
        return {}


class LogitLoss(TrainingLoss):
    """A loss of logits (n, K) and labels (n,). A subclass gives the loss of each sample, `per_sample`.

    Raises:
        ValueError: an unknown reduction; wrong shapes when called.
    """

    def __init__(self, reduction: Reduction = "mean") -> None:
        super().__init__()
        if reduction not in ("mean", "sum", "none"):
            raise ValueError(f"reduction must be 'mean', 'sum' or 'none'. Got {reduction!r}.")
        self.reduction = reduction

    def forward(self, logits: Tensor, labels: Tensor) -> Tensor:
        check_batch(logits, labels)
        losses = self.per_sample(logits, labels)  # (n,)
        if self.reduction == "none":
            return losses
        return losses.mean() if self.reduction == "mean" else losses.sum()

    def per_sample(self, logits: Tensor, labels: Tensor) -> Tensor:
        raise NotImplementedError


def check_batch(logits: Tensor, labels: Tensor) -> None:
    """Raises ValueError unless logits are (n, K) and labels (n,)."""
    if logits.ndim != 2 or labels.shape != logits.shape[:1]:
        raise ValueError(
            f"logits and labels must have shapes (n, K) and (n,). Got {tuple(logits.shape)} and {tuple(labels.shape)}."
        )


def complement(log_q: Tensor) -> Tensor:
    """1 - q from log q without cancellation, kept off 0, where a power below 1 has an infinite slope."""
    return (-torch.expm1(log_q)).clamp(min=torch.finfo(log_q.dtype).tiny)


def log_prob_of_label(log_probs: Tensor, labels: Tensor) -> Tensor:
    """log q_y: (n, K), (n,) -> (n,)."""
    return log_probs.gather(-1, labels[:, None])[:, 0]
