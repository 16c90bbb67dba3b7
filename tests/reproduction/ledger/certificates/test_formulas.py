"""The formulas on Arb balls, against 40-digit references and the sympy expressions."""

import mpmath as mp
import pytest
import sympy as sp
from flint import arb_series

from reproduction.ledger.certificates import balls, formulas
from reproduction.theorems import symbols


def logit_gap_reference(s, gamma):
    """R(s) to 40 digits."""

    def u(v):
        return mp.exp(v) * mp.log1p(mp.exp(-v))

    return mp.log((1 + gamma * u(s)) / (1 + gamma * u(-s)))


def test_balls_contain_the_true_values():
    with balls.precision(80):
        gap = formulas.logit_gap(balls.exact("2.5"), balls.exact("3"))
    with mp.workdps(40):
        truth = logit_gap_reference(mp.mpf("2.5"), 3)
    assert abs(float(gap.mid()) - float(truth)) <= 1e-15
    assert float(gap.rad()) < 1e-20


def test_the_slope_of_the_gap_is_its_derivative():
    for s in ("0.2", "2.5", "9"):
        with balls.precision(120):
            slope = 3 * formulas.logit_gap_slope(balls.exact(s), balls.exact("3"))
        with mp.workdps(40):
            truth = mp.diff(lambda v: logit_gap_reference(v, 3), mp.mpf(s))
        assert abs(float(slope.mid()) - float(truth)) <= 1e-15


@pytest.mark.parametrize("k", [0, 1, 2, 3])
@pytest.mark.parametrize("s", ["0.3", "1.7", "6"])
def test_curvature_growth_is_that_of_the_sympy_cubic(k, s):
    x = sp.Symbol("x")
    *lower, top = symbols.curvature_cubic(x)
    growth = top if k == 3 else lower[k] * sp.diff(top, x) - sp.diff(lower[k], x) * top
    with balls.precision(200, 2):
        found = formulas.curvature_growth(arb_series([balls.exact(s), 1]), k)[0]
    truth = growth.subs(x, sp.Rational(s)).evalf(30)
    assert abs(float(found.mid()) - float(truth)) <= 1e-13 * abs(float(truth))


def test_sums_of_the_coefficients_are_those_of_the_sympy_cubic():
    x = sp.Symbol("x")
    weights = (-1, 1, -2, 3)
    truth = sum(w * c for w, c in zip(weights, symbols.curvature_cubic(x), strict=True)).subs(x, 2).evalf(30)
    with balls.precision(200, 2):
        found = formulas.curvature_sum(arb_series([2, 1]), weights)[0]
        with pytest.raises(ValueError, match="longer"):
            formulas.curvature_sum(arb_series([2, 1]), weights[:3])
    assert abs(float(found.mid()) - float(truth)) <= 1e-13 * abs(float(truth))
