"""Hessian trace and top eigenvalue against the full Hessian; the penalty against a slow derivative."""

import copy

import numpy as np
import pytest
import torch
from torch.func import functional_call
from torch.nn.functional import cross_entropy

from focal_lib.losses import FocalLoss, HessianTraceLoss
from focal_lib.losses.hessian import hessian_top_eigenvalue, hessian_trace, hutchinson
from reproduction.engine.models import build


@pytest.fixture
def setting():
    torch.manual_seed(3)
    model = torch.nn.Sequential(torch.nn.Linear(4, 5), torch.nn.Tanh(), torch.nn.Linear(5, 3)).double()
    return model, torch.randn(20, 4, dtype=torch.float64), torch.randint(3, (20,))


def full_hessian(model, loss, inputs, labels):
    names = [name for name, _ in model.named_parameters()]
    shapes = [p.shape for p in model.parameters()]

    def value(flat):
        pieces = flat.split([s.numel() for s in shapes])
        weights = {n: piece.reshape(s) for n, piece, s in zip(names, pieces, shapes, strict=True)}
        return loss(functional_call(model, weights, inputs), labels)

    start = torch.cat([p.detach().reshape(-1) for p in model.parameters()])
    return torch.autograd.functional.hessian(value, start)


@pytest.mark.parametrize("gamma", [0.0, 2.0])
def test_trace_and_top_eigenvalue(setting, gamma):
    loss = FocalLoss(gamma)
    matrix = full_hessian(setting[0], loss, *setting[1:])
    trace = hessian_trace(setting[0], loss, *setting[1:], samples=400)
    assert abs(trace.value - float(matrix.trace())) < 4 * trace.error
    assert 0 < trace.error < 0.1 * abs(trace.value)
    for batch_size in (7, 20):  # seven, seven and six: each batch's mean counts by its size; all in one graph
        top = hessian_top_eigenvalue(setting[0], loss, *setting[1:], batch_size=batch_size)
        assert top == pytest.approx(float(torch.linalg.eigvalsh(matrix)[-1]), rel=2e-3)


@pytest.mark.slow
def test_attention_has_second_derivatives():
    torch.manual_seed(0)
    model, inputs, labels = build("small-vit", 1, 28, 10), torch.randn(4, 1, 28, 28), torch.arange(4)
    trace = hessian_trace(model, FocalLoss(1.0), inputs, labels, samples=2)
    assert np.isfinite(trace.value)
    tops = [hessian_top_eigenvalue(model, FocalLoss(1.0), inputs, labels, n, tolerance=1e-2) for n in (4, 2)]
    assert tops[0] == pytest.approx(tops[1], rel=2e-2)
    assert tops[0] > 0


def test_every_sign_vector_is_an_exact_quadratic_form(setting):
    model, inputs, labels = setting
    matrix = full_hessian(model, cross_entropy, inputs, labels)
    estimates = hutchinson(
        cross_entropy(model(inputs), labels), model.parameters(), torch.Generator().manual_seed(1), 3
    )
    generator = torch.Generator().manual_seed(1)
    for found in estimates:
        signs = torch.cat(
            [torch.randint(2, p.shape, generator=generator).reshape(-1) * 2 - 1 for p in model.parameters()]
        )
        v = signs.double()
        assert float(found) == pytest.approx(float(v @ matrix @ v), rel=1e-10)


def test_penalty_and_its_gradient(setting):
    model, inputs, labels = setting
    loss = HessianTraceLoss(0.3)

    def value(network):
        return loss.objective(network(inputs), labels, network, torch.Generator().manual_seed(7))

    total = value(model)
    total.backward()
    slope = model[0].weight.grad[1, 2].item()
    step = 1e-5
    values = []
    for sign in (1, -1):
        moved = copy.deepcopy(model)
        with torch.no_grad():
            moved[0].weight[1, 2] += sign * step
        values.append(float(value(moved).detach()))
    assert slope == pytest.approx((values[0] - values[1]) / (2 * step), rel=1e-6)
    assert float(total) > float(cross_entropy(model(inputs), labels))
    assert float(HessianTraceLoss(0.0).objective(model(inputs), labels, model, None)) == float(
        cross_entropy(model(inputs), labels)
    )


def test_bad_input():
    with pytest.raises(ValueError, match="lam must be a finite number >= 0"):
        HessianTraceLoss(-1.0)
    with pytest.raises(ValueError, match="must have shapes"):
        HessianTraceLoss(1.0)(torch.zeros(3), torch.zeros(3, dtype=torch.long))


def test_frozen_and_unused_weights_have_no_part(setting):
    """In one batch as in several."""
    model, inputs, labels = setting

    class WithMore(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.used, self.unused = copy.deepcopy(model), torch.nn.Linear(2, 2)
            self.frozen = torch.nn.Parameter(torch.ones(3, dtype=torch.float64), requires_grad=False)

        def forward(self, inputs):
            return self.used(inputs) * self.frozen

    whole = hessian_top_eigenvalue(model, cross_entropy, inputs, labels)
    for batch_size in (1000, 6):
        found = hessian_top_eigenvalue(WithMore(), cross_entropy, inputs, labels, batch_size=batch_size)
        assert found == pytest.approx(whole, rel=2e-3)


def test_a_loss_that_is_no_mean_is_refused(setting):
    model, inputs, labels = setting
    with pytest.raises(ValueError, match=r"loss must have reduction 'mean'\. Got 'sum'"):
        hessian_top_eigenvalue(model, torch.nn.CrossEntropyLoss(reduction="sum"), inputs, labels)
    with pytest.raises(ValueError, match=r"inputs must hold samples\. Got none"):
        hessian_top_eigenvalue(model, cross_entropy, inputs[:0], labels[:0])
