"""The top probability, and the ECE, of a fixed validation set as functions of (gamma, T)."""

from __future__ import annotations

import functools
import math
from typing import Any, Literal, Self

import numpy as np
import torch
from torch import Tensor

from focal_lib.calibration.calibrators.fit_samples import FitSamples
from focal_lib.metrics.bins import DEFAULT_BINS, adaptive_ece_of, ece_of
from focal_lib.metrics.weighted_bins import weighted_adaptive_ece_of, weighted_ece_of
from focal_lib.theory.confidence import top_probability_bounds

EceName = Literal["ece", "adaptive-ece"]
ECES = {"ece": ece_of, "adaptive-ece": adaptive_ece_of}
_WEIGHTED = {"ece": weighted_ece_of, "adaptive-ece": weighted_adaptive_ece_of}

TIE = 1e-12  # ECEs that differ by less are equal: rounding
_KEPT = 2**25  # numbers prepared once and kept, 256 MiB; more are prepared anew at each evaluation


class EceSurface:
    r"""Confidence and ECE of validation samples at any (gamma, T).

    Only the top class' probability is computed. Correctness does not depend on (gamma, T).

    The ECE is never below abs(mean confidence - accuracy). As T rises q_top falls for every sample, and the calibrated
    confidence is held between two increasing functions of q_top (`focal_lib.theory.confidence.top_probability_bounds`),
    so the distance is bounded below for all warmer, and for all colder, temperatures. `best_temperature` stops where
    that bound is above the best ECE seen: what it returns is the optimum of the whole grid, for every gamma > -1.

    Args:
        metric: 'adaptive-ece', equal mass, KK24's; or 'ece', equal width.
        weights: what each sample counts, (n,).

    Raises:
        ValueError: an unknown metric, bad data.
    """

    def __init__(
        self,
        logits: Any,
        labels: Any,
        metric: EceName = "adaptive-ece",
        *,
        n_bins: int = DEFAULT_BINS,
        weights: Any = None,
    ) -> None:
        _check_metric(metric)
        self._set_up(FitSamples(logits, labels, weights, least_classes=1), metric, n_bins)

    @classmethod
    def of_samples(cls, samples: FitSamples, metric: EceName, *, n_bins: int = DEFAULT_BINS) -> Self:
        """Of samples that have been checked."""
        _check_metric(metric)
        surface = object.__new__(cls)
        surface._set_up(samples, metric, n_bins)
        return surface

    def _set_up(self, samples: FitSamples, metric: EceName, n_bins: int) -> None:
        self.n_bins, self.metric = n_bins, metric
        self._samples = samples
        self._kept = None
        if not self._samples.on_dask and len(self._samples) * self._samples.classes <= _KEPT:
            self._kept = self._samples.map(lambda z, _: _gaps(z))
        (self.correct,) = self._samples.gather(_correct)
        self.accuracy = samples.mean(self.correct)
        self.evaluations = 0
        self._last_crossing = 120  # T = 1.2 on KK24's grid; then that of the gamma before

    def __len__(self) -> int:
        return len(self._samples)

    @property
    def classes(self) -> int:
        return self._samples.classes

    def confidence(self, gamma: float, temperature: float) -> np.ndarray:
        """Top probability after temperature and map, (n,)."""
        return self._evaluate(gamma, temperature)[0]

    def _evaluate(self, gamma: float, temperature: float) -> tuple[np.ndarray, np.ndarray]:
        """Confidence, and the logit of q_top before the map, both (n,)."""
        self.evaluations += 1
        if self._kept is None:
            confidence, logit_top = self._samples.gather(functools.partial(_confidence_of_logits, gamma, temperature))
        else:
            parts = [_confidence(gamma, temperature, gaps) for gaps in self._kept]
            confidence, logit_top = (np.concatenate(part) for part in zip(*parts, strict=True))
        return confidence, logit_top

    def ece(self, gamma: float, temperature: float) -> float:
        return self._ece(self.confidence(gamma, temperature))

    def _ece(self, confidence: np.ndarray) -> float:
        if self._samples.weights is None:
            return ECES[self.metric](confidence, self.correct, self.n_bins)
        return _WEIGHTED[self.metric](confidence, self.correct, self._samples.weights, self.n_bins)

    def best_temperature(
        self, gamma: float, temperatures: np.ndarray, to_beat: float = math.inf
    ) -> tuple[float, float]:
        """(ECE, T) with the smallest ECE on the sorted grid; of equal ones the T nearest to 1.

        Temperatures that provably give more than `to_beat` are skipped; where all are, (inf, nan).
        """
        crossing = self.crossing(gamma, temperatures)
        visited: list[tuple[float, float]] = []
        best = to_beat

        def visit(index: int) -> tuple[float, float]:
            """Mean bounds of the confidence at all colder, and at all warmer, temperatures."""
            nonlocal best
            confidence, logit_top = self._evaluate(gamma, temperatures[index])
            value = self._ece(confidence)
            visited.append((value, float(temperatures[index])))
            best = min(best, value)
            low, high = top_probability_bounds(logit_top, confidence, gamma, self.classes)
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
        """First index whose mean confidence is at most the accuracy, if it falls in T; regula falsi in log T."""
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


def _check_metric(metric: str) -> None:
    if metric not in ECES:
        raise ValueError(f"metric must be one of {', '.join(ECES)}. Got {metric!r}.")


def _gaps(z: Tensor) -> Tensor:
    """Logits of the other classes minus the largest, (m, K-1), <= 0."""
    top = z.argmax(-1, keepdim=True)
    others = torch.ones_like(z, dtype=torch.bool).scatter_(-1, top, False)
    return (z - z.gather(-1, top))[others].reshape(len(z), -1)


def _correct(z: Tensor, y: Tensor) -> tuple[np.ndarray]:
    return ((z.argmax(-1) == y).double().numpy(),)


def _confidence_of_logits(gamma: float, temperature: float, z: Tensor, _: Tensor) -> tuple[np.ndarray, np.ndarray]:
    return _confidence(gamma, temperature, _gaps(z))


def _confidence(gamma: float, temperature: float, gaps: Tensor) -> tuple[np.ndarray, np.ndarray]:
    """Confidence of a chunk, and the logit of q_top, both (m,).

    The map is written out, in place and for the top class alone: a search evaluates it thousands of times.
    tests/reproduction/theorems/test_one_formula.py ties it to theory.maps.
    """
    log_e = gaps / temperature
    first = log_e.amax(-1, keepdim=True)
    e = torch.exp(log_e - first)  # relative to the second class: the rest does not underflow
    log_rest = first + torch.log(e.sum(-1, keepdim=True))  # log (1 - q_top) / q_top
    r = torch.exp(log_rest)
    x = torch.log1p(r)  # -log q_top
    logit_top = -log_rest[:, 0].numpy()
    if gamma == 0:
        return torch.exp(-x)[:, 0].numpy(), logit_top
    log_q, q = log_e.sub_(x), e * torch.exp(first - x)
    b = log_q.mul_(q).div_(q - 1)
    gains = torch.exp(torch.log1p(q.neg()).mul_(-gamma)).div_(b.mul_(gamma).add_(1))  # q is at most 1/2 here
    log_others = first - x + torch.log(gains.mul_(e).sum(-1, keepdim=True))
    b_top = torch.where(r > 1e-9, x / r.clamp(min=1e-300), 1 - r / 2)  # x e^-x/(1 - e^-x), e^x = 1 + r
    # log w_top = -x - gamma log(1 - q_top) - log(1 + gamma b), and log(1 - q_top) = log r - x
    log_top = -x - gamma * (log_rest - x) - torch.log1p(gamma * b_top)
    return torch.sigmoid(log_top - log_others)[:, 0].numpy(), logit_top
