"""A scikit-learn classifier whose probabilities are calibrated on its out-of-fold scores."""

from __future__ import annotations

from importlib import import_module
from typing import Any, Self

import numpy as np
from sklearn import get_config
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, clone
from sklearn.frozen import FrozenEstimator
from sklearn.model_selection import StratifiedGroupKFold, check_cv, cross_val_predict
from sklearn.preprocessing import LabelEncoder
from sklearn.utils import get_tags, indexable
from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping, process_routing
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import _check_sample_weight, check_is_fitted, column_or_1d, has_fit_parameter

from focal_lib.calibration.calibrators.base import Calibrator
from focal_lib.calibration.calibrators.fit_samples import two_columns
from focal_lib.calibration.logit_sets import Given, LogitSet, as_logits, floor_of_zeros, raise_zeros
from focal_lib.calibration.methods import build, parse

_NO_SCORE = -1e30  # cross_val_predict gives less to a class that a fold's estimator has not seen


class CalibratedClassifier(ClassifierMixin, MetaEstimatorMixin, BaseEstimator):
    """A classifier and a calibrator of its scores, fitted by cross-validation on all data.

    The calibrator is fitted on the scores that each sample gets from an estimator fitted on the other folds; then the
    estimator is fitted on all samples. (CalibratedClassifierCV of scikit-learn with ensemble=False.) Scores are those
    of decision_function, where there is one, else the logarithms of predict_proba. There a 0, as of a forest whose
    trees agree, is read as half of the smallest other probability, ``calibrator_.floor_``.

    Args:
        estimator: a classifier of scikit-learn's protocol; in a FrozenEstimator it is not fitted, and all samples are
            to calibrate.
        method: name of a calibration method, with the objective after a colon, as 'platt' or 'temperature:ece'; a
            calibrator; or 'advised': what `calibrate` recommends by cross-fitting on these scores. None is 'platt' for
            two classes, as a temperature moves no share of events, and 'temperature' for more.
        cv: folds, as in scikit-learn: a number, a splitter, an iterable, None for 5; or 'prefit': the estimator is
            fitted already.
        n_jobs: processes for the folds.

    Fitted attributes:
        ``estimator_``, ``calibrator_``, ``classes_``; ``n_features_in_`` and ``feature_names_in_`` of the estimator.

    Raises:
        ValueError: an unknown method, data that the estimator or the calibrator refuses.

    Examples:
        >>> from sklearn.linear_model import LogisticRegression
        >>> X, y = np.array([[0.0], [1.0], [2.0], [3.0]] * 10), np.array(["no", "no", "yes", "yes"] * 10)
        >>> fit = CalibratedClassifier(LogisticRegression(), "platt", cv=2).fit(X, y)
        >>> fit.predict([[0.0], [3.0]]).tolist()
        ['no', 'yes']
    """

    def __init__(self, estimator: Any, method: Any = None, *, cv: Any = 5, n_jobs: int | None = None) -> None:
        self.estimator = estimator
        self.method = method
        self.cv = cv
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: Any, sample_weight: Any = None, *, groups: Any = None, **params: Any) -> Self:
        """Fit estimator and calibrator.

        Args:
            X: samples, as the estimator takes them.
            y: labels (n,), of any sortable kind.
            sample_weight: (n,), of the calibrator, and of the estimator where its fit has them.
            groups: (n,); with a number as `cv` no group is in two folds, and other splitters are handed them.
            params: other metadata for the estimator's fit; see scikit-learn's metadata routing.
        """
        if y is None:
            raise ValueError("This estimator requires y to be passed, but the target y is None: give the labels.")
        y = column_or_1d(y, warn=True)
        check_classification_targets(y)
        X, y, sample_weight, groups = indexable(X, y, sample_weight, groups)
        if sample_weight is not None:
            sample_weight = _check_sample_weight(sample_weight, np.empty((len(y), 0)), ensure_non_negative=True)
        encoder = LabelEncoder().fit(y)
        self.classes_, labels = encoder.classes_, encoder.transform(y)
        if len(self.classes_) == 0:
            raise ValueError("Found array with 0 sample(s) while a minimum of 1 is required: y must not be empty.")
        if len(self.classes_) < 2:
            raise ValueError(f"y must hold at least two classes. Got 1 class, {self.classes_[0]}.")
        if self.cv == "prefit" or isinstance(self.estimator, FrozenEstimator):
            self.estimator_ = self.estimator
            if not np.array_equal(self.estimator_.classes_, self.classes_):
                raise ValueError(
                    f"y must hold the classes of the fitted estimator, {self.estimator_.classes_.tolist()[:5]}. "
                    f"Got {self.classes_.tolist()[:5]}."
                )
            scores = np.asarray(getattr(self.estimator_, _response(self.estimator_))(X))
        else:
            scores = self._fit_out_of_fold(X, y, sample_weight, groups, params)
        self.calibrator_ = self._calibrator(self._as_logits(scores), labels, sample_weight, groups)
        for name in ("n_features_in_", "feature_names_in_"):
            if hasattr(self.estimator_, name):
                setattr(self, name, getattr(self.estimator_, name))
        return self

    def predict_proba(self, X: Any) -> np.ndarray:
        """Calibrated probabilities (n, K), in the order of `classes_`."""
        check_is_fitted(self)
        scores = getattr(self.estimator_, _response(self.estimator_))(X)
        return np.asarray(self.calibrator_.predict_proba(self._as_logits(scores)))

    def predict(self, X: Any) -> np.ndarray:
        """The most probable class, (n,)."""
        index = self.predict_proba(X).argmax(1)
        return np.asarray(self.classes_[index])

    def get_metadata_routing(self) -> MetadataRouter:
        """The metadata of `fit`, and of the estimator's fit."""
        to_fit = MethodMapping().add(caller="fit", callee="fit")
        return MetadataRouter(owner=self).add_self_request(self).add(estimator=self.estimator, method_mapping=to_fit)

    def __sklearn_tags__(self) -> Any:
        tags, own = super().__sklearn_tags__(), get_tags(self.estimator)
        tags.input_tags.sparse, tags.input_tags.pairwise = own.input_tags.sparse, own.input_tags.pairwise
        tags.input_tags.allow_nan = own.input_tags.allow_nan
        return tags

    def _fit_out_of_fold(self, X: Any, y: Any, sample_weight: Any, groups: Any, params: dict[str, Any]) -> np.ndarray:
        """Fit the estimator on all samples; the scores of each by an estimator of the other folds."""
        weights = {} if sample_weight is None else {"sample_weight": sample_weight}
        if get_config()["enable_metadata_routing"]:
            to_fit = dict(process_routing(self, "fit", **weights, **params).estimator.fit)
        else:
            to_fit = params | (weights if has_fit_parameter(self.estimator, "sample_weight") else {})
        cv = self.cv
        if groups is not None and (cv is None or isinstance(cv, int)):
            cv = StratifiedGroupKFold(cv or 5)
        folds = list(check_cv(cv, y, classifier=True).split(X, y, groups))
        name = _response(self.estimator)
        scores = cross_val_predict(
            clone(self.estimator), X, y, cv=folds, n_jobs=self.n_jobs, method=name, params=to_fit or None
        )
        self.estimator_ = clone(self.estimator).fit(X, y, **to_fit)
        return scores

    def _as_logits(self, scores: Any) -> np.ndarray:
        """Logits (n, K), or log-odds (n,), of what the estimator gives."""
        scores = np.asarray(scores)
        if _response(self.estimator_) == "predict_proba":
            return as_logits(scores, "probs")
        unseen = scores < _NO_SCORE
        if not unseen.any():
            return scores
        return np.where(unseen, np.where(unseen, np.inf, scores).min(-1, keepdims=True), scores)

    def _calibrator(self, scores: np.ndarray, labels: np.ndarray, weights: Any, groups: Any) -> Calibrator:
        given: Given = "probs" if _response(self.estimator_) == "predict_proba" else "logits"
        found: Calibrator
        if str(self.method).strip().lower() == "advised":
            calibrate = import_module("focal_lib.tool").calibrate  # it depends on this package
            codes = None if groups is None else np.unique(np.asarray(groups), return_inverse=True)[1]
            data = LogitSet(two_columns(scores), labels, groups=codes, weights=weights)
            found = calibrate(data, folds=5, resamples=50, force=True, given=given).calibrator
            return found
        if isinstance(self.method, Calibrator):
            found = clone(self.method)
        else:
            named = self.method or ("platt" if two_columns(scores).shape[-1] == 2 else "temperature")
            found = build(*parse([named])[-1])
        floor = floor_of_zeros(scores)[0] if given == "probs" else None
        found.fit(raise_zeros(scores, floor), labels, weights).floor_ = floor
        return found


def _response(estimator: Any) -> str:
    """The method that gives scores.

    Raises:
        ValueError: the estimator has none.
    """
    for name in ("decision_function", "predict_proba"):
        if hasattr(estimator, name):
            return name
    raise ValueError(f"estimator must have decision_function or predict_proba. {type(estimator).__name__} has neither.")
