"""The way back to probabilities after training with focal loss and class weights, as a calibrator without data."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from focal_lib.calibration.calibrators.base import Calibrator
from focal_lib.calibration.calibrators.fit_samples import FitSamples
from focal_lib.theory.prior_shift import log_class_weights, weighted_focal_log_probs
from focal_lib.validation import check_gamma


class FocalProbabilities(Calibrator):
    r"""True probabilities behind the logits of a model that focal loss with class weights trained, without data.

    :math:`p = \operatorname{softmax}(\log w(q) - \log a)` with q = softmax(z), w of the focal calibration map and a the
    class weights: exact where the training loss is least in the mean (`theory.weighted_focal_log_probs`). A model that
    overfits is elsewhere: fit a temperature on validation samples then.

    Args:
        gamma: of the training loss; 0 is cross-entropy.
        class_weights: (K,), > 0, or for two classes alpha in (0, 1); products of what shifted the classes: weights in
            the loss, ratios of sampling rates, old prior by new prior. None: equal.

    Fitted attributes:
        ``n_classes_``, ``classes_``: see Calibrator.

    Raises:
        ValueError: in fit: gamma below -1, weights that are not K positive numbers, bad logits or labels.

    Examples:
        >>> fit = FocalProbabilities(gamma=2.0, class_weights=0.25).fit()
        >>> fit.predict_proba([[0.0, -0.2587]]).round(3)  # sigmoid(-0.2587) is 0.436
        array([[0.4, 0.6]])
    """

    def __init__(self, gamma: float, class_weights: Any = None) -> None:
        self.gamma = gamma
        self.class_weights = class_weights

    def fit(self, X: Any = None, y: Any = None, sample_weight: Any = None) -> Self:
        """Nothing is estimated: logits X (n, K) tell K where there are no class weights, labels y name the classes.

        Raises:
            ValueError: neither class weights nor logits; bad options, logits or labels.
        """
        if y is not None:
            return super().fit(X, y, sample_weight)
        self._check_options()
        if X is None and self.class_weights is None:
            raise ValueError("fit needs class_weights, or logits, to know how many classes there are. Got neither.")
        many = X is not None and np.ndim(X) > 1
        classes = int(np.shape(X)[-1]) if many else max(2, np.size(self.class_weights))
        log_class_weights(self._weights(classes), classes)
        self.n_classes_, self.classes_ = classes, np.arange(classes)
        return self

    def _check_options(self) -> None:
        check_gamma(self.gamma)

    def _fit(self, samples: FitSamples) -> None:
        log_class_weights(self._weights(samples.classes), samples.classes)

    def _weights(self, classes: int) -> Any:
        return np.ones(classes) if self.class_weights is None else self.class_weights

    def _log_probs(self, logits: Any) -> Any:
        return weighted_focal_log_probs(logits, self.gamma, self._weights(self.n_classes_))

    def _module(self) -> Any:
        from focal_lib.calibration.calibrators.torch_module import WeightedFocalModule

        return WeightedFocalModule(
            self.gamma, np.exp(log_class_weights(self._weights(self.n_classes_), self.n_classes_))
        )
