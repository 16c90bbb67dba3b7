"""Methods of other authors: agreement with their libraries, and what our frame adds."""

import sys
import warnings

import numpy as np
import pytest
import torch
from scipy.special import log_softmax, softmax
from scipy.stats import binned_statistic
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.isotonic import IsotonicRegression
from sklearn.linear_model import LogisticRegression

from focal_lib.calibration import saved
from focal_lib.calibration.calibrators.one_vs_rest import (
    BetaCalibration,
    DirichletCalibration,
    HistogramBinning,
    IsotonicCalibration,
)
from focal_lib.metrics.bins import ece
from focal_lib.metrics.scores import brier, nll
from focal_lib.validation import check_probs

METHODS = {
    "histogram": HistogramBinning(),
    "histogram, mass": HistogramBinning(10, "mass"),
    "isotonic": IsotonicCalibration(),
    "beta": BetaCalibration(),
    "dirichlet": DirichletCalibration(),
}


@pytest.fixture(params=METHODS)
def method(request):
    if request.param == "beta":
        pytest.importorskip("betacal")
    return clone(METHODS[request.param])


def overconfident(n=1500, classes=4, seed=0, temperature=2.5):
    """Logits that are calibrated after division by the temperature, and their labels."""
    rng = np.random.default_rng(seed)
    z = rng.normal(size=(n, classes))
    z[np.arange(n), rng.integers(0, classes, n)] += rng.normal(2.5, 1, n)
    p = softmax(z, -1)
    return temperature * z, np.minimum((p.cumsum(1) < rng.random((n, 1))).sum(1), classes - 1)


def normalised(columns):
    p = np.stack(columns, -1)
    return p / p.sum(-1, keepdims=True)


# --- agreement ---------------------------------------------------------------------------


def test_isotonic_is_scikit_learns():
    (z, y), (other, _) = overconfident(), overconfident(seed=1)
    p, q = softmax(z, -1), softmax(other, -1)
    fits = [IsotonicRegression(out_of_bounds="clip").fit(p[:, k], y == k) for k in range(4)]
    expected = normalised([fit.predict(q[:, k]) for k, fit in enumerate(fits)])
    np.testing.assert_allclose(IsotonicCalibration().fit(z, y).predict_proba(other), expected, atol=1e-12)


@pytest.mark.parametrize("binning", ["width", "mass"])
def test_histogram_is_scipys_mean_a_bin(binning):
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


def test_histogram_is_netcals():
    netcal = pytest.importorskip("netcal.binning")
    (z, y), (other, _) = overconfident(), overconfident(seed=1)
    expected = netcal.HistogramBinning(10).fit(softmax(z, -1), y).transform(softmax(other, -1))
    np.testing.assert_allclose(HistogramBinning(10).fit(z, y).predict_proba(other), expected, atol=1e-12)


def test_beta_is_betacals():
    betacal = pytest.importorskip("betacal")
    (z, y), (other, _) = overconfident(), overconfident(seed=1)
    z[0], other[0] = [60, 0, 0, 0], [0, 90, 0, 0]  # probabilities that betacal clips
    p, q = softmax(z, -1), softmax(other, -1)
    with warnings.catch_warnings():
        fits = [betacal.BetaCalibration("abm").fit(p[:, k], y == k) for k in range(4)]
    expected = normalised([fit.predict(q[:, k]) for k, fit in enumerate(fits)])
    np.testing.assert_allclose(BetaCalibration().fit(z, y).predict_proba(other), expected, atol=1e-12)


@pytest.mark.parametrize("classes", [2, 5])
def test_dirichlet_is_logistic_regression_on_log_p(classes):
    (z, y), (other, _) = overconfident(classes=classes), overconfident(classes=classes, seed=1)
    reference = LogisticRegression(C=0.1, max_iter=1000).fit(log_softmax(z, -1), y)
    expected = reference.predict_proba(log_softmax(other, -1))
    np.testing.assert_allclose(DirichletCalibration(0.1).fit(z, y).predict_proba(other), expected, atol=1e-12)


# --- what they are for -------------------------------------------------------------------


def test_calibrates(method):
    (z, y), (other, labels) = overconfident(4000), overconfident(4000, seed=1)
    before, after = softmax(other, -1), method.fit(z, y).predict_proba(other)
    assert ece(after, labels) < ece(before, labels) / 2
    assert brier(after, labels) < brier(before, labels)
    if isinstance(method, BetaCalibration | DirichletCalibration):  # the others may give a label probability 0
        assert nll(after, labels) < nll(before, labels)
    assert (method.predict(other) == after.argmax(-1)).all()


# --- where the fitted rows say nothing -----------------------------------------------------


def test_class_without_a_label_keeps_its_probability(method):
    z, y = overconfident()
    y[y == 2] = 0
    before, after = softmax(z, -1), method.fit(z, y).predict_proba(z)
    np.testing.assert_allclose(after[:, 2], before[:, 2], rtol=1e-12)
    np.testing.assert_allclose(after.sum(-1), 1, atol=1e-12)
    assert np.abs(after - before).max() > 0.05
    assert method.seen_.tolist() == [0, 1, 3]


def test_two_of_three_classes(method):
    z, y = overconfident(classes=3)
    after = method.fit(z, y % 2).predict_proba(z)
    check_probs(after)
    assert ((after[:, 1] > after[:, 0]) == (y % 2 == 1)).mean() > 0.5


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


def test_saturated_logits(method):
    z, y = overconfident()
    after = method.fit(z * 1e4, y).predict_proba(np.r_[z[:5] * 1e6, z[:5] * 0])
    check_probs(after)


# --- the frame -----------------------------------------------------------------------------


def test_scikit_learns_conventions(method):
    z, y = overconfident(300)
    with pytest.raises(NotFittedError):
        method.predict_proba(z)
    copy = clone(method.fit(z, y))
    assert copy.get_params() == method.get_params()
    assert not [name for name in vars(copy) if name.endswith("_")]
    assert method.n_classes_ == 4
    assert method.classes_.tolist() == [0, 1, 2, 3]
    np.testing.assert_array_equal(copy.fit(z, y).predict_proba(z), method.predict_proba(z))


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_torch_in_torch_out(method, dtype):
    z, y = overconfident(300)
    z, y = torch.from_numpy(z).to(dtype), torch.from_numpy(y)
    after = method.fit(z, y).predict_proba(z.requires_grad_())
    assert isinstance(after, torch.Tensor)
    assert after.dtype == dtype
    reference = method.predict_proba(z.detach().numpy())
    np.testing.assert_allclose(after.numpy(), reference, atol=1e-12 if dtype == torch.float64 else 1e-6)
    assert isinstance(method.predict(z), torch.Tensor)


@pytest.mark.parametrize(
    ("z", "y", "message"),
    [
        ([[0.0, 1.0], [np.nan, 0.0]], [0, 1], "logits must be finite"),
        ([[0.0], [1.0]], [0, 0], "K >= 2"),
        ([[0.0, 1.0], [1.0, 0.0]], [0, 2], "labels must lie in 0 ... 1"),
        ([[0.0, 1.0], [1.0, 0.0]], [1, 1], "at least two classes. Got only class 1"),
        ([[0.0, 1.0], [1.0, 0.0]], [0.0, 1.0], "labels must be integers"),
    ],
)
def test_bad_data(method, z, y, message):
    with pytest.raises(ValueError, match=message):
        method.fit(np.array(z), np.array(y))


def test_bad_parameters_and_other_classes():
    z, y = overconfident(100)
    with pytest.raises(ValueError, match=r"n_bins must be at least 1\. Got 0"):
        HistogramBinning(0).fit(z, y)
    with pytest.raises(ValueError, match=r"binning must be 'width' or 'mass'\. Got 'even'"):
        HistogramBinning(binning="even").fit(z, y)
    with pytest.raises(ValueError, match="'C' parameter"):
        DirichletCalibration(0.0).fit(z, y)
    with pytest.raises(ValueError, match="the 4 classes of fit"):
        IsotonicCalibration().fit(z, y).predict(z[:, :3])


def test_missing_package_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "betacal", None)
    method = BetaCalibration()
    with pytest.raises(ImportError, match=r"needs the package betacal: pip install focal-lib\[methods\]"):
        method.fit(*overconfident(100))
    with pytest.raises(NotFittedError):
        method.predict(np.zeros((1, 4)))


def test_betacal_does_not_silence_the_process():
    pytest.importorskip("betacal")
    before = list(warnings.filters)
    BetaCalibration().fit(*overconfident(100))
    assert warnings.filters == before


def test_kept_as_json_and_used_without_the_library(method, tmp_path, monkeypatch):
    z, y = overconfident(300)
    y[y == 2] = 0
    path = tmp_path / "calibrator.json"
    saved.save(method.fit(z, y), path)
    monkeypatch.setitem(sys.modules, "betacal", None)
    again = saved.load(path)
    assert type(again) is type(method)
    assert again.get_params() == method.get_params()
    np.testing.assert_array_equal(again.predict_log_proba(z), method.predict_log_proba(z))


def test_dask_in_dask_out(method):
    array = pytest.importorskip("dask.array")
    z, y = overconfident(300)
    lazy = array.from_array(z, chunks=(70, 4))
    after = method.fit(lazy, y).predict_proba(lazy)
    assert isinstance(after, array.Array)
    np.testing.assert_allclose(after.compute(), clone(method).fit(z, y).predict_proba(z), atol=1e-12)
