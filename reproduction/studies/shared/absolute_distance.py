"""What the absolute distance in the focal calibration loss asks for (L25 App. A.15)."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from scipy.special import logsumexp

from focal_lib.theory.gain import log_gain_of_logit
from focal_lib.validation import check_gamma, check_log_probs, check_number


def absolute_calibration_log_probs(log_probs: Any, gamma: float, lam: float) -> np.ndarray:
    r"""The map after which focal loss plus :math:`\lambda\lVert q - e_y\rVert_1` is proper: log q -> log p.

    That distance is :math:`2(1 - q_y)`, linear in q, so the risk is stationary where
    :math:`p_i(L'(q_i) - 2\lambda)` is the same for every class. With g as in M20 Prop. 1, so that L'(q) = -g(q)/q,

    .. math:: p_i = \frac{v_i}{\sum_j v_j}, \qquad v_j = \frac{q_j}{2\lambda q_j + g(q_j)}.

    The same v as in the map of the squared distance, `theory.focal_calibration_log_probs`. For lam = 0 it is the focal
    calibration map; for gamma = 0 it is not the identity. Nothing cancels.

    Args:
        log_probs: (..., K), q > 0.
        gamma, lam: >= 0.

    Returns:
        (..., K).

    Raises:
        ValueError: gamma or lam negative, or log_probs that are none.
    """
    log_q = np.asarray(log_probs, dtype=np.float64)
    check_log_probs(torch.from_numpy(np.array(log_q)))
    check_gamma(gamma, minimum=0.0)
    check_number(lam, "lam", minimum=0.0)
    with np.errstate(divide="ignore"):  # q = 1, and lam = 0
        log_g = log_gain_of_logit(log_q - np.log(-np.expm1(log_q)), gamma) if gamma else np.zeros_like(log_q)
        log_v = log_q - np.logaddexp(np.log(2 * lam) + log_q, log_g)
    return log_v - logsumexp(log_v, axis=-1, keepdims=True)
