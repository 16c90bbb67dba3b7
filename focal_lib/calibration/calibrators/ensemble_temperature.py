"""Ensemble temperature scaling (Zhang, Kailkhura & Han 2020)."""

from __future__ import annotations

import functools
import math
from typing import Any

import numpy as np
import scipy

from focal_lib.arrays import array_namespace, label_index, log_softmax
from focal_lib.calibration.calibrators.base import Calibrator
from focal_lib.calibration.calibrators.fit_samples import FitSamples
from focal_lib.calibration.calibrators.newton import fit_temperature


class EnsembleTemperatureScaling(Calibrator):
    r"""Ensemble temperature scaling: a mean of scaled, unscaled and uniform probabilities (Zhang et al. 2020).

    .. math:: p = w_1 \operatorname{softmax}(z / T) + w_2 \operatorname{softmax}(z) + w_3 / K, \qquad
              w \ge 0, \quad w_1 + w_2 + w_3 = 1

    T is that of temperature scaling; then the weights minimise the NLL, which is convex in them. The order of the
    classes never changes.

    Fitted attributes:
        ``temperature_``: T. ``scaled_``, ``unscaled_``, ``uniform_``: w. ``n_classes_``, ``classes_``.

    Raises:
        ValueError: bad data.

    Examples:
        >>> logits, labels = [[0.0, 9.0]] * 8 + [[0.0, 0.1]] * 2, [1] * 7 + [0] + [1, 0]
        >>> fit = EnsembleTemperatureScaling().fit(logits, labels)
        >>> round(fit.scaled_ + fit.unscaled_ + fit.uniform_, 6), fit.predict(logits[:1]).tolist()
        (1.0, [1])
    """

    keeps_the_class = True
    temperature_: float
    scaled_: float
    unscaled_: float
    uniform_: float

    def _fit(self, samples: FitSamples) -> None:
        _, temperature = fit_temperature(samples)
        of_label = np.stack(samples.gather(lambda z, y: _of_label(temperature, z, y)), -1)
        weights = np.ones(len(samples)) if samples.weights is None else samples.weights
        self.temperature_ = temperature
        self.scaled_, self.unscaled_, self.uniform_ = _best_weights(of_label, weights / samples.weight).tolist()

    def _log_probs(self, logits: Any) -> Any:
        xp = array_namespace(logits)
        parts = [log_softmax(logits / self.temperature_) + math.log(self.scaled_)] if self.scaled_ else []
        parts += [log_softmax(logits) + math.log(self.unscaled_)] if self.unscaled_ else []
        parts += [xp.full_like(logits, math.log(self.uniform_ / self.n_classes_))] if self.uniform_ else []
        return functools.reduce(xp.logaddexp, parts)

    def _module(self) -> Any:
        from focal_lib.calibration.calibrators.torch_module import EnsembleTemperatureModule

        return EnsembleTemperatureModule(self.temperature_, np.array([self.scaled_, self.unscaled_, self.uniform_]))


def _of_label(temperature: float, z: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, ...]:
    """Probability of the label by each of the three, (m,) each."""
    label = label_index(y)
    scaled, plain = (np.exp(log_softmax(part)[label])[:, 0] for part in (z / temperature, z))
    return scaled, plain, np.full(len(y), 1 / z.shape[1])


def _best_weights(p: np.ndarray, share: np.ndarray) -> np.ndarray:
    """Weights (3,) >= 0 with sum 1 that minimise -sum share log(p w), for p (n, 3): convex."""

    def objective(w: np.ndarray) -> tuple[float, np.ndarray]:
        mixed = np.maximum(p @ w, np.finfo(np.float64).tiny)
        return -float(share @ np.log(mixed)), -(share / mixed) @ p

    found = scipy.optimize.minimize(
        objective,
        np.array([0.98, 0.01, 0.01]),
        jac=True,
        method="SLSQP",
        bounds=[(0.0, 1.0)] * 3,
        constraints={"type": "eq", "fun": lambda w: w.sum() - 1, "jac": lambda _: np.ones(3)},
        options={"ftol": 1e-13, "maxiter": 500},
    )
    weights = np.maximum(found.x, 0.0)
    weights = np.where(weights < 1e-9, 0.0, weights)
    return weights / weights.sum()
