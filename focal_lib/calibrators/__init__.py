"""Post-hoc calibrators with scikit-learn's conventions: fit(logits, labels), predict_proba(logits)."""

from focal_lib.calibrators.base import Calibrator
from focal_lib.calibrators.confidence_path import ConfidencePath
from focal_lib.calibrators.focal_temperature import (
    PAPER_GAMMAS,
    PAPER_TEMPERATURES,
    WIDE_GAMMAS,
    FocalTemperatureScaling,
)
from focal_lib.calibrators.library import BetaCalibration, DirichletCalibration, HistogramBinning, IsotonicCalibration
from focal_lib.calibrators.linear import MatrixScaling, VectorScaling
from focal_lib.calibrators.module import write_onnx
from focal_lib.calibrators.temperature import TemperatureScaling

__all__ = [
    "PAPER_GAMMAS",
    "PAPER_TEMPERATURES",
    "WIDE_GAMMAS",
    "BetaCalibration",
    "Calibrator",
    "ConfidencePath",
    "DirichletCalibration",
    "FocalTemperatureScaling",
    "HistogramBinning",
    "IsotonicCalibration",
    "MatrixScaling",
    "TemperatureScaling",
    "VectorScaling",
    "write_onnx",
]
