"""L25 section 4.2, 4.3 and App. A.3 to A.8: ranking, properness, the bias and the function phi."""

from __future__ import annotations

import flint
import sympy as sp

from focal_lib.claims.evidence import Counterexample, Derivation, Disproof, Evidence, Step, step
from focal_lib.claims.ledger import claim
from focal_lib.claims.lemmas.curvature import convexity_proof
from focal_lib.claims.lemmas.entropy_bound import entropy_bound_steps
from focal_lib.claims.lemmas.gradient_limit import gradient_limit_steps
from focal_lib.claims.lemmas.threshold import gain_positive_step
from focal_lib.theory import symbols
from focal_lib.theory.certificates import balls, formulas

CHAPTER = "12_focal_calibration_loss"
q = symbols.q
g = sp.Symbol("gamma", positive=True)
lam = sp.Symbol("lambda", positive=True)


def residual_steps() -> tuple[Step, ...]:
    """The slope of the FCL risk at q = p is p L'(p) = -g(p) in each class."""
    p = sp.Symbol("p", positive=True)
    slope = p * symbols.focal_loss_slope(q, g) + 2 * lam * (q - p)
    return (
        step(
            r"at $q = p$: $p_iL'(p_i) + 2\lambda(p_i-p_i) = -g(p_i)$",
            sp.expand(slope.subs(q, p) / (1 - p) ** (g - 1)),
            sp.expand(-symbols.gain(p, g) / (1 - p) ** (g - 1)),
            lambda e: sp.simplify(sp.powsimp(e, force=True)),
        ),
    )


def _gain_gap() -> flint.arb:
    """g(0.2, 2) - g(0.8, 2) as a ball."""
    with balls.precision():
        two = balls.exact(2)
        return formulas.gain(balls.exact("0.2"), two) - formulas.gain(balls.exact("0.8"), two)


@claim(
    "l25.thm42",
    source="L25 Thm. A.2, section 4.2",
    statement=r"FCL preserves the order of the classes: $p_i > p_j$ implies $q_i > q_j$ at its minimiser.",
    chapter=CHAPTER,
    headline="keeps the order of the classes",
)
def thm42() -> Evidence:
    """With q_i <= q_j the two stationarity values could not be equal."""
    p_i, p_j, q_i, q_j, slope_i, slope_j = sp.symbols("p_i p_j q_i q_j s_i s_j", real=True)
    left = p_i * slope_i + 2 * lam * (q_i - p_i)
    right = p_j * slope_j + 2 * lam * (q_j - p_j)
    bulk = symbols.focal_loss_slope(q, g) / (1 - q) ** (g - 1)
    return Derivation(
        (
            *convexity_proof().steps,
            step(
                r"$L' < 0$: $L' = -(1-q)^{\gamma-1}\big(\frac{1-q}{q} + \gamma(-\log q)\big)$",
                sp.simplify(sp.powsimp(sp.expand(bulk), force=True)),
                -((1 - q) / q - g * sp.log(q)),
            ),
            step(
                r"difference of the two values: $p_i(L'_i - L'_j) + (p_i - p_j)L'_j + 2\lambda\big[(q_i-q_j) - (p_i-p_j)\big]$",
                left - right,
                p_i * (slope_i - slope_j) + (p_i - p_j) * slope_j + 2 * lam * ((q_i - q_j) - (p_i - p_j)),
                sp.expand,
            ),
        ),
        r"If $p_i > p_j$ and $q_i \le q_j$: $L'_i \le L'_j < 0$ by convexity, so the first term is at most 0, the second negative and the third not "
        r"positive: the values differ, against stationarity. This holds for every $\gamma, \lambda \ge 0$.",
    )


@claim(
    "l25.a4",
    source="L25 Thm. A.1 (App. A.4)",
    statement=r"The sum of a strictly convex and a convex function is strictly convex.",
    chapter=CHAPTER,
)
def a4() -> Evidence:
    """The defects of convexity add."""
    t, f0, f1, fm, h0, h1, hm = sp.symbols("t f_0 f_1 f_m h_0 h_1 h_m", real=True)
    defect_f, defect_h = t * f0 + (1 - t) * f1 - fm, t * h0 + (1 - t) * h1 - hm
    together = t * (f0 + h0) + (1 - t) * (f1 + h1) - (fm + hm)
    return Derivation(
        (step(r"chord minus value: a positive plus a non-negative number", together, defect_f + defect_h, sp.expand),)
    )


@claim(
    "l25.a7",
    source="L25 App. A.7",
    statement=r"The squared distance $\lVert q - e_y\rVert^2$ (Brier score) is strictly proper.",
    chapter=CHAPTER,
)
def a7() -> Evidence:
    """Its expected excess over q = p is the squared distance of q and p."""
    q3 = sp.symbols("q_1:4", real=True)
    p3 = (*sp.symbols("p_1:3", real=True), 1 - sum(sp.symbols("p_1:3", real=True)))

    def expected(point: tuple[sp.Expr, ...]) -> sp.Expr:
        return sum(py * sum((v - (1 if i == y else 0)) ** 2 for i, v in enumerate(point)) for y, py in enumerate(p3))

    return Derivation(
        (
            step(
                r"$\mathbb{E}\lVert q-e_Y\rVert^2 - \mathbb{E}\lVert p-e_Y\rVert^2 = \lVert q-p\rVert^2$, three classes shown",
                expected(q3) - expected(p3),
                sum((a - b) ** 2 for a, b in zip(q3, p3, strict=True)),
                sp.expand,
            ),
        )
    )


@claim(
    "l25.a8",
    source="L25 section 4.3, App. A.8",
    statement=r"FCL is strictly proper for $\lambda > 0$.",
    chapter=CHAPTER,
    headline="strictly proper",
    instead="biased, by O(1/lambda)",
)
def a8() -> Evidence:
    """gamma = 2, p = (0.8, 0.2): for every lambda the risk still falls when q leaves p."""
    return Counterexample(
        r"$\gamma = 2$, $p = (0.8, 0.2)$, any $\lambda$: at $q = p$ the risk has the slope $g(0.2) - g(0.8) > 0$ in $q_1$, so a smaller "
        r"$q_1$ is better",
        _gain_gap(),
    )


def cross_entropy_steps() -> tuple[Step, ...]:
    """The excess risk of cross-entropy is KL(p || q), positive unless q = p."""
    t = sp.Symbol("t", positive=True)
    return (
        step(
            r"$\gamma = \lambda = 0$: the excess risk is $\sum_i p_i\big(\frac{q_i}{p_i} - 1 - \log\frac{q_i}{p_i}\big)$, as "
            r"$\sum q_i = \sum p_i$: one term",
            q * (t - 1 - sp.log(t)) - (q * t - q),
            -q * sp.log(t),
            sp.expand,
        ),
        step(
            r"$t - 1 - \log t$ is 0 at 1 with derivative $1 - \frac1t$: positive for $t \ne 1$",
            sp.diff(t - 1 - sp.log(t), t),
            1 - 1 / t,
        ),
    )


@claim(
    "l25.a8_zero",
    source="L25 App. A.8, case 2",
    statement=r"FCL is not strictly proper for $\lambda = 0$ (for $\gamma = 0$ included, where it is cross-entropy).",
    chapter=CHAPTER,
)
def a8_zero() -> Evidence:
    """Cross-entropy is strictly proper."""
    return Disproof(Derivation(cross_entropy_steps()))


@claim(
    "l25.a8_when",
    source="L25 App. A.8, corrected",
    statement=r"For $\gamma > 0$ the minimiser of FCL is $p$ exactly where $g(p_i, \gamma)$ is the same for every class, whatever $\lambda$.",
    chapter=CHAPTER,
    corrects=("l25.a8", "l25.a3"),
)
def a8_when() -> Evidence:
    """Stationarity at q = p: all -g(p_i) equal; the risk is strictly convex, so that is sufficient."""
    return Derivation((*residual_steps(), *convexity_proof().steps))


@claim(
    "l25.a8_cross_entropy",
    source="L25 App. A.8, corrected",
    statement=r"With $\lambda = 0$ FCL is strictly proper if and only if $\gamma = 0$.",
    chapter=CHAPTER,
    corrects="l25.a8_zero",
)
def a8_cross_entropy() -> Evidence:
    """gamma = 0: KL. gamma > 0: g(0.8) differs from g(0.2) since it is below 1 there only above tau < 1/2."""
    r = sp.Symbol("r", positive=True)
    return Derivation(
        (
            *cross_entropy_steps(),
            *residual_steps(),
            step(
                r"$\gamma > 0$: $g(p) \to 0$ as $p \to 1$ while $g(1-p) \to 1$, so they differ for some $p$",
                sp.limit(r**g, r, 0, "+"),
                0,
            ),
        )
    )


@claim(
    "l25.a3",
    source="L25 App. A.3, step 7",
    statement=r"Minimising FCL recovers the true class-posterior probabilities.",
    chapter=CHAPTER,
)
def a3() -> Evidence:
    """The residual -g(p_i) at q = p is not the same for every class."""
    return Counterexample(
        r"$\gamma = 2$, $p = (0.8, 0.2)$: the residuals of the two classes at $q = p$ differ by $g(0.2) - g(0.8)$",
        _gain_gap(),
    )


@claim(
    "l25.bias",
    source="L25 section 4.3, corrected",
    statement=r"The bias shrinks like $1/\lambda$: $q_i - p_i = \frac{g(p_i) - \frac1n\sum_j g(p_j)}{2\lambda} + O(\lambda^{-2})$.",
    chapter=CHAPTER,
    corrects=("l25.a8", "l25.a3"),
)
def bias() -> Evidence:
    """Stationarity with q = p + x/lambda, to first order in 1/lambda."""
    e, x, mu = sp.symbols("epsilon x mu")  # epsilon = 1/lambda
    slope = sp.Function("L1")
    p = sp.Symbol("p", positive=True)
    stationary = p * slope(p + e * x) + 2 * x + mu  # p L'(q) + 2 lam (q - p) + mu at q = p + x/lam
    gains = sp.symbols("g_1:4")
    shifts = [(v - sum(gains) / 3) / 2 for v in gains]
    return Derivation(
        (
            *residual_steps(),
            step(
                r"$q = p + x/\lambda$: at $\lambda \to \infty$ stationarity is $-g(p_i) + 2x_i + \mu = 0$",
                stationary.subs(e, 0).subs(slope(p), -sp.Symbol("G") / p),
                -sp.Symbol("G") + 2 * x + mu,
            ),
            step(
                r"$\sum_i x_i = 0$ fixes $\mu$: $x_i = \frac12\big(g(p_i) - \bar g\big)$, three classes shown",
                sum(shifts),
                0,
            ),
            step(
                r"and these solve it with $\mu = \bar g$",
                -gains[0] + 2 * shifts[0] + sum(gains) / 3,
                0,
            ),
        ),
        r"The risk over $\lambda$ is smooth in $1/\lambda$ with Hessian $2I$ at $1/\lambda = 0$, so $x$ is smooth in $1/\lambda$ (implicit function theorem).",
    )


def phi_steps() -> tuple[Step, ...]:
    """phi decreases, from infinity at 0 to -2 lambda (1 - eta) at 1."""
    eta, v = sp.symbols("eta v", positive=True)
    loss = sp.Function("L")
    phi = -eta * sp.diff(loss(v), v) - 2 * lam * (v - eta)
    return (
        step(r"$\varphi' = -\eta L'' - 2\lambda$", sp.diff(phi, v), -eta * sp.diff(loss(v), v, 2) - 2 * lam),
        *convexity_proof().steps,
        *gradient_limit_steps(),
        step(
            r"at 0: $-vL'(v) = g \to 1$, so $-L' \to \infty$: $b \to 0$",
            sp.limit(symbols.entropy_ratio(), q, 0, "+"),
            0,
        ),
    )


@claim(
    "l25.a6",
    source="L25 Lemma A.3 (App. A.6)",
    statement=r"$\varphi(v) = -\eta L'(v) - 2\lambda(v-\eta)$ is strictly decreasing on $(0, 1)$, tends to $\infty$ at 0 and to $-2\lambda(1-\eta)$ at 1 "
    r"($\gamma > 0$): it has exactly one root for $\lambda > 0$, $0 < \eta < 1$. (Read from the proof; the formula is missing from the text.)",
    chapter=CHAPTER,
)
def a6() -> Evidence:
    """phi' = -eta L'' - 2 lambda < 0, and the limits of L'."""
    return Derivation(phi_steps())


@claim(
    "l25.a6_root",
    source="L25 App. A.6, after Cor. A.4",
    statement=r"The root of $\varphi$ is the true probability $\eta$ (the 'unique mapping between predicted and true probabilities').",
    chapter=CHAPTER,
)
def a6_root() -> Evidence:
    """phi(eta) = g(eta) > 0."""
    with balls.precision():
        value = formulas.gain(balls.exact("0.8"), balls.exact(2))
    return Counterexample(
        r"$\eta = 0.8$, $\gamma = 2$, any $\lambda$: $\varphi(\eta) = g(0.8) > 0$, so the root is larger", value
    )


@claim(
    "l25.a6_root_corrected",
    source="L25 App. A.6, corrected",
    statement=r"The root of $\varphi$ lies above $\eta$ for every $\gamma > 0$ and $\lambda > 0$, $0 < \eta < 1$.",
    chapter=CHAPTER,
    corrects="l25.a6_root",
)
def a6_root_corrected() -> Evidence:
    """phi decreases and phi(eta) = g(eta) > 0."""
    return Derivation(
        (
            *phi_steps(),
            *residual_steps(),
            gain_positive_step(),
        )
    )


@claim(
    "l25.a9",
    source="L25 Eq. (8), App. A.9",
    statement=r"$\mathrm{FL}_\gamma \ge \mathrm{KL}(p\Vert q) + H(p) - \gamma H(q)$.",
    chapter=CHAPTER,
)
def a9() -> Evidence:
    """M20 App. H, for every gamma >= 0."""
    return Derivation(entropy_bound_steps())
