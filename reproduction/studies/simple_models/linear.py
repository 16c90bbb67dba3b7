"""M20 App. G: logistic regression on noisy clusters, where both losses can be fitted exactly, and its known truth."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import pandas as pd
from scipy.integrate import solve_ivp
from scipy.optimize import minimize
from scipy.special import expit, logit
from scipy.stats import norm

from focal_lib.theory.closest_temperature import closest_temperature
from focal_lib.theory.gain import log_gain_of_logit
from focal_lib.theory.maps import focal_logit
from focal_lib.threads import one_thread
from focal_lib.validation import check_gamma, check_number
from reproduction.studies.shared.known_truth import KnownTruth, against_truth


def noisy_clusters(
    samples: int, seed: int, *, flip: float = 0.1, separation: float = 1.0, spread: float = 0.5
) -> tuple[np.ndarray, np.ndarray]:
    """Two Gaussian clusters a class at the corners of a square, labels flipped at random: (n, 2), (n,).

    M20 App. G gives no cluster spread; ours leaves the clean classes nearly separable.
    """
    rng = np.random.default_rng(seed)
    side = rng.integers(0, 2, size=(samples, 2)) * 2 - 1  # corner of each point
    x = separation * side + spread * rng.normal(size=(samples, 2))
    labels = (side[:, 0] > 0).astype(np.int64)
    flipped = rng.random(samples) < flip
    return x, np.where(flipped, 1 - labels, labels)


@dataclass(frozen=True)
class LinearFit:
    """Weights (2,) of f(x) = sigmoid(w . x), the mean loss there, and the largest entry of its gradient."""

    weights: np.ndarray
    loss: float
    gradient: float = float("nan")


def fit_linear_model(x: np.ndarray, labels: np.ndarray, gamma: float, shares: np.ndarray | None = None) -> LinearFit:
    """The weights that minimise mean focal loss, by BFGS with the exact gradient from 0.

    With margin s = +-w.x the loss of a sample is (1-q)^gamma (-log q), q = sigmoid(s), and its
    derivative by s is -g(q)(1-q) (M20 Prop. 1).

    Args:
        x, labels: (n, d), (n,).
        gamma: >= 0.
        shares: (n,), what each sample counts, adding up to 1; without them all the same.

    Raises:
        ValueError: gamma < 0, or shapes that do not fit.
        RuntimeError: the optimiser did not converge; the message is its own.
    """
    check_gamma(gamma, minimum=0.0)
    signed = _signed(x, labels)
    counts = np.full(len(x), 1 / len(x)) if shares is None else shares
    if counts.shape != labels.shape:
        raise ValueError(f"shares must have shape {labels.shape}, as labels. Got {counts.shape}.")

    def objective(weights: np.ndarray) -> tuple[float, np.ndarray]:
        s = signed @ weights
        soft, rest = np.logaddexp(0, -s), expit(-s)
        slope = -np.exp(log_gain_of_logit(s, gamma)) * rest
        return float(counts @ (rest**gamma * soft)), signed.T @ (counts * slope)

    found = minimize(objective, np.zeros(x.shape[1]), jac=True, method="BFGS", options={"gtol": 1e-11})
    if not found.success and np.abs(found.jac).max() > 1e-6:
        raise RuntimeError(f"focal fit did not converge: {found.message}")
    return LinearFit(found.x, float(found.fun), float(np.abs(found.jac).max()))


NODES = 66  # a coordinate and cluster: a fifth of the spread apart
REACH = 6.5  # in spreads, on either side of a mean


def cluster_truth(*, flip: float = 0.1, separation: float = 1.0, spread: float = 0.5, nodes: int = NODES) -> KnownTruth:
    r"""A grid over each of the four clusters, and there

    .. math:: p(x) = f + (1 - 2f)\,\frac{1}{1 + e^{-2 d x_1/\sigma^2}},

    f the share of flipped labels, +-d the cluster means and sigma the spread: the second coordinate, which is
    distributed alike in both classes, drops out. Sums over the grid are integrals by the trapezoidal rule, which beside
    normal densities is good to about 1e-6 for smooth functions; with a kink, as the confidence has, to about 1e-3.

    Raises:
        ValueError: flip not in [0, 1/2), separation or spread not positive, fewer than 2 nodes.
    """
    check_number(flip, "flip", minimum=0.0)
    check_number(separation, "separation", above=0.0)
    check_number(spread, "spread", above=0.0)
    if flip >= 0.5 or nodes < 2:
        raise ValueError(f"flip must be below 1/2 and nodes at least 2. Got {flip} and {nodes}.")
    at = np.linspace(-REACH, REACH, nodes)
    weight = norm.pdf(at)
    line = np.concatenate([side * separation + spread * at for side in (-1, 1)])
    share = np.tile(weight / weight.sum(), 2) / 2
    points = np.stack(np.meshgrid(line, line, indexing="ij"), axis=-1).reshape(-1, 2)
    clean = expit(2 * separation * points[:, 0] / spread**2)
    return KnownTruth(points, np.outer(share, share).ravel(), flip + (1 - 2 * flip) * clean)


def mistakes_above(
    weights: np.ndarray, confidence: Any, *, flip: float = 0.1, separation: float = 1.0, spread: float = 0.5
) -> Any:
    r"""Probability that sigmoid(w.x) is wrong with a confidence above this; above 1/2, that it is wrong.

    In a cluster with mean c the logit is normal, N(w.c, sigma^2 |w|^2), and the label does not depend on it: a sum of
    four normal probabilities for each label, exact where a sum over nodes would not be.

    Raises:
        ValueError: a confidence outside [1/2, 1).
    """
    level = np.asarray(confidence, dtype=np.float64)
    if not ((level >= 0.5) & (level < 1)).all():
        raise ValueError(f"confidence must be in [1/2, 1). Got {confidence}.")
    threshold, scale, total = logit(level), spread * np.linalg.norm(weights), 0.0
    for first in (-1, 1):
        for second in (-1, 1):
            mean = separation * (first * weights[0] + second * weights[1])
            of_one = 1 - flip if first > 0 else flip
            wrong_one, wrong_zero = norm.cdf((-threshold - mean) / scale), norm.sf((threshold - mean) / scale)
            total = total + (of_one * wrong_one + (1 - of_one) * wrong_zero) / 4
    return total


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


@cache
@one_thread()
def linear_fits(
    gammas: tuple[float, ...], draws: int = 20, samples: int = 1000, *, flip: float = 0.1, spread: float = 0.5
) -> pd.DataFrame:
    """A row for each draw and gamma, 0 being cross-entropy, with the means over the whole distribution.

    Columns: seed, gamma; accuracy, and high, the share of the mistakes with a confidence above 0.9; norm of the
    weights, logits (their root mean square on the training samples), angle (of the weights from those of
    cross-entropy, in degrees), gradient (the largest entry left); confidence, distance and excess as in `Standing`,
    and again as mapped_* after the focal map with the gamma of training.

    Raises:
        ValueError: gammas without 0, fewer than 1 draw.
    """
    if 0 not in gammas or draws < 1:
        raise ValueError(f"gammas must hold 0, draws be at least 1. Got {gammas} and {draws}.")
    truth = cluster_truth(flip=flip, spread=spread)
    rows = []
    for seed in range(draws):
        x, labels = noisy_clusters(samples, seed, flip=flip, spread=spread)
        plain = fit_linear_model(x, labels, 0.0)
        for gamma in gammas:
            fit = plain if gamma == 0 else fit_linear_model(x, labels, gamma)
            wrong, sure = mistakes_above(fit.weights, np.array([0.5, 0.9]), flip=flip, spread=spread)
            row = {"seed": seed, "gamma": gamma, "accuracy": 1 - wrong, "high": sure / wrong}
            rows.append(row | _row(fit, plain, x, gamma, truth))
    return pd.DataFrame(rows)


def _row(fit: LinearFit, plain: LinearFit, x: np.ndarray, gamma: float, truth: KnownTruth) -> dict[str, float]:
    logits = truth.points @ fit.weights
    raw, mapped = against_truth(logits, truth), against_truth(focal_logit(logits, gamma), truth)
    norm, other = np.linalg.norm(fit.weights), np.linalg.norm(plain.weights)
    cosine = fit.weights @ plain.weights / (norm * other)
    return {
        "norm": float(norm),
        "logits": float(np.sqrt(np.square(x @ fit.weights).mean())),
        "angle": float(np.degrees(np.arccos(np.clip(cosine, -1, 1)))),
        "gradient": fit.gradient,
        **{name: float(getattr(raw, name)) for name in ("confidence", "distance", "excess")},
        **{f"mapped_{name}": float(getattr(mapped, name)) for name in ("confidence", "distance", "excess")},
    }


def fit_truth(gamma: float, truth: KnownTruth) -> LinearFit:
    """The fit to the whole distribution: what a sample without end would give."""
    n = len(truth.points)
    shares = np.concatenate([truth.shares * truth.posterior, truth.shares * (1 - truth.posterior)])
    labels = np.repeat([1, 0], n)
    return fit_linear_model(np.tile(truth.points, (2, 1)), labels, gamma, shares)


@one_thread()
def norm_ratios(gammas: Sequence[float], spreads: Sequence[float], flips: Sequence[float]) -> pd.DataFrame:
    """Norm of the focal weights over that of cross-entropy on whole distributions, and the binary map's temperature.

    Columns: gamma, spread, flip, ratio, temperature (`closest_temperature` of two classes).
    """
    rows = []
    temperatures = {gamma: closest_temperature(gamma, 2).temperature for gamma in gammas}
    for spread, flip in itertools.product(spreads, flips):
        truth = cluster_truth(flip=flip, spread=spread)
        plain = np.linalg.norm(fit_truth(0.0, truth).weights)
        for gamma in gammas:
            ratio = float(np.linalg.norm(fit_truth(gamma, truth).weights) / plain)
            rows.append((gamma, spread, flip, ratio, temperatures[gamma]))
    return pd.DataFrame(rows, columns=["gamma", "spread", "flip", "ratio", "temperature"])


def separable_growth(gammas: Sequence[float], times: np.ndarray, seed: int, *, spread: float = 0.2) -> pd.DataFrame:
    """Norm of the weights along the gradient flow at `times`, a column a gamma, on clusters without flipped labels.

    Raises:
        ValueError: this draw is not separable by the first coordinate, so that a minimum may exist.
    """
    x, labels = noisy_clusters(1000, seed, flip=0.0, spread=spread)
    if ((x[:, 0] > 0) != (labels == 1)).any():
        raise ValueError(f"the classes must be separable. Got seed {seed} and spread {spread}, where they overlap.")
    flows = {gamma: np.linalg.norm(gradient_flow(x, labels, gamma, times), axis=1) for gamma in gammas}
    return pd.DataFrame(flows, index=pd.Index(times, name="time"))
