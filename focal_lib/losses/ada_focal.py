"""AdaFocal (Ghosh, Schaaf and Gormley, NeurIPS 2022): gamma by bin, updated from validation calibration."""

from __future__ import annotations

import itertools
import math

import numpy as np
import torch
from torch import Tensor

from focal_lib.losses.base import LogitLoss, Reduction, complement, log_prob_of_label
from focal_lib.metrics.bins import DEFAULT_BINS
from focal_lib.validation import check_number


class AdaFocalLoss(LogitLoss):
    r"""Focal loss with one gamma a confidence bin, or inverse focal loss where that gamma is negative.

    A sample belongs to the bin of its q_y. With gamma > 0 its loss is :math:`-(1-q_y)^{\gamma}\log q_y`, with
    gamma < 0 :math:`-(1+q_y)^{|\gamma|}\log q_y`. `after_validation` multiplies every gamma by
    :math:`e^{\pm\lambda(C-A)}`, confidence minus accuracy of its bin on validation data: overconfident bins get a
    larger one.

    Args:
        n_bins: equal-mass bins of the validation confidences; equal-width until the first update.
        rate: lambda of the paper.
        initial, switch, largest, smallest: gamma at the start, where its sign changes, and its limits.

    Raises:
        ValueError: numbers that do not fit together.
    """

    learns_from_validation = True
    edges: Tensor
    gammas: Tensor

    def __init__(
        self,
        n_bins: int = DEFAULT_BINS,
        rate: float = 1.0,
        initial: float = 1.0,
        switch: float = 0.2,
        largest: float = 20.0,
        smallest: float = -2.0,
        reduction: Reduction = "mean",
    ) -> None:
        super().__init__(reduction)
        if n_bins < 1:
            raise ValueError(f"n_bins must be at least 1. Got {n_bins}.")
        self.rate = check_number(rate, "rate", minimum=0.0)
        if not smallest <= -switch < 0 < switch <= initial <= largest:
            raise ValueError(
                "must have smallest <= -switch < 0 < switch <= initial <= largest. "
                f"Got {smallest}, {switch}, {initial}, {largest}."
            )
        self.switch, self.largest, self.smallest = switch, largest, smallest
        # buffers: part of a checkpoint
        self.register_buffer("edges", torch.arange(1, n_bins, dtype=torch.float64) / n_bins)  # (n_bins - 1,)
        self.register_buffer("gammas", torch.full((n_bins,), initial, dtype=torch.float64))  # (n_bins,)

    @torch.no_grad()
    def after_validation(self, confidence: Tensor, correct: Tensor) -> None:
        """New bins and gammas from validation confidences (m,) and correctness (m,).

        Raises:
            ValueError: fewer samples than bins.
        """
        values, order = confidence.detach().double().cpu().sort()
        if len(values) < len(self.gammas):
            raise ValueError(f"validation must have at least {len(self.gammas)} samples. Got {len(values)}.")
        bins = np.array_split(np.arange(len(values)), len(self.gammas))
        right = correct.detach().double().cpu()[order]
        for k, index in enumerate(bins):
            gap = float(values[index].mean() - right[index].mean())
            self.gammas[k] = self._next(float(self.gammas[k]), gap)
        for k, (left, after) in enumerate(itertools.pairwise(bins)):
            self.edges[k] = (values[left[-1]] + values[after[0]]) / 2

    def _next(self, gamma: float, gap: float) -> float:
        moved = gamma * math.exp(self.rate * gap if gamma > 0 else -self.rate * gap)
        if abs(moved) < self.switch:  # too small to matter: focal becomes inverse focal, and back
            moved = -math.copysign(self.switch, moved)
        return max(min(moved, self.largest), self.smallest)

    def per_sample(self, logits: Tensor, labels: Tensor) -> Tensor:
        log_q = log_prob_of_label(torch.log_softmax(logits, -1), labels)
        q = log_q.exp()
        gamma = self.gammas.to(q)[torch.bucketize(q.detach(), self.edges.to(q), right=True)]
        base = torch.where(gamma > 0, complement(log_q), 1 + q)
        return -(base ** gamma.abs()) * log_q

    def extra_repr(self) -> str:
        return f"n_bins={len(self.gammas)}, rate={self.rate:g}"
