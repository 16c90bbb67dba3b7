"""Focal loss with a fixed, scheduled or sample-dependent gamma, its proper part, dual focal loss and FCL."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import torch
from torch import Tensor, nn

from focal_lib.losses.base import LogitLoss, Reduction, complement, log_prob_of_label
from focal_lib.theory.maps import inverse_focal_log_probs
from focal_lib.validation import check_gamma, check_number


def focal_losses(log_probs: Tensor, labels: Tensor, gamma: float | Tensor) -> Tensor:
    """-(1 - q)^gamma log q of the labelled class, from log-probabilities: (n, K), (n,) -> (n,)."""
    log_q = log_prob_of_label(log_probs, labels)
    if isinstance(gamma, float) and gamma == 0:
        return -log_q
    return -(complement(log_q) ** gamma) * log_q


class FocalLoss(LogitLoss):
    r"""Focal loss :math:`-(1-q_y)^\gamma\log q_y` (KK24 section 2).

    Args:
        gamma: a number >= 0; 0 is cross-entropy.
        reduction: 'mean', 'sum' or 'none'.

    Raises:
        ValueError: gamma negative or not finite; wrong shapes when called.

    Examples:
        >>> logits, labels = torch.tensor([[0.8, 0.2]]).log(), torch.tensor([0])
        >>> round(float(FocalLoss(gamma=2.0)(logits, labels)), 4)  # 0.2^2 * 0.2231
        0.0089
    """

    def __init__(self, gamma: float, reduction: Reduction = "mean") -> None:
        super().__init__(reduction)
        self.gamma = check_gamma(gamma, minimum=0.0)

    def per_sample(self, logits: Tensor, labels: Tensor) -> Tensor:
        return focal_losses(torch.log_softmax(logits, -1), labels, self.gamma)

    def extra_repr(self) -> str:
        return f"gamma={self.gamma:g}"


class ProperFocalLoss(FocalLoss):
    r"""The proper part of focal loss, :math:`L^*(p) = L(\hat p^{-1}(p))` (KK24 Props. 2 and 4).

    The softmax of the logits is the calibrated p itself, not the prediction of focal loss.
    Its minimiser is the true posterior. Arguments and errors are those of FocalLoss.

    Examples:
        >>> logits, labels = torch.tensor([[0.8, 0.2]]).log(), torch.tensor([0])
        >>> round(float(ProperFocalLoss(gamma=2.0)(logits, labels)), 4)  # focal loss at 0.6266
        0.0652
    """

    one_graph = False

    def per_sample(self, logits: Tensor, labels: Tensor) -> Tensor:
        log_q = inverse_focal_log_probs(torch.log_softmax(logits, -1), self.gamma)
        return focal_losses(log_q, labels, self.gamma)


class SampleFocalLoss(LogitLoss):
    r"""Focal loss whose gamma depends on the probability q_y of the sample's label (M20 section 5).

    The gamma of a sample is a constant for the gradient, as in the authors' code.

    Args:
        steps: (upper end, gamma) pairs; gamma holds for q_y from the previous end to just below its own.
            The ends increase, and the last is 1.
        reduction: 'mean', 'sum' or 'none'.

    Raises:
        ValueError: ends that do not increase to 1, or a negative gamma; wrong shapes when called.

    Examples:
        >>> loss = SampleFocalLoss(((0.5, 4.0), (1.0, 2.0)), reduction="none")
        >>> losses = loss(torch.tensor([[0.8, 0.2], [0.8, 0.2]]).log(), torch.tensor([0, 1]))
        >>> [round(value, 4) for value in losses.tolist()]  # 0.2^2 * 0.2231, 0.8^4 * 1.6094
        [0.0089, 0.6592]
    """

    def __init__(self, steps: Sequence[tuple[float, float]], reduction: Reduction = "mean") -> None:
        super().__init__(reduction)
        ends = [end for end, _ in steps]
        if not ends or ends[0] <= 0 or ends[-1] != 1 or ends != sorted(set(ends)):
            raise ValueError(f"steps must have ends that increase from above 0 to 1. Got {ends}.")
        self.steps = tuple((float(end), check_gamma(gamma, minimum=0.0)) for end, gamma in steps)

    def per_sample(self, logits: Tensor, labels: Tensor) -> Tensor:
        log_probs = torch.log_softmax(logits, -1)
        q = log_prob_of_label(log_probs.detach(), labels).exp()
        gamma = torch.full_like(q, self.steps[-1][1])  # on the device of q: a copy from the host would stall a GPU
        for end, below in reversed(self.steps[:-1]):
            gamma = torch.where(q < end, below, gamma)
        return focal_losses(log_probs, labels, gamma)

    def extra_repr(self) -> str:
        return f"steps={self.steps}"


class FLSD53(SampleFocalLoss):
    r"""Focal loss with gamma = 5 where q_y < threshold, else 3: M20's best policy (section 5).

    The threshold is 0.19 in M20's preprint and 0.2 in its published version and code; g(q, 5) = 1 at q = 0.1968.
    Reduction and errors are those of SampleFocalLoss.

    Examples:
        >>> logits, labels = torch.tensor([[0.8, 0.2]]).log(), torch.tensor([0])
        >>> round(float(FLSD53()(logits, labels)), 4)  # 0.2^3 * 0.2231
        0.0018
    """

    def __init__(self, threshold: float = 0.2, reduction: Reduction = "mean") -> None:
        super().__init__(((threshold, 5.0), (1.0, 3.0)), reduction)


class FLSD532(SampleFocalLoss):
    """Focal loss with gamma = 5 where q_y < threshold, 3 below one half, else 2 (M20 section 5, policy (a)).

    Reduction and errors are those of SampleFocalLoss.

    Examples:
        >>> logits, labels = torch.tensor([[0.8, 0.2]]).log(), torch.tensor([0])
        >>> round(float(FLSD532()(logits, labels)), 4)  # 0.2^2 * 0.2231
        0.0089
    """

    def __init__(self, threshold: float = 0.2, reduction: Reduction = "mean") -> None:
        super().__init__(((threshold, 5.0), (0.5, 3.0), (1.0, 2.0)), reduction)


class ScheduledFocalLoss(FocalLoss):
    """Focal loss whose gamma depends on the epoch (M20 section 5, 'scheduled gamma').

    Args:
        schedule: (first epoch, gamma) pairs, the first at epoch 0, epochs increasing. M20's
            'scheduled 5,3,2' is ((0, 5), (100, 3), (250, 2)).
        reduction: 'mean', 'sum' or 'none'.

    Raises:
        ValueError: an empty or unordered schedule, or a negative gamma; wrong shapes when called.

    Examples:
        >>> loss = ScheduledFocalLoss(((0, 5.0), (100, 3.0), (250, 2.0)))
        >>> loss.start_epoch(100)
        >>> loss.gamma
        3.0
    """

    def __init__(self, schedule: Sequence[tuple[int, float]], reduction: Reduction = "mean") -> None:
        super().__init__(0.0, reduction)
        epochs = [epoch for epoch, _ in schedule]
        if not epochs or epochs[0] != 0 or epochs != sorted(set(epochs)):
            raise ValueError(f"schedule must have increasing epochs, the first 0. Got {list(schedule)}.")
        self.schedule = tuple((int(epoch), check_gamma(gamma, minimum=0.0)) for epoch, gamma in schedule)
        self.start_epoch(0)

    def start_epoch(self, epoch: int) -> None:
        """Set gamma to that of this epoch. Raises ValueError for a negative epoch."""
        if epoch < 0:
            raise ValueError(f"epoch must be >= 0. Got {epoch}.")
        self.gamma = [gamma for first, gamma in self.schedule if first <= epoch][-1]

    def extra_repr(self) -> str:
        return f"schedule={self.schedule}"


def scheduled(gammas: Sequence[float], epochs: int | None) -> ScheduledFocalLoss:
    """M20's schedule: gamma changes after 100 and 250 of 350 epochs, here after the same fractions of `epochs`.

    Raises:
        ValueError: fewer than 4 epochs.
    """
    changes = (0, 2 * epochs // 7, 5 * epochs // 7) if epochs else ()
    if len(set(changes)) < 3:
        raise ValueError(f"gamma changes after 2/7 and 5/7 of the epochs: needs at least 4. Got {epochs}.")
    return ScheduledFocalLoss(list(zip(changes, gammas, strict=True)))


class DualFocalLoss(FocalLoss):
    r"""Dual focal loss :math:`-(1 - q_y + q_j)^\gamma\log q_y` (Tao, Dong and Xu 2023).

    q_j is the largest probability strictly below q_y, or 0. The gradient also flows through q_j. gamma = 0 is
    cross-entropy. Arguments and errors are those of FocalLoss.

    Examples:
        >>> logits, labels = torch.tensor([[0.8, 0.2]]).log(), torch.tensor([0])
        >>> round(float(DualFocalLoss(gamma=2.0)(logits, labels)), 4)  # 0.4^2 * 0.2231
        0.0357
    """

    def per_sample(self, logits: Tensor, labels: Tensor) -> Tensor:
        log_probs = torch.log_softmax(logits, -1)
        log_q = log_prob_of_label(log_probs, labels)
        lower = logits < logits.gather(-1, labels[:, None])  # as probabilities, before they round to ties
        below = torch.where(lower, log_probs.exp(), 0.0).amax(-1)
        return -((complement(log_q) + below) ** self.gamma) * log_q


class FocalCalibrationLoss(FocalLoss):
    r"""FCL: focal loss plus :math:`\lambda\lVert q - e_y\rVert_2^2` (L25 Def. 3.1, Eq. (10)).

    Args:
        gamma, lam: >= 0.
        reduction: 'mean', 'sum' or 'none'.
        norm: 'l2', squared, as above; 'l1' for the ablation of L25 App. A.15, :math:`\lambda\lVert q - e_y\rVert_1`.

    Raises:
        ValueError: gamma or lam negative or not finite, or another norm; wrong shapes when called.

    Examples:
        >>> logits, labels = torch.tensor([[0.8, 0.2]]).log(), torch.tensor([0])
        >>> round(float(FocalCalibrationLoss(2.0, 1.0)(logits, labels)), 4)  # 0.0089 + 0.08
        0.0889
    """

    def __init__(
        self, gamma: float, lam: float, reduction: Reduction = "mean", norm: Literal["l2", "l1"] = "l2"
    ) -> None:
        super().__init__(gamma, reduction)
        self.lam = check_number(lam, "lam", minimum=0.0)
        if norm not in ("l2", "l1"):
            raise ValueError(f"norm must be 'l2' or 'l1'. Got {norm!r}.")
        self.norm = norm

    def per_sample(self, logits: Tensor, labels: Tensor) -> Tensor:
        log_probs = torch.log_softmax(logits, -1)
        distance = log_probs.exp() - nn.functional.one_hot(labels, logits.shape[-1])
        size = (distance**2).sum(-1) if self.norm == "l2" else distance.abs().sum(-1)
        return focal_losses(log_probs, labels, self.gamma) + self.lam * size

    def extra_repr(self) -> str:
        return f"gamma={self.gamma:g}, lam={self.lam:g}, norm={self.norm!r}"
