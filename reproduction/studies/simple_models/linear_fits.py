"""Exact fits of the linear model over draws of the noisy clusters, each against the truth."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

import numpy as np
import pandas as pd

from focal_lib.theory.closest_temperature import closest_temperature
from focal_lib.theory.maps import focal_logit
from focal_lib.threads import one_thread
from reproduction.studies.shared.known_truth import KnownTruth, against_truth
from reproduction.studies.simple_models.clusters import cluster_truth, mistakes_above
from reproduction.studies.simple_models.descent import gradient_flow
from reproduction.studies.simple_models.linear_model import (
    LinearFit,
    fit_linear_model,
    noisy_clusters,
)


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
    for spread in spreads:
        for flip in flips:
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
