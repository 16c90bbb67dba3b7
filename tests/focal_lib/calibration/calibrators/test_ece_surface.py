"""Confidence and ECE over (gamma, T): the map, and the bounds that the grid search rests on."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from focal_lib.calibration.calibrators.ece_surface import EceSurface
from focal_lib.metrics.bins import adaptive_ece, ece
from focal_lib.theory.confidence import sample_simplex, top_probability_bounds
from focal_lib.theory.maps import focal_log_probs


@settings(deadline=None, max_examples=60)
@given(
    st.integers(0, 10**6), st.one_of(st.floats(-0.95, -0.01), st.floats(0.01, 20)), st.sampled_from([2, 3, 10, 1000])
)
def test_confidence_stays_within_its_bounds_at_other_temperatures(seed, gamma, classes):
    """What the grid search rests on: the bounds at one T hold at all warmer and colder ones."""
    z = np.log(sample_simplex(classes, seed, 40))
    surface = EceSurface(z, np.zeros(len(z), int))
    values = [surface._evaluate([gamma], t) for t in np.geomspace(0.05, 10, 16)]
    for here, (confidence, logit_top) in enumerate(values):
        low, high = top_probability_bounds(logit_top, confidence, gamma, classes)
        assert all((colder >= low - 1e-12).all() for colder, _ in values[: here + 1])
        assert all((warmer <= high + 1e-12).all() for warmer, _ in values[here:])


@pytest.mark.parametrize("gamma", [-0.9, -0.25, 0.0, 0.5, 5.0])
def test_confidence_is_the_maps(synthetic_logits, gamma):
    z, y = synthetic_logits(300, 12)
    z[0] *= 1e3  # a saturated row
    surface = EceSurface(z, y)
    for t in (0.01, 0.3, 1.0, 5.0):
        expected = np.exp(focal_log_probs(z / t, gamma)).max(1)
        np.testing.assert_allclose(surface.confidence(gamma, t), expected, atol=1e-12)


@pytest.mark.parametrize(("metric", "reference"), [("ece", ece), ("adaptive-ece", adaptive_ece)])
def test_each_ece_is_the_metrics(synthetic_logits, metric, reference):
    z, y = synthetic_logits(400, 4)
    surface = EceSurface(z, y, metric)
    probs = np.exp(focal_log_probs(z / 1.3, 0.5))
    assert surface.ece(0.5, 1.3) == pytest.approx(reference(probs, y), abs=1e-12)
    assert surface.ece(0.5, 1.3) != EceSurface(z, y, metric, n_bins=3).ece(0.5, 1.3)


def test_an_unknown_metric_is_refused_before_the_data_are_read():
    with pytest.raises(ValueError, match=r"metric must be one of ece, adaptive-ece\. Got 'mce'"):
        EceSurface(None, None, "mce")
