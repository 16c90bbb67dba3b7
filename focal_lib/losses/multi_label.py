"""Several labels a sample, or one logit: each label a problem of two classes."""

from __future__ import annotations

import math

import torch
from torch import Tensor

from focal_lib.losses.base import LogitLoss, TrainingLoss, can_look_at, check_tensors, reduced, span_of, widen


class MultiLabelLoss(TrainingLoss):
    r"""A loss of two classes for each label by itself, with :math:`q = \sigma(z)` of the label's one logit z.

    Of `FocalLoss(0)` it is binary cross-entropy with logits; of `FocalLoss(gamma, alpha=alpha)` the focal loss of Lin
    et al. (2017), `torchvision.ops.sigmoid_focal_loss`; of `FocalCalibrationLoss(gamma, lam)` focal loss plus
    :math:`2\lambda(q - y)^2`, because the squared distance of :math:`(1-q, q)` from the label has two equal terms.
    A label t between 0 and 1 has the loss :math:`t\,\ell(1) + (1 - t)\,\ell(0)`.

    Args:
        loss: its reduction, weight (of 0 and 1), alpha (of 1), ignore_index and label_smoothing hold for the labels,
            ignore_index also for float ones. The mean is over all labels that are not ignored; with `weight` it is
            divided by :math:`\sum (t w_1 + (1 - t) w_0)`.

    Raises:
        ValueError: a loss that is no LogitLoss. When called: logits and labels of different shapes, integer labels
            other than 0, 1 and ignore_index, float labels outside [0, 1]. Values are looked at on the CPU alone, as in
            LogitLoss.

    Examples:
        >>> from focal_lib.losses import FocalLoss
        >>> logits, labels = torch.tensor([[2.0, -1.0]]), torch.tensor([[1, 0]])  # (n, L), one sample
        >>> round(float(MultiLabelLoss(FocalLoss(2.0))(logits, labels)), 4)
        0.0122
        >>> loss = MultiLabelLoss(FocalLoss(0.0, "none"))  # one logit a sample, labels of people who disagree
        >>> [round(value, 4) for value in loss(torch.tensor([2.0, 2.0]), torch.tensor([1.0, 0.9])).tolist()]
        [0.1269, 0.3269]
    """

    def __init__(self, loss: LogitLoss) -> None:
        super().__init__()
        if not isinstance(loss, LogitLoss):
            raise ValueError(f"loss must be a LogitLoss, FocalLoss(2.0) say. Got {type(loss).__name__}.")
        self.loss = loss
        self.takes_sum, self.one_graph = loss.takes_sum, loss.one_graph
        self.learns_from_validation = loss.learns_from_validation

    def start_epoch(self, epoch: int) -> None:
        self.loss.start_epoch(epoch)

    def after_validation(self, confidence: Tensor, correct: Tensor) -> None:
        self.loss.after_validation(confidence, correct)

    def forward(self, logits: Tensor, labels: Tensor) -> Tensor:
        """(n, L) or any shape, twice -> what the loss's reduction makes of the losses, of that shape."""
        ignored = self.loss.ignore_index
        z, soft = check_label_logits(logits, labels, ignored), labels.is_floating_point()
        counted = labels != ignored
        share, factors = self.loss.label_smoothing, self.loss.class_factors(z.new_empty((0, 2)))
        ones = (1 - share) * torch.where(counted, labels, 0).to(z) + share / 2
        zeros = 1 - ones
        if factors is not None:
            ones, zeros = factors[1] * ones, factors[0] * zeros
        if soft or share:
            losses = ones * self.loss.per_margin(z) + zeros * self.loss.per_margin(-z)
        else:
            losses = self.loss.per_margin(torch.where(labels == 1, z, -z))
            losses = losses if factors is None else (ones + zeros) * losses
        mass = counted if self.loss.weight is None else counted * (ones + zeros)
        return reduced(torch.where(counted, losses, 0.0), self.loss.reduction, mass)


def check_label_logits(logits: Tensor, labels: Tensor, ignore_index: int) -> Tensor:
    """Logits of at least single precision, if shapes and labels are as MultiLabelLoss says; else ValueError."""
    check_tensors(logits, labels)
    shape, given = tuple(logits.shape), tuple(labels.shape)
    if shape != given:
        cure = f" Labels of that shape: labels.reshape({shape})." if math.prod(shape) == math.prod(given) else ""
        raise ValueError(f"logits and labels must both have shape (n, L). Got {shape} and {given}.{cure}")
    if can_look_at(labels):
        span = span_of(torch.where(labels != ignore_index, labels, 0))
        if span is not None and not (span[0] >= 0 and span[1] <= 1):
            raise ValueError(
                f"labels must lie in [0, 1], or be ignored, ignore_index={ignore_index}. "
                f"Got values from {span[0]:g} to {span[1]:g}."
            )
    return widen(logits)
