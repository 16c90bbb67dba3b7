"""The way to the minimum of a linear model: gradient descent, and its limit of small steps."""

from __future__ import annotations

import numpy as np
from scipy.integrate import solve_ivp
from scipy.special import expit

from focal_lib.theory.gain import log_gain_of_logit
from focal_lib.validation import check_gamma, check_number


def _downhill(signed: np.ndarray, weights: np.ndarray, gamma: float) -> np.ndarray:
    """Minus the gradient of the mean focal loss, of samples times the sign of their label: (n, d), (d,) -> (d,)."""
    s = signed @ weights
    return signed.T @ (np.exp(log_gain_of_logit(s, gamma)) * expit(-s)) / len(s)


def _signed(x: np.ndarray, labels: np.ndarray) -> np.ndarray:
    if x.ndim != 2 or labels.shape != x.shape[:1]:
        raise ValueError(f"x and labels must have shapes (n, d) and (n,). Got {x.shape} and {labels.shape}.")
    return x * np.where(labels == 1, 1.0, -1.0)[:, None]


def gradient_flow(x: np.ndarray, labels: np.ndarray, gamma: float, times: np.ndarray) -> np.ndarray:
    """Weights at `times`, of dw/dt = -gradient of the mean focal loss, from 0: (n, d), (n,), (m,) -> (m, d).

    Gradient descent with a small step h is at time h k after k steps. Solved in log t, so that 10^12 can be reached.

    Raises:
        ValueError: gamma < 0, shapes that do not fit, times not positive and increasing.
        RuntimeError: the solver failed; the message is its own.
    """
    check_gamma(gamma, minimum=0.0)
    signed, at = _signed(x, labels), np.asarray(times, dtype=np.float64)
    if at.ndim != 1 or len(at) == 0 or not (np.diff(at) > 0).all() or not at[0] > 0:
        raise ValueError(f"times must be positive and increasing. Got {times}.")
    start = min(1e-3, float(at[0]) / 2)
    first = start * _downhill(signed, np.zeros(x.shape[1]), gamma)
    found = solve_ivp(
        lambda u, w: np.exp(u) * _downhill(signed, w, gamma),
        (np.log(start), np.log(at[-1])),
        first,
        method="LSODA",
        t_eval=np.minimum(np.log(at), np.log(at[-1])),
        rtol=1e-8,
        atol=1e-10,
    )
    if not found.success:
        raise RuntimeError(f"gradient flow failed: {found.message}")
    return found.y.T


def gradient_descent(x: np.ndarray, labels: np.ndarray, gamma: float, *, rate: float, iterations: int) -> np.ndarray:
    """Weights after 1, 2, ... iterations on all samples, from 0, as M20 App. G: -> (iterations, d).

    Raises:
        ValueError: gamma < 0, shapes that do not fit, rate not positive, iterations below 1.
    """
    check_gamma(gamma, minimum=0.0)
    check_number(rate, "rate", above=0.0)
    check_number(iterations, "iterations", minimum=1)
    signed, weights = _signed(x, labels), np.zeros(x.shape[1])
    path = np.empty((iterations, x.shape[1]))
    for k in range(iterations):
        weights = weights + rate * _downhill(signed, weights, gamma)
        path[k] = weights
    return path
