r"""b(q) = -q log q / (1-q), the entropy ratio, and its derivatives: of numbers, NumPy arrays and torch tensors.

All of the focal calibration map but powers of 1 - q is in b, and b is where digits are lost. As a function of
x = -log q it is the Bernoulli function, which falls from 1 at x = 0 (where q = 1) to 0 and is convex:

.. math:: b = \frac{x}{e^x - 1}, \qquad b' = \frac bx\,(1 - x - b), \qquad
          b'' = \frac{b' - b/x}{x}\,(1 - x - b) - \frac bx\,(1 + b').

Near 0 the quotients cancel, and Taylor series stand in. Derivatives by q follow from :math:`q\,db/dq = -b'(x)`.

b is written again, with the reason there, in sympy (`symbols`), in ball arithmetic (`certificates.formulas`), in 60
digits (`workflow/maps_reference.py`), and in `focal_lib.calibration.calibrators` in the two inner loops (`newton`,
`ece_surface`) and in operations of ONNX (`torch_module`), and in JavaScript (`book/_static/explore.js`).
tests/reproduction/theorems/test_one_formula.py, of the calibrators tests/test_one_formula.py, and of the script
tests/book/test_explore.py tie each to this module.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from torch import Tensor


def bernoulli(x: Any) -> Any:
    """b = x / (e^x - 1) for x = -log q >= 0, elementwise."""
    if isinstance(x, float):
        return _series(x) if x < 0.1 else _quotient(x, x)
    where: Any = torch.where if isinstance(x, Tensor) else np.where
    small = x < 0.1  # there the quotient has a useless derivative
    return where(small, _series(x), _quotient(x, where(small, 1.0, x)))


def one_minus_bernoulli_over_x(x: Any) -> Any:
    """(1 - b) / x, which is 1/2 at x = 0, elementwise."""
    return _near_or_far(x, 0.1, _one_minus_series, lambda x: (1 - _quotient(x, x)) / x)


def bernoulli_slope(x: Any) -> Any:
    """db/dx, between -1/2 at x = 0 and 0, elementwise."""
    return _near_or_far(x, 0.1, _slope_series, _slope)


def bernoulli_curvature(x: Any) -> Any:
    """d2b/dx2, between 1/6 at x = 0 and 0, elementwise; positive."""
    return _near_or_far(x, 0.25, _curvature_series, _curvature)  # the closed form loses 1/x^2


def mirror_gap(s: Any, x: Any) -> Any:
    """b(q) - b(1-q) for q = sigmoid(s) and x = -log q, elementwise: odd in s, and relatively exact as s -> 0."""
    functions = _functions(s)
    return 2 * functions.sinh(s) * x - s * functions.exp(-s)


def _near_or_far(x: Any, end: float, near: Callable[[Any], Any], far: Callable[[Any], Any]) -> Any:
    """`near` below the end, else `far`, each at places it can take."""
    if isinstance(x, float):
        return near(x) if x < end else far(x)
    where: Any = torch.where if isinstance(x, Tensor) else np.where
    small = x < end
    return where(small, near(where(small, x, 0.0)), far(where(small, 1.0, x)))


def _functions(x: Any) -> Any:
    """The module with exp for this kind of number."""
    return math if isinstance(x, float) else torch if isinstance(x, Tensor) else np


def _quotient(x: Any, divided_at: Any) -> Any:
    """Arrays are divided away from 0, which changes no value that is used: torch differentiates all of them."""
    functions = _functions(x)
    return x * functions.exp(-x) / -functions.expm1(-divided_at)


def _slope(x: Any) -> Any:
    b = _quotient(x, x)
    return b / x * (1 - x - b)


def _curvature(x: Any) -> Any:
    b, slope = _quotient(x, x), _slope(x)
    return (slope - b / x) / x * (1 - x - b) - b / x * (1 + slope)


# --- Taylor series, whose coefficients are Bernoulli numbers; exact to rounding below the ends ---


def _series(x: Any) -> Any:
    x2 = x * x
    return 1 - x / 2 + x2 / 12 * (1 - x2 / 60 * (1 - x2 / 42 * (1 - x2 / 40)))


def _one_minus_series(x: Any) -> Any:
    x2 = x * x
    return 0.5 - x / 12 * (1 - x2 / 60 * (1 - x2 / 42 * (1 - x2 / 40)))


def _slope_series(x: Any) -> Any:
    x2 = x * x
    return -0.5 + x / 6 * (1 - x2 / 30 * (1 - x2 / 28 * (1 - x2 / 30)))


def _curvature_series(x: Any) -> Any:
    x2 = x * x
    last = 1 - x2 * (25 / 616) * (1 - x2 * (7601 / 204750))
    return 1 / 6 - x2 / 60 * (1 - x2 * (5 / 84) * (1 - x2 * (7 / 150) * last))
