"""What came of networks, seed by seed, and the contrasts."""

import numpy as np
import pytest

from reproduction.studies.shared.moon_networks import MoonLoss
from reproduction.studies.shared.moons import moon_truth
from reproduction.studies.simple_models.seeds import by_loss, written_contrasts

GRID = moon_truth(step=0.1)
LOSSES = (MoonLoss(), MoonLoss(brier=True), MoonLoss(3.0), MoonLoss(3.0, 1.0))


def made_up(noise):
    """Networks that give what their losses ask for, but for noise in the logits, the same for each loss of a seed."""
    rng = np.random.default_rng(0)
    off = noise * rng.normal(size=(5, 1)) + np.zeros(len(GRID.logits))
    return {loss: loss.wanted(GRID.logits) + off for loss in LOSSES}


def test_at_the_minimum_the_map_leads_to_the_truth():
    table = by_loss({loss: loss.wanted(GRID.logits)[None] for loss in LOSSES}, GRID)
    np.testing.assert_allclose(table["mapped_distance"], 0, atol=1e-8)
    np.testing.assert_allclose(table["mapped_gap"], 0, atol=1e-8)
    np.testing.assert_allclose(table["turning"], table["turning"][0], rtol=0.05)
    by_label = table.set_index("loss")
    assert by_label.loc["Brier", "distance"] < 1e-8
    assert by_label.loc["focal 3", "distance"] > by_label.loc["FCL 3, 1", "distance"] > 0.01
    assert by_label.loc["focal 3", "steepness"] < by_label.loc["cross-entropy", "steepness"]


def test_contrasts_answer():
    table = by_loss(made_up(0.02), GRID, shape=False)
    found = written_contrasts(table, 3.0, 1.0)
    assert len(found) == 6
    answers = dict(zip(found["question"], found["answer"], strict=True))
    assert answers["as trained, FCL is nearer than focal loss"] == "yes"
    assert answers["its map brings focal loss nearer"] == "yes"
    assert answers["Brier is nearer than cross-entropy"] == "open"  # they are the same
    assert (found["low"] <= found["difference"]).all()
    assert "turning" not in table


def test_the_other_way_is_said():
    table = by_loss(made_up(0.02), GRID, shape=False)
    names = {"focal 3": "FCL 3, 1", "FCL 3, 1": "focal 3"}
    swapped = table.assign(loss=table["loss"].replace(names))
    assert written_contrasts(swapped, 3.0, 1.0)["answer"][0] == "no, the opposite"


def test_one_network_has_no_interval():
    table = by_loss({loss: loss.wanted(GRID.logits)[None] for loss in LOSSES}, GRID, shape=False)
    with pytest.raises(ValueError, match="pairs"):
        written_contrasts(table, 3.0, 1.0)
