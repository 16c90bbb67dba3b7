"""Networks on pooled images: together they are those alone; what a seed shares."""

import numpy as np
import pytest
import torch
from torch import nn

from reproduction.engine import data
from reproduction.engine.data.dataset import Dataset, Split
from reproduction.studies.fcl import images as module
from reproduction.studies.fcl.images import BATCH, RATE, load_pooled, pool, train_on_images
from reproduction.studies.fcl.plan import TrainedLoss
from reproduction.studies.shared.moon_networks import StackedNetworks


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


def test_bad_input():
    with pytest.raises(ValueError, match="seeds"):
        load_pooled("made-up", (), 60, 40)
    pictures = load_pooled("made-up", (1,), 60, 40)
    with pytest.raises(ValueError, match="epochs"):
        train_on_images(TrainedLoss(), pictures, (1,), 0)
    with pytest.raises(ValueError, match="hidden"):
        train_on_images(TrainedLoss(), pictures, (1,), 1, hidden=0)
    with pytest.raises(ValueError, match="seeds"):
        train_on_images(TrainedLoss(), pictures, (1, 2), 1)
