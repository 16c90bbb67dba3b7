"""Focal loss is at least cross-entropy minus gamma times the entropy: M20 App. H, KN24 Lemma 1, L25 App. A.9."""

from __future__ import annotations

import sympy as sp

from focal_lib.claims.evidence import Step, step
from focal_lib.theory import symbols

__all__ = ["entropy_bound_steps"]

q = symbols.q
g = sp.Symbol("gamma", positive=True)
x = sp.Symbol("x", positive=True)


def entropy_bound_steps() -> tuple[Step, ...]:
    """FL >= CE - gamma H(q) for one-hot labels, every gamma >= 0; soft labels by linearity."""
    rest = sp.Symbol("r", positive=True)  # 1 - q
    a = sp.Symbol("a", positive=True)  # -log(1-q)
    p = sp.symbols("p_1:4", positive=True)
    q3 = sp.symbols("q_1:4", positive=True)
    soft = sum(pi * (1 - (1 - qi) ** g) * -sp.log(qi) for pi, qi in zip(p, q3, strict=True))
    return (
        step(
            r"$\mathrm{CE} - \mathrm{FL} = \sum_y p_y\,(-\log q_y)\big(1-(1-q_y)^\gamma\big)$ is linear in $p$: one-hot labels suffice",
            sum(sp.diff(soft, pi) * pi for pi in p),
            soft,
            sp.expand,
        ),
        step(r"$1-(1-q)^\gamma = 1-e^{-\gamma a}$ with $a = -\log(1-q)$", 1 - sp.exp(-g * -sp.log(rest)), 1 - rest**g),
        step(
            r"$1-e^{-x} \le x$: $(x-1+e^{-x})' = 1-e^{-x} \ge 0$, 0 at 0",
            sp.diff(x - 1 + sp.exp(-x), x),
            1 - sp.exp(-x),
        ),
        step(
            r"so $(-\log q)(1-(1-q)^\gamma) \le \gamma(-\log q)a = \gamma(-q\log q) + \gamma(-\log q)(a-q)$",
            g * -sp.log(q) * a,
            g * -q * sp.log(q) + g * -sp.log(q) * (a - q),
        ),
        step(
            r"$-\log q \le \frac{1-q}{q}$: $(\frac1q - 1 + \log q)' = -\frac{1-q}{q^2} \le 0$, 0 at 1",
            sp.diff(1 / q - 1 + sp.log(q), q),
            -(1 - q) / q**2,
        ),
        step(
            r"$a - q \le aq$: $(q + (1-q)\log(1-q))' = -\log(1-q) \ge 0$, 0 at 0",
            sp.diff(q + (1 - q) * sp.log(1 - q), q),
            -sp.log(1 - q),
        ),
        step(r"so $(-\log q)(a-q) \le \frac{1-q}{q}\,aq = (1-q)a$", (1 - q) / q * a * q, (1 - q) * a),
        step(
            r"$(1-q_y)a = \sum_{i\ne y} q_i(-\log(1-q_y)) \le \sum_{i\ne y}-q_i\log q_i$, as $q_i \le 1-q_y$: together $\gamma H(q)$",
            (q3[1] + q3[2]) * -sp.log(1 - q3[0]),
            q3[1] * -sp.log(1 - q3[0]) + q3[2] * -sp.log(1 - q3[0]),
            sp.expand,
        ),
    )
