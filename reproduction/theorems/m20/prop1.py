"""M20 section 4 and App. B: the gradient factor g (Props. 1 and 3, Eqs. (7) to (9), Fig. 4a)."""

from __future__ import annotations

import sympy as sp

from focal_lib.theory.gain import log_gain
from reproduction.ledger.certificates import balls, formulas
from reproduction.ledger.evidence import (
    All,
    Conditional,
    Counterexample,
    Derivation,
    Disproof,
    Evidence,
    Step,
    derivation,
    step,
)
from reproduction.ledger.formal import formal
from reproduction.ledger.ledger import Rows
from reproduction.ledger.measurement import Measurement
from reproduction.theorems import symbols
from reproduction.theorems.lemmas import gain

CHAPTER = "gradient_factor"
quoted = Rows(CHAPTER, "quoted")
paraphrased = Rows(CHAPTER, "paraphrased")
reading = Rows(CHAPTER, "our reading")
q, g = symbols.q, symbols.g


@quoted(
    "m20.prop1",
    "The focal gradient is cross-entropy's times a factor g",
    "M20 Prop. 1, App. B Prop. 3",
    r"'For focal loss $L_f$ and cross-entropy loss $L_c$, the gradients' $\frac{\partial L_f}{\partial w} = \frac{\partial "
    r"L_c}{\partial w}\,g(q_y, \gamma)$ with "
    r"$g = (1-q)^\gamma - \gamma q(1-q)^{\gamma-1}\log q$, for the weights $w$ of the last layer.",
    formal=formal("exact", "m20_prop1"),
    in_readme=True,
)
def prop1() -> Evidence:
    """The chain rule: both losses reach w through q_y alone."""
    return Derivation(factor_steps())


def factor_steps() -> tuple[Step, ...]:
    """The ratio of the gradients is the printed g, which is (1-q)^gamma (1 + gamma b)."""
    f = sp.Function("q")(sp.Symbol("w"))
    focal, cross = symbols.focal_loss(f, g).diff(sp.Symbol("w")), (-sp.log(f)).diff(sp.Symbol("w"))
    printed = (1 - q) ** g - g * q * (1 - q) ** (g - 1) * sp.log(q)
    return (
        step(
            r"$\partial_w L_f = g\,\partial_w L_c$",
            (
                sp.powsimp(sp.expand((focal / cross).doit().subs(f, q) / (1 - q) ** (g - 1))),
                sp.powsimp(sp.expand(printed / (1 - q) ** (g - 1))),
            ),
            simplify=lambda e: sp.simplify(sp.expand(sp.powsimp(e, force=True))),
        ),
        step(
            r"printed $g$ is $(1-q)^\gamma(1+\gamma b)$, the same function as in KK24's $w = q/g$",
            (sp.simplify(printed / (1 - q) ** g), sp.simplify(symbols.gain(q, g) / (1 - q) ** g)),
        ),
    )


@quoted(
    "m20.prop1_iff",
    "The focal gradient is the smaller exactly if g is at most 1",
    "M20 Prop. 1",
    r"'Thus, $\lVert\partial_w L_f\rVert \le \lVert\partial_w L_c\rVert$ iff $g \in [0, 1]$.'",
    formal=formal("equivalent", "m20_prop1_norm", "m20_prop1_norm_fails"),
    instead="unless cross-entropy's gradient is zero",
)
def prop1_iff() -> Evidence:
    """The norms have the ratio abs(g) where that of cross-entropy is not 0, and g > 0; where it is 0 both are."""
    with balls.precision():
        margin = formulas.gain(balls.exact("1/10"), balls.exact(1)) - 1
    zero = "a zero feature vector, of a norm of 0: both norms are 0, yet $g(0.1, 1) > 1$"
    return Conditional(
        r"\lVert\partial_w L_c\rVert",
        sp.Interval(0, sp.oo),
        derivation(*factor_steps(), gain.positive_step(), where=sp.Interval.open(0, sp.oo)),
        Counterexample(zero, margin, where=sp.FiniteSet(0)),
        remark=r" (for every $q$ and $\gamma$)",
    )


paraphrased(
    "m20.k_decreasing",
    "An auxiliary function k decreases and has the sign of g's slope",
    "M20 App. B, Eq. (9)",
    r"$k(p, \gamma) = \frac{2(1-p)}{\log p} + 1 - \gamma p$ decreases, from 1 at $p \to 0$ to $-(1+\gamma)$ at $p \to 1$, and "
    r"has the sign of $\partial_p g$. ($\gamma > 0$, $0 < p < 1$.)",
    lambda: Derivation(gain.threshold_steps()),
    formal=formal("equivalent", "m20_k", "m20_gain_slope"),
)

quoted(
    "m20.g_slope_decreasing",
    "The slope of g decreases from positive to negative values",
    "M20 App. B, proof of Prop. 4",
    r"'The gradient $\partial_p g$ monotonically decreases from a positive value at $p = 0$ to a negative value at $p = 1$.' (Values at the ends: signs close to them.)",
    lambda: Conditional(
        r"\gamma",
        sp.Interval.open(0, sp.oo),
        derivation(*gain.concave_steps(), *gain.slope_end_steps(), where=sp.Interval.Lopen(0, 1)),
        Disproof(
            Derivation(
                gain.curvature_steps(),
                r"So for $\gamma > 1$ $\partial_p g$ increases near $p = 1$, to 0.",
                sp.Interval.open(1, sp.oo),
            )
        ),
    ),
    formal=formal("equivalent", "m20_slope_decreases", "m20_unimodal", "m20_slope_rises_above_1"),
    instead="only for gamma up to 1",
)

quoted(
    "m20.g_unimodal",
    "The factor g first rises from 1, then falls to 0",
    "M20 App. B, proof of Prop. 4",
    r"$g$ 'first monotonically increases starting from 1' (as $p \to 0$) 'and then monotonically decreases down to 0' (at $p = 1$). (For "
    r"$\gamma > 0$; at 0 $g$ is constant.)",
    lambda: Derivation(gain.threshold_steps()),
    formal=formal("exact", "m20_unimodal", "m20_gain_slope", "m20_gain_ends"),
)

reading(
    "m20.threshold",
    "The factor g is above 1 up to a threshold, below 1 after",
    "M20 section 4, on Fig. 4a",
    r"$g$ 'lies in $[0, 1)$ for values of $p$ that lie above a certain threshold $p_0$. In the interval $[0, p_0)$, however,' "
    r"$g > 1$. (Taken as: for every $\gamma > 0$ and for $0 < p < p_0$; at $p = 0$ itself $g = 1$.)",
    lambda: derivation(*gain.threshold_steps(), gain.at_half_step()),
    formal=formal("equivalent", "m20_threshold"),
)

reading(
    "m20.regularises_more",
    "Above one half, a larger gamma gives a smaller factor g",
    "M20 section 4, on Fig. 4a",
    r"'With higher values of $\gamma$, the fall in $g$ gets steeper. We would thus expect the weight regularisation effect to be "
    r"higher for models that use higher values of $\gamma$.' (Of the second sentence, taken as: for $\frac12 \le p < 1$ a larger $\gamma$ gives a smaller factor $g$.)",
    lambda: Derivation(
        gain.larger_gamma_steps(),
        r"$f$ is odd around $\frac12$, so it is negative on $(\frac12, 1)$, where it is positive on $(0, \frac12)$.",
    ),
    formal=formal("exact", "m20_regularises_more"),
)


@reading(
    "m20.fig4a_seven",
    "From gamma 7 on, g is nearly 0 from one half on",
    "M20 section 4, on Fig. 4a",
    r"'For $\gamma \ge 7$, $g$ reduces to nearly 0 for a relatively low value of $p$ (around 0.5).' (Taken as: $g(p, \gamma)$ is below 0.05, our threshold, for every $p \ge \frac12$ and $\gamma \ge 7$; at $p = \frac12$ and $\gamma = 7$ just below.)",
    formal=formal("exact", "m20_seven"),
)
def fig4a_seven() -> Evidence:
    """g(0.5, 7); a larger p and a larger gamma give less."""
    there = Measurement(r"$g(0.5, 7)$", "nearly 0", _gain(0.5, 7), expected=0.0, tolerance=0.05)
    return All((there, derivation(*gain.threshold_steps(), gain.at_half_step(), *gain.larger_gamma_steps())))


reading(
    "m20.g_at_019",
    "At p = 0.19 and gamma 5 the factor g is about 1",
    "M20 section 5",
    r"'$g(0.19, 5) \approx 1$.' (Taken as: within 0.05.)",
    lambda: Measurement(r"$g(0.19, 5)$", "about 1", _gain(0.19, 5), expected=1.0, tolerance=0.05),
    formal=formal("exact", "m20_g_at_019"),
)


def _gain(p: float, gamma: float) -> float:
    return float(sp.exp(log_gain(p, gamma)))
