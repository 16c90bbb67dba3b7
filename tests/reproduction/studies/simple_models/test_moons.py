"""The boundary's turning and steepness, and contrasts seed by seed."""

from __future__ import annotations

import numpy as np
import pytest

from reproduction.studies.shared.moon_networks import MoonLoss
from reproduction.studies.shared.moons import moon_truth
from reproduction.studies.simple_models.moons import boundary, by_loss, steepness, turning, written_contrasts

GRID = moon_truth()
X, Y = np.meshgrid(GRID.x, GRID.y, indexing="ij")


@pytest.mark.parametrize("direction", [(1.0, 0.0), (0.3, 2.0), (-1.0, 1.0)])
def test_a_straight_line_does_not_turn(direction):
    logits = direction[0] * (X - 0.5) + direction[1] * (Y - 0.25)
    assert turning(logits, GRID) == pytest.approx(0, abs=1e-6)
    assert steepness(logits, GRID) == pytest.approx(np.hypot(*direction) / 4, rel=1e-9)


def test_a_corner_turns_by_its_angle():
    wedge = np.minimum(X - 0.5, Y - 0.25)  # a right angle, within the dense part
    assert turning(wedge, GRID) == pytest.approx(0.5, abs=0.02)


def test_a_circle_turns_twice_a_half():
    circle = 0.25**2 - (X - 0.5) ** 2 - (Y - 0.25) ** 2
    inside = GRID.dense[np.hypot(X - 0.5, Y - 0.25) < 0.35].all()
    assert inside  # else it would be cut
    assert turning(circle, GRID) == pytest.approx(2, abs=0.1)
    assert steepness(circle, GRID) == pytest.approx(2 * 0.25 / 4, rel=0.02)


def test_the_size_of_the_logits_changes_steepness_alone():
    logits = Y - 0.25 - 0.3 * np.sin(3 * X)
    assert turning(5 * logits, GRID) == pytest.approx(turning(logits, GRID), rel=1e-9)
    assert steepness(5 * logits, GRID) == pytest.approx(5 * steepness(logits, GRID), rel=1e-9)
    assert turning(-logits, GRID) == pytest.approx(turning(logits, GRID), rel=1e-9)


def test_without_a_boundary_there_is_none():
    assert boundary(np.ones_like(X), GRID) == []
    assert turning(np.ones_like(X), GRID) == 0
    assert np.isnan(steepness(np.ones_like(X), GRID))


def test_a_line_far_from_the_samples_does_not_count():
    assert boundary(Y - GRID.y[-2], GRID) == []


COARSE = moon_truth(step=0.1)
LOSSES = (MoonLoss(), MoonLoss(brier=True), MoonLoss(3.0), MoonLoss(3.0, 1.0))


def made_up(noise):
    """Networks that give what their losses ask for, but for noise in the logits, the same for each loss of a seed."""
    rng = np.random.default_rng(0)
    off = noise * rng.normal(size=(5, 1)) + np.zeros(len(COARSE.logits))
    return {loss: loss.wanted(COARSE.logits) + off for loss in LOSSES}


def test_at_the_minimum_the_map_leads_to_the_truth():
    table = by_loss({loss: loss.wanted(COARSE.logits)[None] for loss in LOSSES}, COARSE)
    np.testing.assert_allclose(table["mapped_distance"], 0, atol=1e-8)
    np.testing.assert_allclose(table["mapped_gap"], 0, atol=1e-8)
    np.testing.assert_allclose(table["turning"], table["turning"][0], rtol=0.05)
    by_label = table.set_index("loss")
    assert by_label.loc["Brier", "distance"] < 1e-8
    assert by_label.loc["focal 3", "distance"] > by_label.loc["FCL 3, 1", "distance"] > 0.01
    assert by_label.loc["focal 3", "steepness"] < by_label.loc["cross-entropy", "steepness"]


def test_contrasts_answer():
    table = by_loss(made_up(0.02), COARSE, shape=False)
    found = written_contrasts(table, 3.0, 1.0)
    assert len(found) == 6
    answers = dict(zip(found["question"], found["answer"], strict=True))
    assert answers["as trained, FCL is nearer than focal loss"] == "yes"
    assert answers["its map brings focal loss nearer"] == "yes"
    assert answers["Brier is nearer than cross-entropy"] == "open"  # they are the same
    assert (found["low"] <= found["difference"]).all()
    assert "turning" not in table


def test_the_other_way_is_said():
    table = by_loss(made_up(0.02), COARSE, shape=False)
    names = {"focal 3": "FCL 3, 1", "FCL 3, 1": "focal 3"}
    swapped = table.assign(loss=table["loss"].replace(names))
    assert written_contrasts(swapped, 3.0, 1.0)["answer"][0] == "no, the opposite"


def test_one_network_has_no_interval():
    table = by_loss({loss: loss.wanted(COARSE.logits)[None] for loss in LOSSES}, COARSE, shape=False)
    with pytest.raises(ValueError, match="pairs"):
        written_contrasts(table, 3.0, 1.0)
