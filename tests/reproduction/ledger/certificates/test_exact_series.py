"""Exact Taylor coefficients against derivatives that sympy takes."""

import pytest
import sympy as sp

from reproduction.ledger.certificates.exact_series import ExactSeries

X = sp.Symbol("x")
TERMS = 5
AT = sp.Rational(2, 3)
VARIABLE = ExactSeries((AT, sp.S.One, *[sp.S.Zero] * (TERMS - 2)))


def taylor(expression):
    return [sp.diff(expression, X, k).subs(X, AT) / sp.factorial(k) for k in range(TERMS)]


@pytest.mark.parametrize(
    "formula",
    [
        lambda x: x + 3,
        lambda x: 3 + x,
        lambda x: x - 3,
        lambda x: 3 - x,
        lambda x: -x * x,
        lambda x: 5 * x * x,
        lambda x: x / 3,
        lambda x: 3 / x,
        lambda x: (1 + x * x) / (2 - x),
        lambda x: x**0,
        lambda x: x**3,
        lambda x: (1 + x) ** -2,
    ],
)
def test_arithmetic(formula):
    assert all(sp.simplify(a - b) == 0 for a, b in zip(formula(VARIABLE).coefficients, taylor(formula(X)), strict=True))


@pytest.mark.parametrize("inner", [lambda x: x, lambda x: x * x / 2 + 1, lambda x: 1 / (1 + x)])
def test_exp_and_log(inner):
    for found, wanted in ((inner(VARIABLE).exp(), sp.exp(inner(X))), (inner(VARIABLE).log(), sp.log(inner(X)))):
        assert all(sp.simplify(a - b) == 0 for a, b in zip(found.coefficients, taylor(wanted), strict=True))


def test_refused():
    with pytest.raises(ValueError, match=r"power must be a whole number. Got 0.5"):
        VARIABLE**0.5
    with pytest.raises(ValueError, match="shorter"):
        VARIABLE + ExactSeries((AT, sp.S.One))
