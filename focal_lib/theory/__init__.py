"""The papers' objects, without data and training: the map, its minimisers, its bounds, its thresholds.

`focal_lib.theory.symbols` has the formulas in sympy, `focal_lib.theory.certificates` proofs by ball arithmetic.
"""

from focal_lib.theory.closest_temperature import PAPER_CUBE, closest_temperature, deviation, linear_fit, logit_points
from focal_lib.theory.confidence import confidence_change, points_by_shape, top_probability_bounds
from focal_lib.theory.gain import (
    confidence_threshold,
    critical_gamma,
    elasticity,
    inflection,
    lambert_gamma,
    log_gain,
    log_gain_of_logit,
    lowest_elasticity,
    peak_probability,
    weight_curvature,
)
from focal_lib.theory.linear_model import fit_linear, noisy_clusters
from focal_lib.theory.maps import (
    focal_log_probs,
    focal_logit,
    focal_logit_slope,
    inverse_focal_log_probs,
    inverse_focal_logit,
    log_weight,
)
from focal_lib.theory.proper import (
    brier_values,
    conditional_risk,
    focal_calibration_minimiser,
    focal_loss_values,
    focal_minimiser,
    proper_focal_loss,
)
from focal_lib.theory.second_derivative import (
    bracket,
    convexity_limit,
    logit_ratio,
    probability_ratio,
    second_derivative,
)
from focal_lib.theory.temperature_bounds import (
    beta,
    beta_at_zero,
    lowest_beta,
    monotone_up_to,
    printed_temperature_bounds,
    temperature_bounds,
    temperature_bounds_by_search,
    tied_row_beta,
    top_temperature_bounds,
)

__all__ = [
    "PAPER_CUBE",
    "beta",
    "beta_at_zero",
    "bracket",
    "brier_values",
    "closest_temperature",
    "conditional_risk",
    "confidence_change",
    "confidence_threshold",
    "convexity_limit",
    "critical_gamma",
    "deviation",
    "elasticity",
    "fit_linear",
    "focal_calibration_minimiser",
    "focal_log_probs",
    "focal_logit",
    "focal_logit_slope",
    "focal_loss_values",
    "focal_minimiser",
    "inflection",
    "inverse_focal_log_probs",
    "inverse_focal_logit",
    "lambert_gamma",
    "linear_fit",
    "log_gain",
    "log_gain_of_logit",
    "log_weight",
    "logit_points",
    "logit_ratio",
    "lowest_beta",
    "lowest_elasticity",
    "monotone_up_to",
    "noisy_clusters",
    "peak_probability",
    "points_by_shape",
    "printed_temperature_bounds",
    "probability_ratio",
    "proper_focal_loss",
    "second_derivative",
    "temperature_bounds",
    "temperature_bounds_by_search",
    "tied_row_beta",
    "top_probability_bounds",
    "top_temperature_bounds",
    "weight_curvature",
]
