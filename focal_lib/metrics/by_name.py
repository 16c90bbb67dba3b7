"""Metrics by their names in tables, each with its unit and its kind of bins."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from focal_lib.metrics.bins import adaptive_ece, classwise_ece, ece, mce
from focal_lib.metrics.scores import accuracy, brier, nll
from focal_lib.metrics.smooth import smooth_ece


@dataclass(frozen=True)
class Metric:
    """A metric of probabilities (n, K) and labels (n,), lower is better.

    Attributes:
        function: (probs, labels) -> float.
        per_cent: whether tables show it in per cent.
        bins: 'equal width' or 'equal mass' (15 bins); '' for a metric without bins.
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
