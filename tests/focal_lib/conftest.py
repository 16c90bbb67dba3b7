"""Logits whose best calibration is known."""

import numpy as np
import pytest

from focal_lib.calibration.logit_sets import LogitSet
from focal_lib.theory.maps import focal_log_probs


@pytest.fixture(scope="session")
def draw_logits():
    """Makes a LogitSet whose labels come from focal temperature scaling with that gamma and T."""

    def draw(n, temperature, gamma=0.0, classes=5, seed=0):
        rng = np.random.default_rng(seed)
        z = rng.normal(size=(n, classes)) * 4
        p = np.exp(focal_log_probs(z / temperature, gamma))
        return LogitSet(z, (p.cumsum(1) > rng.random((n, 1))).argmax(1))

    return draw
