"""For n classes confidence never falls from gamma*(1/(n-1)) on: KK24 Prop. 5 put right, its Fig. 5, and L25 section 1."""

from __future__ import annotations

from fractions import Fraction

import flint
import sympy as sp

from reproduction.ledger.certificates import balls, formulas
from reproduction.ledger.evidence import Derivation, Step, step, step_of_several
from reproduction.theorems import symbols
from reproduction.theorems.lemmas.entropy_ratio import entropy_ratio_steps, log_entropy_ratio_steps
from reproduction.theorems.lemmas.threshold import gain_at_half_step, threshold_steps
from reproduction.theorems.lemmas.weight import printed_weight_steps, top_class_step


def critical_gamma_steps() -> tuple[Step, ...]:
    """log g(q) is concave in gamma and 0 at gamma = 0: g > 1 below gamma*(q) and g < 1 above."""
    g, ratio, rest = sp.symbols("gamma b r", positive=True)  # b(q), 1 - q
    log_g = g * sp.log(rest) + sp.log(1 + g * ratio)
    return (
        step_of_several(
            r"$\partial_\gamma^2 \log g = -\frac{b^2}{(1+\gamma b)^2} < 0$, and $\log g = 0$ at $\gamma = 0$: at most one more "
            r"root, $\gamma^*(q)$, with $g > 1$ before it and $g < 1$ after",
            (log_g.subs(g, 0), 0),
            (sp.diff(log_g, g, 2), -(ratio**2) / (1 + g * ratio) ** 2),
        ),
    )


def tied_classes_fall_steps() -> tuple[Step, ...]:
    """sum w - h(m) = e (1 - h(1/(n-1))) + o(e) with n - 1 tied classes and the last at e."""
    e, h0, h1, n = sp.symbols("epsilon h h_1 n", positive=True)
    m = (1 - e) / (n - 1)
    h = h0 + h1 * (m - 1 / (n - 1))  # h near 1/(n-1), to first order
    excess = sp.diff((n - 1) * m * h + e - h, e).subs(e, 0)
    return (
        *printed_weight_steps(),
        top_class_step(),
        step(
            r"$\frac{d}{d\varepsilon}\left[\sum_i w(q_i) - h(m)\right]_{\varepsilon=0} = 1 - h(\frac1{n-1})$, positive where "
            r"$g(\frac1{n-1}) > 1$",
            excess,
            1 - h0,
        ),
        step(
            r"the last class has $w(\varepsilon)/\varepsilon \to 1$: $b \to 0$",
            sp.limit(symbols.entropy_ratio(), symbols.q, 0),
            0,
        ),
    )


def confidence_proof() -> Derivation:
    """Where gamma >= gamma*(1/(n-1)), no distribution over n classes loses confidence, n >= 3."""
    g, n, b0, fall, fall_m = sp.symbols("gamma n b A B", positive=True)  # A = -G''(b), B = -G''(m)
    m = (1 - b0) / (n - 1)
    top, below = sp.symbols("m d", positive=True)
    big_g = sp.Function("G")
    difference = g * sp.log(1 - b0) + big_g(b0) - g * sp.log(1 - m) - big_g(m)
    second = sp.diff(difference, b0, 2).doit()
    for argument, value in ((b0, -fall), (m, -fall_m)):
        for found in list(second.atoms(sp.Subs, sp.Derivative)):
            if found.doit().has(big_g) and sp.simplify(_argument(found) - argument) == 0:
                second = second.subs(found, value)
    written = g * (1 / (n - 2 + b0) ** 2 - 1 / (1 - b0) ** 2) - (fall - fall_m / (n - 1) ** 2)
    return Derivation(
        (
            *printed_weight_steps(),
            top_class_step(),
            *threshold_steps(),
            step_of_several(
                r"a class $q_i = 1 - \sum_{j\ne i}q_j$ beside $n - 1$ others, each at most $q_{\max} = m$, so with $\sum_{j\ne i}(m - q_j) = d \ge 0$: "
                r"$q_i = \varepsilon + d$, $\varepsilon = 1 - (n-1)m$, that is $m = \frac{1-\varepsilon}{n-1}$",
                ((1 - ((n - 1) * top - below)) - (1 - (n - 1) * top), below),
                (sp.solve(1 - (n - 1) * top - b0, top)[0], m),
            ),
            *entropy_ratio_steps(),
            *log_entropy_ratio_steps(),
            step(
                r"$D(\varepsilon) = \log g(\varepsilon) - \log g(m)$ has $D'' = \gamma\big[\frac{1}{(n-2+\varepsilon)^2} - \frac{1}{(1-\varepsilon)^2}\big] "
                r"+ G''(\varepsilon) - \frac{G''(m)}{(n-1)^2}$",
                second,
                written,
            ),
            step(
                r"$(n-2+\varepsilon) - (1-\varepsilon) = n - 3 + 2\varepsilon \ge 0$ for $n \ge 3$: the bracket is not positive",
                (n - 2 + b0) - (1 - b0),
                n - 3 + 2 * b0,
            ),
            step(
                r"at $\varepsilon = \frac1n$ the two points meet: $m = \frac1n$ and $D = 0$", m.subs(b0, 1 / n), 1 / n
            ),
            *critical_gamma_steps(),
            gain_at_half_step(),  # for n = 3: gamma*(1/2) = 0
        ),
        r"For $n = 3$ the step on $g(\frac12)$ says $\gamma^*(\frac12) = 0$. Since $G'' < 0$ increases and $\varepsilon \le m$: $G''(\varepsilon) \le G''(m) \le G''(m)/(n-1)^2$. So $D$ is concave on "
        r"$[0, \frac1n]$, with $D(0) = -\log g(\frac1{n-1}) \ge 0$ by the condition and $D(\frac1n) = 0$: $D \ge 0$, that is "
        r"$h(\varepsilon) \le h(m)$. As $h$ falls, then rises, $h(q_i) \le \max(h(\varepsilon), h(m)) = h(m)$ for every class, so "
        r"$\sum_i q_i h(q_i) \le h(m)$. Those with $m \ge \frac1{n-1}$ have $m \ge \tau(\gamma)$, as the condition says "
        r"$g(\frac1{n-1}) \le 1$, and are settled by the threshold.",
    )


def _argument(found: sp.Expr) -> sp.Expr:
    return found.point[0] if isinstance(found, sp.Subs) else found.expr.args[0]


def drop_of_tied_classes(n: int, gamma: Fraction, last: Fraction) -> flint.arb:
    """q_max - p_max as a ball, for n - 1 tied classes and one at `last`."""
    with balls.precision():
        g, top = balls.exact(gamma), balls.exact((1 - last) / (n - 1))
        weight = formulas.weight(top, g)
        return top - weight / ((n - 1) * weight + formulas.weight(balls.exact(last), g))
