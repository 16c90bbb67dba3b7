"""Every metric that reads its samples in chunks: functions of probabilities and labels."""

from focal_lib.metrics.bins import adaptive_ece, classwise_ece, ece, mce
from focal_lib.metrics.scores import accuracy, brier, nll
from focal_lib.metrics.smooth import smooth_ece

MEASURES = (accuracy, nll, brier, ece, mce, classwise_ece, smooth_ece, adaptive_ece)
