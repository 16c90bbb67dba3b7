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


def __getattr__(name: str) -> Any:
    """Import `calibrate` from focal_lib.tool on first use: it depends on this package."""
    if name == "calibrate":
        return import_module("focal_lib.tool").calibrate
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
