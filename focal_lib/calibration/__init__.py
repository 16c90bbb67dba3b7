"""Calibrators with scikit-learn's conventions, sets of logits, saved calibrators."""

from importlib import import_module
from typing import Any

from focal_lib.calibration.calibrators.ece_surface import EceSurface
from focal_lib.calibration.calibrators.ensemble_temperature import EnsembleTemperatureScaling
from focal_lib.calibration.calibrators.focal_probabilities import FocalProbabilities
from focal_lib.calibration.calibrators.focal_temperature import PAPER_GAMMAS, WIDE_GAMMAS, FocalTemperatureScaling
from focal_lib.calibration.calibrators.linear import MatrixScaling, VectorScaling
from focal_lib.calibration.calibrators.one_vs_rest import (
    BetaCalibration,
    HistogramBinning,
    IsotonicCalibration,
    VennAbersCalibration,
)
from focal_lib.calibration.calibrators.platt import PlattScaling
from focal_lib.calibration.calibrators.seen_classes import DirichletCalibration, StructuredMatrixScaling
from focal_lib.calibration.calibrators.temperature import M20_TEMPERATURES, PAPER_TEMPERATURES, TemperatureScaling
from focal_lib.calibration.logit_sets import LogitSet, as_logits
from focal_lib.calibration.saved import load_calibrator, save_calibrator, write_onnx

__all__ = [
    "M20_TEMPERATURES",
    "PAPER_GAMMAS",
    "PAPER_TEMPERATURES",
    "WIDE_GAMMAS",
    "BetaCalibration",
    "CalibratedClassifier",
    "DirichletCalibration",
    "EceSurface",
    "EnsembleTemperatureScaling",
    "FocalProbabilities",
    "FocalTemperatureScaling",
    "HistogramBinning",
    "IsotonicCalibration",
    "LogitSet",
    "MatrixScaling",
    "PlattScaling",
    "StructuredMatrixScaling",
    "TemperatureScaling",
    "VectorScaling",
    "VennAbersCalibration",
    "as_logits",
    "load_calibrator",
    "save_calibrator",
    "write_onnx",
]


_LATER = {"calibrate": "focal_lib.tool", "CalibratedClassifier": "focal_lib.calibration.calibrated_classifier"}


def __getattr__(name: str) -> Any:
    """Import on first use what depends on this package (`calibrate`), or on much of scikit-learn."""
    if name in _LATER:
        return getattr(import_module(_LATER[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
