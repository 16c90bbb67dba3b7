"""Every metric of a table, from one reading of it."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
from torch import Tensor

from focal_lib.metrics.bins import adaptive_ece_of, class_gap_of_chunk, inner_edges, reliability_bins_of
from focal_lib.metrics.scores import brier_sum, checked_samples, log_loss_sum, top_of_chunk
from focal_lib.metrics.smooth import smooth_ece_of

__all__ = ["all_metrics"]


def all_metrics(probs: Any, labels: Any, n_bins: int = 15) -> dict[str, float]:
    """The metrics of `by_name.METRICS`, as fractions, by their names: what each function gives, to rounding.

    Samples are read and checked once; memory grows by two numbers a sample.

    Args:
        probs: (n, K) distributions: array, tensor, memory map or Dask array.
        labels: (n,) integers in 0 ... K-1.
        n_bins: of each binned error.

    Raises:
        ValueError: probs not (n, K) distributions, labels no integers in 0 ... K-1, n_bins < 1.
    """
    samples = checked_samples(probs, labels, single=False)
    confidences, corrects, sums = zip(*samples.map(functools.partial(_of_chunk, inner_edges(n_bins))), strict=True)
    confidence, correct = np.concatenate(confidences), np.concatenate(corrects)
    log_loss, brier, *gaps = np.sum(sums, axis=0) / len(samples)
    bins = reliability_bins_of(confidence, correct, n_bins)
    return {
        "error": 1 - float(correct.mean()),
        "nll": float(log_loss),
        "brier": float(brier),
        "ece": float((bins.count * np.abs(bins.gap)).sum() / len(samples)),
        "adaptive-ece": adaptive_ece_of(confidence, correct, n_bins),
        "classwise-ece": float(np.abs(gaps).sum() / samples.classes),
        "smooth-ece": smooth_ece_of(confidence, correct),
        "mce": float(np.abs(bins.gap).max()),
    }


def _of_chunk(edges: Tensor, p: Tensor, y: Tensor) -> tuple[Tensor, Tensor, np.ndarray]:
    """Confidence (m,), correctness (m,), and sums: of log-losses, of Brier scores, of the gaps in classes and bins."""
    sums = np.r_[float(log_loss_sum(p, y)), float(brier_sum(p, y)), class_gap_of_chunk(edges, p, y)]
    return *top_of_chunk(p, y), sums
