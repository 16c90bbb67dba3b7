"""The gap by smooth recalibration: exact values, the slow way, and what it must not exceed."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from focal_lib.theory.proper import focal_minimiser
from reproduction.studies.fcl.post_processing import BinaryPredictor, post_processing_gap, smooth_recalibration


def constant(v, p):
    return BinaryPredictor(np.array([v]), np.array([p]), np.array([1.0]))


@pytest.mark.parametrize(
    ("gamma", "lam", "gap"),
    [(2, 1.0, 0.0259563145), (2, 0.5, 0.0083043007), (1, 0.5, 0.0034187791), (3, 1.0, 0.0401671043), (2, 0.0, 0.0)],
)
def test_focal_minimiser_of_a_constant(gamma, lam, gap):
    """By mpmath: the constant predictor that minimises focal loss where the truth is 0.8."""
    q = float(focal_minimiser(np.array([0.8, 0.2]), gamma)[0])
    assert post_processing_gap(constant(q, 0.8), gamma, lam) == pytest.approx(gap, abs=2e-8)


def test_against_a_grid_of_maps():
    """Two pieces: every map on a grid of its three values, with slopes in [0, 2]."""
    rng = np.random.default_rng(0)
    v = rng.uniform(size=40)
    predictor = BinaryPredictor.of_labels(v, rng.random(40) < v**2)
    found = smooth_recalibration(predictor, 1.0, 0.5, pieces=2)
    steps = np.linspace(0, 1, 41)
    least = min(
        (predictor.loss(1.0, 0.5, np.interp(v, [0, 0.5, 1], [a, b, c])), a, b, c)
        for a in steps
        for b in steps[(steps >= a) & (steps <= a + 1)]
        for c in steps[(steps >= b) & (steps <= b + 1)]
    )
    reached = predictor.loss(1.0, 0.5, np.interp(v, [0, 0.5, 1], found))
    assert reached <= least[0] + 1e-9
    np.testing.assert_allclose(found, least[1:], atol=0.06)


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 1000), st.floats(0, 5), st.floats(0, 5))
def test_it_takes_nothing_away_from_itself_and_keeps_its_slopes(seed, gamma, lam):
    rng = np.random.default_rng(seed)
    v = rng.uniform(size=60)
    predictor = BinaryPredictor.of_labels(v, rng.random(60) < 0.3)
    kappa = smooth_recalibration(predictor, gamma, lam)
    assert (np.diff(kappa) >= -1e-8).all()
    assert (np.diff(kappa) <= 2 / 20 + 1e-8).all()
    assert post_processing_gap(predictor, gamma, lam) >= -1e-8


def test_a_calibrated_predictor_has_no_gap_by_a_proper_loss():
    v = np.linspace(0.05, 0.95, 19)
    predictor = BinaryPredictor(v, v, np.full(19, 1 / 19))
    assert post_processing_gap(predictor, 0.0, 0.0) == pytest.approx(0, abs=1e-7)
    assert post_processing_gap(predictor, 0.0, 2.0) == pytest.approx(0, abs=1e-7)
    assert post_processing_gap(predictor, 2.0, 0.0) > 0.01


def test_a_steep_truth_is_not_reached():
    """The step function would need a slope above 2: with it allowed, the gap would be the whole loss."""
    v = np.linspace(0.41, 0.59, 10)
    predictor = BinaryPredictor(v, (v > 0.5).astype(float), np.full(10, 0.1))
    assert 0 < post_processing_gap(predictor, 0.0, 0.0) < 0.6 * predictor.loss(0.0, 0.0)


def test_fitted_on_one_part_and_judged_on_another():
    one, other = constant(0.6, 0.9), constant(0.6, 0.3)
    assert post_processing_gap(one, 0.0, 0.0) > 0 > post_processing_gap(one, 0.0, 0.0, other)


@pytest.mark.parametrize(
    ("parts", "said"),
    [(([0.5], [1.0, 0.0], [1.0]), "shape"), (([1.5], [1.0], [1.0]), "lie in"), (([0.5], [1.0], [0.5]), "add up")],
)
def test_bad_predictor(parts, said):
    with pytest.raises(ValueError, match=said):
        BinaryPredictor(*map(np.array, parts))


@pytest.mark.parametrize(("bad", "said"), [((-1, 0, 5), "gamma"), ((0, -1, 5), "lam"), ((0, 0, 0), "pieces")])
def test_bad_loss(bad, said):
    with pytest.raises(ValueError, match=said):
        smooth_recalibration(constant(0.5, 0.5), *bad)
