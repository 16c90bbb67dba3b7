"""The network that focal training is expected to give, from the cross-entropy one."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import log_softmax

from focal_lib.calibration.focal_training import focal_trained_log_probs
from focal_lib.theory import focal_log_probs

LOG_PROBS = log_softmax(3 * np.random.default_rng(0).normal(size=(200, 4)), axis=-1)


@pytest.mark.parametrize("gamma", [0.5, 1.0, 3.0])
@pytest.mark.parametrize("sharpening", [0.0, 0.1, 0.3])
def test_the_map_leads_back_to_the_sharpened_network(gamma, sharpening):
    found = focal_log_probs(focal_trained_log_probs(LOG_PROBS, gamma, sharpening), gamma)
    expected = log_softmax((1 + gamma) ** sharpening * LOG_PROBS, axis=-1)
    np.testing.assert_allclose(found, expected, atol=1e-9)


def test_gamma_0_changes_nothing():
    np.testing.assert_allclose(focal_trained_log_probs(LOG_PROBS, 0.0), LOG_PROBS, atol=1e-12)


@pytest.mark.parametrize("gamma", [-1.0, np.nan, np.inf])
def test_a_gamma_out_of_range_is_refused(gamma):
    with pytest.raises(ValueError, match="gamma must be a number of at least 0"):
        focal_trained_log_probs(LOG_PROBS, gamma)
