"""Networks of many seeds: each is trained as it would be alone, on images and on two moons."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from scipy.special import logit
from torch import nn

from reproduction.engine import data
from reproduction.engine.data.dataset import Dataset, Split
from reproduction.studies.fcl import train as module
from reproduction.studies.fcl.plan import TrainedLoss
from reproduction.studies.fcl.train import BATCH, RATE, lean, load_pooled, pool, train_on_images, train_on_whole_moons
from reproduction.studies.shared.known_truth import KnownTruth
from reproduction.studies.shared.moon_networks import MoonLoss, StackedNetworks, moon_logits
from reproduction.studies.shared.moons import moon_truth


@pytest.fixture(autouse=True)
def small(monkeypatch):
    """Pictures of 8 x 8 pixels in three classes."""
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 3, 500)
    pixels = (rng.integers(0, 128, (500, 8, 8, 1)) + 40 * labels[:, None, None, None]).astype(np.uint8)
    found = Dataset("made-up", 3, Split(pixels[:400], labels[:400]), Split(pixels[400:], labels[400:]))
    monkeypatch.setattr(data, "load", lambda name: found)
    load_pooled.cache_clear()
    yield
    load_pooled.cache_clear()


def test_pool_takes_means_of_blocks():
    image = np.arange(15, dtype=np.uint8).reshape(1, 3, 5, 1)
    np.testing.assert_array_equal(pool(image)[0, :, :, 0], [[3.0, 5.0]])  # (0 + 1 + 5 + 6) / 4


@pytest.mark.parametrize("loss", [TrainedLoss(), TrainedLoss("fcl", 3.0, 0.5), TrainedLoss("dual-focal", 2.0)])
def test_together_is_alone(loss):
    seeds, epochs, n = (3, 7), 2, 150
    pictures = load_pooled("made-up", seeds, n, 50)
    together = train_on_images(loss, pictures, seeds, epochs)
    for at, seed in enumerate(seeds):
        start = StackedNetworks(seeds, (16, 100, 3), torch.float32)
        layers = [nn.Linear(16, 100), nn.ReLU(), nn.Linear(100, 3)]
        with torch.no_grad():
            for linear, weight, bias in zip(layers[::2], start.weights, start.biases, strict=True):
                linear.weight.copy_(weight[at].T)
                linear.bias.copy_(bias[at, 0])
        network, generator = nn.Sequential(*layers), torch.Generator().manual_seed(seed)
        optimiser = torch.optim.Adam(network.parameters(), RATE)
        for _ in range(epochs):
            for index in torch.randperm(n, generator=generator).split(BATCH):
                optimiser.zero_grad()
                loss.build()(network(pictures.train[0][at][index]), pictures.train[1][at][index]).backward()
                optimiser.step()
        with torch.no_grad():
            expected = network(pictures.test[0][at]).numpy()
        np.testing.assert_allclose(together.test[at], expected, rtol=1e-3, atol=1e-4)


def test_curves_end_with_what_is_returned(monkeypatch):
    monkeypatch.setattr(module, "WATCHED", 100)  # all test images
    seeds = (1,)
    pictures = load_pooled("made-up", seeds, 100, 50)
    found = train_on_images(TrainedLoss("focal", 2.0), pictures, seeds, 3)
    assert list(found.curves["epoch"]) == [0, 1, 2, 3]
    wrong = found.test[0].argmax(-1) != pictures.test[1].numpy()
    assert found.curves["error"].iloc[-1] == pytest.approx(100 * wrong.mean())
    assert found.curves["loss"].iloc[-1] < found.curves["loss"].iloc[0]


def test_the_hidden_layer_can_be_of_another_size():
    pictures = load_pooled("made-up", (1,), 60, 40)
    default, same, wider = (train_on_images(TrainedLoss(), pictures, (1,), 1, *h) for h in ((), (100,), (130,)))
    assert np.array_equal(default.test, same.test)
    assert not np.allclose(default.test, wider.test)


def test_a_seed_has_the_same_images_whoever_is_beside_it():
    one, two = load_pooled("made-up", (5,), 60, 40), load_pooled("made-up", (4, 5), 60, 40)
    assert torch.equal(one.train[0][0], two.train[0][1])
    assert torch.equal(one.test[1], two.test[1])


def test_bad_input_of_images():
    with pytest.raises(ValueError, match="seeds"):
        load_pooled("made-up", (), 60, 40)
    pictures = load_pooled("made-up", (1,), 60, 40)
    with pytest.raises(ValueError, match="epochs"):
        train_on_images(TrainedLoss(), pictures, (1,), 0)
    with pytest.raises(ValueError, match="hidden"):
        train_on_images(TrainedLoss(), pictures, (1,), 1, hidden=0)
    with pytest.raises(ValueError, match="seeds"):
        train_on_images(TrainedLoss(), pictures, (1, 2), 1)


def test_lean_counts_the_likelier_class():
    truth = KnownTruth(np.zeros((2, 1)), np.array([0.25, 0.75]), np.array([0.9, 0.2]))
    assert lean(logit(truth.posterior), truth) == pytest.approx(0)
    # towards one half by 0.1 at the first point, by 0.05 at the second
    assert lean(logit(np.array([0.8, 0.25])), truth) == pytest.approx(-0.25 * 0.1 - 0.75 * 0.05)
    both = lean(logit(np.array([[0.95, 0.1], [0.8, 0.25]])), truth)
    assert both.shape == (2,)
    assert both[0] > 0 > both[1]


def test_the_expected_loss_is_what_is_trained():
    """One step of Adam from the same start, with the loss written out."""
    grid, loss = moon_truth(step=0.1), MoonLoss(3.0, 0.5)
    networks = train_on_whole_moons(loss, (4,), grid, epochs=1, rate=0.01)
    again = type(networks)((4,))
    optimiser = torch.optim.Adam(again.parameters(), 0.01)
    kept = grid.truth.shares > 1e-8
    x, share, p = (
        torch.from_numpy(part[kept]) for part in (grid.truth.points, grid.truth.shares, grid.truth.posterior)
    )
    q = torch.softmax(again(x[None])[0], -1)
    of_labels = [-((1 - q[:, y]) ** 3) * q[:, y].log() + 0.5 * ((q[:, y] - 1) ** 2 + q[:, 1 - y] ** 2) for y in (0, 1)]
    (share * ((1 - p) * of_labels[0] + p * of_labels[1])).sum().backward()
    optimiser.step()
    for a, b in zip(networks.parameters(), again.parameters(), strict=True):
        torch.testing.assert_close(a, b)


def test_it_comes_to_what_the_loss_asks_for():
    grid = moon_truth(step=0.1)
    loss = MoonLoss(3.0, 1.0)
    asked = float(lean(loss.wanted(grid.logits), grid.truth))
    found = lean(moon_logits(train_on_whole_moons(loss, (0,), grid, epochs=250, rate=0.02), grid), grid.truth)
    assert found[0] == pytest.approx(asked, rel=0.3)
    assert asked < 0


@pytest.mark.parametrize(("bad", "said"), [({"seeds": ()}, "seeds"), ({"epochs": 0}, "epochs"), ({"rate": 0}, "rate")])
def test_bad_input_of_moons(bad, said):
    with pytest.raises(ValueError, match=said):
        train_on_whole_moons(MoonLoss(), bad.pop("seeds", (0,)), moon_truth(step=0.1), **bad)
