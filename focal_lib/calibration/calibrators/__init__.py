"""Post-hoc calibrators with scikit-learn's conventions: fit(logits, labels), predict_proba(logits)."""

from focal_lib.calibration.calibrators.base import Calibrator
from focal_lib.calibration.calibrators.ece_surface import EceSurface
from focal_lib.calibration.calibrators.focal_temperature import (
    PAPER_GAMMAS,
    PAPER_TEMPERATURES,
    WIDE_GAMMAS,
    FocalTemperatureScaling,
)
from focal_lib.calibration.calibrators.linear import MatrixScaling, VectorScaling
from focal_lib.calibration.calibrators.one_vs_rest import (
    BetaCalibration,
    DirichletCalibration,
    HistogramBinning,
    IsotonicCalibration,
)
from focal_lib.calibration.calibrators.temperature import TemperatureScaling
from focal_lib.calibration.calibrators.torch_module import write_onnx

__all__ = [
    "PAPER_GAMMAS",
    "PAPER_TEMPERATURES",
    "WIDE_GAMMAS",
    "BetaCalibration",
    "Calibrator",
    "DirichletCalibration",
    "EceSurface",
    "FocalTemperatureScaling",
    "HistogramBinning",
    "IsotonicCalibration",
    "MatrixScaling",
    "TemperatureScaling",
    "VectorScaling",
    "write_onnx",
]
