"""KK24 Prop. 5 for each number of classes: it holds if and only if gamma >= gamma*(1/(n-1))."""

from __future__ import annotations

from fractions import Fraction

import flint
import sympy as sp

from focal_lib.claims.evidence import Derivation, Evidence, Step, step
from focal_lib.claims.ledger import claim
from focal_lib.claims.lemmas.entropy_ratio import log_steps, mixture_steps
from focal_lib.claims.lemmas.threshold import half_step, threshold_steps
from focal_lib.theory import symbols
from focal_lib.theory.certificates import balls, formulas
from focal_lib.theory.gain import critical_gamma

CHAPTER = "06_confidence"
q = symbols.q


def tied_fall(n: int, gamma: Fraction, last: Fraction) -> flint.arb:
    """q_max - p_max as a ball, for n - 1 tied classes and one at `last`."""
    with balls.precision():
        g, top = balls.exact(gamma), balls.exact((1 - last) / (n - 1))
        weight = formulas.weight(top, g)
        return top - weight / ((n - 1) * weight + formulas.weight(balls.exact(last), g))


@claim(
    "kk24.prop5_n_fails",
    source="KK24 Prop. 5, corrected for each n",
    statement=r"For $n \ge 4$ and $\gamma < \gamma^*(\frac{1}{n-1})$ it fails, at $n - 1$ tied classes and a small last one.",
    chapter=CHAPTER,
    corrects="kk24.prop5",
)
def prop5_n_fails() -> Evidence:
    """sum w - h(m) = e (1 - h(1/(n-1))) + o(e) for the last class at e."""
    e, h0, h1, n = sp.symbols("epsilon h h_1 n", positive=True)
    m = (1 - e) / (n - 1)
    h = h0 + h1 * (m - 1 / (n - 1))  # h near 1/(n-1), to first order
    excess = sp.diff((n - 1) * m * h + e - h, e).subs(e, 0)
    steps = [
        step(
            r"$\frac{d}{d\varepsilon}\left[\sum_i w(q_i) - h(m)\right]_{\varepsilon=0} = 1 - h(\frac1{n-1})$, positive where "
            r"$g(\frac1{n-1}) > 1$",
            excess,
            1 - h0,
        ),
        step(
            r"the last class has $w(\varepsilon)/\varepsilon \to 1$: $b \to 0$",
            sp.limit(symbols.entropy_ratio(), q, 0),
            0,
        ),
        *gamma_steps(),
    ]
    for classes in (4, 5, 7, 10):
        fall = tied_fall(classes, Fraction(round(900 * critical_gamma(classes)), 1000), Fraction(1, 10**6))
        steps.append(Step(rf"for example $n = {classes}$ at $0.9\,\gamma^*$, in ball arithmetic", bool(fall > 0)))
    return Derivation(tuple(steps))


def gamma_steps() -> tuple[Step, ...]:
    """log g(q) is concave in gamma and 0 at gamma = 0: g > 1 below gamma*(q) and g < 1 above."""
    g, ratio, rest = sp.symbols("gamma b r", positive=True)  # b(q), 1 - q
    log_g = g * sp.log(rest) + sp.log(1 + g * ratio)
    return (
        step(
            r"$\partial_\gamma^2 \log g = -\frac{b^2}{(1+\gamma b)^2} < 0$, and $\log g = 0$ at $\gamma = 0$: at most one more "
            r"root, $\gamma^*(q)$, with $g > 1$ before it and $g < 1$ after",
            sp.diff(log_g, g, 2) + log_g.subs(g, 0),
            -(ratio**2) / (1 + g * ratio) ** 2,
        ),
    )


def each_n_proof() -> Derivation:
    """Where gamma >= gamma*(1/(n-1)), no row of n classes loses confidence, n >= 3."""
    g, n, b0, fall, fall_m = sp.symbols("gamma n b A B", positive=True)  # A = -G''(b), B = -G''(m)
    m = (1 - b0) / (n - 1)
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
            *threshold_steps(),
            step(
                r"rows with $q_{\max} = m < \frac{1}{n-1}$ have every $q_i \ge \beta = 1 - (n-1)m$", 1 - (n - 1) * m, b0
            ),
            *mixture_steps(),
            *log_steps(),
            step(
                r"$D(\beta) = \log g(\beta) - \log g(m)$ has $D'' = \gamma\big[\frac{1}{(n-2+\beta)^2} - \frac{1}{(1-\beta)^2}\big] "
                r"+ G''(\beta) - \frac{G''(m)}{(n-1)^2}$",
                second,
                written,
            ),
            step(
                r"$(n-2+\beta) - (1-\beta) = n - 3 + 2\beta \ge 0$ for $n \ge 3$: the bracket is not positive",
                (n - 2 + b0) - (1 - b0),
                n - 3 + 2 * b0,
            ),
            step(r"at $\beta = \frac1n$ the two points meet: $m = \frac1n$ and $D = 0$", m.subs(b0, 1 / n), 1 / n),
            *gamma_steps(),
            half_step(),  # for n = 3: gamma*(1/2) = 0
        ),
        r"For $n = 3$ the last step says $\gamma^*(\frac12) = 0$. Since $G'' < 0$ increases and $\beta \le m$: $G''(\beta) \le G''(m) \le G''(m)/(n-1)^2$. So $D$ is concave on "
        r"$[0, \frac1n]$, with $D(0) = -\log g(\frac1{n-1}) \ge 0$ by the condition and $D(\frac1n) = 0$: $D \ge 0$, that is "
        r"$h(\beta) \le h(m)$. As $h$ falls, then rises, $h(q_i) \le \max(h(\beta), h(m)) = h(m)$ for every class, so "
        r"$\sum_i q_i h(q_i) \le h(m)$. Samples with $m \ge \frac1{n-1}$ have $m \ge \tau(\gamma)$, as the condition says "
        r"$g(\frac1{n-1}) \le 1$, and are settled by the threshold.",
    )


def _argument(found: sp.Expr) -> sp.Expr:
    return found.point[0] if isinstance(found, sp.Subs) else found.expr.args[0]


@claim(
    "kk24.prop5_n_holds",
    source="KK24 Prop. 5, corrected for each n",
    statement=r"For $n \ge 4$ and $\gamma \ge \gamma^*(\frac{1}{n-1})$ confidence never falls.",
    chapter=CHAPTER,
    corrects="kk24.prop5",
)
def prop5_n_holds() -> Evidence:
    """A concave difference that is not negative at its ends."""
    return each_n_proof()


@claim(
    "kk24.prop5_three_classes",
    source="KK24 Prop. 5, the case n = 3",
    statement=r"For $n = 3$ confidence never falls, for any $\gamma > 0$.",
    chapter=CHAPTER,
    corrects="kk24.prop5",
)
def prop5_three_classes() -> Evidence:
    """The same proof with gamma*(1/2) = 0."""
    return each_n_proof()
