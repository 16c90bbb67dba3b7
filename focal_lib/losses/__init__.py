"""Training losses. All take logits (n, K) and labels (n,); gamma = 0 is cross-entropy."""

from focal_lib.losses.absolute_distance import absolute_calibration_log_probs
from focal_lib.losses.ada_focal import AdaFocalLoss
from focal_lib.losses.brier import BrierLoss
from focal_lib.losses.dual_focal import DualFocalLoss
from focal_lib.losses.focal import FLSD53, FLSD532, FocalLoss, ProperFocalLoss, SampleFocalLoss, ScheduledFocalLoss
from focal_lib.losses.focal_calibration import FocalCalibrationLoss
from focal_lib.losses.hessian import hessian_top_eigenvalue, hessian_trace
from focal_lib.losses.hessian_penalty import HessianTraceLoss
from focal_lib.losses.label_smoothing import LabelSmoothingLoss
from focal_lib.losses.mmce import MMCELoss
from focal_lib.losses.multi_label import MultiLabelLoss
from focal_lib.losses.post_processing import BinaryPredictor, post_processing_gap, smooth_recalibration

__all__ = [
    "FLSD53",
    "FLSD532",
    "AdaFocalLoss",
    "BinaryPredictor",
    "BrierLoss",
    "DualFocalLoss",
    "FocalCalibrationLoss",
    "FocalLoss",
    "HessianTraceLoss",
    "LabelSmoothingLoss",
    "MMCELoss",
    "MultiLabelLoss",
    "ProperFocalLoss",
    "SampleFocalLoss",
    "ScheduledFocalLoss",
    "absolute_calibration_log_probs",
    "hessian_top_eigenvalue",
    "hessian_trace",
    "post_processing_gap",
    "smooth_recalibration",
]
