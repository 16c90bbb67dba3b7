"""KK24 section 6: focal temperature scaling keeps the predicted class."""

from __future__ import annotations

import sympy as sp

from reproduction.ledger.evidence import Derivation, Evidence, step
from reproduction.ledger.formal import formal
from reproduction.ledger.ledger import Rows
from reproduction.theorems import symbols
from reproduction.theorems.lemmas.curvature import convexity_proof
from reproduction.theorems.lemmas.entropy_ratio import entropy_ratio_steps
from reproduction.theorems.lemmas.weight import lagrange_steps

CHAPTER = "09_focal_temperature_scaling"
reading = Rows(CHAPTER, "our reading")


@reading(
    "kk24.accuracy_unchanged",
    "KK24 section 6",
    # the gamma of calibration are those of section 5.1, -0.5 and -0.25 among them
    r"Focal temperature scaling keeps 'the accuracy unchanged by design'. (Taken as: for every $T > 0$ and $\gamma \ge -1$ "
    r"the classes keep the order of their scores, ties included.)",
    formal=formal("exact", "kk24_focal_temperature_scaling_order", "kk24_accuracy_unchanged"),
)
def accuracy_unchanged() -> Evidence:
    """w(x) < w(y) for two classes x < y of one distribution, x + y <= 1, where w itself need not increase."""
    a, x, y, ratio = sp.symbols("a x y b", positive=True)  # gamma = -a
    v = (1 - a) * sp.log(x) + a * sp.log(x * (1 - x))
    return Derivation(
        (
            *lagrange_steps()[1:],
            step(
                r"$w(q) = \frac{q}{(1-q)^\gamma(1+\gamma b)}$; for $\gamma \ge 0$ it increases, as $w' = L''/L'^2$ (Prop. 1)",
                -sp.diff(symbols.focal_loss(), symbols.q) * symbols.weight(),
                1,
            ),
            *convexity_proof().steps,
            step(
                r"$\gamma = -a$, $0 < a \le 1$: $w = \frac{q(1-q)^a}{1-ab}$, and $\log\big(q(1-q)^a\big) = (1-a)\log q + a\log(q(1-q))$",
                sp.expand_log(sp.log(x) + a * sp.log(1 - x) - v, force=True),
                0,
            ),
            step(
                r"$y(1-y) - x(1-x) = (y-x)(1-x-y) \ge 0$: the numerator does not fall from $x$ to $y$",
                y * (1 - y) - x * (1 - x),
                (y - x) * (1 - x - y),
            ),
            *entropy_ratio_steps(),
            step(r"$b < 1$: it increases, to", sp.limit(symbols.entropy_ratio(), symbols.q, 1, "-"), 1),
            step(r"so $1 - ab > 0$ falls in $b$, and $w(x) < w(y)$", sp.diff(1 - a * ratio, ratio), -a),
        ),
        r"Division by $T > 0$, the softmax and the normalisation of $w$ keep the order, too: the predicted class is the same.",
    )
