"""Post-hoc calibrators with scikit-learn's conventions: fit(logits, labels), predict_proba(logits).

Temperature scaling divides the logits by T. Focal temperature scaling then applies the focal
calibration map with its own gamma (KK24 section 4.2): p = map(softmax(z / T), gamma). Neither
changes which class is largest, for gamma > -1, so only confidences move.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Literal, Self

import numpy as np
import torch
from scipy.optimize import minimize, minimize_scalar
from scipy.special import logsumexp
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from focal_lib.confidence import log_gain, peak_probability
from focal_lib.maps import focal_log_probs
from focal_lib.metrics import binned_ece
from focal_lib.validation import check_gamma, check_labels, check_logits

__all__ = [
    "PAPER_GAMMAS",
    "PAPER_TEMPERATURES",
    "ConfidencePath",
    "FocalTemperatureScaling",
    "MatrixScaling",
    "TemperatureScaling",
    "VectorScaling",
]

PAPER_GAMMAS = (-0.5, -0.25, 0.05, 0.25, 0.37, 0.5, 0.75, 1.0, 5.0)  # KK24 section 5.1
PAPER_TEMPERATURES = tuple(k / 100 for k in range(1, 501))
_GAMMA_RANGE = (-0.9, 20.0)


def _checked(logits: Any, labels: Any) -> tuple[np.ndarray, np.ndarray]:
    z, y = (np.asarray(v.detach().cpu() if hasattr(v, "detach") else v) for v in (logits, labels))
    if z.ndim != 2:
        raise ValueError(f"logits must have shape (n, K). Got {z.shape}.")
    check_logits(z)
    check_labels(y, *z.shape)
    if len(np.unique(y)) < 2:
        raise ValueError(f"labels to fit on must hold at least two classes. Got only class {int(y[0])}.")
    return z.astype(np.float64), y


def _checked_temperatures(grid: Sequence[float]) -> np.ndarray:
    values = np.unique(np.asarray(grid, dtype=np.float64))
    if values.size == 0 or not np.isfinite(values).all() or values[0] <= 0:
        raise ValueError(f"temperatures must be positive numbers, at least one. Got {list(grid)[:5]}.")
    return values


# --- the top confidence as a function of (gamma, T) -----------------------------------


class ConfidencePath:
    """Confidence and equal-mass ECE of a fixed validation set at any (gamma, T).

    Only the top class' probability is computed. Correctness does not depend on (gamma, T).

    The ECE is never below abs(mean confidence - accuracy), and the confidence of a row falls as T
    rises, so only temperatures around the crossing of the two can win; `best_temperature` looks
    at those alone and finds the optimum of the whole grid. Falling is proved for gamma = 0, and
    for gamma > 0 where q_top >= p* (there the elasticity of w is largest at the top class); below
    p*, where 1 <= g <= g(p*), confidence lies between q_top / g(p*) and q_top g(p*), and q_top
    falls. For gamma < 0 it is a numerical finding (tests/test_calibrators.py).
    """

    def __init__(self, logits: np.ndarray, labels: np.ndarray, n_bins: int = 15) -> None:
        z = torch.from_numpy(logits)
        top = z.argmax(-1, keepdim=True)
        keep = torch.ones_like(z, dtype=torch.bool).scatter_(-1, top, False)
        self._gaps = (z - z.gather(-1, top))[keep].reshape(len(z), -1)  # (n, K-1), <= 0
        self.correct = (top[:, 0].numpy() == labels).astype(np.float64)
        self.accuracy = float(self.correct.mean())
        self.n_bins = n_bins
        self.evaluations = 0
        self._last_crossing = 120  # T = 1.2 on KK24's grid; then that of the gamma before

    def confidence(self, gamma: float, temperature: float) -> np.ndarray:
        """Top probability after temperature and map, (n,)."""
        return self._evaluate(gamma, temperature)[0]

    def _evaluate(self, gamma: float, temperature: float) -> tuple[np.ndarray, np.ndarray]:
        """Confidence, and q_top before the map, both (n,)."""
        self.evaluations += 1
        log_e = self._gaps / temperature
        e = torch.exp(log_e)
        rest = e.sum(-1, keepdim=True)  # (1 - q_top) / q_top
        total = 1 + rest
        q_top = (1 / total)[:, 0].numpy()
        if gamma == 0:
            return q_top, q_top
        q = e.div_(total)
        log_q = log_e.sub_(torch.log(total))
        b = log_q.mul_(q).div_(q - 1)
        weights = torch.exp(torch.log1p(q.neg()).mul_(-gamma)).mul_(q).div_(b.mul_(gamma).add_(1))
        others = weights.sum(-1)  # each q here is at most 1/2, so nothing saturates
        r = rest[:, 0]
        x, log_rest = torch.log1p(r), torch.log(r)
        b_top = torch.where(r > 1e-9, x / r.clamp(min=1e-300), 1 - r / 2)  # x e^-x/(1 - e^-x), e^x = 1 + r
        # log w_top = -x - gamma log(1 - q_top) - log(1 + gamma b), and log(1 - q_top) = log r - x
        log_top = -x - gamma * (log_rest - x) - torch.log1p(gamma * b_top)
        return torch.sigmoid(log_top - torch.log(others)).nan_to_num(nan=1.0).numpy(), q_top

    def ece(self, gamma: float, temperature: float) -> float:
        return self._ece(self.confidence(gamma, temperature))

    def _ece(self, confidence: np.ndarray) -> float:
        return binned_ece(confidence, self.correct, self.n_bins, "mass")

    def best_temperature(
        self, gamma: float, temperatures: np.ndarray, to_beat: float = math.inf
    ) -> tuple[float, float]:
        """(ECE, T) with the smallest ECE on the sorted grid, the smallest such T.

        Temperatures that provably give more than `to_beat` are skipped; where all are, (inf, nan).
        """
        crossing = self._crossing(gamma, temperatures)
        peak = peak_probability(gamma) if gamma > 0 else 0.0
        gain = math.exp(log_gain(peak, gamma)) if gamma > 0 else 1.0  # g(p*)
        best, best_t = to_beat, math.nan

        def visit(index: int) -> tuple[np.ndarray, np.ndarray]:
            nonlocal best, best_t
            confidence, q_top = self._evaluate(gamma, temperatures[index])
            value = self._ece(confidence)
            if value < best or (value == best and not temperatures[index] >= best_t):
                best, best_t = value, float(temperatures[index])
            return confidence, q_top

        for index in range(crossing, len(temperatures)):  # warmer: confidence falls
            confidence, q_top = visit(index)
            above = np.where(q_top < peak, gain * q_top, np.maximum(confidence, gain * peak))
            if self.accuracy - above.mean() > best:
                break
        for index in range(crossing - 1, -1, -1):  # colder: confidence rises
            confidence, q_top = visit(index)
            if np.where(q_top < peak, q_top / gain, confidence).mean() - self.accuracy > best:
                break
        return (best, best_t) if not math.isnan(best_t) else (math.inf, math.nan)

    def _crossing(self, gamma: float, temperatures: np.ndarray) -> int:
        """First index whose mean confidence is at most the accuracy; regula falsi in log T."""
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
            gap = float(self.confidence(gamma, temperatures[guess]).mean()) - self.accuracy
            if gap > 0:
                low, gap_low = guess, gap
            else:
                high, gap_high = guess, gap
        self._last_crossing = min(high, count - 1)
        return self._last_crossing


# --- estimators ------------------------------------------------------------------------


class _Calibrator(ClassifierMixin, BaseEstimator):
    """Shared frame of the calibrators."""

    def predict_proba(self, logits: Any) -> Any:
        """Calibrated probabilities, (n, K), of the kind given (NumPy or torch)."""
        log_probs = self.predict_log_proba(logits)
        return log_probs.exp() if isinstance(log_probs, torch.Tensor) else np.exp(log_probs)

    def predict_log_proba(self, logits: Any) -> Any:
        raise NotImplementedError

    def predict(self, logits: Any) -> Any:
        """The most probable class, (n,)."""
        return self.predict_log_proba(logits).argmax(-1)

    def _check_predict(self, logits: Any) -> Any:
        check_is_fitted(self)
        logits = logits if hasattr(logits, "shape") else np.asarray(logits, dtype=np.float64)
        check_logits(logits)
        if logits.shape[-1] != self.n_classes_:
            raise ValueError(f"logits must have the {self.n_classes_} classes of fit. Got shape {tuple(logits.shape)}.")
        return logits


class FocalTemperatureScaling(_Calibrator):
    r"""p = focal calibration map(softmax(z / T), gamma), T and gamma fitted (KK24 section 4.2).

    Args:
        objective: 'ece' (equal mass, n_bins) or 'nll'.
        search: 'grid' tries every pair (for 'nll', every gamma with its best T on the grid,
            found by a bounded search that assumes one minimum in T); 'line' is KK24 section
            5.2: the T that suits a few gammas fixes a line, searched alone; 'newton' fits
            (log 1/T, gamma) together by damped Newton steps on the NLL, gamma from -0.9 to 20.
        gammas, temperatures: the grid; default KK24's, 9 by 500.
        n_bins: of the ECE.

    Attributes:
        temperature_, gamma_: the fit. Ties go to the first gamma, then to the smallest T.
        objective_: value of the objective at the fit.
        n_classes_, classes_: of fit.

    Raises:
        ValueError: bad data, an empty or invalid grid, gamma <= -1, an unknown option, or
            search='newton' with objective='ece'.
    """

    def __init__(
        self,
        objective: Literal["nll", "ece"] = "ece",
        search: Literal["grid", "line", "newton"] = "grid",
        gammas: Sequence[float] = PAPER_GAMMAS,
        temperatures: Sequence[float] = PAPER_TEMPERATURES,
        n_bins: int = 15,
    ) -> None:
        self.objective = objective
        self.search = search
        self.gammas = gammas
        self.temperatures = temperatures
        self.n_bins = n_bins

    def fit(self, logits: Any, labels: Any) -> Self:
        """Fit on validation logits (n, K) and labels (n,)."""
        if self.objective not in ("nll", "ece"):
            raise ValueError(f"objective must be 'nll' or 'ece'. Got {self.objective!r}.")
        if self.search not in ("grid", "line", "newton"):
            raise ValueError(f"search must be 'grid', 'line' or 'newton'. Got {self.search!r}.")
        if self.search == "newton" and self.objective == "ece":
            raise ValueError("objective must be 'nll' for search='newton': the ECE has no derivatives.")
        temperatures = _checked_temperatures(self.temperatures)
        gammas = [check_gamma(g, minimum=-1 + 1e-9) for g in self.gammas]
        if not gammas:
            raise ValueError("gammas must hold at least one number. Got none.")
        z, y = _checked(logits, labels)
        self.n_classes_, self.classes_ = z.shape[1], np.arange(z.shape[1])
        if self.search == "newton":
            self.objective_, self.gamma_, self.temperature_ = _newton_nll(z, y)
        elif self.objective == "nll":
            self.objective_, self.gamma_, self.temperature_ = self._search_nll(z, y, gammas, temperatures)
        else:
            path = ConfidencePath(z, y, self.n_bins)
            find = _search_grid if self.search == "grid" else _search_line
            self.objective_, self.gamma_, self.temperature_ = find(path, gammas, temperatures)
        return self

    def _search_nll(
        self, z: np.ndarray, y: np.ndarray, gammas: list[float], temperatures: np.ndarray
    ) -> tuple[float, float, float]:
        def best(gamma: float) -> tuple[float, float, float]:
            span = np.log(temperatures[[0, -1]])
            found = minimize_scalar(lambda u: _nll(z, y, gamma, math.exp(u)), bounds=span, method="bounded")
            near = np.searchsorted(temperatures, math.exp(found.x))
            around = temperatures[max(near - 2, 0) : near + 2]
            return min((_nll(z, y, gamma, t), gamma, float(t)) for t in around)

        if self.search == "grid":
            return min((best(gamma) for gamma in gammas), key=lambda fit: fit[0])
        ends = [best(gamma) for gamma in sorted({min(gammas), max(gammas)})]
        return min(ends + [(_nll(z, y, g, t), g, t) for g, t in _line(ends, gammas)])

    def predict_log_proba(self, logits: Any) -> Any:
        """Calibrated log-probabilities, (n, K), of the kind given."""
        logits = self._check_predict(logits)
        return focal_log_probs(logits / self.temperature_, self.gamma_)


class TemperatureScaling(FocalTemperatureScaling):
    r"""p = softmax(z / T), T fitted (Guo et al. 2017): focal temperature scaling with gamma = 0.

    Args:
        objective: 'nll', by Newton steps on log(1/T); or 'ece', equal mass, over the grid.
        temperatures: the grid for 'ece'; default KK24's 500.
        n_bins: of the ECE.

    Attributes:
        ``temperature_``, ``objective_``, ``n_classes_``, ``classes_``: as FocalTemperatureScaling;
        ``gamma_`` is 0.
    """

    def __init__(
        self,
        objective: Literal["nll", "ece"] = "nll",
        temperatures: Sequence[float] = PAPER_TEMPERATURES,
        n_bins: int = 15,
    ) -> None:
        super().__init__(objective, "grid", (0.0,), temperatures, n_bins)

    def fit(self, logits: Any, labels: Any) -> Self:
        """Fit on validation logits (n, K) and labels (n,)."""
        if self.objective != "nll":
            return super().fit(logits, labels)
        _checked_temperatures(self.temperatures)
        z, y = _checked(logits, labels)
        self.n_classes_, self.classes_, self.gamma_ = z.shape[1], np.arange(z.shape[1]), 0.0
        self.temperature_ = _newton_temperature(z, y)
        self.objective_ = _nll(z, y, 0.0, self.temperature_)
        return self


class MatrixScaling(_Calibrator):
    r"""p = softmax(W z + b) (Guo et al. 2017), fitted on the NLL by L-BFGS.

    Args:
        l2: penalty on the distance of W from the identity and of b from 0.

    Attributes:
        ``weight_`` (K, K), ``bias_`` (K,), ``n_classes_``, ``classes_``.
    """

    def __init__(self, l2: float = 0.0) -> None:
        self.l2 = l2

    def _expand(self, weight: np.ndarray, classes: int) -> np.ndarray:
        return weight.reshape(classes, classes)

    def _reduce(self, gradient: np.ndarray) -> np.ndarray:
        return gradient.ravel()

    def fit(self, logits: Any, labels: Any) -> Self:
        """Fit on validation logits (n, K) and labels (n,)."""
        if not self.l2 >= 0:
            raise ValueError(f"l2 must be >= 0. Got {self.l2}.")
        z, y = _checked(logits, labels)
        n, k = z.shape
        start = np.r_[self._reduce(np.eye(k)), np.zeros(k)]

        def objective(theta: np.ndarray) -> tuple[float, np.ndarray]:
            scores = z @ self._expand(theta[:-k], k).T + theta[-k:]  # (n, K)
            log_p = scores - logsumexp(scores, axis=1, keepdims=True)
            error = np.exp(log_p)
            error[np.arange(n), y] -= 1
            away = theta - start
            value = -log_p[np.arange(n), y].mean() + self.l2 * away @ away
            gradient = np.r_[self._reduce(error.T @ z / n), error.mean(0)]
            return value, gradient + 2 * self.l2 * away

        found = minimize(objective, start, jac=True, method="L-BFGS-B", options={"maxiter": 1000})
        if not np.isfinite(found.fun):
            raise ValueError(f"{type(self).__name__} did not converge: {found.message}.")
        self.weight_, self.bias_ = self._expand(found.x[:-k], k), found.x[-k:]
        self.n_classes_, self.classes_ = k, np.arange(k)
        return self

    def predict_log_proba(self, logits: Any) -> Any:
        """Calibrated log-probabilities, (n, K), of the kind given."""
        logits = self._check_predict(logits)
        if isinstance(logits, torch.Tensor):
            weight, bias = (torch.as_tensor(v, dtype=logits.dtype, device=logits.device) for v in self._fitted())
            return torch.log_softmax(logits @ weight.T + bias, -1)
        scores = logits @ self.weight_.T + self.bias_
        return scores - logsumexp(scores, axis=-1, keepdims=True)

    def _fitted(self) -> tuple[np.ndarray, np.ndarray]:
        return self.weight_, self.bias_


class VectorScaling(MatrixScaling):
    r"""p = softmax(v * z + b), one scale a class (Guo et al. 2017); ``weight_`` is diagonal."""

    def _expand(self, weight: np.ndarray, classes: int) -> np.ndarray:
        return np.diag(weight)

    def _reduce(self, gradient: np.ndarray) -> np.ndarray:
        return np.diag(gradient)


# --- searches --------------------------------------------------------------------------


def _search_grid(path: ConfidencePath, gammas: list[float], temperatures: np.ndarray) -> tuple[float, float, float]:
    """The whole grid's (ECE, gamma, T), skipping what provably cannot win."""
    found = []
    to_beat = math.inf
    for position, gamma in sorted(enumerate(gammas), key=lambda item: abs(item[1])):
        value, t = path.best_temperature(gamma, temperatures, to_beat)
        if not math.isnan(t):
            to_beat = min(to_beat, value)
            found.append((value, position, t))
    value, position, t = min(found)
    return value, gammas[position], t


def _search_line(path: ConfidencePath, gammas: list[float], temperatures: np.ndarray) -> tuple[float, float, float]:
    """KK24 section 5.2: a few gammas, each with its best T, fix the line; the best point on it.

    The paper takes two gammas. Three cost little more and follow the bend towards large gamma.
    """
    anchors = sorted({min(gammas), min(gammas, key=lambda g: abs(g - 1)), max(gammas)})
    fits = []
    for gamma in anchors:
        value, t = _quick_temperature(path, gamma, temperatures)
        fits.append((value, gamma, t))
    found = fits + [(path.ece(g, t), g, t) for g, t in _line(fits, gammas)]
    value, gamma, t = min(found)
    near = t * np.array([0.95, 0.97, 0.985, 1.015, 1.03, 1.05])  # the line is only nearly straight
    near = near[(near >= temperatures[0]) & (near <= temperatures[-1])]
    return min([(value, gamma, t)] + [(path.ece(gamma, float(x)), gamma, float(x)) for x in near])


def _quick_temperature(path: ConfidencePath, gamma: float, temperatures: np.ndarray) -> tuple[float, float]:
    """(ECE, T) near the crossing of mean confidence and accuracy, a few evaluations."""
    crossing = path._crossing(gamma, temperatures)
    around = temperatures[crossing] * np.array([0.97, 1.0, 1.03])
    return min((path.ece(gamma, t), float(t)) for t in around)


def _line(fits: list[tuple[float, float, float]], gammas: list[float]) -> list[tuple[float, float]]:
    """Points (gamma, T) at the other gammas, on the line through the fits (value, gamma, T)."""
    _, known, temperatures = zip(*fits, strict=True)
    return [(g, float(np.interp(g, known, temperatures))) for g in gammas if g not in known]


def _nll(z: np.ndarray, y: np.ndarray, gamma: float, temperature: float) -> float:
    return float(-focal_log_probs(z / temperature, gamma)[np.arange(len(y)), y].mean())


def _newton_temperature(z: np.ndarray, y: np.ndarray) -> float:
    """T that minimises the NLL: Newton on log(1/T), halving steps that do not descend."""
    z = z - z.max(-1, keepdims=True)
    picked = z[np.arange(len(y)), y]

    def parts(u: float) -> tuple[float, float, float]:
        beta = math.exp(u)
        log_total = logsumexp(beta * z, axis=1)
        q = np.exp(beta * z - log_total[:, None])
        mean = (q * z).sum(1)
        slope = float((mean - picked).mean())  # d NLL / d beta
        curve = float(((q * z**2).sum(1) - mean**2).mean())
        return float((log_total - beta * picked).mean()), beta * slope, beta * slope + beta**2 * curve

    u = 0.0
    value, slope, curve = parts(u)
    for _ in range(100):
        step = float(np.clip(-slope / curve if curve > 0 else -math.copysign(1, slope), -2, 2))
        while (new := parts(u + step))[0] > value + 1e-15 and abs(step) > 1e-12:
            step /= 2
        u += step
        value, slope, curve = new
        if abs(step) < 1e-10 or abs(u) > 12:  # separable or worse than chance: T tends to 0 or infinity
            break
    return math.exp(-u)


def _newton_nll(z: np.ndarray, y: np.ndarray) -> tuple[float, float, float]:
    """(NLL, gamma, T): damped Newton on (log 1/T, gamma) from temperature scaling's fit."""
    scores, truth = torch.from_numpy(z), torch.from_numpy(y.astype(np.int64))[:, None]

    def objective(theta: torch.Tensor) -> torch.Tensor:
        return -focal_log_probs(scores * torch.exp(theta[0]), theta[1]).gather(-1, truth).mean()

    theta = torch.tensor([-math.log(_newton_temperature(z, y)), 0.0], dtype=torch.float64)
    value, damping = float(objective(theta)), 1e-6
    for _ in range(60):
        gradient = torch.autograd.functional.jacobian(objective, theta)
        hessian = torch.autograd.functional.hessian(objective, theta)
        curves, axes = torch.linalg.eigh(hessian)
        for _ in range(30):
            step = -axes @ ((axes.T @ gradient) / (curves.abs() + damping))
            trial = (theta + step.clamp(-1, 1)).clone()
            trial[1] = trial[1].clamp(*_GAMMA_RANGE)
            trial_value = float(objective(trial))
            if trial_value <= value:
                damping = max(damping / 10, 1e-9)
                break
            damping *= 10
        else:
            break
        moved = float((trial - theta).abs().max())
        theta, value = trial, trial_value
        if moved < 1e-9:
            break
    return value, float(theta[1]), math.exp(-float(theta[0]))
