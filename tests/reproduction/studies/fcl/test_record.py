"""The record of FCL's networks goes on where it stopped."""

import pandas as pd
import pytest

from reproduction.studies.fcl import record as fcl_networks
from reproduction.studies.fcl.plan import TrainedLoss


def test_each_loss_is_trained_once(tmp_path, monkeypatch):
    asked = []
    losses = [TrainedLoss(), TrainedLoss("fcl", 3.0, 0.5)]

    class Trained:
        curves = pd.DataFrame({"seed": [1], "epoch": [0], "loss": [1.0], "error": [90.0]})

    def train(loss, images, seeds, epochs):
        asked.append(loss)
        return Trained()

    def measured(trained, images, dataset):
        return pd.DataFrame([{"loss": asked[-1].label, "value": 1.0}])

    monkeypatch.setattr(fcl_networks, "losses_recorded", lambda: losses)
    monkeypatch.setattr(fcl_networks, "load_pooled", lambda *_: None)
    monkeypatch.setattr(fcl_networks, "train_on_images", train)
    monkeypatch.setattr(fcl_networks, "measure_trained", measured)
    fcl_networks.record_images(0, tmp_path, (1,), 1)  # no time
    assert not asked
    fcl_networks.record_images(1, tmp_path, (1,), 1)
    fcl_networks.record_images(1, tmp_path, (1,), 1)
    assert asked == losses
    assert list(pd.read_parquet(tmp_path / "images.parquet")["loss"]) == [loss.label for loss in losses]
    assert set(pd.read_parquet(tmp_path / "epochs.parquet")["trained"]) == {loss.label for loss in losses}


@pytest.mark.slow
def test_moons_are_trained_with_each_distance_once(tmp_path, monkeypatch):
    monkeypatch.setattr(fcl_networks, "LAMBDAS", (0.0, 1.0))
    monkeypatch.setattr(fcl_networks, "MOON_SAMPLES", 10)
    for _ in range(2):
        fcl_networks.record_moons(1, tmp_path, (1, 2), epochs=1)
    table = pd.read_parquet(tmp_path / "moons.parquet")
    assert len(table) == 3 * 2 * 2  # losses, ways of training, networks
    assert not table.duplicated(["lam", "absolute", "trained_on", "network"]).any()
