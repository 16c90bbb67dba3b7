"""Data and methods of the calibrators that other authors' libraries fit."""

import numpy as np
import pytest
from scipy.special import softmax
from sklearn.base import clone

from focal_lib.calibration.calibrators.one_vs_rest import (
    BetaCalibration,
    HistogramBinning,
    IsotonicCalibration,
    VennAbersCalibration,
)
from focal_lib.calibration.calibrators.seen_classes import DirichletCalibration, StructuredMatrixScaling

METHODS = {
    "histogram": HistogramBinning(),
    "histogram, mass": HistogramBinning(10, "mass"),
    "isotonic": IsotonicCalibration(),
    "beta": BetaCalibration(),
    "dirichlet": DirichletCalibration(),
    "venn-abers": VennAbersCalibration(),
    "structured-matrix": StructuredMatrixScaling(),
}
NEEDS = {"beta": "betacal", "venn-abers": "venn_abers", "structured-matrix": "probmetrics"}


@pytest.fixture(params=METHODS)
def method(request):
    """Each calibrator of a library, not fitted."""
    if request.param in NEEDS:
        pytest.importorskip(NEEDS[request.param])
    return clone(METHODS[request.param])


@pytest.fixture(scope="session")
def overconfident():
    """Makes logits that are calibrated after division by the temperature, and their labels."""

    def make(n=1500, classes=4, seed=0, temperature=2.5):
        rng = np.random.default_rng(seed)
        z = rng.normal(size=(n, classes))
        z[np.arange(n), rng.integers(0, classes, n)] += rng.normal(2.5, 1, n)
        p = softmax(z, -1)
        return temperature * z, np.minimum((p.cumsum(1) < rng.random((n, 1))).sum(1), classes - 1)

    return make
