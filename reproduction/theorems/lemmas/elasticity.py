"""The elasticity e = q w'/w of the map's weight: it falls, then rises, and how fast. For KK24's upper temperature."""

from __future__ import annotations

from fractions import Fraction

import flint
import sympy as sp

from reproduction.ledger.certificates import balls
from reproduction.ledger.evidence import Step, step
from reproduction.theorems import symbols

q, g = symbols.q, symbols.g
x = sp.Symbol("x", positive=True)  # -log q
B = x / (sp.exp(x) - 1)  # b(e^-x)
V = sp.exp(x) / (sp.exp(x) - 1) ** 2
PHI = x * sp.coth(x / 2) - 3 - g * (2 * B - B**2 + sp.exp(-x)) - g**2 * B**2
BOXES_TO = 200  # of 1/q_e; analysis beyond


def _exponential(expression: sp.Expr) -> sp.Expr:
    """Simplified as a rational function of e^x and x."""
    y = sp.Symbol("y", positive=True)
    return sp.simplify(expression.rewrite(sp.exp).subs(x, sp.log(y)).subs(sp.log(y), x).rewrite(sp.exp))


def turning_steps() -> tuple[Step, ...]:
    """e falls in q up to one q_e, then rises; 1/q_e increases with gamma, from above 13."""
    elastic = 1 + g * (1 / (sp.exp(x) - 1) + sp.diff(B, x) / (1 + g * B))
    of_q = q * sp.diff(sp.log(q) - sp.log(symbols.gain(q, g)), q)
    rise = sp.sinh(x) - x
    fall = sp.exp(x) - 1 - x * sp.exp(x)
    thirteen = sp.log(13) * sp.Rational(14, 12)
    return (
        step(
            r"with $q = e^{-x}$, $B = \frac{x}{e^x-1}$: $e = q\,(\log\frac qg)' = 1 + \gamma\left(\frac{1}{e^x-1} + \frac{B'}{1+\gamma B}\right)$",
            (sp.simplify(of_q.subs(q, sp.exp(-x)) - elastic), 0),
        ),
        step(
            r"$\frac{de}{dx} = \frac{\gamma V}{(1+\gamma B)^2}\,\Phi$, $V = \frac{e^x}{(e^x-1)^2}$, $\Phi = x\coth\frac x2 - 3 - "
            r"\gamma\,(2B - B^2 + e^{-x}) - \gamma^2B^2$",
            (sp.diff(elastic, x), g * V / (1 + g * B) ** 2 * PHI),
            simplify=_exponential,
        ),
        step(
            r"$(x\coth\frac x2)' = \frac{\sinh x - x}{2\sinh^2\frac x2} > 0$, as $\sinh x - x$ is 0 at 0 with derivative $\cosh x - 1 > 0$",
            (_exponential(sp.diff(x * sp.coth(x / 2), x) - rise / (2 * sp.sinh(x / 2) ** 2)), 0),
            (rise.subs(x, 0), 0),
            (sp.diff(rise, x), sp.cosh(x) - 1),
        ),
        step(
            r"$B' = \frac{e^x-1-xe^x}{(e^x-1)^2} < 0$, as its numerator is 0 at 0 with derivative $-xe^x$; $0 < B < 1$, as $B \to 1$ at 0",
            (sp.diff(B, x), fall / (sp.exp(x) - 1) ** 2),
            (fall.subs(x, 0), 0),
            (sp.diff(fall, x), -x * sp.exp(x)),
            (sp.limit(B, x, 0, "+"), 1),
        ),
        step(
            r"$(2B - B^2)' = 2\,(1-B)\,B' < 0$: every term of $\Phi$ increases in $x$",
            (sp.diff(2 * B - B**2, x), 2 * (1 - B) * sp.diff(B, x)),
        ),
        step(
            r"$\Phi \to -1 - 2\gamma - \gamma^2 < 0$ at 0 and $\Phi \to \infty$: it is 0 at one $x_e = -\log q_e$, before which $e$ falls in $x$",
            (sp.limit(x * sp.coth(x / 2), x, 0, "+") - 3 - g * (2 - 1 + 1) - g**2, -1 - 2 * g - g**2),
            (1 / sp.limit(x * sp.coth(x / 2), x, sp.oo), 0),
        ),
        step(
            r"$\Phi$ falls in $\gamma$, so $x_e$ increases with it; $\log13\,\coth\frac{\log13}{2} = \frac{14}{12}\log13 < 3$, so $\frac{1}{q_e} > 13$ for every "
            r"$\gamma > 0$",
            (_exponential(sp.coth(x / 2) - (sp.exp(x) + 1) / (sp.exp(x) - 1)), 0),
            (sp.sign(3 - thirteen), 1),
        ),
    )


def far_steps() -> tuple[Step, ...]:
    """With u = gamma B, de/dx at a distance from x_e is less than that distance, from x = log BOXES_TO on."""
    u, c, k = sp.symbols("u c k", nonnegative=True)
    slope = sp.diff(B, x) / B
    return (
        step(
            r"$\frac{\gamma V}{(1+\gamma B)^2} = \frac{u}{(1+u)^2}\,\frac{1}{x\,(1-e^{-x})}$ with $u = \gamma B$",
            (g * V, g * B / (x * (1 - sp.exp(-x)))),
        ),
        step(
            r"$0 < -\frac{B'}{B} = 1 + \frac{1}{e^x-1} - \frac1x < 1$, as $e^x - 1 > x$, and $\gamma e^{-x} = u\,\frac{1-e^{-x}}{x} < \frac ux$",
            (-slope, 1 + 1 / (sp.exp(x) - 1) - 1 / x),
            (g * sp.exp(-x), g * B * (1 - sp.exp(-x)) / x),
        ),
        step(
            r"so $\Phi' \le \coth\frac x2 + (2+\frac1x)\,u + 2u^2 \le 2.2\,(1+u)^2$ for $x \ge \log200$: the first term is at most $\frac{\sinh x}{2\sinh^2(x/2)}$",
            (_exponential(sp.sinh(x) / (2 * sp.sinh(x / 2) ** 2) - sp.coth(x / 2)), 0),
            (
                sp.Rational(11, 5) * (1 + u) ** 2 - (c + k * u + 2 * u**2),
                (sp.Rational(11, 5) - c) + (sp.Rational(22, 5) - k) * u + u**2 / 5,
            ),
        ),
        Step(
            r"$\coth\frac{\log200}{2} = \frac{201}{199} \le 2.2$, $2 + \frac{1}{\log200} \le 4.4$",
            bool(sp.Rational(201, 199) < 2.2 and 2 + 1 / sp.log(200) < 4.4),
        ),
        Step(
            r"$\Phi(x_e) = 0$ gives $u(x_e)^2 < x_e\coth\frac{x_e}{2}$, and $u$ changes by at most $\frac{201}{200}$ to the nearest $\log k$, as $-B'/B < 1$: "
            r"$\frac{2.2\,u}{x(1-e^{-x})}\big(\frac{1+u(t)}{1+u}\big)^2 \le 2.2\,\big(\frac{201}{200}\big)^4\sqrt{\frac{201}{199\log200}}\,\frac{200}{199} < 1$",
            bool(
                sp.Rational(11, 5)
                * sp.Rational(201, 200) ** 4
                * sp.Rational(200, 199)
                * sp.sqrt(sp.Rational(201, 199) / sp.log(200))
                < 1
            ),
        ),
    )


def near_steps(most: Fraction) -> tuple[Step, ...]:
    """k - 1 tied classes and one more, k a whole neighbour of 1/q_e, have a mean of e less than `most` above its minimum."""
    return (
        Step(
            rf"$13 \le \frac1{{q_e}} \le {BOXES_TO}$: half the mean of $(x - x_e)^2$ between two such levels, times the largest $\frac{{\gamma V}}{{(1+\gamma B)^2}}"
            rf"\,\Phi'$ between them and $x_e$, is less than ${_millionths(most)}$ (ball arithmetic on boxes of $x_e$, $\gamma$ the positive root of $\Phi(x_e) = 0$)",
            bool(distance_at_most() < balls.exact(most)),
        ),
        Step(
            rf"beyond, the nearer $k$ equal classes have $(x - x_e)^2 \le \frac{{1}}{{4N^2}}$: less than $\frac{{1}}{{8\cdot{BOXES_TO}^2}} < {_millionths(most)}$",
            Fraction(1, 8 * BOXES_TO**2) < most,
        ),
    )


def _millionths(number: Fraction) -> str:
    return rf"{float(number * 10**6):g} \cdot 10^{{-6}}"


def distance_at_most(pieces: int = 12) -> flint.arb:
    """The largest bound over 13 <= 1/q_e <= BOXES_TO."""
    with balls.precision():
        bounds = [
            _distance(count, near, part, pieces)
            for count in range(13, BOXES_TO)
            for near in (count, count + 1)
            for part in range(pieces)
        ]
        return max(bounds, key=lambda bound: bound.upper())


def _distance(count: int, near: int, part: int, pieces: int) -> flint.arb:
    """The bound with x_e in one piece of the half of [log count, log(count + 1)] that ends at log(near)."""
    log_near, log_far = flint.arb(near).log(), flint.arb(2 * count + 1 - near).log()
    ends = [log_near + (log_far - log_near) * at / (2 * pieces) for at in (part, part + 1)]
    turn = ends[0].union(ends[1])
    if part:  # one class beyond x_e, so that the mean of (x - x_e)^2 is least
        one = log_near + (ends[0] + ends[1] - 2 * log_near) * 3 / 4
        tied = -((1 - (-one).exp()) / (near - 1)).log()
        levels = one.union(tied)
        square = ((one - turn) ** 3 - (tied - turn) ** 3) / (3 * (one - tied))
    else:
        levels, square = log_near, (turn - log_near) ** 2
    gamma = _gamma_of_turn(ends[0]).union(_gamma_of_turn(ends[1]))  # it increases with x_e
    return square / 2 * _rise(levels.union(turn), gamma)


def _rise(x: flint.arb, gamma: flint.arb) -> flint.arb:
    """gamma V Phi' / (1 + gamma B)^2."""
    exp = x.exp()
    b, v = x / (exp - 1), exp / (exp - 1) ** 2
    fall = (x * exp - exp + 1) / (exp - 1) ** 2  # -B'
    growth = ((exp - 1 / exp) / 2 - x) * 2 * v  # (x coth(x/2))', as 2 sinh^2(x/2) = 1/(2 V)
    slope = growth + gamma * (2 * (1 - b) * fall + 1 / exp) + 2 * gamma**2 * b * fall
    return gamma * v / (1 + gamma * b) ** 2 * slope


def _gamma_of_turn(turn: flint.arb) -> flint.arb:
    """The gamma >= 0 with Phi = 0 at x_e; 0 where none is."""
    exp = turn.exp()
    b = turn / (exp - 1)
    rest = turn * (exp + 1) / (exp - 1) - 3
    if rest <= 0:
        return flint.arb(0)
    linear = 2 - b + 1 / (exp * b)
    return ((linear**2 + 4 * rest).sqrt() - linear) / (2 * b)
