"""The slope of focal loss tends to 0 at p = 1 for every gamma > 0: KN24 Fig. 1 and L25 Lemma A.3."""

from __future__ import annotations

import sympy as sp

from reproduction.ledger.evidence import Step, step
from reproduction.theorems import symbols

g = sp.Symbol("gamma", positive=True)
r = sp.Symbol("r", positive=True)  # 1 - q


def gradient_limit_steps() -> tuple[Step, ...]:
    """L' = gamma r^gamma log(1-r)/r - r^gamma/(1-r) with r = 1 - p: both terms vanish as r -> 0."""
    slope = symbols.focal_loss_slope(1 - r, g)
    return (
        step(
            r"$L' = \gamma r^\gamma\frac{\log(1-r)}{r} - \frac{r^\gamma}{1-r}$ with $r = 1-p$",
            slope,
            g * r**g * sp.log(1 - r) / r - r**g / (1 - r),
        ),
        step(r"$\frac{\log(1-r)}{r} \to -1$", sp.limit(sp.log(1 - r) / r, r, 0, "+"), -1),
        step(r"$r^\gamma \to 0$ for every $\gamma > 0$: $L' \to 0$", sp.limit(r**g, r, 0, "+"), 0),
    )
