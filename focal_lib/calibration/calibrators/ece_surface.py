"""The top probability, and the ECE, of a fixed validation set as functions of (gamma, T)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Literal

import numpy as np

from focal_lib.arrays import label_index, largest, sigmoid, total
from focal_lib.calibration.calibrators.fit_samples import FitSamples, by_class
from focal_lib.metrics.bins import DEFAULT_BINS, adaptive_ece_of, ece_of
from focal_lib.theory.confidence import top_probability_bounds

EceName = Literal["ece", "adaptive-ece"]
ECES = {"ece": ece_of, "adaptive-ece": adaptive_ece_of}

TIE = 1e-12  # ECEs that differ by less are equal: rounding
_KEPT = 2**25  # numbers prepared once and kept, 256 MiB; more are prepared anew at each evaluation


class EceSurface:
    r"""Confidence and ECE of validation samples at any (gamma, T).

    Only the top probability is computed. Correctness does not depend on (gamma, T).

    The ECE is at least abs(mean confidence - accuracy). As T rises, q_top falls for every sample. The calibrated
    confidence lies between two increasing functions of q_top (`focal_lib.theory.confidence.top_probability_bounds`).
    So the ECE is bounded below for all higher, and for all lower, temperatures. `best_temperature` stops where that
    bound exceeds the best ECE so far, hence returns the optimum of the whole grid, for every gamma > -1.

    Args:
        logits, labels: (n, K) and (n,); or FitSamples alone.
        metric: 'adaptive-ece' (bins of equal mass, as in KK24) or 'ece' (bins of equal width).
        n_bins: number of bins.
        weights: sample weights, (n,).

    Raises:
        ValueError: an unknown metric, bad data.

    Examples:
        >>> surface = EceSurface([[0.0, 2.1972]] * 4, [1, 1, 1, 0], "ece")  # confidence 0.9, accuracy 0.75
        >>> round(surface.ece(gamma=0.0, temperature=1.0), 3)
        0.15
        >>> [round(found, 3) for found in surface.best_temperature(0.0, np.array([1.0, 2.0, 4.0]))]
        [0.0, 2.0]
    """

    def __init__(
        self,
        logits: Any,
        labels: Any = None,
        metric: EceName = "adaptive-ece",
        *,
        n_bins: int = DEFAULT_BINS,
        weights: Any = None,
    ) -> None:
        if metric not in ECES:
            raise ValueError(f"metric must be one of {', '.join(ECES)}. Got {metric!r}.")
        self.n_bins, self.metric = n_bins, metric
        if not isinstance(logits, FitSamples):
            logits = FitSamples(logits, labels, weights, least_classes=1)
        self._samples: FitSamples = logits
        self._kept = None
        if not self._samples.on_dask and len(self._samples) * self._samples.classes <= _KEPT:
            self._kept = self._samples.map(_gaps)
        (self.correct,) = self._samples.gather(lambda z, y: ((z.argmax(-1) == y).astype(np.float64),))
        self.accuracy = self._samples.mean(self.correct)
        self.evaluations = 0
        self._last_crossing = 120  # T = 1.2 on KK24's grid; then that of the gamma before

    def confidence(self, gamma: float, temperature: float) -> np.ndarray:
        """Top probability after temperature scaling and the focal calibration map, (n,)."""
        return self._evaluate([gamma], temperature)[0]

    def _evaluate(self, gammas: Sequence[float], temperature: float) -> tuple[np.ndarray, ...]:
        """Confidence at each gamma, and the logit of q_top before the map, (n,) each."""
        self.evaluations += 1
        if self._kept is None:
            found = self._samples.gather(lambda z, y: _confidence(gammas, temperature, _gaps(z, y)))
        else:
            parts = [_confidence(gammas, temperature, gaps) for gaps in self._kept]
            found = tuple(np.concatenate(part) for part in zip(*parts, strict=True))
        return found

    def ece(self, gamma: float, temperature: float) -> float:
        return self._ece(self.confidence(gamma, temperature))

    def eces(self, gammas: Sequence[float], temperature: float) -> list[float]:
        """At several gammas, (gammas,), in little more time than at one."""
        return [self._ece(confidence) for confidence in self._evaluate(gammas, temperature)[:-1]]

    def _ece(self, confidence: np.ndarray) -> float:
        return ECES[self.metric](confidence, self.correct, self.n_bins, self._samples.weights)

    def best_temperature(
        self, gamma: float, temperatures: np.ndarray, to_beat: float = math.inf
    ) -> tuple[float, float]:
        """(ECE, T) with the smallest ECE on the sorted grid; of ties the T nearest to 1.

        Temperatures whose ECE provably exceeds `to_beat` are skipped; (inf, nan) if all are.
        """
        crossing = self.crossing(gamma, temperatures)
        visited: list[tuple[float, float]] = []
        best = to_beat

        def visit(index: int) -> tuple[float, float]:
            """Mean bounds of the confidence at all colder, and at all warmer, temperatures."""
            nonlocal best
            confidence, logit_top = self._evaluate([gamma], temperatures[index])
            value = self._ece(confidence)
            visited.append((value, float(temperatures[index])))
            best = min(best, value)
            low, high = top_probability_bounds(logit_top, confidence, gamma, self._samples.classes)
            return self._samples.mean(low), self._samples.mean(high)

        for index in range(crossing, len(temperatures)):  # warmer: confidence falls
            if self.accuracy - visit(index)[1] > best + TIE:
                break
        for index in range(crossing - 1, -1, -1):  # colder: confidence rises
            if visit(index)[0] - self.accuracy > best + TIE:
                break
        equal = [(abs(math.log(t)), value, t) for value, t in visited if value <= best + TIE]
        return min(equal)[1:] if equal else (math.inf, math.nan)

    def crossing(self, gamma: float, temperatures: np.ndarray) -> int:
        """First index whose mean confidence is at most the accuracy, assuming it falls in T; regula falsi in log T."""
        count = len(temperatures)
        low, high = -1, count  # confidence above accuracy at low, not above at high
        gap_low = gap_high = 0.0
        guess, width = min(self._last_crossing, count - 1), 4
        while high - low > 1:
            if low >= 0 and high < count:  # interpolate in log T
                a, b = math.log(temperatures[low]), math.log(temperatures[high])
                target = math.exp(a + (b - a) * gap_low / (gap_low - gap_high))
                guess = int(np.clip(np.searchsorted(temperatures, target), low + 1, high - 1))
            elif low >= 0 or high < count:  # one side only: stride away from it
                guess = min(low + width, count - 1) if low >= 0 else max(high - width, 0)
                width *= 2
            gap = self._samples.mean(self.confidence(gamma, temperatures[guess])) - self.accuracy
            if gap > 0:
                low, gap_low = guess, gap
            else:
                high, gap_high = guess, gap
        self._last_crossing = min(high, count - 1)
        return self._last_crossing


def _gaps(z: np.ndarray, _: np.ndarray) -> np.ndarray:
    """Logits of the other classes minus the largest, (m, K-1), <= 0."""
    top, last = z.argmax(-1), z.shape[1] - 1
    gaps = by_class(z[:, :last] - z[label_index(top)])
    moved = np.flatnonzero(top < last)  # there the last class takes the place of the largest
    gaps[moved, top[moved]] = z[moved, last] - z[moved, top[moved]]
    return gaps


def _confidence(gammas: Sequence[float], temperature: float, gaps: np.ndarray) -> tuple[np.ndarray, ...]:
    """Confidence of a chunk at each gamma, and the logit of q_top, (m,) each.

    The map is written out, in place and for the top class alone: a search evaluates it thousands of times.
    Its tests tie it to theory.maps.
    """
    log_q = gaps / temperature
    first = largest(log_q)
    e = log_q - first  # relative to the second class: the rest does not underflow
    np.exp(e, out=e)
    log_rest = first + np.log(total(e))  # log (1 - q_top) / q_top
    r = np.exp(log_rest)
    x = np.log1p(r)  # -log q_top
    if not any(gammas):
        return *(np.exp(-x)[:, 0] for _ in gammas), -log_rest[:, 0]
    log_q -= x
    q = e * np.exp(first - x)
    log_other = np.log1p(-q)  # q is at most 1/2 here
    b = np.multiply(log_q, q, out=log_q)
    q -= 1
    b /= q
    b_top = np.where(r > 1e-9, x / np.maximum(r, 1e-300), 1 - r / 2)  # x e^-x/(1 - e^-x), e^x = 1 + r
    found, gains, divisor = [], q, np.empty_like(q)
    for gamma in gammas:
        np.exp(np.multiply(log_other, -gamma, out=gains), out=gains)
        np.multiply(b, gamma, out=divisor)
        divisor += 1
        gains /= divisor
        gains *= e
        log_others = first - x + np.log(total(gains))
        # log w_top = -x - gamma log(1 - q_top) - log(1 + gamma b), and log(1 - q_top) = log r - x
        log_top = -x - gamma * (log_rest - x) - np.log1p(gamma * b_top)
        found.append(sigmoid(log_top - log_others)[:, 0] if gamma else np.exp(-x)[:, 0])
    return *found, -log_rest[:, 0]
