r"""The largest difference between temperature scaling and the focal calibration map, over the simplex of n classes.

A class with probability x under the model has probability s after temperature scaling with
:math:`\beta = 1/T`, and p after the map. With sums over the other classes,

.. math:: s = \frac1{1+A}, \quad A = \sum_j (q_j/x)^\beta, \qquad p = \frac1{1+B}, \quad B = \sum_j w(q_j)/w(x).

With x fixed, s - p depends on the others through these two sums. At an extreme, each q_j that is not at a bound
solves the same equation :math:`h(q) = c_1 w'(q) - c_2\beta q^{\beta-1} = \lambda`, with c_1 and c_2 of the same sign.
h' has the sign of :math:`c_1 r - c_2\beta(\beta-1)` or the opposite, where r = w''/q^(beta-2). If w''/q increases in q
and beta <= 3, r increases where it is positive. Then h turns once for 1 <= beta <= 3. Hence

* at most two values u, v besides x and the bound: on one side of the turn two equal classes gain by moving apart, so
  the value there, u, belongs to one class;
* the bound is e^-reach times the largest probability, which is then x, u or v itself.

So an extreme has the values x, u, v (m times) and the bound (n - 2 - m times), with two unknowns for each m. The search
covers all m, each of x, u, v as the largest, and each as the class whose probability is compared.

That w''/q increases is tested, not proved. The argument does not cover beta > 3, which occurs for few classes and a
large gamma; direct searches of the simplex found nothing larger there (tests). The two unknowns are searched on a grid
and by ascent from the best points of each family. The value found is attained, so it is a lower bound on the supremum.
It is the supremum if the grid has a point near the highest maximum.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from focal_lib.theory.gain import log_gain_of_logit
from focal_lib.validation import check_gamma, check_number

SIMPLEX = 45.0  # reach that stands for the whole simplex: e^-45 is below rounding
_POINTS = 48  # of the grid per unknown, for few classes
_FEWEST = 16
_GRID = 500_000  # approximate number of points of the grid, limited by memory
_POWER = 3  # the grid is denser near ties, where extremes of large gamma lie
_HILLS = 0.8  # ascent starts from families whose best point reaches this fraction of the best of all
_STEP = 1e-9  # step at which ascent ends
_GAIN = 1e-14  # smallest gain that counts as ascent


@dataclass(frozen=True)
class LargestDeviation:
    """The largest difference of one class' probability between temperature scaling and the map, and where it occurs.

    Examples:
        >>> found = LargestDeviation(difference=0.2, probs=np.array([0.3, 0.7]))
        >>> found.difference, found.probs[0].item()
        (0.2, 0.3)
    """

    difference: float  # scaled minus mapped, of the first class
    probs: np.ndarray  # (n,), under the model; the class that differs is first


@dataclass(frozen=True)
class LevelSets:
    """Distributions with few distinct values: logits of x, u, v, (3, k), and the number of classes with v, (k,)."""

    logits: np.ndarray
    tied: np.ndarray
    n: int
    reach: float

    def scaled(self, inverse_temperature: np.ndarray | float) -> np.ndarray:
        """Probabilities of x, u and v after temperature scaling, (3, k); for temperatures (j, 1), (3, j, k)."""
        logits = self.logits if np.ndim(inverse_temperature) == 0 else self.logits[:, None]
        weights = np.exp(inverse_temperature * logits)
        at_bound = self._at_bound * np.exp(-inverse_temperature * self.reach)
        return weights / (weights[0] + weights[1] + self.tied * weights[2] + at_bound)

    def mapped(self, gamma: float) -> np.ndarray:
        """Probabilities of x, u and v after the focal calibration map (KK24 Eq. (1)), (3, k)."""
        x, u, v = np.exp(self.logits)
        bound = math.exp(-self.reach)
        below = self._at_bound * bound
        rest = np.stack([u + self.tied * v, x + self.tied * v, x + u + np.maximum(self.tied - 1, 0) * v]) + below
        log_weights = self.logits - log_gain_of_logit(self.logits - np.log(rest), gamma)  # times the sum of all
        at_bound = -self.reach - log_gain_of_logit(-self.reach - np.log(x + rest[0] - bound), gamma)
        highest = log_weights.max(0)
        weights = np.exp(log_weights - highest)
        below = self._at_bound * np.exp(at_bound - highest)
        return weights / (weights[0] + weights[1] + self.tied * weights[2] + below)

    @property
    def _at_bound(self) -> np.ndarray:
        return self.n - 2 - self.tied

    def __getitem__(self, which: np.ndarray) -> LevelSets:
        return LevelSets(self.logits[:, which], self.tied[which], self.n, self.reach)

    def probs(self, k: int, first: int) -> np.ndarray:
        """Probabilities (n,) of distribution k, starting with value number `first` (0 is x)."""
        tied = int(self.tied[k])
        values = [[self.logits[0, k]], [self.logits[1, k]], [self.logits[2, k]] * tied]
        others = [z for i, group in enumerate(values) for z in (group if i != first else group[1:])]
        logits = np.array([self.logits[first, k], *others, *[-self.reach] * (self.n - 2 - tied)])
        weights = np.exp(logits)
        return weights / weights.sum()


@dataclass(frozen=True)
class _Unknowns:
    """Points of the search: two unknowns in [0, 1], and whether v or x is the largest; each (k,)."""

    near: np.ndarray
    far: np.ndarray
    v_on_top: np.ndarray
    tied: np.ndarray

    def level_sets(self, n: int, reach: float) -> LevelSets:
        one, two = -reach * self.near**_POWER, -reach * self.far**_POWER
        top = np.zeros_like(one)
        logits = np.where(self.v_on_top, np.stack([one, two, top]), np.stack([top, one, two]))
        return LevelSets(logits, self.tied, n, reach)

    def __getitem__(self, which: np.ndarray) -> _Unknowns:
        return _Unknowns(self.near[which], self.far[which], self.v_on_top[which], self.tied[which])


class DeviationSearch:
    """Search for the largest deviation at any temperature, for one gamma and number of classes.

    Args:
        gamma: >= 0.
        n: number of classes, >= 2.
        reach: largest difference of two logits, > 0; by default the whole simplex.

    Raises:
        ValueError: gamma, n or reach out of range.
    """

    def __init__(self, gamma: float, n: int, reach: float = SIMPLEX) -> None:
        self.gamma = check_gamma(gamma, minimum=0.0)
        self.reach = check_number(reach, "reach", above=0.0)
        if n < 2 or n != int(n):
            raise ValueError(f"n must be a whole number of classes, at least 2. Got {n}.")
        self.n = int(n)
        self._unknowns, self._family = self._grid()
        self._sets = self._unknowns.level_sets(self.n, self.reach)
        self._mapped = self._sets.mapped(self.gamma)
        if self.n == 2:
            self._mapped[2] = np.nan  # there is no v

    def _grid(self) -> tuple[_Unknowns, tuple[int, int]]:
        """Grid of the unknowns, and (number of families, points per family)."""
        if self.n == 2:
            steps = np.linspace(0, 1, 40 * _POINTS)
            nothing = np.zeros_like(steps)
            return _Unknowns(steps, nothing, nothing.astype(bool), nothing.astype(int)), (1, len(steps))
        families = 2 * (self.n - 2)
        points = int(np.clip(math.sqrt(_GRID / families), _FEWEST, _POINTS))
        steps = np.linspace(0, 1, points)
        axes = (np.array([False, True]), np.arange(1, self.n - 1), steps, steps)
        top, tied, near, far = (axis.ravel() for axis in np.meshgrid(*axes, indexing="ij"))
        return _Unknowns(near, far, top, tied), (families, points**2)

    def extremes(self, inverse_temperature: float) -> tuple[LevelSets, np.ndarray, np.ndarray]:
        """Local maxima of the deviation at this 1/T: the point, which of x, u, v, and the difference, each (k,)."""
        grid = self._sets.scaled(inverse_temperature) - self._mapped
        hills = grid.reshape(3, *self._family)
        least = _HILLS * np.nanmax(np.abs(grid))
        found = []
        for sign in (1, -1):
            heights = np.nan_to_num(sign * hills, nan=-1.0)
            best = heights.argmax(-1)
            values, family = np.nonzero(np.take_along_axis(heights, best[..., None], -1)[..., 0] >= least)
            points = family * self._family[1] + best[values, family]
            found.append((values, points, np.full(len(values), sign)))
        where, at, signs = (np.concatenate(column) for column in zip(*found, strict=True))
        return self._climb(inverse_temperature, self._unknowns[at], where, signs)

    def _climb(
        self, inverse_temperature: float, start: _Unknowns, value: np.ndarray, sign: np.ndarray
    ) -> tuple[LevelSets, np.ndarray, np.ndarray]:
        """Compass search from all starts at once: move to the best of nine points, then double or halve the step."""
        first = 1 / _POINTS
        at, step, here = start, np.full(len(value), first), np.arange(len(value))
        moves = np.array([(0, 0), *((i, j) for i in (-1, 0, 1) for j in (-1, 0, 1) if i or j)])
        if self.n == 2:
            moves = moves[moves[:, 1] == 0]
        each = np.tile(here, len(moves))
        while step.max() > _STEP:
            near, far = (np.clip(now + moves[:, axis, None] * step, 0, 1) for axis, now in enumerate((at.near, at.far)))
            tried = _Unknowns(near.ravel(), far.ravel(), at.v_on_top[each], at.tied[each])
            differences = self._differences(tried, value[each], inverse_temperature)
            heights = sign * differences.reshape(near.shape)
            best = heights.argmax(0)
            better = heights[best, here] > heights[0] + _GAIN  # stops long walks along a flat ridge
            at = tried[np.where(better, best, 0) * len(value) + here]
            step = np.where(better, np.minimum(2 * step, first), step / 2)
        return at.level_sets(self.n, self.reach), value, self._differences(at, value, inverse_temperature)

    def _differences(self, at: _Unknowns, value: np.ndarray, inverse_temperature: float) -> np.ndarray:
        sets = at.level_sets(self.n, self.reach)
        return (sets.scaled(inverse_temperature) - sets.mapped(self.gamma))[value, np.arange(len(value))]


def largest_deviation(gamma: float, inverse_temperature: float, n: int = 2, reach: float = SIMPLEX) -> LargestDeviation:
    """Largest difference of a probability between softmax(z/T) and the map of n classes (KK24 section 3.2).

    The logits z range over all vectors whose entries differ by at most `reach`.

    Args:
        gamma: >= 0.
        inverse_temperature: 1/T > 0.
        n: number of classes, >= 2.
        reach: largest difference of two logits; by default the whole simplex.

    Raises:
        ValueError: an argument out of range.

    Examples:
        >>> found = largest_deviation(gamma=1.0, inverse_temperature=1.0)
        >>> round(abs(found.difference), 4), round(float(found.probs.max()), 2)
        (0.1261, 0.76)
    """
    check_number(inverse_temperature, "inverse_temperature", above=0.0)
    sets, value, differences = DeviationSearch(gamma, n, reach).extremes(inverse_temperature)
    k = int(np.abs(differences).argmax())
    return LargestDeviation(float(differences[k]), sets.probs(k, int(value[k])))
