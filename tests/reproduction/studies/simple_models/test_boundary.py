"""Turning and steepness of lines whose form is known."""

import numpy as np
import pytest

from reproduction.studies.shared.moons import moon_truth
from reproduction.studies.simple_models.boundary import boundary, steepness, turning

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
