"""The larger gamma, the sharper the map, for three classes always: KK24 section 3.3 and Fig. 5, M20 on entropy."""

from __future__ import annotations

import sympy as sp

from reproduction.ledger.evidence import Derivation, Step, step, step_of_several
from reproduction.theorems import symbols
from reproduction.theorems.lemmas.curvature import convexity_proof
from reproduction.theorems.lemmas.entropy_ratio import entropy_ratio_steps
from reproduction.theorems.lemmas.weight import printed_weight_steps

q = symbols.q
g = sp.Symbol("gamma", nonnegative=True)


def weight_growth() -> sp.Expr:
    """v(q), the derivative of log w(q) by gamma."""
    return sp.diff(sp.log(q) - sp.log(symbols.gain(q, g)), g)


def weight_growth_steps() -> tuple[Step, ...]:
    """v = -log(1-q) - Phi(q), Phi = b/(1 + gamma b), is convex with v(0) = 0; Phi'' < 0 increases."""
    b = sp.Function("b")(q)
    value, rise, fall, third = sp.symbols("b_0 b_1 b_2 b_3", positive=True)  # b, b', -b'', b'''
    phi, scale = b / (1 + g * b), 1 + g * value

    def derivative(order: int) -> sp.Expr:
        slopes = {b.diff(q, 3): third, b.diff(q, 2): -fall, b.diff(q): rise}
        return sp.diff(phi, q, order).doit().subs(slopes).subs(b, value)

    ratio = symbols.entropy_ratio()
    return (
        step(
            r"$v = \partial_\gamma\log w = -\log(1-q) - \Phi$, $\Phi = \frac{b}{1+\gamma b}$",
            weight_growth(),
            -sp.log(1 - q) - ratio / (1 + g * ratio),
            lambda e: sp.simplify(sp.expand_log(e, force=True)),
        ),
        *entropy_ratio_steps(),
        step(
            r"$\Phi'' = -\frac{|b''|}{(1+\gamma b)^2} - \frac{2\gamma b'^2}{(1+\gamma b)^3} < 0$",
            derivative(2),
            -fall / scale**2 - 2 * g * rise**2 / scale**3,
        ),
        step(
            r"$\Phi^{(3)} = \frac{b^{(3)}}{(1+\gamma b)^2} + \frac{6\gamma b'|b''|}{(1+\gamma b)^3} + "
            r"\frac{6\gamma^2b'^3}{(1+\gamma b)^4} > 0$",
            derivative(3),
            third / scale**2 + 6 * g * rise * fall / scale**3 + 6 * g**2 * rise**3 / scale**4,
        ),
        step(r"$v'' = \frac{1}{(1-q)^2} - \Phi'' > 0$: $v$ is convex", sp.diff(-sp.log(1 - q), q, 2), 1 / (1 - q) ** 2),
        step(r"$v \to 0$ as $q \to 0$, as $b \to 0$", sp.limit(ratio, q, 0, "+"), 0),
    )


def sharper_steps() -> tuple[Step, ...]:
    """Where v(1/(n-1)) >= 0, n >= 3: d log p by gamma is not negative for the top class, not positive for the lowest."""
    gamma, n, low = sp.symbols("gamma n epsilon", positive=True)
    w, total, phi = sp.Function("w")(gamma), sp.Function("S")(gamma), sp.Function("Phi")
    m = (1 - low) / (n - 1)
    xi = sp.Symbol("xi")
    return (
        *printed_weight_steps(),
        step(
            r"$\partial_\gamma\log\hat p_i = v(q_i) - \frac{S'}{S}$ with $S = \sum_j w(q_j)$, where $\frac{S'}{S} = \sum_j\hat p_j\,v(q_j)$",
            sp.diff(sp.log(w / total), gamma),
            w.diff(gamma) / w - total.diff(gamma) / total,
        ),
        *weight_growth_steps(),
        step_of_several(
            r"$D(\varepsilon) = v(m) - v(\varepsilon)$, $m = \frac{1-\varepsilon}{n-1}$, has $D'' = \frac{1}{(n-2+\varepsilon)^2} - "
            r"\frac{1}{(1-\varepsilon)^2} + \Phi''(\varepsilon) - \frac{\Phi''(m)}{(n-1)^2}$",
            (sp.diff(-sp.log(1 - m) + sp.log(1 - low), low, 2), 1 / (n - 2 + low) ** 2 - 1 / (1 - low) ** 2),
            (sp.diff(phi(m), low, 2).doit(), sp.Subs(sp.Derivative(phi(xi), (xi, 2)), xi, m) / (n - 1) ** 2),
        ),
        step(
            r"$(n-2+\varepsilon) - (1-\varepsilon) = n - 3 + 2\varepsilon \ge 0$: $D'' \le \Phi''(m)\big(1 - \frac{1}{(n-1)^2}\big) < 0$ "
            r"for $\varepsilon \le m$, that is $\varepsilon \le \frac1n$",
            (n - 2 + low) - (1 - low),
            n - 3 + 2 * low,
        ),
        step(r"at $\varepsilon = \frac1n$ the two points meet: $D = 0$", m.subs(low, 1 / n), 1 / n),
        step(
            r"at $\varepsilon = 0$ it is $v(\frac{1}{n-1}) - v(0) = v(\frac{1}{n-1}) \ge 0$: so $D > 0$ between",
            weight_growth().subs(q, m.subs(low, 0)) - sp.limit(weight_growth(), q, 0, "+"),
            weight_growth().subs(q, 1 / (n - 1)),
        ),
        *convexity_proof().steps,
    )


def three_classes_step() -> Step:
    """v(1/2) >= 0 for every gamma >= 0: the condition for n = 3."""
    return step(
        r"$n = 3$: $v(\frac12) = \frac{\gamma\log^22}{1+\gamma\log2} \ge 0$ for every $\gamma \ge 0$",
        weight_growth().subs(q, sp.Rational(1, 2)),
        g * sp.log(2) ** 2 / (1 + g * sp.log(2)),
    )


def sharper_proof() -> Derivation:
    """For three classes, as gamma grows, the top probability rises and the lowest falls, unless it is 0 or 1/3."""
    return Derivation((*sharper_steps(), three_classes_step()), f"{SHARPER} {THREE}")


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
