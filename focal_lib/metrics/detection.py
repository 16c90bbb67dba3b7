"""Telling inputs that a network was trained for from others, by one score of its logits: AUROC, FPR at 95 % TPR.

A score is higher for what looks known. An input is called known where its score reaches a threshold; the true positive
rate is the share of known inputs that are, the false positive rate the share of unknown ones.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.special import logsumexp
from scipy.stats import rankdata

from focal_lib.validation import check_logits


def max_probability_score(logits: Any) -> np.ndarray:
    r"""Log-odds of the largest probability, (n, K) -> (n,): in the order of the probability, and never tied at 1.

    .. math:: \log\frac{q_{(1)}}{1 - q_{(1)}} = s_{(1)} - \log\sum_{i \ne (1)} e^{s_i}

    Hendrycks & Gimpel (2017). Raises ValueError for logits that are not finite of shape (n, K), K at least 2.
    """
    top, others = _top_and_others(logits)
    return top - logsumexp(others, axis=-1)


def entropy_score(logits: Any) -> np.ndarray:
    r"""Minus the entropy of the softmax, in nats, (n, K) -> (n,); exact where it is nearly 0, too. Errors as above.

    .. math:: -H(q) = \sum_i q_i \log q_i
    """
    top, others = _top_and_others(logits)
    behind = others - top[:, None]
    rest = np.exp(behind).sum(-1)  # (1 - q) / q of the largest
    log_top = -np.log1p(rest)
    return (log_top + (np.exp(behind) * (behind + log_top[:, None])).sum(-1)) / (1 + rest)


def energy_score(logits: Any) -> np.ndarray:
    r"""Minus the free energy at temperature 1, (n, K) -> (n,): :math:`\log\sum_i e^{s_i}` (Liu et al. 2020).

    No function of the softmax: a constant added to all logits changes it. Errors as above.
    """
    return logsumexp(_checked(logits), axis=-1)


DETECTION_SCORES: dict[str, Callable[[Any], np.ndarray]] = {
    "max-probability": max_probability_score,
    "entropy": entropy_score,
    "energy": energy_score,
}


def auroc(known: Any, unknown: Any) -> float:
    r"""Area under the ROC curve: the probability that a known input has the higher score, a tie counting half.

    .. math:: P(X > Y) + \tfrac12 P(X = Y)

    From the sum of the ranks of the known ones, as the Mann-Whitney statistic.

    Args:
        known, unknown: scores (n,) and (m,), higher for known.

    Raises:
        ValueError: no scores on a side, or some that are not finite.
    """
    scores, is_known = _both(known, unknown)
    count = int(is_known.sum())
    others = len(scores) - count
    above = rankdata(scores)[is_known].sum() - count * (count + 1) / 2  # pairs, whose ranks are whole or half: exact
    return float(above / (count * others))


def fpr_at_tpr(known: Any, unknown: Any, tpr: float = 0.95) -> float:
    """Share of unknown inputs called known at the highest threshold that calls at least `tpr` of the known ones so.

    Arguments as auroc.

    Raises:
        ValueError: as auroc; tpr not in (0, 1].
    """
    if not 0 < tpr <= 1:
        raise ValueError(f"tpr must be in (0, 1]. Got {tpr}.")
    scores, is_known = _both(known, unknown)
    own, others = np.sort(scores[is_known]), scores[~is_known]
    needed = int(np.ceil(tpr * len(own) * (1 - 1e-12)))  # 0.95 * 20 is 19, whatever rounding makes of it
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
