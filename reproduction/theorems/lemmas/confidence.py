"""When the map raises the top class, and a larger gamma raises it more: KK24 Prop. 5, M20 App. H, L25 section 1."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import flint
import sympy as sp

from reproduction.ledger.certificates import balls, formulas
from reproduction.ledger.evidence import Derivation, Step, derivation, step
from reproduction.theorems import symbols
from reproduction.theorems.lemmas import curvature, entropy_ratio, gain, weight
from reproduction.theorems.lemmas.entropy_ratio import b, fall, rise, third, value

q = symbols.q
g = sp.Symbol("gamma", nonnegative=True)


def critical_gamma_steps() -> tuple[Step, ...]:
    """log g(q) is concave in gamma and 0 at gamma = 0: g > 1 below gamma*(q) and g < 1 above."""
    g, ratio, rest = sp.symbols("gamma b r", positive=True)  # b(q), 1 - q
    log_g = g * sp.log(rest) + sp.log(1 + g * ratio)
    return (
        step(
            r"$\partial_\gamma^2 \log g = -\frac{b^2}{(1+\gamma b)^2} < 0$, and $\log g = 0$ at $\gamma = 0$: at most one more "
            r"root, $\gamma^*(q)$, with $g > 1$ before it and $g < 1$ after",
            (log_g.subs(g, 0), 0),
            (sp.diff(log_g, g, 2), -(ratio**2) / (1 + g * ratio) ** 2),
        ),
        step(
            r"$\partial_\gamma \log g \to \log(1-q) < 0$ as $\gamma \to \infty$: where $g > 1$ for small $\gamma$, there is a root",
            (sp.limit(sp.diff(log_g, g), g, sp.oo), sp.log(rest)),
        ),
    )


def tied_classes_fall_steps() -> tuple[Step, ...]:
    """sum w - h(m) = e (1 - h(1/(n-1))) + o(e) with n - 1 tied classes and the last at e."""
    e, h0, h1, n = sp.symbols("epsilon h h_1 n", positive=True)
    m = (1 - e) / (n - 1)
    h = h0 + h1 * (m - 1 / (n - 1))  # h near 1/(n-1), to first order
    excess = sp.diff((n - 1) * m * h + e - h, e).subs(e, 0)
    return (
        *weight.printed_weight_steps(),
        weight.top_class_step(),
        step(
            r"$\frac{d}{d\varepsilon}\left[\sum_i w(q_i) - h(m)\right]_{\varepsilon=0} = 1 - h(\frac1{n-1})$, positive where "
            r"$g(\frac1{n-1}) > 1$",
            (excess, 1 - h0),
        ),
        entropy_ratio.limit_step(r"the last class has $w(\varepsilon)/\varepsilon \to 1$: $b \to 0$"),
    )


def confidence_proof() -> Derivation:
    """Where gamma >= gamma*(1/(n-1)), no distribution over n classes loses confidence, n >= 3."""
    n, low, top, below = sp.symbols("n epsilon m d", positive=True)
    m = (1 - low) / (n - 1)
    return derivation(
        *weight.printed_weight_steps(),
        weight.top_class_step(),
        *gain.threshold_steps(),
        step(
            r"a class $q_i = 1 - \sum_{j\ne i}q_j$ beside $n - 1$ others, each at most $q_{\max} = m$, so with $\sum_{j\ne i}(m - q_j) = d \ge 0$: "
            r"$q_i = \varepsilon + d$, $\varepsilon = 1 - (n-1)m$, that is $m = \frac{1-\varepsilon}{n-1}$",
            ((1 - ((n - 1) * top - below)) - (1 - (n - 1) * top), below),
            (sp.solve(1 - (n - 1) * top - low, top)[0], m),
        ),
        *entropy_ratio.sign_steps(),
        *entropy_ratio.log_sign_steps(),
        step(
            r"$D(\varepsilon) = \log g(\varepsilon) - \log g(m)$ has $D'' = \gamma\big[\frac{1}{(n-2+\varepsilon)^2} - \frac{1}{(1-\varepsilon)^2}\big] "
            r"+ G''(\varepsilon) - \frac{G''(m)}{(n-1)^2}$",
            *_second_derivatives(n, low),
        ),
        step(
            r"$(n-2+\varepsilon) - (1-\varepsilon) = n - 3 + 2\varepsilon \ge 0$ for $n \ge 3$: the bracket is not positive",
            ((n - 2 + low) - (1 - low), n - 3 + 2 * low),
        ),
        step(r"at $\varepsilon = \frac1n$ the two points meet: $m = \frac1n$ and $D = 0$", (m.subs(low, 1 / n), 1 / n)),
        *critical_gamma_steps(),
        gain.at_half_step(),
        remark=r"For $n = 3$ the step on $g(\frac12)$ says $\gamma^*(\frac12) = 0$. Since $G'' < 0$ increases and $\varepsilon \le m$: $G''(\varepsilon) \le G''(m) \le G''(m)/(n-1)^2$. So $D$ is concave on "
        r"$[0, \frac1n]$, with $D(0) = -\log g(\frac1{n-1}) \ge 0$ by the condition and $D(\frac1n) = 0$: $D \ge 0$, that is "
        r"$h(\varepsilon) \le h(m)$. As $h$ falls, then rises, $h(q_i) \le \max(h(\varepsilon), h(m)) = h(m)$ for every class, so "
        r"$\sum_i q_i h(q_i) \le h(m)$. Those with $m \ge \frac1{n-1}$ have $m \ge \tau(\gamma)$, as the condition says "
        r"$g(\frac1{n-1}) \le 1$, and are settled by the threshold.",
    )


def _second_derivatives(n: sp.Symbol, low: sp.Symbol) -> tuple[tuple[Any, Any], ...]:
    """The second derivatives by low of log(1 - low) - log(1 - m) and of F(m), with m = (1 - low)/(n - 1)."""
    m, f, xi = (1 - low) / (n - 1), sp.Function("F"), sp.Symbol("xi")
    return (
        (sp.diff(sp.log(1 - low) - sp.log(1 - m), low, 2), 1 / (n - 2 + low) ** 2 - 1 / (1 - low) ** 2),
        (sp.diff(f(m), low, 2).doit(), sp.Subs(sp.Derivative(f(xi), (xi, 2)), xi, m) / (n - 1) ** 2),
    )


def drop_of_ties(gamma: Fraction | int | str, *ties: tuple[Fraction | str, int]) -> flint.arb:
    """q_max - p_max as a ball, of classes that are tied: (probability, how many of it), the top ones first."""
    with balls.precision():
        g = balls.exact(gamma)
        weights = [(formulas.weight(balls.exact(each), g), count) for each, count in ties]
        total = sum((count * one for one, count in weights), balls.exact(0))
        return balls.exact(ties[0][0]) - weights[0][0] / total


def weight_growth() -> sp.Expr:
    """v(q), the derivative of log w(q) by gamma."""
    return sp.diff(sp.log(q) - sp.log(symbols.gain(q, g)), g)


def weight_growth_steps() -> tuple[Step, ...]:
    """v = -log(1-q) - Phi(q), Phi = b/(1 + gamma b), is convex with v(0) = 0; Phi'' < 0 increases."""
    phi, scale = b / (1 + g * b), 1 + g * value

    ratio = symbols.entropy_ratio()
    return (
        step(
            r"$v = \partial_\gamma\log w = -\log(1-q) - \Phi$, $\Phi = \frac{b}{1+\gamma b}$",
            (weight_growth(), -sp.log(1 - q) - ratio / (1 + g * ratio)),
            simplify=lambda e: sp.simplify(sp.expand_log(e, force=True)),
        ),
        *entropy_ratio.sign_steps(),
        step(
            r"$\Phi'' = -\frac{|b''|}{(1+\gamma b)^2} - \frac{2\gamma b'^2}{(1+\gamma b)^3} < 0$",
            (entropy_ratio.derivative_by_signs(phi, 2), -fall / scale**2 - 2 * g * rise**2 / scale**3),
        ),
        step(
            r"$\Phi^{(3)} = \frac{b^{(3)}}{(1+\gamma b)^2} + \frac{6\gamma b'|b''|}{(1+\gamma b)^3} + "
            r"\frac{6\gamma^2b'^3}{(1+\gamma b)^4} > 0$",
            (
                entropy_ratio.derivative_by_signs(phi, 3),
                third / scale**2 + 6 * g * rise * fall / scale**3 + 6 * g**2 * rise**3 / scale**4,
            ),
        ),
        step(
            r"$v'' = \frac{1}{(1-q)^2} - \Phi'' > 0$: $v$ is convex", (sp.diff(-sp.log(1 - q), q, 2), 1 / (1 - q) ** 2)
        ),
        entropy_ratio.limit_step(r"$v \to 0$ as $q \to 0$, as $b \to 0$"),
    )


def sharper_steps() -> tuple[Step, ...]:
    """Where v(1/(n-1)) >= 0, n >= 3: d log p by gamma is not negative for the top class, not positive for the lowest."""
    gamma, n, low = sp.symbols("gamma n epsilon", positive=True)
    w, total = sp.Function("w")(gamma), sp.Function("S")(gamma)
    m = (1 - low) / (n - 1)
    return (
        *weight.printed_weight_steps(),
        step(
            r"$\partial_\gamma\log\hat p_i = v(q_i) - \frac{S'}{S}$ with $S = \sum_j w(q_j)$, where $\frac{S'}{S} = \sum_j\hat p_j\,v(q_j)$",
            (sp.diff(sp.log(w / total), gamma), w.diff(gamma) / w - total.diff(gamma) / total),
        ),
        *weight_growth_steps(),
        step(
            r"$D(\varepsilon) = v(m) - v(\varepsilon)$, $m = \frac{1-\varepsilon}{n-1}$, has $D'' = \frac{1}{(n-2+\varepsilon)^2} - "
            r"\frac{1}{(1-\varepsilon)^2} + \Phi''(\varepsilon) - \frac{\Phi''(m)}{(n-1)^2}$",
            *_second_derivatives(n, low),
        ),
        step(
            r"$(n-2+\varepsilon) - (1-\varepsilon) = n - 3 + 2\varepsilon \ge 0$: $D'' \le \Phi''(m)\big(1 - \frac{1}{(n-1)^2}\big) < 0$ "
            r"for $\varepsilon \le m$, that is $\varepsilon \le \frac1n$",
            ((n - 2 + low) - (1 - low), n - 3 + 2 * low),
        ),
        step(r"at $\varepsilon = \frac1n$ the two points meet: $D = 0$", (m.subs(low, 1 / n), 1 / n)),
        step(
            r"at $\varepsilon = 0$ it is $v(\frac{1}{n-1}) - v(0) = v(\frac{1}{n-1}) \ge 0$: so $D > 0$ between",
            (
                weight_growth().subs(q, m.subs(low, 0)) - sp.limit(weight_growth(), q, 0, "+"),
                weight_growth().subs(q, 1 / (n - 1)),
            ),
        ),
        *curvature.convexity_proof().steps,
    )


def three_classes_step() -> Step:
    """v(1/2) >= 0 for every gamma >= 0: the condition for n = 3."""
    return step(
        r"$n = 3$: $v(\frac12) = \frac{\gamma\log^22}{1+\gamma\log2} \ge 0$ for every $\gamma \ge 0$",
        (weight_growth().subs(q, sp.Rational(1, 2)), g * sp.log(2) ** 2 / (1 + g * sp.log(2))),
    )


def sharper_proof() -> Derivation:
    """For three classes, as gamma grows, the top probability rises and the lowest falls, unless it is 0 or 1/3."""
    return derivation(*sharper_steps(), three_classes_step(), remark=f"{SHARPER} {THREE}")


SHARPER = (
    r"*Top.* Let $M$ be the largest $q_i$. If $M < \frac{1}{n-1}$, every $q_i \ge \varepsilon = 1 - (n-1)M$, and $D(\varepsilon) \ge 0$ says "
    r"$v(\varepsilon) \le v(M)$; else $v(0) \le v(M)$, by convexity. As $v$ is convex, $v(q_i) \le v(M)$ for every class: $\partial_\gamma\log\hat p$ "
    r"of the top class is $v(M) - \sum_j\hat p_jv(q_j) \ge 0$. *Lowest.* Let $\varepsilon$ be the smallest $q_i$, $0 < \varepsilon < \frac1n$. "
    r"$D(\varepsilon) > 0$ says $v(m) > v(\varepsilon)$, so the convex $v$ increases from $m$ on. The others have mean $m$; weighted with "
    r"$\hat p_j$, which increase with $q_j$ as $w$ does (Prop. 1), their mean is at least $m$, and by convexity that of their $v(q_j)$ exceeds "
    r"$v(\varepsilon)$: $\partial_\gamma\log\hat p < 0$."
)
THREE = (
    r"From $\gamma = 0$, where $\hat p = q$, three classes go on so for every $\gamma$. With the top larger and the lowest smaller the "
    r"distribution of the larger $\gamma$ majorises that of the smaller: every measure of concentration, such as minus the entropy, grows."
)
