# ---
# jupyter:
#   jupytext:
#     cell_metadata_filter: tags,mystnb,-all
#     text_representation:
#       extension: .py
#       format_name: percent
#   kernelspec:
#     display_name: Python 3
#     language: python
#     name: python3
# ---

# %% [markdown]
# (ch-convexity)=
# # Is the focal loss convex?
#
# **The question.** Cross-entropy is convex in the predicted probability. Does multiplying it by
# $(1-q)^\gamma$ keep it so? {cite:t}`kk24` prove it for $\gamma \ge 0$, then also use negative $\gamma$
# for calibration. **In short:** the proposition is true, with nothing to add; for $-1 < \gamma < 0$ it
# is false near $q = 1$, and the point where it breaks can be computed.
#
# :::{admonition} As printed: KK24 Proposition 1
# Focal loss is convex with respect to the first (prediction) argument for all $\gamma \ge 0$.
# :::

# %% tags=["parameters"]
gammas: str = "-0.5, 0, 0.5, 1, 2, 5"  # curves to draw, comma separated

# %% tags=["hide-input"]
import numpy as np
import sympy as sp

from focal_lib import theory
from focal_lib.plots.style import use_style
from reproduction.ledger import claims_of, proof, show
from reproduction.pages.footer import foot
from reproduction.pages.notes import note
from reproduction.pages.plots.curves import line_figure
from reproduction.theorems import symbols
from reproduction.theorems.lemmas.curvature import convexity_proof

use_style()

# %% [markdown]
# ## Derivation
#
# Sympy differentiates the loss twice, takes out $(1-q)^{\gamma-2}$ and sorts by powers of $\gamma$:

# %%
q, gamma = symbols.q, symbols.gamma
second = sp.diff(symbols.focal_loss(), q, 2)
bracket = sp.powsimp(sp.expand(second * (1 - q) ** (2 - gamma)))
sp.collect(sp.expand(bracket), gamma, sp.factor)

# %% [markdown]
# This is the bracket of
#
# ```{math}
# :label: eq-convexity-second
# \begin{aligned}
# L''(q) = (1-q)^{\gamma-2}\Big[&\gamma^2(-\log q) \\
# &+ \gamma\Big(\frac{2(1-q)}{q} + \log q\Big) \\
# &+ \Big(\frac{1-q}{q}\Big)^2\Big].
# \end{aligned}
# ```
#
# The outer coefficients are plainly non-negative. The middle one is $c(q)/q$ with
# $c(q) = 2 - 2q + q\log q$, which falls to $c(1) = 0$. Each step, carried out:

# %% tags=["nbval-check-output"]
proof(convexity_proof())

# %% [markdown]
# For several classes the loss of a one-hot label involves one probability only, so the Hessian is
# diagonal with the entries $y_i L''(q_i)$: positive semi-definite.
#
# ## Picture

# %%
values = [float(g) for g in gammas.split(",")]
grid = np.linspace(0.02, 0.995, 600)
scaled = {rf"$\gamma = {g:g}$": grid**2 * theory.second_derivative(grid, g) for g in values}

# %% tags=["remove-input"] mystnb={"image": {"alt": "Curves of q squared times the second derivative of the focal loss over q. For gamma zero or more all stay above zero; for gamma minus one half the curve crosses zero and falls."}, "figure": {"name": "fig-convexity-second", "caption": "Second derivative of the focal loss, times $q^2$ so that cross-entropy is the constant 1. For $\\gamma \\ge 0$ it does not cross zero, for $-1 < \\gamma < 0$ it does."}}
line_figure(grid, scaled, "predicted probability $q$", "$q^2 L''(q)$", zero=True, ylim=(-1.5, 3))

# %% [markdown]
# ## What happens for negative gamma
#
# At $q \to 1$ the bracket of {eq}`eq-convexity-second` behaves like $\gamma(\gamma+1)(1-q)$, which is
# negative for $-1 < \gamma < 0$. The loss is then concave above one point.

# %% tags=["remove-input"]
for name, g in (("quarter", -0.25), ("half", -0.5)):
    note("convexity", {f"limit-{name}": theory.convexity_limit(g)})

# %% [markdown]
# It is concave above $q =$ {glue:text}`convexity-limit-quarter:.4f` for $\gamma = -0.25$ and above
# $q =$ {glue:text}`convexity-limit-half:.4f` for $\gamma = -0.5$. Those are values that
# {cite:t}`kk24` use for calibration. They train with non-negative $\gamma$ only, so nothing in their
# experiments breaks, but the properness argument of [](#ch-simplex) cannot lean on convexity there.
#
# ```{exercise}
# :label: ex-convexity-sum
# A loss need not be convex for its conditional risk to have one minimum. Show that for two classes
# and $-1 < \gamma < 0$ the risk $pL(q) + (1-p)L(1-q)$ still has exactly one stationary point.
# ```
#
# ```{solution} ex-convexity-sum
# :class: dropdown
# With the map $\hat p$ and $R$ of [](#ch-binary): stationary points are the $q$ with $\hat p(q) = p$. The logit of
# $\hat p$ has slope $\gamma + 1 - R'(s)$, and for $\gamma < 0$ both terms of $R'$ are negative, so the slope exceeds
# $\gamma + 1 > 0$: the map is one to one.
# ```
#
# :::{admonition} What to remember
# :class: tip
# * For every $\gamma \ge 0$ focal loss is convex in the probability of the true class, as cross-entropy is; for several
#   classes it is so in the vector of probabilities.
# * For $-1 < \gamma < 0$, which is used for calibration and not for training, it is concave near $q = 1$: for
#   $\gamma = -0.5$ from $q =$ {glue:text}`convexity-limit-half:.4f` on.
# * A conditional risk can have one minimum without convexity: with two classes it does for $-1 < \gamma < 0$, too.
# :::
#
# ## Verdict

# %% tags=["remove-input"]
show("kk24.prop1", "kk24.prop1_multiclass", "kk24.prop1_negative")

# %% tags=["remove-input"]
claims_of("convexity")

# %% tags=["remove-input"]
foot("convexity", gammas=gammas)
