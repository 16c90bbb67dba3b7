r"""The entropy ratio b(q) = -q log q / (1-q) and its derivatives, for numbers, NumPy arrays and torch tensors.

The focal calibration map consists of b and powers of 1 - q, and only b loses digits. As a function of x = -log q,
b is the Bernoulli function, which is convex and falls from 1 at x = 0 (where q = 1) to 0:

.. math:: b = \frac{x}{e^x - 1}, \qquad b' = \frac bx\,(1 - x - b), \qquad
          b'' = \frac{b' - b/x}{x}\,(1 - x - b) - \frac bx\,(1 + b').

Near 0 the quotients cancel, and Taylor series replace them. Derivatives by q follow from :math:`q\,db/dq = -b'(x)`.

b has other implementations, each with its reason: sympy (`symbols`), ball arithmetic (`certificates.formulas`), 60
digits (`workflow/maps_reference.py`), and JavaScript (`book/_static/explore.js`). `focal_lib.calibration.calibrators`
has it in two inner loops (`newton`, `ece_surface`) and in ONNX operations (`torch_module`). Tests compare them with
this module: tests/reproduction/theorems/test_one_formula.py, those of the calibrators, and tests/book/test_explore.py
(JavaScript).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from focal_lib.arrays import array_namespace


def bernoulli(x: Any) -> Any:
    """b = x / (e^x - 1) for x = -log q >= 0, elementwise."""
    if isinstance(x, float):
        return _series(x) if x < 0.1 else _quotient(x, x)
    where = array_namespace(x).where
    small = x < 0.1  # the quotient's derivative cancels there
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
    """`near` below `end`, else `far`, each evaluated only in its domain."""
    if isinstance(x, float):
        return near(x) if x < end else far(x)
    where = array_namespace(x).where
    small = x < end
    return where(small, near(where(small, x, 0.0)), far(where(small, 1.0, x)))


def _functions(x: Any) -> Any:
    """The module with exp for this kind of number."""
    return math if isinstance(x, float) else array_namespace(x)


def _quotient(x: Any, divided_at: Any) -> Any:
    """x / (e^x - 1). Arrays pass a safe divisor for discarded values, because torch differentiates those too."""
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
