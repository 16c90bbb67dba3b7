"""The test of calibration: its size, its power, and that both ways to draw agree."""

import numpy as np
import pytest

from focal_lib.metrics import calibration_p_value
from focal_lib.metrics import calibration_test as module
from focal_lib.metrics.bins import adaptive_ece_of, ece_of
from focal_lib.metrics.calibration_test import calibration_p_value_of, expected_ece_of


def drawn(rng, n=500, shift=0.0):
    confidence = rng.beta(5, 1, n)
    return confidence, (rng.random(n) < np.clip(confidence - shift, 0, 1)).astype(float)


def test_it_has_its_size():
    """Of calibrated models 5 % are rejected at 5 %, and the p-values are uniform."""
    rng = np.random.default_rng(0)
    p = np.array([calibration_p_value_of(*drawn(rng, 200), draws=99, seed=run) for run in range(600)])
    assert (p <= 0.05).mean() == pytest.approx(0.05, abs=3 * np.sqrt(0.05 * 0.95 / 600))
    assert p.mean() == pytest.approx(0.5, abs=3 / np.sqrt(12 * 600))


def test_it_finds_what_is_not_calibrated():
    rng = np.random.default_rng(0)
    assert calibration_p_value_of(*drawn(rng, 2000, shift=0.06)) == 1 / 2001
    assert calibration_p_value_of(*drawn(rng, 2000)) > 0.01


def test_drawing_bins_agrees_with_drawing_samples(monkeypatch):
    rng = np.random.default_rng(3)
    data = drawn(rng, 20_000, shift=0.004)
    each = calibration_p_value_of(*data)
    monkeypatch.setattr(module, "_EXACT", 0)
    assert calibration_p_value_of(*data) == pytest.approx(each, abs=0.04)


@pytest.mark.parametrize("exact", [50_000, 0])
@pytest.mark.parametrize(("binning", "of"), [("mass", adaptive_ece_of), ("width", ece_of)])
def test_the_ece_that_chance_makes(monkeypatch, exact, binning, of):
    monkeypatch.setattr(module, "_EXACT", exact)
    rng = np.random.default_rng(5)
    confidence = rng.beta(5, 1, 3000)
    drawn = [of(confidence, rng.random(3000) < confidence) for _ in range(400)]
    assert expected_ece_of(confidence, binning=binning, draws=400) == pytest.approx(np.mean(drawn), rel=0.04)
    fewer = expected_ece_of(confidence[:300], binning=binning, draws=400)
    assert fewer > 2 * np.mean(drawn)
    assert expected_ece_of(np.ones(10), binning=binning) == 0


def test_an_expected_ece_needs_samples_draws_and_bins():
    for given, options in (([], {}), ([0.5], {"draws": 0})):
        with pytest.raises(ValueError, match="samples and draws must be at least 1"):
            expected_ece_of(np.array(given), **options)
    with pytest.raises(ValueError, match="binning must be"):
        expected_ece_of(np.array([0.5]), binning="other")


def test_a_model_that_is_certain_and_right_is_calibrated():
    probs = np.eye(3)[np.arange(30) % 3]
    assert calibration_p_value(probs, np.arange(30) % 3) == 1.0
    assert calibration_p_value(probs, (np.arange(30) + 1) % 3) == 1 / 2001


def test_tied_confidences_are_simulated_as_they_are_averaged():
    """Of a constant classifier the 15 bins have one gap: the test is that of one bin, and has its size."""
    rng = np.random.default_rng(0)
    confidence, p_values = np.full(400, 0.7), []
    for run in range(300):
        correct = (rng.random(400) < 0.7).astype(float)
        p_values.append(calibration_p_value_of(confidence, correct, draws=99, seed=run))
        of_one = calibration_p_value_of(confidence, correct, 1, draws=99, seed=run)
        assert p_values[-1] == pytest.approx(of_one, abs=1e-12)
    assert np.mean(np.array(p_values) <= 0.05) == pytest.approx(0.05, abs=3 * np.sqrt(0.05 * 0.95 / 300))
    assert np.mean(p_values) == pytest.approx(0.5, abs=3 / np.sqrt(12 * 300))


def test_bad_input():
    with pytest.raises(ValueError, match="draws must be at least 1"):
        calibration_p_value(np.full((4, 2), 0.5), [0, 1, 0, 1], draws=0)
    with pytest.raises(ValueError, match="n_bins must be at least 1"):
        calibration_p_value(np.full((4, 2), 0.5), [0, 1, 0, 1], 0)


def test_size_where_nearly_all_are_right_and_samples_are_many():
    """With half an error expected in a bin its sum is not normal."""
    rng, p_values = np.random.default_rng(0), []
    for _ in range(60):
        confidence = np.full(60_000, 1 - 1e-4)
        p_values.append(calibration_p_value_of(confidence, (rng.random(60_000) < confidence).astype(float), draws=400))
    assert np.mean(np.array(p_values) <= 0.05) <= 0.13
