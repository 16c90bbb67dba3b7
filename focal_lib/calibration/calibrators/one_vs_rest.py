"""Each class calibrated against the rest: histogram binning, isotonic regression, beta and Venn-Abers calibration."""

from __future__ import annotations

import warnings
from typing import Literal

import numpy as np
import scipy

from focal_lib.calibration.calibrators.seen_classes import SeenClassesCalibrator, import_extra, repeated
from focal_lib.metrics.bins import DEFAULT_BINS


class OneVsRest(SeenClassesCalibrator):
    """Each class against the rest, then normalised (Zadrozny & Elkan 2002)."""

    def _scores(self, log_p: np.ndarray) -> np.ndarray:
        p = np.exp(log_p)
        return np.stack([self._log_one(i, p[..., k]) for i, k in enumerate(self.seen_)], -1)

    def _log_one(self, i: int, p: np.ndarray) -> np.ndarray:
        raise NotImplementedError


class HistogramBinning(OneVsRest):
    r"""Histogram binning of the probability of each class, then normalised (Zadrozny & Elkan 2001).

    p_k' is the share of label k among the fitted samples with p_k in the same bin.

    Bins are (lo, hi], as in focal_lib.metrics. An empty bin gives its midpoint.

    Args:
        n_bins: number of bins for each class.
        binning: 'width', equal parts of [0, 1]; or 'mass', quantiles of p_k, as in the source. With many classes, each
            is rare and its labels fall into the top bin or two of equal mass, which costs accuracy.

    Fitted attributes:
        ``edges_`` (seen, n_bins + 1), ``values_`` (seen, n_bins), ``seen_``, ``n_classes_``, ``classes_``.

    Raises:
        ValueError: bad data, n_bins < 1 or an unknown binning.

    Examples:
        >>> logits, labels = [[0.0, 2.1972]] * 4, [1, 1, 1, 0]  # three labels of four are class 1
        >>> HistogramBinning().fit(logits, labels).predict_proba(logits[:1]).round(3).tolist()
        [[0.25, 0.75]]
    """

    def __init__(self, n_bins: int = DEFAULT_BINS, binning: Literal["width", "mass"] = "width") -> None:
        self.n_bins = n_bins
        self.binning = binning

    def _fit_scores(self, log_p: np.ndarray, y: np.ndarray, seen: np.ndarray, weights: np.ndarray | None) -> None:
        even = np.linspace(0, 1, self.n_bins + 1)
        fits = [self._fit_one(np.exp(log_p[:, k]), y == k, weights, even) for k in seen]
        self.edges_, self.values_ = (np.stack(part) for part in zip(*fits, strict=True))

    def _check_options(self) -> None:
        if self.n_bins < 1:
            raise ValueError(f"n_bins must be at least 1. Got {self.n_bins}.")
        if self.binning not in ("width", "mass"):
            raise ValueError(f"binning must be 'width' or 'mass'. Got {self.binning!r}.")

    def _fit_one(
        self, p: np.ndarray, hit: np.ndarray, weights: np.ndarray | None, even: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        edges = even if self.binning == "width" else np.r_[0, _quantiles(p, even[1:-1], weights), 1]
        index = np.searchsorted(edges[1:-1], p)
        count = np.bincount(index, weights, self.n_bins)
        hits = np.bincount(index, hit if weights is None else hit * weights, self.n_bins)
        share = hits / np.where(count > 0, count, 1)
        return edges, np.where(count > 0, share, (edges[1:] + edges[:-1]) / 2)

    def _log_one(self, i: int, p: np.ndarray) -> np.ndarray:
        return np.log(self.values_[i][np.searchsorted(self.edges_[i][1:-1], p)])


class IsotonicCalibration(OneVsRest):
    r"""Isotonic regression of the probability of each class, then normalised (Zadrozny & Elkan 2002).

    p_k' = f_k(p_k), where f_k is the increasing least-squares fit.

    Fitted by scikit-learn's IsotonicRegression, linear between its thresholds and constant beyond them. A test label
    often has p' = 0, and then the NLL is infinite.

    Fitted attributes:
        ``thresholds_``, ``values_``: of all classes seen, concatenated; those of class ``seen_[i]`` are
        ``offsets_[i]`` to ``offsets_[i + 1]``. ``seen_``, ``n_classes_``, ``classes_``.

    Raises:
        ValueError: bad data.

    Examples:
        >>> logits, labels = [[0.0, 1.0]] * 4 + [[0.0, 2.0]] * 4, [1, 1, 1, 0] + [1, 1, 0, 0]
        >>> IsotonicCalibration().fit(logits, labels).predict_proba(logits[3:5]).round(3).tolist()  # pooled: 5/8
        [[0.375, 0.625], [0.375, 0.625]]
    """

    def _fit_scores(self, log_p: np.ndarray, y: np.ndarray, seen: np.ndarray, weights: np.ndarray | None) -> None:
        from sklearn.isotonic import IsotonicRegression

        fits = [IsotonicRegression(out_of_bounds="clip").fit(np.exp(log_p[:, k]), y == k, weights) for k in seen]
        self.thresholds_ = np.concatenate([fit.X_thresholds_ for fit in fits])
        self.values_ = np.concatenate([fit.y_thresholds_ for fit in fits])
        self.offsets_ = np.cumsum([0, *(len(fit.X_thresholds_) for fit in fits)])

    def _log_one(self, i: int, p: np.ndarray) -> np.ndarray:
        part = slice(*self.offsets_[i : i + 2])
        return np.log(np.interp(p, self.thresholds_[part], self.values_[part]))


class BetaCalibration(OneVsRest):
    r"""Beta calibration of each class against the rest, then normalised (Kull, Silva Filho & Flach 2017).

    logit p_k' = a_k log p_k - b_k log(1 - p_k) + c_k.

    Fitted by the authors' package betacal, with p clipped to the float64 epsilon as in that package.

    Fitted attributes:
        ``a_``, ``b_``, ``c_`` (seen,), ``seen_``, ``n_classes_``, ``classes_``.

    Raises:
        ValueError: bad data.
        ImportError: betacal is not installed.

    Examples:
        >>> logits, labels = [[0.0, 2.1972]] * 4, [1, 1, 1, 0]  # confidence 0.9, accuracy 0.75
        >>> BetaCalibration().fit(logits, labels).predict_proba(logits[:1]).round(2).tolist()
        [[0.25, 0.75]]
    """

    def _fit_scores(self, log_p: np.ndarray, y: np.ndarray, seen: np.ndarray, weights: np.ndarray | None) -> None:
        betacal = import_extra("betacal", type(self).__name__)
        with warnings.catch_warnings():  # betacal silences the whole process for good
            fits = [betacal.BetaCalibration("abm").fit(np.exp(log_p[:, k]), y == k, weights).calibrator_ for k in seen]
        self.a_, self.b_, _ = np.transpose([fit.map_ for fit in fits])
        self.c_ = np.array([fit.lr_.intercept_[0] for fit in fits])

    def _log_one(self, i: int, p: np.ndarray) -> np.ndarray:
        tiny = np.finfo(np.float64).eps
        p = np.clip(p, tiny, 1 - tiny)
        return scipy.special.log_expit(self.a_[i] * np.log(p) - self.b_[i] * np.log(1 - p) + self.c_[i])


def _quantiles(p: np.ndarray, shares: np.ndarray, weights: np.ndarray | None) -> np.ndarray:
    """Quantiles, linear between samples; whole weights repeat samples, with other weights it is a sample's value."""
    if weights is None:
        return np.quantile(p, shares)
    order = np.argsort(p)
    p, mass = p[order], np.cumsum(weights[order])
    if (weights != np.round(weights)).any():
        return p[np.minimum(np.searchsorted(mass, shares * mass[-1]), len(p) - 1)]
    place = shares * (mass[-1] - 1)
    low, high = (p[np.searchsorted(mass, end(place), side="right")] for end in (np.floor, np.ceil))
    return low + (place - np.floor(place)) * (high - low)


class VennAbersCalibration(OneVsRest):
    r"""Venn-Abers calibration of each class against the rest, then normalised (Vovk, Petej & Fedorova 2015).

    p_k' = p_1 / (1 - p_0 + p_1), the two probabilities p_0 and p_1 merged into one.

    p_0 and p_1 are isotonic regressions of the samples together with the new one, labelled 0 and 1. One of the two is
    calibrated for any scores; p' lies between them and is never 0 or 1.

    Fitted attributes:
        ``low_thresholds_``, ``low_values_``: the steps of p_0 of all classes seen, concatenated. Those of class
        ``seen_[i]`` start at ``low_offsets_[i]``; its values, one more than thresholds, at ``low_offsets_[i] + i``.
        ``high_thresholds_``, ``high_values_``, ``high_offsets_``: of p_1. ``seen_``, ``n_classes_``, ``classes_``.

    Raises:
        ValueError: bad data, or weights that are not whole numbers: the package takes no sample weights.
        ImportError: venn-abers is not installed.

    Examples:
        >>> logits, labels = [[0.0, 2.1972]] * 4, [1, 1, 1, 0]
        >>> VennAbersCalibration().fit(logits, labels).predict_proba(logits[:1]).round(3).tolist()  # (3 + 1) / (4 + 2)
        [[0.333, 0.667]]
    """

    def _fit_scores(self, log_p: np.ndarray, y: np.ndarray, seen: np.ndarray, weights: np.ndarray | None) -> None:
        package = import_extra("venn_abers", type(self).__name__)
        log_p, y = repeated(log_p, y, weights, type(self).__name__)
        low, high = [], []
        for k in seen:
            p = np.exp(log_p[:, k])
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", RuntimeWarning)  # of slopes 0 / 0, which it leaves out
                fit = package.VennAbers().fit(np.stack([1 - p, p], axis=1), (y == k).astype(np.float64))
            low.append(_steps(fit.c_, fit.p0_[:, 1]))
            high.append(_steps(fit.c_, fit.p1_[:, 1]))
        self.low_thresholds_, self.low_values_, self.low_offsets_ = _end_to_end(low)
        self.high_thresholds_, self.high_values_, self.high_offsets_ = _end_to_end(high)

    def _log_one(self, i: int, p: np.ndarray) -> np.ndarray:
        low = _value(i, p, "right", self.low_thresholds_, self.low_values_, self.low_offsets_)
        high = _value(i, p, "left", self.high_thresholds_, self.high_values_, self.high_offsets_)
        return np.log(high) - np.log1p(high - low)


def _steps(p: np.ndarray, values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Thresholds where the values change; values (m + 1,) lie below, between and above p (m,)."""
    moved = values[1:] != values[:-1]
    return p[moved], np.r_[values[0], values[1:][moved]]


def _end_to_end(steps: list[tuple[np.ndarray, np.ndarray]]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    thresholds, values = zip(*steps, strict=True)
    return np.concatenate(thresholds), np.concatenate(values), np.cumsum([0, *map(len, thresholds)])


def _value(
    i: int, p: np.ndarray, side: str, thresholds: np.ndarray, values: np.ndarray, offsets: np.ndarray
) -> np.ndarray:
    start, stop = offsets[i : i + 2]
    return values[start + i : stop + i + 1][np.searchsorted(thresholds[start:stop], p, side)]  # type: ignore[call-overload]
