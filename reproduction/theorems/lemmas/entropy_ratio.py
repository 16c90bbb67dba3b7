"""The signs of b(q) = -q log q / (1-q), of its derivatives, and of the difference of the two terms of an entropy."""

from __future__ import annotations

import sympy as sp

from reproduction.ledger.evidence import Step, step
from reproduction.theorems import symbols

q, g = symbols.q, symbols.g
t = sp.Symbol("t", positive=True)
b = sp.Function("b")(q)
value, rise, fall, third = sp.symbols("b_0 b_1 b_2 b_3", positive=True)  # b, b', -b'', b^(3)


def sign_steps() -> tuple[Step, ...]:
    r"""b is a mixture of q/(q+t), :math:`b(q) = \int_0^\infty \frac{q}{(q+t)(1+t)}dt`, so it has their signs."""
    primitive = q * sp.log((q + t) / (1 + t)) / (1 - q)
    term = q / (q + t)
    return (
        step(
            r"$\partial_t \frac{q}{1-q}\log\frac{q+t}{1+t} = \frac{q}{(q+t)(1+t)}$",
            (sp.diff(primitive, t), term / (1 + t)),
        ),
        step(
            r"from $t = 0$, where it is $-b(q)$, to $\infty$, where it is 0: $b(q) = \int_0^\infty \frac{q}{(q+t)(1+t)}\,dt$",
            (sp.limit(primitive, t, sp.oo) - primitive.subs(t, 0), symbols.entropy_ratio()),
        ),
        step(r"$(\frac{q}{q+t})' = \frac{t}{(q+t)^2} > 0$", (sp.diff(term, q), t / (q + t) ** 2)),
        step(r"$(\frac{q}{q+t})'' = -\frac{2t}{(q+t)^3} < 0$", (sp.diff(term, q, 2), -2 * t / (q + t) ** 3)),
        step(
            r"$(\frac{q}{q+t})^{(3)} = \frac{6t}{(q+t)^4} > 0$: so $b' > 0$, $b'' < 0$, $b^{(3)} > 0$",
            (sp.diff(term, q, 3), 6 * t / (q + t) ** 4),
        ),
    )


def derivative_by_signs(of_b: sp.Expr, order: int) -> sp.Expr:
    """The derivative by q of what is written in `b`, with positive symbols for b, b', -b'' and b^(3)."""
    slopes = {b.diff(q, 3): third, b.diff(q, 2): -fall, b.diff(q): rise}
    return sp.diff(of_b, q, order).doit().subs(slopes).subs(b, value)


def limit_step(text: str, at: int = 0) -> Step:
    """b tends to 0 as q does, and to 1 as q does."""
    return step(text, (sp.limit(symbols.entropy_ratio(), q, at, "-" if at else "+"), at))


def log_sign_steps() -> tuple[Step, ...]:
    """G = log(1 + gamma b) has the same signs: G' > 0, G'' < 0, G^(3) > 0 for gamma > 0."""
    big_g, scale = sp.log(1 + g * b), 1 + g * value
    return (
        step(
            r"$G = \log(1+\gamma b)$: $G'' = -\frac{\gamma|b''|}{1+\gamma b} - \frac{\gamma^2 b'^2}{(1+\gamma b)^2} < 0$",
            (derivative_by_signs(big_g, 2), -g * fall / scale - (g * rise / scale) ** 2),
        ),
        step(
            r"$G^{(3)} = \frac{\gamma b^{(3)}}{1+\gamma b} + \frac{3\gamma^2 b'|b''|}{(1+\gamma b)^2} "
            r"+ \frac{2\gamma^3 b'^3}{(1+\gamma b)^3} > 0$",
            (
                derivative_by_signs(big_g, 3),
                g * third / scale + 3 * g**2 * rise * fall / scale**2 + 2 * (g * rise / scale) ** 3,
            ),
        ),
    )


def terms_steps() -> tuple[Step, ...]:
    """f(p) = (1-p) log(1-p) - p log p is positive on (0, 1/2)."""
    f = (1 - q) * sp.log(1 - q) - q * sp.log(q)
    return (
        step(r"$f = (1-p)\log(1-p) - p\log p$ is 0 at $\frac12$", (f.subs(q, sp.Rational(1, 2)), 0)),
        step(r"and at 0", (sp.limit(f, q, 0, "+"), 0)),
        step(
            r"$f'' = \frac{1}{1-p} - \frac1p < 0$ on $(0, \frac12)$: $f > 0$ there",
            (sp.diff(f, q, 2), 1 / (1 - q) - 1 / q),
        ),
        step(r"$f(1-p) = -f(p)$", (f.subs(q, 1 - q) + f, 0)),
    )
