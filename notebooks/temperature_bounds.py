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
# (ch-bounds)=
# # Between which temperatures does the map lie?
#
# **The question.** Temperature scaling multiplies a logit by $1/T$. The focal calibration map multiplies it by
# something that depends a little on the logit. How much? **In short:** the bound printed by {cite:t}`kk24` is true,
# its printed proof does not give it, and it is not sharp. We give a proof and the sharp bounds for every $\gamma$,
# answer what the paper leaves open, three and more classes, and find where a bound that it reports comes from.
#
# :::{admonition} As printed: KK24 Proposition 3
# The focal calibration is bounded between two temperature scaling maps with $T = \frac{1}{\gamma+1}$ and
# $T = \frac{1}{\gamma + 1 - \frac12\log(\gamma+1)}$, for all logits.
# :::

# %% tags=["parameters"]
gamma: float = 4.0  # the example of section 3.2; at least 0
radius: float = 20.0  # the search looks at logits in (-radius, radius); > 0

# %% tags=["hide-input"]
import numpy as np
import pandas as pd
from scipy.optimize import brentq

from focal_lib import theory
from focal_lib.plots.style import use_style
from reproduction.ledger import claims_of, proof, show
from reproduction.pages.explore import explore
from reproduction.pages.footer import foot
from reproduction.pages.notes import note
from reproduction.pages.plots.curves import line_figure
from reproduction.pages.tables import captioned
from reproduction.theorems.lemmas.binary_map import logit_gap_steps
from reproduction.theorems.lemmas.turning import monotone_certificate, turning_certificate

use_style()

# %% [markdown]
# ## The inverse temperature at a logit
#
# By {eq}`eq-binary-logit`, $\operatorname{logit}\hat p(q) = \beta(s)\,s$ with
#
# ```{math}
# :label: eq-bounds-beta
# \begin{aligned}
# \beta(s) &= \gamma + 1 - \frac{R(s)}{s}, \\
# \beta(0) &= \gamma + 1 - \frac{\gamma(2\log 2 - 1)}{1 + \gamma\log 2}, \\
# \beta(\infty) &= \gamma + 1.
# \end{aligned}
# ```
#
# The temperatures that bound the map on a range of logits are the inverses of the largest and the
# smallest $\beta$ on it.

# %%
s = np.linspace(0.01, 15, 500)
curves = {
    rf"$\gamma = {g:g}$": np.array([theory.beta(v, g) for v in s]) - theory.beta_at_zero(g)
    for g in (1.0, 4.0, 8.0, 20.0)
}

# %% tags=["remove-input"] mystnb={"image": {"alt": "The inverse temperature of the map minus its value at zero, over the logit. For gamma 1 and 4 it increases from zero; for gamma 8 and 20 it first dips below zero."}, "figure": {"name": "fig-bounds-beta", "caption": "$\\beta(s) - \\beta(0)$. Up to $\\gamma_c$ it increases; for larger $\\gamma$ it first dips, and the smallest value lies inside."}}
line_figure(s, curves, "logit $s$", r"$\beta(s) - \beta(0)$", zero=True)


# %% tags=["remove-input"]
def excess(g: float) -> float:
    """The largest f' = R' e^R over logits, minus log(gamma + 1)/2."""
    logits = np.linspace(0.001, 20, 4000)
    gap = (g + 1) * logits - theory.focal_logit(logits, g)  # R
    return float(((g + 1 - theory.focal_logit_slope(logits, g)) * np.exp(gap)).max() - np.log1p(g) / 2)


note("bounds", proof_fails=brentq(excess, 1, 10))
note(
    "bounds",
    gamma_c=theory.largest_monotone_gamma(),
    sharp_high=theory.temperature_bounds(gamma)[1],
    printed_high=theory.printed_temperature_bounds(gamma)[1],
    gamma=gamma,
    constant=2 * np.log(2) - 1,
)

# %% [markdown]
# The change happens at $\gamma_c =$ {glue:text}`bounds-gamma-c:.9f`, where $R^{(3)}(0) = 0$. So the sharp
# upper temperature is $1/\beta(0)$ up to $\gamma_c$, and above it $1/\beta$ at the bottom of the dip. For
# $\gamma =$ {glue:text}`bounds-gamma:g` it is {glue:text}`bounds-sharp-high:.6f`; the printed one is
# {glue:text}`bounds-printed-high:.6f`.
#
# ## Why the printed proof does not give the bound
#
# The proof bounds $f'$, for $f = e^R$, by a constant whose formula we could not read, and then says of a function
# that we could not read either, that its derivative is larger than $f'$. If that is $(\gamma+1)^{s/2}$, so it is: $R'
# < \frac12\log(1+\gamma)$ at every logit, and with it $f' = R'e^R$ is below. But it does not follow from such a
# bound: at $s = 0$ that derivative is $\frac12\log(\gamma+1)$, so the constant would have to be at most that, and
# $f'$ itself exceeds it from $\gamma =$ {glue:text}`bounds-proof-fails:.2f` on. What is left of the derivation, a
# comparison with $(\gamma+1)^2$, fits the constant $\frac{\gamma+1}{2}$, which is larger still.

# %% tags=["remove-input"]
show(
    "kk24.prop3_proof_bound",
    "kk24.prop3_proof_gap",
)

# %% [markdown]
# The steps around it are sound: $f$ increases through 1 at $s = 0$, and both discriminants are negative. The half
# $s < 0$ is the mirror image of the other; 'the same considerations' do not reach it, for there even the comparison of
# derivatives fails once $\gamma \ge e^2 - 1$.

# %% tags=["remove-input"]
show(
    "kk24.prop3_proof_negative_gap",
)

# %% [markdown]
# ## A proof that holds
#
# Integrate over $\gamma$ instead. $R$ vanishes at $\gamma = 0$ and
# $\partial_\gamma R = \frac{u-\bar u}{(1+\gamma u)(1+\gamma\bar u)}$ with $u = u(s)$, $\bar u = u(-s)$. Two facts are
# enough: $u + \bar u > 1$ makes the denominator at least $1 + \gamma$, and $u - \bar u \le (2\log 2 - 1)\,s$, since
# $u(s) = b(q)$ for the concave function $b = -q\log q/(1-q)$. So
#
# ```{math}
# :label: eq-bounds-proof
# \begin{aligned}
# \frac{R(s)}{s} &< (2\log2 - 1)\log(1+\gamma) \\
# &< \tfrac12\log(1+\gamma).
# \end{aligned}
# ```
#
# This is Proposition 3 with $2\log 2 - 1 =$ {glue:text}`bounds-constant:.3f`… in place of $\frac12$; as $\gamma \to 0$
# no smaller factor will do.

# %% tags=["nbval-check-output", "slow"]
proof(logit_gap_steps())

# %% [markdown]
# ## Where is beta smallest?
#
# The sign of $\beta'$ follows from that of $R''$, and $R''$ has the sign of a cubic in $\gamma$,
# $c_0 + c_1\gamma + c_2\gamma^2 + c_3\gamma^3$, whose coefficients depend on $s$ alone: three negative, the last
# positive. If the ratios $-c_k/c_3$ all increase in $s$, then $R''$ is positive up to one $s$ and negative after it,
# for every $\gamma$ at once, and $\gamma_c$ is where this point leaves 0. That they increase is checked in ball
# arithmetic, where every operation returns an interval that contains the true value: four functions, positive on every
# box of a cover of $(0, 12]$, and a line of analysis beyond.

# %% tags=["nbval-check-output", "slow"]
proof(turning_certificate())

# %% [markdown]
# The boxes are found with formulas written by hand and checked by other code with the formulas of sympy. A certificate
# that cannot fail proves nothing: that $\beta$ is monotone must follow at $\gamma = 5.635$ and must not at
# $\gamma = 5.65$.

# %% tags=["nbval-check-output", "slow"]
for value in ("5.635", "5.65"):
    print(value, monotone_certificate(value).verdict)

# %% [markdown]
# ## The paper's search
#
# {cite:t}`kk24` also search: all temperatures 'in increments of 0.001', all logits in $(-20, 20)$ 'using a step size of
# 0.001'. For $\gamma = 4$ they report 'even tighter bounds $T = 0.206$ and $T = 0.218$'. The same search, and the exact
# values:

# %%
rows = []
for g, reach in dict.fromkeys([(4.0, 10.0), (4.0, 20.0), (gamma, radius)]):
    exact = theory.temperature_bounds(g, reach)
    found = theory.temperature_bounds_by_search(g, reach)
    rows.append((f"{g:g}", f"({-reach:g}, {reach:g})", *found, *exact))

# %% tags=["hide-input"]
columns = ["gamma", "logits", "T low, search", "T high, search", "T low, exact", "T high, exact"]
table = captioned(pd.DataFrame(rows, columns=columns), "Bounds by the paper's search and exactly", index=False)
table.format(precision=6, subset=columns[4:])

# %% [markdown]
# For $\gamma = 4$ the upper value agrees. The lower one is what the search gives on $(-10, 10)$, not on $(-20, 20)$.
# Since $\beta$ creeps towards $\gamma + 1$, the lower temperature depends on the range; the limit is $1/(\gamma + 1)$.
#
# ## Bounds and their width

# %%
gammas = np.linspace(0.05, 10, 200)
sharp = np.array([theory.temperature_bounds(g) for g in gammas])
printed = np.array([theory.printed_temperature_bounds(g) for g in gammas])
within = np.array([theory.temperature_bounds(g, radius) for g in gammas])
searched = np.array([theory.temperature_bounds_by_search(g, radius, logit_step=0.05) for g in gammas])
upper = {"printed upper bound": printed[:, 1], "sharp upper bound": sharp[:, 1], "lower bound (both)": sharp[:, 0]}
upper[f"sharp lower bound on |s| < {radius:g}"] = within[:, 0]

# %% tags=["remove-input"] mystnb={"image": {"alt": "Upper and lower temperature bounds over gamma. The sharp upper bound lies below the printed one and close to the lower bound."}, "figure": {"name": "fig-bounds-temperatures", "caption": "Temperatures that bound the map. Counterpart of KK24 Fig. 3, left. Curves that lie on each other show as one."}}
line_figure(gammas, upper, r"$\gamma$", "temperature $T$", ylim=(0, 1))

# %% tags=["hide-input"]
width = {
    "printed bounds": printed[:, 1] - printed[:, 0],
    "sharp bounds, all logits": sharp[:, 1] - sharp[:, 0],
    f"sharp bounds on |s| < {radius:g}": within[:, 1] - within[:, 0],
    f"search on |s| < {radius:g}": searched[:, 1] - searched[:, 0],
}

# %% tags=["remove-input"] mystnb={"image": {"alt": "Width of the temperature bounds over gamma, rising to a peak below gamma 1 and falling after it. The printed bounds are widest, up to more than twice the sharp ones; the sharp ones on a range of logits are narrowest, and the search follows them in steps from above."}, "figure": {"name": "fig-bounds-width", "caption": "Width of the bounds. The search tries multiples of its step and rounds outwards, so its width is too large by less than two steps: with a large radius and a large $\\gamma$ it can exceed the sharp width for all logits. Counterpart of KK24 Fig. 3, right."}}
line_figure(gammas, width, r"$\gamma$", "upper minus lower temperature")

# %% [markdown]
# How the bounds depend on the two numbers, $\gamma$ and the radius:

# %% tags=["remove-input"]
explore("bounds")

# %% [markdown]
# ## Three and more classes
#
# The paper asks for such bounds with more classes and leaves it open. Take the top probability. From below there is
# nothing new: temperature scaling with $T = \frac1{\gamma+1}$ is at least as confident as the map for every number of
# classes. From above it is different. With many classes the map is $\hat p_i = w(q_i)/\sum_j w(q_j)$ with
# $w(q) = -1/L'(q) = q\,h(q)$ ([](#ch-simplex) derives it). Put $n - 1$ classes in a tie at $m$ and a last one at
# $\varepsilon$: the map then is temperature scaling with
#
# ```{math}
# :label: eq-bounds-tied
# \frac1T = 1 + \frac{\log h(m) - \log h(\varepsilon)}{\log(m/\varepsilon)},
# ```
#
# which tends to 1 as $\varepsilon \to 0$. So with three classes no temperature below 1 will do, for any $\gamma$, and
# $T = 1$ does. With four or more it does exactly where confidence never falls ([](#ch-confidence)); for smaller
# $\gamma$ the temperature must exceed 1.

# %%
grid = np.linspace(0.1, 8, 120)
by_classes = {"lower bound (every n)": 1 / (grid + 1)}
for n in (2, 3, 4, 10, 100):
    by_classes[f"upper bound, {n} classes"] = np.array([theory.top_temperature_bounds(g, n)[1] for g in grid])

# %% tags=["remove-input"] mystnb={"image": {"alt": "Temperatures that bound the top probability over gamma. The lower bound and the upper bound for two classes fall together; for three classes the upper bound is one, for four, ten and a hundred it lies above one for small gamma."}, "figure": {"name": "fig-bounds-classes", "caption": "Temperatures that bound the top class of the map. With three or more classes the upper one does not fall below 1. Curves that lie on each other show as one."}}
line_figure(grid, by_classes, r"$\gamma$", "temperature $T$", ylim=(0, 1.25))

# %% [markdown]
# All of it is proved. Between two classes the map stretches the logits by a mean of the elasticity
# $e(q) = q\,w'(q)/w(q)$, which falls up to one $q_e$ and rises after it. Up to $n = 1/q_e$ classes, and so with up to
# 13 for every $\gamma$, the tied classes and one below them of {eq}`eq-bounds-tied` are the worst of all. With more,
# $T = 1/e(q_e)$ bounds the map, and no $1/T$ larger by five millionths does.
#
# ```{exercise}
# :label: ex-bounds-large
# Show that for $\gamma > e^2 - 1$ the simple bound $T < 1/\gamma$ beats the printed one.
# ```
#
# ```{solution} ex-bounds-large
# :class: dropdown
# $\beta > \gamma$ by {eq}`eq-binary-slope`. The printed bound is $\beta \ge \gamma + 1 - \frac12\log(\gamma+1)$,
# which is below $\gamma$ as soon as $\frac12\log(\gamma+1) > 1$.
# ```
#
# :::{admonition} What to remember
# :class: tip
# * With two classes and $\gamma > 0$ the map lies between temperature scaling with two temperatures. The printed pair
#   is right; its proof has a step that does not follow, and is replaced here.
# * The lower one, $1/(\gamma+1)$, cannot be improved over all logits. The upper one can: it is $1/\beta(0)$ up to
#   $\gamma_c =$ {glue:text}`bounds-gamma-c:.4f`, and beyond it found at the bottom of a dip. For
#   $\gamma =$ {glue:text}`bounds-gamma:g` it is {glue:text}`bounds-sharp-high:.4f` in place of
#   {glue:text}`bounds-printed-high:.4f`.
# * With three or more classes $1/(\gamma+1)$ still bounds the top probability from one side. From the other no
#   temperature below 1 does; with four or more and a small $\gamma$ it must exceed 1. How far is proved: exactly up
#   to 13 classes, to five millionths of $1/T$ beyond.
# * One printed bound, '0.206', belongs to other logits than the paper says.
# :::
#
# ## Verdict

# %% tags=["remove-input"]
show(
    "kk24.prop3",
    "kk24.prop3_sharp",
    "kk24.prop3_sharp_above",
    "kk24.many_low",
    "kk24.many_high_one",
    "kk24.many_high_exact",
    "kk24.prop3_example_lower",
)

# %% tags=["remove-input"]
claims_of("temperature_bounds")

# %% tags=["remove-input"]
foot("temperature_bounds", gamma=gamma, radius=radius)
