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
# (ch-gradient)=
# # Which gamma, and what does it do to the gradient?
#
# **The question.** {cite:t}`m20` explain the calibration of focal loss by one factor: the gradient is that of
# cross-entropy times $g(q, \gamma)$. They choose $\gamma$ for a sample by where $g$ crosses 1, and bound the loss by
# an entropy. What of this holds? **In short:** the identity, the shape of $g$ and the Lambert formula hold, of the
# last one clause for thresholds below one half only; the entropy bound holds for every $\gamma$, more than was proved.
# 'Always higher entropy' is true for two classes, of which it is said, and no optimiser gets stuck at a locally best
# temperature.
#
# :::{admonition} As printed: M20 Propositions 1 and 2
# $\frac{\partial L_f}{\partial w} = \frac{\partial L_c}{\partial w}\,g(p, \gamma)$ with
# $g(p, \gamma) = (1-p)^\gamma - \gamma p(1-p)^{\gamma-1}\log p$. For $p \ge p_0$, $g(p, \gamma) \le 1$ for all
# $\gamma \ge \gamma^* = \frac ab + \frac1{\log a}W_{-1}\big(-\frac{a^{1-a/b}}{b}\log a\big)$, where $a = 1 - p_0$,
# $b = p_0\log p_0$.
# :::
#
# What M20 call $p$, the probability that the network gives to the true class, is $q$ in this book. Their Appendix G, on
# a linear model whose data have known probabilities, has a chapter of its own, {ref}`ch-simple`.

# %% tags=["parameters"]
p0: float = 0.25  # threshold whose gamma is computed; in (0, 1)
gammas: str = "1, 2, 3, 5, 7"  # curves to draw, comma separated

# %% tags=["hide-input"]
import numpy as np
import pandas as pd
import sympy as sp

from focal_lib import theory
from focal_lib.losses import FLSD53
from focal_lib.plots.style import use_style
from reproduction.ledger import claims_of, proof, show
from reproduction.ledger.verdicts import expect_verdict
from reproduction.pages.footer import foot
from reproduction.pages.notes import note
from reproduction.pages.plots.curves import line_figure
from reproduction.pages.tables import captioned
from reproduction.theorems import symbols
from reproduction.theorems.lemmas.entropy_bound import entropy_bound_steps

use_style()
values = [float(g) for g in gammas.split(",")]

# %% [markdown]
# ## The factor
#
# Both losses reach the weights through the probability $q$ of the true class alone, so their gradients differ by
# the ratio of their derivatives in $q$. Sympy takes it, without the power of $1 - q$:

# %%
q, gamma = symbols.q, symbols.gamma
ratio = sp.diff(symbols.focal_loss(), q) / sp.diff(-sp.log(q), q)
sp.powsimp(sp.expand(ratio / (1 - q) ** gamma))

# %% [markdown]
# Times $(1-q)^\gamma$ this is
#
# ```{math}
# :label: eq-gradient-factor
# g(q, \gamma) = (1-q)^\gamma\Big(1 + \gamma\,\frac{-q\log q}{1-q}\Big),
# ```
#
# the same $g$ that defines the calibration map, $w = q/g$ in [](#ch-simplex). Its logarithm has a derivative with the
# sign of $k(q, \gamma) = \frac{2(1-q)}{\log q} + 1 - \gamma q$, which decreases from 1 to $-(1+\gamma)$: $g$ rises
# from 1, turns once at $p^*(\gamma)$, and falls to 0. So it crosses 1 once, at the $\tau(\gamma)$ of
# [](#ch-confidence).

# %%
grid = np.linspace(1e-4, 1 - 1e-6, 800)
curves = {rf"$\gamma = {g:g}$": np.exp([theory.log_gain(v, g) for v in grid]) for g in values}
curves["cross-entropy"] = np.ones_like(grid)

# %% tags=["remove-input"] mystnb={"image": {"alt": "The factor g over q for several gamma. Each curve starts at one, rises to a maximum below q of one fifth, crosses one again before one half and falls to zero; larger gamma falls earlier."}, "figure": {"name": "fig-gradient-factor", "caption": "Gradient of focal loss over that of cross-entropy. Counterpart of M20 Fig. 4 (a)."}}
line_figure(grid, curves, "probability $q$ of the true class", "$g(q, \\gamma)$")

# %% [markdown]
# At $q = \frac12$ and $\gamma = 7$ the factor is {glue:text}`gradient-half-seven:.3f`, 'nearly 0' as M20 write. From
# $q = \frac12$ on a larger $\gamma$ always gives a smaller factor. One remark in the proof holds for $\gamma \le 1$
# only: that $\partial_q g$ decreases throughout. For larger $\gamma$ it returns to 0 at $q = 1$. The proof needs its
# sign alone.

# %% tags=["remove-input"]
show("m20.g_slope_decreasing")

# %% [markdown]
# ## A gamma for a threshold
#
# Setting $g(p_0, \gamma) = 1$ and $\gamma = \frac ab + \frac{W}{\log a}$ turns the equation into
# $We^W = -\frac1b a^{1-a/b}\log a$. One solution is known in advance: $\gamma = 0$, that is
# $W = y_0 = -\frac{a\log a}{b}$. For $p_0 < \frac12$, $y_0 > -1$ lies on the principal branch, which therefore
# returns cross-entropy, and $W_{-1}$ returns the one positive root. For $p_0 \ge \frac12$ the roles change,
# $\gamma^* = 0$, and there is nothing to regularise: every $\gamma > 0$ has $g < 1$ there. The negative value that the
# paper says the principal branch yields is what it yields for $p_0 > \frac12$.

# %% tags=["remove-input"]
note(
    "gradient",
    {
        "half-seven": float(np.exp(theory.log_gain(0.5, 7))),
        "p0": p0,
        "lambert": theory.lambert_gamma(p0),
        "019": float(np.exp(theory.log_gain(0.19, 5))),
        "tau-five": theory.confidence_threshold(5),
        "tau-three": theory.confidence_threshold(3),
    },
)

# %% tags=["hide-input"]
table = pd.DataFrame({"p0": [0.05, 0.1, 0.19, 0.2, 0.25, 0.3, 0.4, 0.5]})
table["gamma*"] = [theory.lambert_gamma(v) for v in table["p0"]]
captioned(table, "The gamma with g(p0) = 1", precision=6, index=False).format("{:g}", subset="p0")

# %% [markdown]
# For $p_0 =$ {glue:text}`gradient-p0:g` it is $\gamma^* =$ {glue:text}`gradient-lambert:.6f`. For
# $p_0 < \frac12$ the function is the inverse of $\tau$, and at $p_0 = \frac1{n-1}$ it is the sharp condition of
# Proposition 5 for $n$ classes ([](#ch-confidence)): two papers, one curve.
#
# ## The sample-dependent policy
#
# ```{index} ! FLSD-53
# ```
#
# FLSD-53 takes $\gamma = 5$ for a small probability $q_y$ of the true class and $\gamma = 3$ for a larger one. The
# submitted version changes at $q_y = 0.19$, '(as $g(0.19, 5) \approx 1$)' (it is {glue:text}`gradient-019:.4f`;
# exactly 1 at {glue:text}`gradient-tau-five:.4f`); the published version, and so this book's `FLSD53` and the figure,
# at {glue:text}`gradient-switch:g`. The reason given is to accelerate learning below $\frac12$ and to regularise
# above.

# %% tags=["hide-input"]
(switch, low), (_, high) = FLSD53().steps
policy = np.where(grid < switch, low, high)
factors = {
    "policy 5, 3": np.exp([theory.log_gain(v, g) for v, g in zip(grid, policy, strict=True)]),
    "cross-entropy": np.ones_like(grid),
}
note("gradient", switch=switch, before_switch=float(np.exp(theory.log_gain(switch, low))))
marks = {r"$\tau(3)$": (theory.confidence_threshold(3), 1.0)}

# %% tags=["remove-input"] mystnb={"image": {"alt": "The factor g of the policy over q. It falls to about one, jumps up at the step of the policy, falls below one again well before one half, and stays below."}, "figure": {"name": "fig-gradient-policy", "caption": "The factor of FLSD-53. Behind its step it falls below 1 at $\\tau(3)$, the marked point, short of one half."}}
line_figure(grid, factors, "probability $q$ of the true class", "$g$", points=marks)

# %% [markdown]
# It does regularise above $\frac12$. It accelerates only up to {glue:text}`gradient-tau-three:.4f`, and not just before
# its step, where the factor falls to {glue:text}`gradient-before-switch:.3f`. Between
# {glue:text}`gradient-tau-three:.4f` and $\frac12$ a sample, though it may still be misclassified, gets a smaller
# gradient than from cross-entropy.
#
# ## Focal loss and entropy
#
# Appendix H bounds the loss from below by $\mathrm{CE} - \gamma H(q)$, with $H$ the entropy, for $\gamma \ge 1$: its
# first step is Bernoulli's inequality, which is reversed for $0 < \gamma < 1$. Another proof gives the bound for every
# $\gamma \ge 0$ and every label distribution:

# %% tags=["nbval-check-output"]
proof(entropy_bound_steps())

# %%
two = np.column_stack([grid, 1 - grid])
entropy = -(two * np.log(two)).sum(-1)
excess = {
    rf"$\gamma = {g:g}$": theory.focal_loss_values(two, g)[:, 0] + np.log(grid) + g * entropy
    for g in dict.fromkeys([0.5, *values[:3]])
}

# %% tags=["remove-input"] mystnb={"image": {"alt": "Focal loss minus its lower bound over q, two classes, label certain. No curve falls below zero."}, "figure": {"name": "fig-gradient-entropy", "caption": "$\\mathrm{FL} - (\\mathrm{CE} - \\gamma H)$ for two classes and a certain label: never negative, also for $\\gamma < 1$."}}
line_figure(grid, excess, "probability $q$ of the true class", r"FL $-$ (CE $-\; \gamma H$)", zero=True)

# %% [markdown]
# The paper's own steps after the first are right as well. The third is Hölder's inequality. The second lacks, in our
# copy, the bars that make its sign right; they were evidently lost in copying.

# %% tags=["remove-input"]
show("m20.app_h_sign")

# %% [markdown]
# The appendix then says that for two classes the solutions of focal loss 'will always have higher entropy', on the
# evidence of a figure:

# %%
posterior = np.linspace(0.005, 0.995, 400)
pairs = np.column_stack([posterior, 1 - posterior])
solutions = {rf"$\gamma = {g:g}$": theory.focal_minimiser(pairs, g)[:, 0] for g in values}

# %% tags=["remove-input"] mystnb={"image": {"alt": "The focal minimiser over the true probability for several gamma, with the diagonal. For positive gamma the curve is closer to one half than the diagonal, more so for larger gamma."}, "figure": {"name": "fig-gradient-minimiser", "caption": "What focal loss predicts for a true probability. Counterpart of M20 Fig. 7."}}
line_figure(posterior, solutions, "true probability $p$", "focal solution $q$", diagonal=True)

# %% [markdown]
# This is a theorem: the map has slope above 1 in logits. It stops at two classes, as the paper does: with four, three
# of them tied, the order can be the opposite, for the same distribution that loses confidence in [](#ch-confidence):

# %%
solution = np.array([0.33, 0.33, 0.33, 0.01])
truth = np.exp(theory.focal_log_probs(np.log(solution), 0.5))

# %% tags=["hide-input"]
table = pd.DataFrame([solution, truth], columns=[f"class {i}" for i in (1, 2, 3, 4)])
table["entropy"] = [-(v * np.log(v)).sum() for v in (solution, truth)]
table.insert(0, "", ["focal solution, gamma = 0.5", "its true probabilities"])
captioned(table, "A solution of lower entropy", precision=4, index=False).format("{:.6f}", subset=["entropy"])

# %% tags=["remove-input"]
show("m20.entropy_binary", "m20.entropy_many_classes")

# %% [markdown]
# ## Temperature
#
# The paper searches temperatures on a grid since 'NLL is not a convex function of temperature' and an optimiser may
# get stuck. The first half is true. But NLL is convex in $1/T$, its second derivative being the variance of the
# logits, so over $T > 0$ it falls to one minimum and rises again.

# %% tags=["hide-input"]
temperatures = np.linspace(0.2, 8, 400)
margins = np.array([3.0, 2.0, 1.0, 0.5, -1.0])  # three right, one unsure, one wrong
loss = {"mean NLL of five samples": np.logaddexp(0, -margins[:, None] / temperatures).mean(0)}

# %% tags=["remove-input"] mystnb={"image": {"alt": "Mean negative log-likelihood of five samples over temperature: it falls to a minimum near one and then rises in a concave arc."}, "figure": {"name": "fig-gradient-temperature", "caption": "NLL over $T$ for five binary margins: concave on the right, yet with one minimum."}}
line_figure(temperatures, loss, "temperature $T$", "NLL", ylim=(0.4, 0.8))

# %% [markdown]
# A grid has another advantage, and M20 name it: it can choose $T$ by ECE itself, which they find better in general. On
# CIFAR-10, after 100 epochs ([](#ch-larger)), three seeds do not decide it:

# %% tags=["remove-cell"]
expect_verdict("UNDECIDED", "m20.temperature_by_ece")

# %% tags=["remove-input"]
show("m20.nll_not_convex", "m20.temperature_by_ece")

# %% [markdown]
# The argument behind all this is about networks: smaller gradients once a sample is learnt, hence smaller weights,
# hence less overconfidence. [](#ch-miscalibration) follows networks from the first step on. [](#page-m20) has what the
# paper says as a whole, and which version of it we read.
#
# ```{exercise}
# :label: ex-gradient-half
# Show that $g(\frac12, \gamma) < 1$ for every $\gamma > 0$.
# ```
#
# ```{solution} ex-gradient-half
# :class: dropdown
# $\log g(\frac12, \gamma) = \log(1 + \gamma\log 2) - \gamma\log 2$, and $\log(1+x) < x$.
# ```
#
# :::{admonition} What to remember
# :class: tip
# * The gradient of focal loss is that of cross-entropy times $g(q, \gamma)$, with $q$ the probability of the true
#   class: above 1 for small $q$, below 1 beyond $\tau(\gamma) < \frac12$.
# * The $\gamma$ for which $g$ is 1 at a given $p_0 < \frac12$ has a formula with Lambert's $W$; for
#   $p_0 =$ {glue:text}`gradient-p0:g` it is {glue:text}`gradient-lambert:.4f`. From $p_0 = \frac12$ on every
#   $\gamma > 0$ has a factor below 1.
# * FLSD-53 makes the gradient smaller for every sample with $q \ge \frac12$, as intended. It makes it larger up to
#   {glue:text}`gradient-tau-three:.4f` only, and not just before its step: not all the way to one half.
# * Focal loss is at least $\mathrm{CE} - \gamma H$ for every $\gamma \ge 0$. With two classes what it predicts has a
#   higher entropy than the truth, unless that is 0, $\frac12$ or 1; with four the order can be the opposite.
# * Over $T$ the log-loss is not convex, but each local minimum is the global one: no search is caught by another.
# * Whether a temperature chosen by ECE is better than one chosen by log-loss our networks cannot say: see the
#   verdict there.
# :::
#
# ## Verdict

# %% tags=["remove-input"]
show(
    "m20.prop1",
    "m20.prop2_inequality",
    "m20.prop2_equality",
    "m20.policy_accelerate_corrected",
    "m20.app_h",
    "m20.nll_local_optimum",
)

# %% tags=["remove-input"]
claims_of("gradient_factor")

# %% tags=["remove-input"]
foot("gradient_factor", p0=p0, gammas=gammas)
