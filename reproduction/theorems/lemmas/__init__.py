"""Steps and proofs that several claims share, of one paper or of several; claims import these, never each other."""

from reproduction.theorems.lemmas.binary_map import logit_form_steps, stationarity_steps
from reproduction.theorems.lemmas.confidence import (
    confidence_proof,
    critical_gamma_steps,
    drop_of_tied_classes,
)
from reproduction.theorems.lemmas.curvature import convexity_proof
from reproduction.theorems.lemmas.entropy_bound import entropy_bound_steps
from reproduction.theorems.lemmas.entropy_ratio import entropy_ratio_steps, log_entropy_ratio_steps
from reproduction.theorems.lemmas.entropy_terms import entropy_terms_steps
from reproduction.theorems.lemmas.gain_curvature import (
    gain_concave_steps,
    gain_curvature_steps,
    gain_slope_end_steps,
)
from reproduction.theorems.lemmas.gap_slope import gap_slope_below_log_steps
from reproduction.theorems.lemmas.gradient_limit import gradient_limit_steps
from reproduction.theorems.lemmas.logit_gap import logit_gap_steps
from reproduction.theorems.lemmas.map_slope import gap_slope_steps, map_slope_steps
from reproduction.theorems.lemmas.published import (
    published_critical_gamma_step,
    published_lambert_step,
    published_slope_step,
    published_threshold_step,
    published_turning_steps,
)
from reproduction.theorems.lemmas.sharpness import sharper_proof, sharper_steps
from reproduction.theorems.lemmas.threshold import (
    gain_at_half_step,
    gain_limit_steps,
    gain_positive_step,
    larger_gamma_steps,
    threshold_steps,
)
from reproduction.theorems.lemmas.turning import monotone_certificate, turning_certificate
from reproduction.theorems.lemmas.weight import lagrange_steps, weight_steps
from reproduction.theorems.lemmas.weight_inflection import inflection_steps

__all__ = [
    "confidence_proof",
    "convexity_proof",
    "critical_gamma_steps",
    "drop_of_tied_classes",
    "entropy_bound_steps",
    "entropy_ratio_steps",
    "entropy_terms_steps",
    "gain_at_half_step",
    "gain_concave_steps",
    "gain_curvature_steps",
    "gain_limit_steps",
    "gain_positive_step",
    "gain_slope_end_steps",
    "gap_slope_below_log_steps",
    "gap_slope_steps",
    "gradient_limit_steps",
    "inflection_steps",
    "lagrange_steps",
    "larger_gamma_steps",
    "log_entropy_ratio_steps",
    "logit_form_steps",
    "logit_gap_steps",
    "map_slope_steps",
    "monotone_certificate",
    "published_critical_gamma_step",
    "published_lambert_step",
    "published_slope_step",
    "published_threshold_step",
    "published_turning_steps",
    "sharper_proof",
    "sharper_steps",
    "stationarity_steps",
    "threshold_steps",
    "turning_certificate",
    "weight_steps",
]
