"""AdaFocal (Ghosh, Schaaf and Gormley, NeurIPS 2022): one gamma per bin, updated from validation calibration."""

from __future__ import annotations

import itertools
import math
from typing import Unpack

import numpy as np
import torch
from torch import Tensor

from focal_lib.losses.base import LabelProbabilityLoss, Options, Reduction, check_fixed, complement
from focal_lib.metrics.bins import DEFAULT_BINS


class AdaFocalLoss(LabelProbabilityLoss):
    r"""AdaFocal loss (Ghosh, Schaaf and Gormley 2022): one gamma per confidence bin, negative for inverse focal loss.

    A sample belongs to the bin of its q_y. Its loss is :math:`-(1-q_y)^{\gamma}\log q_y` for gamma > 0 and
    :math:`-(1+q_y)^{|\gamma|}\log q_y` for gamma < 0. `after_validation` multiplies each gamma by
    :math:`e^{\pm\lambda(C-A)}`, with C - A the confidence minus the accuracy of its bin on validation data.
    Overconfident bins get a larger gamma.

    Args:
        n_bins: number of equal-mass bins of the validation confidences; equal-width before the first update.
        rate: lambda of the paper.
        initial, switch, largest, smallest: first gamma, abs(gamma) below which the sign changes, and limits of gamma.
        reduction, options: as `LogitLoss`: weight, alpha, ignore_index, label_smoothing.

    Raises:
        ValueError: as LogitLoss; n_bins < 1, rate < 0, or not smallest <= -switch < 0 < switch <= initial <= largest.

    Examples:
        >>> loss = AdaFocalLoss(n_bins=2)  # gamma = 1 in both bins
        >>> loss.after_validation(torch.tensor([0.5, 0.6, 0.9, 0.9]), torch.tensor([0, 1, 0, 1]))
        >>> [round(gamma, 4) for gamma in loss.gammas.tolist()]  # exp(0.55 - 0.5), exp(0.9 - 0.5)
        [1.0513, 1.4918]
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
        **options: Unpack[Options],
    ) -> None:
        super().__init__(reduction, **options)
        if n_bins < 1:
            raise ValueError(f"n_bins must be at least 1. Got {n_bins}.")
        self.rate = check_fixed(rate, "rate")
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
        """Update bins and gammas from validation confidences (m,) and correctness (m,).

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
        if abs(moved) < self.switch:  # too small to matter: switch between focal and inverse focal
            moved = -math.copysign(self.switch, moved)
        return max(min(moved, self.largest), self.smallest)

    def of_log_prob(self, log_q: Tensor) -> Tensor:
        q = log_q.exp()
        gamma = self.gammas.to(q)[torch.bucketize(q.detach(), self.edges.to(q), right=True)]
        base = torch.where(gamma > 0, complement(log_q), 1 + q)
        return -(base ** gamma.abs()) * log_q

    def extra_repr(self) -> str:
        return f"n_bins={len(self.gammas)}, rate={self.rate:g}"
