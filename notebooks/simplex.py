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
# (ch-simplex)=
# # Focal loss with many classes
#
# **The question.** Does the decomposition into a map and a proper loss survive when there are more
# than two classes? **In short:** yes, for every $\gamma \ge 0$. The map is a bijection of the simplex, by
# the reasoning for two classes and one step more; and not every other class becomes less
# probable, as a figure of the paper is said to show.
#
# :::{admonition} As printed: KK24 Proposition 4, Eq. (1)
# Multiclass focal loss can be deconstructed into a composition of a bijection $\hat p(q)$ and a proper loss, with
#
# $$
# \hat p_j \propto 1\Big/\Big((1-q_j)^\gamma\Big(\frac{1}{q_j} - \frac{\gamma\log q_j}{1 - q_j}\Big)\Big).
# $$
# :::

# %% tags=["parameters"]
gammas: str = "1, 3"  # maps to draw, comma separated
truth: str = "0.55, 0.3, 0.15"  # true distribution of the risk isolines

# %% tags=["hide-input"]
import numpy as np
import pandas as pd
from scipy.special import softmax

from focal_lib import theory
from focal_lib.plots.style import use_style
from focal_lib.theory import PAPER_CUBE, closest_temperature
from reproduction.ledger import claims_of, proof, show
from reproduction.pages.expected import written_for
from reproduction.pages.explore import explore
from reproduction.pages.footer import foot
from reproduction.pages.notes import note
from reproduction.pages.plots.curves import line_figure
from reproduction.pages.plots.simplex import arrow_fields, isolines, simplex_grid
from reproduction.pages.tables import captioned
from reproduction.theorems.lemmas.confidence import confidence_proof
from reproduction.theorems.lemmas.weight import lagrange_steps, weight_steps

use_style()
expect = written_for("simplex", globals())
values = [float(g) for g in gammas.split(",")]
p = np.array([float(v) for v in truth.split(",")])  # (3,)

# %% [markdown]
# ## Derivation
#
# Minimise $\sum_i p_i L(q_i)$ over the simplex. With a multiplier $\lambda$ for $\sum_i q_i = 1$ the stationary
# points have $p_j L'(q_j) = -\lambda$ for all $j$, so $p_j$ is proportional to
#
# ```{math}
# :label: eq-simplex-weight
# \begin{aligned}
# w(q) &= -\frac{1}{L'(q)} = \frac{q}{g(q)}, \\
# g(q) &= (1-q)^\gamma\big(1 + \gamma b(q)\big), \\
# b(q) &= \frac{-q\log q}{1-q}.
# \end{aligned}
# ```
#
# With $h = 1/g$ the map reads $\hat p_i = q_i\,h(q_i)/\sum_j q_j\,h(q_j)$.

# %% tags=["nbval-check-output"]
proof([*lagrange_steps(), *weight_steps()])

# %% [markdown]
# The risk is convex (see [](#ch-convexity)), so the stationary point is the minimum, and the loss seen through
# the map is proper. For the inverse, $w$ being increasing is not enough: given $p$, each $q_i = w^{-1}(c\,p_i)$
# needs the one $c$ with $\sum_i q_i = 1$. It exists since the sum grows from 0 to $n$. The code solves exactly
# that; on random distributions the round trip is exact to rounding:

# %%
rng = np.random.default_rng(0)
logits = rng.normal(size=(1000, 10)) * 4  # (n, K)
log_q = logits - np.logaddexp.reduce(logits, axis=-1, keepdims=True)
back = theory.inverse_focal_log_probs(theory.focal_log_probs(logits, 2.0), 2.0)
round_trip = float(np.max(np.abs(back - log_q) / np.maximum(1, np.abs(log_q))))

# %% tags=["remove-input"]
note("simplex", round_trip=round_trip)

# %% [markdown]
# The largest relative error of $\log q$ is {glue:text}`simplex-round-trip:.1e`.
#
# ## Properness, seen as isolines
#
# Each panel shows where the conditional risk of a loss takes the values of the paper's figure, its 'loss percentiles
# 3%, 12%, 20%', for the true distribution marked by a cross. All are minimal at the cross. Brier draws circles; the
# properised focal loss draws rounded triangles.

# %% tags=["hide-input"]
steps = 90
points = simplex_grid(steps)  # (m, 3)
losses = {
    "Brier score": theory.brier_values(points),
    "cross-entropy": theory.focal_loss_values(points, 0.0),
    **{rf"properised focal, $\gamma = {g:g}$": theory.proper_focal_loss(points, g) for g in values[:2]},
}
risks = {name: theory.conditional_risk(value, p) for name, value in losses.items()}
nearest = {name: points[risk.argmin()] for name, risk in risks.items()}
note("simplex", minima=float(max(np.abs(row - p).max() for row in nearest.values())), cell=1 / steps)

# %% tags=["remove-input"] mystnb={"image": {"alt": "Triangles with three nested isolines each around the true distribution: circles for Brier, ovals for cross-entropy, rounded triangles for the properised focal loss."}, "figure": {"name": "fig-simplex-isolines", "caption": "Isolines of the conditional risk at three percentiles, the lowest solid, the next dashed, the highest dotted. Counterpart of KK24 Fig. 4."}}
isolines(points, risks, [3, 12, 20], p)

# %% [markdown]
# On the grid, no minimum is further than {glue:text}`simplex-minima:.4f` from the true distribution in any
# coordinate; the cells are {glue:text}`simplex-cell:.4f` wide.
#
# (sec-simplex-regret)=
# ## What an excess of loss costs, and what a large gamma costs
#
# A trained network does not reach the minimum. Say its expected focal loss is $\varepsilon$ above the least one can
# have: the *excess*, or regret. How far can its probabilities, after the map, be from the truth? Take one input with
# the true probabilities $p$, and a network that answers 50:50:

# %%
p_two, said = np.array([0.7, 0.3]), np.array([0.5, 0.5])  # the map leaves 50:50 as it is
best = theory.focal_minimiser(p_two, 3.0)
risk_said, risk_best = (theory.conditional_risk(theory.focal_loss_values(q, 3.0), p_two) for q in (said, best))
excess, distance = float(risk_said - risk_best), float(np.abs(said - p_two).sum())
least = theory.regret_constant(3.0) / 8 * distance**2  # the excess of any prediction so far from p

# %% tags=["remove-cell"]
expect(0.8 < least / excess < 1, "the text says: a little more than the least")
note("simplex", excess=excess, distance=distance, least=least)

# %% [markdown]
# The differences $|0.5 - 0.7|$ and $|0.5 - 0.3|$ add up to {glue:text}`simplex-distance:.1f`. The excess is
# {glue:text}`simplex-excess:.4f`, a little more than the {glue:text}`simplex-least:.4f` that it must be at least by
#
# ```{math}
# :label: eq-simplex-regret
# \begin{gathered}
# \sum_i p_i L(q_i) - \min_{q'}\sum_i p_i L(q'_i) \;\ge\; \frac c8\,\lVert\hat p(q) - p\rVert_1^2, \\
# c = \frac{2^{2-\gamma}(1+\gamma\log 2)}{\beta(0)},
# \end{gathered}
# ```
#
# with the $\beta(0)$ of [](#ch-bounds). The distance enters squared: a hundredth of the excess leaves a tenth of it.
# The number of classes does not enter. For cross-entropy $c = 4$, and this is Pinsker's inequality. No larger $c$ would
# do: near a tie of two classes both sides agree. For two classes such a bound is called strong properness
# {cite:p}`agarwal14`; the constant, for every $\gamma$ and any number of classes, is this book's.
#
# **Why.** The excess measures how much the least risk bends between $\hat p(q)$ and $p$. It bends least when all
# classes move together in two groups, and of all pairs of groups where both are equally likely.
#
# **For a trained network** take the mean over inputs. If the excess is $\varepsilon$, the true calibration error of the
# top class after the map is at most $\sqrt{2\varepsilon/c}$. How small must $\varepsilon$ be for at most five points?

# %%
some = [0.0, 1.0, 2.0, 3.0, 5.0, 10.0]
guess = np.array([float(theory.focal_loss_values(0.5, g)) for g in some])  # the risk of saying 50:50
constant = np.array([theory.regret_constant(g) for g in some])
allowed = constant * 0.05**2 / 2
columns = {"c": constant, "excess allowed": allowed, "loss of 50:50": guess, "share (%)": 100 * allowed / guess}
price = pd.DataFrame({"gamma": some} | columns)
captioned(price, "The excess that ensures at most five points", index=False).format("{:.2g}")

# %% tags=["remove-cell"]
units = np.diff(np.log2(allowed)) / np.diff(some)
expect((np.abs(units + 1) < 0.15).all(), "the text says that each unit of gamma about halves the allowed excess")
expect(0.5 < price["share (%)"].min() < price["share (%)"].max() < 0.75, "the text says: half to three quarters")
ensured = 100 * np.sqrt(2 * allowed[0] / constant)  # points, by what cross-entropy is allowed
note("simplex", ensured=ensured[some.index(3.0)], allowed=allowed[0])

# %% [markdown]
# Each unit of $\gamma$ about halves the allowed excess. That is what a large $\gamma$ costs: the excess of
# {glue:text}`simplex-allowed:.3f`, which ensures five points for cross-entropy, ensures
# {glue:text}`simplex-ensured:.0f` for $\gamma = 3$. But focal loss itself shrinks as fast. As a share of the loss of a
# 50:50 guess, between half and three quarters of a per cent are allowed, whatever $\gamma$. So read excesses,
# tolerances and differences between epochs in units of $2^{-\gamma}$.

# %% tags=["remove-input"]
show("kk24.regret", "kk24.regret_sharp", "kk24.regret_calibration")

# %% [markdown]
# ## Where the map moves probabilities
#
# Arrows go from $q$ to $\hat p(q)$, and for comparison to the temperature that comes closest in the largest
# difference of a probability ([](#ch-fit)).

# %%
sparse = simplex_grid(16)
fits = {g: closest_temperature(g, 3, PAPER_CUBE) for g in values}
moved = {rf"map, $\gamma = {g:g}$": np.exp(theory.focal_log_probs(np.log(sparse), g)) for g in values}
for g, fit in fits.items():
    moved[rf"temperature {fit.temperature:.3f}, for $\gamma = {g:g}$"] = softmax(np.log(sparse) / fit.temperature, -1)
for g, name in ((1.0, "one"), (3.0, "three"), (0.5, "half"), (2.0, "two")):
    note("simplex", {f"t-{name}": closest_temperature(g, 3, PAPER_CUBE).temperature})

# %% tags=["remove-input"] mystnb={"image": {"alt": "Triangles of arrows, the focal map for each gamma and below it the closest temperature. Both push from the centre to the corners; arrows are longer for the larger gamma."}, "figure": {"name": "fig-simplex-arrows", "caption": "The map and the closest temperatures, as arrows. Counterpart of KK24 Fig. 5."}}
arrow_fields(sparse, moved)

# %% [markdown]
# The caption of the paper's figure gives for $\gamma = 1$ and $\gamma = 3$ the 'closest parameters' '$T = 0.81$' and
# '$T = 0.46$'. The closest temperatures are {glue:text}`simplex-t-one:.3f` and {glue:text}`simplex-t-three:.3f`; those
# printed belong to $\gamma = 0.5$ ({glue:text}`simplex-t-half:.3f`) and $\gamma = 2$
# ({glue:text}`simplex-t-two:.3f`).
#
# The arrows also do not all say that 'the highest probability becomes higher while all others become lower': a
# close second rises too. With three classes the highest does rise and the lowest does fall, as
# {ref}`sec-confidence-proof` shows.

# %% tags=["remove-input"]
explore("simplex")

# %% [markdown]
# (sec-confidence-proof)=
# ## When the top probability falls: the proof
#
# [](#ch-confidence) shows predictions whose top probability the map lowers, against KK24's Proposition 5. The printed
# proof wants $f = 1/L' = -w$ to be concave on all of $(0, 1)$. It is convex up to an inflection point,
# {glue:text}`simplex-inflection:.3f` for $\gamma = 1$, and concave only above: $w''$ changes sign exactly once, for
# every $\gamma > 0$. The argument given for concavity, that $(1-q)^{-\gamma}$ decreases, does not hold: it increases.

# %%
at = np.linspace(1e-4, 0.3, 400)
weight = np.exp(np.log(at) - np.array([theory.log_gain(v, 1.0) for v in at]))
turn = theory.weight_inflection(1.0)
mark = float(np.interp(turn, at, weight - at))
note("simplex", inflection=turn)

# %% tags=["remove-input"] mystnb={"image": {"alt": "The weight w minus q over q. It is concave up to the marked inflection and convex after it."}, "figure": {"name": "fig-confidence-inflection", "caption": "$w(q) - q$ for $\\gamma = 1$ is concave up to the mark and convex after it. The printed proof needs $w$ convex everywhere."}}
line_figure(at, {"w(q) - q": weight - at}, "$q$", "$w(q) - q$", points={"inflection": (turn, mark)})

# %% [markdown]
# What is true starts from the criterion {eq}`eq-confidence-criterion`, $\sum_i q_i\,h(q_i) \le h(q_{\max})$. The
# function $g$ rises from 1 to its maximum at $p^*(\gamma)$ and falls to 0; it is 1 again at $\tau(\gamma)$. So if
# $q_{\max} \ge \tau$, every $h(q_i) \le h(q_{\max})$ and confidence rises. Below $\tau$, many equal small classes have
# $h$ near 1 and push the mean above $h(q_{\max})$.
#
# For one class count $n$ the condition is sharp too. Where $q_{\max} = m < \frac1{n-1}$, no class can be below
# $\varepsilon = 1 - (n-1)m$, and as $h$ falls, then rises, every $h(q_i) \le \max(h(\varepsilon), h(m))$. So only the
# distribution with $n - 1$ tied classes matters: $D(\varepsilon) = \log g(\varepsilon) - \log g(m)$ must not be
# negative. It is 0 at the uniform distribution and concave in $\varepsilon$, so it is enough that
# $D(0) = -\log g(\frac1{n-1}) \ge 0$. Let $\gamma^*(p_0)$ be the positive $\gamma$ with $g(p_0) = 1$, or 0 where
# there is none; {cite:t}`m20` give it by Lambert's $W$ ([](#ch-gradient)). The condition is
# $\gamma \ge \gamma^*(\frac1{n-1})$. For $n = 3$ it is $\gamma \ge 0$. The steps, carried out:

# %% tags=["nbval-check-output"]
proof(confidence_proof())

# %% [markdown]
# **Is a higher $\gamma$ sharper?** So the paper says of three classes, and it is true: as $\gamma$ grows, the highest
# probability rises and the lowest falls. With $v = \partial_\gamma\log w$ the derivative of $\log\hat p_i$ is
# $v(q_i) - \sum_j\hat p_j\,v(q_j)$. This $v$ is convex with $v(0) = 0$, so again the distribution with $n - 1$ tied
# classes decides, by the sign of $v(\frac{1}{n-1})$. For $n = 3$ it is never negative. For $n \ge 4$ it is for small
# $\gamma$, and there a higher $\gamma$ can be less sharp.

# %% tags=["remove-input"]
show("kk24.prop4_inflection", "kk24.sharper_gamma")

# %% [markdown]
# (sec-class-weights)=
# ## With class weights
#
# People who train with focal loss often weight the classes, by an $\alpha$ or because one is rare. The loss of a sample
# is then $-a_y(1-q_y)^\gamma\log q_y$. Its mean is that of focal loss under other probabilities, $p'_k$ proportional to
# $a_kp_k$, and the derivation above gives $p'$. So the way back takes one step more, a shift of log-probabilities:
#
# $$
# p_k \propto \frac{w(q_k)}{a_k}, \qquad \log p = \operatorname{log\,softmax}\big(\log w(q) - \log a\big).
# $$
#
# Resampled classes are weights, too, and so is a new prevalence ({ref}`page-in-your-project`). With three classes:

# %%
weights = [1, 2, 4]
q = theory.weighted_focal_minimiser(p, 2.0, weights)
back = {"map alone": theory.focal_log_probs(np.log(q), 2.0)}
back["and the shift"] = theory.weighted_focal_log_probs(np.log(q), 2.0, weights)
{"truth": p, "prediction": q.round(3)} | {name: np.exp(value).round(3) for name, value in back.items()}

# %% [markdown]
# ```{exercise}
# :label: ex-simplex-second
# Which second-largest classes rise? For three classes and $\gamma = 1$, look at distributions with top probability
# $q = 0.45$.
# ```
#
# ```{solution} ex-simplex-second
# :class: dropdown
# $\hat p_i > q_i$ exactly when $h(q_i)$ is above the mean $\sum_j q_j h(q_j)$. Since $h$ increases beyond its lowest
# point $p^*$, a second class close to the first has an $h$ close to the largest, which is above the mean.
# ```
#
# :::{admonition} What to remember
# :class: tip
# * For $\gamma > 0$ and any number of classes the map $\hat p_i = w(q_i)/\sum_j w(q_j)$ is a bijection of the simplex,
#   and focal loss seen through it is proper. For $-1 < \gamma < 0$ it is a bijection as well.
# * The weight of a class, $w(q) = q/g(q)$, depends on the probability of that class alone. The inverse of the map takes
#   one equation in one unknown.
# * With three classes the highest probability does not fall and the lowest does not rise ($\gamma > 0$). The one
#   between them can do either: that 'all others' fall is refuted.
# * The temperatures in the caption of the paper's figure belong to other $\gamma$ than it says.
# * The excess of focal loss over its least bounds how far the map is from the truth, for any number of classes. The
#   bound loses a factor of about two with each unit of $\gamma$, as does the loss itself.
# * Class weights shift the log-probabilities after the map by $-\log a_k$.
# :::
#
# ## Verdict

# %% tags=["remove-input"]
show(
    "kk24.prop4",
    "kk24.prop4_bijection",
    "kk24.prop4_negative",
    "kk24.fig5_others_fall",
    "kk24.fig5_lowest_falls",
    "kk24.fig5_caption",
)

# %% [markdown]
# What the paper says of its isolines is right, too, if 'more akin to a curved triangle' asks no more than a larger
# third harmonic of their radius. Read against the second harmonic, that of an oval, it is not.

# %% tags=["remove-input"]
show("kk24.fig4_minimum", "kk24.fig4_shapes", "kk24.fig4_triangle", "kk24.fig4_ratio")

# %% [markdown]
# With class weights the minimiser, and a bound of the curvature that boosted trees need:

# %% tags=["remove-input"]
show("kk24.class_weights", "kk24.curvature_below")

# %% tags=["remove-input"]
claims_of("simplex")

# %% tags=["remove-input"]
foot("simplex", gammas=gammas, truth=truth)
