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
# # Many classes, and a surprise
#
# Focal loss makes a network less sure, and the map undoes it. So the map should make it surer: the tallest bar should
# grow. For two classes it does. A network with a hundred classes gives its best guess $q = 0.13$, and the others equal
# parts of the rest. What happens to its best guess?
#
# **In short:** with $\gamma = 1$ it falls, to {glue:text}`confidence-after:.2f`. {cite:t}`kk24` state a theorem that
# it cannot, and that theorem is false. It is true for two and three classes. With any number of classes it is true of
# a prediction that is sure enough: there is a threshold $\tau(\gamma) < \frac12$ above which the tallest bar never
# falls.
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
from reproduction.ledger import claims_of, show
from reproduction.pages.expected import written_for
from reproduction.pages.explore import explore
from reproduction.pages.footer import foot
from reproduction.pages.notes import note
from reproduction.pages.plots.curves import line_figure
from reproduction.pages.tables import captioned

use_style()
expect = written_for("confidence", globals())

# %% [markdown]
# ## The map of many classes
#
# Where $p_1, \dots, p_n$ is true, a network that minimises focal loss says the $q$ with the lowest
# $\sum_i p_i\,L(q_i)$. At the lowest point nothing is gained by moving a little probability from one class to another.
# So $p_i\,L'(q_i)$ is the same for all classes, and $p_i$ is proportional to $-1/L'(q_i)$. Written with a factor $h$,
#
# ```{math}
# :label: eq-confidence-map
# \begin{aligned}
# \hat p_i &= \frac{q_i\,h(q_i)}{\sum_j q_j\,h(q_j)}, \\
# h(q) &= (1-q)^{-\gamma}\,\Big(1 - \frac{\gamma\,q\log q}{1-q}\Big)^{-1}.
# \end{aligned}
# ```
#
# Each bar is multiplied by its factor $h$, which depends on that bar alone; then all are divided by their sum. With
# three classes and $\gamma = 2$, by hand:


# %%
def h(q, gamma):
    """By what the map multiplies a probability, before all are divided by their sum."""
    return 1 / ((1 - q) ** gamma * (1 - gamma * q * np.log(q) / (1 - q)))


q = np.array([0.5, 0.3, 0.2])
by_hand = pd.DataFrame({"class": ["cat", "dog", "fox"], "says": q, "factor": h(q, 2), "product": q * h(q, 2)})
by_hand["after the map"] = by_hand["product"] / by_hand["product"].sum()

# %%
captioned(by_hand, "The map of three classes, gamma 2", precision=3, index=False)

# %% tags=["remove-cell"]
expect(
    np.allclose(by_hand["after the map"], np.exp(theory.focal_log_probs(np.log(q), 2.0))),
    "the map by hand is the map of the package",
)
expect(by_hand["after the map"].iloc[0] > 0.5, "'the tallest bar grows'")

# %% [markdown]
# The tallest bar grows, as it should. (That the map can always be undone, and that focal loss seen through it is
# proper, is proved in [](#ch-simplex).)
#
# ## A hundred bars
#
# Now the network with a hundred classes. Move $\gamma$:

# %% tags=["remove-input"]
explore("tied")

# %%
q = np.array([0.13] + [0.87 / 99] * 99)
after = q * h(q, 1) / (q * h(q, 1)).sum()
named = {"factor of the tallest": h(q[0], 1), "of the others": h(q[1], 1), "the tallest, after": after[0]}
{name: round(float(value), 3) for name, value in named.items()}

# %% tags=["remove-cell"]
note("confidence", after=float(after[0]))
expect(after[0] < 0.121, "'falls by about a point'")
expect(h(q[0], 1) < h(q[1], 1) < 1, "'the tallest has the smaller factor'")
expect(theory.confidence_change(q, 8.0) > 0, "'for large gamma it grows'")

# %% [markdown]
# The tallest bar loses about a point, to ninety-nine bars that nobody would have noticed. For large $\gamma$ it grows
# again. The fall is proved, so no rounding is involved. Here, then, focal loss asked for *more* than the truth. The
# tallest stays the tallest all the same, as $q\,h(q)$ increases with $q$: the answer does not change.
#
# ## Why
#
# The factor $h$ is not what one expects:

# %%
grid = np.linspace(1e-6, 0.6, 600)
factors = {rf"$\gamma = {g:g}$": h(grid, g) for g in (0.5, 1.0, 3.0)}
tau = theory.confidence_threshold(gamma)

# %% tags=["remove-input"] mystnb={"image": {"alt": "The factor h over the probability of a bar for three gamma: each curve starts at one, falls below it, and crosses one again before one half, then rises."}, "figure": {"name": "fig-confidence-factor", "caption": "Tiny bars are multiplied by 1, middling ones by less, tall ones by more. A middling bar among tiny ones loses. The mark is $\\tau$ for $\\gamma = 1$, from where on the factor is above 1."}}
line_figure(grid, factors, "probability of a bar $q$", "factor $h(q)$", ylim=(0.6, 1.6), points={r"$\tau$": (tau, 1.0)})

# %% [markdown]
# * $(1-q)^{-\gamma}$ undoes the focal weight: the taller the bar, the more it grows.
# * The second part of $h$ works against it. It is 1 for an empty bar and falls steeply at first. It comes from the
#   slope of the focal weight: more probability also makes the weight smaller, a second way to lower the loss.
#
# For small bars the second part wins. So the bar of $q = 0.13$ has a *smaller* factor than its tiny neighbours. The
# tallest bar is safe exactly where its factor is at least the mean factor, each class counted by its probability:
#
# ```{math}
# :label: eq-confidence-criterion
# \hat p_{\max} \ge q_{\max} \iff \sum_i q_i\,h(q_i) \le h(q_{\max}).
# ```
#
# ## When the tallest bar is safe
#
# The factor is lowest at some $p^*(\gamma)$, and 1 again at a larger $\tau(\gamma)$. Below $\tau$ it is at most 1,
# above it increases. So a tallest bar of at least $\tau$ has the largest factor of all, and never falls, whatever the
# number of classes. And $\tau$ is always below one half: *what a network is more than half sure of is safe*.

# %%
gammas = np.linspace(0.05, 10, 200)
safe = {
    r"$\tau(\gamma)$": np.array([theory.confidence_threshold(g) for g in gammas]),
    r"$p^*(\gamma)$, where $h$ is lowest": np.array([theory.peak_probability(g) for g in gammas]),
}

# %% tags=["remove-input"] mystnb={"image": {"alt": "Two decreasing curves over gamma: the threshold tau, which starts at one half, and the curve p star, far lower."}, "figure": {"name": "fig-confidence-threshold", "caption": "A tallest bar above $\\tau(\\gamma)$ never falls. Below it, some number of classes makes it fall; where $1/n$ is below $p^*(\\gamma)$, nearly equal bars do."}}
line_figure(gammas, safe, r"$\gamma$", "tallest bar", ylim=(0, 0.52))

# %% [markdown]
# And the number of classes? With two and three the tallest never falls. With four or more it is safe from a certain
# $\gamma$ on, which grows with $n$; below that $\gamma$ there are predictions that fall.

# %%
limits = pd.DataFrame({"classes": [3, 4, 5, 6, 8, 10, 20, 100, 1000]})
limits["smallest gamma"] = [theory.critical_gamma(n) for n in limits["classes"]]

# %%
captioned(limits, "From which gamma on the tallest bar never falls", precision=1, index=False)

# %% tags=["remove-cell"]
note("confidence", first_falling=next(n for n in range(4, 100) if theory.critical_gamma(n) > 5), classes=classes)
expect(list(limits["smallest gamma"]) == sorted(limits["smallest gamma"]), "'which grows with n'")

# %% [markdown]
# With four classes it takes three that are tied, and a fourth that is nearly empty:

# %%
few = float(theory.confidence_change(np.array([0.333, 0.333, 0.333, 0.001]), 1.0))
few

# %% tags=["remove-cell"]
expect(-1e-4 < few < 0, "'with four classes the fall is tiny'")

# %% [markdown]
# So four classes refute the theorem, but there the fall is far too small to matter. It takes many classes to lose a
# point:

# %%
tops = np.linspace(1 / classes, 0.6, 300)[1:]
others = np.repeat(((1 - tops) / (classes - 1))[:, None], classes - 1, axis=1)  # all equal
many = np.column_stack([tops, others])
changes = {rf"$\gamma = {g:g}$": 100 * theory.confidence_change(many, g) for g in (0.5, 1.0, 3.0)}

# %% tags=["remove-input"] mystnb={"image": {"alt": "Change of the top probability over its value, the other classes equal, for three gamma. With many classes the curves are negative at small values and positive beyond."}, "figure": {"name": "fig-confidence-many", "caption": "Change of the tallest bar among many equal ones. It falls by a point or two where the network is unsure, and gains far more beyond."}}
line_figure(tops, changes, "tallest bar, before", "change (percentage points)", zero=True)

# %% tags=["remove-cell"]
most = max(0.0, *(float(-change.min()) for change in changes.values()))
note("confidence", most=most)
expect(1 < most < 2, "'by a point or two'")
expect(all(change[tops > 0.5].min() > 0 for change in changes.values()), "'and gains beyond'")

# %% [markdown]
# ## Which losses never do this
#
# The criterion {eq}`eq-confidence-criterion` knows nothing of focal loss. Every loss $L(q_y)$ of the probability of the
# true class has such a map, with the factor $h(q) = \frac{-1}{q\,L'(q)}$. Where the factor never falls, the tallest bar
# has the largest of all, and is safe with any number of classes. A little less will do. Two bars of one prediction sum
# to at most 1. So it is enough that $h$ does not fall up to $\frac12$, and that $h(1-a) \le h(a)$ from there on. If $h$
# turns at most once, this is also needed: otherwise some number of classes makes the tallest bar fall.

# %%
q = np.column_stack([tops, others])
factor_of = {
    "cross-entropy": lambda q: 1 + 0 * q,
    "temperature 0.5": lambda q: q ** (1 / 0.5 - 1),
    "temperature 2": lambda q: q ** (1 / 2 - 1),
    "poly-1, epsilon 1": lambda q: 1 / (1 + q),
    "label smoothing 0.05": lambda q: 1 - 0.05 / (classes * q),
    "focal loss, gamma 1": lambda q: h(q, 1),
}
falls = {name: 100 * (q[:, 0] - q[:, 0] * f(q[:, 0]) / (q * f(q)).sum(1)).max() for name, f in factor_of.items()}
most_fallen = pd.DataFrame({"map of": falls.keys(), "falls at most by (points)": np.maximum(list(falls.values()), 0)})

# %% tags=["remove-input"]
captioned(most_fallen, "By how much the tallest of many bars can fall, the others equal", precision=1, index=False)

# %% tags=["remove-cell"]
safe = most_fallen.set_index("map of")["falls at most by (points)"] < 1e-9
expect(list(safe) == [True, True, False, False, True, False], "'a factor that never falls is safe'")

# %% [markdown]
# A temperature below 1 and label smoothing have factors that rise. The factor of poly-1 falls from the start, as that
# of a temperature above 1 does. Focal loss is between them: its factor falls, then rises. {cite:t}`shah26` describe
# the same structure of its minimiser, which they found independently.
#
# ## In practice
#
# A classifier that is usually more than half sure will not notice. One with a hundred classes and many unsure
# predictions will see some of them lose up to {glue:text}`confidence-most:.1f` points by a map that is called
# 'confidence-raising'. That is right for predictions that are sure, and wrong as a theorem. Where the printed proof
# goes wrong, and the proof of what is true, is in [](#ch-simplex).
#
# :::{admonition} What to remember
# :class: tip
# * The map multiplies each bar by a factor $h$ of that bar alone and divides by the sum.
# * $h$ is 1 for tiny bars, below 1 for middling ones and above 1 for tall ones. So a middling tallest bar among many
#   tiny ones shrinks: that the map never lowers the top probability is false.
# * With two and three classes it is true. With $n \ge 4$ it is true exactly from a $\gamma$ on that grows with $n$;
#   with $\gamma = 5$ it fails for every $n \ge$ {glue:text}`confidence-first-falling:d`.
# * For every $\gamma > 0$ a top probability of at least $\tau(\gamma) < \frac12$ does not fall, with any number of
#   classes. Below $\tau$ some number of classes makes it fall.
# * The loss is small: with {glue:text}`confidence-classes` classes, the others equal, at most
#   {glue:text}`confidence-most:.1f` points for the $\gamma$ drawn above.
# :::
#
# ```{exercise}
# :label: ex-confidence-tau
# Show that $\tau(1) = 1/e$.
# ```
#
# ```{solution} ex-confidence-tau
# :class: dropdown
# For $\gamma = 1$, $1/h(q) = (1-q)\big(1 - \frac{q\log q}{1-q}\big) = 1 - q - q\log q$, which is 1 exactly when
# $\log q = -1$.
# ```

# %% tags=["remove-input"]
show(
    "kk24.prop5",
    "kk24.prop5_large",
    "kk24.prop5_threshold",
    "kk24.prop5_three_classes",
    "kk24.prop5_n_fails",
    "kk24.raises_every_n",
)

# %% tags=["remove-input"]
claims_of("confidence")

# %% tags=["remove-input"]
foot("confidence", gamma=gamma, classes=classes)
