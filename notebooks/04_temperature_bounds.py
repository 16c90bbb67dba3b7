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
# **The question.** Temperature scaling multiplies a logit by $1/T$. The focal calibration map
# multiplies it by something that depends a little on the logit. How much? **In short:** the bound
# printed by {cite:t}`kk24` is true, its printed proof does not give it, and it is not sharp. We certify
# a proof, give the sharp bounds for every $\gamma$, and find where the paper's 0.206 comes from.
#
# :::{admonition} As printed: KK24 Proposition 3
# The focal calibration is bounded between two temperature scaling maps with $T = \frac{1}{\gamma+1}$ and
# $T = \frac{1}{\gamma + 1 - \frac12\log(\gamma+1)}$, for all logits.
# :::

# %% tags=["parameters"]
gamma: float = 4.0  # the example of section 3.2
radius: float = 20.0  # the search looks at logits in (-radius, radius)

# %% tags=["hide-input"]

import numpy as np
import pandas as pd
from myst_nb import glue

from focal_lib import bounds
from focal_lib.claims import show
from focal_lib.claims.kk24 import prop3
from focal_lib.plots import use_style
from focal_lib.plots.curves import line_figure
from focal_lib.provenance import foot

use_style()

# %% [markdown]
# ## The inverse temperature at a logit
#
# By {eq}`eq-binary-logit`, $\operatorname{logit} FC(s) = \beta(s)\,s$ with
#
# ```{math}
# :label: eq-bounds-beta
# \beta(s) = \gamma + 1 - \frac{R(s)}{s}, \qquad \beta(0) = \gamma + 1 - \frac{\gamma(2\log 2 - 1)}{1 + \gamma\log 2},
# \qquad \beta(\infty) = \gamma + 1.
# ```
#
# The temperatures that bound the map on a range of logits are the inverses of the largest and the
# smallest $\beta$ on it.

# %% tags=["hide-input"]
s = np.linspace(0.01, 15, 500)
curves = {
    rf"$\gamma = {g:g}$": np.array([bounds.beta(v, g) for v in s]) - bounds.beta_at_zero(g)
    for g in (1.0, 4.0, 8.0, 20.0)
}

# %% mystnb={"image": {"alt": "The inverse temperature of the map minus its value at zero, over the logit. For gamma 1 and 4 it increases from zero; for gamma 8 and 20 it first dips below zero."}, "figure": {"name": "fig-bounds-beta", "caption": "$\\beta(s) - \\beta(0)$. Up to $\\gamma_c$ it increases; for larger $\\gamma$ it first dips, and the smallest value lies inside."}}
line_figure(s, curves, "logit $s$", r"$\beta(s) - \beta(0)$", zero=True)

# %% tags=["remove-input"]
glue("bounds-gamma-c", bounds.monotone_up_to(), display=False)
glue("bounds-sharp-high", bounds.temperature_bounds(gamma)[1], display=False)
glue("bounds-printed-high", bounds.printed_temperature_bounds(gamma)[1], display=False)
glue("bounds-gamma", gamma, display=False)

# %% [markdown]
# The change happens at $\gamma_c =$ {glue:text}`bounds-gamma-c:.9f`, where $R^{(3)}(0) = 0$. So the sharp
# upper temperature is $1/\beta(0)$ up to $\gamma_c$, and above it $1/\beta$ at the bottom of the dip. For
# $\gamma =$ {glue:text}`bounds-gamma:g` it is {glue:text}`bounds-sharp-high:.6f`; the printed one is
# {glue:text}`bounds-printed-high:.6f`.
#
# ## Why the printed proof does not give the bound
#
# The proof compares $f = e^R$ with $(\gamma+1)^{s/2}$ through their derivatives. As far as the formulas can
# be read, it needs one of two statements. Both are false: $f' \le \frac12\log(\gamma+1)$ fails from
# $\gamma = 3.42$ on, and $f' \le \frac{\gamma+1}{2}$, which is true, does not help since the derivative of
# $(\gamma+1)^{s/2}$ starts at $\frac12\log(\gamma+1)$ only.

# %% tags=["remove-input"]
show("kk24.prop3_proof_derivative")

# %% tags=["remove-input"]
show("kk24.prop3_proof_comparison")

# %% [markdown]
# ## A proof that holds
#
# It is enough that $R'(s) < \frac12\log(1+\gamma)$. For $\gamma \ge 6.5$ the slope bound $R' < 1$ of
# {eq}`eq-binary-slope` does it. For smaller $\gamma$ a computer checks it on boxes of $(s, \gamma)$ in ball
# arithmetic, where every operation returns an interval that contains the true value; beyond $s = 30$ a line
# of analysis does. The same machinery certifies that $\beta$ increases in $|s|$ up to $\gamma = 5.635$.

# %% tags=["nbval-check-output"]
for certificate in (prop3.slope_certificate(), prop3.monotone_certificate()):
    print(certificate.verdict, "-", certificate.describe(), "\n")

# %% [markdown]
# A certificate that cannot fail proves nothing. Just above $\gamma_c$ it must fail, and it does:

# %% tags=["nbval-check-output"]
print(prop3.monotone_certificate("5.65").verdict)

# %% [markdown]
# ## The paper's search, and 0.206
#
# {cite:t}`kk24` also search: every temperature in steps of 0.001, every logit in $(-20, 20)$ in steps of 0.001.
# For $\gamma = 4$ they report 0.206 and 0.218. The same search, and the exact values:

# %% tags=["hide-input"]
rows = []
for reach in (10.0, radius):
    exact = bounds.temperature_bounds(gamma, reach)
    found = bounds.temperature_bounds_by_search(gamma, reach)
    rows.append((f"({-reach:g}, {reach:g})", *found, *exact))
columns = ["logits", "T low, search", "T high, search", "T low, exact", "T high, exact"]
table = pd.DataFrame(rows, columns=columns)
table.style.format(precision=6, subset=columns[3:]).format(precision=3, subset=columns[1:3]).hide()

# %% [markdown]
# The upper value agrees. The lower one is what the search gives on $(-10, 10)$, not on $(-20, 20)$. Since
# $\beta$ creeps towards $\gamma + 1$, the lower temperature depends on the range; the limit is
# $1/(\gamma + 1)$.
#
# ## Bounds and their width

# %% tags=["hide-input"]
gammas = np.linspace(0.05, 10, 200)
sharp = np.array([bounds.temperature_bounds(g) for g in gammas])
printed = np.array([bounds.printed_temperature_bounds(g) for g in gammas])
coarse = np.arange(0.5, 10.1, 0.95)
searched = np.array([bounds.temperature_bounds_by_search(g, radius, 0.05) for g in coarse])
upper = {"printed upper bound": printed[:, 1], "sharp upper bound": sharp[:, 1], "lower bound (both)": sharp[:, 0]}
upper[f"sharp lower bound on |s| < {radius:g}"] = np.array([bounds.temperature_bounds(g, radius)[0] for g in gammas])

# %% mystnb={"image": {"alt": "Upper and lower temperature bounds over gamma. The sharp upper bound lies below the printed one and close to the lower bound."}, "figure": {"name": "fig-bounds-temperatures", "caption": "Temperatures that bound the map. Counterpart of KK24 Fig. 3, left."}}
line_figure(gammas, upper, r"$\gamma$", "temperature $T$", ylim=(0, 1))

# %% tags=["hide-input"]
width = {
    "printed bounds": printed[:, 1] - printed[:, 0],
    "sharp bounds, all logits": sharp[:, 1] - sharp[:, 0],
    f"search on |s| < {radius:g}": np.interp(gammas, coarse, searched[:, 1] - searched[:, 0]),
}

# %% mystnb={"image": {"alt": "Width of the temperature bounds over gamma. The printed bounds are about twice as wide as the sharp ones; the searched ones are narrowest."}, "figure": {"name": "fig-bounds-width", "caption": "Width of the bounds. Counterpart of KK24 Fig. 3, right."}}
line_figure(gammas, width, r"$\gamma$", "upper minus lower temperature")

# %% [markdown]
# ```{exercise}
# :label: ex-bounds-large
# Show that for $\gamma > e^2 - 1$ the simple bound $T < 1/\gamma$ beats the printed one.
# ```
#
# ```{solution} ex-bounds-large
# :class: dropdown
# $\beta > \gamma$ by {eq}`eq-binary-slope`. The printed bound is $\beta \ge \gamma + 1 - \frac12\log(\gamma+1)$, which is
# below $\gamma$ as soon as $\frac12\log(\gamma+1) > 1$.
# ```
#
# ## Verdict

# %% tags=["remove-input"]
show("kk24.prop3")

# %% tags=["remove-input"]
show("kk24.prop3_sharp")

# %% tags=["remove-input"]
show("kk24.prop3_example_lower")

# %% tags=["remove-input"]
show("kk24.prop3_example_lower_corrected")

# %% tags=["remove-input"]
foot("04_temperature_bounds", gamma=gamma, radius=radius)
