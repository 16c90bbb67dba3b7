"""Focal loss with class weights: its minimiser is led back by the map of KK24 and a shift; its curvature for boosting."""

from __future__ import annotations

import sympy as sp

from reproduction.ledger.evidence import Evidence, Step, derivation, step
from reproduction.ledger.ledger import Rows
from reproduction.theorems import symbols
from reproduction.theorems.lemmas import binary_map, curvature, entropy_ratio, gain, weight

ours = Rows("simplex", "ours")
q, gamma, g = symbols.q, symbols.gamma, symbols.g


@ours(
    "kk24.class_weights",
    "Class weights add a shift of log-probabilities to the map",
    "KK24 Props. 2 and 4, with class weights",
    r"For $\gamma > 0$ and class weights $a_k > 0$ the mean of $-a_y(1-q_y)^\gamma\log q_y$ under $p$ is least at one $q$, and "
    r"$p_k \propto w(q_k)/a_k$: the map, then a shift of log-probabilities by $-\log a_k$. With two classes "
    r"$\operatorname{logit} p = \operatorname{logit}\hat p(q) + \log\frac{a_0}{a_1}$.",
)
def class_weights() -> Evidence:
    """The weighted risk is the risk under p' = a p over its sum, so Prop. 4 gives the q, and the multiplier the shift."""
    p, lam, a = sp.symbols("p lambda a", positive=True)
    stationary = sp.solve(sp.Eq(a * p * symbols.focal_loss_slope(), -lam), p)[0]
    common = (1 - q) ** (gamma - 1)
    return derivation(
        reweighted_step(),
        step(
            r"$a_k p_k L'(q_k) + \lambda = 0$ gives $p_k = \lambda\,w(q_k)/a_k$, $w = -1/L'$",
            (1 / (stationary / lam) / common, -a * symbols.focal_loss_slope() / common),
            simplify=symbols.tidy,
        ),
        *curvature.convexity_proof().steps,
        *weight.weight_steps(),
        *two_classes_steps(),
        remark=r"$p'$ is a distribution, so by Prop. 4 (`kk24.prop4`) the risk is least at exactly one $q$, its stationary point; "
        r"$\lambda$ is fixed by $\sum_k p_k = 1$.",
    )


def reweighted_step() -> Step:
    """sum a_k p_k L_k is a number times the risk under p', proportional to a p; of three classes, as of any number."""
    p, a, losses = (sp.symbols(f"{name}_1:4", positive=True) for name in ("p", "a", "L"))
    mass = sum(one * other for one, other in zip(a, p, strict=True))
    shifted = [one * other / mass for one, other in zip(a, p, strict=True)]
    weighted = sum(one * other * loss for one, other, loss in zip(a, p, losses, strict=True))
    return step(
        r"$\sum_k a_kp_kL(q_k) = \big(\sum_j a_jp_j\big)\sum_k p'_kL(q_k)$ with $p'_k = a_kp_k\big/\sum_j a_jp_j$",
        (weighted, mass * sum(one * loss for one, loss in zip(shifted, losses, strict=True))),
        (sum(shifted), 1),
    )


def two_classes_steps() -> tuple[Step, ...]:
    """The odds of the map are w(q)/w(1-q), and the weights divide them."""
    p, one, other = sp.symbols("p a_1 a_0", positive=True)
    high, low = sp.symbols("w_1 w_0", positive=True)
    found = sp.solve(sp.Eq(p / (1 - p), (high / one) / (low / other)), p)[0]
    common = (q * (1 - q)) ** (1 - gamma)
    odds = 1 / symbols.binary_map() - 1
    return (
        step(
            r"two classes: $\frac{1-\hat p}{\hat p} = \frac{w(1-q)}{w(q)}$ is the printed map",
            (
                odds * symbols.focal_loss_slope(1 - q) * common,
                symbols.focal_loss_slope(q) * common,
            ),
            simplify=binary_map.powers,
        ),
        step(
            r"so $\frac{p}{1-p} = \frac{w(q)}{w(1-q)}\cdot\frac{a_0}{a_1}$, and its logarithm is $\operatorname{logit}\hat p(q) + "
            r"\log\frac{a_0}{a_1}$",
            (found / (1 - found), high / low * other / one),
        ),
        *binary_map.logit_form_steps(),
    )


@ours(
    "kk24.curvature_below",
    "Focal curvature in the logit is below (gamma + 1) times weighted cross-entropy's",
    "KK24 section 2, by the logit",
    r"For $\gamma > 0$ the second derivative of focal loss by the logit of its class is below $(\gamma+1)\,g(q)\,q\,(1-q)$ everywhere, and "
    r"with many classes by the logit $z_k$ of any class below $(\gamma+1)\,g(q_y)\,q_k(1-q_k)$; for $k = y$ the ratio of the two "
    r"tends to 1 as $q_y \to 1$.",
)
def curvature_below() -> Evidence:
    """What is left out, gamma (1-q) b' / (1 + gamma b), is positive; of another class q_k <= 1 - q_y."""
    y, k, u = sp.symbols("q_y q_k u", positive=True)
    b = symbols.entropy_ratio()
    log_gain = sp.expand_log(sp.log(symbols.gain(q, g)), force=True)
    own = symbols.gain(q, g) * q * (1 - q) * (1 - (1 - q) * sp.diff(log_gain, q))
    kept = 1 + g - g * (1 - q) * sp.diff(b, q) / (1 + g * b)
    other = u * (k * (1 - k) + g * y / (1 - y) * k**2)  # u for g(q_y)
    return derivation(
        gain.of_loss_step(),
        step(
            r"$\frac{dL}{ds} = L'\,q(1-q) = -g\,(1-q)$ and $\frac{d^2L}{ds^2} = -q(1-q)\big(g\,(1-q)\big)' = "
            r"g\,q(1-q)\big(1 - (1-q)(\log g)'\big)$",
            (-q * (1 - q) * sp.diff(symbols.gain(q, g) * (1 - q), q) / (1 - q) ** g, own / (1 - q) ** g),
            simplify=symbols.tidy,
        ),
        step(
            r"$1 - (1-q)(\log g)' = \gamma + 1 - \frac{\gamma(1-q)\,b'}{1+\gamma b}$",
            (1 - (1 - q) * sp.diff(log_gain, q), kept),
        ),
        *entropy_ratio.sign_steps(),
        step(
            r"the last term is positive as $b' > 0$, $b > 0$, and $(1-q)\,b' \to 0$ as $q \to 1$",
            (sp.limit((1 - q) * sp.diff(b, q), q, 1, "-"), 0),
        ),
        step(
            r"another class: $\frac{\partial^2L}{\partial z_k^2} = g_y\big(q_k(1-q_k) - e\,q_k^2\big)$, $e = q_y(\log g)'(q_y)$, "
            r"from $\frac{\partial L}{\partial z_k} = g_yq_k$, $\frac{\partial q_y}{\partial z_k} = -q_yq_k$",
            (
                sp.diff(sp.Function("g")(y) * k, y) * (-y * k) + sp.Function("g")(y) * k * (1 - k),
                sp.Function("g")(y) * (k * (1 - k) - y * sp.diff(sp.log(sp.Function("g")(y)), y) * k**2),
            ),
        ),
        step(
            r"$e = -\frac{\gamma q}{1-q} + \frac{\gamma q\,b'}{1+\gamma b} > -\frac{\gamma q_y}{1-q_y}$",
            (q * sp.diff(log_gain, q), -g * q / (1 - q) + g * q * sp.diff(b, q) / (1 + g * b)),
        ),
        step(
            r"so it is below $g_y\big(q_k(1-q_k) + \frac{\gamma q_yq_k^2}{1-q_y}\big)$, which falls short of "
            r"$(\gamma+1)\,g_yq_k(1-q_k)$ by $\gamma g_yq_k\,\frac{r}{1-q_y} \ge 0$, $r = 1 - q_y - q_k$",
            ((g + 1) * u * k * (1 - k) - other - g * u * k * (1 - y - k) / (1 - y), 0),
        ),
    )
