"""Metrics by their names in tables, each with its unit and its kind of bins."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from focal_lib.metrics.bins import (
    DEFAULT_BINS,
    adaptive_ece,
    adaptive_ece_of,
    class_gap_of_chunk,
    classwise_ece,
    ece,
    ece_of,
    inner_edges,
    mce,
    reliability_bins_of,
)
from focal_lib.metrics.calibration_slope import calibration_intercept, calibration_slope
from focal_lib.metrics.positive import observed_expected, positive_ece
from focal_lib.metrics.samples import Parts
from focal_lib.metrics.scores import accuracy, brier, nll, scores_of_chunk, weighted_samples, weighted_sum
from focal_lib.metrics.smooth import smooth_ece, smooth_ece_of


@dataclass(frozen=True)
class Metric:
    """A metric of probabilities (n, K) and labels (n,), lower is better.

    Attributes:
        function: (probs, labels) -> float.
        per_cent: whether tables show it in per cent.
        bins: 'equal width' or 'equal mass' (DEFAULT_BINS of them); '' for a metric without bins.
    """

    function: Callable[[Any, Any], float]
    per_cent: bool = False
    bins: str = ""

    @property
    def unit(self) -> float:
        """Factor of table values: 100 for per cent, else 1."""
        return 100.0 if self.per_cent else 1.0

    def shown(self, probs: Any, labels: Any) -> float:
        """Value in the unit of tables; raises what the function raises."""
        return self.unit * float(self.function(probs, labels))


def _error(probs: Any, labels: Any) -> float:
    return 1 - accuracy(probs, labels)


METRICS: dict[str, Metric] = {
    "error": Metric(_error, per_cent=True),
    "nll": Metric(nll),
    "brier": Metric(brier),
    "ece": Metric(ece, per_cent=True, bins="equal width"),
    "adaptive-ece": Metric(adaptive_ece, per_cent=True, bins="equal mass"),
    "classwise-ece": Metric(classwise_ece, per_cent=True, bins="equal width"),
    "smooth-ece": Metric(smooth_ece, per_cent=True),
    "mce": Metric(mce, per_cent=True, bins="equal width"),
}
# of two classes: of the probability of class 1, 0 or 1 (a ratio, a slope) if it is calibrated
EVENT_METRICS: dict[str, Metric] = {
    "positive-ece": Metric(positive_ece, per_cent=True, bins="equal width"),
    "observed/expected": Metric(lambda probs, labels: observed_expected(probs, labels).estimate),
    "calibration-slope": Metric(lambda probs, labels: calibration_slope(probs, labels).estimate),
    "calibration-intercept": Metric(lambda probs, labels: calibration_intercept(probs, labels).estimate),
}


def all_metrics(probs: Any, labels: Any, n_bins: int = DEFAULT_BINS, *, weights: Any = None) -> dict[str, float]:
    """All metrics of `by_name.METRICS` by name, as fractions, equal to the single functions up to rounding.

    Samples are read and checked once; four numbers of each are kept.

    Args:
        probs, labels, weights: as in ece.
        n_bins: number of bins of each binned error.

    Raises:
        ValueError: as ece.

    >>> found = all_metrics([[0.8, 0.2]] * 4, [0, 0, 0, 1])
    >>> found["error"], round(found["ece"], 4)
    (0.25, 0.05)
    """
    edges = inner_edges(n_bins)
    samples, weights = weighted_samples(probs, labels, weights)
    of_samples, (gaps,) = samples.collect(functools.partial(_of_chunk, edges), weights)
    confidence, correct, log_loss, brier_score = of_samples

    def mean(values: np.ndarray) -> float:
        return float(values.mean()) if weights is None else weighted_sum(values, weights) / float(weights.sum())

    return {
        "error": 1 - mean(correct),
        "nll": mean(log_loss),
        "brier": mean(brier_score),
        "ece": ece_of(confidence, correct, n_bins, weights),
        "adaptive-ece": adaptive_ece_of(confidence, correct, n_bins, weights),
        "classwise-ece": float(
            np.abs(gaps).sum() / (len(samples) if weights is None else weights.sum()) / samples.classes
        ),
        "smooth-ece": smooth_ece_of(confidence, correct, weights),
        "mce": float(np.abs(reliability_bins_of(confidence, correct, n_bins, weights=weights).gap).max()),
    }


def _of_chunk(edges: np.ndarray, p: np.ndarray, y: np.ndarray, w: np.ndarray | None = None) -> Parts:
    return scores_of_chunk(p, y), (class_gap_of_chunk(edges, p, y, w),)
