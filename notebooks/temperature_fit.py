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
# (ch-fit)=
# # Is it just a temperature?
#
# Temperature scaling also changes confidence and keeps the order of the classes. It is one division, and everybody has
# it. If the map is nearly a division of the logits, why bother with the map?
#
# **In short:** for two classes, do not bother: the best temperature is within {glue:text}`fit-error-2:.3f`
# percentage points of the map. For ten classes no temperature comes close: with $\gamma = 3$ the best one is off by
# {glue:text}`fit-error-ten:.1f` points somewhere.
#
# :::{admonition} As printed: KK24 sections 3.2 and 3.3
# $\frac1T \approx 0.95\gamma + 0.85$ for two classes with an error below $10^{-3}$;
# $\frac1T \approx 0.64\gamma + 0.91$ for three, with an error up to 8 % at $\gamma = 9$;
# $\frac1T \approx 0.47\gamma + 0.85$ for four, with a similar error.
# :::

# %% tags=["parameters"]
reach: float = 10.0  # logits differ by at most this; (-5, 5) in the paper; > 0

# %% tags=["hide-input"]
import numpy as np
import pandas as pd

from focal_lib import theory
from focal_lib.plots.style import use_style
from focal_lib.theory import closest_temperature, deviation_from_map
from reproduction.ledger import claims_of, show
from reproduction.pages.expected import written_for
from reproduction.pages.footer import foot
from reproduction.pages.notes import note
from reproduction.pages.plots.curves import line_figure, point_figure
from reproduction.pages.plots.simplex import maps_on_triangle, simplex_grid
from reproduction.pages.tables import captioned
from reproduction.theorems.kk24.temperature_fit import GAMMAS, fits, line

use_style()
expect = written_for("temperature_fit", globals())

# %% [markdown]
# ## Which temperature, by hand
#
# Take two predictions of ten classes, and $\gamma = 3$. One hesitates between two classes; the other likes one class a
# little more than nine equal ones. Of two classes, a temperature divides the log-ratio by $T$. So the map tells us
# which $T$ it would need:

# %%
predictions = {
    "two rivals": np.array([0.6, 0.4 - 8e-6] + [1e-6] * 8),
    "one above nine": np.array([0.28] + [0.08] * 9),
}
needed = {}
for name, q in predictions.items():
    p = np.exp(theory.focal_log_probs(np.log(q), 3.0))
    needed[name] = round(float(np.log(q[0] / q[1]) / np.log(p[0] / p[1])), 2)
needed

# %% tags=["remove-cell"]
expect(needed["one above nine"] > 2 * needed["two rivals"], "'more than twice'")

# %% [markdown]
# The second needs more than twice the temperature of the first. A network makes both kinds of predictions, and one
# temperature cannot serve them both. With two classes there is only the first kind, and the problem does not arise.
#
# ## How far off is the best temperature?
#
# ```{index} ! temperature
# ```
#
# For each $\gamma$ we look for the $T$ whose largest error, over all predictions $q = \operatorname{softmax}(z)$, is
# smallest:
#
# ```{math}
# :label: eq-fit-sup
# \min_T\,\sup_z\,\big\lVert \operatorname{softmax}(z/T) - \hat p(q)\big\rVert_\infty .
# ```

# %%
counts, chosen = (2, 3, 4, 10, 100), (1.0, 3.0, 5.0)
found = {(n, g): closest_temperature(g, n) for n in counts for g in chosen}
by_classes = {
    f"{n} classes": (np.array([0, *chosen]), np.array([0] + [100 * found[n, g].error for g in chosen]), None)
    for n in counts
}

# %% tags=["remove-input"] mystnb={"image": {"alt": "Largest error of the closest temperature over gamma, one line for each number of classes. For two classes it stays at zero; the more classes, the higher the line."}, "figure": {"name": "fig-fit-classes", "caption": "For two classes the map is a temperature, as far as one can see. With every class more it is less of one."}}
point_figure(by_classes, r"$\gamma$", "largest error (percentage points)")

# %%
table = pd.DataFrame([(n, g, f.temperature, 100 * f.error) for (n, g), f in found.items()])
table.columns = ["classes", "gamma", "T", "largest error (points)"]
wide = table.pivot(index="classes", columns="gamma", values=["T", "largest error (points)"])
captioned(wide, "The closest temperature over the whole simplex", precision=2)

# %% tags=["remove-cell"]
worst = max((closest_temperature(g, 2).error, g) for g in np.arange(0.1, 1, 0.02))
note("fit", error_2=100 * worst[0], worst_2=worst[1])
note("fit", error_ten=100 * found[10, 3.0].error, t_two=found[2, 3.0].temperature, t_ten=found[10, 3.0].temperature)
note("fit", t_many=found[100, 3.0].temperature, error_many=100 * found[100, 3.0].error)
expect(worst[0] < 0.002, "'for two classes, do not bother'")
expect(found[10, 3.0].error > 0.1, "'for ten classes no temperature comes close'")
expect(found[3, 3.0].temperature < 0.4 < closest_temperature(2.0, 3).temperature < 0.5, "'at 2', 'at 3 a little lower'")
for g in chosen:
    errors = [found[n, g].error for n in counts]
    expect(errors == sorted(errors), "'with every class more it is less of one'")

# %% [markdown]
# With more classes the best temperature also moves towards 1: for $\gamma = 3$ it is {glue:text}`fit-t-two:.2f` with
# two classes and {glue:text}`fit-t-many:.2f` with a hundred. It is a compromise between the two kinds of predictions
# above, and serves neither. So which temperature matches a $\gamma$ depends on the number of classes. The one with
# which section 4.1 of the paper argues, 'of about 0.4-0.5', is that of three classes at $\gamma = 2$; at 3, which it
# recommends, too, it is a little lower.
#
# :::{admonition} How the worst prediction is found among many classes
# :class: dropdown
# A grid of logits is too slow beyond four classes, but the worst case has a simple form. Look at one class, of
# probability $x$. After a temperature and after the map it depends on the others only through the sums of $q_j^{1/T}$
# and of the map's weights $w(q_j) = q_j\,h(q_j)$. Where the difference is extreme, every other $q_j$ satisfies
# $c_1\,w'(q) - \frac{c_2}{T}\,q^{1/T-1} = c_3$, and the left side turns only once in $q$ if $w''/q$ increases and
# $1 \leq 1/T \leq 3$. So the others have at most two values besides 0, one of them held by a single class: two
# unknowns, however many classes. They are searched numerically, and over $T$ the minimum is bracketed from both sides.
# That $w''/q$ increases is seen wherever one looks, not proved; for $1/T > 3$ a search of the whole simplex confirms
# the result for few classes.
# :::
#
# ## So which one?
#
# With two classes a temperature can stand for the map. It is not the one that is fitted on held-out labels: like the
# map, it brings back the overconfidence on new data. With more classes map and temperature are different corrections,
# and theory cannot say which one a network needs after training on finite data. That is a question for held-out data;
# [](#ch-fts) fits both together and asks.
#
# ## For readers of KK24: two classes, closely
#
# {cite:t}`kk24` draw a line through the best $1/T$ for two classes. It reproduces, up to $\gamma = 7$:

# %%
gammas = np.array(GAMMAS)
binary = np.array([fits(2)[g].inverse_temperature for g in GAMMAS])
slope, intercept = line(2, up_to=7)
curves = {
    "closest $1/T$": binary,
    "printed line": 0.95 * gammas + 0.85,
    r"our line, $\gamma \leq 7$": slope * gammas + intercept,
}

# %% tags=["remove-input"] mystnb={"image": {"alt": "Inverse temperature closest to the binary map over gamma, the printed line and our line. All three are close together above gamma one half."}, "figure": {"name": "fig-fit-binary", "caption": "The printed line fits the closest inverse temperature of two classes, but for small $\\gamma$. Counterpart of KK24 Fig. 2, left. Curves that lie on each other show as one."}}
line_figure(gammas, curves, r"$\gamma$", "$1/T$")

# %%
s = np.linspace(-4, 4, 401)
shown = (0.5, 2.0, 3.0)
in_logits = {rf"map, $\gamma = {g:g}$": theory.focal_logit(s, g) for g in shown}
nearest = {g: fits(2)[g] for g in shown}
lines = {rf"$T = {f.temperature:.3f}$, $\gamma = {g:g}$": f.inverse_temperature * s for g, f in nearest.items()}

# %% tags=["remove-input"] mystnb={"image": {"alt": "The map in logits for three gamma as thin curves, each on a broad pale line of its colour through the origin, the closest temperature. The two of each pair nearly coincide."}, "figure": {"name": "fig-fit-logits", "caption": "In logits the map of two classes (thin) lies on the line of its closest temperature (broad and pale). Counterpart of KK24 Fig. 2, right, with the temperatures that belong to the $\\gamma$ shown."}}
line_figure(s, in_logits | lines, "logit $s$", "logit after the map", broad=lines)

# %% tags=["remove-cell"]
for name, g in (("half", 0.5), ("at-two", 2.0), ("three", 3.0)):
    note("fit", {f"t-{name}": nearest[g].temperature})
expect(abs(slope - 0.95) < 0.01, "'it reproduces'")
expect(abs(intercept - 0.85) < 0.03, "'it reproduces'")
on_line = 1 / (0.95 * np.array([0.5, 2.0]) + 0.85)
expect(np.abs(on_line - (0.76, 0.36)).max() < 0.01, "'both lie on the printed line, to a hundredth'")
expect(worst[0] > 1e-3, "'slightly more than the bound'")

# %% [markdown]
# Two details do not reproduce. The error is largest near $\gamma =$ {glue:text}`fit-worst-2:.1f`, and there it is
# slightly above the printed bound, {glue:text}`fit-error-2:.3f` points in place of one tenth of a point. And the
# caption of the figure gives $T = 0.76$ for $\gamma = 0.5$ and $T = 0.36$ for $\gamma = 3$, where the closest are
# {glue:text}`fit-t-half:.2f` and {glue:text}`fit-t-three:.2f`. Both lie on the printed line, to a hundredth,
# the second at $\gamma = 2$, where the closest is {glue:text}`fit-t-at-two:.2f`.
#
# ## For readers of KK24: three and four classes
#
# Here the paper searches a cube of logits, and so do the figures of this section: logits differ by at most
# {glue:text}`fit-reach:.0f`.

# %%
closest = {n: [fits(n, reach)[g] for g in gammas] for n in (3, 4)}
inverse = {f"{n} classes": np.array([fit.inverse_temperature for fit in closest[n]]) for n in closest}
inverse["printed, 3 classes"] = 0.64 * gammas + 0.91
inverse["printed, 4 classes"] = 0.47 * gammas + 0.85
errors = {f"{n} classes": np.array([100 * fit.error for fit in closest[n]]) for n in closest}

# %% tags=["remove-input"] mystnb={"image": {"alt": "Inverse temperature over gamma for three and four classes with the printed lines. For three classes they nearly agree; for four the printed line lies below."}, "figure": {"name": "fig-fit-many", "caption": "The printed lines lie near the closest inverse temperature for three classes, and below it for four. Counterpart of KK24 Fig. 6, left. Curves that lie on each other show as one."}}
line_figure(gammas, inverse, r"$\gamma$", "$1/T$")

# %% tags=["remove-input"] mystnb={"image": {"alt": "Largest difference of a probability over gamma for three and four classes. Both rise from zero and flatten, higher for four classes than for three."}, "figure": {"name": "fig-fit-error", "caption": "The best temperature for four classes has a clearly larger error than that for three. Counterpart of KK24 Fig. 6, right."}}
line_figure(gammas, errors, r"$\gamma$", "largest error (percentage points)")

# %% tags=["hide-input"]
both = pd.DataFrame([("3", 0.64, 0.91, *line(3, reach)), ("4", 0.47, 0.85, *line(4, reach))])
both.columns = ["classes", "slope printed", "intercept printed", "slope here", "intercept here"]
captioned(both, f"1/T as a line in gamma, least squares up to {GAMMAS[-1]:g}", index=False, precision=2)

# %% tags=["remove-cell"]
note("fit", reach=reach, below_3=0.91 - line(3, reach)[1])
note("fit", error_3=100 * fits(3, reach)[9.0].error, error_4=100 * fits(4, reach)[9.0].error)
expect(abs(fits(3, reach)[9.0].error - 0.08) < 0.01, "'8 % for three classes'")
expect(abs(line(3, reach)[0] - 0.64) < 0.01, "'the line nearly'")
expect(0.03 < 0.91 - line(3, reach)[1] < 0.04, "'the line nearly' and 'lower', by more than the tolerance")
expect(fits(4, reach)[9.0].error > 1.3 * fits(3, reach)[9.0].error, "'not similar for four'")

# %% [markdown]
# For three classes the error at $\gamma = 9$, {glue:text}`fit-error-3:.1f` points, is as printed, and the line nearly:
# fitted at every $0.001$ of $\gamma$ as in the paper, it starts {glue:text}`fit-below-3:.3f` lower. Our tolerance was
# $0.03$. For four classes neither is: the error there is {glue:text}`fit-error-4:.1f` points, which is not similar.
#
# ## For readers of KK24: where the difference lies
#
# For three classes all predictions can be drawn at once. The paper sees the largest difference near the corners; here
# it lies at predictions that are less sure.

# %%
points = simplex_grid(80)
panels = {}
for g in (0.5, 3.0):
    difference = deviation_from_map(g, fits(3, reach)[g].inverse_temperature, np.log(points))
    panels[rf"$\gamma = {g:g}$"] = 100 * np.abs(difference).max(-1)

# %% tags=["remove-input"] mystnb={"image": {"alt": "Two triangles shaded by the largest difference between map and temperature. It is small in the centre and at the corners and largest in patches between."}, "figure": {"name": "fig-fit-triangle", "caption": "Map and closest temperature differ most between the centre and the corners, in percentage points. Counterpart of KK24 Fig. 7."}}
maps_on_triangle(points, panels, "difference (percentage points)")

# %% [markdown]
# :::{admonition} What to remember
# :class: tip
# * With two classes the map is nearly a temperature: the nearest one is off by at most
#   {glue:text}`fit-error-2:.3f` percentage points.
# * With ten classes it is not: for $\gamma = 3$ the nearest one is off by {glue:text}`fit-error-ten:.1f` points, with a
#   hundred by {glue:text}`fit-error-many:.1f`.
# * The reason: two rivals need a low temperature, one class above many equal ones a temperature near 1.
# * Which temperature is nearest depends on the number of classes as well as on $\gamma$.
# * Of what is printed, the line for two classes and the error for three reproduce; the line for three nearly does. The
#   line and the error for four classes, the bound of the error for two, both temperatures of a caption and the place
#   of the largest difference do not.
# * For many classes the search rests on a property that was seen everywhere it was looked for, and is not proved.
# :::
#
# ```{exercise}
# :label: ex-fit-sharper
# Beyond its largest value the error for two classes falls as $\gamma$ grows. Explain it by the
# slope bounds of [](#ch-binary).
# ```
#
# ```{solution} ex-fit-sharper
# :class: dropdown
# Where $\operatorname{logit}\hat p(q)$ bends, the probability is already within $e^{-\gamma |s|}$ of 0 or 1, so a
# difference of logits hardly shows.
# ```

# %% tags=["remove-input"]
show(
    "kk24.fig2_line",
    "kk24.fig2_error",
    "kk24.fig2_caption",
    "kk24.fig6_line",
    "kk24.fig6_error",
    "kk24.four_line",
    "kk24.four_error",
    "kk24.fig7_corners",
    "kk24.temperature_below_one",
    "kk24.typical_temperature",
    "kk24.typical_temperature_classes",
)

# %% tags=["remove-input"]
claims_of("temperature_fit")

# %% tags=["remove-input"]
foot("temperature_fit", reach=reach)
