"""KN24 Lemma 1 and Fig. 1: focal loss against cross-entropy."""

from __future__ import annotations

import sympy as sp

from focal_lib.theory.second_derivative import convexity_factor
from reproduction.ledger.evidence import Derivation, Evidence, Step, Unchecked, derivation, step
from reproduction.ledger.formal import formal
from reproduction.ledger.ledger import Rows
from reproduction.theorems import symbols
from reproduction.theorems.lemmas import curvature, entropy_bound, gain

CHAPTER = "curvature"
quoted = Rows(CHAPTER, "quoted")
ours = Rows(CHAPTER, "ours")
LOST = (
    r"we could not read the formula of Definition 2, 'Focal Loss'; with the exponent $\gamma - 1$ the sentence is true "
    r"(kn24.fig1_other_exponent), with Lin et al.'s $\gamma$ it is not (kn24.fig1_coincide_corrected, kn24.fig1_curvature_diverges)"
)
SMALLER = (
    r"we could not read the formula of Definition 2, 'Focal Loss'. With Lin et al.'s exponent $\gamma$ the sentence is true "
    r"(kn24.fig1_loss_smaller_reading, kn24.fig1_gradient_where), and 'Focal loss coincides with cross-entropy' at $\gamma = 1$ is not; with $\gamma - 1$, which that asks "
    r"for, the two losses are equal at $\gamma = 1$ (kn24.fig1_other_exponent)"
)
q = symbols.q
g = sp.Symbol("gamma", real=True)
r = sp.Symbol("r", positive=True)  # 1 - q


quoted(
    "kn24.lemma1",
    "Focal loss is related to cross-entropy and conditional entropy",
    "KN24 Lemma 1",
    r"'For $\gamma \ge 0$, we have' a relation, which we could not read, 'where' $\mathcal{L}_{CE} = -\sum_y q(y\mid x)\ln p(y\mid x; \theta)$ "
    r"'is the cross-entropy loss and $\mathcal{H}(y\mid x, \theta)$ is the conditional entropy'.",
    lambda: Unchecked(
        "we could not read the formula of Lemma 1; kn24.lemma1_reading proves it as it is most likely meant"
    ),
)

ours(
    "kn24.lemma1_reading",
    "Read as M20's bound, Lemma 1 is true",
    "KN24 Lemma 1, under the reading that it is the bound of M20 App. H",
    r"Under this reading Lemma 1 is true: for $\gamma \ge 0$ focal loss is at least $\mathcal{L}_{CE} - \gamma\,\mathcal{H}(y\mid x, \theta)$.",
    lambda: Derivation(entropy_bound.entropy_bound_steps()),
    formal=formal("equivalent", "m20_app_h"),
)

quoted(
    "kn24.fig1_coincide",
    "Focal loss coincides with cross-entropy at gamma 1",
    "KN24 Fig. 1",
    r"'Focal loss coincides with cross-entropy when $\gamma = 1$.'",
    lambda: Unchecked(LOST),
)


def factor_steps() -> tuple[Step, ...]:
    """FL/CE = (1-p)^gamma is 1 for gamma = 0, below 1 for gamma > 0 and above it for gamma < 0."""
    return (
        step(r"$\gamma = 0$", (symbols.focal_loss(q, 0), -sp.log(q))),
        step(
            r"$\partial_\gamma\frac{\mathrm{FL}}{\mathrm{CE}} = (1-p)^\gamma\log(1-p) < 0$: below 1 for $\gamma > 0$, above it for $\gamma < 0$",
            (sp.diff(symbols.focal_loss(q, g) / -sp.log(q), g), (1 - q) ** g * sp.log(1 - q)),
        ),
    )


ours(
    "kn24.fig1_coincide_corrected",
    "Focal loss coincides with cross-entropy exactly at gamma 0",
    "KN24 Fig. 1, read with Lin et al.'s exponent gamma",
    r"The loss $-(1-p)^\gamma\log p$ coincides with cross-entropy exactly when $\gamma = 0$.",
    lambda: Derivation(factor_steps()),
    formal=formal("exact", "kn24_coincide"),
)


@ours(
    "kn24.fig1_other_exponent",
    "With exponent gamma - 1 the caption would be mostly right",
    "KN24 Fig. 1, read with an exponent of gamma - 1",
    r"Were the loss $-(1-p)^{\gamma-1}\log p$, the first two of the caption's three assertions would be right: it is cross-entropy at $\gamma = 1$, "
    r"and for $0 < \gamma < 1$ its gradient diverges as $p \to 1$. (The third, for $\gamma \ge 1$, would not be at $\gamma = 1$, where the two are equal.)",
)
def fig1_other_exponent() -> Evidence:
    """The focal loss of gamma - 1; its slope behaves like -gamma (1-p)^(gamma-1)."""
    a = sp.Symbol("alpha", positive=True)  # 1 - gamma
    shifted = symbols.focal_loss(q, g - 1)
    scaled = sp.expand(sp.diff(shifted, q).subs(q, 1 - r) / r ** (g - 1))
    return derivation(
        step(r"$\gamma = 1$: $-\log p$", (shifted.subs(g, 1), -sp.log(q))),
        step(
            r"its slope over $r^{\gamma-1}$, $r = 1-p$, tends to $-\gamma$",
            (sp.limit(sp.simplify(scaled), r, 0, "+"), -g),
        ),
        step(r"and $r^{\gamma-1} \to \infty$ for $\gamma < 1$", (1 / sp.limit(r ** (-a), r, 0, "+"), 0)),
    )


quoted(
    "kn24.fig1_loss_smaller",
    "For gamma from 1 on, confident samples have the smaller loss",
    "KN24 Fig. 1",
    r"'When $\gamma \ge 1$, the' 'loss for well-classified samples ($p$ close to 1)' is 'smaller than' that 'for cross-entropy'.",
    lambda: Unchecked(SMALLER),
)

ours(
    "kn24.fig1_loss_smaller_reading",
    "Focal loss is below cross-entropy for every gamma above 0",
    "KN24 Fig. 1, read with Lin et al.'s exponent gamma",
    r"For every $\gamma > 0$ and $0 < p < 1$ the loss $-(1-p)^\gamma\log p$ is smaller than cross-entropy. (With the exponent "
    r"$\gamma - 1$ it would be so for $\gamma > 1$, and equal at $\gamma = 1$.)",
    lambda: derivation(
        step(
            r"$\mathrm{CE} - \mathrm{FL} = (1-(1-p)^\gamma)(-\log p) > 0$",
            (-sp.log(q) - symbols.focal_loss(q, g), (1 - (1 - q) ** g) * -sp.log(q)),
        ),
        *factor_steps(),
        remark=r"No $\gamma \ge 1$ and no $p$ near 1 is needed. The same for $\gamma - 1$: the factor is $(1-p)^{\gamma-1}$, below 1 for "
        r"$\gamma > 1$, and 1 at $\gamma = 1$.",
    ),
    formal=formal("exact", "kn24_loss_smaller", "kn24_coincide"),
)


def gradient_ratio_steps() -> tuple[Step, ...]:
    """L' over that of cross-entropy is g, which rises from 1, then falls to 0."""
    return (gain.of_loss_step(r"$L'/(-\frac1p) = g$", g), *gain.threshold_steps())


quoted(
    "kn24.fig1_gradient_smaller",
    "For gamma from 1 on, confident samples have the smaller gradient",
    "KN24 Fig. 1",
    r"'When $\gamma \ge 1$, the gradient' 'for well-classified samples ($p$ close to 1)' is 'smaller than' that 'for cross-entropy'.",
    lambda: Unchecked(SMALLER),
)

ours(
    "kn24.fig1_gradient_where",
    "The focal gradient is smaller exactly above a threshold below one half",
    "KN24 Fig. 1, read with Lin et al.'s exponent gamma, how close to 1",
    r"For every $\gamma > 0$ the gradient of $-(1-p)^\gamma\log p$ is smaller than that of cross-entropy for $p > \tau(\gamma)$, where $\tau < \frac12$, and larger for "
    r"$0 < p < \tau(\gamma)$.",
    lambda: derivation(*gradient_ratio_steps(), gain.at_half_step()),
    formal=formal("exact", "kn24_gradient_where"),
)

quoted(
    "kn24.fig1_gradient_diverges",
    "For gamma below 1 the gradient does not converge",
    "KN24 Fig. 1",
    r"'For $0 < \gamma < 1$, as shown in the right figure, the gradient does not converge' [as $p \to 1$].",
    lambda: Unchecked(LOST),
    in_readme=True,
    instead="the loss is not legible: true with the exponent gamma - 1; with gamma the second derivative diverges",
)


@ours(
    "kn24.fig1_curvature_diverges",
    "For gamma below 1 the curvature diverges, the gradient tends to 0",
    "KN24 Fig. 1, read with Lin et al.'s exponent gamma",
    r"With the loss $-(1-p)^\gamma\log p$, $0 < \gamma < 1$, the gradient tends to 0 as $p \to 1$; the second derivative diverges, like $\gamma(1+\gamma)(1-p)^{\gamma-1}$.",
)
def fig1_curvature_diverges() -> Evidence:
    """L'' / (1-p)^(gamma-1) -> gamma (1+gamma)."""
    a = sp.Symbol("alpha", positive=True)  # 1 - gamma
    scaled = convexity_factor(1 - r, g, sp.log) / r
    return derivation(
        *curvature.gradient_limit_steps(),
        *curvature.convexity_proof().steps[:1],
        step(r"$L'' / r^{\gamma-1} \to \gamma(1+\gamma)$", (sp.limit(sp.simplify(scaled), r, 0, "+"), g * (1 + g))),
        step(r"and $r^{\gamma-1} \to \infty$ for $\gamma < 1$", (1 / sp.limit(r ** (-a), r, 0, "+"), 0)),
    )
