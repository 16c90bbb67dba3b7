"""KK24 sections 2 to 3.2 and Prop. 2: the minimiser, the binary decomposition."""

from __future__ import annotations

from fractions import Fraction

import sympy as sp

from focal_lib.claims.evidence import Counterexample, Derivation, Evidence, Measurement, step
from focal_lib.claims.ledger import claim
from focal_lib.claims.lemmas.binary_map import logit_form_steps, stationarity_steps
from focal_lib.claims.lemmas.map_slope import map_slope_steps
from focal_lib.theory import symbols
from focal_lib.theory.certificates import balls, formulas
from focal_lib.theory.proper import focal_minimiser

CHAPTER = "03_binary"
q, s, gamma = symbols.q, symbols.s, symbols.gamma
x = sp.Symbol("x", positive=True)


@claim(
    "kk24.minimiser",
    source="KK24 section 3.1",
    statement=r"At a point with $p = 0.8$ the focal loss with $\gamma = 2$ predicts around 0.62.",
    chapter=CHAPTER,
)
def minimiser() -> Evidence:
    """The minimiser at p = 0.8, gamma = 2, within one unit of the last printed digit."""
    measured = float(focal_minimiser([[0.8, 0.2]], 2.0)[0, 0])
    return Measurement(r"$q^*(0.8)$ for $\gamma = 2$", "around 0.62", measured, expected=0.62, tolerance=0.01)


@claim(
    "kk24.minimiser_range",
    source="KK24 section 3.1",
    statement=r"Varying $\gamma > 0$ gives any prediction between 0.8 and 0.5 at $p = 0.8$.",
    chapter=CHAPTER,
)
def minimiser_range() -> Evidence:
    """Intermediate value in gamma: logit FC(s) is s at gamma = 0 and above gamma s in general."""
    return Derivation(
        (
            step(r"$\gamma = 0$: $\operatorname{logit} FC(s) = s$", symbols.binary_map_of_logit(s, 0), s),
            *map_slope_steps(),
        ),
        r"For $1/2 < q < p$, with logit $s < \operatorname{logit} p$: the map of $q$ is below $p$ at $\gamma = 0$ and, its "
        r"slope being above $\gamma$, beyond $p$ at $\gamma = \operatorname{logit} p / s$. It is continuous in $\gamma$, "
        "so some $\\gamma$ in between predicts exactly $q$.",
    )


@claim(
    "kk24.prop2",
    source="KK24 Prop. 2, App. A.2",
    statement=r"Binary focal loss is a proper loss applied after the map "
    r"$\hat p(q) = 1\big/\big(1 + (\tfrac{1-q}{q})^\gamma\tfrac{(1-q)-\gamma q\log q}{q-\gamma(1-q)\log(1-q)}\big)$, "
    r"a bijection of $[0, 1]$.",
    chapter=CHAPTER,
    headline="two classes: a proper loss after a bijection",
)
def prop2() -> Evidence:
    """The map from the stationarity condition; its logit form; slope between max(1, gamma) and gamma + 1."""
    return Derivation((*stationarity_steps(), *logit_form_steps(), *map_slope_steps()), PROOF_END)


PROOF_END = (
    "The map is odd in logits with positive slope, so it is increasing and onto: a bijection of (0, 1), of [0, 1] by "
    "limits. The risk is strictly convex in q (Prop. 1), so its stationary point, where the map of q is p, is the "
    "only minimum: the loss as a function of the mapped q is strictly proper."
)


@claim(
    "kk24.prop2_slope",
    source="sharpens KK24 Prop. 2",
    statement=r"For $\gamma > 0$ and every logit, $\max(1, \gamma) < \frac{d}{ds}\operatorname{logit} FC(s) < \gamma + 1$.",
    chapter=CHAPTER,
)
def prop2_slope() -> Evidence:
    """The slope bounds, step by step."""
    return Derivation(map_slope_steps())


@claim(
    "kk24.prop2_negative",
    source="KK24 section 3.2 plugs in negative gamma",
    statement=r"The binary map stays an increasing bijection for $-1 \le \gamma < 0$.",
    chapter=CHAPTER,
    corrects="kk24.prop2_below_minus_one",
)
def prop2_negative() -> Evidence:
    """1 + gamma u > 0 since u < 1, and the slope gamma + 1 - R' with R' < 0 is positive."""
    g = sp.Symbol("gamma", negative=True)
    difference = x - sp.log(1 + x)  # u < 1: log(1+x) < x, x = e^-s
    return Derivation(
        (
            step(
                r"$u < 1$: $x - \log(1+x)$ is 0 at 0 with derivative $x/(1+x) > 0$", sp.diff(difference, x), x / (1 + x)
            ),
            step(r"so $1 + \gamma u > 1 + \gamma \ge 0$", (-g).is_positive),
            *map_slope_steps()[:2],
            step(r"with $\gamma < 0$ both parts of $R'$ are negative: slope $> \gamma + 1 \ge 0$", (g * x).is_negative),
        )
    )


@claim(
    "kk24.prop2_below_minus_one",
    source="limit of KK24 section 3.2",
    statement=r"The map makes sense for every negative $\gamma$.",
    chapter=CHAPTER,
)
def prop2_below_minus_one() -> Evidence:
    """At gamma = -1.2 the factor 1 + gamma u(s), and with it the map, changes sign."""
    with balls.precision():
        g, point = balls.exact("-6/5"), balls.exact(2)
        value = 1 + g * ((-point).exp() + 1).log() / (-point).exp()
    return Counterexample(r"$\gamma = -1.2$, $s = 2$: $1 + \gamma u(s) < 0$, so 'probabilities' leave $[0, 1]$", -value)


@claim(
    "kk24.prop2_differentiable",
    source="KK24 App. A.2, proof",
    statement=r"The map is defined for all $q \in [0, 1]$ because the partial losses are differentiable there.",
    chapter=CHAPTER,
)
def prop2_differentiable() -> Evidence:
    """L' has no finite value at q = 0: it exceeds any bound."""
    with balls.precision():
        tiny = balls.exact(Fraction(1, 10**12))
        steep = -formulas.gain(tiny, balls.exact(2)) / tiny  # L' = -g/q
    return Counterexample(
        r"$\gamma = 2$: $-L'(10^{-12}) > 10^{11}$; $L'$ diverges at 0, so the end points are limits", -steep - 10**11
    )


@claim(
    "kk24.prop2_ends",
    source="KK24 App. A.2, corrected",
    statement=r"The map extends continuously to $[0, 1]$, with 0 to 0 and 1 to 1, as a limit.",
    chapter=CHAPTER,
    corrects="kk24.prop2_differentiable",
)
def prop2_ends() -> Evidence:
    """logit FC(s) = (gamma+1) s - R(s), and R stays bounded."""
    return Derivation(
        (
            *logit_form_steps(),
            step(r"$u(s) \to 1$ as $s \to \infty$", sp.limit(symbols.u(x), x, sp.oo), 1),
            step(
                r"$u(-s) \to 0$: $R \to \log(1+\gamma)$, so $\operatorname{logit} FC \to \infty$",
                sp.limit(symbols.u(-x), x, sp.oo),
                0,
            ),
        ),
        "The map is odd in logits, so the other end follows.",
    )


@claim(
    "kk24.prop2_proper_part_sides",
    source="KK24 section 3.2 on Fig. 1",
    statement=r"The proper part is below the focal loss for $q < 1/2$ and above it for $q > 1/2$.",
    chapter=CHAPTER,
)
def prop2_proper_part_sides() -> Evidence:
    """The inverse map moves towards 1/2 (slope above 1), and the loss decreases in q."""
    decreasing = symbols.focal_loss_slope(sp.exp(-x), sp.Symbol("gamma", positive=True))
    g = sp.Symbol("gamma", positive=True)
    bulk = -sp.exp(x) * (1 - sp.exp(-x)) ** (g - 1) * (g * x * sp.exp(-x) + 1 - sp.exp(-x))
    return Derivation(
        (
            *map_slope_steps(),
            step(
                r"$L'(q) = -\frac{(1-q)^{\gamma-1}}{q}(1 - q - \gamma q\log q) < 0$",
                sp.simplify(sp.powsimp(sp.expand(decreasing.subs(sp.log(sp.exp(-x)), -x) - bulk), force=True)),
                0,
            ),
        ),
        "The map is odd in logits with slope above 1, so its inverse moves every q towards 1/2.",
    )
