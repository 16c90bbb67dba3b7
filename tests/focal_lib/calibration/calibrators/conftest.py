"""Calibrators of every kind, and data for them."""

import numpy as np
import pytest
from scipy.special import softmax
from sklearn.base import clone

from focal_lib.calibration.calibrators.ensemble_temperature import EnsembleTemperatureScaling
from focal_lib.calibration.calibrators.focal_temperature import FocalTemperatureScaling
from focal_lib.calibration.calibrators.linear import MatrixScaling, VectorScaling
from focal_lib.calibration.calibrators.one_vs_rest import (
    BetaCalibration,
    HistogramBinning,
    IsotonicCalibration,
    VennAbersCalibration,
)
from focal_lib.calibration.calibrators.seen_classes import (
    DirichletCalibration,
    SeenClassesCalibrator,
    StructuredMatrixScaling,
)
from focal_lib.calibration.calibrators.temperature import AsGiven, TemperatureScaling

FEW = {"gammas": (-0.5, 0.0, 0.5, 2.0), "temperatures": np.arange(1, 100) / 20}
METHODS = {
    "as given": AsGiven(),
    "temperature": TemperatureScaling(),
    "temperature, ece": TemperatureScaling("ece", temperatures=FEW["temperatures"]),
    "temperature, adaptive ece": TemperatureScaling("adaptive-ece", temperatures=FEW["temperatures"]),
    "ensemble temperature": EnsembleTemperatureScaling(),
    "focal, newton": FocalTemperatureScaling("nll", "newton", shrinkage=3.0),
    "focal, nll on the grid": FocalTemperatureScaling("nll", "grid", **FEW),
    "focal, adaptive ece": FocalTemperatureScaling("adaptive-ece", "grid", shrinkage=3.0, **FEW),
    "focal, ece on a line": FocalTemperatureScaling("ece", "line", **FEW),
    "vector": VectorScaling(),
    "matrix": MatrixScaling(),
    "histogram": HistogramBinning(),
    "histogram, mass": HistogramBinning(6, "mass"),
    "isotonic": IsotonicCalibration(),
    "beta": BetaCalibration(),
    "dirichlet": DirichletCalibration(),
    "dirichlet, ridge": DirichletCalibration(C=1.0, tol=1e-10),
    "venn-abers": VennAbersCalibration(),
    "structured-matrix": StructuredMatrixScaling(),
}
NEEDS = {"beta": "betacal", "venn-abers": "venn_abers", "structured-matrix": "probmetrics"}


def unfitted(name):
    """A calibrator that is not fitted; the test is left out where its library is not installed."""
    if name in NEEDS:
        pytest.importorskip(NEEDS[name])
    return clone(METHODS[name])


@pytest.fixture(params=METHODS)
def method(request):
    return unfitted(request.param)


@pytest.fixture(params=[name for name, kind in METHODS.items() if isinstance(kind, SeenClassesCalibrator)])
def of_library(request):
    """A calibrator that another library fits."""
    return unfitted(request.param)


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
