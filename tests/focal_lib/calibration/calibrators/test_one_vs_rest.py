"""Calibrators of each class against the rest: agreement with their libraries, and their edges."""

import warnings

import numpy as np
import pytest
from scipy.special import softmax
from scipy.stats import binned_statistic
from sklearn.base import clone
from sklearn.isotonic import IsotonicRegression

from focal_lib.calibration.calibrators.one_vs_rest import (
    BetaCalibration,
    HistogramBinning,
    IsotonicCalibration,
    VennAbersCalibration,
)


def normalised(columns):
    p = np.stack(columns, -1)
    return p / p.sum(-1, keepdims=True)


def test_isotonic_is_scikit_learns(overconfident):
    (z, y), (other, _) = overconfident(), overconfident(seed=1)
    p, q = softmax(z, -1), softmax(other, -1)
    fits = [IsotonicRegression(out_of_bounds="clip").fit(p[:, k], y == k) for k in range(4)]
    expected = normalised([fit.predict(q[:, k]) for k, fit in enumerate(fits)])
    np.testing.assert_allclose(IsotonicCalibration().fit(z, y).predict_proba(other), expected, atol=1e-12)


@pytest.mark.parametrize("binning", ["width", "mass"])
def test_histogram_is_scipys_mean_a_bin(overconfident, binning):
    z, y = overconfident(998)  # no quantile is a sample: 997 is a prime
    p = softmax(z, -1)
    found = HistogramBinning(12, binning).fit(z, y)
    columns = []
    for k in range(4):
        edges = (
            np.linspace(0, 1, 13) if binning == "width" else np.r_[0, np.quantile(p[:, k], np.arange(1, 12) / 12), 1]
        )
        mean, _, index = binned_statistic(p[:, k], y == k, "mean", edges)
        columns.append(mean[index - 1])
    np.testing.assert_allclose(found.predict_proba(z), normalised(columns), atol=1e-12)


def test_beta_is_betacals(overconfident):
    betacal = pytest.importorskip("betacal")
    (z, y), (other, _) = overconfident(), overconfident(seed=1)
    z[0], other[0] = [60, 0, 0, 0], [0, 90, 0, 0]  # probabilities that betacal clips
    p, q = softmax(z, -1), softmax(other, -1)
    with warnings.catch_warnings():
        fits = [betacal.BetaCalibration("abm").fit(p[:, k], y == k) for k in range(4)]
    expected = normalised([fit.predict(q[:, k]) for k, fit in enumerate(fits)])
    np.testing.assert_allclose(BetaCalibration().fit(z, y).predict_proba(other), expected, atol=1e-12)


@pytest.mark.parametrize("kind", [HistogramBinning(10), IsotonicCalibration()])
def test_row_of_zeros_keeps_its_probabilities(kind):
    p = np.array([[0.52, 0.38, 0.1], [0.1, 0.52, 0.38], [0.38, 0.1, 0.52]])
    found = clone(kind).fit(np.log(p), np.arange(3))  # up to 0.38 a class is never the label
    row = np.array([[0.36, 0.33, 0.31]])
    np.testing.assert_allclose(found.predict_proba(np.log(row)), row, atol=1e-12)
    np.testing.assert_allclose(found.predict_proba(np.log(p)), np.eye(3), atol=1e-12)


def test_zero_stays_zero_and_its_log_is_minus_infinity():
    z = np.repeat(4 * np.eye(3), 50, 0)
    found = IsotonicCalibration().fit(z, np.repeat(np.arange(3), 50))
    np.testing.assert_allclose(found.predict_proba(z[:1]), [[1, 0, 0]], rtol=1e-12)
    np.testing.assert_allclose(found.predict_log_proba(z[:1]), [[0, -np.inf, -np.inf]], atol=1e-12)


def test_empty_bin_gives_its_middle():
    z = np.log(np.array([[0.95, 0.05], [0.05, 0.95]] * 5))
    found = HistogramBinning(5).fit(z, np.array([0, 1] * 5))
    np.testing.assert_allclose(found.values_[0], [0, 0.3, 0.5, 0.7, 1])
    np.testing.assert_allclose(found.predict_proba(np.log([[0.75, 0.25]])), [[0.7, 0.3]])


def test_betacal_does_not_silence_the_process(overconfident):
    pytest.importorskip("betacal")
    before = list(warnings.filters)
    BetaCalibration().fit(*overconfident(100))
    assert warnings.filters == before


def test_venn_abers_is_its_authors(overconfident):
    package = pytest.importorskip("venn_abers.venn_abers")
    (z, y), (other, _) = overconfident(), overconfident(seed=1)
    fit = VennAbersCalibration().fit(z, y)
    for one in (other, z):
        expected, _ = package.predict_proba_prefitted_va(softmax(z, -1), y, softmax(one, -1), va_tpe="one_vs_rest")
        np.testing.assert_allclose(fit.predict_proba(one), expected, atol=1e-12)
    assert len(fit.low_values_) == len(fit.low_thresholds_) + 4 < 1000
