"""Ensemble temperature scaling (Zhang, Kailkhura & Han 2020)."""

from __future__ import annotations

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
        ``temperature_``: T. ``weights_`` (3,): w. ``n_classes_``, ``classes_``.

    Raises:
        ValueError: bad data.

    Examples:
        >>> logits, labels = [[0.0, 9.0]] * 8 + [[0.0, 0.1]] * 2, [1] * 7 + [0] + [1, 0]
        >>> fit = EnsembleTemperatureScaling().fit(logits, labels)
        >>> float(fit.weights_.sum().round(6)), fit.predict(logits[:1]).tolist()
        (1.0, [1])
    """

    temperature_: float
    weights_: np.ndarray

    def _fit(self, samples: FitSamples) -> None:
        _, temperature = fit_temperature(samples)
        of_label = np.stack(samples.gather(lambda z, y: _of_label(temperature, z, y)), -1)
        weights = np.ones(len(samples)) if samples.weights is None else samples.weights
        self.temperature_, self.weights_ = temperature, _best_weights(of_label, weights / samples.weight)

    def _log_probs(self, logits: Any) -> Any:
        xp, (scaled, plain, uniform) = array_namespace(logits), (float(w) for w in self.weights_)
        parts = [(scaled, lambda: log_softmax(logits / self.temperature_)), (plain, lambda: log_softmax(logits))]
        parts += [(uniform, lambda: xp.full_like(logits, -np.log(self.n_classes_)))]
        first, *others = (part() + float(np.log(w)) for w, part in parts if w > 0)
        for other in others:
            first = xp.logaddexp(first, other)
        return first

    def _module(self) -> Any:
        from focal_lib.calibration.calibrators.torch_module import EnsembleTemperatureModule

        return EnsembleTemperatureModule(self.temperature_, self.weights_)


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
