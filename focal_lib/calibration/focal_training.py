"""What training with focal loss would do to a network, from what it says when trained with cross-entropy."""

from __future__ import annotations

import math

import numpy as np
from scipy.special import log_softmax

from focal_lib.theory.maps import inverse_focal_log_probs

# fitted on 50 recorded pairs of runs on CIFAR-10, CIFAR-100 and Fashion-MNIST: results/law/earlier.parquet
SHARPENING = 0.1


def focal_trained_log_probs(log_probs: np.ndarray, gamma: float, sharpening: float = SHARPENING) -> np.ndarray:
    r"""Log-probabilities expected of the network that is trained with focal loss instead of cross-entropy.

    The inverse of the focal calibration map (KK24 Prop. 4) of softmax(s log p), s = (1 + gamma)^sharpening. With
    sharpening 0 the focal network after its map equals the cross-entropy network: KK24's decomposition, taken to hold
    for new data, too. Trained networks end a little sharper than that.

    Args:
        log_probs: (n, K) of the cross-entropy network, on samples that it was not trained on.
        gamma: of the focal loss, at least 0.
        sharpening: a number; 0 leaves it out.

    Returns:
        (n, K).

    Raises:
        ValueError: log_probs that are not distributions, or gamma out of range.

    Examples:
        >>> focal_trained_log_probs(np.log([[0.9, 0.1]]), gamma=3.0, sharpening=0).round(3)
        array([[-0.435, -1.041]])
    """
    if not (math.isfinite(gamma) and gamma >= 0):
        raise ValueError(f"gamma must be a number of at least 0. Got {gamma}.")
    sharpened = log_softmax((1 + gamma) ** sharpening * log_probs, axis=-1) if gamma and sharpening else log_probs
    return np.asarray(inverse_focal_log_probs(sharpened, gamma))
