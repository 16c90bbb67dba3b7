"""Training losses. All take logits (n, K, ...) and labels (n, ...), as `torch.nn.CrossEntropyLoss`, which gamma = 0 is.

Class weights, alpha, an ignored label, soft and smoothed labels: `LogitLoss`. One logit a label: `MultiLabelLoss`.
"""

try:
    import torch  # noqa: F401
except ModuleNotFoundError:
    raise ImportError("focal_lib.losses needs the package torch: pip install 'focal-lib[torch]'") from None

from focal_lib.losses.ada_focal import AdaFocalLoss
from focal_lib.losses.base import LogitLoss
from focal_lib.losses.brier import BrierLoss
from focal_lib.losses.focal import (
    FLSD53,
    FLSD532,
    DualFocalLoss,
    FocalCalibrationLoss,
    FocalLoss,
    ProperFocalLoss,
    SampleFocalLoss,
    ScheduledFocalLoss,
)
from focal_lib.losses.hessian import HessianTraceLoss, hessian_top_eigenvalue, hessian_trace
from focal_lib.losses.label_smoothing import LabelSmoothingLoss
from focal_lib.losses.mmce import MMCELoss
from focal_lib.losses.multi_label import MultiLabelLoss

__all__ = [
    "FLSD53",
    "FLSD532",
    "AdaFocalLoss",
    "BrierLoss",
    "DualFocalLoss",
    "FocalCalibrationLoss",
    "FocalLoss",
    "HessianTraceLoss",
    "LabelSmoothingLoss",
    "LogitLoss",
    "MMCELoss",
    "MultiLabelLoss",
    "ProperFocalLoss",
    "SampleFocalLoss",
    "ScheduledFocalLoss",
    "hessian_top_eigenvalue",
    "hessian_trace",
]
