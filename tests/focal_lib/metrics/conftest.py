"""What tests of several metrics use."""

import numpy as np
import pytest

from tests.measures import MEASURES


@pytest.fixture(scope="session")
def probs_and_labels():
    """Makes probabilities (n, K) and labels (n,) that have nothing to do with them."""

    def make(n=400, k=5, seed=0, scale=2.0):
        rng = np.random.default_rng(seed)
        z = rng.normal(size=(n, k)) * scale
        p = np.exp(z - z.max(-1, keepdims=True))
        p /= p.sum(-1, keepdims=True)
        return p, rng.integers(0, k, n)

    return make


@pytest.fixture(params=MEASURES)
def measure(request):
    """One metric after another."""
    return request.param
