"""Calibrators that other libraries fit: what they share, and agreement of two with their libraries."""

import sys
import warnings

import numpy as np
import pytest
import torch
from scipy.special import log_softmax, softmax
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression

from focal_lib.calibration.calibrators.one_vs_rest import BetaCalibration
from focal_lib.calibration.calibrators.seen_classes import DirichletCalibration, StructuredMatrixScaling
from focal_lib.calibration.saved import load_calibrator, save_calibrator
from focal_lib.metrics.bins import ece
from focal_lib.metrics.scores import brier, nll
from focal_lib.validation import check_probs
from tests.focal_lib.calibration.calibrators.conftest import METHODS, NEEDS


def test_calibrates(overconfident, of_library):
    (z, y), (other, labels) = overconfident(4000), overconfident(4000, seed=1)
    before, after = softmax(other, -1), of_library.fit(z, y).predict_proba(other)
    assert ece(after, labels) < ece(before, labels) / 2
    assert brier(after, labels) < brier(before, labels)
    if isinstance(of_library, BetaCalibration | DirichletCalibration):  # the others may give a label probability 0
        assert nll(after, labels) < nll(before, labels)
    assert (of_library.predict(other) == after.argmax(-1)).all()


def test_class_without_a_label_keeps_its_probability(overconfident, of_library):
    z, y = overconfident()
    y[y == 2] = 0
    before, after = softmax(z, -1), of_library.fit(z, y).predict_proba(z)
    np.testing.assert_allclose(after[:, 2], before[:, 2], rtol=1e-12)
    np.testing.assert_allclose(after.sum(-1), 1, atol=1e-12)
    assert np.abs(after - before).max() > 0.05
    assert of_library.seen_.tolist() == [0, 1, 3]


def test_two_of_three_classes(overconfident, of_library):
    z, y = overconfident(classes=3)
    after = of_library.fit(z, y % 2).predict_proba(z)
    check_probs(after)
    assert ((after[:, 1] > after[:, 0]) == (y % 2 == 1)).mean() > 0.5


def test_saturated_logits(overconfident, of_library):
    z, y = overconfident()
    after = of_library.fit(z * 1e4, y).predict_proba(np.r_[z[:5] * 1e6, z[:5] * 0])
    check_probs(after)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_torch_in_torch_out(overconfident, of_library, dtype):
    z, y = overconfident(300)
    z, y = torch.from_numpy(z).to(dtype), torch.from_numpy(y)
    after = of_library.fit(z, y).predict_proba(z.requires_grad_())
    assert isinstance(after, torch.Tensor)
    assert after.dtype == dtype
    reference = of_library.predict_proba(z.detach().numpy())
    np.testing.assert_allclose(after.numpy(), reference, atol=1e-12 if dtype == torch.float64 else 1e-6)
    assert isinstance(of_library.predict(z), torch.Tensor)


def test_dask_in_dask_out(overconfident, of_library):
    array = pytest.importorskip("dask.array")
    z, y = overconfident(300)
    lazy = array.from_array(z, chunks=(70, 4))
    after = of_library.fit(lazy, y).predict_proba(lazy)
    assert isinstance(after, array.Array)
    np.testing.assert_allclose(after.compute(), clone(of_library).fit(z, y).predict_proba(z), atol=1e-12)


def test_kept_as_json_and_used_without_the_library(overconfident, of_library, tmp_path, monkeypatch):
    z, y = overconfident(300)
    y[y == 2] = 0
    path = tmp_path / "calibrator.json"
    save_calibrator(of_library.fit(z, y), path)
    for name in ("betacal", "venn_abers", "probmetrics"):
        monkeypatch.setitem(sys.modules, name, None)
    again = load_calibrator(path)
    assert type(again) is type(of_library)
    assert again.get_params() == of_library.get_params()
    np.testing.assert_array_equal(again.predict_log_proba(z), of_library.predict_log_proba(z))


# --- of log p ------------------------------------------------------------------------------


@pytest.mark.parametrize("classes", [2, 5])
def test_dirichlet_is_logistic_regression_on_log_p(overconfident, classes):
    (z, y), (other, _) = overconfident(classes=classes), overconfident(classes=classes, seed=1)
    reference = LogisticRegression(C=0.1, max_iter=1000).fit(log_softmax(z, -1), y)
    expected = reference.predict_proba(log_softmax(other, -1))
    np.testing.assert_allclose(DirichletCalibration(0.1).fit(z, y).predict_proba(other), expected, atol=1e-12)
    with pytest.raises(ValueError, match="'C' parameter"):
        DirichletCalibration(0.0).fit(z, y)


def test_structured_matrix_scaling_is_its_authors(overconfident):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        package = pytest.importorskip("probmetrics.calibrators")
    (z, y), (other, _) = overconfident(), overconfident(seed=1)
    expected = package.SMSCalibrator().fit(softmax(z, -1), y).predict_proba(softmax(other, -1))
    fit = StructuredMatrixScaling().fit(z, y)
    np.testing.assert_allclose(fit.predict_proba(other), expected, atol=2e-6)  # it predicts in float32
    weak = StructuredMatrixScaling(strength=0.01).fit(z, y)
    assert np.abs(weak.weight_ - np.eye(4)).max() > np.abs(fit.weight_ - np.eye(4)).max()
    with pytest.raises(ValueError, match="strength must be a finite number >= 0"):
        StructuredMatrixScaling(-1.0).fit(z, y)


@pytest.mark.parametrize("name", NEEDS)
def test_what_to_install_is_said(overconfident, monkeypatch, name):
    method = clone(METHODS[name])
    monkeypatch.setitem(sys.modules, NEEDS[name], None)
    with pytest.raises(ImportError, match=rf"needs the package {NEEDS[name]}: pip install 'focal-lib\[methods\]'"):
        method.fit(*overconfident(100))
    with pytest.raises(NotFittedError):
        method.predict(np.zeros((1, 4)))
