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
# (ch-confidence)=
# # Does the map always raise confidence?
#
# **The question.** 'Confidence-raising' is in the paper's story from the first line. Is the top
# probability after the map always at least the one before? **In short:** for two and three classes yes, for
# $n \ge 4$ exactly if $\gamma \ge \gamma^*(\frac1{n-1})$. There is a threshold $\tau(\gamma)$ above which a top probability never
# falls, for any number of classes, and below which it does fall for enough of them. All of this is proved.
#
# :::{admonition} As printed: KK24 Proposition 5
# Let the predicted class be $j = \arg\max_i q_i$. After focal calibration, $\hat p(q)_j \ge \max_i q_i = q_j$.
# :::

# %% tags=["parameters"]
gamma: float = 1.0  # the map of the examples
classes: int = 100  # of the figure with many classes

# %% tags=["hide-input"]
import numpy as np
import pandas as pd

from focal_lib import theory
from focal_lib.claims import show
from focal_lib.claims.kk24.prop5_each_n import each_n_proof
from focal_lib.claims.page import proof
from focal_lib.pages.footer import foot
from focal_lib.pages.notes import note
from focal_lib.pages.plots import use_style
from focal_lib.pages.plots.curves import line_figure

use_style()

# %% [markdown]
# ## Counterexamples
#
# Nearly tied classes and one small one are enough:

# %%
examples = [
    (0.5, [0.33, 0.33, 0.33, 0.01]),
    (1.0, [0.333, 0.333, 0.333, 0.001]),
    (2.0, [0.249, 0.249, 0.249, 0.249, 0.004]),
    (5.0, [0.166] * 6 + [0.004]),
    (gamma, [0.13] + [0.87 / (classes - 1)] * (classes - 1)),
]
changes = [float(theory.confidence_change(np.array(row), g)) for g, row in examples]
shown = [(g, len(row), max(row), change) for (g, row), change in zip(examples, changes, strict=True)]
pd.DataFrame(shown, columns=["gamma", "classes", "top before", "change of the top"]).style.format(
    {"gamma": "{:g}", "change of the top": "{:.2e}"}
).hide()

# %% [markdown]
# The first are tiny, the last is not: with {glue:text}`confidence-classes` classes the top probability 0.13 changes by
# {glue:text}`confidence-drop:.4f`. The second and the last are proved in ball arithmetic in the ledger, so no rounding is involved.

# %% tags=["remove-input"]
note(
    "confidence",
    drop=changes[-1],
    classes=classes,
    tau=theory.confidence_threshold(gamma),
    inflection=theory.inflection(gamma),
    gamma=gamma,
)

# %% [markdown]
# ## Where the proof breaks
#
# The proof wants $f = 1/L' = -w$ to be concave on all of $(0, 1)$. It is convex up to an inflection point,
# {glue:text}`confidence-inflection:.5f` for $\gamma =$ {glue:text}`confidence-gamma:g`, and concave only above. The argument
# given for concavity, that $(1-q)^{-\gamma}$ decreases, is wrong: it increases.

# %% tags=["hide-input"]
q = np.linspace(1e-4, 0.3, 400)
log_weight = np.array([np.log(v) - theory.log_gain(v, gamma) for v in q])
bend = {"w(q) - q": np.exp(log_weight) - q}
turn = theory.inflection(gamma)
at = np.exp(np.log(turn) - theory.log_gain(turn, gamma)) - turn

# %% mystnb={"image": {"alt": "The weight w minus q over q. It is concave up to the marked inflection and convex after it."}, "figure": {"name": "fig-confidence-inflection", "caption": "$w(q) - q$ for the chosen $\\gamma$: concave, then convex, with the inflection marked. The printed proof needs $w$ convex everywhere."}}
line_figure(q, bend, "$q$", "$w(q) - q$", points={"inflection": (turn, at)})

# %% [markdown]
# ## What is true
#
# Write $h = 1/g$. A short computation gives
#
# ```{math}
# :label: eq-confidence-criterion
# \hat p_{\max} \ge q_{\max} \iff \sum_i q_i\,h(q_i) \le h(q_{\max}).
# ```
#
# The function $g$ rises from 1 to its maximum at $p^*(\gamma)$ and falls to 0; it is 1 again at $\tau(\gamma)$. So if
# $q_{\max} \ge \tau$, every $h(q_i) \le h(q_{\max})$ and confidence rises, whatever the number of classes. Below
# $\tau$, many equal small classes have $h$ near 1 and push the mean above $h(q_{\max})$.
#
# For one class count $n$ the condition is sharp too. Where $q_{\max} = m < \frac1{n-1}$, no class can be below
# $\beta = 1 - (n-1)m$, and as $h$ falls, then rises, every $h(q_i) \le \max(h(\beta), h(m))$. So only the row with $n - 1$ ties matters:
# $D(\beta) = \log g(\beta) - \log g(m)$ must not be negative. It is 0 at the uniform row and concave in $\beta$, so it is enough that
# $D(0) = -\log g(\frac1{n-1}) \ge 0$, which is $\gamma \ge \gamma^*(\frac1{n-1})$. The function $\gamma^*$ is the Lambert function of
# {cite:t}`m20` ([](#ch-gradient)). For $n = 3$ it is 0.

# %% tags=["hide-input"]
gammas = np.linspace(0.05, 10, 200)
thresholds = {
    r"$\tau(\gamma)$: never falls above": np.array([theory.confidence_threshold(g) for g in gammas]),
    r"$p^*(\gamma)$: falls next to uniform if $1/n$ is below": np.array([theory.peak_probability(g) for g in gammas]),
}

# %% mystnb={"image": {"alt": "Two decreasing curves over gamma: the threshold tau from one half to 0.13, and the lower curve p star from 0.2 to 0.04."}, "figure": {"name": "fig-confidence-threshold", "caption": "The threshold $\\tau(\\gamma)$. A top probability above it never falls, for any number of classes."}}
line_figure(gammas, thresholds, r"$\gamma$", "top probability", ylim=(0, 0.52))

# %% [markdown]
# For $\gamma = 1$ the threshold is $1/e$. The steps of the proof for each $n$, carried out:

# %% tags=["nbval-check-output"]
proof(each_n_proof())

# %% [markdown]
# The smallest $\gamma$ for which confidence never falls with $n$ classes:

# %% tags=["nbval-check-output"]
table = pd.DataFrame({"classes": [3, 4, 5, 6, 7, 8, 10, 20, 100, 1000]})
table["smallest gamma"] = [theory.critical_gamma(n) for n in table["classes"]]
print(table.to_string(index=False, float_format="{:.6f}".format))

# %% [markdown]
# ## How much, and where?


# %% tags=["hide-input"]
def equal_rest(n: int, top: np.ndarray) -> np.ndarray:
    """Rows with one class at top and the others equal: (m,) -> (m, n)."""
    return np.column_stack([top, np.repeat(((1 - top) / (n - 1))[:, None], n - 1, axis=1)])


tops = np.linspace(1 / classes, 0.6, 300)[1:]
falls = {rf"$\gamma = {g:g}$": 100 * theory.confidence_change(equal_rest(classes, tops), g) for g in (0.5, 1.0, 3.0)}

# %% mystnb={"image": {"alt": "Change of the top probability over its value, the other classes equal, for gamma 0.5, 1 and 3. Each curve is negative at small values and positive beyond its threshold."}, "figure": {"name": "fig-confidence-many", "caption": "Change of the top probability with many classes, the others equal. Negative below about $\\tau(\\gamma)$."}}
line_figure(tops, falls, "top probability before", "change (points of 100)", zero=True)

# %% [markdown]
# In practice: a row whose top class is above one half is never affected. A model with many classes and unsure
# predictions is, mildly. 'Confidence-raising' is right for most predictions of most models, and wrong as a theorem.
#
# ```{exercise}
# :label: ex-confidence-tau
# Show that $\tau(1) = 1/e$.
# ```
#
# ```{solution} ex-confidence-tau
# :class: dropdown
# For $\gamma = 1$, $g(q) = (1-q)\big(1 - \frac{q\log q}{1-q}\big) = 1 - q - q\log q$, which is 1 exactly when
# $\log q = -1$.
# ```
#
# ## Verdict

# %% tags=["remove-input"]
show(
    "kk24.prop5",
    "kk24.prop5_threshold",
    "kk24.prop5_threshold_sharp",
    "kk24.prop5_n_fails",
    "kk24.prop5_n_holds",
    "kk24.prop5_three_classes",
)

# %% tags=["remove-input"]
foot("06_confidence", gamma=gamma, classes=classes)
