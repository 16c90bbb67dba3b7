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
# (ch-binary)=
# # Undoing it: two classes
#
# A network was trained with focal loss, $\gamma = 2$, and says 'cat, 63 %'. You need the probability for a decision.
# What did it mean?
#
# **In short:** it meant $p = 0.8$. A fixed increasing function, the *focal calibration map* $\hat p$, leads from what
# the network says to what it has learnt. It depends on $\gamma$ alone, not on data. In logits it is a line with a
# small bend, and for $\gamma > 0$ its slope lies between $\max(1, \gamma)$ and $\gamma + 1$.
#
# :::{admonition} As printed: KK24 Proposition 2
# Binary focal loss $L(q, y)$ can be decomposed into a bijection $\hat p$ of $[0, 1]$ and a proper loss
# $L^*$ with $L^*(q, y) = L(\hat p^{-1}(q), y)$, where
#
# $$
# \begin{aligned}
# &\hat p(q) = 1\Big/\Big(1 + \Big(\frac{1-q}{q}\Big)^\gamma \\
# &\quad\times \frac{(1-q) - \gamma q\log q}{q - \gamma(1-q)\log(1-q)}\Big).
# \end{aligned}
# $$
# :::

# %% tags=["parameters"]
gammas: str = "-0.5, 0.5, 1, 3, 5"  # maps to draw, comma separated

# %% tags=["hide-input"]
import numpy as np
import sympy as sp
from scipy.special import expit, logit

from focal_lib import theory
from focal_lib.plots.style import use_style
from reproduction.ledger import claims_of, proof, show
from reproduction.pages.expected import written_for
from reproduction.pages.footer import foot
from reproduction.pages.notes import note
from reproduction.pages.plots.curves import line_figure
from reproduction.theorems import symbols
from reproduction.theorems.lemmas.binary_map import logit_form_steps, stationarity_steps

use_style()
values = [float(g) for g in gammas.split(",")]
expect = written_for("binary", globals())

# %% [markdown]
# ## By hand
#
# Go back to the cats and dogs of the [last chapter](#ch-focal-loss). The network says $q$ because there its risk
# $p\,L(q) + (1-p)\,L(1-q)$ is lowest. At the lowest point the slope is 0:
#
# $$
# p\,L'(q) = (1-p)\,L'(1-q), \qquad\text{so}\qquad \frac{p}{1-p} = \frac{L'(1-q)}{L'(q)} .
# $$
#
# We know $q$, and $L$ is our own choice. So the right side can be computed, and it is the odds of the truth:


# %%
def slope(q, gamma):
    """The derivative of focal loss, -(1-q)^gamma log q."""
    return gamma * (1 - q) ** (gamma - 1) * np.log(q) - (1 - q) ** gamma / q


says = 0.627
odds = slope(1 - says, 2) / slope(says, 2)
{"odds": round(float(odds), 2), "probability": round(float(odds / (1 + odds)), 2)}

# %% tags=["remove-cell"]
expect(abs(odds / (1 + odds) - 0.8) < 0.002, "'it meant p = 0.8'")

# %% [markdown]
# Four cats to one dog. The network did not forget that; it reports it in its own units, and we have converted them.
# For every $q$ this is the printed map. Sympy carries out both steps, and then the change to logits:

# %% tags=["nbval-check-output", "slow"]
proof([*stationarity_steps(), *logit_form_steps()])

# %%
q = np.linspace(0.001, 0.999, 999)
mapped = {rf"$\gamma = {g:g}$": expit(theory.focal_logit(logit(q), g)) for g in values}

# %% tags=["remove-input"] mystnb={"image": {"alt": "The focal calibration map for several gamma. For positive gamma it is an S through one half, steeper for larger gamma; for a negative gamma that is not close to minus one it lies on the other side of the diagonal."}, "figure": {"name": "fig-binary-map", "caption": "For $\\gamma > 0$ the map moves probabilities away from one half, more so for larger $\\gamma$. A negative $\\gamma$ does the opposite. Counterpart of KK24 Fig. 1, right."}}
line_figure(q, mapped, "what the network says, $q$", r"what is true, $\hat p(q)$", diagonal=True)

# %% [markdown]
# ## In logits it is nearly a line
#
# Networks compute logits, so write $q = 1/(1+e^{-s})$. Then
#
# ```{math}
# :label: eq-binary-logit
# \begin{aligned}
# \operatorname{logit}\hat p(q) &= (\gamma + 1)\,s - R(s), \\
# R(s) &= \log\frac{1 + \gamma u(s)}{1 + \gamma u(-s)}, \\
# u(s) &= e^s\log(1 + e^{-s}),
# \end{aligned}
# ```
#
# where $0 < u < 1$.
#
# * $(\gamma + 1)\,s$ is a line: the logit is multiplied, which makes the network surer.
# * $R(s)$ is the bend. It lies between $-\log(1+\gamma)$ and $\log(1+\gamma)$, so for large logits it hardly matters.
#
# How steep is the whole? The slope is $\gamma + 1 - R'(s)$, and $R'$ is a sum of two positive terms. Bounding them
# gives a statement that the paper does not have, for $\gamma > 0$:
#
# ```{math}
# :label: eq-binary-slope
# \max(1, \gamma) < \frac{d}{ds}\operatorname{logit}\hat p(q) < \gamma + 1.
# ```

# %%
logits = np.linspace(-12, 12, 601)
excess = {rf"$\gamma = {g:g}$": theory.focal_logit_slope(logits, g) - g for g in (0.5, 1.0, 3.0, 10.0)}

# %% tags=["remove-input"] mystnb={"image": {"alt": "Slope of the logit map minus gamma over the logit, for several gamma. All curves lie between zero and one and tend to one at both ends."}, "figure": {"name": "fig-binary-slope", "caption": "Slope of the map in logits, minus $\\gamma$. It stays strictly between $\\max(1,\\gamma) - \\gamma$ and 1, so the map is nearly a line."}}
line_figure(logits, excess, "logit $s$", r"slope $-\; \gamma$", zero=True, ylim=(-0.05, 1.05))

# %% [markdown]
# Three things follow. The slope is positive, so the map is one to one and can be undone. It is above 1, so with two
# classes the map raises confidence, always. And it varies little, so the map is close to multiplying the logit by one
# number, which is what a temperature does. [](#ch-fit) says how close.
#
# In a program, use this form and not the printed one. The printed formula returns a probability, and near 1 double
# precision has no room left:

# %%
printed = sp.lambdify(symbols.q, symbols.binary_map(gamma=2), "numpy")
{s: (float(printed(expit(s))), round(float(theory.focal_logit(s, 2.0)), 2)) for s in (5.0, 12.0, 13.0)}

# %% tags=["remove-cell"]
expect(printed(expit(13.0)) == 1.0 > printed(expit(12.0)), "'at s = 13 it is 1'")

# %% [markdown]
# At $s = 13$ the printed formula gives exactly 1 (left), and how sure the network was is lost. The logit (right) is
# not.
#
# ## What is left is a proper loss
#
# Put the map behind a network that was trained with focal loss, and ask which loss the two together minimise. It is
# $L^*(p) = L(\hat p^{-1}(p))$, the *proper part* of focal loss. It is proper by construction: it is lowest where the
# map of the network's answer is the truth. So focal loss is not proper for what the network says, and proper for what
# the map makes of it.

# %%
two = np.column_stack([q, 1 - q])
losses = {"cross-entropy": -np.log(q)}
for g in (0.5, 3.0):
    losses[rf"focal loss, $\gamma = {g:g}$"] = theory.focal_loss_values(q, g)
    losses[rf"its proper part, $\gamma = {g:g}$"] = theory.proper_focal_loss(two, g)[:, 0]

# %% tags=["remove-input"] mystnb={"image": {"alt": "Loss on a positive instance over predicted probability: cross-entropy, focal loss with gamma 0.5 and 3, and their proper parts. Each proper part crosses its focal loss at one half."}, "figure": {"name": "fig-binary-proper-part", "caption": "The proper part $L^*$ lies below the focal loss for $q < 1/2$ and above it for $q > 1/2$: it asks for more confidence. Counterpart of KK24 Fig. 1, left."}}
line_figure(q, losses, "prediction $q$", "loss", ylim=(0, 3))

# %% [markdown]
# $L^*$ has no closed form, but it is one call to the inverse of the map. Is it proper, with $p = 0.8$?

# %%
risk = theory.conditional_risk(theory.proper_focal_loss(two, 2.0), np.array([0.8, 0.2]))
float(q[risk.argmin()])

# %% tags=["remove-cell"]
expect(abs(q[risk.argmin()] - 0.8) < 2e-3, "the proper part is lowest at the truth")
note("binary", minimiser=float(theory.focal_minimiser([0.8, 0.2], 2.0)[0]))

# %% [markdown]
# :::{admonition} What to remember
# :class: tip
# * The focal calibration map $\hat p$ leads from what a focal network says back to the probability it has learnt. It
#   depends on $\gamma$ alone, not on data: for $\gamma = 2$ it takes {glue:text}`binary-minimiser:.3f` to $p = 0.8$.
# * Seen through the map, focal loss is proper.
# * In logits the map is a line with a small bend. Its slope lies between $\max(1, \gamma)$ and $\gamma + 1$ for
#   $\gamma > 0$, so it is one to one and moves probabilities away from one half.
# * Down to $\gamma = -1$ it remains an increasing bijection; below that the formula is no map.
# * Compute it from logits: the printed formula loses them in double precision.
# :::
#
# ```{exercise}
# :label: ex-binary-limit
# What does the map do to very confident predictions? Find the limit of $\operatorname{logit}\hat p(q) - (\gamma+1)s$
# as $s \to \infty$.
# ```
#
# ```{solution} ex-binary-limit
# :class: dropdown
# $u(s) \to 1$ and $u(-s) \to 0$, so $R(s) \to \log(1+\gamma)$: far out the map is a line of slope
# $\gamma + 1$, shifted by $-\log(1+\gamma)$.
# ```

# %% tags=["remove-input"]
show("kk24.prop2", "kk24.prop2_slope", "kk24.prop2_negative", "kk24.prop2_below")

# %% [markdown]
# Two remarks of the paper need a condition. The partial losses are differentiable inside $(0, 1)$; at its ends they
# have limits. And the shape shown for negative $\gamma$ is that of the values the paper uses, not of those near $-1$.

# %% tags=["remove-input"]
show("kk24.prop2_differentiable", "kk24.negative_inverse_sigmoid", "kk24.negative_confidence_falls")

# %% [markdown]
# In the proof, the sign 'due to convexity' needs one thing more, that the loss is lowest at 1. We could not read the
# formula for the weight of the properness condition; under the reading that the condition needs, it is positive and
# finite.

# %% tags=["remove-input"]
show("kk24.prop2_sign_reason", "kk24.prop2_weight")

# %% tags=["remove-input"]
claims_of("binary")

# %% tags=["remove-input"]
foot("binary", gammas=gammas)
