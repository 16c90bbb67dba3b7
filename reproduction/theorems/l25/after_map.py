"""The maps after which focal loss plus a squared or an absolute distance is proper (L25 Def. 3.1, App. A.15)."""

from __future__ import annotations

from typing import Any

import sympy as sp

from reproduction.ledger.evidence import Evidence, Step, derivation, step
from reproduction.ledger.formal import formal
from reproduction.ledger.ledger import Rows
from reproduction.theorems import symbols
from reproduction.theorems.lemmas import curvature, fcl, gain

CHAPTER = "simple_models"
ours = Rows(CHAPTER, "ours")


@ours(
    "l25.proper_after_map",
    "FCL is strictly proper after a map",
    "L25 Def. 3.1, by KK24's way of Prop. 4",
    r"FCL is strictly proper after a map, for every $\gamma, \lambda \ge 0$ and true probabilities $p$ inside the simplex: where it predicts $q$, "
    r"$p_i = q_i\,\frac{2\lambda q_i + \bar g}{2\lambda q_i + g(q_i)}$ with $\bar g = \sum_j v_j g(q_j) / \sum_j v_j$, $v_j = q_j / (2\lambda q_j + g(q_j))$.",
    formal=formal("exact", "l25_proper_after_map"),
)
def proper_after_map() -> Evidence:
    """Stationarity is linear in p, and that p sums to 1 is linear in the multiplier."""
    q, g_i, mean = sp.symbols("q g \\bar{g}", positive=True)
    lam, c, gamma = sp.Symbol("lambda", nonnegative=True), sp.Symbol("c", real=True), symbols.gamma
    p = sp.Symbol("p")
    found = sp.solve(p * -g_i / q + lam * sp.diff(fcl.class_share(q, p), q) - c, p)[0]
    map_ = q * (2 * lam * q + mean) / (2 * lam * q + g_i)
    return derivation(
        step(
            r"$qL'(q) = -g(q)$",
            (
                q * symbols.focal_loss_slope(q, gamma) / (1 - q) ** (gamma - 1),
                -symbols.gain(q, gamma) / (1 - q) ** (gamma - 1),
            ),
            simplify=symbols.tidy,
        ),
        gain.positive_step(),
        *fcl.squared_distance_steps(),
        step(r"whose slope in $q_i$ is $2(q_i - p_i)$", (sp.diff(fcl.class_share(q, p), q), 2 * (q - p))),
        step(
            r"so $p_iL'(q_i) + 2\lambda(q_i - p_i) = c$ has the solution $p_i = q_i\frac{2\lambda q_i - c}{2\lambda q_i + g_i}$",
            (found, q * (2 * lam * q - c) / (2 * lam * q + g_i)),
        ),
        step(r"$q_i - p_i = v_i(g_i + c)$", (q - found, (q / (2 * lam * q + g_i)) * (g_i + c))),
        multiplier_step(c),
        Step(
            r"and $p_i = q_i\frac{2\lambda q_i + \bar g}{2\lambda q_i + g_i} > 0$, as $\bar g > 0$, a mean of $g_j > 0$ with weights $v_j > 0$",
            (sp.simplify(found.subs(c, -mean) - map_), map_.is_positive),
        ),
        *curvature.convexity_proof().steps,
        remark=r"The risk is infinite where some $q_i = 0$, so its minimum lies inside the simplex. It is convex, strictly so where every $p_i > 0$: the $q$ that is stationary for this $p$ is its one minimum. So each $q$ inside the simplex "
        r"is the prediction for exactly one $p$, and after the map the prediction is the truth. $\lambda = 0$ is the focal calibration map, $\gamma = 0$ the identity.",
    )


def multiplier_step(c: sp.Symbol, excess: int = 0) -> Step:
    """The one c with which p, of any number of classes, has the sum of q, or that less the excess."""
    n, i = sp.symbols("n i", integer=True, positive=True)
    v, g = sp.IndexedBase("v"), sp.IndexedBase("g")
    weights, weighted = sp.Sum(v[i], (i, 1, n)), sp.Sum(v[i] * g[i], (i, 1, n))
    total, product = sp.symbols("V W", positive=True)
    difference = sp.factor_terms(sp.expand(sp.Sum(v[i] * (g[i] + c), (i, 1, n))))  # of the sums of q and p
    roots = sp.solve(difference.subs({weights: total, weighted: product}) - excess, c)
    return step(
        r"summed, $0 = \sum_i v_i(g_i + c)$, as $p$ and $q$ sum to 1: $c = -\sum_i v_ig_i / \sum_i v_i = -\bar g$, for every number of classes",
        roots == [-product / total],
    )


@ours(
    "l25.l1_after_map",
    "Focal loss plus an absolute distance is proper after a map",
    "L25 App. A.15, its L1, by KK24's way of Prop. 4",
    r"Focal loss plus $\lambda\lVert q - e_y\rVert_1$ is strictly proper after a map, for every $\gamma, \lambda \ge 0$ and true probabilities $p$ "
    r"inside the simplex: where it predicts $q$, $p_i = v_i / \sum_j v_j$ with $v_j = q_j / (2\lambda q_j + g(q_j))$. The distance alone is not proper: its "
    r"mean is least where all probability is on a likeliest class.",
    chapter="fcl_networks",
)
def l1_after_map() -> Evidence:
    """The distance is linear in q, so stationarity is a ratio."""
    q, lam = sp.symbols("q lambda", positive=True)
    gamma = symbols.gamma
    loss = symbols.focal_loss(q, gamma) + lam * absolute_distance(q)
    return derivation(
        step(
            r"with the label $i$: $\frac{d}{dq_i}\big(L(q_i) + \lambda\lVert q - e_i\rVert_1\big) = -\frac{g(q_i) + 2\lambda q_i}{q_i}$",
            (
                sp.expand(sp.diff(loss, q) * q / (1 - q) ** (gamma - 1)),
                sp.expand(-(symbols.gain(q, gamma) + 2 * lam * q) / (1 - q) ** (gamma - 1)),
            ),
            simplify=symbols.tidy,
        ),
        *curvature.convexity_proof().steps,
        vertex_step(),
        remark=r"$\lVert q - e_i\rVert_1 = (1 - q_i) + \sum_{j \ne i} q_j = 2(1 - q_i)$ on the simplex. The risk $\sum_i p_i(L(q_i) + 2\lambda(1 - q_i))$ is strictly convex "
        r"and infinite at the boundary, so its one minimum is where $-p_i(g(q_i) + 2\lambda q_i)/q_i$ is the same for every class: $p_i$ is in proportion to "
        r"$v_i$, and every $q$ is the prediction for one $p$.",
    )


def absolute_distance(q: Any) -> Any:
    """The L1 distance of a distribution from its label, of probability q: 1 - q from the label, 1 - q from the rest."""
    return (1 - q) + (1 - q)


def vertex_step() -> Step:
    """For two classes the mean distance falls all the way to the likelier one."""
    q, excess = sp.Symbol("q", positive=True), sp.Symbol("d", positive=True)
    p = sp.Rational(1, 2) + excess  # of the likelier class
    mean = p * absolute_distance(q) + (1 - p) * absolute_distance(1 - q)
    slope = sp.simplify(sp.diff(mean, q))
    return Step(
        rf"the distance alone, class 1 likelier by $2d$: the slope of its mean is ${sp.latex(slope)} < 0$",
        bool(slope.is_negative),
    )
