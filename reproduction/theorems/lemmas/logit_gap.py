"""R(s)/s stays below (2 log 2 - 1) log(1 + gamma): the bounds of KK24 Prop. 3, by an integral over gamma."""

from __future__ import annotations

import sympy as sp

from reproduction.ledger.certificates import balls
from reproduction.ledger.evidence import Step, step
from reproduction.theorems import symbols
from reproduction.theorems.lemmas.binary_map import logit_form_steps
from reproduction.theorems.lemmas.entropy_ratio import entropy_ratio_steps
from reproduction.theorems.lemmas.map_slope import slope_of_u_steps

s = symbols.s


def logit_gap_steps() -> tuple[Step, ...]:
    """R(s)/s < (2 log 2 - 1) log(1+gamma) for every s > 0 and gamma > 0."""
    t, uu, vv = sp.symbols("t u v", positive=True)
    high, low = symbols.u(s), symbols.u(-s)
    ratio = symbols.entropy_ratio(1 / (1 + sp.exp(-s)))
    with balls.precision():
        below_half = 2 * balls.exact(2).log() - 1 < balls.exact("1/2")
    return (
        *logit_form_steps(),
        step(
            r"$\partial_t \log\frac{1+tu}{1+t\bar u} = \frac{u-\bar u}{(1+tu)(1+t\bar u)}$, so $R$ is its integral over $t$ from 0 to $\gamma$",
            sp.diff(sp.log((1 + t * uu) / (1 + t * vv)), t),
            (uu - vv) / ((1 + t * uu) * (1 + t * vv)),
        ),
        step(r"$u(s) = b(q)$ at $q = 1/(1+e^{-s})$", sp.expand_log(ratio, force=True), high),
        *entropy_ratio_steps(),
        step(
            r"$b$ is concave, so $u + \bar u = b(q) + b(1-q) \le 2\,b(\frac12) = 2\log 2$",
            2 * symbols.entropy_ratio(sp.Rational(1, 2)),
            2 * sp.log(2),
        ),
        step(
            r"$(u - \bar u)' = u + \bar u - 1 \le 2\log 2 - 1$, so $u - \bar u \le (2\log2-1)\,s$",
            sp.diff(high - low, s),
            high + low - 1,
        ),
        *slope_of_u_steps()[:2],
        step(
            r"$u > q$ and $\bar u > 1 - q$, so $u + \bar u > 1$ and $(1+tu)(1+t\bar u) \ge 1 + t(u+\bar u) > 1 + t$",
            sp.expand((1 + t * uu) * (1 + t * vv)) - t**2 * uu * vv,
            1 + t * (uu + vv),
        ),
        step(
            r"$R(s) \le (2\log2-1)\,s\int_0^\gamma\frac{dt}{1+t}$, the integral being $\log(1+\gamma)$",
            sp.integrate(1 / (1 + t), (t, 0, sp.Symbol("gamma", positive=True))),
            sp.log(1 + sp.Symbol("gamma", positive=True)),
        ),
        Step(r"$2\log2-1 < \frac12$, in ball arithmetic", bool(below_half)),
    )
