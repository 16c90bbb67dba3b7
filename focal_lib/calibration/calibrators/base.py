"""Base class of the calibrators: scikit-learn's conventions, fit and prediction."""

from __future__ import annotations

import inspect
import math
import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from focal_lib.arrays import array_namespace, is_compiling, is_torch_array, to_numpy
from focal_lib.calibration.calibrators.fit_samples import FitSamples, is_sliced_as_it_is, plain_array, two_columns
from focal_lib.calibration.logit_sets import raise_zeros
from focal_lib.threads import few_threads
from focal_lib.validation import check_logits

if TYPE_CHECKING:
    from torch import nn


class Estimator:
    """Parameters, tags, score and metadata routing, as in BaseEstimator and ClassifierMixin, imported when used.

    Subclasses take their parameters by name and store each, unchanged, as an attribute of that name.
    """

    if TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            """fit, predict and the fitted attributes, which subclasses define."""

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Parameters by name; none is an estimator, so `deep` has no effect."""
        return {name: getattr(self, name) for name in inspect.signature(type(self)).parameters}

    def set_params(self, **params: Any) -> Self:
        """Change parameters. ValueError: an unknown name."""
        if unknown := [name for name in params if name not in self.get_params()]:
            raise ValueError(f"parameters must be of {', '.join(self.get_params()) or 'none'}. Got {unknown[0]}.")
        for name, value in params.items():
            setattr(self, name, value)
        return self

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """The accuracy of `predict`."""
        from sklearn.metrics import accuracy_score

        return float(accuracy_score(y, self.predict(X), sample_weight=sample_weight))

    def __repr__(self) -> str:
        known = inspect.signature(type(self)).parameters
        changed = [f"{n}={v!r}" for n, v in self.get_params().items() if repr(v) != repr(known[n].default)]
        return f"{type(self).__name__}({', '.join(changed)})"

    def __sklearn_tags__(self) -> Any:
        return self._as_scikit_learns().__sklearn_tags__()

    def get_metadata_routing(self) -> Any:
        """The requests made by `set_fit_request` and `set_score_request`."""
        return self._as_scikit_learns().get_metadata_routing()

    def set_fit_request(self, *, sample_weight: bool | str | None) -> Self:
        """Whether meta-estimators pass sample_weight to `fit`; see scikit-learn's metadata routing."""
        return self._request("fit", sample_weight)

    def set_score_request(self, *, sample_weight: bool | str | None) -> Self:
        """Whether meta-estimators pass sample_weight to `score`."""
        return self._request("score", sample_weight)

    def _request(self, method: str, sample_weight: bool | str | None) -> Self:
        asked = getattr(self._as_scikit_learns(), f"set_{method}_request")(sample_weight=sample_weight)
        self._metadata_request = asked._metadata_request
        for part in (asked._metadata_request, *vars(asked._metadata_request).values()):
            if hasattr(part, "owner"):
                part.owner = self  # which can be pickled
        return self

    def _as_scikit_learns(self) -> Any:
        """A classifier of scikit-learn with this one's name and requests."""
        from sklearn.base import BaseEstimator, ClassifierMixin

        kind: Any = type(self)
        found = type(kind.__name__, (ClassifierMixin, BaseEstimator), {"fit": kind.fit})()
        if hasattr(self, "_metadata_request"):
            found._metadata_request = self._metadata_request
        return found

    def _check_is_fitted(self) -> None:
        if not any(name.endswith("_") for name in vars(self)):
            from sklearn.exceptions import NotFittedError

            raise NotFittedError(f"This {type(self).__name__} is not fitted yet: call fit before it predicts.")


class Calibrator(Estimator):
    """Classifier of logits: fit(X, y), then predict_proba(X), which returns the kind of array that X is.

    Fitted attributes:
        ``n_classes_``: K, the columns of the logits.
        ``classes_``: (K,), the label of each column: 0 ... K-1, or the labels of fit in sorted order.
        ``n_features_in_``: K. ``feature_names_in_``: names of the columns, if X in fit was a DataFrame.
    """

    keeps_the_class = False  # whether the most probable class is that of the largest logit, for any fit
    n_classes_: int
    classes_: np.ndarray
    layout_: str = "classes"  # of the scores it is for, see focal_lib.tool.inputs.layouts; calibrate sets it
    given_: str = "logits"  # what calibrate was given; new scores are taken for the same
    floor_: float | None = None  # what a probability of 0 is read as, see raise_zeros
    score_columns_: np.ndarray | None = None  # names in the table of calibrate; new tables are to have them
    class_names_: np.ndarray | None = None  # (K,) of the columns, where the file of calibrate had names

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit on validation logits and labels.

        Args:
            X: logits (n, K), a column for each class: array, DataFrame, memory map, tensor or Dask array. Of two
                classes also one score each, (n,): the log-odds of the second class, as two columns 0 and X.
            y: labels (n,): column indices 0 ... K-1; or K distinct labels of any sortable kind, which name the columns
                in sorted order.
            sample_weight: (n,), >= 0; weight 2 counts a sample twice, weight 0 leaves it out.

        Warns:
            UserWarning: X looks like probabilities.

        Raises:
            ValueError: bad data, weights or options.
        """
        self._check_options()
        samples = FitSamples(X, y, sample_weight)
        if samples.like_probs:
            warnings.warn(
                "X must be logits, and looks like probabilities, whose rows sum to 1: fit and predict on their "
                "logarithms, as_logits(X, 'probs').",
                stacklevel=2,
            )
        if not is_sliced_as_it_is(X):
            _check_names_of_columns(self, X, reset=True)
            self._check_order_of_columns(samples.class_labels)
        with few_threads(len(samples) * samples.classes):
            self._fit(samples)
        self.n_classes_, self.classes_ = samples.classes, samples.class_labels
        return self

    @property
    def n_features_in_(self) -> int:
        return self.n_classes_

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.poor_score = True  # columns that are no scores of the classes tell nothing
        return tags

    def predict_log_proba(self, X: Any) -> Any:
        """Calibrated log-probabilities, (n, K), of logits (n, K), or of scores (n,) of the second class of two.

        Raises:
            NotFittedError: before fit.
            ValueError: logits that are not finite, or not K columns.
        """
        self._check_is_fitted()
        X = two_columns(X) if self.n_classes_ == 2 else X
        if hasattr(X, "map_blocks"):
            return X.rechunk({1: -1}).map_blocks(self._of_block, meta=np.empty((0, 0), _width(X.dtype)))
        wide = raise_zeros(self._checked(X), self.floor_)
        if is_compiling():  # threads cannot be followed
            return self._log_probs(wide)
        with few_threads(math.prod(wide.shape)):
            log_probs = self._log_probs(wide)
        return log_probs if is_torch_array(log_probs) else log_probs.astype(wide.dtype, copy=False)

    def predict_proba(self, X: Any) -> Any:
        """Calibrated probabilities (n, K) of logits (n, K) or scores (n,); errors as predict_log_proba.

        Of scores (n,), too, there are two columns, as in scikit-learn; `apply_to_scores` gives the second alone.
        """
        log_probs = self.predict_log_proba(X)
        return log_probs.exp() if is_torch_array(log_probs) else np.exp(log_probs)

    def predict(self, X: Any) -> Any:
        """The most probable class, one of `classes_`, (n,)."""
        if self.keeps_the_class and not hasattr(X, "map_blocks"):  # of logits that rounding makes equal, too
            self._check_is_fitted()
            index = self._checked(two_columns(X) if self.n_classes_ == 2 else X).argmax(-1)
        else:
            index = self.predict_log_proba(X).argmax(-1)
        if np.array_equal(self.classes_, np.arange(self.n_classes_)):
            return index
        if is_torch_array(index) and self.classes_.dtype.kind in "biuf":
            return array_namespace(index).asarray(self.classes_, device=index.device)[index]
        if hasattr(index, "map_blocks"):
            return index.map_blocks(self.classes_.__getitem__, dtype=self.classes_.dtype)
        return self.classes_[to_numpy(index)]

    def lazy_proba(self, logits: Any) -> LazyProbabilities:
        """Calibrated probabilities, computed on slicing: for metrics of a memory map, chunk by chunk."""
        self._check_is_fitted()
        return LazyProbabilities(self, logits)

    def to_module(self) -> nn.Module:
        """A torch module, logits (..., K) -> probabilities (..., K), for deployment; `write_onnx` exports it.

        Raises:
            NotFittedError: before fit.
            TypeError: the method has no module: histogram binning, isotonic regression, ...
            ImportError: torch is not installed.
        """
        self._check_is_fitted()
        if self.floor_ is None:
            return self._module()
        from focal_lib.calibration.calibrators.torch_module import FlooredModule

        return FlooredModule(self._module(), self.floor_)

    def _check_options(self) -> None:
        """Raise ValueError for an invalid option."""

    def _fit(self, samples: FitSamples) -> None:
        raise NotImplementedError

    def _module(self) -> nn.Module:
        raise TypeError(
            "temperature, focal temperature, ensemble temperature, Platt, vector and matrix scaling have modules. "
            f"{type(self).__name__} has none."
        )

    def _log_probs(self, logits: Any) -> Any:
        raise NotImplementedError

    def _of_block(self, logits: np.ndarray) -> np.ndarray:
        return self.predict_log_proba(logits) if len(logits) else logits.astype(_width(logits.dtype))

    def _checked(self, logits: Any) -> Any:
        """Checked logits in float32 or float64."""
        if is_torch_array(logits):
            narrow = logits.dtype.itemsize < 4 or not logits.is_floating_point()
            logits = logits.float() if narrow else logits
        else:
            if not is_sliced_as_it_is(logits):
                _check_names_of_columns(self, logits)
            logits = np.asarray(plain_array(logits, self))
            logits = logits.astype(_width(logits.dtype), copy=False) if logits.dtype.kind in "fiu" else logits
        if (columns := logits.shape[-1]) != self.n_classes_:
            raise ValueError(
                f"X has {columns} features, but {type(self).__name__} is expecting {self.n_classes_} features as "
                f"input: logits must have the {self.n_classes_} classes of fit. Got shape {tuple(logits.shape)}."
            )
        check_logits(logits)
        return logits

    def _check_order_of_columns(self, class_labels: np.ndarray) -> None:
        """Refuse columns that have the labels as names, but in another order."""
        columns, labels = list(getattr(self, "feature_names_in_", ())), [str(label) for label in class_labels]
        if columns != labels and sorted(columns) == sorted(labels):
            raise ValueError(
                f"columns must be in the sorted order of the labels: give X[{labels[:5]}{'...' * (len(labels) > 5)}]. "
                f"Got {columns[:5]}."
            )


def _check_names_of_columns(calibrator: Calibrator, X: Any, *, reset: bool = False) -> None:
    """Names of a DataFrame's columns, as in scikit-learn: kept at fit (`reset`), compared at prediction."""
    if hasattr(X, "columns") or hasattr(X, "__dataframe__") or hasattr(calibrator, "feature_names_in_"):
        from sklearn.utils.validation import _check_feature_names

        _check_feature_names(calibrator, X, reset=reset)


@dataclass(frozen=True)
class LazyProbabilities:
    """Probabilities (n, K) of logits that may exceed memory; sliced like an array."""

    calibrator: Calibrator
    logits: Any

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(self.logits.shape)

    @property
    def ndim(self) -> int:
        return len(self.shape)

    @property
    def dtype(self) -> np.dtype:
        return np.dtype(_width(self.logits.dtype))

    def __getitem__(self, index: Any) -> np.ndarray:
        return self.calibrator.predict_proba(np.asarray(self.logits[index]))


def _width(dtype: Any) -> type:
    return np.float32 if dtype == np.float32 else np.float64
