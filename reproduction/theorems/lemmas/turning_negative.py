"""For negative gamma R'' is positive: beta(s) falls from beta(0) to gamma + 1."""

from __future__ import annotations

from fractions import Fraction
from functools import cache, partial

import flint
import sympy as sp

from reproduction.ledger.certificates import balls, formulas, search
from reproduction.ledger.evidence import All, Certificate, Derivation, Step, step
from reproduction.theorems import symbols
from reproduction.theorems.lemmas.turning import Q, alpha, ell, far_coefficients, s, turning_certificate, x

NEAR = Fraction(4)  # boxes up to here, series beyond
_WEIGHTS = {  # of c_0, ..., c_3
    "c3 - c2 + c1 - c0": (-1, 1, -1, 1),
    "2 c2 - c1 - 3 c3": (0, -1, 2, -3),
}
# what is left of the series of ell and Q in x = e^-s, over x^3
ell_rest, Q_rest = sp.symbols("E Q_3", positive=True)


def falling_functions() -> dict[str, sp.Expr]:
    """c_3 P(1) and -c_3 P'(1) of `falling_certificate`: positive for every s > 0."""
    cubic = symbols.curvature_cubic()
    return {name: sum(w * c for w, c in zip(weights, cubic, strict=True)) for name, weights in _WEIGHTS.items()}


@cache
def _boxes() -> dict[str, tuple[search.Box, ...]]:
    return {
        name: search.find_boxes(partial(formulas.curvature_sum, weights=weights), Fraction(0), NEAR, order=1)
        for name, weights in _WEIGHTS.items()
    }


def _in_series(expression: sp.Expr) -> sp.Poly:
    """In x and s, with ell and Q by their series up to x^2 and what is left."""
    replaced = expression.subs(alpha, _alpha_series()).subs({ell: _ell_series(), Q: _q_series()})
    return sp.Poly(sp.expand(replaced), x, s)


def _ell_series() -> sp.Expr:
    return 1 - x / 2 + x**2 / 3 - x**3 * ell_rest


def _q_series() -> sp.Expr:
    return 1 - x + x**2 - x**3 * Q_rest


def _alpha_series() -> sp.Expr:
    return sp.Rational(1, 2) - 2 * x / 3 + x**2 * (Q_rest - ell_rest)


def beyond_enclosure(name: str) -> flint.arb:
    """A ball that holds the function over x^(1+i) s^j for every s >= NEAR, i and j of its leading term.

    1/4 - x/5 <= ell_rest <= 1/4, as the series of log(1+x)/x alternates; 1 - x <= Q_rest <= 1; x^i s^j decreases in s
    once s > j / i.
    """
    c = (*far_coefficients()[:3], x * far_coefficients()[3])  # over x
    total = _in_series(sum(w * part for w, part in zip(_WEIGHTS[name], c, strict=True)))
    lowest = min(i for i, _ in total.monoms())
    degree = max(j for i, j in total.monoms() if i == lowest)
    with balls.precision():
        far = balls.exact(NEAR)
        end = (-far).exp()
        between = {
            ell_rest: (balls.exact("1/4") - end / 5).union(balls.exact("1/4")),
            Q_rest: (1 - end).union(balls.exact(1)),
        }
        enclosure = balls.exact(0)
        for (i, j), coefficient in total.terms():
            above, power = i - lowest, j - degree
            if power > NEAR * above:
                raise ValueError(f"x^{above} s^{power} does not decrease beyond {NEAR}.")
            size = end**above * far**power
            enclosure += sp.lambdify(list(between), coefficient)(*between.values()) * (
                size if (above, power) == (0, 0) else balls.exact(0).union(size)
            )
        return enclosure


@cache
def falling_certificate() -> All:
    """R'' > 0 for every s > 0 and -1 < gamma < 0."""
    a, r0, r1, r2, c3 = sp.symbols("a r_0 r_1 r_2 c_3", positive=True)
    lower = (-r0 * c3, -r1 * c3, -r2 * c3)  # c_0, c_1, c_2
    at = r0 - r1 * a + r2 * a**2 + a**3
    bracket = sum(c * (-a) ** k for k, c in enumerate((*lower, c3)))
    values = {
        name: sum(w * c for w, c in zip(weights, (*lower, c3), strict=True)) for name, weights in _WEIGHTS.items()
    }
    one, two = values.values()
    steps = (
        step(
            r"with $\gamma = -a$ and $r_k = -c_k/c_3$: $R''(1+\gamma u)^2(1+\gamma\bar u)^2 = a\,c_3\,P(a)$, "
            r"$P(a) = r_0 - r_1a + r_2a^2 + a^3$",
            -a * bracket,
            a * c3 * at,
        ),
        Step(r"$P$ is convex for $a \ge 0$: $P'' = 2r_2 + 6a$, $r_2 > 0$", bool(sp.diff(at, a, 2).is_positive)),
        step(r"$-c_3P'(1) = 2c_2 - c_1 - 3c_3$: $P$ falls up to 1", -c3 * sp.diff(at, a).subs(a, 1), two),
        step(r"$c_3P(1) = c_3 - c_2 + c_1 - c_0$", c3 * at.subs(a, 1), one),
    )
    far = (
        step(r"$\alpha = (\ell - Q)/x$ in the series beyond", x * _alpha_series(), _ell_series() - _q_series()),
        *(
            Step(rf"$s \ge {NEAR}$: the {place} of the two is positive", bool(beyond_enclosure(name) > 0))
            for place, name in zip(("first", "second"), _WEIGHTS, strict=True)
        ),
    )
    certificate = Certificate(
        rf"$c_3 - c_2 + c_1 - c_0 > 0$ and $2c_2 - c_1 - 3c_3 > 0$ on $0 < s \le {NEAR}$",
        falling_functions(),
        s,
        _boxes(),
        Fraction(0),
        NEAR,
        far,
    )
    remark = r"So $P > 0$ on $[0, 1]$, and $R'' > 0$: $R/s$ rises with $s$, and $\beta = \gamma + 1 - R/s$ falls."
    return All((turning_certificate(), certificate, Derivation(steps, remark)))
