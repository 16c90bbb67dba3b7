"""Checks at the boundary: each says what was expected and what came, before any work begins.

Arrays may be NumPy's or torch's. torch is not imported. Under torch.compile and torch.export numbers are not looked at.
"""

from __future__ import annotations

import math
from importlib.util import find_spec
from typing import Any

import numpy as np

from focal_lib.arrays import array_namespace, is_compiling, logsumexp, to_numpy


def check_number(value: Any, name: str, *, minimum: float = -math.inf, above: float = -math.inf) -> float:
    """A finite number >= minimum and > above, as a float; an array or tensor of one element is a number.

    Raises:
        ValueError: anything else. Truth values and text are no numbers here: True for 1 is a mistake.
    """
    try:
        plain = value.item() if hasattr(value, "item") else value
        if isinstance(plain, bool | str | bytes):
            raise TypeError
        number = float(plain)
    except (TypeError, ValueError, RuntimeError):
        raise ValueError(f"{name} must be one real number. Got {value!r}.") from None
    if not math.isfinite(number) or number < minimum or number <= above:
        bound = f" > {above:g}" if above > -math.inf else f" >= {minimum:g}" if minimum > -math.inf else ""
        raise ValueError(f"{name} must be a finite number{bound}. Got {number:g}.")
    return number


def check_gamma(gamma: Any, *, minimum: float = -1.0, above: float = -math.inf) -> float:
    """A finite gamma >= minimum and > above, as a float, else ValueError."""
    return check_number(gamma, "gamma", minimum=minimum, above=above)


def check_level(level: Any, name: str = "level") -> None:
    """ValueError unless it is one number and 0 < level < 1."""
    if not 0 < (level if isinstance(level, float) else check_number(level, name)) < 1:
        raise ValueError(f"{name} must lie in (0, 1). Got {level}.")


def check_logits(logits: Any, *, classes: bool = True, name: str = "logits") -> None:
    """Finite and non-empty; with `classes`, of shape (..., K) with K >= 2. Else ValueError."""
    shape = tuple(logits.shape)
    if classes and (len(shape) == 0 or shape[-1] < 2):
        raise ValueError(f"{name} must have shape (..., K) with K >= 2. Got {shape}.")
    if 0 in shape:
        raise ValueError(f"{name} must not be empty. Got shape {shape}.")
    if is_compiling():
        return
    finite = logits.isfinite() if hasattr(logits, "isfinite") else np.isfinite(logits)
    if not bool(finite.all()):
        bad = int((~finite).sum())
        raise ValueError(f"{name} must be finite. Got {bad} NaN or infinite of {math.prod(shape)}.")


def check_probs(probs: Any, *, name: str = "probs", tolerance: float | None = None) -> None:
    """(..., K), entries in [0, 1], sums over K of 1 (to 1e-6; 1e-3 below float64; 2^-7 of bfloat16). Else ValueError.

    Numbers that bfloat16 holds exactly count as such in any dtype.
    """
    check_logits(probs, name=name)
    low, high = float(probs.min()), float(probs.max())
    tolerance = _tolerance(probs) if tolerance is None else tolerance
    if low < 0 or high > 1 + tolerance:
        raise ValueError(f"{name} must lie in [0, 1]. Got values from {low:g} to {high:g}.")
    error = float(abs(probs.sum(-1) - 1).max())
    if error > tolerance and (error > 2**-7 or not _is_bfloat16(probs)):
        raise ValueError(f"{name} must sum to 1 over the classes. Got a sum that is off by {error:.3g}.")


def check_log_probs(log_probs: Any, *, name: str = "log_probs") -> None:
    """(..., K), finite, with logsumexp 0 over K (to 1e-6; 1e-3 below float64). Else ValueError."""
    check_logits(log_probs, name=name)
    total = logsumexp(to_numpy(log_probs))
    xp = array_namespace(total)
    error = float(xp.max(xp.abs(total)))
    if error > _tolerance(log_probs):
        raise ValueError(f"{name} must be log-probabilities, with logsumexp 0 over the classes. Got {error:.3g}.")


def check_labels(labels: Any, n: int, classes: int, *, name: str = "labels") -> None:
    """Integers of shape (n,) in [0, classes), n > 0. Else ValueError."""
    shape = tuple(labels.shape)
    if shape != (n,):
        raise ValueError(f"{name} must have shape (n,) = ({n},). Got {shape}.")
    if n == 0:
        raise ValueError(f"{name} must not be empty. Got shape {shape}.")
    if "int" not in getattr(labels.dtype, "name", str(labels.dtype)):  # of NumPy '>i8' has the name int64
        text = getattr(labels.dtype, "kind", "") in "USO"
        remedy = f": give their numbers, np.unique({name}, return_inverse=True)[1]" if text else ""
        raise ValueError(f"{name} must be integers. Got dtype {labels.dtype}{remedy}.")
    low, high = int(labels.min()), int(labels.max())
    if low < 0 or high >= classes:
        raise ValueError(f"{name} must lie in 0 ... {classes - 1}. Got values from {low} to {high}.")


def check_weights(weights: Any, n: int) -> np.ndarray:
    """Weights (n,), finite, none below 0 and not all 0, as float64. Else ValueError."""
    found = np.asarray(to_numpy(weights), dtype=np.float64)
    if found.shape != (n,):
        raise ValueError(f"weights must have shape (n,) = ({n},). Got {found.shape}.")
    if not (np.isfinite(found).all() and (found >= 0).all() and found.any()):
        raise ValueError(f"weights must be finite, none below 0 and not all 0. Got {found.min():g} to {found.max():g}.")
    return found


def check_package(package: str, doing: str, extra: str) -> None:
    """ModuleNotFoundError with the command that installs it, unless the package is there."""
    try:
        there = find_spec(package) is not None
    except ImportError:
        there = False
    if not there:
        message = f"{doing} needs the package {package}: pip install 'focal-lib[{extra}]'"
        raise ModuleNotFoundError(message, name=package)


def _is_bfloat16(values: Any) -> bool:
    """Whether bfloat16, the upper half of float32, holds each of the numbers exactly."""
    found = np.asarray(to_numpy(values))
    single = found.astype(np.float32)
    return bool((single == found).all() and not (single.view(np.uint32) & 0xFFFF).any())


def _tolerance(values: Any) -> float:
    return 1e-6 if str(values.dtype).endswith("float64") else 1e-3
