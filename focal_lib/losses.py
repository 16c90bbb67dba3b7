"""Training losses: focal and its variants, its proper part, Brier. All take logits; gamma = 0 is cross-entropy."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import torch
from torch import Tensor, nn

from focal_lib.confidence import lambert_gamma
from focal_lib.maps import inverse_focal_log_probs
from focal_lib.validation import check_gamma

__all__ = [
    "FLSD53",
    "BrierLoss",
    "FocalCalibrationLoss",
    "FocalLoss",
    "ProperFocalLoss",
    "ScheduledFocalLoss",
    "lambert_gamma",
]

Reduction = Literal["mean", "sum", "none"]


class _LogitLoss(nn.Module):
    """Shared frame: checks shapes, reduces. A subclass gives the loss of each row."""

    def __init__(self, reduction: Reduction = "mean") -> None:
        super().__init__()
        if reduction not in ("mean", "sum", "none"):
            raise ValueError(f"reduction must be 'mean', 'sum' or 'none'. Got {reduction!r}.")
        self.reduction = reduction

    def forward(self, logits: Tensor, labels: Tensor) -> Tensor:
        if logits.ndim != 2 or labels.shape != logits.shape[:1]:
            raise ValueError(
                "logits and labels must have shapes (n, K) and (n,). "
                f"Got {tuple(logits.shape)} and {tuple(labels.shape)}."
            )
        losses = self.rows(logits, labels)  # (n,)
        if self.reduction == "none":
            return losses
        return losses.mean() if self.reduction == "mean" else losses.sum()

    def rows(self, logits: Tensor, labels: Tensor) -> Tensor:
        raise NotImplementedError


def _focal(log_probs: Tensor, labels: Tensor, gamma: float | Tensor) -> Tensor:
    """-(1 - q)^gamma log q of the labelled class, from log-probabilities: (n, K), (n,) -> (n,)."""
    log_q = log_probs.gather(-1, labels[:, None])[:, 0]
    if isinstance(gamma, float) and gamma == 0:
        return -log_q
    # 1 - q = -expm1(log q). At q = 1 its power has an infinite slope for gamma < 1, so keep off 0.
    rest = (-torch.expm1(log_q)).clamp(min=torch.finfo(log_q.dtype).tiny)
    return -(rest**gamma) * log_q


class FocalLoss(_LogitLoss):
    r"""Focal loss :math:`-(1-q_y)^\gamma\log q_y` (KK24 section 2).

    Args:
        gamma: a number >= 0; 0 is cross-entropy.
        reduction: 'mean', 'sum' or 'none'.

    Raises:
        ValueError: gamma negative or not finite; wrong shapes when called.
    """

    def __init__(self, gamma: float, reduction: Reduction = "mean") -> None:
        super().__init__(reduction)
        self.gamma = check_gamma(gamma, minimum=0.0)

    def rows(self, logits: Tensor, labels: Tensor) -> Tensor:
        return _focal(torch.log_softmax(logits, -1), labels, self.gamma)

    def extra_repr(self) -> str:
        return f"gamma={self.gamma:g}"


class ProperFocalLoss(_LogitLoss):
    r"""The proper part of focal loss, :math:`L^*(p) = L(\hat p^{-1}(p))` (KK24 Props. 2 and 4).

    The softmax of the logits is the calibrated p itself, not what focal loss would predict.
    Its minimiser is the true posterior. Arguments and errors as FocalLoss.
    """

    def __init__(self, gamma: float, reduction: Reduction = "mean") -> None:
        super().__init__(reduction)
        self.gamma = check_gamma(gamma, minimum=0.0)

    def rows(self, logits: Tensor, labels: Tensor) -> Tensor:
        log_q = inverse_focal_log_probs(torch.log_softmax(logits, -1), self.gamma)
        return _focal(log_q, labels, self.gamma)

    def extra_repr(self) -> str:
        return f"gamma={self.gamma:g}"


class BrierLoss(_LogitLoss):
    r"""Brier score :math:`\lVert q - e_y\rVert_2^2`, summed over classes (between 0 and 2)."""

    def rows(self, logits: Tensor, labels: Tensor) -> Tensor:
        probs = torch.softmax(logits, -1)
        return ((probs - nn.functional.one_hot(labels, logits.shape[-1])) ** 2).sum(-1)


class FLSD53(_LogitLoss):
    r"""Focal loss with sample-dependent gamma: 5 where q_y < threshold, else 3 (M20 section 5).

    The gamma of a sample is a constant for the gradient, as in the authors' code. M20's preprint says
    0.19, its published version 0.2; where g(q, 5) = 1 it is 0.1968.

    Args:
        threshold: in (0, 1).
        reduction: 'mean', 'sum' or 'none'.
    """

    def __init__(self, threshold: float = 0.2, reduction: Reduction = "mean") -> None:
        super().__init__(reduction)
        if not 0 < threshold < 1:
            raise ValueError(f"threshold must lie in (0, 1). Got {threshold}.")
        self.threshold = threshold

    def rows(self, logits: Tensor, labels: Tensor) -> Tensor:
        log_probs = torch.log_softmax(logits, -1)
        q = log_probs.detach().gather(-1, labels[:, None])[:, 0].exp()
        return _focal(log_probs, labels, torch.where(q < self.threshold, 5.0, 3.0))

    def extra_repr(self) -> str:
        return f"threshold={self.threshold:g}"


class ScheduledFocalLoss(_LogitLoss):
    """Focal loss whose gamma depends on the epoch (M20 section 5, 'scheduled gamma').

    Call `set_epoch` before each epoch; epoch 0 is the first.

    Args:
        schedule: (first epoch, gamma) pairs, the first at epoch 0, epochs increasing. M20's
            'scheduled 5,3,2' is ((0, 5), (100, 3), (250, 2)).

    Raises:
        ValueError: an empty or unordered schedule, or a negative gamma.
    """

    def __init__(self, schedule: Sequence[tuple[int, float]], reduction: Reduction = "mean") -> None:
        super().__init__(reduction)
        epochs = [epoch for epoch, _ in schedule]
        if not epochs or epochs[0] != 0 or epochs != sorted(set(epochs)):
            raise ValueError(f"schedule must have increasing epochs, the first 0. Got {list(schedule)}.")
        self.schedule = tuple((int(epoch), check_gamma(gamma, minimum=0.0)) for epoch, gamma in schedule)
        self.set_epoch(0)

    def set_epoch(self, epoch: int) -> None:
        """Use the gamma of this epoch from now on. Raises ValueError for a negative epoch."""
        if epoch < 0:
            raise ValueError(f"epoch must be >= 0. Got {epoch}.")
        self.gamma = [gamma for first, gamma in self.schedule if first <= epoch][-1]

    def rows(self, logits: Tensor, labels: Tensor) -> Tensor:
        return _focal(torch.log_softmax(logits, -1), labels, self.gamma)

    def extra_repr(self) -> str:
        return f"schedule={self.schedule}"


class FocalCalibrationLoss(_LogitLoss):
    r"""FCL: focal loss plus :math:`\lambda\lVert q - e_y\rVert_2^2` (L25 Def. 3.1, Eq. (10)).

    Raises:
        ValueError: gamma or lam negative or not finite.
    """

    def __init__(self, gamma: float, lam: float, reduction: Reduction = "mean") -> None:
        super().__init__(reduction)
        self.gamma = check_gamma(gamma, minimum=0.0)
        if not 0 <= lam < float("inf"):
            raise ValueError(f"lam must be a number >= 0. Got {lam}.")
        self.lam = float(lam)
        self.calibration = BrierLoss("none")

    def rows(self, logits: Tensor, labels: Tensor) -> Tensor:
        focal = _focal(torch.log_softmax(logits, -1), labels, self.gamma)
        squared: Tensor = self.calibration(logits, labels)
        return focal + self.lam * squared

    def extra_repr(self) -> str:
        return f"gamma={self.gamma:g}, lam={self.lam:g}"
