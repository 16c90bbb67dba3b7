"""w is concave, then convex, with one inflection: KK24 App. A.5, statement 2, put right."""

from __future__ import annotations

import sympy as sp

from reproduction.ledger.evidence import Step, step, step_of_several
from reproduction.theorems import symbols
from reproduction.theorems.lemmas.entropy_ratio import entropy_ratio_steps

q = symbols.q
g = sp.Symbol("gamma", positive=True)


def inflection_steps() -> tuple[Step, ...]:
    """w'' has the sign of B + gamma C1 + gamma^2 C2 + gamma^3 C3: increasing where B < 0, positive elsewhere."""
    r, b, x = 1 - q, symbols.entropy_ratio(), -sp.log(q)
    start = 5 - 7 * q + 2 * q**2 - 2 * x  # B
    second, third, fourth = q * (5 * r + x * (1 - 3 * q)), q * r * b * (4 - b), q * r * b**2
    scale = q * r**3 * (1 + g * b) ** 2 / g
    mark = sp.Symbol("b_0", positive=True)  # in (0, 1)
    turn = (7 - sp.sqrt(17)) / 8
    return (
        step(
            r"$\frac{qr^3(1+\gamma b)^2}{\gamma}\frac{w''}{w} = B + \gamma C_1 + \gamma^2C_2 + \gamma^3C_3$, $r = 1-q$, with $B = 5-7q+2q^2+2\log q$, "
            r"$C_1 = q\,(5r - (1-3q)\log q)$, $C_2 = qr\,b(4-b)$, $C_3 = qr\,b^2$",
            scale * _log_curvature() - (start + g * second + g**2 * third + g**3 * fourth),
            0,
        ),
        step(
            r"$B' = \frac{4q^2-7q+2}{q}$: $B$ rises up to $q = \frac{7-\sqrt{17}}{8}$ and falls after it",
            sp.diff(start, q),
            4 * (q - turn) * (q - (7 + sp.sqrt(17)) / 8) / q,
        ),
        step_of_several(
            r"$B \to -\infty$ as $q \to 0$ and $B(1) = 0$: $B$ is negative up to one $q_0$, where it is rising, and positive on $(q_0, 1)$",
            (sp.limit(1 / start, q, 0, "+"), 0),
            (start.subs(q, 1), 0),
        ),
        Step(
            r"$B(\frac16) > 0$, so $q_0 < \frac16$",
            bool(start.subs(q, sp.Rational(1, 6)).is_positive and turn > sp.Rational(1, 6)),
        ),
        *entropy_ratio_steps(),
        step(
            r"up to $\frac16$: $C_1' = 4 - 7q + (1-6q)(-\log q) > 0$", sp.diff(second, q), 4 - 7 * q + (1 - 6 * q) * x
        ),
        step_of_several(
            r"and $qr$, with derivative $1 - 2q$, and $b(4-b)$ and $b^2$, as $b' > 0$ and $b < 1$, increase: so do $C_2$ and $C_3$",
            (sp.diff(q * r, q), 1 - 2 * q),
            (sp.diff(mark * (4 - mark), mark), 2 * (2 - mark)),
            (sp.limit(b, q, 1, "-"), 1),
        ),
        step(
            r"everywhere $C_1 > 0$: beyond $q = \frac13$ since $-\log q \le \frac{r}{q}$, and $5r - (3q-1)\frac rq = \frac{r\,(2q+1)}{q}$",
            5 * r - (3 * q - 1) * r / q,
            r * (2 * q + 1) / q,
        ),
        step_of_several(
            r"($\frac{1-q}{q} + \log q$ is 0 at 1 with derivative $-\frac{1-q}{q^2} < 0$); and $C_2, C_3 > 0$, as $0 < b < 1$",
            (((1 - q) / q + sp.log(q)).subs(q, 1), 0),
            (sp.diff((1 - q) / q + sp.log(q), q), -(1 - q) / q**2),
        ),
        step_of_several(
            r"as $q \to 0$ all but $B$ vanish: the sum starts below 0",
            *((sp.limit(term, q, 0, "+"), 0) for term in (second, third, fourth)),
        ),
    )


def _log_curvature() -> sp.Expr:
    """w''/w = l'^2 + l'' with l = log w = log q - gamma log(1-q) - log(1 + gamma b)."""
    log_weight = sp.log(q) - g * sp.log(1 - q) - sp.log(1 + g * symbols.entropy_ratio())
    return sp.diff(log_weight, q) ** 2 + sp.diff(log_weight, q, 2)
