r"""Bounds of mean losses, or of their differences, that allow for rare errors missing from the samples.

Losses are skewed: where a model is nearly always right, a sample may miss the rare errors that dominate its mean, and
its own spread is then far too small. So an interval also covers the means under all labels drawn from probabilities
that the samples do not contradict. Candidates are

.. math:: q \propto p^a , \qquad\text{for two models}\quad q \propto r^a p^b ,

with a in SHARPENED and (a, b) in BETWEEN: the models themselves, mixtures of them, and less or more certain versions.
Labels drawn from q have a sum of losses, or of differences, and a number of errors, with known means and variances. A
candidate is rejected if the observed value of one of the two is too many standard deviations away, each at the given
level. This inverts a test. Example: if 200 samples are all right at confidence 0.9999, an error of up to 2 % remains
possible at 95 % (the 'rule of three'); if all are right at 0.9, an error of 2 % does, but one of 10 % does not. If all
candidates are rejected and there are fewer than 50 errors, the number of errors alone decides; with more, the samples'
own spread suffices and nothing is added. The truth of a real model lies on no such path, so enough samples reject all
candidates; the number of errors alone then still admits some that the losses exclude.

Labels of one group may be correlated. Kish's design effect, 1 + (m - 1) rho for groups of m, increases their variances,
with the largest correlation rho that the errors allow (Design.correlation_at_most). Dozens of errors show whether they
come in groups; a few do not, and without any error the labels of a group may all be equal.

Only labels vary here. If hardly any error is expected under all candidates, the mean may depend on kinds of samples
that are not in the data, and nothing is known.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import scipy

from focal_lib.arrays import label_index, largest, total

SHARPENED = (0.25, 0.5, 0.75, 1.0, 1.5, 2.0, 8.0, 32.0)  # a; from each to the next is interpolated, here and in BETWEEN
BETWEEN = (  # from less to more certain than r, on to p, from more to less certain than that
    *((0.5, 0.0), (0.75, 0.0), (1.0, 0.0), (1.5, 0.0), (1.0, 0.0), (0.75, 0.25), (0.5, 0.5), (0.25, 0.75)),
    *((0.0, 1.0), (0.0, 1.5), (0.0, 4.0), (0.0, 1.0), (0.0, 0.75), (0.0, 0.5)),
)
_EXCLUDED = 1e150  # stands for the infinite loss of a label that a model excludes
_FAR = 1e6  # losses are taken relative to one that is not so large
_FEWEST = 3.0  # errors to be expected, so that something is known
_ENOUGH = 50.0  # errors that need no labels but those that were seen
_STEPS = 20  # of an interpolation


def moments_of_scores(log_p: np.ndarray, weights: np.ndarray | None = None) -> np.ndarray:
    """Moments of sums over a chunk for labels drawn from p^a, for each a in SHARPENED, (a, 5).

    The means of log-loss, Brier score and number of errors, and the variances of log-loss and number of errors.

    Args:
        log_p: (m, K).
        weights: (m,), of the samples.
    """
    p, powers = np.exp(log_p), _quarter(log_p)
    candidates = (_power(powers, a) for a in SHARPENED)
    return _moments(candidates, -log_p, 1 + total(p * p)[:, 0], p, log_p.argmax(-1), weights)


def moments_of_differences(log_p: np.ndarray, log_r: np.ndarray, weights: np.ndarray | None = None) -> np.ndarray:
    """As moments_of_scores, of scores minus the reference's, for labels drawn from r^a p^b of BETWEEN, (pairs, 5).

    Errors are those of the method.

    Args:
        log_p, log_r: (m, K), of the method and of its reference.
        weights: (m,), of the samples.
    """
    p, r = np.exp(log_p), np.exp(log_r)
    loss = np.zeros_like(log_p)
    np.subtract(log_r, log_p, out=loss, where=log_r != log_p)  # both -inf differ by 0
    of_p, of_r = _quarter(log_p), _quarter(log_r)

    def between(a: float, b: float) -> np.ndarray:
        if a and b:  # relative to their own largest, both may underflow
            log_q = a * log_r + b * log_p
            return np.exp(log_q - largest(log_q))
        return _power(of_r, a) if a else _power(of_p, b)

    pairs = list(dict.fromkeys(BETWEEN))  # some stand twice on the path
    brier = total(p * p - r * r)[:, 0]
    found = _moments((between(*pair) for pair in pairs), loss, brier, p - r, log_p.argmax(-1), weights)
    return found[[pairs.index(pair) for pair in BETWEEN]]


def _quarter(log_p: np.ndarray) -> dict[float, np.ndarray]:
    """(p over its largest)^(1/4), (m, K), the only exponential: `_power` adds products of it."""
    return {0.25: np.exp(0.25 * (log_p - largest(log_p)))}


def _power(found: dict[float, np.ndarray], a: float) -> np.ndarray:
    if a not in found:
        half = 0.25 * (a // 0.5)
        found[a] = _power(found, half) * _power(found, a - half)
    return found[a]


def _moments(
    powers: Iterable[np.ndarray],
    loss: np.ndarray,
    brier: np.ndarray,
    twice: np.ndarray,
    top: np.ndarray,
    weights: np.ndarray | None,
) -> np.ndarray:
    """For each q (m, K), up to a factor, what moments_of_scores says.

    Args:
        loss: (m, K), by label.
        brier, twice: (m,) and (m, K); the Brier score of label k is brier - 2 twice_k.
        top: (m,), the predicted label.
    """
    w = np.ones(len(loss)) if weights is None else weights
    losses, at = np.clip(loss, -_EXCLUDED, _EXCLUDED), label_index(top)
    start = np.clip(losses[at], -_FAR, _FAR)  # near the loss of the likely labels nothing cancels
    losses -= start
    squares, found = losses * losses, []
    for q in powers:
        share = 1 / total(q)[:, 0]
        wrong = 1 - share * q[at][:, 0]
        mean = w * share * np.einsum("ij,ij->i", q, losses)
        variance = float(w * w * share @ np.einsum("ij,ij->i", q, squares) - mean @ mean)
        of_brier = float(w @ (brier - 2 * share * np.einsum("ij,ij->i", q, twice)))
        of_errors = float(w * w @ (wrong * (1 - wrong)))
        found.append([float(mean.sum() + w @ start[:, 0]), of_brier, float(w @ wrong), max(0.0, variance), of_errors])
    return np.array(found)


@dataclass(frozen=True)
class PossibleLabels:
    """Moments of sums over n samples under possible labels, and the observed sums.

    Attributes:
        moments: moments_of_scores or moments_of_differences, summed over all samples.
        loss: observed sum of the log-losses, or of their differences.
        errors: observed number of errors.
        n: number of samples.
        together: design effect of groups on the variances of sums; 1 for independent samples.
    """

    moments: np.ndarray
    loss: float
    errors: float
    n: int
    together: float = 1.0

    def means(self, level: float) -> dict[str, tuple[float, float]]:
        """Ends of the mean 'nll' and 'brier' over labels that are not contradicted; (inf, -inf) if nothing is added.

        nan if fewer than 3 errors are expected under all of them; nan for the NLL if a label may occur to which a
        model gives probability 0.
        """
        known = np.arange(len(self.moments))
        refined = np.linspace(0, known[-1], _STEPS * known[-1] + 1)  # with interpolated steps in between
        loss, brier, errors, of_loss, of_errors = (np.interp(refined, known, column) for column in self.moments.T)
        limit, seen = scipy.special.ndtri((1 + level) / 2), float(np.clip(self.loss, -_EXCLUDED, _EXCLUDED))
        by_errors = _deviations(self.errors, errors, self.together * of_errors) <= limit
        within = by_errors & (_deviations(seen, loss, self.together * of_loss) <= limit)
        if not within.any() and self.errors < _ENOUGH * self.together:
            within = by_errors
        if not within.any():
            return dict.fromkeys(("nll", "brier"), (np.inf, -np.inf))
        if errors[within].max() < _FEWEST * self.together:
            return dict.fromkeys(("nll", "brier"), (np.nan, np.nan))
        means = {"nll": loss[within] / self.n, "brier": brier[within] / self.n}
        found = {name: (float(own.min()), float(own.max())) for name, own in means.items()}
        if np.abs(means["nll"]).max() > _EXCLUDED**0.5:
            found["nll"] = (np.nan, np.nan)
        return found


def _deviations(seen: float, mean: np.ndarray, variance: np.ndarray) -> np.ndarray:
    """Distance of the observed value from each mean in standard deviations; 0 if both are certain and equal."""
    with np.errstate(divide="ignore", invalid="ignore"):
        away = np.abs(seen - mean) / np.sqrt(variance)
    return np.where(np.isnan(away), 0.0, away)
