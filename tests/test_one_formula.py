"""Formulas of theory that calibrators and losses write again, for a reason given there, agree with theory."""

import math

import numpy as np
import pytest
import torch

from focal_lib.calibration.calibrators.ece_surface import EceSurface
from focal_lib.calibration.calibrators.newton import focal_sums
from focal_lib.calibration.calibrators.torch_module import FocalTemperatureModule
from focal_lib.losses.focal import FocalLoss
from focal_lib.theory.maps import focal_log_probs
from focal_lib.theory.proper import focal_loss_values
from reproduction.studies.simple_models.linear import fit_linear_model, noisy_clusters

# --- the inner loops of the calibrators ---------------------------------------------------


@pytest.fixture
def batch():
    generator = torch.Generator().manual_seed(0)
    z = 6 * torch.randn(300, 5, generator=generator, dtype=torch.float64)
    z[0], z[1] = torch.tensor([0.0, 0, 0, 0, 0]), torch.tensor([60.0, 0, -60, 1, 2])  # tied, and saturated
    return z, torch.randint(5, (300,), generator=generator)


@pytest.mark.parametrize("gamma", [-0.5, 0.0, 2.0, 7.0])
def test_newton_sums(batch, gamma):
    z, y = batch

    def nll(parameters):
        log_p = focal_log_probs(parameters[0] * z, parameters[1])
        return -log_p.gather(-1, y[:, None]).sum()

    at = torch.tensor([0.7, gamma], dtype=torch.float64)
    gradient = torch.autograd.functional.jacobian(nll, at)
    step = 1e-5
    columns = [
        (
            torch.autograd.functional.jacobian(nll, at + step * e)
            - torch.autograd.functional.jacobian(nll, at - step * e)
        )
        / (2 * step)
        for e in torch.eye(2, dtype=torch.float64)
    ]
    found = focal_sums(0.7, gamma, z.numpy(), y.numpy())
    np.testing.assert_allclose(found[:3], [float(nll(at)), *gradient.tolist()], rtol=1e-9)
    hessian = [float(columns[0][0]), float(columns[0][1]), float(columns[1][1])]
    np.testing.assert_allclose(found[3:], hessian, rtol=1e-5, atol=1e-4)


@pytest.mark.parametrize("gamma", [-0.5, 0.0, 2.0, 7.0])
def test_ece_surface_and_torch_module(batch, gamma):
    z, y = batch
    expected = np.exp(focal_log_probs(z.numpy() / 1.3, gamma))
    surface = EceSurface(z.numpy(), y.numpy())
    np.testing.assert_allclose(surface.confidence(gamma, 1.3), expected.max(-1), rtol=1e-11)
    module = FocalTemperatureModule(1.3, gamma)
    np.testing.assert_allclose(module(z).numpy(), expected, rtol=1e-9, atol=1e-300)


# --- the loss -----------------------------------------------------------------------------


@pytest.mark.parametrize("q", [1e-4, 0.05, 0.3, 0.5, 0.8, 0.999])
@pytest.mark.parametrize("gamma", [0.5, 2.0, 7.0])
def test_the_training_loss(q, gamma):
    logits = torch.tensor([[math.log(q), math.log1p(-q)]], dtype=torch.float64)
    label = torch.zeros(1, dtype=torch.long)
    assert float(FocalLoss(gamma)(logits, label)) == pytest.approx(float(focal_loss_values(q, gamma)), rel=1e-12)


def test_the_loss_of_the_linear_model():
    x, labels = noisy_clusters(200, 3)
    fit = fit_linear_model(x, labels, 2.0)
    logits = torch.from_numpy(np.column_stack([np.zeros(200), x @ fit.weights]))
    assert fit.loss == pytest.approx(float(FocalLoss(2.0)(logits, torch.from_numpy(labels))), rel=1e-12)
