"""Metrics of accuracy and calibration from probabilities (n, K) and labels (n,), with intervals.

Functions that end in `_of` take the confidences (n,) and correctness (n,) that `top_label` returns, unchecked.
"""

from focal_lib.metrics.bins import (
    Bins,
    adaptive_ece,
    adaptive_ece_of,
    classwise_ece,
    ece,
    ece_of,
    mce,
    reliability_bins,
    reliability_bins_of,
)
from focal_lib.metrics.bootstrap_ece import bootstrap_adaptive_ece
from focal_lib.metrics.by_name import all_metrics
from focal_lib.metrics.calibration_slope import (
    calibration_intercept,
    calibration_intercept_of,
    calibration_slope,
    calibration_slope_of,
)
from focal_lib.metrics.calibration_test import calibration_p_value, calibration_p_value_of, expected_ece_of
from focal_lib.metrics.design import Design
from focal_lib.metrics.detection import (
    DETECTION_SCORES,
    auroc,
    energy_score,
    entropy_score,
    fpr_at_tpr,
    max_probability_score,
)
from focal_lib.metrics.ece_interval import (
    adaptive_ece_interval,
    adaptive_ece_interval_of,
    classwise_ece_interval,
    ece_interval,
    ece_interval_of,
    mce_interval,
)
from focal_lib.metrics.intervals import Interval, bootstrap, exact_binomial_ends, paired_t_interval, t_interval
from focal_lib.metrics.net_benefit import NetBenefit, net_benefit
from focal_lib.metrics.overconfidence import (
    overconfidence,
    overconfidence_interval,
    overconfidence_interval_of,
    overconfidence_of,
    underconfidence,
    underconfidence_interval,
    underconfidence_interval_of,
    underconfidence_of,
)
from focal_lib.metrics.per_class import (
    ClassReliability,
    ConfidenceBand,
    ConfusedPair,
    class_reliability,
    confusion_by_confidence,
)
from focal_lib.metrics.positive import (
    observed_expected,
    observed_expected_of,
    positive_ece,
    positive_ece_interval,
    positive_ece_interval_of,
    positive_reliability_bins,
)
from focal_lib.metrics.risk_coverage import (
    RiskCoverage,
    Threshold,
    aurc,
    aurc_of,
    certified_threshold,
    certified_threshold_of,
    risk_coverage,
    risk_coverage_of,
)
from focal_lib.metrics.scores import SampleScores, accuracy, brier, nll, sample_scores, top_label
from focal_lib.metrics.significance import holm, smallest_effect, t_p_value
from focal_lib.metrics.smooth import smooth_ece, smooth_ece_of
from focal_lib.metrics.truthful import (
    averaged_two_bin_error,
    averaged_two_bin_error_interval,
    averaged_two_bin_error_interval_of,
    averaged_two_bin_error_of,
)

__all__ = [
    "DETECTION_SCORES",
    "Bins",
    "ClassReliability",
    "ConfidenceBand",
    "ConfusedPair",
    "Design",
    "Interval",
    "NetBenefit",
    "RiskCoverage",
    "SampleScores",
    "Threshold",
    "accuracy",
    "adaptive_ece",
    "adaptive_ece_interval",
    "adaptive_ece_interval_of",
    "adaptive_ece_of",
    "all_metrics",
    "aurc",
    "aurc_of",
    "auroc",
    "averaged_two_bin_error",
    "averaged_two_bin_error_interval",
    "averaged_two_bin_error_interval_of",
    "averaged_two_bin_error_of",
    "bootstrap",
    "bootstrap_adaptive_ece",
    "brier",
    "calibration_intercept",
    "calibration_intercept_of",
    "calibration_p_value",
    "calibration_p_value_of",
    "calibration_slope",
    "calibration_slope_of",
    "certified_threshold",
    "certified_threshold_of",
    "class_reliability",
    "classwise_ece",
    "classwise_ece_interval",
    "confusion_by_confidence",
    "ece",
    "ece_interval",
    "ece_interval_of",
    "ece_of",
    "energy_score",
    "entropy_score",
    "exact_binomial_ends",
    "expected_ece_of",
    "fpr_at_tpr",
    "holm",
    "max_probability_score",
    "mce",
    "mce_interval",
    "net_benefit",
    "nll",
    "observed_expected",
    "observed_expected_of",
    "overconfidence",
    "overconfidence_interval",
    "overconfidence_interval_of",
    "overconfidence_of",
    "paired_t_interval",
    "positive_ece",
    "positive_ece_interval",
    "positive_ece_interval_of",
    "positive_reliability_bins",
    "reliability_bins",
    "reliability_bins_of",
    "risk_coverage",
    "risk_coverage_of",
    "sample_scores",
    "smallest_effect",
    "smooth_ece",
    "smooth_ece_of",
    "t_interval",
    "t_p_value",
    "top_label",
    "underconfidence",
    "underconfidence_interval",
    "underconfidence_interval_of",
    "underconfidence_of",
]
