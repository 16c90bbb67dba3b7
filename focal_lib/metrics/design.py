r"""Weights and groups of samples, with means and intervals that account for them.

The standard error of a weighted mean :math:`m = \sum w_i x_i / \sum w_i` of grouped samples is that of the jackknife
that leaves out one group at a time. With the sums :math:`W_g` and :math:`S_g` of w and of w x over a group,

.. math:: s^2 = \frac{G-1}{G} \sum_g \Big(\frac{S_g - m W_g}{W - W_g}\Big)^2,

for any dependence within groups (MacKinnon, Nielsen & Webb 2023, CV3). Samples without groups are groups of one, and
with equal weights this is the usual standard error. Student's t has
:math:`(\sum_g W_g^2)^2 / \sum_g W_g^4 - 1` degrees of freedom: G - 1 for equal groups, fewer if a few groups dominate.
A proportion, such as the error, has the exact binomial interval. With weights or groups it has Wilson's, at the
effective sample size that s implies (Korn & Graubard 1998): proportions near 0 are skewed, and s may be 0.

The correlation within groups is estimated from products of residuals x (Kish 1965),

.. math:: \rho = \sum_g P_g \Big/ \sum_g M_g , \qquad P_g = \sum_{i \ne j} w_i w_j x_i x_j , \quad
    M_g = \sum_{i \ne j} w_i w_j \frac{x_i^2 + x_j^2}{2} \ge P_g ,

a mean of :math:`P_g / M_g \le 1` with weights M_g. With groups of m samples the variance of a sum is
:math:`1 + (m - 1) \rho` times that of independent samples; with weights the factor is
:math:`1 + (\sum_g W_g^2 / \sum w^2 - 1) \rho`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import scipy

from focal_lib.metrics.intervals import Interval, exact_binomial_ends
from focal_lib.validation import check_level, check_weights


@dataclass(frozen=True)
class Design:
    """Weights and group labels of n samples; None means equal weights, or independent samples.

    Equal weights and groups of one sample are stored as None; weights are scaled to mean 1.

    Args:
        weights: (n,), finite, at least 0, not all 0.
        groups: (n,), a label for each sample; samples with the same label may be dependent.

    Attributes:
        given: the weights before they are scaled, None where all are 1: whole ones are repetitions in bins of equal
            mass.

    Raises:
        ValueError: invalid weights, or arrays that are not (n,).

    >>> Design(weights=np.array([1, 3])).mean(np.array([0.0, 1.0]))
    0.75
    >>> Design(groups=np.array([0, 0, 1, 1])).effective(4)
    2.0
    """

    weights: np.ndarray | None = None
    groups: np.ndarray | None = None
    given: np.ndarray | None = field(init=False, default=None)

    def __post_init__(self) -> None:
        shapes = {np.shape(values) for values in (self.weights, self.groups) if values is not None}
        if len(shapes) > 1 or any(len(shape) != 1 for shape in shapes):
            raise ValueError(f"weights and groups must have one shape (n,). Got {sorted(shapes)}.")
        if self.weights is not None:
            weights = check_weights(self.weights, len(self.weights))
            equal = bool((weights == weights[0]).all())
            object.__setattr__(self, "given", None if equal and weights[0] == 1 else weights)
            object.__setattr__(self, "weights", None if equal else weights / weights.mean())
        if self.groups is not None:
            found, codes = np.unique(self.groups, return_inverse=True)
            object.__setattr__(self, "groups", None if len(found) == len(codes) else codes)

    @property
    def is_plain(self) -> bool:
        """Whether samples are independent and have equal weights."""
        return self.weights is None and self.groups is None

    def named(self, kind: str) -> str:
        """Kind of an interval with this design, e.g. 't over groups, weighted'."""
        over = "" if self.groups is None else " over groups"
        return f"{kind}{over}" + ("" if self.weights is None else ", weighted")

    def take(self, index: np.ndarray) -> Design:
        """Design of the samples that an index or mask selects."""
        return Design(*(None if values is None else values[index] for values in (self.given, self.groups)))

    def counted(self, *columns: np.ndarray) -> tuple[Any, ...]:
        """The design and the columns (n,) without samples of weight 0, which count for nothing."""
        if self.weights is None or self.weights.all():
            return self, *columns
        used = self.weights > 0
        return self.take(used), *(values[used] for values in columns)

    def totals(self, values: np.ndarray) -> np.ndarray:
        """Weighted sums of values (n,) over each group, (G,); weighted values (n,) without groups."""
        weighted = values if self.weights is None else self.weights * values
        return weighted if self.groups is None else np.bincount(self.groups, weighted)

    def independent(self, n: int) -> int:
        """Number of groups, or of samples without groups, with positive weight, of n samples."""
        return int(np.count_nonzero(self.totals(np.ones(n))))

    def effective(self, n: int) -> float:
        """Effective number of groups, or of samples without groups, of n samples; at most `independent` (Kish 1965)."""
        return _worth(self.totals(np.ones(n)))

    def degrees(self, n: int) -> float:
        """Degrees of freedom of a standard error over n samples, at least 1."""
        parts = self.totals(np.ones(n))
        parts = parts / parts.max()
        return max(1.0, float((parts**2).sum() ** 2 / (parts**4).sum()) - 1)

    def mean(self, values: np.ndarray) -> float:
        """Weighted mean of values (n,); samples of weight 0 are ignored, even if infinite."""
        if self.weights is None:
            return float(values.mean())
        used = self.weights > 0
        return float(np.average(values[used], weights=self.weights[used]))

    def mean_interval(self, values: np.ndarray, *, level: float = 0.95) -> Interval:
        """Mean of values (n,) with its t interval; the ends are nan if a value is not finite, or for a single group."""
        design, values = self.counted(values)
        mean = design.mean(values)
        if not np.isfinite(values).all() or design.independent(len(values)) < 2:
            return Interval(mean, np.nan, np.nan, level=level)
        degrees = design.degrees(len(values))
        half = design._standard_error(values, mean) * _quantile(degrees, level)
        return Interval(mean, mean - half, mean + half, "t", level, degrees)

    def share_interval(self, values: np.ndarray, *, level: float = 0.95) -> Interval:
        """Mean of values (n,) of 0 and 1 with its interval; the ends are nan for a single group.

        Clopper and Pearson's (1934) interval if the design is plain, else Wilson's.
        """
        design, values = self.counted(values)
        share, n = design.mean(values), len(values)
        if design.is_plain:
            low, high = exact_binomial_ends(round(share * n), n, (1 - level) / 2)
            return Interval(share, float(low), float(high), "exact binomial", level)
        if design.independent(n) < 2:
            return Interval(share, np.nan, np.nan, level=level)
        weights, parts = design.totals(np.ones(n)), np.ones(n) if design.weights is None else design.weights
        error = design._standard_error(values, share)
        most, of_groups = _worth(parts), _worth(weights)
        count = min(most, share * (1 - share) / error**2) if error else of_groups
        q = _quantile(design.degrees(n), level)
        centre, half = share + q * q / (2 * count), q * np.sqrt(share * (1 - share) / count + (q / (2 * count)) ** 2)
        low, high = ((centre + sign * half) / (1 + q * q / count) for sign in (-1, 1))
        return Interval(share, max(0.0, float(low)), min(1.0, float(high)), "Wilson", level)

    def correlation_at_most(self, residuals: np.ndarray, *, level: float = 0.95) -> float:
        r"""Upper confidence bound of the correlation of residuals (n,), of mean 0, within groups; in [0, 1].

        The bound is :math:`u + s (1 - u)`, where u >= 0 is the upper end of the one-sided t interval of :math:`\rho`.
        The share :math:`s = 1 - (1 - level)^{1/k}` may be fully dependent although none of k samples was. Here
        :math:`k = (\sum w^2 x^2)^2 / \sum w^4 x^4`, which is about the number of errors if they are rare. The bound is
        1 with fewer than two informative groups, and 0 for independent samples.

        Args:
            level: in (0.5, 1).
        """
        if self.groups is None:
            return 0.0
        weights = np.ones(len(residuals)) if self.weights is None else self.weights
        others = np.bincount(self.groups, weights)[self.groups] - weights
        square = (weights * residuals) ** 2
        pairs = np.bincount(self.groups, weights * residuals) ** 2 - np.bincount(self.groups, square)
        most = np.bincount(self.groups, weights * residuals**2 * others)
        told = most > 0
        if np.count_nonzero(told) < 2:
            return 1.0
        found = Design(most[told]).mean_interval(pairs[told] / most[told], level=2 * level - 1)
        high, unseen = float(np.clip(found.high, 0, 1)), 1 - (1 - level) ** (1 / _worth(square[told[self.groups]]))
        return high + (1 - high) * unseen

    def weighted_correct(self, confidence: np.ndarray, correct: np.ndarray) -> np.ndarray:
        """Values (n,) to replace correctness: their unweighted gaps to the confidence equal the weighted gaps."""
        return correct if self.weights is None else confidence - self.weights * (confidence - correct)

    def _standard_error(self, values: np.ndarray, mean: float) -> float:
        weights, sums = self.totals(np.ones(len(values))), self.totals(values)
        moved, parts = (sums - mean * weights) / (weights.sum() - weights), len(weights)
        return float(np.sqrt((parts - 1) / parts * (moved**2).sum()))


def _worth(weights: np.ndarray) -> float:
    return float(weights.sum() ** 2 / (weights**2).sum())


def _quantile(degrees: float, level: float) -> float:
    check_level(level)
    return float(scipy.stats.t.ppf((1 + level) / 2, degrees))


PLAIN = Design()
