"""The theory of focal loss: the calibration map, minimisers, temperature bounds and thresholds. No data, no training.

`reproduction.theorems.symbols` has the formulas in sympy, `reproduction.ledger.certificates` proofs by ball arithmetic.
"""

from focal_lib.theory.closest_temperature import PAPER_CUBE, ClosestTemperature, closest_temperature, deviation_from_map
from focal_lib.theory.confidence import confidence_change
from focal_lib.theory.gain import (
    confidence_threshold,
    critical_gamma,
    elasticity,
    lambert_gamma,
    log_gain,
    peak_probability,
    weight_inflection,
)
from focal_lib.theory.largest_deviation import LargestDeviation, largest_deviation
from focal_lib.theory.maps import (
    focal_log_probs,
    focal_logit,
    focal_logit_slope,
    inverse_focal_log_probs,
    inverse_focal_logit,
    log_weight,
)
from focal_lib.theory.prior_shift import (
    estimate_priors,
    prior_shift,
    weighted_focal_log_probs,
    weighted_focal_logit,
    weighted_focal_minimiser,
)
from focal_lib.theory.proper import (
    brier_values,
    conditional_risk,
    focal_calibration_log_probs,
    focal_calibration_minimiser,
    focal_loss_values,
    focal_minimiser,
    proper_focal_loss,
    regret_constant,
)
from focal_lib.theory.second_derivative import (
    convexity_factor,
    convexity_limit,
    logit_curvature_ratio,
    probability_curvature_ratio,
    second_derivative,
)
from focal_lib.theory.temperature_bounds import (
    beta,
    beta_at_zero,
    largest_monotone_gamma,
    printed_temperature_bounds,
    temperature_bounds,
    temperature_bounds_by_search,
    top_temperature_bounds,
)

__all__ = [
    "PAPER_CUBE",
    "ClosestTemperature",
    "LargestDeviation",
    "beta",
    "beta_at_zero",
    "brier_values",
    "closest_temperature",
    "conditional_risk",
    "confidence_change",
    "confidence_threshold",
    "convexity_factor",
    "convexity_limit",
    "critical_gamma",
    "deviation_from_map",
    "elasticity",
    "estimate_priors",
    "focal_calibration_log_probs",
    "focal_calibration_minimiser",
    "focal_log_probs",
    "focal_logit",
    "focal_logit_slope",
    "focal_loss_values",
    "focal_minimiser",
    "inverse_focal_log_probs",
    "inverse_focal_logit",
    "lambert_gamma",
    "largest_deviation",
    "largest_monotone_gamma",
    "log_gain",
    "log_weight",
    "logit_curvature_ratio",
    "peak_probability",
    "printed_temperature_bounds",
    "prior_shift",
    "probability_curvature_ratio",
    "proper_focal_loss",
    "regret_constant",
    "second_derivative",
    "temperature_bounds",
    "temperature_bounds_by_search",
    "top_temperature_bounds",
    "weight_inflection",
    "weighted_focal_log_probs",
    "weighted_focal_logit",
    "weighted_focal_minimiser",
]
