"""R'' changes sign at most once, so beta(s) has one minimum; for negative gamma R'' > 0, so beta falls: KK24 Prop. 3."""

from __future__ import annotations

from fractions import Fraction
from functools import cache, partial

import flint
import sympy as sp

from reproduction.ledger.certificates import balls, checker, formulas, search
from reproduction.ledger.evidence import All, Certificate, Derivation, Step, derivation, step
from reproduction.theorems import symbols
from reproduction.theorems.lemmas import binary_map

s, g = symbols.s, symbols.g
FAR = Fraction(12)  # boxes up to here, analysis beyond

# Beyond FAR everything is written in x = e^-s: ell = log(1+x)/x, alpha = (ell - 1/(1+x))/x, Q = 1/(1+x).
x, ell, alpha, Q = sp.symbols("x ell alpha Q", positive=True)
ell_slope, alpha_slope = sp.symbols("ell_1 alpha_1")  # derivatives by x
low_u = x * ell + s  # u(-s) / x


def far_coefficients() -> tuple[sp.Expr, ...]:
    """C_k with c_k = x C_k for k < 3 and c_3 = x^2 C_3: bounded functions of x, polynomials in s."""
    near = ell * (alpha - Q**2) - x * alpha**2  # (u u'' - u'^2) / x
    mirrored = Q**2 * (x * low_u - 1)  # the same at -s, over x^2
    return (
        alpha - x * ell - s + Q,
        near - x * mirrored + 2 * x * low_u * (alpha - Q**2) - 2 * ell * (low_u - Q - Q**2),
        (x * low_u) ** 2 * (alpha - Q**2) - (low_u - Q - Q**2) * ell**2 + 2 * x * (low_u * near - mirrored * ell),
        x * low_u**2 * near - mirrored * ell**2,
    )


def far_steps() -> tuple[Step, ...]:
    """For s >= FAR c_3 is positive and the ratios -c_k/c_3 increase: C_k C_3 + C_k' C_3 - C_k C_3' < 0."""
    coefficients = far_coefficients()
    return (
        *(_far_identity(k) for k in range(4)),
        Step(rf"$s \ge {FAR}$: $C_3 > 0$", bool(_far_enclosure(coefficients[3], 0) > 0)),
        *(
            Step(
                rf"$s \ge {FAR}$: $C_{k}C_3 + C_{k}'C_3 - C_{k}C_3' < 0$, so $-c_{k}/c_3$ increases",
                bool(_far_enclosure(_far_slope(coefficients[k], coefficients[3]), 1) < 0),
            )
            for k in range(3)
        ),
    )


def _in_x(expression: sp.Expr) -> sp.Expr:
    """s = -log y, x = y and log(1+y) = L, for an algebraic comparison."""
    y, soft = sp.symbols("y L", positive=True)
    plain = sp.expand_log(expression.subs(s, -sp.log(y)), force=True).subs(sp.log(1 + 1 / y), soft - sp.log(y))
    return plain.subs(sp.log(1 + y), soft)


def _far_identity(k: int) -> Step:
    y = sp.exp(-s)
    written = far_coefficients()[k].subs(alpha, (ell - Q) / x).subs({ell: sp.log(1 + y) / y, Q: 1 / (1 + y), x: y})
    power = 2 if k == 3 else 1
    return step(
        rf"$c_{k} = x^{power} C_{k}$ with $x = e^{{-s}}$",
        (_in_x(symbols.curvature_cubic()[k]), _in_x(y**power * written)),
        simplify=lambda e: sp.simplify(sp.together(sp.expand(e))),
    )


def _by_s(expression: sp.Expr) -> sp.Expr:
    """Derivative by s, with x' = -x."""
    return (
        sp.diff(expression, s)
        - x * sp.diff(expression, x)
        - x * ell_slope * sp.diff(expression, ell)
        - x * alpha_slope * sp.diff(expression, alpha)
        + x * Q**2 * sp.diff(expression, Q)
    )


def _far_slope(low: sp.Expr, top: sp.Expr) -> sp.Expr:
    """C_k C_3 + C_k' C_3 - C_k C_3', which has the sign of (c_k/c_3)'."""
    return low * top + _by_s(low) * top - low * _by_s(top)


def _far_enclosure(expression: sp.Expr, degree: int) -> flint.arb:
    """A ball that holds the expression over s^degree for every s >= FAR.

    ell, alpha and their slopes are alternating series in x, so they lie between their first two
    partial sums; x^i s^j decreases in s once s > j / i.
    """
    with balls.precision():
        end = (-balls.exact(FAR)).exp()
        between = {
            ell: (1 - end / 2).union(balls.exact(1)),
            alpha: (balls.exact("1/2") - 2 * end / 3).union(balls.exact("1/2")),
            ell_slope: balls.exact("-1/2").union(balls.exact(0)),
            alpha_slope: balls.exact("-2/3").union(balls.exact(0)),
            Q: (1 - end).union(balls.exact(1)),
        }
        return _enclosure(sp.Poly(sp.expand(expression), x, s), between, FAR, 0, degree)


def _enclosure(
    total: sp.Poly, between: dict[sp.Symbol, flint.arb], start: Fraction, lowest: int, degree: int
) -> flint.arb:
    """A ball that holds the polynomial in x = e^-s and s over x^lowest s^degree for every s >= start.

    Args:
        between: balls that hold its other symbols there.
    """
    far = balls.exact(start)
    enclosure = balls.exact(0)
    for (i, j), coefficient in total.terms():
        above, power = i - lowest, j - degree
        if power > start * above:
            raise ValueError(f"each term must decrease in s beyond {start}. Got x^{above} s^{power}.")
        size = (-far).exp() ** above * far**power
        bound = size if (above, power) == (0, 0) else balls.exact(0).union(size)
        enclosure += sp.lambdify(list(between), coefficient)(*between.values()) * bound
    return enclosure


def turning_functions() -> dict[str, sp.Expr]:
    """What is positive for every s > 0: c_3, and (-c_k / c_3)' c_3^2 for k = 0, 1, 2."""
    *lower, top = symbols.curvature_cubic()
    grows = {f"(-c{k}/c3)'": c * sp.diff(top, s) - sp.diff(c, s) * top for k, c in enumerate(lower)}
    return grows | {"c3": top}


@cache
def turning_boxes() -> dict[str, tuple[checker.Box, ...]]:
    """A subdivision of [0, FAR] for each function, found with the formulas of certify.py."""
    orders = (3, 3, 3, 1)  # of the zero at s = 0
    return {
        name: search.find_boxes(partial(formulas.curvature_growth, k=k), Fraction(0), FAR, orders[k])
        for k, name in enumerate(turning_functions())
    }


def _start_slopes() -> list[flint.arb]:
    """c_k'(0) as balls."""
    with balls.precision(terms=2):
        series = flint.arb_series([0, 1])
        return [checker.on_series(c, s)(series)[1] for c in symbols.curvature_cubic()]


def start_margin(gamma: str) -> flint.arb:
    """-lim_{s -> 0} (c_0 + c_1 gamma + c_2 gamma^2 + c_3 gamma^3)/s as a ball: positive up to gamma_c."""
    with balls.precision():
        g, slopes = balls.exact(gamma), _start_slopes()
        return -(slopes[0] + g * (slopes[1] + g * (slopes[2] + g * slopes[3])))


@cache
def turning_certificate() -> Certificate:
    """R'' has the sign of gamma^3 - r_0 - r_1 gamma - r_2 gamma^2, and every r_k = -c_k/c_3 increases in s."""
    odd = tuple(
        step(
            rf"$c_{k}$ is odd", (_in_x(c + c.subs(s, -s)), 0), simplify=lambda e: sp.simplify(sp.together(sp.expand(e)))
        )
        for k, c in enumerate(symbols.curvature_cubic())
    )
    return Certificate(
        rf"$c_3 > 0$ and $-c_k/c_3$ increases, $k = 0, 1, 2$, on $0 < s \le {FAR}$",
        turning_functions(),
        s,
        turning_boxes(),
        Fraction(0),
        FAR,
        (*binary_map.logit_form_steps(), _curvature_identity(), *odd, _start_signs(), *far_steps()),
    )


def _curvature_identity() -> Step:
    cubic = g * sum(c * g**k for k, c in enumerate(symbols.curvature_cubic()))
    scale = ((1 + g * symbols.u(s)) * (1 + g * symbols.u(-s))) ** 2
    return step(
        r"$R'' (1+\gamma u)^2(1+\gamma\bar u)^2 = \gamma\,(c_0 + c_1\gamma + c_2\gamma^2 + c_3\gamma^3)$",
        (_in_x(sp.diff(symbols.logit_gap(s, g), s, 2) * scale), _in_x(cubic)),
        simplify=lambda e: sp.simplify(sp.together(e)),
    )


def _start_signs() -> Step:
    *lower, top = _start_slopes()
    return Step(r"$-c_k/c_3 > 0$ as $s \to 0$, so everywhere", bool(top > 0 and all(c < 0 for c in lower)))


def monotone_certificate(gamma: str = "5.635") -> All:
    """R'' < 0 for every s > 0 at this gamma and below: beta increases in abs(s)."""
    negative = Step(
        rf"at $s \to 0$ and $\gamma = {gamma}$ the sign of $R''$ is negative, so by the monotone ratios it is for "
        r"every $s > 0$ and every smaller $\gamma$",
        bool(start_margin(gamma) > 0),
    )
    return All((turning_certificate(), derivation(negative)))


NEAR = Fraction(4)  # boxes up to here, series beyond
_WEIGHTS = {  # of c_0, ..., c_3
    "c3 - c2 + c1 - c0": (-1, 1, -1, 1),
    "2 c2 - c1 - 3 c3": (0, -1, 2, -3),
}
# what is left of the series of ell and Q in x = e^-s, over x^3
ell_rest, Q_rest = sp.symbols("E Q_3", positive=True)
_SERIES = {ell: 1 - x / 2 + x**2 / 3 - x**3 * ell_rest, Q: 1 - x + x**2 - x**3 * Q_rest}
_ALPHA_SERIES = sp.Rational(1, 2) - 2 * x / 3 + x**2 * (Q_rest - ell_rest)


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


def beyond_enclosure(name: str) -> flint.arb:
    """A ball that holds the function over x^(1+i) s^j for every s >= NEAR, i and j of its leading term.

    1/4 - x/5 <= ell_rest <= 1/4, as the series of log(1+x)/x alternates; 1 - x <= Q_rest <= 1; x^i s^j decreases in s
    once s > j / i.
    """
    c = (*far_coefficients()[:3], x * far_coefficients()[3])  # over x
    whole = sum(w * part for w, part in zip(_WEIGHTS[name], c, strict=True))
    total = sp.Poly(sp.expand(whole.subs(alpha, _ALPHA_SERIES).subs(_SERIES)), x, s)
    lowest = min(i for i, _ in total.monoms())
    degree = max(j for i, j in total.monoms() if i == lowest)
    with balls.precision():
        end = (-balls.exact(NEAR)).exp()
        between = {
            ell_rest: (balls.exact("1/4") - end / 5).union(balls.exact("1/4")),
            Q_rest: (1 - end).union(balls.exact(1)),
        }
        return _enclosure(total, between, NEAR, lowest, degree)


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
            (-a * bracket, a * c3 * at),
        ),
        Step(r"$P$ is convex for $a \ge 0$: $P'' = 2r_2 + 6a$, $r_2 > 0$", bool(sp.diff(at, a, 2).is_positive)),
        step(r"$-c_3P'(1) = 2c_2 - c_1 - 3c_3$: $P$ falls up to 1", (-c3 * sp.diff(at, a).subs(a, 1), two)),
        step(r"$c_3P(1) = c_3 - c_2 + c_1 - c_0$", (c3 * at.subs(a, 1), one)),
    )
    far = (
        step(r"$\alpha = (\ell - Q)/x$ in the series beyond", (x * _ALPHA_SERIES, _SERIES[ell] - _SERIES[Q])),
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
