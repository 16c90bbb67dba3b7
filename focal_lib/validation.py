"""Checks at the boundary: each says what was expected and what came, before any work begins."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import torch
from torch import Tensor

__all__ = ["check_gamma", "check_labels", "check_log_probs", "check_logits", "check_number", "check_probs"]


def check_number(value: Any, name: str, *, minimum: float = -math.inf, above: float = -math.inf) -> float:
    """A finite number >= minimum and > above, else ValueError."""
    try:
        number = float(value.detach() if isinstance(value, Tensor) else value)
    except (TypeError, ValueError):
        raise ValueError(f"{name} must be one real number. Got {value!r}.") from None
    if not math.isfinite(number) or number < minimum or number <= above:
        bound = f" > {above:g}" if above > -math.inf else f" >= {minimum:g}" if minimum > -math.inf else ""
        raise ValueError(f"{name} must be a finite number{bound}. Got {number:g}.")
    return number


def check_gamma(gamma: Any, *, minimum: float = -1.0, above: float = -math.inf) -> float:
    """A finite gamma >= minimum and > above, else ValueError."""
    return check_number(gamma, "gamma", minimum=minimum, above=above)


def check_logits(logits: Any, classes: bool = True, name: str = "logits") -> None:
    """Finite and non-empty; with `classes`, of shape (..., K) with K >= 2."""
    shape = tuple(logits.shape)
    if classes and (len(shape) == 0 or shape[-1] < 2):
        raise ValueError(f"{name} must have shape (..., K) with K >= 2. Got {shape}.")
    if 0 in shape:
        raise ValueError(f"{name} must not be empty. Got shape {shape}.")
    finite = torch.isfinite(logits) if isinstance(logits, Tensor) else np.isfinite(logits)
    if not bool(finite.all()):
        bad = int((~finite).sum())
        raise ValueError(f"{name} must be finite. Got {bad} NaN or infinite of {math.prod(shape)}.")


def check_probs(probs: Any, name: str = "probs") -> None:
    """(..., K) with entries in [0, 1] and rows that sum to 1 (to 1e-6; 1e-3 below float64)."""
    check_logits(probs, name=name)
    low, high = float(probs.min()), float(probs.max())
    tolerance = 1e-6 if str(probs.dtype).endswith("float64") else 1e-3
    if low < 0 or high > 1 + tolerance:
        raise ValueError(f"{name} must lie in [0, 1]. Got values from {low:g} to {high:g}.")
    error = float(abs(probs.sum(-1) - 1).max())
    if error > tolerance:
        raise ValueError(f"{name} must sum to 1 in each row. Got a row that is off by {error:.3g}.")


def check_log_probs(log_probs: Tensor, name: str = "log_probs") -> None:
    """(..., K), finite, with rows whose logsumexp is 0 (to 1e-6; 1e-3 below float64)."""
    check_logits(log_probs, name=name)
    error = float(torch.logsumexp(log_probs.detach(), -1).abs().max())
    if error > (1e-6 if log_probs.dtype == torch.float64 else 1e-3):
        raise ValueError(f"{name} must be log-probabilities: rows with logsumexp 0. Got one of {error:.3g}.")


def check_labels(labels: Any, n: int, classes: int, name: str = "labels") -> None:
    """Integers of shape (n,) in [0, classes)."""
    shape = tuple(labels.shape)
    if shape != (n,):
        raise ValueError(f"{name} must have shape (n,) = ({n},). Got {shape}.")
    integer = (
        not (labels.is_floating_point() or labels.is_complex() or labels.dtype == torch.bool)
        if isinstance(labels, Tensor)
        else labels.dtype.kind in "iu"
    )
    if not integer:
        raise ValueError(f"{name} must be integers. Got dtype {labels.dtype}.")
    low, high = int(labels.min()), int(labels.max())
    if low < 0 or high >= classes:
        raise ValueError(f"{name} must lie in 0 ... {classes - 1}. Got values from {low} to {high}.")
