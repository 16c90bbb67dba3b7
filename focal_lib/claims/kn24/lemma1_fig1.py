"""KN24 Lemma 1 and Fig. 1: focal loss against cross-entropy."""

from __future__ import annotations

import sympy as sp

from focal_lib.claims.evidence import Conditional, Counterexample, Derivation, Disproof, Evidence, Step, step
from focal_lib.claims.ledger import claim
from focal_lib.claims.lemmas.curvature import convexity_proof
from focal_lib.claims.lemmas.entropy_bound import entropy_bound_steps
from focal_lib.claims.lemmas.gradient_limit import gradient_limit_steps
from focal_lib.claims.lemmas.threshold import threshold_steps
from focal_lib.theory import symbols
from focal_lib.theory.certificates import balls, formulas
from focal_lib.theory.second_derivative import convexity_factor

CHAPTER = "11_curvature"
q = symbols.q
g = sp.Symbol("gamma", positive=True)
r = sp.Symbol("r", positive=True)  # 1 - q


@claim(
    "kn24.lemma1",
    source="KN24 Lemma 1",
    statement=r"For $\gamma \ge 0$ focal loss is at least $\mathcal{L}_{CE} - \gamma\,\mathcal{H}(y\mid x, \theta)$. (The formula is missing from "
    r"the text at hand; this is the bound of M20 App. H.)",
    chapter=CHAPTER,
)
def lemma1() -> Evidence:
    """The proof for every gamma >= 0 and every label distribution."""
    return Derivation(entropy_bound_steps())


@claim(
    "kn24.fig1_coincide",
    source="KN24 Fig. 1",
    statement=r"Focal loss coincides with cross-entropy when $\gamma = 1$.",
    chapter=CHAPTER,
)
def fig1_coincide() -> Evidence:
    """At p = 1/2 the losses are log 2 / 2 and log 2."""
    with balls.precision():
        return Counterexample(r"$p = \frac12$: $\frac12\log2 < \log2$", balls.exact(2).log() / 2)


def factor_steps() -> tuple[Step, ...]:
    """(1-p)^gamma is 1 for gamma = 0 and below 1 for gamma > 0."""
    return (
        step(r"$\gamma = 0$", symbols.focal_loss(q, 0), -sp.log(q)),
        step(
            r"$\partial_\gamma(1-p)^\gamma = (1-p)^\gamma\log(1-p) < 0$: below 1 for $\gamma > 0$",
            sp.diff((1 - q) ** g, g),
            (1 - q) ** g * sp.log(1 - q),
        ),
    )


@claim(
    "kn24.fig1_coincide_corrected",
    source="KN24 Fig. 1, corrected",
    statement=r"It coincides with cross-entropy exactly when $\gamma = 0$.",
    chapter=CHAPTER,
    corrects="kn24.fig1_coincide",
)
def fig1_coincide_corrected() -> Evidence:
    """The factor (1-p)^gamma."""
    return Derivation(factor_steps())


@claim(
    "kn24.fig1_loss_smaller",
    source="KN24 Fig. 1",
    statement=r"When $\gamma \ge 1$ the loss of well-classified samples is smaller than cross-entropy.",
    chapter=CHAPTER,
)
def fig1_loss_smaller() -> Evidence:
    """For every gamma > 0 and every p: CE - FL = (1 - (1-p)^gamma)(-log p)."""
    return Derivation(
        (
            step(
                r"$\mathrm{CE} - \mathrm{FL} = (1-(1-p)^\gamma)(-\log p) > 0$",
                -sp.log(q) - symbols.focal_loss(q, g),
                (1 - (1 - q) ** g) * -sp.log(q),
            ),
            *factor_steps(),
        ),
        r"No $\gamma \ge 1$ and no $p$ near 1 is needed.",
    )


@claim(
    "kn24.fig1_gradient_smaller",
    source="KN24 Fig. 1",
    statement=r"When $\gamma \ge 1$ the gradient is smaller than that of cross-entropy.",
    chapter=CHAPTER,
)
def fig1_gradient_smaller() -> Evidence:
    """The ratio is g: below 1 exactly above tau(gamma)."""
    with balls.precision():
        margin = formulas.gain(balls.exact("1/10"), balls.exact(1)) - 1
    ratio = symbols.focal_loss_slope(q, g) / (-1 / q)
    inside = Derivation(
        (
            step(
                r"$L'/(-\frac1p) = g$",
                sp.expand(ratio / (1 - q) ** (g - 1)),
                sp.expand(symbols.gain(q, g) / (1 - q) ** (g - 1)),
                lambda e: sp.simplify(sp.powsimp(e, force=True)),
            ),
            *threshold_steps(),
        )
    )
    return Conditional(r"$p > \tau(\gamma)$", inside, Counterexample(r"$\gamma = 1$, $p = 0.1$: $g > 1$", margin))


@claim(
    "kn24.fig1_gradient_diverges",
    source="KN24 Fig. 1",
    statement=r"For $0 < \gamma < 1$ the gradient does not converge (as $p \to 1$).",
    chapter=CHAPTER,
    headline="for gamma < 1 the gradient diverges",
    instead="the second derivative does",
)
def fig1_gradient_diverges() -> Evidence:
    """It converges to 0 for every gamma > 0."""
    return Disproof(Derivation(gradient_limit_steps()))


@claim(
    "kn24.fig1_curvature_diverges",
    source="KN24 Fig. 1, corrected",
    statement=r"For $0 < \gamma < 1$ the gradient tends to 0 as $p \to 1$; the second derivative diverges, like $\gamma(1+\gamma)(1-p)^{\gamma-1}$.",
    chapter=CHAPTER,
    corrects="kn24.fig1_gradient_diverges",
)
def fig1_curvature_diverges() -> Evidence:
    """L'' / (1-p)^(gamma-1) -> gamma (1+gamma)."""
    a = sp.Symbol("alpha", positive=True)  # 1 - gamma
    scaled = convexity_factor(1 - r, g, sp.log) / r
    return Derivation(
        (
            *gradient_limit_steps(),
            *convexity_proof().steps[:1],
            step(
                r"$L'' / r^{\gamma-1} \to \gamma(1+\gamma)$",
                sp.limit(sp.simplify(scaled), r, 0, "+"),
                g * (1 + g),
            ),
            step(r"and $r^{\gamma-1} \to \infty$ for $\gamma < 1$", 1 / sp.limit(r ** (-a), r, 0, "+"), 0),
        )
    )
