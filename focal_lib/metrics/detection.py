"""Out-of-distribution detection by one score of the logits: AUROC, and FPR at 95 % TPR.

A score is higher for inputs that look in-distribution ('known'). An input is classified as known if its score reaches a
threshold. The true positive rate is the share of known inputs so classified, the false positive rate that of unknown.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy

from focal_lib.validation import check_logits


def max_probability_score(logits: Any) -> np.ndarray:
    r"""Log-odds of the largest softmax probability, (n, K) -> (n,): ranks as the probability does, without ties at 1.

    .. math:: \log\frac{q_{(1)}}{1 - q_{(1)}} = s_{(1)} - \log\sum_{i \ne (1)} e^{s_i}

    Hendrycks & Gimpel (2017).

    Raises:
        ValueError: logits not finite, or not (n, K) with K >= 2.

    >>> round(float(max_probability_score(np.log([[0.8, 0.2]]))[0]), 4)  # log(0.8 / 0.2)
    1.3863
    """
    top, others = _top_and_others(logits)
    return top - scipy.special.logsumexp(others, axis=-1)


def entropy_score(logits: Any) -> np.ndarray:
    r"""Negative entropy of the softmax in nats, (n, K) -> (n,), accurate near 0; errors as max_probability_score.

    .. math:: -H(q) = \sum_i q_i \log q_i

    >>> round(float(entropy_score([[0.0, 0.0]])[0]), 4)  # -log 2
    -0.6931
    """
    top, others = _top_and_others(logits)
    behind = others - top[:, None]
    rest = np.exp(behind).sum(-1)  # (1 - q) / q of the largest
    log_top = -np.log1p(rest)
    return (log_top + (np.exp(behind) * (behind + log_top[:, None])).sum(-1)) / (1 + rest)


def energy_score(logits: Any) -> np.ndarray:
    r"""Negative free energy at temperature 1, (n, K) -> (n,): :math:`\log\sum_i e^{s_i}` (Liu et al. 2020).

    Unlike functions of the softmax, it changes if a constant is added to all logits. Errors as max_probability_score.

    >>> round(float(energy_score([[0.0, 0.0]])[0]), 4)  # log 2
    0.6931
    """
    return scipy.special.logsumexp(_checked(logits), axis=-1)


DETECTION_SCORES: dict[str, Callable[[Any], np.ndarray]] = {
    "max-probability": max_probability_score,
    "entropy": entropy_score,
    "energy": energy_score,
}


def auroc(known: Any, unknown: Any) -> float:
    r"""Area under the ROC curve: the probability that a known input has the higher score; ties count half.

    .. math:: P(X > Y) + \tfrac12 P(X = Y)

    Args:
        known, unknown: scores (n,) and (m,), higher for known.

    Raises:
        ValueError: known or unknown empty or not finite.

    >>> round(auroc([1.0, 2.0, 4.0], [0.0, 3.0]), 4)  # 4 of 6 pairs in order
    0.6667
    """
    from sklearn.metrics import roc_auc_score

    scores, is_known = _both(known, unknown)
    return float(roc_auc_score(is_known, scores))


def fpr_at_tpr(known: Any, unknown: Any, tpr: float = 0.95) -> float:
    """False positive rate at the highest threshold with a true positive rate of at least `tpr`.

    Arguments as auroc.

    Raises:
        ValueError: as auroc; tpr not in (0, 1].

    >>> fpr_at_tpr([1.0, 2.0, 3.0, 4.0], [0.0, 2.5], tpr=0.75)  # threshold 2
    0.5
    """
    if not 0 < tpr <= 1:
        raise ValueError(f"tpr must be in (0, 1]. Got {tpr}.")
    scores, is_known = _both(known, unknown)
    own, others = np.sort(scores[is_known]), scores[~is_known]
    needed = int(np.ceil(tpr * len(own) * (1 - 1e-12)))  # 0.95 * 20 is 19, despite rounding
    return float((others >= own[len(own) - needed]).mean())


def _both(known: Any, unknown: Any) -> tuple[np.ndarray, np.ndarray]:
    sides = []
    for name, given in (("known", known), ("unknown", unknown)):
        side = np.asarray(given, dtype=np.float64)
        if side.ndim != 1 or not side.size or not np.isfinite(side).all():
            raise ValueError(f"{name} must be finite scores of shape (n,), n at least 1. Got shape {side.shape}.")
        sides.append(side)
    return np.concatenate(sides), np.repeat([True, False], [len(side) for side in sides])


def _checked(logits: Any) -> np.ndarray:
    z = np.asarray(logits, dtype=np.float64)
    check_logits(z)
    if z.ndim != 2:
        raise ValueError(f"logits must have shape (n, K). Got {z.shape}.")
    return z


def _top_and_others(logits: Any) -> tuple[np.ndarray, np.ndarray]:
    """The largest logit (n,) and the others (n, K - 1)."""
    z = np.sort(_checked(logits), axis=-1)
    return z[:, -1], z[:, :-1]
