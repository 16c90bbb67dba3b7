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
# # Focal loss with two classes: a proper loss after a map
#
# **The question.** A network that minimises focal loss does not report its true probabilities. What
# exactly does it report instead, and can it be undone? **In short:** it reports $\hat p^{-1}(p)$ for a
# fixed increasing map $\hat p$, so focal loss is a proper loss seen through $\hat p$. In logits the map is
# a line with a small bend, and for $\gamma > 0$ its slope lies between $\max(1, \gamma)$ and $\gamma + 1$.
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
true_probability: float = 0.8  # p of the conditional risks, not one half; in (0, 1)

# %% tags=["hide-input"]
import numpy as np
import pandas as pd
import sympy as sp

from focal_lib import theory
from focal_lib.plots.style import use_style
from reproduction.ledger import claims_of, proof, show
from reproduction.pages.explore import explore
from reproduction.pages.footer import foot
from reproduction.pages.notes import note
from reproduction.pages.plots.curves import line_figure
from reproduction.pages.tables import captioned
from reproduction.theorems import symbols
from reproduction.theorems.lemmas.binary_map import logit_form_steps, stationarity_steps

use_style()
values = [float(g) for g in gammas.split(",")]

# %% [markdown]
# ## Where the map comes from
#
# At a point where the positive class has probability $p$, the conditional risk is
# $\mathcal R(q) = pL(q) + (1-p)L(1-q)$. It is stationary where $(1-p)/p = L'(q)/L'(1-q)$: those odds, solved
# for $p$, are the printed map. Sympy carries both steps out, and then the change to logits.

# %% tags=["nbval-check-output", "slow"]
proof([*stationarity_steps(), *logit_form_steps()])

# %% [markdown]
# Write $FC(s)$ for the map as a function of the logit $s$ of $q$, $FC(s) = \hat p\big(1/(1+e^{-s})\big)$. Then
#
# ```{math}
# :label: eq-binary-logit
# \begin{aligned}
# \operatorname{logit} FC(s) &= (\gamma + 1)\,s - R(s), \\
# R(s) &= \log\frac{1 + \gamma u(s)}{1 + \gamma u(-s)}, \\
# u(s) &= e^s\log(1 + e^{-s}),
# \end{aligned}
# ```
#
# where $0 < u < 1$. This form is exact at every logit. The printed formula returns a probability, and near 1 double
# precision is too coarse for it:

# %%
printed = sp.lambdify(symbols.q, symbols.binary_map(gamma=2), "numpy")
grid = np.arange(0, 40, 0.01)
with np.errstate(all="ignore"):
    value = pd.Series(printed(1 / (1 + np.exp(-grid))), index=grid)

# %% tags=["hide-input"]
chosen = [5.0, 12.0, 13.0, 36.0, 37.0]
columns = {"logit": chosen, "printed formula": np.interp(chosen, grid, value)}
table = pd.DataFrame(columns | {"exact logit": theory.focal_logit(chosen, 2.0)})
formats = {"logit": "{:g}", "printed formula": "{:.16f}", "exact logit": "{:.6f}"}
captioned(table, "The map with gamma = 2 in double precision", index=False).format(formats, na_rep="not a number")

# %% tags=["remove-input"]
note("binary", one_from=float(value.index[value == 1][0]), nan_from=float(value.index[value.isna()][0]))

# %% [markdown]
# With $\gamma = 2$ it rounds to 1 from $s =$ {glue:text}`binary-one-from:.2f` on, so that the logit is lost, and from
# $s =$ {glue:text}`binary-nan-from:.2f` on, where $q$ itself rounds to 1, it gives no number (nan).

# %% [markdown]
# ## The map and its inverse

# %%
q = np.linspace(0.001, 0.999, 999)
s = np.log(q / (1 - q))
mapped = {rf"$\gamma = {g:g}$": 1 / (1 + np.exp(-theory.focal_logit(s, g))) for g in values}

# %% tags=["remove-input"] mystnb={"image": {"alt": "The focal calibration map for several gamma. For positive gamma it is an S through one half, steeper for larger gamma; for a negative gamma that is not close to minus one it lies on the other side of the diagonal."}, "figure": {"name": "fig-binary-map", "caption": "The binary focal calibration map. Counterpart of KK24 Fig. 1, right."}}
line_figure(q, mapped, "model probability $q$", r"calibrated probability $\hat p(q)$", diagonal=True)

# %% [markdown]
# The S looks like temperature scaling, and nearly is ([](#ch-fit) says how nearly, for more classes, too):

# %% tags=["remove-input"]
explore("binary")

# %% [markdown]
# ## The proper part
#
# $L^*$ has no closed form, but it is one call to the inverse map. Since the map moves probabilities
# away from one half for $\gamma > 0$, $L^*$ lies below the focal loss for $q < 1/2$ and above it for $q > 1/2$.

# %%
two = np.column_stack([q, 1 - q])
losses = {"cross-entropy": -np.log(q)}
for g in (0.5, 3.0):
    losses[rf"focal loss, $\gamma = {g:g}$"] = theory.focal_loss_values(q, g)
    losses[rf"its proper part, $\gamma = {g:g}$"] = theory.proper_focal_loss(two, g)[:, 0]

# %% tags=["remove-input"] mystnb={"image": {"alt": "Loss on a positive instance over predicted probability: cross-entropy, focal loss with gamma 0.5 and 3, and their proper parts. Each proper part crosses its focal loss at one half."}, "figure": {"name": "fig-binary-proper-part", "caption": "The proper part $L^*$ against the focal loss and cross-entropy, on a positive instance. Counterpart of KK24 Fig. 1, left."}}
line_figure(q, losses, "prediction $q$", "loss", ylim=(0, 3))

# %% [markdown]
# ## Properness, seen on the risk
#
# A proper loss is minimal at the true probability, here $p =$ {glue:text}`binary-p:g`. The focal loss with
# $\gamma = 2$ is minimal nearer one half.

# %%
p = np.array([true_probability, 1 - true_probability])
risk = {
    "cross-entropy": theory.conditional_risk(theory.focal_loss_values(two, 0.0), p),
    r"focal loss, $\gamma = 2$": theory.conditional_risk(theory.focal_loss_values(two, 2.0), p),
    r"proper part, $\gamma = 2$": theory.conditional_risk(theory.proper_focal_loss(two, 2.0), p),
}
risk = {name: value - value.min() for name, value in risk.items()}

# %% tags=["remove-input"]
minimum = {name: float(q[value.argmin()]) for name, value in risk.items()}
for key, value in zip(("ce", "focal", "proper"), minimum.values(), strict=True):
    note("binary", {f"minimum-{key}": value})
exact, example = theory.focal_minimiser([p, [0.8, 0.2]], 2.0)[:, 0]
note("binary", p=true_probability, minimiser=float(exact), minimiser_printed=float(example))

# %% tags=["remove-input"] mystnb={"image": {"alt": "Conditional risk above its minimum over the prediction. Cross-entropy and the proper part touch zero at the true probability, the focal loss nearer one half."}, "figure": {"name": "fig-binary-risk", "caption": "Conditional risk above its minimum. Cross-entropy and the proper part are minimal at the true probability, the focal loss is not."}}
line_figure(q, risk, "prediction $q$", "risk above the minimum", ylim=(0, 0.25))

# %% [markdown]
# On this grid the minima lie at {glue:text}`binary-minimum-ce:.3f` (cross-entropy),
# {glue:text}`binary-minimum-focal:.3f` (focal) and {glue:text}`binary-minimum-proper:.3f` (proper part).
# The exact focal minimiser is {glue:text}`binary-minimiser:.7f`. For $p = 0.8$ it is
# {glue:text}`binary-minimiser-printed:.4f`; {cite:t}`kk24` say 'around 0.62'.
#
# ## How steep is the map?
#
# From {eq}`eq-binary-logit` the slope is $\gamma + 1 - R'(s)$, and $R'$ is a sum of two positive terms. Bounding
# them in two ways gives a statement that the paper does not have, for $\gamma > 0$:
#
# ```{math}
# :label: eq-binary-slope
# \begin{aligned}
# \max(1, \gamma) &< \frac{d}{ds}\operatorname{logit} FC(s) \\
# &< \gamma + 1.
# \end{aligned}
# ```
#
# For these $\gamma$ everything about two classes follows: the map is one to one, it raises confidence, and it lies
# between two temperatures ([](#ch-bounds)).

# %%
logits = np.linspace(-12, 12, 601)
excess = {rf"$\gamma = {g:g}$": theory.focal_logit_slope(logits, g) - g for g in (0.5, 1.0, 3.0, 10.0)}

# %% tags=["remove-input"] mystnb={"image": {"alt": "Slope of the logit map minus gamma over the logit, for several gamma. All curves lie between zero and one and tend to one at both ends."}, "figure": {"name": "fig-binary-slope", "caption": "Slope of the map in logits, minus $\\gamma$. It stays strictly between $\\max(1,\\gamma) - \\gamma$ and 1."}}
line_figure(logits, excess, "logit $s$", r"slope $-\; \gamma$", zero=True, ylim=(-0.05, 1.05))

# %% [markdown]
# ```{exercise}
# :label: ex-binary-limit
# What does the map do to very confident predictions? Find the limit of $\operatorname{logit} FC(s) - (\gamma+1)s$
# as $s \to \infty$.
# ```
#
# ```{solution} ex-binary-limit
# :class: dropdown
# $u(s) \to 1$ and $u(-s) \to 0$, so $R(s) \to \log(1+\gamma)$: far out the map is a line of slope
# $\gamma + 1$, shifted by $-\log(1+\gamma)$.
# ```
#
# :::{admonition} What to remember
# :class: tip
# * Where the mean of focal loss is least, the prediction is not the true probability, but a $q$ nearer to one half
#   ($\gamma > 0$, and $p$ none of 0, $\frac12$, 1): for $p = 0.8$ and $\gamma = 2$ it is
#   {glue:text}`binary-minimiser-printed:.4f`.
# * The focal calibration map $\hat p$ leads from $q$ back to $p$. It depends on $\gamma$ alone, not on data, and seen
#   through it focal loss is proper.
# * In logits the map is a line with a small bend. Its slope lies between $\max(1, \gamma)$ and $\gamma + 1$ for
#   $\gamma > 0$, so it is one to one and moves probabilities away from one half.
# * Down to $\gamma = -1$ it remains an increasing bijection; below that the formula is no map.
# * Compute it from logits: the printed formula loses them in double precision, with $\gamma = 2$ from
#   $s =$ {glue:text}`binary-one-from:.2f` on.
# :::
#
# ## Verdict

# %% tags=["remove-input"]
show("kk24.prop2", "kk24.prop2_slope", "kk24.minimiser")

# %% [markdown]
# One remark of the paper holds with a condition: that the partial losses are differentiable holds inside $(0, 1)$, not
# at the ends, which are limits. The shape of the map for negative $\gamma$ is that of those the paper uses, not that of
# the most negative ones. It is a map at all only for $\gamma \ge -1$.

# %% tags=["remove-input"]
show("kk24.prop2_differentiable", "kk24.negative_inverse_sigmoid", "kk24.negative_confidence_falls")

# %% tags=["remove-input"]
show("kk24.prop2_negative", "kk24.prop2_below")

# %% [markdown]
# Two more steps of the proof. The sign 'due to convexity' needs one thing besides, that the loss is least at 1;
# and the weight of the properness condition, whose formula is damaged in the text at hand, is positive and
# finite under the reading that the condition asks for.

# %% tags=["remove-input"]
show("kk24.prop2_sign_reason", "kk24.prop2_weight")

# %% tags=["remove-input"]
claims_of("binary")

# %% tags=["remove-input"]
foot("binary", gammas=gammas, true_probability=true_probability)
