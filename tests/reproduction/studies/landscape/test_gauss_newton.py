"""Traces of the Gauss-Newton part against full Hessians and slow loops; where they are all of the trace."""

import pytest
import torch
from torch import nn

from focal_lib.losses import FocalLoss
from reproduction.studies.landscape.gauss_newton import (
    gauss_newton_traces,
    logit_grams,
    logit_hessians,
)
from tests.focal_lib.losses.test_hessian import full_hessian


def network(activation, inputs=None):
    torch.manual_seed(5)
    model = nn.Sequential(
        *(nn.Conv2d(1, 2, 3, stride=2, bias=False), nn.BatchNorm2d(2), activation, nn.MaxPool2d(2)),
        *(nn.Flatten(), nn.Linear(2, 4), activation, nn.Linear(4, 3)),
    ).double()
    model.train()(torch.randn(9, 1, 6, 6, dtype=torch.float64))  # statistics that are not 0 and 1
    return model.eval()


def exact(model, loss, inputs, labels, batch_size=3):
    grams = logit_grams(model, inputs, batch_size)
    return gauss_newton_traces(grams, logit_hessians(loss, model(inputs), labels))


@pytest.fixture
def samples():
    generator = torch.Generator().manual_seed(2)
    return torch.randn(7, 1, 6, 6, generator=generator, dtype=torch.float64), torch.arange(7) % 3


@pytest.mark.parametrize("gamma", [0.0, 1.0, 3.0])
def test_it_is_all_of_the_trace_where_logits_are_linear_in_each_weight(samples, gamma):
    model, loss = network(nn.ReLU()), FocalLoss(gamma)
    trace = full_hessian(model, loss, *samples).trace()
    assert float(exact(model, loss, *samples).mean()) == pytest.approx(float(trace), rel=1e-9)


def test_with_another_activation_something_is_left(samples):
    model, loss = network(nn.Tanh()), FocalLoss(0.0)
    trace = full_hessian(model, loss, *samples).trace()
    assert abs(float(exact(model, loss, *samples).mean() - trace)) > 1e-3 * abs(float(trace))


def test_grams_by_one_backward_pass_for_each_logit(samples):
    model, inputs = network(nn.Tanh()), samples[0]
    grams = logit_grams(model, inputs, 3)
    for found, one in zip(grams, inputs, strict=True):
        rows = []
        for logit in model(one[None])[0]:
            gradient = torch.autograd.grad(logit, list(model.parameters()), retain_graph=True)
            rows.append(torch.cat([g.reshape(-1) for g in gradient]))
        jacobian = torch.stack(rows)
        assert torch.allclose(found, jacobian @ jacobian.T)


def test_hessians_in_the_logits():
    logits = torch.tensor([[2.0, -1.0, 0.5], [0.0, 3.0, 0.0]])
    labels = torch.tensor([1, 1])
    p = logits.double().softmax(-1)
    known = torch.diag_embed(p) - p[:, :, None] * p[:, None, :]
    assert torch.allclose(logit_hessians(FocalLoss(0.0), logits, labels), known)
    focal = logit_hessians(FocalLoss(2.0), logits, labels)
    for row, label, found in zip(logits.double(), labels, focal, strict=True):
        slow = torch.autograd.functional.hessian(lambda z, label=label: FocalLoss(2.0)(z[None], label[None]), row)
        assert torch.allclose(found, slow)
    assert float(torch.linalg.eigvalsh(focal[0])[0]) < 0  # far from its label: not convex in the logits (chapter 11)


def test_other_shapes():
    with pytest.raises(ValueError, match=r"one shape \(n, K, K\). Got \(2, 3, 3\), \(1, 3, 3\)"):
        gauss_newton_traces(torch.zeros(2, 3, 3), torch.zeros(1, 3, 3))
