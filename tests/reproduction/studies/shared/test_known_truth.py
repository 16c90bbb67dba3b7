"""Predictions against a known truth: exact values, and against a large sample."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import logit

from reproduction.studies.shared.known_truth import KnownTruth, against_truth

TRUTH = KnownTruth(np.array([[0.0], [1.0]]), np.array([0.25, 0.75]), np.array([0.2, 0.9]))


def test_known_values():
    found = against_truth(logit(np.array([0.4, 0.6])), TRUTH)
    assert found.accuracy == pytest.approx(0.25 * 0.8 + 0.75 * 0.9)
    assert found.confidence == pytest.approx(0.6)
    assert found.gap == pytest.approx(0.6 - 0.875)
    assert found.distance == pytest.approx(np.sqrt(0.25 * 0.2**2 + 0.75 * 0.3**2))
    kl = 0.25 * (0.2 * np.log(0.5) + 0.8 * np.log(0.8 / 0.6)) + 0.75 * (0.9 * np.log(1.5) + 0.1 * np.log(0.25))
    assert found.excess == pytest.approx(kl)


@given(st.lists(st.floats(0.01, 0.99), min_size=2, max_size=2))
def test_nothing_beats_the_truth(probs):
    found, best = against_truth(logit(np.array(probs)), TRUTH), against_truth(logit(TRUTH.posterior), TRUTH)
    assert found.accuracy <= best.accuracy + 1e-12
    assert found.excess >= -1e-12
    assert best.accuracy == pytest.approx(TRUTH.accuracy)
    assert best.distance == pytest.approx(0, abs=1e-9)
    assert best.gap == pytest.approx(0, abs=1e-9)


def test_axes_before_the_points_are_kept():
    logits = np.zeros((3, 4, 2))
    found = against_truth(logits, TRUTH)
    assert {v.shape for v in (found.accuracy, found.confidence, found.distance, found.excess)} == {(3, 4)}
    np.testing.assert_allclose(found.accuracy, 0.25 * 0.8 + 0.75 * 0.1)  # class 0 is predicted at 0


def test_certain_truths_and_far_logits_cost_nothing_wrong():
    sure = KnownTruth(np.zeros((2, 1)), np.array([0.5, 0.5]), np.array([0.0, 1.0]))
    assert against_truth(np.array([-800.0, 800.0]), sure).excess == 0
    assert against_truth(np.array([800.0, -800.0]), sure).excess == 800


@pytest.mark.parametrize(
    ("points", "shares", "posterior", "said"),
    [
        (np.zeros(2), np.ones(2) / 2, np.ones(2), "shapes"),
        (np.zeros((2, 1)), np.ones(3) / 3, np.ones(2), "shapes"),
        (np.zeros((2, 1)), np.ones(2), np.ones(2), "add up to 1"),
        (np.zeros((2, 1)), np.ones(2) / 2, np.array([0.5, 1.1]), r"\[0, 1\]"),
    ],
)
def test_what_is_no_truth(points, shares, posterior, said):
    with pytest.raises(ValueError, match=said):
        KnownTruth(points, shares, posterior)


def test_other_numbers_of_logits():
    with pytest.raises(ValueError, match=r"shape \(\.\.\., 2\)"):
        against_truth(np.zeros(3), TRUTH)
