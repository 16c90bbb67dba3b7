r"""How samples were drawn: what each counts, and which are not independent. Means and intervals that allow for it.

A weighted mean :math:`m = \sum w_i x_i / \sum w_i` of samples in groups has the standard error of the jackknife that
leaves out one group at a time, with the sums :math:`W_g` and :math:`S_g` of w and of w x over a group,

.. math:: s^2 = \frac{G-1}{G} \sum_g \Big(\frac{S_g - m W_g}{W - W_g}\Big)^2,

whatever the samples of a group have in common (MacKinnon, Nielsen & Webb 2023, CV3). Samples without groups are groups
of one, and with equal weights this is the usual standard error. Student's t has
:math:`(\sum_g W_g^2)^2 / \sum_g W_g^4 - 1` degrees of freedom: G - 1 where groups count the same, fewer where few of
them count most. A share, such as an error, has the exact binomial interval; with weights or groups Wilson's for as many
independent samples as s is worth (Korn & Graubard 1998): shares near 0 are skewed, and s may be 0.

How far the samples of a group move together is told by the products of their residuals x (Kish 1965),

.. math:: \rho = \sum_g P_g \Big/ \sum_g M_g , \qquad P_g = \sum_{i \ne j} w_i w_j x_i x_j , \quad
    M_g = \sum_{i \ne j} w_i w_j \frac{x_i^2 + x_j^2}{2} \ge P_g ,

a mean of :math:`P_g / M_g \le 1` with weights M_g. Sums over groups of m have :math:`1 + (m - 1) \rho` times the
variance that they have where samples are independent, with weights
:math:`1 + (\sum_g W_g^2 / \sum w^2 - 1) \rho`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import stats

from focal_lib.metrics.intervals import Interval, exact_binomial_ends


@dataclass(frozen=True)
class Design:
    """Of n samples: what each counts and which belong together; None where all count the same, or are independent.

    Equal weights are none, and groups of one are none. Weights have mean 1.

    Args:
        weights: (n,), finite and not negative, some positive.
        groups: (n,), a number for each sample; samples that share it are not independent.

    Raises:
        ValueError: weights that are none, arrays of other shapes.
    """

    weights: np.ndarray | None = None
    groups: np.ndarray | None = None

    def __post_init__(self) -> None:
        shapes = {np.shape(values) for values in (self.weights, self.groups) if values is not None}
        if len(shapes) > 1 or any(len(shape) != 1 for shape in shapes):
            raise ValueError(f"weights and groups must have one shape (n,). Got {sorted(shapes)}.")
        if self.weights is not None:
            weights = np.asarray(self.weights, dtype=np.float64)
            if not (np.isfinite(weights).all() and (weights >= 0).all() and weights.any()):
                raise ValueError(
                    f"weights must be finite, none below 0 and not all 0. Got {weights.min():g} to {weights.max():g}."
                )
            equal = bool((weights == weights[0]).all())
            object.__setattr__(self, "weights", None if equal else weights / weights.mean())
        if self.groups is not None:
            found, codes = np.unique(self.groups, return_inverse=True)
            object.__setattr__(self, "groups", None if len(found) == len(codes) else codes)

    @property
    def is_plain(self) -> bool:
        """Whether samples are independent and count the same."""
        return self.weights is None and self.groups is None

    def named(self, kind: str) -> str:
        """The kind of an interval with what it allows for: 't over groups, weighted'."""
        over = "" if self.groups is None else " over groups"
        return f"{kind}{over}" + ("" if self.weights is None else ", weighted")

    def take(self, index: np.ndarray) -> Design:
        """Of the samples of an index or a mask."""
        return Design(*(None if values is None else values[index] for values in (self.weights, self.groups)))

    def totals(self, values: np.ndarray) -> np.ndarray:
        """Weighted sums of values (n,) over each group, (G,); without groups those of each sample."""
        weighted = values if self.weights is None else self.weights * values
        return weighted if self.groups is None else np.bincount(self.groups, weighted)

    def independent(self, n: int) -> int:
        """How many independent parts n samples have, groups or samples, that count."""
        return int(np.count_nonzero(self.totals(np.ones(n))))

    def effective(self, n: int) -> float:
        """How many independent parts of equal size n samples are worth, at most `independent` (Kish 1965)."""
        return _worth(self.totals(np.ones(n)))

    def degrees(self, n: int) -> float:
        """Degrees of freedom of a standard error over n samples, at least 1."""
        parts = self.totals(np.ones(n))
        parts = parts / parts.max()
        return max(1.0, float((parts**2).sum() ** 2 / (parts**4).sum()) - 1)

    def mean(self, values: np.ndarray) -> float:
        """Weighted mean of values (n,); a sample of weight 0 does not count, whatever its value."""
        if self.weights is None:
            return float(values.mean())
        used = self.weights > 0
        return float(np.average(values[used], weights=self.weights[used]))

    def mean_interval(self, values: np.ndarray, *, level: float = 0.95) -> Interval:
        """The mean of values (n,) with its t interval; nan where a value is infinite, or where there is one group."""
        if self.weights is not None and not self.weights.all():
            used = self.weights > 0
            return self.take(used).mean_interval(values[used], level=level)
        mean = self.mean(values)
        if not np.isfinite(values).all() or self.independent(len(values)) < 2:
            return Interval(mean, np.nan, np.nan, level=level)
        degrees = self.degrees(len(values))
        half = self._standard_error(values, mean) * _quantile(degrees, level)
        return Interval(mean, mean - half, mean + half, "t", level, degrees)

    def share_interval(self, values: np.ndarray, *, level: float = 0.95) -> Interval:
        """The mean of values (n,) of 0 and 1 with its interval; nan where there is one group.

        Clopper and Pearson's (1934) where samples are independent and count the same, else Wilson's.
        """
        share, n = self.mean(values), len(values)
        if self.is_plain:
            low, high = exact_binomial_ends(round(share * n), n, (1 - level) / 2)
            return Interval(share, float(low), float(high), "exact binomial", level)
        if self.independent(n) < 2:
            return Interval(share, np.nan, np.nan, level=level)
        weights, parts = self.totals(np.ones(n)), np.ones(n) if self.weights is None else self.weights
        error = self._standard_error(values, share)
        most, of_groups = _worth(parts), _worth(weights)
        count = min(most, share * (1 - share) / error**2) if error else of_groups
        q = _quantile(self.degrees(n), level)
        centre, half = share + q * q / (2 * count), q * np.sqrt(share * (1 - share) / count + (q / (2 * count)) ** 2)
        low, high = ((centre + sign * half) / (1 + q * q / count) for sign in (-1, 1))
        return Interval(share, max(0.0, float(low)), min(1.0, float(high)), "Wilson", level)

    def correlation_at_most(self, residuals: np.ndarray, *, level: float = 0.95) -> float:
        r"""The largest correlation of residuals (n,), of mean 0, within groups that they leave open; in [0, 1].

        :math:`u + s (1 - u)`, of the upper end u >= 0 of the one-sided t interval of :math:`\rho`, and a share
        :math:`s = 1 - (1 - level)^{1/k}` that may move as one though none of k did: as many samples as the squares of
        the residuals are worth, :math:`(\sum w^2 x^2)^2 / \sum w^4 x^4`, which of few errors among many samples is the
        number of errors. 1 where fewer than two groups tell anything, 0 where samples are independent.

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
        """Numbers (n,) in the place of correctness, whose unweighted gaps to the confidence are the weighted ones."""
        return correct if self.weights is None else confidence - self.weights * (confidence - correct)

    def _standard_error(self, values: np.ndarray, mean: float) -> float:
        weights, sums = self.totals(np.ones(len(values))), self.totals(values)
        moved, parts = (sums - mean * weights) / (weights.sum() - weights), len(weights)
        return float(np.sqrt((parts - 1) / parts * (moved**2).sum()))


def _worth(weights: np.ndarray) -> float:
    return float(weights.sum() ** 2 / (weights**2).sum())


def _quantile(degrees: float, level: float) -> float:
    if not 0 < level < 1:
        raise ValueError(f"level must lie in (0, 1). Got {level}.")
    return float(stats.t.ppf((1 + level) / 2, degrees))


PLAIN = Design()
