r"""The temperature closest to the focal calibration map of n classes, in the sup norm (KK24 Figs. 2, 6, 7).

For each gamma the paper minimises over T the largest difference, over all logits, between the probabilities of the
two. `largest_deviation` finds that difference at one T. This module minimises over T on finitely many points of the
simplex, the witnesses. The best T for the witnesses gives a lower bound on the least error. The largest deviation at
that T gives an upper bound (as far as its search goes) and new witnesses. A few rounds close the gap.

The minimum over T for the witnesses is global: their error changes by at most L abs(log T - log T'), where

.. math:: \Big|\frac{\partial s}{\partial\log\beta}\Big| \le L
          = \max_{0<s<1} s(1-s)\Big(\log\frac{s}{1-s} + \log(n-1)\Big),

so intervals of T are halved until they are below rounding. The first interval contains the best T. Scaling with 1/T
at most the smallest elasticity of the map's weights is nowhere more confident than the map. Scaling with
1/T >= gamma + 1 is nowhere less confident. Outside the interval the error of the top probability only grows.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy

from focal_lib.theory.gain import elasticity_minimum
from focal_lib.theory.largest_deviation import SIMPLEX, DeviationSearch, LevelSets
from focal_lib.theory.maps import focal_log_probs

PAPER_CUBE = 10.0  # logits in (-5, 5) differ by at most 10
_ROUNDS = 30
_GAP = 1e-8  # between the bounds on the error, over the error, where rounds end
_ROUNDING = 1e-13


@dataclass(frozen=True)
class ClosestTemperature:
    """The closest temperature and its error.

    Examples:
        >>> ClosestTemperature(inverse_temperature=2.0, error=0.01, least_error=0.01).temperature
        0.5
    """

    inverse_temperature: float
    error: float  # largest difference of a probability at that temperature
    least_error: float  # lower bound on the error of every temperature

    @property
    def temperature(self) -> float:
        return 1 / self.inverse_temperature


def deviation_from_map(gamma: float, inverse_temperature: float, logits: np.ndarray) -> np.ndarray:
    """Probabilities after temperature scaling minus those after the map, (m, K) -> (m, K).

    Args:
        gamma: >= -1.
        inverse_temperature: 1/T.
        logits: (m, K), K >= 2.

    Raises:
        ValueError: as focal_log_probs.

    Examples:
        >>> deviation_from_map(2.0, 1.0, np.log([[0.6266, 0.3734]])).round(4)  # the map makes 0.8 of 0.6266
        array([[-0.1734,  0.1734]])
    """
    return scipy.special.softmax(inverse_temperature * logits, axis=-1) - np.exp(focal_log_probs(logits, gamma))


def closest_temperature(gamma: float, n: int = 2, reach: float = SIMPLEX) -> ClosestTemperature:
    """Temperature scaling closest to the map of n classes in the largest absolute difference (KK24 section 3.2).

    It takes a tenth of a second for 10 classes, a second or two for 100, about a minute for 1,000.

    Args:
        gamma: >= 0.
        n: number of classes, >= 2.
        reach: largest difference of two logits; by default the whole simplex.

    Raises:
        ValueError: gamma < 0, n < 2 or not a whole number, reach not > 0.
        RuntimeError: the bounds on the error did not meet.

    Examples:
        >>> found = closest_temperature(1.0)
        >>> round(found.temperature, 4), round(found.error, 4)
        (0.5615, 0.0008)
    """
    search = DeviationSearch(gamma, n, reach)
    if gamma == 0:
        return ClosestTemperature(1.0, 0.0, 0.0)
    ends = elasticity_minimum(gamma)[1], gamma + 1
    witnesses = _Witnesses.of(search, math.sqrt(ends[0] * ends[1]))
    best: ClosestTemperature | None = None
    for _ in range(_ROUNDS):
        inverse_temperature, least = witnesses.minimise(*ends)
        found = _Witnesses.of(search, inverse_temperature)
        error = float(found.error(np.array([inverse_temperature]))[0])
        if best is None or error < best.error:
            best = ClosestTemperature(inverse_temperature, error, least)
        if error - least <= _GAP * error + _ROUNDING:
            return ClosestTemperature(best.inverse_temperature, best.error, least)
        witnesses = witnesses.with_more(found)
    assert best is not None
    raise RuntimeError(
        f"bounds on the least error must meet within {_ROUNDS} rounds. Got {least:g} and {best.error:g}, "
        f"for gamma={gamma}, n={n}."
    )


@dataclass(frozen=True)
class _Witnesses:
    """Points of the simplex with one class each, (k,), and that class' probability after the map."""

    sets: LevelSets
    value: np.ndarray  # which of x, u, v
    mapped: np.ndarray

    @classmethod
    def of(cls, search: DeviationSearch, inverse_temperature: float) -> _Witnesses:
        """The local maxima of the deviation at this 1/T."""
        sets, value, _ = search.extremes(inverse_temperature)
        return cls(sets, value, sets.mapped(search.gamma)[value, np.arange(len(value))])

    def with_more(self, other: _Witnesses) -> _Witnesses:
        logits = np.concatenate([self.sets.logits, other.sets.logits], axis=1)
        tied = np.concatenate([self.sets.tied, other.sets.tied])
        sets = LevelSets(logits, tied, self.sets.n, self.sets.reach)
        return _Witnesses(sets, *(np.concatenate(p) for p in ((self.value, other.value), (self.mapped, other.mapped))))

    def error(self, inverse_temperatures: np.ndarray) -> np.ndarray:
        """Largest deviation at these points, (j,) -> (j,)."""
        scaled = self.sets.scaled(inverse_temperatures[:, None])[self.value, :, np.arange(len(self.value))]
        return np.abs(scaled - self.mapped[:, None]).max(0)

    def minimise(self, low: float, high: float) -> tuple[float, float]:
        """(1/T, bound): where `error` is smallest for 1/T between low and high, and a lower bound on it there."""
        bend = _lipschitz_constant(self.sets.n)
        half = (math.log(high) - math.log(low)) / 2
        centres = np.array([math.log(low) + half])
        best, at = math.inf, low
        while half > 1e-13:
            half /= 2
            centres = np.concatenate([centres - half, centres + half])
            errors = self.error(np.exp(centres))
            if errors.min() < best:
                best, at = float(errors.min()), float(np.exp(centres[errors.argmin()]))
            kept = errors - bend * half <= best
            centres, least = centres[kept], float((errors[kept] - bend * half).min())
        return at, max(least, 0.0)


def _lipschitz_constant(n: int) -> float:
    """L of the module's docstring: a bound on the slope of a probability in log T."""

    def slope(s: float) -> float:
        return s * (1 - s) * (math.log(s / (1 - s)) + math.log(n - 1))

    found = scipy.optimize.minimize_scalar(lambda s: -slope(s), bounds=(0.3, 1 - 1e-9), method="bounded")
    return 1.001 * max(-float(found.fun), 0.25)


def fit_line(gammas: Sequence[float], inverse_temperatures: Sequence[float]) -> tuple[float, float]:
    """(slope, intercept) of the least squares line 1/T = slope gamma + intercept (KK24 Figs. 2, 6)."""
    slope, intercept = np.polyfit(gammas, inverse_temperatures, 1)
    return float(slope), float(intercept)
