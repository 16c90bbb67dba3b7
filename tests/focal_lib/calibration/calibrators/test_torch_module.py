"""Calibrators as torch modules and as ONNX: the same outputs to 1e-6."""

import io
import sys

import numpy as np
import pytest
import torch
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from torch import nn

from focal_lib.calibration.calibrators.ensemble_temperature import EnsembleTemperatureScaling
from focal_lib.calibration.calibrators.focal_temperature import FocalTemperatureScaling
from focal_lib.calibration.calibrators.linear import MatrixScaling, VectorScaling
from focal_lib.calibration.calibrators.one_vs_rest import HistogramBinning
from focal_lib.calibration.calibrators.platt import PlattScaling
from focal_lib.calibration.calibrators.temperature import TemperatureScaling
from focal_lib.calibration.calibrators.torch_module import FocalTemperatureModule
from focal_lib.calibration.saved import write_onnx
from focal_lib.theory.maps import focal_log_probs
from tests.quick import first_is_quick


def hard_logits(classes=6, seed=0):
    """Ordinary samples, saturated ones, ties and huge logits, in float32."""
    rng = np.random.default_rng(seed)
    z = rng.normal(size=(300, classes)) * 3
    z[:100] *= 30
    z[100] = 0
    z[101, :] = 7
    z[102] = [1e4] + [0] * (classes - 1)
    z[103] = [0, 0] + [-1e4] * (classes - 2)
    return torch.from_numpy(z.astype(np.float32))


@pytest.mark.parametrize("gamma", [-0.9, -0.3, 0.0, 0.7, 5.0, 20.0])
@pytest.mark.parametrize("classes", [2, 6])
def test_the_module_is_the_map(gamma, classes):
    module, z = FocalTemperatureModule(1.7, gamma), hard_logits(classes)
    exact = np.exp(focal_log_probs(z.double().numpy() / 1.7, gamma))
    np.testing.assert_allclose(module(z.double()).numpy(), exact, atol=1e-12)
    np.testing.assert_allclose(module(z).numpy(), exact, atol=2e-6)  # float32 logits lose that much by themselves


METHODS = (
    TemperatureScaling(),
    EnsembleTemperatureScaling(),
    FocalTemperatureScaling("nll", "newton"),
    FocalTemperatureScaling("adaptive-ece", gammas=(-0.5,)),
    VectorScaling(1e-3),
    MatrixScaling(1e-3),
)


@pytest.mark.parametrize("method", first_is_quick(METHODS), ids=lambda method: type(method).__name__)
def test_every_runtime_gives_the_same(synthetic_logits, method, tmp_path):
    runtime = pytest.importorskip("onnxruntime")
    fit = clone(method).fit(*synthetic_logits(600, 6))
    module, z = fit.to_module(), hard_logits()
    expected = fit.predict_proba(z.double().numpy())
    np.testing.assert_allclose(module(z.double()).numpy(), expected, atol=1e-10)
    write_onnx(module, 6, tmp_path / "calibrator.onnx")
    session = runtime.InferenceSession(tmp_path / "calibrator.onnx")
    (found,) = session.run(["probs"], {"logits": z.numpy()})
    small = np.abs(z.numpy()).max(1) < 50  # beyond, float32 has not six digits of a logit after the point
    np.testing.assert_allclose(found[small], expected[small], atol=1e-6)
    np.testing.assert_allclose(found, module(z).numpy(), atol=1e-6)
    assert session.run(["probs"], {"logits": z.numpy()[:1]})[0].shape == (1, 6)  # any number of samples


def test_after_a_network(synthetic_logits):
    z, y = synthetic_logits(600, 6)
    fit = FocalTemperatureScaling("nll", "newton").fit(z, y)
    network = nn.Linear(4, 6)
    both = nn.Sequential(network, fit.to_module()).double()
    x = torch.randn(5, 4, dtype=torch.float64)
    torch.testing.assert_close(both(x), fit.predict_proba(network.double()(x)))
    buffer = io.BytesIO()
    torch.save(both.state_dict(), buffer)
    buffer.seek(0)
    again = nn.Sequential(nn.Linear(4, 6), FocalTemperatureModule(1.0, 0.0)).double()
    again.load_state_dict(torch.load(buffer, weights_only=True))
    torch.testing.assert_close(again(x), both(x))


@pytest.mark.parametrize("method", METHODS[1:5:2], ids=lambda method: type(method).__name__)
def test_prediction_is_compiled_whole(synthetic_logits, method):
    z, y = synthetic_logits(600, 6)
    fit, tensor = clone(method).fit(z, y), torch.from_numpy(z).requires_grad_()
    compiled = torch.compile(fit.predict_proba, backend="eager", fullgraph=True)
    torch.testing.assert_close(compiled(tensor), fit.predict_proba(tensor))
    assert compiled(tensor).requires_grad


def test_without_torch_it_is_said_what_to_install(synthetic_logits, monkeypatch, tmp_path):
    fit = VectorScaling(1e-3).fit(*synthetic_logits(300, 4))
    module = fit.to_module()
    monkeypatch.setitem(sys.modules, "torch", None)
    monkeypatch.delitem(sys.modules, "focal_lib.calibration.calibrators.torch_module")
    with pytest.raises(ImportError, match=r"needs the package torch: pip install 'focal-lib\[torch\]'"):
        fit.to_module()
    monkeypatch.setattr("focal_lib.validation.find_spec", lambda name: None)
    with pytest.raises(ImportError, match=r"needs the package torch: pip install 'focal-lib\[torch\]'"):
        write_onnx(module, 4, tmp_path / "calibrator.onnx")


def test_methods_without_a_module_say_so(synthetic_logits):
    z, y = synthetic_logits(300, 4)
    with pytest.raises(TypeError, match="HistogramBinning has none"):
        HistogramBinning().fit(z, y).to_module()
    with pytest.raises(NotFittedError):
        TemperatureScaling().to_module()


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("gamma", [-0.5, 0.7, 20.0])
def test_tied_classes_stay_tied(gamma, dtype):
    z = torch.from_numpy(np.round(np.random.default_rng(0).normal(size=(500, 6)) * 2)).to(dtype)
    p = FocalTemperatureModule(1.3, gamma)(z)
    assert torch.equal(p == p.amax(-1, keepdim=True), z == z.amax(-1, keepdim=True))


def test_the_predicted_class_is_that_of_the_largest_logit(synthetic_logits):
    """Of logits that the map cannot tell apart in float32, too."""
    z, y = synthetic_logits(300, 4)
    near = np.repeat(np.float32([[1e-6, 1.0, 1.0, 0.0]]), 5, 0)
    near[:, 2] = np.nextafter(np.float32(1), np.float32(2))
    for method in (TemperatureScaling(), FocalTemperatureScaling(), EnsembleTemperatureScaling()):
        fit = method.fit(z, y)
        assert (fit.predict(near) == 2).all()
        assert (fit.predict(torch.from_numpy(near)) == 2).all()


def test_platt_scaling_is_a_module(synthetic_logits):
    z, y = synthetic_logits(300, 2)
    fit = PlattScaling().fit(z, y)
    np.testing.assert_allclose(fit.to_module()(torch.from_numpy(z)).numpy(), fit.predict_proba(z), atol=1e-12)
    compiled = torch.compile(fit.predict_proba, backend="eager", fullgraph=True)
    torch.testing.assert_close(compiled(torch.from_numpy(z)), fit.predict_proba(torch.from_numpy(z)))
