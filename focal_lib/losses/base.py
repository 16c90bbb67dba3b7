"""Base classes of the training losses: loop hooks, shape checks, reduction."""

from __future__ import annotations

from typing import Literal

import torch
from torch import Tensor, nn

Reduction = Literal["mean", "sum", "none"]


class TrainingLoss(nn.Module):
    """A loss of logits (n, K) and labels (n,), with the hooks that a training loop calls."""

    learns_from_validation = False  # if False, the loop skips the validation passes
    takes_sum = True  # whether a recipe that sums over a batch sums this loss
    # whether objective can be compiled with a network and its step replayed: first derivatives only, no random draws,
    # no loops; state changes only in start_epoch, or in place in buffers
    one_graph = True

    def start_epoch(self, epoch: int) -> None:
        """Called before each epoch; the first is 0."""

    def objective(self, logits: Tensor, labels: Tensor, model: nn.Module, generator: torch.Generator) -> Tensor:
        """The scalar to minimise over the weights of the model, which gave the logits (n, K)."""
        loss: Tensor = self(logits, labels)
        return loss

    def after_validation(self, confidence: Tensor, correct: Tensor) -> None:
        """Called after each epoch with the confidence (m,) and correctness (m,) of the validation samples."""

    def diagnostics(self, model: nn.Module, inputs: Tensor, labels: Tensor) -> dict[str, float]:
        """Extra columns of the training history for this loss: name -> value."""
        return {}


class LogitLoss(TrainingLoss):
    """A loss of logits (n, K) and labels (n,), whose subclasses define the loss of each sample, `per_sample`.

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
    """Raise ValueError unless logits are (n, K) and labels (n,)."""
    if logits.ndim != 2 or labels.shape != logits.shape[:1]:
        raise ValueError(
            f"logits and labels must have shapes (n, K) and (n,). Got {tuple(logits.shape)} and {tuple(labels.shape)}."
        )


def complement(log_q: Tensor) -> Tensor:
    """1 - q from log q without cancellation, kept above 0, where a power below 1 has an infinite slope."""
    return (-torch.expm1(log_q)).clamp(min=torch.finfo(log_q.dtype).tiny)


def log_prob_of_label(log_probs: Tensor, labels: Tensor) -> Tensor:
    """log q_y: (n, K), (n,) -> (n,)."""
    return log_probs.gather(-1, labels[:, None])[:, 0]
