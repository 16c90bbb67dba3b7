"""How good and how well calibrated: metrics of probabilities (n, K) and labels (n,), with intervals."""

from focal_lib.metrics.bins import (
    Binning,
    Bins,
    adaptive_ece,
    adaptive_ece_of,
    bin_of,
    bins_of,
    class_gaps,
    classwise_ece,
    ece,
    ece_of,
    mce,
    reliability_bins,
)
from focal_lib.metrics.coverage import bootstrap_interval, coverage, draw_sample
from focal_lib.metrics.ece_interval import (
    adaptive_ece_interval,
    classwise_ece_interval,
    ece_interval,
    interval_of_class_gaps,
    mce_interval,
)
from focal_lib.metrics.intervals import Interval, bootstrap, paired_t_interval
from focal_lib.metrics.samples import CELLS, Samples
from focal_lib.metrics.scores import SampleScores, accuracy, brier, nll, sample_scores, top_label
from focal_lib.metrics.smooth import smooth_ece, smooth_ece_of

__all__ = [
    "CELLS",
    "Binning",
    "Bins",
    "Interval",
    "SampleScores",
    "Samples",
    "accuracy",
    "adaptive_ece",
    "adaptive_ece_interval",
    "adaptive_ece_of",
    "bin_of",
    "bins_of",
    "bootstrap",
    "bootstrap_interval",
    "brier",
    "class_gaps",
    "classwise_ece",
    "classwise_ece_interval",
    "coverage",
    "draw_sample",
    "ece",
    "ece_interval",
    "ece_of",
    "interval_of_class_gaps",
    "mce",
    "mce_interval",
    "nll",
    "paired_t_interval",
    "reliability_bins",
    "sample_scores",
    "smooth_ece",
    "smooth_ece_of",
    "top_label",
]
