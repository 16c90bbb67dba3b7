"""The map after which L25's focal calibration loss is proper, in closed form."""

from __future__ import annotations

import sympy as sp

from reproduction.ledger.evidence import Derivation, Evidence, Step, step
from reproduction.ledger.ledger import Rows
from reproduction.theorems import symbols
from reproduction.theorems.lemmas.curvature import convexity_proof
from reproduction.theorems.lemmas.squared_distance import class_share, squared_distance_steps
from reproduction.theorems.lemmas.threshold import gain_positive_step

CHAPTER = "17_simple_models"
ours = Rows(CHAPTER, "ours")


@ours(
    "l25.proper_after_map",
    "L25 Def. 3.1, by KK24's way of Prop. 4",
    r"FCL is strictly proper after a map, for every $\gamma, \lambda \ge 0$ and true probabilities $p$ inside the simplex: where it predicts $q$, "
    r"$p_i = q_i\,\frac{2\lambda q_i + \bar g}{2\lambda q_i + g(q_i)}$ with $\bar g = \sum_j v_j g(q_j) / \sum_j v_j$, $v_j = q_j / (2\lambda q_j + g(q_j))$.",
)
def proper_after_map() -> Evidence:
    """Stationarity is linear in p, and that p sums to 1 is linear in the multiplier."""
    q, gain, mean = sp.symbols("q g \\bar{g}", positive=True)
    lam, c, gamma = sp.Symbol("lambda", nonnegative=True), sp.Symbol("c", real=True), symbols.gamma
    p = sp.Symbol("p")
    found = sp.solve(p * -gain / q + lam * sp.diff(class_share(q, p), q) - c, p)[0]
    map_ = q * (2 * lam * q + mean) / (2 * lam * q + gain)
    return Derivation(
        (
            step(
                r"$qL'(q) = -g(q)$",
                sp.expand(q * symbols.focal_loss_slope(q, gamma) / (1 - q) ** (gamma - 1)),
                sp.expand(-symbols.gain(q, gamma) / (1 - q) ** (gamma - 1)),
                lambda e: sp.simplify(sp.powsimp(e, force=True)),
            ),
            gain_positive_step(),
            *squared_distance_steps(),
            step(r"whose slope in $q_i$ is $2(q_i - p_i)$", sp.diff(class_share(q, p), q), 2 * (q - p)),
            step(
                r"so $p_iL'(q_i) + 2\lambda(q_i - p_i) = c$ has the solution $p_i = q_i\frac{2\lambda q_i - c}{2\lambda q_i + g_i}$",
                found,
                q * (2 * lam * q - c) / (2 * lam * q + gain),
            ),
            step(r"$q_i - p_i = v_i(g_i + c)$", q - found, (q / (2 * lam * q + gain)) * (gain + c)),
            multiplier_step(c),
            Step(
                r"and $p_i = q_i\frac{2\lambda q_i + \bar g}{2\lambda q_i + g_i} > 0$, as $\bar g > 0$, a mean of $g_j > 0$ with weights $v_j > 0$",
                (sp.simplify(found.subs(c, -mean) - map_), map_.is_positive),
            ),
            *convexity_proof().steps,
        ),
        r"The risk is infinite where some $q_i = 0$, so its minimum lies inside the simplex. It is convex, strictly so where every $p_i > 0$: the $q$ that is stationary for this $p$ is its one minimum. So each $q$ inside the simplex "
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
