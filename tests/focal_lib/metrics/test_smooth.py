"""The smooth ECE against the kernel written out."""

import numpy as np
import pytest

from focal_lib.metrics.smooth import residual_mass, smooth_ece, smooth_ece_of


def slow_smooth_ece(confidence, correct):
    """The reflected kernel written out, on a grid, and bisection for sigma."""
    t = (np.arange(400) + 0.5) / 400

    def smoothed(sigma):
        total = np.zeros_like(t)
        for shift in range(-6, 7):
            for mirror in (1, -1):
                d = t[:, None] - (mirror * confidence[None] + 2 * shift)
                total += (np.exp(-(d**2) / (2 * sigma**2)) * (confidence - correct)).sum(1)
        return np.abs(total).mean() / (np.sqrt(2 * np.pi) * sigma * len(confidence))

    low, high = 0.02, 1.0
    for _ in range(40):
        middle = (low + high) / 2
        low, high = (middle, high) if smoothed(middle) > middle else (low, middle)
    return low


def test_smooth_ece():
    rng = np.random.default_rng(0)
    confidence = rng.uniform(0.5, 1, 500)
    correct = (rng.random(500) < confidence - 0.15).astype(float)
    p = np.column_stack([confidence, 1 - confidence])
    y = np.where(correct == 1, 0, 1)
    assert smooth_ece(p, y) == pytest.approx(slow_smooth_ece(confidence, correct), rel=2e-3)
    assert smooth_ece_of(confidence, correct) == smooth_ece(p, y)


def test_a_calibrated_model_is_near_zero_and_a_certain_one_at_its_error():
    rng = np.random.default_rng(1)
    confidence = rng.uniform(0.5, 1, 20_000)
    assert smooth_ece_of(confidence, (rng.random(20_000) < confidence).astype(float)) < 0.02
    p = np.repeat([[1.0, 0.0]], 50, axis=0)
    assert smooth_ece(p, np.r_[np.zeros(40, int), np.ones(10, int)]) == pytest.approx(0.2, abs=1e-3)  # mass at 1


def test_a_sample_is_shared_by_the_points_beside_it():
    """The mass at the points (i + 1/2) / 4096 says of any straight line what the samples say; at the ends too."""
    confidence = np.array([0.0, 1e-5, 0.3, 0.50001, 0.7, 0.99999, 1.0])
    correct = np.array([0.0, 1, 0, 0, 1, 1, 0])
    points = (np.arange(4096) + 0.5) / 4096
    mass, residual = residual_mass(confidence, correct), confidence - correct
    assert float(mass.sum()) == pytest.approx(float(residual.sum()))
    within = confidence.clip(points[0], points[-1])
    assert float(mass @ points) == pytest.approx(float(residual @ within), rel=1e-9)
    assert np.count_nonzero(mass) == 8  # four ends on one point each, of two on either side the same; the rest on two
