"""Values computed by hand, and the shape of what the network gives."""

import pytest
import torch
from my_loss import poly_focal
from my_network import TinyNet


def test_the_loss_of_a_probability_of_one_half():
    logits, labels = torch.zeros(1, 2), torch.tensor([0])
    expected = 0.5**2 * torch.log(torch.tensor(2.0)) + 0.5**3
    assert float(poly_focal(logits, labels, gamma=2)) == pytest.approx(float(expected))


def test_the_loss_has_a_finite_gradient_where_the_network_is_sure():
    logits = torch.tensor([[80.0, -80.0]], requires_grad=True)
    poly_focal(logits, torch.tensor([1]), gamma=2).backward()
    assert logits.grad.isfinite().all()


def test_the_network_gives_logits():
    assert TinyNet(channels=1, classes=10)(torch.zeros(3, 1, 8, 8)).shape == (3, 10)
