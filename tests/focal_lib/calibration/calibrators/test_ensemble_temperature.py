"""Ensemble temperature scaling against a search over the simplex of weights."""

import numpy as np
from scipy.special import softmax

from focal_lib.calibration.calibrators.ensemble_temperature import EnsembleTemperatureScaling
from focal_lib.calibration.calibrators.temperature import TemperatureScaling
from focal_lib.metrics.scores import nll


def test_no_weights_are_better(overconfident):
    z, y = overconfident(600)
    y[:30] = np.random.default_rng(0).integers(0, 4, 30)
    fit = EnsembleTemperatureScaling().fit(z, y)
    assert fit.temperature_ == TemperatureScaling().fit(z, y).temperature_
    least = nll(fit.predict_proba(z), y)
    parts = np.stack([softmax(z / fit.temperature_, -1), softmax(z, -1), np.full(z.shape, 0.25)])
    np.testing.assert_allclose(
        fit.predict_proba(z), np.tensordot([fit.scaled_, fit.unscaled_, fit.uniform_], parts, 1), atol=1e-12
    )
    for a in np.linspace(0, 1, 21):
        for b in np.linspace(0, 1 - a, 21):
            assert nll(np.tensordot([a, b, 1 - a - b], parts, 1), y) >= least - 1e-7
    assert least <= nll(parts[0], y)


def test_a_share_of_labels_at_random_is_uniform():
    """The weights are those that the labels were drawn with."""
    rng = np.random.default_rng(0)
    z = rng.normal(size=(60_000, 5)) * 3
    p = 0.8 * softmax(z, -1) + 0.04
    y = (p.cumsum(1) < rng.random((len(z), 1))).sum(1)
    fit = EnsembleTemperatureScaling().fit(z, y)
    np.testing.assert_allclose([fit.scaled_ + fit.unscaled_, fit.uniform_], [0.8, 0.2], atol=0.03)


def test_order_and_ties_stay(overconfident):
    z, y = overconfident(300)
    fit = EnsembleTemperatureScaling().fit(z, y)
    z = np.round(z)
    p = fit.predict_proba(z)
    np.testing.assert_array_equal(p == p.max(1, keepdims=True), z == z.max(1, keepdims=True))


def test_doubled_weights_are_samples_twice(overconfident):
    z, y = overconfident(200)
    twice = EnsembleTemperatureScaling().fit(np.r_[z, z[:50]], np.r_[y, y[:50]])
    weighted = EnsembleTemperatureScaling().fit(z, y, np.r_[np.full(50, 2.0), np.ones(150)])
    np.testing.assert_allclose(weighted.predict_proba(z), twice.predict_proba(z), atol=1e-5)
