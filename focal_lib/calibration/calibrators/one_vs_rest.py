"""Calibration methods of other authors, fitted by their libraries, as calibrators like ours.

Each is fitted on p = softmax(z). The fit is kept as plain arrays, so that prediction needs NumPy alone. Where the
fitted rows say nothing, the probability as given stays:

* a class without a label keeps its p_k, and the classes seen share the rest;
* a row where every class seen gets 0 (a step function can do that) keeps its p.

`seen_` holds the classes seen; the other arrays have one entry a class seen. A torch input gives a torch output,
without gradients.
"""

from __future__ import annotations

import warnings
from typing import Any, Literal, Self

import numpy as np
import torch
from scipy.special import log_expit, log_softmax, logsumexp
from sklearn.isotonic import IsotonicRegression
from sklearn.linear_model import LogisticRegression
from torch import Tensor

from focal_lib.calibration.calibrators.base import Calibrator, check_samples

__all__ = ["BetaCalibration", "DirichletCalibration", "HistogramBinning", "IsotonicCalibration"]


class _LibraryCalibrator(Calibrator):
    """Softmax over the classes seen of scores that a subclass fits to log p."""

    def fit(self, logits: Any, labels: Any) -> Self:
        """Fit on validation logits (n, K) and labels (n,), brought into memory."""
        rows = check_samples(logits, labels)
        log_p, y = rows.gather(_log_softmax)
        seen = np.unique(y)
        self._fit(log_p, y, seen)
        self.seen_ = seen
        self._remember_classes(rows.classes)
        return self

    def _log_probs(self, logits: Any) -> Any:
        if isinstance(logits, Tensor):
            dtype = logits.dtype if logits.is_floating_point() else torch.get_default_dtype()
            found = self._log_probs(logits.detach().double().cpu().numpy())
            return torch.as_tensor(found, dtype=dtype, device=logits.device)
        before = log_softmax(np.asarray(logits, dtype=np.float64), -1)
        seen = before[..., self.seen_]
        with np.errstate(divide="ignore", invalid="ignore"):
            scores = self._scores(before)
            total = logsumexp(scores, -1, keepdims=True)
            after = scores - total + logsumexp(seen, -1, keepdims=True)
        before[..., self.seen_] = np.where(total > -np.inf, after, seen)
        return before

    def _fit(self, log_p: np.ndarray, y: np.ndarray, seen: np.ndarray) -> None:
        raise NotImplementedError

    def _scores(self, log_p: np.ndarray) -> np.ndarray:
        """Of the classes seen, (..., seen)."""
        raise NotImplementedError


class _OneVsRest(_LibraryCalibrator):
    """Each class against the rest, then normalised (Zadrozny & Elkan 2002)."""

    def _scores(self, log_p: np.ndarray) -> np.ndarray:
        p = np.exp(log_p)
        return np.stack([self._log_one(i, p[..., k]) for i, k in enumerate(self.seen_)], -1)

    def _log_one(self, i: int, p: np.ndarray) -> np.ndarray:
        raise NotImplementedError


class HistogramBinning(_OneVsRest):
    r"""p_k' = share of label k among the fitted rows with p_k in the same bin (Zadrozny & Elkan 2001), normalised.

    Bins are (lo, hi], as in focal_lib.metrics. An empty bin gives its middle.

    Args:
        n_bins: of each class.
        binning: 'width', equal parts of [0, 1]; or 'mass', quantiles of p_k, as in the source. Of many classes each is
            rare and its labels share the top bin or two of equal mass: accuracy is lost.

    Attributes:
        ``edges_`` (seen, n_bins + 1), ``values_`` (seen, n_bins), ``seen_``, ``n_classes_``, ``classes_``.

    Raises:
        ValueError: bad data, n_bins < 1 or an unknown binning.
    """

    def __init__(self, n_bins: int = 15, binning: Literal["width", "mass"] = "width") -> None:
        self.n_bins = n_bins
        self.binning = binning

    def _fit(self, log_p: np.ndarray, y: np.ndarray, seen: np.ndarray) -> None:
        if self.n_bins < 1:
            raise ValueError(f"n_bins must be at least 1. Got {self.n_bins}.")
        if self.binning not in ("width", "mass"):
            raise ValueError(f"binning must be 'width' or 'mass'. Got {self.binning!r}.")
        even = np.linspace(0, 1, self.n_bins + 1)
        fits = [self._fit_one(np.exp(log_p[:, k]), y == k, even) for k in seen]
        self.edges_, self.values_ = (np.stack(part) for part in zip(*fits, strict=True))

    def _fit_one(self, p: np.ndarray, hit: np.ndarray, even: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        edges = even if self.binning == "width" else np.r_[0, np.quantile(p, even[1:-1]), 1]
        index = np.searchsorted(edges[1:-1], p)
        count, hits = np.bincount(index, minlength=self.n_bins), np.bincount(index, hit, self.n_bins)
        return edges, np.where(count > 0, hits / np.maximum(count, 1), (edges[1:] + edges[:-1]) / 2)

    def _log_one(self, i: int, p: np.ndarray) -> np.ndarray:
        return np.log(self.values_[i][np.searchsorted(self.edges_[i][1:-1], p)])


class IsotonicCalibration(_OneVsRest):
    r"""p_k' = f_k(p_k), f_k the rising step function of least squares (Zadrozny & Elkan 2002), normalised.

    scikit-learn's IsotonicRegression, linear between its thresholds and constant beyond them. Often a label of the
    test set has p' = 0, and then the NLL is infinite.

    Attributes:
        ``thresholds_``, ``values_``: those of every class seen, end to end; class ``seen_[i]`` has
        ``offsets_[i]`` to ``offsets_[i + 1]``. ``seen_``, ``n_classes_``, ``classes_``.

    Raises:
        ValueError: bad data.
    """

    def _fit(self, log_p: np.ndarray, y: np.ndarray, seen: np.ndarray) -> None:
        fits = [IsotonicRegression(out_of_bounds="clip").fit(np.exp(log_p[:, k]), y == k) for k in seen]
        self.thresholds_ = np.concatenate([fit.X_thresholds_ for fit in fits])
        self.values_ = np.concatenate([fit.y_thresholds_ for fit in fits])
        self.offsets_ = np.cumsum([0, *(len(fit.X_thresholds_) for fit in fits)])

    def _log_one(self, i: int, p: np.ndarray) -> np.ndarray:
        part = slice(*self.offsets_[i : i + 2])
        return np.log(np.interp(p, self.thresholds_[part], self.values_[part]))


class BetaCalibration(_OneVsRest):
    r"""logit p_k' = a_k log p_k - b_k log(1 - p_k) + c_k (Kull, Silva Filho & Flach 2017), normalised.

    Fitted by the authors' package betacal, p clipped to the float64 epsilon as there.

    Attributes:
        ``a_``, ``b_``, ``c_`` (seen,), ``seen_``, ``n_classes_``, ``classes_``.

    Raises:
        ValueError: bad data.
        ImportError: betacal is not installed.
    """

    def _fit(self, log_p: np.ndarray, y: np.ndarray, seen: np.ndarray) -> None:
        try:
            import betacal
        except ImportError:
            raise ImportError("BetaCalibration needs the package betacal: pip install focal-lib[methods]") from None
        with warnings.catch_warnings():  # betacal silences the whole process for good
            fits = [betacal.BetaCalibration("abm").fit(np.exp(log_p[:, k]), y == k).calibrator_ for k in seen]
        self.a_, self.b_, _ = np.transpose([fit.map_ for fit in fits])
        self.c_ = np.array([fit.lr_.intercept_[0] for fit in fits])

    def _log_one(self, i: int, p: np.ndarray) -> np.ndarray:
        tiny = np.finfo(np.float64).eps
        p = np.clip(p, tiny, 1 - tiny)
        return log_expit(self.a_[i] * np.log(p) - self.b_[i] * np.log(1 - p) + self.c_[i])


class DirichletCalibration(_LibraryCalibrator):
    r"""p' = softmax(W log p + b), the linear parametrisation of Dirichlet calibration (Kull et al. 2019).

    scikit-learn's multinomial LogisticRegression on log p.

    Args:
        C: the sum of the log-losses is penalised by :math:`\lVert W \rVert^2 / 2C`; b is free.

    Attributes:
        ``weight_`` (seen, K), ``bias_`` (seen,), ``seen_``, ``n_classes_``, ``classes_``.

    Raises:
        ValueError: bad data, or C not positive.
    """

    def __init__(self, C: float = 1.0) -> None:
        self.C = C

    def _fit(self, log_p: np.ndarray, y: np.ndarray, seen: np.ndarray) -> None:
        found = LogisticRegression(C=self.C, max_iter=1000).fit(log_p, y)
        two = len(seen) == 2  # then scikit-learn has the second class' scores minus the first's
        self.weight_ = np.concatenate([-found.coef_, found.coef_]) / 2 if two else found.coef_
        self.bias_ = np.concatenate([-found.intercept_, found.intercept_]) / 2 if two else found.intercept_

    def _scores(self, log_p: np.ndarray) -> np.ndarray:
        return log_p @ self.weight_.T + self.bias_


def _log_softmax(z: Tensor, y: Tensor) -> tuple[np.ndarray, np.ndarray]:
    return log_softmax(z.numpy(), -1), y.numpy()
