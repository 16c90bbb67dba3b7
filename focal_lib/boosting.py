r"""Focal loss as an objective of LightGBM and XGBoost, with its initial score and the way back to probabilities.

It needs neither of the two, nor torch: the objective is a function of arrays.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from focal_lib.arrays import log_sigmoid, logsumexp, sigmoid
from focal_lib.theory.entropy_ratio import bernoulli
from focal_lib.theory.maps import inverse_focal_log_probs
from focal_lib.theory.prior_shift import log_class_weights, weighted_focal_log_probs, weighted_focal_logit
from focal_lib.validation import check_gamma, check_logits

__all__ = ["FocalObjective"]

_LEAST = 1e-16  # of a second derivative, as in XGBoost


class FocalObjective:
    r"""Focal loss with class weights, :math:`-a_y(1-q_y)^\gamma\log q_y`, as an objective for boosted trees.

    Of two classes q = sigmoid(raw score); of more, raw scores (n, K) and q = softmax. The gradient is
    :math:`a_y\,g(q_y)\,(q_k - [k = y])` with :math:`g(q) = (1-q)^\gamma(1 + \gamma b(q))` (M20 Prop. 1). The second
    derivative is negative where the label is improbable, which Newton's step of a leaf cannot have. Its upper bound is
    given in its place,

    .. math:: h_k = (\gamma + 1)\,a_y\,g(q_y)\,q_k(1-q_k) \quad\Bigl(\text{times } \tfrac{K}{K-1} \text{ for raw
              scores } (n, K)\Bigr),

    which is positive, tight as :math:`q_y \to 1`, and that of log-loss for gamma = 0. No step of a leaf is longer than
    Newton's, nor than 1/(gamma + 1) of the longest that log-loss would make with one of its samples. What the libraries
    ask of a leaf, `min_sum_hessian_in_leaf` or `min_child_weight`, is asked of the sum of h.

    Args:
        gamma: a number >= 0; 0 is log-loss.
        class_weights: (K,), > 0; or, for two classes, alpha in (0, 1) for (1 - alpha, alpha) (Lin et al. 2017).
            scale_pos_weight c is (1, c). None: equal.

    Raises:
        ValueError: gamma negative or not finite.

    Examples:
        With LightGBM, ``LGBMClassifier(objective=objective)`` or ``lgb.train({"objective": objective}, data)``; with
        XGBoost, ``XGBClassifier(objective=objective)`` or ``xgb.train(parameters, data, obj=objective)``.

        >>> objective = FocalObjective(gamma=2.0, class_weights=0.25)
        >>> gradient, hessian = objective(np.array([0, 1]), np.array([0.0, 0.0]))  # labels, raw scores
        >>> gradient.round(4).tolist(), hessian.round(4).tolist()
        ([0.2237, -0.0746], [0.3356, 0.1119])
        >>> start = objective.initial_score([0, 0, 0, 1])
        >>> round(start, 4), round(float(objective.probabilities(start)), 4)
        (-0.8199, 0.25)
    """

    def __init__(self, gamma: float, class_weights: Any = None) -> None:
        self.gamma = check_gamma(gamma, minimum=0.0)
        self.class_weights = class_weights

    def __repr__(self) -> str:
        weights = "" if self.class_weights is None else f", class_weights={self.class_weights!r}"
        return f"FocalObjective(gamma={self.gamma:g}{weights})"

    def __call__(self, first: Any, second: Any, sample_weight: Any = None) -> tuple[np.ndarray, np.ndarray]:
        """Gradient and second derivative of each sample's loss by its raw score, of the raw scores' shape.

        Args:
            first, second: labels and raw scores, as the scikit-learn interfaces call; or raw scores and the Dataset or
                DMatrix, as `train` calls, which has labels and weights. Labels are 0 ... K-1; of two classes also
                probabilities of class 1.
            sample_weight: (n,), >= 0, or None.

        Raises:
            ValueError: other labels or shapes, raw scores that are not finite.
        """
        if hasattr(second, "get_label"):
            labels, raw, sample_weight = second.get_label(), first, second.get_weight()
        else:
            labels, raw = first, second
        raw, labels = np.asarray(raw, dtype=np.float64), np.asarray(labels)
        check_logits(raw, classes=raw.ndim == 2, name="raw scores")
        if raw.ndim > 2 or labels.shape != raw.shape[:1]:
            raise ValueError(
                f"raw scores and labels must have shapes (n,) or (n, K) and (n,). Got {raw.shape} and {labels.shape}."
            )
        found = self._of_two_classes(raw, labels) if raw.ndim == 1 else self._of_many(raw, labels)
        if (weights := _weights(sample_weight, len(raw))) is not None:
            found = found * (weights if raw.ndim == 1 else weights[:, None])
        return found[0], found[1]

    def initial_score(self, labels: Any, sample_weight: Any = None) -> Any:
        """The constant raw score of least mean loss, a number for labels of two classes, else (K,).

        With an objective of one's own neither library finds it. Both take it for each sample, as ``np.full(n, start)``,
        or ``np.tile(start, (n, 1))`` of (K,): LightGBM as `init_score`, which its predictions leave out, so add it to
        them; XGBoost as `base_margin`, of the data to train on and of those to predict.

        Raises:
            ValueError: labels that are not 0 ... K-1, or a class without samples.
        """
        labels, weights = np.asarray(labels), _weights(sample_weight, np.size(labels))
        if labels.ndim != 1 or not labels.size:
            raise ValueError(f"labels must have shape (n,), n > 0. Got {labels.shape}.")
        classes = 2 if labels.max() <= 1 else int(labels.max()) + 1
        if classes == 2:
            prevalence = np.average(_probabilities_of_one(labels), weights=weights)
            priors = np.array([1 - prevalence, prevalence])
        else:
            priors = np.bincount(_class_numbers(labels, classes), weights, classes)
            priors = priors / priors.sum()
        if not (priors > 0).all():
            raise ValueError(f"labels must be of every class, 0 ... {classes - 1}. Got shares {priors.tolist()}.")
        log_priors = np.log(priors) + self._log_weights(classes)
        start = inverse_focal_log_probs(log_priors - logsumexp(log_priors), self.gamma)
        return float(start[1] - start[0]) if classes == 2 else start

    def probabilities(self, raw: Any) -> Any:
        """True probabilities where the loss is least in the mean: of class 1 for raw scores (n,), else (n, K).

        `theory.weighted_focal_logit` or `weighted_focal_log_probs`: sigmoid or softmax alone would give those of the
        loss, which are nearer to equal ones and moved by the class weights.

        Raises:
            ValueError: raw scores that are not finite.
        """
        raw = np.asarray(raw)
        if raw.ndim == 2:
            return np.exp(weighted_focal_log_probs(raw, self.gamma, np.exp(self._log_weights(raw.shape[-1]))))
        return sigmoid(weighted_focal_logit(raw, self.gamma, np.exp(self._log_weights(2))))

    def _log_weights(self, classes: int) -> np.ndarray:
        return np.zeros(classes) if self.class_weights is None else log_class_weights(self.class_weights, classes)

    def _of_two_classes(self, s: np.ndarray, labels: np.ndarray) -> np.ndarray:
        """(2, n): gradient and second derivative."""
        y, (weight_0, weight_1) = _probabilities_of_one(labels), np.exp(self._log_weights(2))
        of_1, of_0 = y * weight_1 * _gain(s, self.gamma), (1 - y) * weight_0 * _gain(-s, self.gamma)
        q, rest = sigmoid(s), sigmoid(-s)
        return np.stack([of_0 * q - of_1 * rest, np.maximum((self.gamma + 1) * (of_0 + of_1) * q * rest, _LEAST)])

    def _of_many(self, z: np.ndarray, labels: np.ndarray) -> np.ndarray:
        """(2, n, K): gradient and second derivative."""
        n, classes = z.shape
        y = _class_numbers(labels, classes)
        of_label = np.arange(n), y
        t = _log_odds(z)
        gain = np.exp(self._log_weights(classes))[y] * _gain(t[of_label], self.gamma)
        q, rest = sigmoid(t), sigmoid(-t)
        slope = q.copy()
        slope[of_label] = -rest[of_label]
        bound = (self.gamma + 1) * classes / (classes - 1) * gain[:, None] * q * rest
        return np.stack([gain[:, None] * slope, np.maximum(bound, _LEAST)])


def _gain(t: np.ndarray, gamma: float) -> np.ndarray:
    """g(q) = (1-q)^gamma (1 + gamma b(q)) for q = sigmoid(t)."""
    return np.exp(gamma * log_sigmoid(-t) + np.log1p(gamma * bernoulli(-log_sigmoid(t))))


def _log_odds(z: np.ndarray) -> np.ndarray:
    """log q_k / (1 - q_k) of each class, (n, K), also where q_k rounds to 1."""
    is_top = np.arange(z.shape[1]) == z.argmax(1)[:, None]
    others = logsumexp(np.where(is_top, -np.inf, z))  # of the top class
    top = z.max(1, keepdims=True)
    rest = np.where(is_top, 0.0, np.logaddexp(others, top))  # of another class, too large by its own share
    own = np.where(is_top, -np.inf, z - rest)  # at most log 1/2
    return z - np.where(is_top, others, rest + np.log1p(-np.exp(own)))


def _probabilities_of_one(labels: np.ndarray) -> np.ndarray:
    """Labels of two classes as probabilities of class 1; ValueError unless in [0, 1]."""
    y = labels.astype(np.float64)
    low, high = float(y.min()), float(y.max())
    if not (low >= 0 and high <= 1):
        raise ValueError(f"labels of two classes must lie in 0 ... 1. Got values from {low:g} to {high:g}.")
    return y


def _class_numbers(labels: np.ndarray, classes: int) -> np.ndarray:
    """Labels as whole numbers, which LightGBM and XGBoost keep as floats; ValueError unless in 0 ... K-1."""
    low, high = float(labels.min()), float(labels.max())
    if not (low >= 0 and high < classes and (labels == np.floor(labels)).all()):
        raise ValueError(f"labels must be whole numbers in 0 ... {classes - 1}. Got values from {low:g} to {high:g}.")
    return labels.astype(np.int64)


def _weights(sample_weight: Any, n: int) -> np.ndarray | None:
    """Sample weights (n,); None where there are none, an empty array in XGBoost."""
    if sample_weight is None or not np.size(sample_weight):
        return None
    weights = np.asarray(sample_weight, dtype=np.float64)
    if weights.shape != (n,) or not (np.isfinite(weights) & (weights >= 0)).all():
        low = float(weights.min())
        raise ValueError(f"sample_weight must be ({n},), finite and >= 0. Got shape {weights.shape}, least {low:g}.")
    return weights
