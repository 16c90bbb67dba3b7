r"""Intervals over seeds and test images, of numbers that networks of several seeds have on one test set.

The spread over seeds on one test set leaves out what other test images would give. A number of seed s is

.. math:: d_s = \mu + \text{seed}_s + \text{images} + \text{both}_s,

with images common to all seeds. With s^2 the variance of the d_s, and C the covariance of two seeds under another draw
of images, the mean of S seeds has variance s^2 / S + C: the first counts what is of the seeds and of both, the second
what is of the images alone, and nothing counts twice. C is that of the jackknife that leaves out one of `GROUPS` groups
of images, the mean over pairs of seeds. The half width is

.. math:: \sqrt{t_{S-1}^2 s^2 / S + t_{G-1}^2 C}

(Banerjee 1960): each variance with the quantile of its own degrees of freedom, never narrower than over seeds alone.
Satterthwaite's degrees of freedom covered too little with two and three seeds, where s^2 is small by chance.

What is estimated is the mean over seeds and over test sets of this size. The bias of an ECE, which is the same on every
test set of a size, is part of it, as it is of the numbers that papers print.

A group is every twentieth image in the order in which the test set is read, which is part of the data: all networks of
a data set leave out the same images together. Validation and training images count among the seeds, as each seed draws
its own; a temperature stays as fitted when test images are left out.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
import scipy

from focal_lib.metrics.intervals import Interval, t_interval, t_interval_if_any, welch_interval

GROUPS = 20
IMAGES = "images"  # columns of tables of runs: of how many test images; what leaving out a group changes
LEFT_OUT = tuple(f"left_out_{k}" for k in range(GROUPS))


def kept_images(n: int) -> list[np.ndarray]:
    """Of n test images which are kept, (n,) bool: all; then all but a group, for each of the groups."""
    group = np.arange(n) % GROUPS
    return [group >= 0, *(group != k for k in range(GROUPS))]


def changes_in(values: list[float]) -> dict[str, Any]:
    """LEFT_OUT of values on all test images and then without each group; of three digits, enough for an error."""
    changes = np.array(values[1:]) - values[0]
    return dict(zip(LEFT_OUT, changes.astype(np.float16), strict=True))


def interval_over(values: Any, *, step: float = 0.0, level: float = 0.95) -> Interval:
    """The mean over seeds with its t interval, over test images, too, where values without groups of them are given.

    Args:
        values: (S,), one a seed; or (S, 1 + GROUPS), a row a seed: on all test images, then without each group.
        step: as in `t_interval`.

    Returns:
        kind 't'; over both with the degrees of freedom, between those of the seeds and of the groups, whose quantile at
        `level` gives the half width above. Of one seed the ends are nan.

    Raises:
        ValueError: another shape; as `t_interval`.
    """
    found = np.asarray(values, dtype=np.float64)
    if found.ndim != 2:
        return t_interval_if_any(found, step=step, level=level)
    if found.shape[1] != 1 + GROUPS:
        raise ValueError(f"values must be (seeds, {1 + GROUPS}). Got shape {found.shape}.")
    alone = t_interval_if_any(found[:, 0], step=step, level=level)
    if len(found) == 1 or not (common := _common_variance(found[:, 1:])) > 0:
        return alone
    return interval_of_two(alone.estimate, (alone.standard_error**2, common), (len(found) - 1, GROUPS - 1), level)


def interval_of_two(
    estimate: float, variances: tuple[float, float], degrees: tuple[float, float], level: float = 0.95
) -> Interval:
    """Of an estimate with a variance from seeds and one from images, each with the quantile of its own degrees.

    >>> found = interval_of_two(2.0, (1 / 3, 0.0), (2, math.inf))  # nothing from images: the t interval over seeds
    >>> round(found.low, 4), found.degrees
    (-0.4841, 2.0)
    """
    quantiles = scipy.stats.t.ppf((1 + level) / 2, degrees)
    half, error = math.sqrt(quantiles**2 @ np.array(variances)), math.sqrt(sum(variances))
    found = _degrees(half / error, level, degrees) if error else degrees[0]
    return Interval(estimate, estimate - half, estimate + half, "t", level, found)


def unpaired_interval(one: BySeed, two: BySeed, *, step: float = 0.0) -> Interval:
    """The mean of one minus that of two, of seeds that are no pairs: Welch's over seeds, over test images, too, if any.

    What is of the images is of both sides: C of the difference is C of either side less twice that between them.

    Args:
        step: as in `t_interval`, for each side.

    Raises:
        ValueError: fewer than two seeds on a side.
    """
    sides = [t_interval(side.of_all, step=step) for side in (one, two)]
    counts = [len(side.seeds) for side in (one, two)]
    deviations = [side.standard_error * n**0.5 for side, n in zip(sides, counts, strict=True)]
    estimate = sides[0].estimate - sides[1].estimate
    if not any(deviations):
        return Interval(estimate, estimate, estimate, "t", degrees=sum(counts) - 2)
    seeds = welch_interval((1, -1), [side.estimate for side in sides], deviations, counts)
    if not one.images or one.images != two.images:
        return seeds
    apart = [side.values[:, 1:] - side.values[:, 1:].mean(axis=1, keepdims=True) for side in (one, two)]
    between = (GROUPS - 1) / GROUPS * float(apart[0].mean(axis=0) @ apart[1].mean(axis=0))
    common = sum(_common_variance(side.values[:, 1:]) for side in (one, two)) - 2 * between
    if not common > 0:
        return seeds
    return interval_of_two(estimate, (seeds.standard_error**2, common), (seeds.degrees or 0, GROUPS - 1))


def _common_variance(left_out: np.ndarray) -> float:
    """Jackknife covariance of two seeds over the groups, the mean over pairs: (S, GROUPS) -> C, maybe below 0."""
    apart = left_out - left_out.mean(axis=1, keepdims=True)
    seeds = len(apart)
    pairs = (apart.sum(axis=0) ** 2 - (apart**2).sum(axis=0)) / (seeds * (seeds - 1))
    return (GROUPS - 1) / GROUPS * float(pairs.sum())


def _degrees(quantile: float, level: float, between: tuple[float, float]) -> float:
    """Those of Student's t with this quantile."""

    def beyond(degrees: float) -> float:
        return float(scipy.stats.t.ppf((1 + level) / 2, degrees)) - quantile

    low, high = sorted(map(float, between))
    if beyond(low) <= 0:  # but for rounding all is of one of them
        return low
    end = min(high, 1e6)
    return high if beyond(end) >= 0 else float(scipy.optimize.brentq(beyond, low, end))


@dataclass(frozen=True)
class BySeed:
    """A number a seed, with what it is without each group of test images where that is on record.

    Attributes:
        seeds: (S,), in order.
        values: as `interval_over` takes them.
        images: of how many test images; 0 where only the numbers themselves are on record.
    """

    seeds: tuple[int, ...]
    values: np.ndarray
    images: int = 0

    @classmethod
    def of_rows(cls, rows: pd.DataFrame) -> BySeed:
        """Of rows of a table of runs; of several of a seed, for losses say, the mean."""
        known = set(LEFT_OUT) <= set(rows) and bool(rows[LEFT_OUT[0]].notna().all())
        columns = ["value", *LEFT_OUT] if known else ["value"]
        means = rows[columns].astype(np.float64).groupby(rows["seed"]).mean()
        seeds = tuple(int(seed) for seed in means.index)
        values = means.to_numpy(dtype=np.float64)
        if not known:
            return cls(seeds, values[:, 0])
        values[:, 1:] += values[:, :1]
        return cls(seeds, values, int(rows[IMAGES].iloc[0]))

    def __sub__(self, other: BySeed) -> BySeed:
        """Of the seeds that both have; over test images, too, where both are, and on as many."""
        return self._with(other, np.subtract)

    def __truediv__(self, other: BySeed) -> BySeed:
        """As the difference."""
        return self._with(other, np.divide)

    def _with(self, other: BySeed, function: Callable[..., np.ndarray]) -> BySeed:
        both = tuple(seed for seed in self.seeds if seed in other.seeds)
        one, two = (side.values[[side.seeds.index(seed) for seed in both]] for side in (self, other))
        if self.images and self.images == other.images:
            return BySeed(both, function(one, two), self.images)
        one, two = (values if values.ndim == 1 else values[:, 0] for values in (one, two))
        return BySeed(both, function(one, two))

    def map(self, function: Callable[[np.ndarray], np.ndarray]) -> BySeed:
        """A function of each number."""
        return replace(self, values=function(self.values))

    @property
    def of_all(self) -> pd.Series:
        """On all test images, by seed."""
        values = self.values if self.values.ndim == 1 else self.values[:, 0]
        return pd.Series(values, index=pd.Index(self.seeds, name="seed"))

    def interval(self, step: float = 0.0) -> Interval:
        """Of the mean, by `interval_over`."""
        return interval_over(self.values, step=step)


def mean_of(every: Sequence[BySeed]) -> BySeed:
    """The mean of several, over losses say, of the same seeds and test images."""
    (seeds,) = {one.seeds for one in every}
    (images,) = {one.images for one in every}
    return BySeed(seeds, np.mean([one.values for one in every], axis=0), images)
