"""A linear model on a bag of words and pairs of words, trained to a stationary point by L-BFGS.

With cross-entropy the objective is convex and strictly so, hence that point is its optimum. Focal losses and the Brier
score are not convex in the logit where a sample is very wrong, so of these it is a stationary point.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from scipy import sparse
from scipy.optimize import minimize
from sklearn.feature_extraction.text import TfidfVectorizer

from focal_lib.losses.base import LogitLoss
from reproduction.studies.human_labels.targets import expected_loss

PENALTIES = (3e-3, 1e-3, 3e-4, 1e-4, 3e-5, 1e-5, 3e-6, 1e-6)  # strongest first
_GRADIENT = 1e-6
_STEPS = 1_000


@dataclass(frozen=True)
class Bags:
    """Features of the parts, sparse (n, d), the last one constant; and those of the training part turned round."""

    train: sparse.csr_matrix
    validation: sparse.csr_matrix
    test: sparse.csr_matrix
    train_transposed: sparse.csr_matrix


def make_bags(train: np.ndarray, validation: np.ndarray, test: np.ndarray) -> Bags:
    """TF-IDF of words and pairs of neighbours that two training sentences have, from tokens int (n, L), 0 for padding.

    Raises:
        ValueError: no word is in two training sentences.
    """
    words = TfidfVectorizer(analyzer=_words_and_pairs, min_df=2, sublinear_tf=True).fit(train)
    one, two, three = (_with_constant(words.transform(part)) for part in (train, validation, test))
    return Bags(one, two, three, one.T.tocsr())


def _words_and_pairs(row: np.ndarray) -> list[str]:
    words = [str(token) for token in row if token]
    return words + [f"{one} {two}" for one, two in itertools.pairwise(words)]


def _with_constant(features: sparse.csr_matrix) -> sparse.csr_matrix:
    return sparse.hstack([features, np.ones((features.shape[0], 1))]).tocsr()


@dataclass(frozen=True)
class LinearFit:
    """Weights (d, K) of one penalty, with the largest entry of the gradient where the optimiser stopped."""

    weights: np.ndarray
    penalty: float
    gradient: float
    steps: int


def fit_linear_path(
    bags: Bags, targets: np.ndarray, loss: LogitLoss, penalties: Sequence[float] = PENALTIES
) -> list[LinearFit]:
    r"""Weights W of least :math:`\text{mean loss}(XW) + \tfrac{a}{2}\lVert W\rVert^2` for each penalty a.

    The constant is not penalised. Each fit starts from the one before, so give the strongest penalty first.

    Args:
        targets: (n, K), distributions.

    Raises:
        ValueError: no penalties, or one that is not above 0.
    """
    if not penalties or min(penalties) <= 0:
        raise ValueError(f"penalties must be above 0, at least one. Got {list(penalties)}.")
    goal, shape = torch.from_numpy(targets), (bags.train.shape[1], targets.shape[1])

    def objective(flat: np.ndarray, penalty: float) -> tuple[float, np.ndarray]:
        weights = flat.reshape(shape)
        held = weights.copy()
        held[-1] = 0  # the constant
        logits = torch.from_numpy(bags.train @ weights).requires_grad_()
        value = expected_loss(loss, logits, goal)
        (slope,) = torch.autograd.grad(value, logits)
        gradient = bags.train_transposed @ slope.numpy() + penalty * held
        return float(value.detach()) + penalty / 2 * float((held**2).sum()), gradient.ravel()

    fits, start = [], np.zeros(shape)
    start[-1] = np.log(
        np.maximum(targets.mean(0), 1 / len(targets))
    )  # the classes' shares: no class begins too far off
    at = start.ravel()
    options = {"maxiter": _STEPS, "maxfun": 2 * _STEPS, "gtol": _GRADIENT, "ftol": 1e-15}
    for penalty in penalties:
        found = minimize(objective, at, args=(penalty,), jac=True, method="L-BFGS-B", options=options)
        at = found.x
        fits.append(LinearFit(at.reshape(shape).copy(), penalty, float(np.abs(found.jac).max()), int(found.nit)))
    return fits
