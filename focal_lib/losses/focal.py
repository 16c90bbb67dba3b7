"""Focal loss with a fixed, scheduled or sample-dependent gamma, its proper part, dual focal loss and FCL."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, Unpack

import torch
from torch import Tensor, nn
from torch.nn.functional import logsigmoid

from focal_lib.losses.base import (
    LabelProbabilityLoss,
    Options,
    Reduction,
    check_fixed,
    complement,
    log_prob_of_label,
    one_hot,
)
from focal_lib.losses.brier import squared_distances
from focal_lib.losses.inverse_map import focal_prediction
from focal_lib.validation import check_gamma


class FocalLoss(LabelProbabilityLoss):
    r"""Focal loss :math:`-(1-q_y)^\gamma\log q_y` (KK24 section 2).

    Args:
        gamma: a number >= 0; 0 is cross-entropy. An `nn.Parameter` with one element is registered and gets a gradient,
            which is never positive: the loss falls in gamma, so something else has to keep gamma from growing. Nothing
            keeps it above 0.
        reduction, options: as `LogitLoss`: weight, alpha, ignore_index, label_smoothing.

    In float32 log q has an absolute error of 6e-8, as `torch.log_softmax`: with gamma = 2 the loss of two classes is
    right to 3 % up to a margin of 13, 60 % too large at 15, where it is 3e-20, and 0 from 17 on. Give float64 logits.

    Raises:
        ValueError: gamma negative, not finite, or a tensor that requires a gradient and is no parameter; as LogitLoss.

    Examples:
        >>> logits, labels = torch.tensor([[0.8, 0.2]]).log(), torch.tensor([0])
        >>> round(float(FocalLoss(gamma=2.0)(logits, labels)), 4)  # 0.2^2 * 0.2231
        0.0089
        >>> round(float(FocalLoss(gamma=2.0, alpha=0.25)(logits, labels)), 4)  # class 0 has 1 - alpha
        0.0067
        >>> round(float(FocalLoss(gamma=2.0)(logits, torch.tensor([[0.9, 0.1]]))), 4)  # 0.9 * 0.0089 + 0.1 * 1.0301
        0.111
    """

    gamma: float | nn.Parameter

    def __init__(self, gamma: float | nn.Parameter, reduction: Reduction = "mean", **options: Unpack[Options]) -> None:
        super().__init__(reduction, **options)
        self.gamma = check_learnable_gamma(gamma)

    def of_log_prob(self, log_q: Tensor) -> Tensor:
        return focal_losses(log_q, self.gamma)

    def extra_repr(self) -> str:
        return f"gamma={self.gamma if isinstance(self.gamma, float) else self.gamma.item():g}"


def focal_losses(log_q: Tensor, gamma: float | Tensor) -> Tensor:
    """-(1 - q)^gamma log q from log q, elementwise."""
    if isinstance(gamma, float) and gamma == 0:
        return -log_q
    return -(complement(log_q) ** gamma) * log_q


def check_learnable_gamma(gamma: float | nn.Parameter) -> float | nn.Parameter:
    """A parameter as it is, any other number as a float; ValueError if not one finite number >= 0."""
    if not isinstance(gamma, nn.Parameter):
        if isinstance(gamma, Tensor) and gamma.requires_grad:
            raise ValueError("gamma must be a number, or an nn.Parameter to get a gradient. Got another tensor.")
        return check_gamma(gamma, minimum=0.0)
    check_gamma(gamma.detach(), minimum=0.0)
    return gamma


class ProperFocalLoss(FocalLoss):
    r"""The proper part of focal loss, :math:`L^*(p) = L(\hat p^{-1}(p))` (KK24 Props. 2 and 4).

    The softmax of the logits is the calibrated p itself, not the prediction of focal loss.
    Its minimiser is the true posterior. Arguments and errors are those of FocalLoss.

    Examples:
        >>> logits, labels = torch.tensor([[0.8, 0.2]]).log(), torch.tensor([0])
        >>> round(float(ProperFocalLoss(gamma=2.0)(logits, labels)), 4)  # focal loss at 0.6266
        0.0652
    """

    one_graph = False  # it can be compiled; its step cannot be replayed, because the inverse of the map iterates

    def log_prediction(self, logits: Tensor) -> Tensor:
        """log q from the logits of p: (n, K) -> (n, K)."""
        log_p = torch.log_softmax(logits, -1)
        if isinstance(self.gamma, float):
            return focal_prediction(log_p, log_p.new_full((), self.gamma))
        return focal_prediction(log_p, self.gamma.to(log_p))

    def per_sample(self, logits: Tensor, labels: Tensor) -> Tensor:
        return self.of_log_prob(log_prob_of_label(self.log_prediction(logits), labels))

    def per_class(self, logits: Tensor) -> Tensor:
        return self.of_log_prob(self.log_prediction(logits))

    def per_margin(self, margin: Tensor) -> Tensor:
        flat = margin.flatten()
        log_q = self.log_prediction(torch.stack([torch.zeros_like(flat), flat], -1))[:, 1]
        return self.of_log_prob(log_q).reshape(margin.shape)


class SampleFocalLoss(LabelProbabilityLoss):
    r"""Focal loss whose gamma depends on the probability q_y of the sample's label (M20 section 5).

    The gamma of a sample is a constant for the gradient, as in the authors' code.

    Args:
        steps: (upper end, gamma) pairs; gamma holds for q_y from the previous end to just below its own.
            The ends increase, and the last is 1.
        reduction, options: as `LogitLoss`: weight, alpha, ignore_index, label_smoothing.

    Raises:
        ValueError: ends that do not increase to 1, or a negative gamma; as LogitLoss.

    Examples:
        >>> loss = SampleFocalLoss(((0.5, 4.0), (1.0, 2.0)), reduction="none")
        >>> losses = loss(torch.tensor([[0.8, 0.2], [0.8, 0.2]]).log(), torch.tensor([0, 1]))
        >>> [round(value, 4) for value in losses.tolist()]  # 0.2^2 * 0.2231, 0.8^4 * 1.6094
        [0.0089, 0.6592]
    """

    def __init__(
        self, steps: Sequence[tuple[float, float]], reduction: Reduction = "mean", **options: Unpack[Options]
    ) -> None:
        super().__init__(reduction, **options)
        ends = [end for end, _ in steps]
        if not ends or ends[0] <= 0 or ends[-1] != 1 or ends != sorted(set(ends)):
            raise ValueError(f"steps must have ends that increase from above 0 to 1. Got {ends}.")
        self.steps = tuple((float(end), check_fixed(gamma, "gamma")) for end, gamma in steps)

    def of_log_prob(self, log_q: Tensor) -> Tensor:
        q = log_q.detach().exp()
        gamma = torch.full_like(q, self.steps[-1][1])  # on the device of q: a copy from the host would stall a GPU
        for end, below in reversed(self.steps[:-1]):
            gamma = torch.where(q < end, below, gamma)
        return focal_losses(log_q, gamma)

    def extra_repr(self) -> str:
        return f"steps={self.steps}"


class FLSD53(SampleFocalLoss):
    r"""Focal loss with gamma = 5 where q_y < threshold, else 3: M20's best policy (section 5).

    The threshold is 0.19 in M20's preprint and 0.2 in its published version and code; g(q, 5) = 1 at q = 0.1968.
    The other arguments, and the errors, are those of SampleFocalLoss.

    Examples:
        >>> logits, labels = torch.tensor([[0.8, 0.2]]).log(), torch.tensor([0])
        >>> round(float(FLSD53()(logits, labels)), 4)  # 0.2^3 * 0.2231
        0.0018
    """

    def __init__(self, threshold: float = 0.2, reduction: Reduction = "mean", **options: Unpack[Options]) -> None:
        super().__init__(((threshold, 5.0), (1.0, 3.0)), reduction, **options)


class FLSD532(SampleFocalLoss):
    """Focal loss with gamma = 5 where q_y < threshold, 3 below one half, else 2 (M20 section 5, policy (a)).

    The other arguments, and the errors, are those of SampleFocalLoss.

    Examples:
        >>> logits, labels = torch.tensor([[0.8, 0.2]]).log(), torch.tensor([0])
        >>> round(float(FLSD532()(logits, labels)), 4)  # 0.2^2 * 0.2231
        0.0089
    """

    def __init__(self, threshold: float = 0.2, reduction: Reduction = "mean", **options: Unpack[Options]) -> None:
        super().__init__(((threshold, 5.0), (0.5, 3.0), (1.0, 2.0)), reduction, **options)


class ScheduledFocalLoss(FocalLoss):
    """Focal loss whose gamma depends on the epoch (M20 section 5, 'scheduled gamma').

    Args:
        schedule: (first epoch, gamma) pairs, the first at epoch 0, epochs increasing. M20's
            'scheduled 5,3,2' is ((0, 5), (100, 3), (250, 2)).
        reduction, options: as `LogitLoss`: weight, alpha, ignore_index, label_smoothing.

    The epoch is part of the `state_dict`.

    Raises:
        ValueError: an empty or unordered schedule, or a negative gamma; as LogitLoss.

    Examples:
        >>> loss = ScheduledFocalLoss(((0, 5.0), (100, 3.0), (250, 2.0)))
        >>> loss.start_epoch(100)
        >>> loss.gamma
        3.0
    """

    def __init__(
        self, schedule: Sequence[tuple[int, float]], reduction: Reduction = "mean", **options: Unpack[Options]
    ) -> None:
        super().__init__(0.0, reduction, **options)
        epochs = [epoch for epoch, _ in schedule]
        if not epochs or epochs[0] != 0 or epochs != sorted(set(epochs)):
            raise ValueError(f"schedule must have increasing epochs, the first 0. Got {list(schedule)}.")
        self.schedule = tuple((int(epoch), check_fixed(gamma, "gamma")) for epoch, gamma in schedule)
        self.start_epoch(0)

    def start_epoch(self, epoch: int) -> None:
        """Set gamma to that of this epoch. Raises ValueError for a negative epoch."""
        if epoch < 0:
            raise ValueError(f"epoch must be >= 0. Got {epoch}.")
        self.epoch = int(epoch)
        self.gamma = [gamma for first, gamma in self.schedule if first <= epoch][-1]

    def get_extra_state(self) -> Tensor:
        return torch.tensor(self.epoch)

    def set_extra_state(self, state: Tensor) -> None:
        self.start_epoch(int(state))

    def _load_from_state_dict(self, state_dict: Any, prefix: str, *args: Any) -> None:
        state_dict.setdefault(f"{prefix}_extra_state", self.get_extra_state())  # of a state without an epoch
        super()._load_from_state_dict(state_dict, prefix, *args)

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
        lower = logits < logits.gather(-1, labels[:, None])  # as probabilities, before they round to ties
        below = torch.where(lower, log_probs.exp(), 0.0).amax(-1)
        return self._of(log_prob_of_label(log_probs, labels), below)

    def per_class(self, logits: Tensor) -> Tensor:
        log_probs = torch.log_softmax(logits, -1)
        ordered, order = logits.detach().sort(-1)
        lower = torch.searchsorted(ordered, logits.detach().contiguous())  # how many logits are below each
        next_lower = log_probs.gather(-1, order.gather(-1, (lower - 1).clamp(min=0))).exp()
        return self._of(log_probs, torch.where(lower > 0, next_lower, 0.0))

    def per_margin(self, margin: Tensor) -> Tensor:
        return self._of(logsigmoid(margin), torch.where(margin > 0, logsigmoid(-margin).exp(), 0.0))

    def _of(self, log_q: Tensor, below: Tensor) -> Tensor:
        return -((complement(log_q) + below) ** self.gamma) * log_q


class FocalCalibrationLoss(FocalLoss):
    r"""FCL: focal loss plus :math:`\lambda\lVert q - e_y\rVert_2^2` (L25 Def. 3.1, Eq. (10)).

    Args:
        gamma, lam: >= 0; gamma also a parameter, as in FocalLoss.
        reduction, options: as `LogitLoss`: weight, alpha, ignore_index, label_smoothing. They act on the sum.
        norm: 'l2', squared, as above; 'l1' for the ablation of L25 App. A.15, :math:`\lambda\lVert q - e_y\rVert_1`.

    Raises:
        ValueError: gamma or lam negative or not finite, or another norm; as LogitLoss.

    Examples:
        >>> logits, labels = torch.tensor([[0.8, 0.2]]).log(), torch.tensor([0])
        >>> round(float(FocalCalibrationLoss(2.0, 1.0)(logits, labels)), 4)  # 0.0089 + 0.08
        0.0889
    """

    def __init__(
        self,
        gamma: float | nn.Parameter,
        lam: float,
        reduction: Reduction = "mean",
        norm: Literal["l2", "l1"] = "l2",
        **options: Unpack[Options],
    ) -> None:
        super().__init__(gamma, reduction, **options)
        self.lam = check_fixed(lam, "lam")
        if norm not in ("l2", "l1"):
            raise ValueError(f"norm must be 'l2' or 'l1'. Got {norm!r}.")
        self.norm = norm

    def per_sample(self, logits: Tensor, labels: Tensor) -> Tensor:
        log_probs = torch.log_softmax(logits, -1)
        distance = log_probs.exp() - one_hot(labels, log_probs)
        size = (distance**2).sum(-1) if self.norm == "l2" else distance.abs().sum(-1)
        return self.of_log_prob(log_prob_of_label(log_probs, labels)) + self.lam * size

    def per_class(self, logits: Tensor) -> Tensor:
        log_probs = torch.log_softmax(logits, -1)
        size = squared_distances(log_probs) if self.norm == "l2" else 2 * complement(log_probs)
        return self.of_log_prob(log_probs) + self.lam * size

    def per_margin(self, margin: Tensor) -> Tensor:
        log_q = logsigmoid(margin)
        return self.of_log_prob(log_q) + self.lam * 2 * complement(log_q) ** (2 if self.norm == "l2" else 1)

    def extra_repr(self) -> str:
        return f"{super().extra_repr()}, lam={self.lam:g}, norm={self.norm!r}"
