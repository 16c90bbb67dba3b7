"""The numbers that the package publishes are those of the proofs: one per cent off, and a verdict falls."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

import flint
import sympy as sp

from focal_lib.theory.gain import confidence_threshold, critical_gamma, elasticity_minimum, lambert_gamma
from focal_lib.theory.temperature_bounds import beta_at_zero, largest_monotone_gamma
from reproduction.ledger.certificates import balls, formulas
from reproduction.ledger.evidence import Step, step
from reproduction.theorems import symbols

_DIGITS = 10
_WIDTH = Fraction(1, 10**_DIGITS)  # relative, around the published number


def _falls_through_one(function: Callable[[flint.arb], flint.arb], published: float) -> bool:
    """Whether the function is above 1 before the number and below 1 after it, in ball arithmetic."""
    number = Fraction(published)
    with balls.precision():
        before, after = (function(balls.exact(number * (1 + side * _WIDTH))) for side in (-1, 1))
        return bool(before > 1) and bool(after < 1)


def threshold_step() -> Step:
    """tau(gamma) of `theory.confidence_threshold` is where g falls through 1."""
    gammas = (0.125, 0.5, 1.0, 2.0, 3.0, 5.0, 10.0, 30.0)
    return Step(
        rf"`confidence_threshold` is that root: $g > 1$ just before it and $g < 1$ just after it (relative $10^{{-{_DIGITS}}}$), "
        rf"$\gamma = {', '.join(f'{g:g}' for g in gammas)}$",
        all(_falls_through_one(_gain_with(Fraction(g)), confidence_threshold(g)) for g in gammas),
    )


def _gain_with(gamma: Fraction) -> Callable[[flint.arb], flint.arb]:
    return lambda q: formulas.gain(q, balls.exact(gamma))


def _gain_at(p: Fraction) -> Callable[[flint.arb], flint.arb]:
    return lambda gamma: formulas.gain(balls.exact(p), gamma)


def critical_gamma_step() -> Step:
    """gamma*(1/(n-1)) of `theory.critical_gamma` is where g(1/(n-1), .) falls through 1."""
    counts = (4, 5, 7, 10, 100, 1000)
    return Step(
        rf"`critical_gamma` is $\gamma^*(\frac1{{n-1}})$: $g(\frac1{{n-1}}) > 1$ just before it and $< 1$ just after it "
        rf"(relative $10^{{-{_DIGITS}}}$), $n = {', '.join(map(str, counts))}$; it is 0 for $n = 2, 3$",
        all(_falls_through_one(_gain_at(Fraction(1, n - 1)), critical_gamma(n)) for n in counts)
        and critical_gamma(2) == critical_gamma(3) == 0,
    )


def lambert_step() -> Step:
    """gamma*(p0) of `theory.lambert_gamma` is where g(p0, .) falls through 1."""
    points = (0.01, 0.1, 0.2, 0.25, 0.3, 0.4)
    return Step(
        rf"`lambert_gamma` is that root: $g(p_0, \cdot) > 1$ just before it and $< 1$ just after it (relative $10^{{-{_DIGITS}}}$), "
        rf"$p_0 = {', '.join(map(str, points))}$",
        all(_falls_through_one(_gain_at(Fraction(p)), lambert_gamma(p)) for p in points),
    )


def elasticity_step() -> Step:
    """`theory.elasticity_minimum` has the value of e there, and e is larger close by."""
    gammas, e = (1, 5), symbols.q * sp.diff(sp.log(symbols.weight(symbols.q, symbols.g)), symbols.q)

    def smallest(gamma: int) -> bool:
        at, published = elasticity_minimum(gamma)
        below, here, above = (e.evalf(40, {symbols.g: gamma, symbols.q: at * side}) for side in (0.999, 1, 1.001))
        return bool(abs(here - published) < 1e-12 and here < min(below, above))

    return Step(
        rf"`elasticity_minimum` is one: $e$ has its value there ($10^{{-12}}$), and a larger one a thousandth to either side, "
        rf"$\gamma = {', '.join(map(str, gammas))}$",
        all(map(smallest, gammas)),
    )


def slope_step() -> Step:
    """beta(0) of `theory.beta_at_zero` is the slope of the map at 0."""
    s, g = symbols.s, sp.Symbol("gamma", real=True)
    slope = sp.diff(symbols.binary_map_of_logit(s, g), s).subs(s, 0)
    return step(r"`beta_at_zero` is that slope, for every $\gamma$", (beta_at_zero(g, sp.log(2)), slope))


def turning_steps() -> tuple[Step, ...]:
    """gamma_c of `theory.largest_monotone_gamma` makes R''/s -> 0 at s = 0, exactly, and no other gamma > 0 does."""
    t, gamma, two = sp.symbols("t gamma l", positive=True)  # l: log 2
    slopes = [
        sp.expand(sp.diff(c, symbols.s).subs(symbols.s, 0)).subs(sp.log(2), two) for c in symbols.curvature_cubic()
    ]
    cubic = sum(slope * gamma**k for k, slope in enumerate(slopes))
    in_t = sp.numer(sp.together(cubic.subs(gamma, t / (1 - t * two))))
    found = sp.simplify(largest_monotone_gamma(two, sp.sqrt))
    a, b = two - sp.Rational(1, 2), two - sp.Rational(3, 4)
    quadratic = 2 * a**3 * t**2 - 3 * a * b * t + b
    with balls.precision():
        signs = [sp.lambdify(two, slope)(balls.exact(2).log()) for slope in slopes]
    return (
        step(
            r"with $t = \frac{\gamma}{1+\gamma\log2}$, $\lim_{s\to0} R''/s$ has the factor $2a^3t^2 - 3abt + b$, "
            r"$a = \log2 - \frac12$, $b = \log2 - \frac34$",
            (sp.rem(sp.Poly(in_t, t), sp.Poly(quadratic, t)).as_expr(), 0),
        ),
        step(
            r"`largest_monotone_gamma` is a root of it, as an expression in $\log 2$",
            (quadratic.subs(t, sp.simplify(found / (1 + found * two))), 0),
        ),
        Step(
            r"that limit is a cubic in $\gamma$ with signs $-,-,-,+$: one positive root $\gamma_c$, before it $R'' < 0$ near 0, after "
            r"it $R'' > 0$",
            all(bool(v < 0) for v in signs[:3]) and bool(signs[3] > 0) and largest_monotone_gamma() > 0,
        ),
    )
