"""KK24 Prop. 4: the decomposition on the simplex."""

from __future__ import annotations

import numpy as np
import sympy as sp

from focal_lib import certify, maps, symbols
from focal_lib.claims import Evidence, claim
from focal_lib.claims.evidence import Conditional, Counterexample, Derivation, Search, Step, step
from focal_lib.claims.kk24.prop1 import curvature_steps
from focal_lib.confidence import inflection

CHAPTER = "05_simplex"
q, gamma = symbols.q, symbols.gamma


def lagrange_steps() -> tuple[Step, ...]:
    """At a stationary point of the conditional risk, p_j is proportional to w(q_j)."""
    p, lam = sp.symbols("p lambda", positive=True)
    stationary = sp.solve(sp.Eq(p * symbols.focal_loss_slope(), -lam), p)[0]
    common = (1 - q) ** (gamma - 1)
    printed = 1 / ((1 - q) ** gamma * (1 / q - gamma * sp.log(q) / (1 - q)))  # the summand of Eq. (1)

    def tidy(expression: sp.Expr) -> sp.Expr:
        return sp.simplify(sp.powsimp(sp.expand(expression), force=True))

    return (
        step(
            r"$p_j L'(q_j) + \lambda = 0$ gives $p_j = \lambda w(q_j)$, $w = -1/L'$",
            1 / (stationary / lam) / common,
            -symbols.focal_loss_slope() / common,
            tidy,
        ),
        step(
            r"$w$ is the summand of the printed map", 1 / printed / common, -symbols.focal_loss_slope() / common, tidy
        ),
    )


def weight_steps() -> tuple[Step, ...]:
    """w increases from 0 to infinity, for gamma > 0."""
    g, x = sp.Symbol("gamma", positive=True), sp.Symbol("x", positive=True)
    at_zero = sp.limit(symbols.weight(q, 1), q, 0, "+")
    at_one = sp.limit(symbols.weight(q, 1), q, 1, "-")
    slope = sp.diff(-1 / sp.Function("L")(q).diff(q), q)
    second = sp.Function("L")(q).diff(q, 2) / sp.Function("L")(q).diff(q) ** 2
    bulk = (1 - sp.exp(-x)) ** g * (1 + g * x * sp.exp(-x) / (1 - sp.exp(-x)))  # g(q) at q = e^-x
    return (
        step(r"$w' = L''/L'^2$, positive by Prop. 1", slope, second),
        step(r"$w \to 0$ as $q \to 0$ (here $\gamma = 1$)", at_zero, 0),
        step(r"$w \to \infty$ as $q \to 1$ (here $\gamma = 1$)", sp.Eq(at_one, sp.oo)),
        step(
            r"for every $\gamma > 0$: $g \to 0$ as $q = e^{-x} \to 1$, so $w = q/g \to \infty$",
            sp.limit(bulk.subs(g, 2), x, 0),
            0,
        ),
    )


@claim(
    "kk24.prop4",
    source="KK24 Prop. 4, Eq. (1), App. A.4",
    statement=r"Multiclass focal loss, $\gamma \ge 0$, is a proper loss applied after the bijection "
    r"$\hat p_j = w(q_j)/\sum_k w(q_k)$ of the simplex.",
    chapter=CHAPTER,
)
def prop4() -> Evidence:
    """Stationarity, convexity, and the one c that makes the preimage sum to 1."""
    return Derivation(
        (*lagrange_steps(), *curvature_steps().steps, *weight_steps()),
        r"The risk is strictly convex (Prop. 1), so the stationary point is its only minimum: the loss of the mapped "
        r"prediction is strictly proper. Bijection: given $p$, $q_i = w^{-1}(c\,p_i)$ is increasing in $c$ from 0 to 1, so "
        r"$\sum_i q_i = 1$ for exactly one $c$; the paper leaves this step out. Zeros stay zeros, and a face carries the "
        r"map of its own classes.",
    )


@claim(
    "kk24.prop4_inverse_is_minimiser",
    source="KK24 section 3.3, after Charoenphakdee et al. (2021)",
    statement=r"The map sends what focal loss predicts back to the true class probabilities.",
    chapter=CHAPTER,
)
def prop4_inverse() -> Evidence:
    """Round trip of the map and its inverse on random rows of 2 to 1000 classes."""
    rng = np.random.default_rng(0)
    worst, points = 0.0, 0
    for classes, gamma_value in ((2, 1.0), (3, 5.0), (10, 2.0), (100, 0.5), (1000, 3.0)):
        logits = rng.normal(size=(200, classes)) * 5
        log_q = logits - np.logaddexp.reduce(logits, axis=-1, keepdims=True)
        back = maps.inverse_focal_log_probs(maps.focal_log_probs(logits, gamma_value), gamma_value)
        worst = max(worst, float(np.max(np.abs(back - log_q) / np.maximum(1, np.abs(log_q)))))
        points += len(logits)
    return Search(
        r"rows of 2 to 1000 classes, $\gamma$ from 0.5 to 5, relative round trip error below $10^{-9}$",
        points,
        1e-9 - worst,
    )


@claim(
    "kk24.prop4_same_reasoning",
    source="KK24 App. A.4, proof",
    statement=r"The map on the simplex is a bijection by the same reasoning as in the binary case, from the monotonicity of $w$; "
    r"so it is for $\gamma_{ev} < 0$.",
    chapter=CHAPTER,
)
def prop4_same_reasoning() -> Evidence:
    """w is monotone for gamma >= 0 only: at gamma = -1/2 it falls between 0.8 and 0.95."""
    with certify.precision():
        g = certify.exact("-1/2")
        drop = certify.weight(certify.exact("0.8"), g) - certify.weight(certify.exact("0.95"), g)
    outside = Counterexample(r"$\gamma = -\frac12$: $w(0.8) > w(0.95)$", drop)
    return Conditional(r"$\gamma \ge 0$", Derivation((*curvature_steps().steps, *weight_steps())), outside)


@claim(
    "kk24.prop4_negative",
    source="KK24 section 5.1 uses $\\gamma_{ev} = -0.5, -0.25$",
    statement=r"For $-1 < \gamma < 0$, where $w$ is not monotone, the map is still a bijection of the simplex.",
    chapter=CHAPTER,
    corrects="kk24.prop4_same_reasoning",
)
def prop4_negative() -> Evidence:
    """The Jacobian keeps its sign: -(1-q) (log w)' stays below 1 / the largest inverse elasticity."""
    worst, points = np.inf, 0
    for g in (-0.05, -0.25, -0.5, -0.75, -0.9, -0.99):
        t = np.linspace(-30, 30, 6001)
        elastic = log_weight_elasticity(t, g)
        top = 1 / (1 + np.exp(-t))
        fall = -elastic * (1 - top) / top  # -(1-q) w'/w for the large class
        below = np.maximum.accumulate(np.where(elastic > 0, 1 / np.where(elastic > 0, elastic, 1), 0))
        other = np.interp(-t, t, below)  # the others have q <= 1 - q_top
        worst = min(worst, float((1 - fall * other)[t > 0].min()))
        points += t.size
    return Search(
        r"$\gamma \in \{-0.05, \dots, -0.99\}$, logit of the largest class in $(0, 30)$; Jacobian sign kept",
        points,
        worst,
    )


def log_weight_elasticity(t: np.ndarray, g: float) -> np.ndarray:
    """d log w / d log q at q = sigmoid(t)."""
    rest = 1 / (1 + np.exp(t))
    x = np.logaddexp(0, -t)
    b = x / np.expm1(x)
    slope = (b / x) * (1 - x - b)
    small = x < 1e-4
    slope = np.where(small, -0.5 + x / 6, slope)
    return 1 + g * ((1 - rest) + rest * slope / (1 + g * b)) / rest


@claim(
    "kk24.prop4_inflection",
    source="KK24 App. A.5, proof",
    statement=r"$f = 1/L' = -w$ is concave on the whole of $(0, 1)$.",
    chapter="06_confidence",
)
def prop4_inflection() -> Evidence:
    """w is concave near 0: at gamma = 1, 2 w(m) > w(a) + w(b) for a, b below the inflection."""
    with certify.precision():
        g = certify.exact(1)
        a, m, b = (certify.weight(certify.exact(v), g) for v in ("0.01", "0.03", "0.05"))
    return Counterexample(
        rf"$\gamma = 1$: on $[0.01, 0.05]$, below the inflection at {inflection(1.0):.6f}, $f$ lies below its chord's middle",
        2 * m - a - b,
    )
