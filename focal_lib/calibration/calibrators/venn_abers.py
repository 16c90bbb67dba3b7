"""Venn-Abers calibration (Vovk, Petej & Fedorova 2015), fitted by its authors' package venn-abers."""

from __future__ import annotations

import warnings

import numpy as np

from focal_lib.calibration.calibrators.one_vs_rest import OneVsRest
from focal_lib.calibration.calibrators.seen_classes import import_extra, repeated


class VennAbersCalibration(OneVsRest):
    r"""p_k' = p_1 / (1 - p_0 + p_1) for each class against the rest, normalised (Vovk, Petej & Fedorova 2015).

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
        package = import_extra("venn_abers", "venn-abers", type(self).__name__)
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
