"""Networks trained together are those trained alone; what the losses ask for, found independently."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize
from scipy.special import log_softmax, softmax
from sklearn.datasets import make_moons
from torch import nn

from focal_lib.losses.focal import FocalCalibrationLoss
from focal_lib.theory.maps import focal_log_probs, focal_logit, inverse_focal_logit
from focal_lib.theory.proper import focal_calibration_minimiser
from reproduction.studies.shared.moon_networks import (
    MoonLoss,
    StackedNetworks,
    absolute_calibration_log_probs,
    moon_logits,
    train_on_moons,
)
from reproduction.studies.shared.moons import moon_truth

LOSSES = [MoonLoss(), MoonLoss(10.0), MoonLoss(10.0, 1.5), MoonLoss(brier=True), MoonLoss(0.0, 2.0)]
NAMES = ["cross-entropy", "focal 10", "FCL 10, 1.5", "Brier", "FCL 0, 2"]


def alone(networks, at):
    """The network at that place, of nn.Linear."""
    layers = []
    for weight, bias in zip(networks.weights, networks.biases, strict=True):
        linear = nn.Linear(weight.shape[1], weight.shape[2], dtype=torch.float64)
        with torch.no_grad():
            linear.weight.copy_(weight[at].T)
            linear.bias.copy_(bias[at, 0])
        layers += [linear, nn.ReLU()]
    return nn.Sequential(*layers[:-1])


@pytest.mark.parametrize("loss", LOSSES[:4], ids=NAMES[:4])
def test_together_is_alone(loss):
    """Adam on each network by itself, with PyTorch's layers and the mean of the losses."""
    seeds, samples, epochs = (3, 7), 40, 25
    together = train_on_moons(loss, seeds, samples=samples, epochs=epochs, rate=0.01)[epochs]
    points = torch.randn(10, 2, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    for at, seed in enumerate(seeds):
        network = alone(StackedNetworks(seeds), at)
        x, y = map(torch.from_numpy, make_moons(samples, noise=0.2, random_state=seed))
        optimiser = torch.optim.Adam(network.parameters(), 0.01)
        for _ in range(epochs):
            optimiser.zero_grad()
            loss.build()(network(x), y).mean().backward()
            optimiser.step()
        expected = network(points).detach()
        with torch.no_grad():
            found = together(points.expand(2, -1, -1))[at]
        np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-8)


def test_a_seed_is_the_same_whoever_is_beside_it():
    one, two = StackedNetworks((5,)), StackedNetworks((4, 5))
    for a, b in zip(one.parameters(), two.parameters(), strict=True):
        assert torch.equal(a[0], b[1])


def test_marks_are_stations_of_one_way():
    kept = train_on_moons(MoonLoss(), (0,), samples=20, epochs=4, marks=(0, 2))
    assert sorted(kept) == [0, 2, 4]
    shorter = train_on_moons(MoonLoss(), (0,), samples=20, epochs=2)[2]
    for a, b in zip(kept[2].parameters(), shorter.parameters(), strict=True):
        assert torch.equal(a, b)
    for a, b in zip(kept[0].parameters(), StackedNetworks((0,)).parameters(), strict=True):
        assert torch.equal(a, b)


def test_logits_are_differences_at_the_points():
    grid = moon_truth(step=0.1)
    networks = StackedNetworks((1, 2))
    found = moon_logits(networks, grid)
    assert found.shape == (2, len(grid.truth.points))
    out = alone(networks, 1)(torch.from_numpy(grid.truth.points[:5])).detach()
    np.testing.assert_allclose(found[1, :5], (out[:, 1] - out[:, 0]).numpy(), rtol=1e-10)


@pytest.mark.parametrize(("loss", "name"), zip(LOSSES, NAMES, strict=True))
def test_labels(loss, name):
    assert loss.label == name


@pytest.mark.parametrize("loss", LOSSES, ids=NAMES)
def test_what_is_asked_for_is_mapped_to_the_truth(loss):
    truth = np.linspace(-25, 25, 101)
    np.testing.assert_allclose(loss.mapped(loss.wanted(truth)), truth, atol=1e-9)


def test_what_is_asked_for_is_the_minimiser():
    truth = np.array([-6.0, -1.0, 0.5, 4.0])
    probs = np.stack([1 / (1 + np.exp(truth)), 1 / (1 + np.exp(-truth))], axis=-1)
    q = focal_calibration_minimiser(probs, 10.0, 1.5)
    np.testing.assert_allclose(MoonLoss(10.0, 1.5).wanted(truth), np.log(q[:, 1] / q[:, 0]), atol=1e-8)
    np.testing.assert_allclose(MoonLoss(10.0).wanted(truth), inverse_focal_logit(truth, 10.0), atol=1e-9)
    np.testing.assert_allclose(MoonLoss(10.0).mapped(truth), focal_logit(truth, 10.0), rtol=1e-12)


@pytest.mark.parametrize(
    ("bad", "said"),
    [
        ({"seeds": ()}, "seeds"),
        ({"samples": 1}, "samples"),
        ({"epochs": 0}, "epochs"),
        ({"rate": 0.0}, "rate"),
        ({"epochs": 2, "marks": (3,)}, "marks"),
    ],
)
def test_bad_input(bad, said):
    with pytest.raises(ValueError, match=said):
        train_on_moons(MoonLoss(), bad.pop("seeds", (0,)), **bad)


def found_by_search(p, gamma, lam):
    """Log of what minimises the expected loss, as the loss itself gives it."""
    loss = FocalCalibrationLoss(gamma, lam, reduction="none", norm="l1")

    def risk(z):
        logits = torch.tensor(z, requires_grad=True)
        value = torch.tensor(p) @ loss(logits.expand(len(p), -1), torch.arange(len(p)))
        value.backward()
        return float(value.detach()), logits.grad.numpy()

    return log_softmax(minimize(risk, np.zeros(len(p)), jac=True, options={"gtol": 1e-10}).x, -1)


@pytest.mark.parametrize(("gamma", "lam"), [(0.0, 0.5), (1.0, 0.0), (2.0, 0.5), (3.0, 0.2), (3.0, 1.0)])
@pytest.mark.parametrize("p", [(0.5, 0.3, 0.2), (0.55, 0.45), (0.4, 0.3, 0.2, 0.1)])
def test_undoes_the_minimum(p, gamma, lam):
    p = np.array(p)
    found = absolute_calibration_log_probs(found_by_search(p, gamma, lam), gamma, lam)
    np.testing.assert_allclose(np.exp(found), p, atol=2e-5)


@given(st.integers(0, 100), st.floats(0, 7))
def test_without_the_distance_it_is_the_focal_map(seed, gamma):
    z = np.random.default_rng(seed).normal(size=(3, 4)) * 5
    found = absolute_calibration_log_probs(log_softmax(z, -1), gamma, 0.0)
    np.testing.assert_allclose(found, focal_log_probs(z, gamma), rtol=1e-9, atol=1e-9)


def test_cross_entropy_with_the_distance_is_flattened():
    q = softmax(np.array([2.0, 0.0, -1.0]))
    v = q / (1 + 2 * 1.5 * q)
    np.testing.assert_allclose(np.exp(absolute_calibration_log_probs(np.log(q), 0.0, 1.5)), v / v.sum(), rtol=1e-12)


def test_extremes_stay_finite():
    log_q = np.array([[0.0, -800.0], [-1e-18, -41.0], [-0.7, -0.7]])
    log_q[2] = np.log(0.5)
    for gamma in (0.0, 3.0):
        found = absolute_calibration_log_probs(log_q, gamma, 0.5)
        assert np.isfinite(found).all()
        np.testing.assert_allclose(np.exp(found).sum(-1), 1, rtol=1e-12)


@pytest.mark.parametrize(("gamma", "lam", "said"), [(-1.0, 1.0, "gamma"), (1.0, -1.0, "lam")])
def test_a_negative_gamma_or_lam_is_refused(gamma, lam, said):
    with pytest.raises(ValueError, match=said):
        absolute_calibration_log_probs(np.log([0.5, 0.5]), gamma, lam)
