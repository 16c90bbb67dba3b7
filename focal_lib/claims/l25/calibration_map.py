"""The map after which L25's focal calibration loss is proper, in closed form."""

from __future__ import annotations

import sympy as sp

from focal_lib.claims.evidence import Derivation, Evidence, step
from focal_lib.claims.ledger import claim
from focal_lib.claims.lemmas.curvature import convexity_proof
from focal_lib.theory import symbols

CHAPTER = "17_simple_models"


@claim(
    "l25.proper_after_map",
    source="L25 Def. 3.1, by KK24's way of Prop. 4",
    statement=r"FCL is strictly proper after a map, for every $\gamma, \lambda \ge 0$ and true probabilities $p$ inside the simplex: where it predicts $q$, "
    r"$p_i = q_i\,\frac{2\lambda q_i + \bar g}{2\lambda q_i + g(q_i)}$ with $\bar g = \sum_j v_j g(q_j) / \sum_j v_j$, $v_j = q_j / (2\lambda q_j + g(q_j))$.",
    chapter=CHAPTER,
    fidelity="ours",
)
def proper_after_map() -> Evidence:
    """Stationarity is linear in p."""
    q, lam, c, mean, total = sp.symbols("q lambda c \\bar{g} V", positive=True)
    gain = sp.Symbol("g", positive=True)
    p = q * (2 * lam * q - c) / (2 * lam * q + gain)
    gamma = symbols.gamma
    return Derivation(
        (
            step(
                r"$qL'(q) = -g(q)$",
                sp.expand(q * symbols.focal_loss_slope(q, gamma) / (1 - q) ** (gamma - 1)),
                sp.expand(-symbols.gain(q, gamma) / (1 - q) ** (gamma - 1)),
                lambda e: sp.simplify(sp.powsimp(e, force=True)),
            ),
            step(
                r"so $p_iL'(q_i) + 2\lambda(q_i - p_i) = c$ has the solution $p_i = q_i\frac{2\lambda q_i - c}{2\lambda q_i + g_i}$",
                -p * gain / q + 2 * lam * (q - p),
                c,
            ),
            step(
                r"$q_i - p_i = v_i(g_i + c)$",
                q - p,
                (q / (2 * lam * q + gain)) * (gain + c),
            ),
            step(
                r"summed, $0 = \sum_i v_ig_i + c\sum_i v_i$: $c = -\bar g$ (with $V = \sum_i v_i$, $\sum_i v_ig_i = \bar gV$)",
                (mean * total + c * total).subs(c, -mean),
                0,
            ),
            step(
                r"and $p_i > 0$, as $\bar g > 0$, a mean of $g_j > 0$ with weights $v_j > 0$",
                p.subs(c, -mean).is_positive,
            ),
            *convexity_proof().steps,
        ),
        r"The risk is convex, strictly so where every $p_i > 0$: the $q$ that is stationary for this $p$ is its one minimum. So each $q$ inside the simplex "
        r"is the prediction for exactly one $p$, and after the map the prediction is the truth. $\lambda = 0$ is the focal calibration map, $\gamma = 0$ the identity.",
    )
