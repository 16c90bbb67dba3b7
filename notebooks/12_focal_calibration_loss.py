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
# (ch-fcl)=
# # Does adding a square make focal loss proper?
#
# **The question.** {cite:t}`l25` add $\lambda\lVert q - e_y\rVert^2$ to focal loss (FCL) and say that the sum is strictly proper, that it
# brings the top probability closer to the truth, and that it needs less post-processing. Does it? **In short:** it keeps the
# order of the classes, for every $\lambda$. It is not proper for any $\lambda$ as long as $\gamma > 0$; its bias shrinks like $1/\lambda$. The
# distance to the truth shrinks, but the gap of the top probability need not.
#
# :::{admonition} As printed: L25 Definition 3.1, sections 4.1 to 4.4
# $\mathcal{L}_{FCL} = \mathcal{L}_{focal} + \lambda\lVert q - y\rVert_2^2$. For $\lambda > 0$ it reduces over- and underconfidence, is classification-calibrated, is
# strictly proper, and has a post-processing gap of at most that of focal loss.
# :::
#
# The text at hand has lost most formulas; we state how each was read.

# %% tags=["parameters"]
gamma: float = 2.0  # of the focal part
truth: float = 0.8  # true probability in the binary examples

# %% tags=["hide-input"]
import numpy as np
import pandas as pd
import sympy as sp

from focal_lib import theory
from focal_lib.claims import show
from focal_lib.pages.footer import foot
from focal_lib.pages.notes import note
from focal_lib.pages.plots import use_style
from focal_lib.pages.plots.curves import line_figure
from focal_lib.theory import symbols

use_style()

# %% [markdown]
# ## Where is the minimum?
#
# For the true posterior $p$ the expected square is $\lVert q-p\rVert^2$ up to a constant, so the conditional risk is
# $\sum_i p_iL(q_i) + \lambda\lVert q-p\rVert^2$. On the simplex it is stationary where
#
# ```{math}
# :label: eq-fcl-stationary
# p_i L'(q_i) + 2\lambda(q_i - p_i) \quad\text{is the same for every class.}
# ```
#
# Put $q = p$: the square is silent and $p_iL'(p_i) = -g(p_i)$ is left, as sympy confirms.

# %%
p, g = sp.symbols("p gamma", positive=True)
at_truth = p * symbols.focal_loss_slope(p, g)
sp.simplify(sp.powsimp(sp.expand(at_truth / (1 - p) ** (g - 1)), force=True))

# %% [markdown]
# Times $(1-p)^{\gamma-1}$, this is minus the factor of {eq}`eq-gradient-factor`. So $p$ is the minimum exactly where $g(p_i)$ is the same for every
# class, and no $\lambda$ changes that. The published proof (A.8) treats one-hot $p$ only.

# %% tags=["hide-input"]
pair = np.array([truth, 1 - truth])
strengths = np.array([0, 0.5, 1, 2, 5, 10, 100, 1000])
solved = np.array([[theory.focal_calibration_minimiser(pair, v, lam)[0] for v in (1.0, 2.0, 3.0)] for lam in strengths])
slope = np.exp(theory.log_gain(truth, gamma)) - np.exp(theory.log_gain(1 - truth, gamma))
note(
    "fcl",
    truth=truth,
    gamma=gamma,
    bias=slope / 4,
    at_one=float(theory.focal_calibration_minimiser(pair, gamma, 1.0)[0]),
)

# %%
table = pd.DataFrame(solved, index=pd.Index(strengths, name="lambda"), columns=["gamma = 1", "gamma = 2", "gamma = 3"])
table.style.format(precision=6).format_index("{:g}")

# %% [markdown]
# The truth is {glue:text}`fcl-truth:g`; with $\gamma =$ {glue:text}`fcl-gamma:g` and $\lambda = 1$ FCL predicts {glue:text}`fcl-at-one:.4f`. To first order in
# $1/\lambda$,
#
# ```{math}
# :label: eq-fcl-bias
# q_i - p_i = \frac{1}{2\lambda}\Big(g(p_i) - \frac1n\sum_j g(p_j)\Big) + O(\lambda^{-2}).
# ```

# %% tags=["hide-input"]
lams = np.geomspace(0.05, 1000, 60)
bias = np.array([theory.focal_calibration_minimiser(pair, gamma, lam)[0] - truth for lam in lams])
sizes = {"bias of FCL": -bias, "first order": -slope / 4 / lams}

# %% mystnb={"image": {"alt": "Bias of the minimiser over lambda on logarithmic axes. For large lambda it follows the straight line of the first-order formula; for small lambda it levels off."}, "figure": {"name": "fig-fcl-bias", "caption": "How far FCL's prediction lies below the truth, over $\\lambda$, with the first-order formula."}}
line_figure(lams, sizes, r"$\lambda$", "truth minus prediction", xscale="log", yscale="log")

# %% tags=["remove-input"]
show("l25.a8")

# %% [markdown]
# And the other way round: without the square, $\lambda = 0$, the proof says the loss is not strictly proper, for $\gamma = 0$ too. That is
# cross-entropy, which is.
#
# ## Order
#
# By {eq}`eq-fcl-stationary` the ranking survives: if $p_i > p_j$ but $q_i \le q_j$, each part of the left side is smaller for $i$ than for $j$. So FCL is
# classification-calibrated, as focal loss alone already is.

# %% tags=["remove-input"]
show("l25.thm42")

# %% [markdown]
# ## Over- and underconfidence
#
# The proof of Theorem 4.1 bounds the gap of the top probability by $\lVert q-p\rVert$, and the square shrinks that norm. A smaller bound is not
# a smaller gap:

# %%
row = np.array([0.20, 0.18, 0.16, 0.14, 0.12] + [0.04] * 5)
rows = {lam: theory.focal_calibration_minimiser(row, 1.0, lam) for lam in (0.0, 0.5, 1.0, 2.0, 5.0)}
frame = pd.DataFrame(
    {
        "gap of the top": {lam: v.max() - row.max() for lam, v in rows.items()},
        "distance to the truth": {lam: np.linalg.norm(v - row) for lam, v in rows.items()},
    }
)
frame.rename_axis("lambda").style.format("{:.3e}").format_index("{:g}")

# %% [markdown]
# The distance falls, as it must: that is an exchange argument which holds for any added loss. The gap of the top grows first, since focal
# loss happens to be almost right on the top class of this posterior. The counterexample is proved in ball arithmetic.

# %% tags=["remove-input"]
show("l25.thm41")

# %% [markdown]
# ## The function phi
#
# Appendix A.6 studies $\varphi(v) = -\eta L'(v) - 2\lambda(v-\eta)$ and finds one root. True: $\varphi$ decreases. But the root is not $\eta$, as the text around it
# suggests, since $\varphi(\eta) = g(\eta) > 0$.

# %% tags=["hide-input"]
v = np.linspace(0.3, 0.999, 400)
gains = np.exp([theory.log_gain(x, gamma) for x in v])
phi = {rf"$\lambda = {lam:g}$": truth * gains / v - 2 * lam * (v - truth) for lam in (0.5, 1.0, 5.0)}

# %% mystnb={"image": {"alt": "The function phi for three values of lambda, decreasing, each crossing zero to the right of the marked true probability."}, "figure": {"name": "fig-fcl-phi", "caption": "$\\varphi$ for three $\\lambda$. The root lies above the true probability $\\eta$."}}
line_figure(v, phi, "$v$", r"$\varphi(v)$", zero=True, points={r"$\eta$": (truth, 0.0)})

# %% [markdown]
# ## The post-processing gap
#
# The gap of a predictor is how much its loss falls under the best Lipschitz change of its output. Theorem 4.5 says that FCL's gap is at most that of
# focal loss, for any predictor. Take the predictor that minimises focal loss: its focal gap is 0 by definition, and FCL, whose
# minimum lies elsewhere, can still be lowered. Each loss has gap 0 at its own minimum, no more can be said.

# %% tags=["remove-input"]
show("l25.thm45")

# %% [markdown]
# ```{exercise}
# :label: ex-fcl-uniform
# For which posteriors is FCL unbiased, whatever $\gamma$?
# ```
#
# ```{solution} ex-fcl-uniform
# :class: dropdown
# Where $g(p_i)$ is the same for every class: the uniform row of the classes that are possible at all, and one-hot rows.
# For a given $\gamma$ there are others, as $g$ takes most of its values above 1 twice.
# ```
#
# ## Verdict

# %% tags=["remove-input"]
show("l25.a8_when", "l25.bias", "l25.thm41_norm", "l25.thm45_corrected")

# %% tags=["remove-input"]
foot("12_focal_calibration_loss", gamma=gamma, truth=truth)
