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
# probability after the map always at least the one before? **In short:** for two and three classes yes; for
# $n \ge 4$ exactly from a certain $\gamma$ on, which grows with $n$: with $\gamma = 5$ it can fall for every
# $n \ge$ {glue:text}`confidence-first-falling:d`. And there is a threshold $\tau(\gamma) < \frac12$ above which a top
# probability never falls, for any number of classes, and below which it does fall for enough of them. All of this is
# proved.
#
# :::{admonition} As printed: KK24 Proposition 5
# Let the predicted class be $j = \arg\max_i q_i$. After focal calibration, $\hat p(q)_j \ge \max_i q_i = q_j$.
# :::

# %% tags=["parameters"]
gamma: float = 1.0  # the map of the examples; > 0
classes: int = 100  # of the figure with many classes; at least 2

# %% tags=["hide-input"]
import numpy as np
import pandas as pd

from focal_lib import theory
from focal_lib.plots.style import use_style
from reproduction.ledger import claims_of, proof, show
from reproduction.pages.explore import explore
from reproduction.pages.footer import foot
from reproduction.pages.notes import note
from reproduction.pages.plots.curves import line_figure
from reproduction.pages.tables import captioned
from reproduction.theorems.lemmas.confidence import confidence_proof

use_style()

# %% [markdown]
# ## Counterexamples
#
# Tied classes and one small one are enough; so is one class above many tied small ones:

# %%
top = max(0.13, 1.5 / classes)  # above the others
examples = [
    (0.5, [0.33, 0.33, 0.33, 0.01]),
    (1.0, [0.333, 0.333, 0.333, 0.001]),
    (2.0, [0.249, 0.249, 0.249, 0.249, 0.004]),
    (5.0, [0.166] * 6 + [0.004]),
    (gamma, [top] + [(1 - top) / (classes - 1)] * (classes - 1)),
]
changes = [float(theory.confidence_change(np.array(q), g)) for g, q in examples]

# %% tags=["hide-input"]
shown = [(g, len(q), max(q), change) for (g, q), change in zip(examples, changes, strict=True)]
table = pd.DataFrame(shown, columns=["gamma", "classes", "top before", "change of the top"])
captioned(table, "Change of the top probability by the map", index=False).format(
    {"gamma": "{:g}", "top before": "{:g}", "change of the top": "{:.2e}"}
)

# %% [markdown]
# The first four changes are tiny. With {glue:text}`confidence-classes` classes and $\gamma =$
# {glue:text}`confidence-gamma:g` the top probability {glue:text}`confidence-top:g` changes by
# {glue:text}`confidence-drop:.4f`{glue:text}`confidence-counts:s`. The ledger proves two of these in ball arithmetic,
# the second, and the last for $\gamma = 1$ and a hundred classes, so no rounding is involved.

# %% tags=["remove-input"]
note(
    "confidence",
    drop=changes[-1],
    counts="" if changes[-1] < 0 else ", no counterexample",
    top=top,
    classes=classes,
    first_falling=next(n for n in range(4, 100) if theory.critical_gamma(n) > 5),
    tau=theory.confidence_threshold(gamma),
    inflection=theory.weight_inflection(gamma),
    gamma=gamma,
)

# %% [markdown]
# ## Where the proof breaks
#
# The proof wants $f = 1/L' = -w$ to be concave on all of $(0, 1)$. It is convex up to an inflection point,
# {glue:text}`confidence-inflection:.5f` for $\gamma =$ {glue:text}`confidence-gamma:g`, and concave only above: $w''$
# changes sign exactly once, for every $\gamma > 0$. The
# argument given for concavity, that $(1-q)^{-\gamma}$ decreases, is wrong: it increases.

# %%
q = np.linspace(1e-4, 0.3, 400)
log_weight = np.array([np.log(v) - theory.log_gain(v, gamma) for v in q])
bend = {"w(q) - q": np.exp(log_weight) - q}
turn = theory.weight_inflection(gamma)
at = np.exp(np.log(turn) - theory.log_gain(turn, gamma)) - turn

# %% tags=["remove-input"] mystnb={"image": {"alt": "The weight w minus q over q. It is concave up to the marked inflection and convex after it."}, "figure": {"name": "fig-confidence-inflection", "caption": "$w(q) - q$ for the chosen $\\gamma$: concave, then convex, with the inflection marked. The printed proof needs $w$ convex everywhere."}}
line_figure(q, bend, "$q$", "$w(q) - q$", points={"inflection": (turn, at)})

# %% [markdown]
# ## What is true
#
# With $h = 1/g$ the map is $\hat p_i = q_i\,h(q_i)/\sum_j q_j\,h(q_j)$ ([](#ch-simplex)), so
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
# $\varepsilon = 1 - (n-1)m$, and as $h$ falls, then rises, every $h(q_i) \le \max(h(\varepsilon), h(m))$. So only the
# distribution with $n - 1$ tied classes matters: $D(\varepsilon) = \log g(\varepsilon) - \log g(m)$ must not be
# negative. It is 0 at the uniform distribution and concave in $\varepsilon$, so it is enough that
# $D(0) = -\log g(\frac1{n-1}) \ge 0$. Let $\gamma^*(p_0)$ be the positive $\gamma$ with $g(p_0) = 1$, or 0 where
# there is none; {cite:t}`m20` give it by Lambert's $W$ ([](#ch-gradient)). The condition is
# $\gamma \ge \gamma^*(\frac1{n-1})$. For $n = 3$ it is $\gamma \ge 0$.

# %%
gammas = np.linspace(0.05, 10, 200)
thresholds = {
    r"$\tau(\gamma)$: never falls above": np.array([theory.confidence_threshold(g) for g in gammas]),
    r"$p^*(\gamma)$: where $1/n$ is below, nearly uniform ones fall": np.array(
        [theory.peak_probability(g) for g in gammas]
    ),
}

# %% tags=["remove-input"] mystnb={"image": {"alt": "Two decreasing curves over gamma: the threshold tau, which starts at one half, and the curve p star, far lower."}, "figure": {"name": "fig-confidence-threshold", "caption": "The threshold $\\tau(\\gamma)$. A top probability above it never falls, for any number of classes."}}
line_figure(gammas, thresholds, r"$\gamma$", "top probability", ylim=(0, 0.52))

# %% [markdown]
# For $\gamma = 1$ the threshold is $1/e$. The steps of the proof for each $n$, carried out:

# %% tags=["nbval-check-output"]
proof(confidence_proof())

# %% [markdown]
# The smallest $\gamma$ for which confidence never falls with $n$ classes:

# %% tags=["hide-input"]
table = pd.DataFrame({"classes": [3, 4, 5, 6, 7, 8, 10, 20, 100, 1000]})
table["smallest gamma"] = [theory.critical_gamma(n) for n in table["classes"]]
captioned(table, "From which gamma on confidence never falls", precision=6, index=False)

# %% [markdown]
# ## How much, and where?


# %%
def equal_rest(n: int, top: np.ndarray) -> np.ndarray:
    """Distributions with one class at top and the others equal: (m,) -> (m, n)."""
    return np.column_stack([top, np.repeat(((1 - top) / (n - 1))[:, None], n - 1, axis=1)])


tops = np.linspace(1 / classes, 0.6, 300)[1:]
falls = {rf"$\gamma = {g:g}$": 100 * theory.confidence_change(equal_rest(classes, tops), g) for g in (0.5, 1.0, 3.0)}

# %% tags=["remove-input"] mystnb={"image": {"alt": "Change of the top probability over its value, the other classes equal, for three gamma. With many classes the curves are negative at small values and positive beyond."}, "figure": {"name": "fig-confidence-many", "caption": "Change of the top probability, the other classes equal. With many classes it is negative for small values, and never from $\\tau(\\gamma)$ on."}}
line_figure(tops, falls, "top probability before", "change (percentage points)", zero=True)

# %% tags=["remove-input"]
note("confidence", most=max(0.0, *(float(-change.min()) for change in falls.values())))

# %% [markdown]
# The same for any number of classes, and where the sign changes:

# %% tags=["remove-input"]
explore("tied")

# %% [markdown]
# ## Is a higher gamma sharper?
#
# So the paper says of three classes, and it is true: as $\gamma$ grows, the highest probability rises and the lowest
# falls. With $v = \partial_\gamma\log w$ the derivative of $\log\hat p_i$ is $v(q_i) - \sum_j\hat p_j\,v(q_j)$. This
# $v$ is convex with $v(0) = 0$, so again the distribution with $n - 1$ tied classes decides, and it does by the sign of
# $v(\frac{1}{n-1})$. For $n = 3$ it is never negative; for $n \ge 4$ it is for small $\gamma$, and there a higher
# $\gamma$ can be less sharp.

# %% tags=["remove-input"]
show("kk24.sharper_gamma")

# %% [markdown]
# In practice: a sample whose top probability is above one half never loses confidence. A model with many classes and
# unsure predictions does lose some: with {glue:text}`confidence-classes` classes, the others equal, at most
# {glue:text}`confidence-most:.1f` percentage points for the $\gamma$ of the figure. 'Confidence-raising' is right for
# confident predictions, and wrong as a theorem.
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
# :::{admonition} What to remember
# :class: tip
# * That the map never lowers the top probability is false as printed. With two and three classes it is true; with
#   $n \ge 4$ it is true exactly from a $\gamma$ on that grows with $n$. With $\gamma = 5$ it can fall for every
#   $n \ge$ {glue:text}`confidence-first-falling:d`.
# * For every $\gamma > 0$ there is a threshold $\tau(\gamma) < \frac12$. A top probability of at least $\tau$ does not
#   fall, with any number of classes; below it some number of classes makes it fall.
# * So what a model is more than half sure of loses nothing. What falls are unsure predictions among many classes: with
#   {glue:text}`confidence-classes` classes, the others equal, by at most {glue:text}`confidence-most:.1f` percentage
#   points for the $\gamma$ drawn above.
# * With four or more classes and a small $\gamma$, a higher $\gamma$ can be less sharp.
# :::
#
# ## Verdict

# %% tags=["remove-input"]
show(
    "kk24.prop5",
    "kk24.prop5_threshold",
    "kk24.prop5_three_classes",
    "kk24.prop4_inflection",
)

# %% tags=["remove-input"]
claims_of("confidence")

# %% tags=["remove-input"]
foot("confidence", gamma=gamma, classes=classes)
