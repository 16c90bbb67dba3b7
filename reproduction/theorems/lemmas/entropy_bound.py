"""Focal loss is at least cross-entropy minus gamma times the entropy: M20 App. H, KN24 Lemma 1, L25 App. A.9."""

from __future__ import annotations

from typing import Any

import sympy as sp

from reproduction.ledger.evidence import Step, step
from reproduction.theorems import symbols

q, g = symbols.q, symbols.g
x = sp.Symbol("x", positive=True)


def entropy_bound_steps() -> tuple[Step, ...]:
    """FL >= CE - gamma H(q) for one-hot labels, every gamma >= 0; soft labels by linearity."""
    rest = sp.Symbol("r", positive=True)  # 1 - q
    a = sp.Symbol("a", positive=True)  # -log(1-q)
    p, q_y, q_i = sp.symbols("p_y q_y q_i", positive=True)
    excess = p * -sp.log(q) - p * symbols.focal_loss(q, g)  # of one class, CE - FL
    return (
        step(
            r"$\mathrm{CE} - \mathrm{FL} = \sum_y p_y\,(-\log q_y)\big(1-(1-q_y)^\gamma\big)$ is linear in $p$: one-hot labels suffice",
            (excess, p * -sp.log(q) * (1 - (1 - q) ** g)),
            simplify=sp.expand,
        ),
        step(
            r"$1-(1-q)^\gamma = 1-e^{-\gamma a}$ with $a = -\log(1-q)$", (1 - sp.exp(-g * -sp.log(rest)), 1 - rest**g)
        ),
        step(
            r"$1-e^{-x} \le x$: $(x-1+e^{-x})' = 1-e^{-x} \ge 0$, 0 at 0",
            (sp.diff(x - 1 + sp.exp(-x), x), 1 - sp.exp(-x)),
        ),
        step(
            r"so $(-\log q)(1-(1-q)^\gamma) \le \gamma(-\log q)a = \gamma(-q\log q) + \gamma(-\log q)(a-q)$",
            (g * -sp.log(q) * a, g * -q * sp.log(q) + g * -sp.log(q) * (a - q)),
        ),
        step(
            r"$-\log q \le \frac{1-q}{q}$: $(\frac1q - 1 + \log q)' = -\frac{1-q}{q^2} \le 0$, 0 at 1",
            (sp.diff(1 / q - 1 + sp.log(q), q), -(1 - q) / q**2),
        ),
        step(
            r"$a - q \le aq$: $(q + (1-q)\log(1-q))' = -\log(1-q) \ge 0$, 0 at 0",
            (sp.diff(q + (1 - q) * sp.log(1 - q), q), -sp.log(1 - q)),
        ),
        step(r"so $(-\log q)(a-q) \le \frac{1-q}{q}\,aq = (1-q)a$", ((1 - q) / q * a * q, (1 - q) * a)),
        step(
            r"$(1-q_y)a = \sum_{i\ne y} q_i\,(-\log(1-q_y)) \le \sum_{i\ne y}-q_i\log q_i$, as $q_i \le 1-q_y$ and "
            r"$(-\log)' = -\frac1q < 0$: together $\gamma H(q)$",
            sp.diff(-sp.log(q_i), q_i).is_negative and sp.diff(q_i * -sp.log(1 - q_y), q_y).subs(q_y, 0).is_positive,
        ),
    )


def divergence_step() -> Step:
    """CE(p, q) = KL(p || q) + H(p): class by class, so for every n."""
    p, other = sp.symbols("p_i q_i", positive=True)
    return step(
        r"$\mathrm{CE}(p,q) = \mathrm{KL}(p\Vert q) + H(p)$: class by class, $-p\log q = p\log\frac pq - p\log p$",
        (-p * sp.log(other), p * sp.log(p / other) - p * sp.log(p)),
        simplify=lambda e: sp.simplify(sp.expand_log(e, force=True)),
    )


def entropy_slope_step(other: Any = 1 - q) -> Step:
    """The slope of the entropy of q and the other class is log((1-q)/q), negative above one half."""
    entropy = -q * sp.log(q) - other * sp.log(other)
    return step(
        r"$H' = \log\frac{1-q}{q}$: negative above $\frac12$, positive below",
        (sp.diff(entropy, q), sp.log(1 - q) - sp.log(q)),
    )
