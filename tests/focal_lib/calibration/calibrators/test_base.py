"""What every calibrator does: scikit-learn's conventions, kinds of numbers, bad data and options refused."""

import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
import torch
from sklearn import config_context
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

from focal_lib.calibration.calibrators.focal_temperature import FocalTemperatureScaling
from focal_lib.calibration.calibrators.linear import MatrixScaling, VectorScaling
from focal_lib.calibration.calibrators.one_vs_rest import HistogramBinning
from focal_lib.calibration.calibrators.seen_classes import DirichletCalibration
from focal_lib.calibration.calibrators.temperature import TemperatureScaling


@pytest.mark.parametrize("method", [TemperatureScaling(), FocalTemperatureScaling(), VectorScaling(), MatrixScaling()])
def test_predictions(synthetic_logits, method):
    z, y = synthetic_logits(300, 3)
    fitted = clone(method).fit(z, y)
    p = fitted.predict_proba(z)
    np.testing.assert_allclose(p.sum(1), 1)
    assert fitted.score(z, y) == pytest.approx((p.argmax(1) == y).mean())
    tensor = fitted.predict_proba(torch.from_numpy(z))
    assert isinstance(tensor, torch.Tensor)
    np.testing.assert_allclose(tensor.numpy(), p, atol=1e-12)
    with pytest.raises(ValueError, match="the 3 classes of fit"):
        fitted.predict_proba(np.zeros((2, 4)))


def test_kinds_of_numbers(synthetic_logits):
    z, y = synthetic_logits(300, 3)
    for method in (TemperatureScaling(), VectorScaling(1e-3), DirichletCalibration()):
        fit = clone(method).fit(z, y)
        expected = fit.predict_proba(z)
        for kind, tolerance in ((np.float16, 2e-3), (np.float32, 1e-6)):
            found = fit.predict_proba(z.astype(kind))
            np.testing.assert_allclose(found, expected, atol=tolerance)
            assert found.dtype == (np.float32 if kind is np.float32 else np.float64)
        whole = np.round(z).astype(np.int64)
        np.testing.assert_allclose(fit.predict_proba(torch.from_numpy(whole)), fit.predict_proba(whole), atol=1e-6)
        np.testing.assert_allclose(fit.predict_proba(pd.DataFrame(z)), expected)
        half = clone(method).fit(torch.from_numpy(z).bfloat16(), torch.from_numpy(y.astype(np.int8)))
        np.testing.assert_allclose(half.predict_proba(z), expected, atol=0.05)
    large = (z * 3000).astype(np.float16)
    finite = large[np.isfinite(large).all(1)]
    fit = TemperatureScaling().fit(z, y)
    fit.temperature_ = 0.3
    assert np.isfinite(fit.predict_proba(finite)).all()


def test_in_a_pipeline_and_a_search(synthetic_logits):
    z, y = synthetic_logits(400, 4)
    halved = make_pipeline(FunctionTransformer(lambda rows: rows / 2), TemperatureScaling()).fit(z, y)
    assert halved[-1].temperature_ == pytest.approx(TemperatureScaling().fit(z, y).temperature_ / 2)
    search = GridSearchCV(VectorScaling(), {"l2": [1e-4, 1e2]}, scoring="neg_log_loss", cv=3).fit(z, y)
    assert search.best_estimator_.l2 in (1e-4, 1e2)
    assert search.predict_proba(z).shape == z.shape


def test_weights_are_handed_on_where_that_is_asked_for(synthetic_logits):
    z, y = synthetic_logits(300, 3)
    weights = np.arange(300) % 3 / 1.0
    with config_context(enable_metadata_routing=True):
        asked = pickle.loads(pickle.dumps(TemperatureScaling().set_fit_request(sample_weight=True)))
        asked.set_score_request(sample_weight=False)
        assert clone(asked).get_metadata_routing().fit.requests == {"sample_weight": True}
        search = GridSearchCV(asked, {"objective": ["nll"]}, cv=2).fit(z, y, sample_weight=weights)
    assert search.best_estimator_.temperature_ == TemperatureScaling().fit(z, y, weights).temperature_


def test_parameters_by_name():
    method = VectorScaling().set_params(l2=0.5)
    assert repr(method) == "VectorScaling(l2=0.5)"
    with pytest.raises(ValueError, match=r"^parameters must be of l2\. Got C\.$"):
        method.set_params(C=1)


def test_the_class_never_changes(synthetic_logits):
    z, y = synthetic_logits(500, 7)
    for fitted in (FocalTemperatureScaling().fit(z, y), TemperatureScaling("adaptive-ece").fit(z, y)):
        np.testing.assert_array_equal(fitted.predict(z), z.argmax(1))


@pytest.mark.parametrize(
    ("method", "message"),
    [
        (TemperatureScaling("adaptive-ece", temperatures=()), "temperatures must be positive numbers, at least one"),
        (TemperatureScaling(temperatures=(0.0, 1.0)), "temperatures must be positive"),
        (FocalTemperatureScaling(gammas=()), "gammas must hold at least one"),
        (FocalTemperatureScaling(gammas=(-1.5,)), "gamma must be a finite number"),
        (FocalTemperatureScaling("brier"), "objective must be 'nll', 'ece' or 'adaptive-ece'"),
        (FocalTemperatureScaling("adaptive-ece", "newton"), "an ECE has no derivatives"),
        (FocalTemperatureScaling(search="random"), "search must be"),
        (MatrixScaling(l2=-1), "l2 must be a finite number >= 0"),
        (FocalTemperatureScaling(shrinkage=-1), "shrinkage must be a finite number >= 0"),
        (HistogramBinning(0), r"n_bins must be at least 1\. Got 0"),
        (HistogramBinning(binning="even"), r"binning must be 'width' or 'mass'\. Got 'even'"),
    ],
)
def test_bad_options(synthetic_logits, method, message):
    with pytest.raises(ValueError, match=message):
        method.fit(*synthetic_logits(50, 3))


@pytest.mark.parametrize(
    ("z", "y", "message"),
    [
        (np.zeros((3, 2)), np.zeros(3, int), "at least two classes. Got only class 0"),
        (np.full((2, 2), np.nan), np.array([0, 1]), "must be finite"),
        (np.zeros((3, 2)), np.array([0, 5, 3]), "labels must lie in 0 ... 1, or be 2 different .* 0 to 5, 3 different"),
        (np.zeros((2, 2)), np.array(["a", "a"]), "labels must lie in 0 ... 1, or be 2 different .* a to a, 1 diff"),
        (np.zeros((2, 2)), np.array([0.5, 1.0]), "Unknown label type: continuous"),
        (np.zeros((2, 2, 2)), np.array([0, 1]), r"logits must have shape \(n, K\)"),
        (np.zeros((0, 2)), np.zeros(0, int), "must not be empty"),
        (np.zeros((2, 2)), np.array([0, 1, 1]), r"labels must have shape \(n,\)"),
    ],
)
def test_bad_data(z, y, message):
    with pytest.raises(ValueError, match=message):
        TemperatureScaling().fit(z, y)


def test_probabilities_are_warned_of(synthetic_logits):
    """Of arrays, tensors, chunks; not of logits, nor of the logarithms of probabilities."""
    z, y = synthetic_logits(300, 3)
    p = TemperatureScaling().fit(z, y).predict_proba(z)
    for given in (p, p.astype(np.float16), torch.from_numpy(p), p.round(3)):
        with pytest.warns(UserWarning, match=r"looks like probabilities, .* as_logits\(X, 'probs'\)") as found:
            TemperatureScaling().fit(given, y)
        assert found[0].filename == __file__
    lazy = pytest.importorskip("dask.array").from_array(p, chunks=(70, 3))
    with pytest.warns(UserWarning, match="looks like probabilities"):
        TemperatureScaling().fit(lazy, y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for fine in (z, np.log(p), np.vstack([p[:-1], z[-1:]]), np.vstack([p[:-1], p[-1:] - 0.1])):
            TemperatureScaling().fit(fine, y)
            TemperatureScaling().fit(fine, y, np.full(300, 2.0))
