"""scikit-learn's interface of a classifier. Its import takes longer than most fits, so it waits for the first use."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any, Self


class Estimator:
    """Parameters, tags, score and metadata routing, as in BaseEstimator and ClassifierMixin.

    Subclasses take their parameters by name and store each, unchanged, as an attribute of that name.
    """

    if TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            """fit, predict and the fitted attributes, which subclasses define."""

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Parameters by name; none is an estimator, so `deep` has no effect."""
        return {name: getattr(self, name) for name in inspect.signature(type(self)).parameters}

    def set_params(self, **params: Any) -> Self:
        """Change parameters.

        Raises:
            ValueError: an unknown name.
        """
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
