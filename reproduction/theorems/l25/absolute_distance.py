"""L25 App. A.15: what the absolute distance in FCL asks for."""

from __future__ import annotations

from typing import Any

import sympy as sp

from reproduction.ledger.evidence import Derivation, Evidence, Step, step
from reproduction.ledger.ledger import Rows
from reproduction.theorems import symbols
from reproduction.theorems.lemmas.curvature import convexity_proof

CHAPTER = "21_fcl_networks"
ours = Rows(CHAPTER, "ours")


@ours(
    "l25.l1_after_map",
    "L25 App. A.15, its L1, by KK24's way of Prop. 4",
    r"Focal loss plus $\lambda\lVert q - e_y\rVert_1$ is strictly proper after a map, for every $\gamma, \lambda \ge 0$ and true probabilities $p$ "
    r"inside the simplex: where it predicts $q$, $p_i = v_i / \sum_j v_j$ with $v_j = q_j / (2\lambda q_j + g(q_j))$. The distance alone is not proper: its "
    r"mean is least where all probability is on a likeliest class.",
)
def l1_after_map() -> Evidence:
    """The distance is linear in q, so stationarity is a ratio."""
    q, lam = sp.symbols("q lambda", positive=True)
    gamma = symbols.gamma
    loss = symbols.focal_loss(q, gamma) + lam * absolute_distance(q)
    return Derivation(
        (
            step(
                r"with the label $i$: $\frac{d}{dq_i}\big(L(q_i) + \lambda\lVert q - e_i\rVert_1\big) = -\frac{g(q_i) + 2\lambda q_i}{q_i}$",
                sp.expand(sp.diff(loss, q) * q / (1 - q) ** (gamma - 1)),
                sp.expand(-(symbols.gain(q, gamma) + 2 * lam * q) / (1 - q) ** (gamma - 1)),
                lambda e: sp.simplify(sp.powsimp(sp.expand(e), force=True)),
            ),
            *convexity_proof().steps,
            vertex_step(),
        ),
        r"$\lVert q - e_i\rVert_1 = (1 - q_i) + \sum_{j \ne i} q_j = 2(1 - q_i)$ on the simplex. The risk $\sum_i p_i(L(q_i) + 2\lambda(1 - q_i))$ is strictly convex "
        r"and infinite at the boundary, so its one minimum is where $-p_i(g(q_i) + 2\lambda q_i)/q_i$ is the same for every class: $p_i$ is in proportion to "
        r"$v_i$, and every $q$ is the prediction for one $p$.",
    )


def absolute_distance(q: Any) -> Any:
    """From the label's one-hot vector, of distributions with probability q of the label: 1 - q of it, 1 - q of the rest."""
    return (1 - q) + (1 - q)


def vertex_step() -> Step:
    """Of two classes, the mean distance falls all the way to the likelier one."""
    q, excess = sp.Symbol("q", positive=True), sp.Symbol("d", positive=True)
    p = sp.Rational(1, 2) + excess  # of the likelier class
    mean = p * absolute_distance(q) + (1 - p) * absolute_distance(1 - q)
    slope = sp.simplify(sp.diff(mean, q))
    return Step(
        rf"the distance alone, class 1 likelier by $2d$: the slope of its mean is ${sp.latex(slope)} < 0$",
        bool(slope.is_negative),
    )
