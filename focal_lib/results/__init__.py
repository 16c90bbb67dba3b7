"""What runs say together, and beside what the papers print."""

from focal_lib.results.by_run import (
    compare_scaling,
    confidence_gaps,
    mean_sd,
    temperature_by_gamma,
    validation_temperatures,
)
from focal_lib.results.over_seeds import METRICS, STAGES, against, as_printed, measure, spread, write

__all__ = [
    "METRICS",
    "STAGES",
    "against",
    "as_printed",
    "compare_scaling",
    "confidence_gaps",
    "mean_sd",
    "measure",
    "spread",
    "temperature_by_gamma",
    "validation_temperatures",
    "write",
]
