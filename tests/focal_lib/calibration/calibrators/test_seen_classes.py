"""What calibrators of other authors share: what they are for, classes without labels, conventions, files."""

import sys

import numpy as np
import pytest
import torch
from scipy.special import softmax
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from focal_lib.calibration.calibrators.one_vs_rest import BetaCalibration
from focal_lib.calibration.calibrators.seen_classes import DirichletCalibration
from focal_lib.calibration.saved import load_calibrator, save_calibrator
from focal_lib.metrics.bins import ece
from focal_lib.metrics.scores import brier, nll
from focal_lib.validation import check_probs


def test_calibrates(overconfident, method):
    (z, y), (other, labels) = overconfident(4000), overconfident(4000, seed=1)
    before, after = softmax(other, -1), method.fit(z, y).predict_proba(other)
    assert ece(after, labels) < ece(before, labels) / 2
    assert brier(after, labels) < brier(before, labels)
    if isinstance(method, BetaCalibration | DirichletCalibration):  # the others may give a label probability 0
        assert nll(after, labels) < nll(before, labels)
    assert (method.predict(other) == after.argmax(-1)).all()


def test_class_without_a_label_keeps_its_probability(overconfident, method):
    z, y = overconfident()
    y[y == 2] = 0
    before, after = softmax(z, -1), method.fit(z, y).predict_proba(z)
    np.testing.assert_allclose(after[:, 2], before[:, 2], rtol=1e-12)
    np.testing.assert_allclose(after.sum(-1), 1, atol=1e-12)
    assert np.abs(after - before).max() > 0.05
    assert method.seen_.tolist() == [0, 1, 3]


def test_two_of_three_classes(overconfident, method):
    z, y = overconfident(classes=3)
    after = method.fit(z, y % 2).predict_proba(z)
    check_probs(after)
    assert ((after[:, 1] > after[:, 0]) == (y % 2 == 1)).mean() > 0.5


def test_saturated_logits(overconfident, method):
    z, y = overconfident()
    after = method.fit(z * 1e4, y).predict_proba(np.r_[z[:5] * 1e6, z[:5] * 0])
    check_probs(after)


def test_scikit_learns_conventions(overconfident, method):
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
def test_torch_in_torch_out(overconfident, method, dtype):
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
        ([[0.0, 1.0], [1.0, 0.0]], [2, 2], "labels must lie in 0 ... 1"),
        ([[0.0, 1.0], [1.0, 0.0]], [1, 1], "at least two classes. Got only class 1"),
        ([[0.0, 1.0], [1.0, 0.0]], [0.5, 1.0], "Unknown label type: continuous"),
    ],
)
def test_bad_data(method, z, y, message):
    with pytest.raises(ValueError, match=message):
        method.fit(np.array(z), np.array(y))


def test_dask_in_dask_out(overconfident, method):
    array = pytest.importorskip("dask.array")
    z, y = overconfident(300)
    lazy = array.from_array(z, chunks=(70, 4))
    after = method.fit(lazy, y).predict_proba(lazy)
    assert isinstance(after, array.Array)
    np.testing.assert_allclose(after.compute(), clone(method).fit(z, y).predict_proba(z), atol=1e-12)


def test_kept_as_json_and_used_without_the_library(overconfident, method, tmp_path, monkeypatch):
    z, y = overconfident(300)
    y[y == 2] = 0
    path = tmp_path / "calibrator.json"
    save_calibrator(method.fit(z, y), path)
    for name in ("betacal", "venn_abers", "probmetrics"):
        monkeypatch.setitem(sys.modules, name, None)
    again = load_calibrator(path)
    assert type(again) is type(method)
    assert again.get_params() == method.get_params()
    np.testing.assert_array_equal(again.predict_log_proba(z), method.predict_log_proba(z))
