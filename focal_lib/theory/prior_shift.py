r"""The way back to probabilities after class weights, resampling, or a change of prevalence.

Focal loss with class weights, :math:`-a_y(1-q_y)^\gamma\log q_y`, is focal loss under the prior-shifted distribution
:math:`p'_k \propto a_k p_k`: the two have the same mean up to a factor, :math:`\sum_k a_k p_k`. So its minimiser q
has, with the weight w of the focal calibration map (`maps`),

.. math:: p_k \propto \frac{w(q_k)}{a_k},
          \qquad \log p = \operatorname{log\,softmax}\bigl(\log w(q) - \log a\bigr).

Each of these is such an a, and several multiply: Lin et al.'s alpha, (1 - alpha, alpha); class weights; the ratio of
the sampling rates of resampled classes; scale_pos_weight c, (1, c). With gamma = 0 it is Elkan's (2001) Theorem 2.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from focal_lib.arrays import array_namespace, is_torch_array, log_softmax, to_numpy, total
from focal_lib.theory.maps import focal_log_probs, focal_logit
from focal_lib.theory.proper import focal_minimiser
from focal_lib.validation import check_logits, check_number, check_probs

_GAP = 1e-10  # of the mean log-likelihood: far below 1/n, what chance moves it by
_STEPS = 10_000


def log_class_weights(class_weights: Any, classes: int) -> np.ndarray:
    """The logarithms (K,) of class weights, which are given as (K,), or for two classes as alpha.

    Raises:
        ValueError: not K positive numbers; one number that is not in (0, 1), or is given for more than two classes.
    """
    weights = np.asarray(to_numpy(class_weights), dtype=np.float64)
    if weights.ndim == 0:
        alpha = float(weights)
        if classes != 2:
            raise ValueError(f"class_weights must be {classes} numbers, one a class. Got one number, {alpha:g}.")
        if not 0 < alpha < 1:
            raise ValueError(
                "class_weights must be two numbers, or one in (0, 1), alpha, which stands for (1 - alpha, alpha). "
                f"Got {alpha:g}: as the weight of class 1 alone, write (1, {alpha:g})."
            )
        weights = np.array([1 - alpha, alpha])
    if weights.shape != (classes,):
        raise ValueError(f"class_weights must be {classes} numbers, one a class. Got shape {weights.shape}.")
    if not (np.isfinite(weights).all() and (weights > 0).all()):
        raise ValueError(f"class_weights must be positive and finite. Got {weights.tolist()}.")
    return np.log(weights)


def weighted_focal_logit(logit: Any, gamma: float, class_weights: Any) -> Any:
    r"""Logit of the true probability of class 1 where focal loss with class weights is least, for its logit s.

    .. math:: \operatorname{logit} p = \operatorname{logit}\hat p(q) + \log\frac{a_0}{a_1}, \quad q = \frac1{1 + e^{-s}}

    Args:
        logit: of class 1, any shape, finite.
        gamma: a number >= -1.
        class_weights: (a_0, a_1), or one number alpha in (0, 1) for (1 - alpha, alpha) (Lin et al. 2017).

    Raises:
        ValueError: non-finite logits, gamma out of range, weights that are not positive.

    Examples:
        >>> s = math.log(0.4356 / 0.5644)  # least in the mean for p = 0.6 with gamma 2, alpha 0.25
        >>> round(1 / (1 + math.exp(-float(weighted_focal_logit(s, gamma=2.0, class_weights=0.25)))), 3)
        0.6
    """
    shift = log_class_weights(class_weights, 2)
    return focal_logit(logit, gamma) + float(shift[0] - shift[1])


def weighted_focal_log_probs(logits: Any, gamma: float, class_weights: Any) -> Any:
    r"""Log-probabilities of the classes where focal loss with class weights is least, from the logits of its model.

    :math:`\operatorname{log\,softmax}(\log w(q) - \log a)` with q = softmax(logits). Equal weights give
    `focal_log_probs`, gamma = 0 a prior shift (Elkan 2001; Saerens, Latinne and Decaestecker 2002, Eq. (4)).

    Args:
        logits: (..., K), K >= 2, finite.
        gamma: a number >= 0; for K = 2 a number >= -1.
        class_weights: (K,), > 0; or, for two classes, alpha in (0, 1).

    Returns:
        (..., K) log-probabilities, of the kind and precision of the logits.

    Raises:
        ValueError: wrong shape, non-finite logits, gamma out of range, weights that are not K positive numbers.

    Examples:
        >>> q = weighted_focal_minimiser([0.5, 0.3, 0.2], gamma=2.0, class_weights=[1, 2, 4])
        >>> np.exp(weighted_focal_log_probs(np.log(q), gamma=2.0, class_weights=[1, 2, 4])).round(4)
        array([0.5, 0.3, 0.2])
    """
    log_probs = focal_log_probs(logits, gamma)
    shift = log_class_weights(class_weights, log_probs.shape[-1])
    return log_softmax(log_probs - _like(shift, log_probs))


def weighted_focal_minimiser(probs: Any, gamma: float, class_weights: Any) -> Any:
    r"""The prediction that minimises the expected focal loss with class weights under the true distribution p.

    It is the q that minimises :math:`-\sum_k a_k p_k(1-q_k)^\gamma\log q_k`: `focal_minimiser` of a p over its sum.

    Args:
        probs: (..., K) distributions.
        gamma: >= 0; for K = 2 >= -1.
        class_weights: (K,), > 0; or, for two classes, alpha in (0, 1).

    Returns:
        (..., K), NumPy or torch as the input.

    Raises:
        ValueError: probs that are not distributions, gamma out of range, weights that are not K positive numbers.

    Examples:
        >>> weighted_focal_minimiser([0.4, 0.6], gamma=2.0, class_weights=0.25).round(4)
        array([0.5644, 0.4356])
    """
    probs = _checked(probs)
    return focal_minimiser(_reweighted(probs, np.exp(log_class_weights(class_weights, probs.shape[-1]))), gamma)


def prior_shift(probs: Any, old: Any, new: Any) -> Any:
    r"""Probabilities under new class priors, from those under the old (Elkan 2001 Theorem 2; Saerens et al. 2002).

    .. math:: p'_k = \frac{p_k\,\pi'_k/\pi_k}{\sum_j p_j\,\pi'_j/\pi_j}

    It assumes that only the priors change, not how each class looks, and that probs are calibrated under the old ones.

    Args:
        probs: (..., K) distributions; or of the positive class alone, where old and new are numbers: of any shape whose
            last axis is not 2.
        old: priors (K,) of the data that the model was trained on, > 0; or the old prevalence, in (0, 1).
        new: priors (K,), >= 0; or the new prevalence, in [0, 1].

    Returns:
        As probs, NumPy or torch.

    Raises:
        ValueError: probs or priors that are not distributions; a prior of 0 where there were samples of the class only.

    Examples:
        >>> prior_shift([0.5, 0.9], old=0.5, new=0.1).round(3).tolist()  # scores of the positive class
        [0.1, 0.5]
        >>> prior_shift([[0.5, 0.3, 0.2]], old=[1 / 3] * 3, new=[0.2, 0.2, 0.6]).round(4)
        array([[0.3571, 0.2143, 0.4286]])
    """
    if np.ndim(to_numpy(old)) == 0:
        was, now = _prevalence(old, "old"), _prevalence(new, "new")
        priors = np.array([1 - was, was]), np.array([1 - now, now])
        both, of_one = _both(probs)
        found = _reweighted(both, priors[1] / priors[0])
        return found[..., 1] if of_one else found
    probs = _checked(probs)
    before, after = (_priors(value, probs.shape[-1], name) for value, name in ((old, "old"), (new, "new")))
    return _reweighted(probs, after / before)


def estimate_priors(probs: Any, old: Any) -> Any:
    r"""Class priors of unlabelled data by maximum likelihood (Saerens, Latinne and Decaestecker 2002, section 2.2).

    They maximise :math:`\frac1n\sum_i\log\sum_k\pi'_k\,p_{ik}/\pi_k`, which is concave, by EM steps, extrapolated
    (Varadhan and Roland 2008). They stop where the gradient proves that the maximum is at most 1e-10 higher. Calibrate
    first: the estimate takes probs as true under the old priors (Alexandari, Kundaje and Shrikumar 2020).

    Args:
        probs: (n, K) distributions of samples drawn under the new priors, calibrated under the old; or (n,), of the
            positive class, where old is a number.
        old: priors (K,) of the labelled data, > 0; or the old prevalence, in (0, 1).

    Returns:
        The new priors (K,); or the new prevalence.

    Raises:
        ValueError: probs or old that are not distributions.
        RuntimeError: no convergence, where classes can hardly be told apart.

    Examples:
        >>> round(estimate_priors([0.05, 0.1, 0.2, 0.3, 0.9], old=0.5), 3)  # their mean is 0.31
        0.152
    """
    if np.ndim(to_numpy(old)) == 0:
        was = _prevalence(old, "old")
        return float(estimate_priors(_both(to_numpy(probs))[0], [1 - was, was])[1])
    probs = np.asarray(_checked(to_numpy(probs)), dtype=np.float64)
    if probs.ndim != 2:
        raise ValueError(f"probs must have shape (n, K), or (n,) where old is a number. Got {probs.shape}.")
    before = _priors(old, probs.shape[-1], "old")
    likelihood = probs / before

    def em_step(priors: np.ndarray) -> np.ndarray:
        return priors * ((1 / (likelihood @ priors)) @ likelihood) / len(likelihood)

    priors = before
    for _ in range(_STEPS):
        one = em_step(priors)
        if (one / priors).max() - 1 <= _GAP:  # the gradient: the maximum is at most this much higher
            return one / one.sum()
        two = em_step(one)
        first, second = one - priors, (two - one) - (one - priors)
        length = max(1.0, math.sqrt(first @ first / max(second @ second, 1e-300)))
        far = np.maximum(priors + 2 * length * first + length**2 * second, two / 10)
        far /= far.sum()
        gain = np.log(likelihood @ far) - np.log(likelihood @ two)
        priors = em_step(far) if gain.mean() > 0 else two
    raise RuntimeError(
        f"the EM steps must converge within {_STEPS:,}. They did not: probs hardly separate the classes."
    )


def _prevalence(value: Any, name: str) -> float:
    """A number in [0, 1], `old` in (0, 1), as a float. Else ValueError."""
    number = check_number(value, name)
    if not 0 <= number <= 1 or (name == "old" and number in (0, 1)):
        where = "(0, 1)" if name == "old" else "[0, 1]"
        raise ValueError(f"{name} must be a prevalence, in {where}. Got {number:g}.")
    return number


def _priors(values: Any, classes: int, name: str) -> np.ndarray:
    priors = np.asarray(to_numpy(values), dtype=np.float64)
    if priors.shape != (classes,):
        raise ValueError(f"{name} must be {classes} priors, one a class. Got shape {priors.shape}.")
    check_probs(priors, name=name)
    if name == "old" and not (priors > 0).all():
        raise ValueError(f"old must be positive. Got {priors.tolist()}.")
    return priors


def _checked(probs: Any) -> Any:
    probs = _as_array(probs)
    check_probs(probs)
    return probs


def _both(probs: Any) -> tuple[Any, bool]:
    """Distributions (..., 2) as they are; of probabilities of the positive class those of both, and True."""
    positive = _as_array(probs)
    if len(positive.shape) > 1 and positive.shape[-1] == 2:
        return _checked(positive), False
    check_logits(positive, classes=False, name="probs")
    low, high = float(positive.min()), float(positive.max())
    if low < 0 or high > 1:
        raise ValueError(f"probs must lie in [0, 1]. Got values from {low:g} to {high:g}.")
    return array_namespace(positive).stack([1 - positive, positive], axis=-1), True


def _as_array(values: Any) -> Any:
    if is_torch_array(values):
        return values
    array = np.asarray(values)
    return array.astype(np.float32 if array.dtype == np.float32 else np.float64, copy=False)


def _reweighted(probs: Any, weights: np.ndarray) -> Any:
    """probs times weights, over their sum."""
    found = probs * _like(weights / weights.max(), probs)
    sums = total(found)
    if bool((sums == 0).any()):
        raise ValueError("new must be positive for some class that each sample may be of. Got 0 for all of one's.")
    return found / sums


def _like(values: np.ndarray, array: Any) -> Any:
    return array_namespace(array).asarray(values, dtype=array.dtype, device=getattr(array, "device", None))
