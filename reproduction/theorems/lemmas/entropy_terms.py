"""(1-p) log(1-p) exceeds p log p below one half: the larger gamma, the smaller g (M20), and the branch of Lambert's W."""

from __future__ import annotations

import sympy as sp

from reproduction.ledger.evidence import Step, step
from reproduction.theorems import symbols

q = symbols.q


def entropy_terms_steps() -> tuple[Step, ...]:
    """f(p) = (1-p) log(1-p) - p log p is positive on (0, 1/2)."""
    f = (1 - q) * sp.log(1 - q) - q * sp.log(q)
    return (
        step(r"$f = (1-p)\log(1-p) - p\log p$ is 0 at $\frac12$", f.subs(q, sp.Rational(1, 2)), 0),
        step(r"and at 0", sp.limit(f, q, 0, "+"), 0),
        step(
            r"$f'' = \frac{1}{1-p} - \frac1p < 0$ on $(0, \frac12)$: $f > 0$ there",
            sp.diff(f, q, 2),
            1 / (1 - q) - 1 / q,
        ),
        step(r"$f(1-p) = -f(p)$", f.subs(q, 1 - q) + f, 0),
    )
