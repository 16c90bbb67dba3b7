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
# (ch-simple)=
# # A model simple enough to see through
#
# **The question.** With real data nobody knows the true probabilities, and a network is never quite at its minimum. Two
# appendices use models that are small enough to know both: {cite:t}`m20` a linear model with flipped labels,
# {cite:t}`l25` a network of two layers of ten units on two moons. What do focal loss and its relatives do there, and
# what of it is the loss, what the sample, what the way of the optimiser? **In short:** focal loss with $\gamma =$
# {glue:text}`simple-gamma-linear:g` shrinks the weights of the linear model to {glue:text}`simple-ratio:.3f` of those
# of cross-entropy; the temperature of its calibration map is {glue:text}`simple-temperature:.3f`. As fitted, its
# probabilities are {glue:text}`simple-raw-gap:+.3f` farther from the truth than those of cross-entropy (root mean
# square; negative is nearer), after the map {glue:text}`simple-mapped-gap:+.3f`. On two moons the map changes the
# distance of focal loss from the truth from {glue:text}`simple-moons-raw:.3f` to {glue:text}`simple-moons-mapped:.3f`;
# with L25's square in the loss it is {glue:text}`simple-moons-fcl:.3f` (whether the map does more than the square:
# {glue:text}`simple-more:s`). That loss has a map of its own, in closed form.
#
# :::{admonition} As printed: M20 Appendix G
# Two normally distributed clusters a class with means on the vertices of a square, 10 % of the labels flipped,
# $f_w(x) = \sigma(w_1x_1 + w_2x_2)$, $\gamma = 1$. 'Figure 5 shows, for a generalised linear model, that the norm of
# the logits and the weights of a network blows for Cross Entropy as compared to Focal Loss.' Both give 'the same
# decision regions'. 'CE misclassifies almost always with greater than 90% confidence whereas FL misclassifies with much
# lower confidence.' Smaller gradients regularise the weights: 'This helps in calibration as - if all the weights are
# large, the logits are large and thus the confidence of the network is large on all test points.'
# :::
#
# :::{admonition} As printed: L25 Appendix A.11
# 'While the FL model generated sharp decision boundaries focusing on hard samples, the FCL model, with = 1.5, produced
# a smoother boundary as depicted in Fig. 7, effectively balancing accuracy and calibration.' Data with 'noise=0.2',
# 'two hidden layers of 10 units', 'Adam for 500 epochs', 'the same = 10 for both models'.
# :::
#
# One sentence of M20 says that the norm is 'much larger for FL as compared to CE'; the sentences around it say the
# opposite, and we take it for a slip. L25's text has lost two letters; we take $\gamma = 10$ and $\lambda = 1.5$.

# %% tags=["parameters"]
gammas: str = "1, 3"  # of the linear model, comma separated; above 0, the first is M20's
draws: int = 10  # of the clusters; at least 2
samples: int = 1000  # a draw; at least 100
flip: float = 0.1  # share of flipped labels; in [0.05, 0.45]
spread: float = 0.5  # standard deviation of a cluster, whose means are 2 apart; at least 0.1
iterations: int = 5000  # of gradient descent; M20 has 50000; at least 1
gamma: float = 10.0  # on two moons; above 0
lam: float = 1.5  # lambda of FCL; above 0
seeds: int = 10  # networks a loss; at least 2
points: int = 500  # samples of two moons; at least 2
epochs: int = 500  # of Adam, as L25; at least 1
further: int = 1500  # epochs to follow them; at least `epochs`
rate: float = 0.01  # learning rate of Adam; above 0

# %% tags=["hide-input"]
import numpy as np
from scipy.special import expit

from focal_lib import metrics, theory
from focal_lib.plots.style import use_style
from reproduction.ledger import claims_of, show
from reproduction.pages.differences import differences
from reproduction.pages.footer import foot
from reproduction.pages.notes import note
from reproduction.pages.plots.curves import line_figure
from reproduction.pages.plots.shades import probability_regions
from reproduction.pages.tables import captioned
from reproduction.studies.shared.moon_networks import MoonLoss, moon_logits, train_on_moons
from reproduction.studies.shared.moons import moon_truth
from reproduction.studies.shared.over_seeds import format_mean_sd
from reproduction.studies.simple_models import linear
from reproduction.studies.simple_models.linear import (
    cluster_truth,
    fit_truth,
    gradient_descent,
    gradient_flow,
    linear_fits,
    mistakes_above,
    norm_ratios,
    separable_growth,
)
from reproduction.studies.simple_models.moons import by_loss, written_contrasts

use_style()
values = tuple(float(g) for g in gammas.split(","))
names = {0.0: "cross-entropy"} | {g: rf"focal, $\gamma = {g:g}$" for g in values}
fits = linear_fits(tuple(names), draws, samples, flip=flip, spread=spread)

# %% [markdown]
# ## A linear model
#
# The clusters have the means $(\pm1, \pm1)$, the class is the sign of the first coordinate, and each label is flipped
# with probability $f$. So the true probability is known:
#
# ```{math}
# :label: eq-cluster-truth
# p(x) = f + (1 - 2f)\,\frac{1}{1 + e^{-2x_1/\sigma^2}}.
# ```
#
# It never leaves $[f, 1-f]$, and the linear model, whose probabilities go to 0 and 1, cannot follow it there. Both
# losses are minimised exactly, by BFGS in float64: over all fits the largest entry of a gradient that is left is
# {glue:text}`simple-gradient:.0e`.

# %% tags=["remove-input"]
differences(
    [
        f"M20: the spread of the clusters is not printed; here {spread:g}, with means 2 apart.",
        f"M20: the number of samples is not printed; here {samples:,}, and {draws} draws in place of one.",
        "M20: a run of gradient descent; here the exact minimum, and gradient descent to compare.",
        f"L25: the data are not named; here scikit-learn's two moons. Their number is not printed; here {points:,}.",
        f"L25: learning rate and activation are not printed; here {rate:g}, all samples at once, and ReLU.",
        f"L25: one network a loss; here {seeds}.",
    ]
)

# %% tags=["hide-input"]
x, labels = linear.noisy_clusters(samples, 0, flip=flip, spread=spread)
times = np.geomspace(0.01, 1e6, 120)
weights = {g: gradient_flow(x, labels, g, times) for g in names}
flows = {g: np.linalg.norm(w, axis=1) for g, w in weights.items()}
logits_along = {names[g]: np.linalg.norm(w @ x.T, axis=1) for g, w in weights.items()}
ends = {g: float(np.linalg.norm(linear.fit_linear_model(x, labels, g).weights)) for g in names}
step = 0.1  # learning rate of gradient descent
path = gradient_descent(x, labels, values[0], rate=step, iterations=iterations)
along = gradient_flow(x, labels, values[0], step * np.arange(1, iterations + 1))
at_end = {rf"$\gamma = {g:g}$" if g else "cross-entropy": (times[-1], norm) for g, norm in ends.items()}

# %% tags=["remove-input"]
mean = fits.groupby("gamma").mean()
note("simple", gradient=fits["gradient"].max(), gamma_linear=values[0], ratio=mean["norm"][values[0]] / mean["norm"][0])
note("simple", temperature=theory.closest_temperature(values[0], 2).temperature, iterations=iterations)
note("simple", off_flow=np.linalg.norm(path - along, axis=1).max(), norm_ce=ends[0.0], norm_focal=ends[values[0]])
over_time = "time (learning rate times iterations)"
note("simple", step=step, plateau=1 - flip, left=np.linalg.norm(path[-1]) / ends[values[0]])

# %% [markdown]
# ## Does the norm blow up?
#
# Gradient descent from 0 with small steps follows a curve, the gradient flow, whatever the step. Its norm:

# %% tags=["remove-input"] mystnb={"image": {"alt": "Norm of the weights over time on a logarithmic axis, a curve for each loss. Each rises from zero and levels off at the norm of its exact minimum, which is marked."}, "figure": {"name": "fig-simple-norm", "caption": "Norm of the weights along the gradient flow, first draw, and at the exact minimum. Time is learning rate times iterations. Counterpart of M20 Fig. 5 (b)."}}
line_figure(
    times,
    {names[g]: norm for g, norm in flows.items()},
    over_time,
    "norm of the weights",
    xscale="log",
    points=at_end,
)

# %% tags=["remove-input"] mystnb={"image": {"alt": "Norm of the logits of the training samples over time on a logarithmic axis, a curve for each loss. Each rises from zero and levels off, the higher, the smaller gamma is."}, "figure": {"name": "fig-simple-logits", "caption": "Norm of the logits of all training samples along the same gradient flow. Counterpart of M20 Fig. 5 (a)."}}
line_figure(times, logits_along, over_time, "norm of the logits", xscale="log")

# %% [markdown]
# It levels off. The flipped labels lie among the others, so no line separates the classes, and every loss has a
# finite minimum: here {glue:text}`simple-norm-ce:.2f` for cross-entropy and {glue:text}`simple-norm-focal:.2f` for
# $\gamma =$ {glue:text}`simple-gamma-linear:g`. (As far as the damaged text shows, '2' is the last label on the axis
# of M20's Fig. 5 (b).) Gradient descent with learning rate {glue:text}`simple-step:g` is at most
# {glue:text}`simple-off-flow:.1e` from the flow in {glue:text}`simple-iterations:,` iterations, after which its norm
# is {glue:text}`simple-left:.4f` of the minimum's. The minimum is where it goes, so the larger norm is the minimum's,
# not the path's.

# %% tags=["remove-input"]
show("m20.linear_bounded")

# %% [markdown]
# M20 draw the decision boundaries of both losses, which give 'the same decision regions'. The probabilities of these
# fits to the first draw, with its first samples:

# %% tags=["hide-input"]
span = np.linspace(-1 - 3 * spread, 1 + 3 * spread, 80)
plane = np.stack(np.meshgrid(span, span, indexing="ij"), axis=-1)
fitted = {g: linear.fit_linear_model(x, labels, g).weights for g in names}
boundaries = {names[g]: expit(plane @ weights) for g, weights in fitted.items()}
angles = {g: np.degrees(np.arctan2(*weights[::-1])) for g, weights in fitted.items()}
note("simple", angle=max(abs(angle - angles[0.0]) for angle in angles.values()))

# %% tags=["remove-input"] mystnb={"image": {"alt": "Maps of the probability of class one over the plane of the four clusters, one a loss, each with a straight line at one half, dashed lines at one tenth and nine tenths where these are reached, and samples drawn on top."}, "figure": {"name": "fig-simple-linear", "caption": "Probability of class 1 by the linear model, first draw: a line at one half, dashed ones a tenth from either end; the first samples, class 1 as crosses. Counterpart of M20 Fig. 6 (b) and (c)."}}
probability_regions(span, span, boundaries, (x[:200], labels[:200]))

# %% [markdown]
# The directions of the lines at one half differ from that of cross-entropy by at most
# {glue:text}`simple-angle:.2f` degrees in this draw.

# %% [markdown]
# ## Smaller by how much?
#
# If the model could follow the truth, focal loss would predict $\hat p^{-1}$ of it, and the binary map is nearly a
# temperature ({ref}`ch-fit`). So its weights should be those of cross-entropy times that temperature. The norms at the
# minimum on the whole distribution, without a sample:

# %% tags=["hide-input"]
grid_gammas = np.array([0.25, 0.5, 1, 2, 3, 5, 7])
shrunk = norm_ratios(grid_gammas, sorted({0.25, 0.5, 1.0, spread}), sorted({0.1, 0.2, flip}))
shrunk["off"] = 100 * (shrunk["ratio"] / shrunk["temperature"] - 1)
spans = shrunk.groupby("gamma")["off"].agg(["min", "max"])
curves = {"smallest of all settings": spans["min"].to_numpy(), "largest of all settings": spans["max"].to_numpy()}
note("simple", off_one=shrunk.loc[shrunk["gamma"] == 1, "off"].abs().max(), off_all=shrunk["off"].abs().max())
note("simple", settings=len(shrunk) // len(grid_gammas), t_low=shrunk["temperature"].min())
note("simple", t_high=shrunk["temperature"].max(), gamma_low=grid_gammas[0], gamma_high=grid_gammas[-1])

# %% tags=["remove-input"] mystnb={"image": {"alt": "How far the ratio of the norms, focal over cross-entropy, is off the temperature closest to the binary map, in per cent, against gamma: the smallest and the largest over several spreads and shares of flipped labels, with a line at zero."}, "figure": {"name": "fig-simple-ratio", "caption": "How far the norm with focal loss over that with cross-entropy is off the temperature closest to the binary focal calibration map, over spreads and shares of flipped labels."}}
line_figure(grid_gammas, curves, r"$\gamma$", "ratio off the temperature (%)", zero=True)

# %% [markdown]
# While the temperature goes from {glue:text}`simple-t-high:.2f` at $\gamma =$ {glue:text}`simple-gamma-low:g` to
# {glue:text}`simple-t-low:.2f` at {glue:text}`simple-gamma-high:g`, the ratio is off it by at most
# {glue:text}`simple-off-one:.1f` % at $\gamma = 1$ and {glue:text}`simple-off-all:.1f` % anywhere, over
# {glue:text}`simple-settings:d` settings of spread and flipped labels. In this model M20's 'weight magnification' and
# KK24's temperature are nearly one thing, which the map nearly undoes.

# %% tags=["remove-input"]
show("m20.linear_ratio")

# %% [markdown]
# ## Where it does blow up
#
# Without flipped labels, and with clusters narrow enough to be separated, there is no minimum: each loss falls for ever
# while the norm grows like $\log t$. The tail of focal loss is $e^{-(1+\gamma)s}$ in the margin $s$, so its norm should
# grow $1/(1+\gamma)$ times as fast, and $1/(1+\gamma)$ is also the slope of the inverse map for large logits.

# %% tags=["hide-input"]
long_times = np.geomspace(1, 1e12, 60)
growth = separable_growth(tuple(names), long_times, 0)
paths = {names[g]: (growth[g] / growth[0.0]).to_numpy() for g in values}
limits = {rf"$1/(1+{g:g})$": (long_times[-1], 1 / (1 + g)) for g in values}

# %% tags=["remove-input"] mystnb={"image": {"alt": "Norm of the focal weights over that of cross-entropy along the gradient flow on separable clusters, over time on a logarithmic axis. The curves sink slowly towards the marked limits one over one plus gamma."}, "figure": {"name": "fig-simple-separable", "caption": "Separable clusters: the norm with focal loss over that with cross-entropy, along the gradient flow. Dots: $1/(1+\\gamma)$."}}
line_figure(
    long_times,
    paths,
    over_time,
    "norm, focal over cross-entropy",
    xscale="log",
    points=limits,
    ylim=(0, 1),
)

# %% [markdown]
# Here the norm is the path's: who trains longer gets more of it, with either loss, though slowly. Twice the norm takes
# about the square of the time.

# %% tags=["remove-input"]
show("m20.linear_separable")

# %% [markdown]
# ## Against the truth
#
# What the fits say, beside {eq}`eq-cluster-truth`, along the first coordinate:

# %% tags=["hide-input"]
truth = cluster_truth(flip=flip, spread=spread)
line = np.linspace(-1 - 3 * spread, 1 + 3 * spread, 300)
slopes = {g: fit_truth(g, truth).weights[0] for g in names}
shown = {"truth": flip + (1 - 2 * flip) * expit(2 * line / spread**2)}
shown |= {names[g]: expit(slope * line) for g, slope in slopes.items()}
first = values[0]
shown[f"{names[first]}, after the map"] = expit(theory.focal_logit(slopes[first] * line, first))

# %% tags=["remove-input"] mystnb={"image": {"alt": "Probability of class one over the first coordinate: the truth, a step between two plateaus, and the sigmoid curves of the fits, which go on towards zero and one. Focal loss is flatter than cross-entropy, and steeper after its map."}, "figure": {"name": "fig-simple-curves", "caption": "The true probability and the fits to the whole distribution. Curves that lie on each other show as one."}}
line_figure(line, shown, "$x_1$", "probability of class 1", ylim=(0, 1))

# %% [markdown]
# The truth is a step between two plateaus, and a sigmoid has to compromise. Far out each of them leaves $[f, 1-f]$;
# a confidence above $1-f$ is never justified.

# %% tags=["hide-input"]
columns = {"norm": "norm", "accuracy": "accuracy", "confidence": "confidence", "high": "mistakes above 0.9"}
columns |= {"distance": "distance", "mapped_distance": "distance after the map", "excess": "excess log-loss"}
columns |= {"mapped_excess": "excess after the map"}
table = format_mean_sd(fits.groupby("gamma")[list(columns)], 3).rename(columns=columns).T
table.columns = [names[g].replace("$", "").replace(r"\gamma", "gamma") for g in table.columns]
captioned(table, "Exact fits, mean and standard deviation over draws; distance: root mean square from the truth")


# %% tags=["remove-input"]
def compared(interval):
    """Of two distances, in words, by the 95 % interval of their difference."""
    if interval.low <= 0 <= interval.high:
        return "as near to the truth, as far as these draws can tell, as"
    return f"{'nearer to' if interval.high < 0 else 'farther from'} the truth than"


by_gamma = {name: fits.pivot(index="seed", columns="gamma", values=name) for name in ("distance", "mapped_distance")}
gaps = {k: metrics.paired_t_interval(v[first], by_gamma["distance"][0.0]) for k, v in by_gamma.items()}
note("simple", linear_raw=compared(gaps["distance"]), linear_mapped=compared(gaps["mapped_distance"]))
note("simple", raw_gap=gaps["distance"].estimate, mapped_gap=gaps["mapped_distance"].estimate)
under = metrics.paired_t_interval(*(fits.loc[fits["gamma"] == 0, name] for name in ("confidence", "accuracy")))
sides = ("underconfident", "overconfident")
note("simple", ce_side=sides[under.estimate > 0], ce_gap=100 * under.estimate, high=100 * mean["high"][0.0])

# %% [markdown]
# Averaged over the distribution, cross-entropy is {glue:text}`simple-ce-side:s`, confidence minus accuracy being
# {glue:text}`simple-ce-gap:+.1f` points. With $\gamma =$ {glue:text}`simple-gamma-linear:g` the distance from the truth
# differs from that of cross-entropy by {glue:text}`simple-raw-gap:+.4f`: focal loss is
# {glue:text}`simple-linear-raw:s` cross-entropy. After the map it differs by {glue:text}`simple-mapped-gap:+.4f`: focal
# loss is {glue:text}`simple-linear-mapped:s` cross-entropy.
#
# That smaller weights help presumes that the larger ones were too large on the whole. In a network that has fitted its
# training set they may be. A model of two weights has not, and its fit to a truth of two plateaus need not be too
# steep. Nor does the map promise more here than to undo the shrinking: it makes focal loss proper where every
# prediction can be chosen freely, and this model cannot choose freely.
#
# M20 look at the mistakes alone. With cross-entropy {glue:text}`simple-high:.0f` % of them are made 'with greater than
# 90% confidence'. The plateau is at {glue:text}`simple-plateau:g` here. With M20's share of flipped labels, a tenth, it
# is at that very confidence, so that the share of such mistakes hangs on the spread, and of a single draw from narrow
# clusters, or of few samples, on chance; with fewer flipped labels the plateau lies higher, and M20's 'almost always'
# can be true.

# %% tags=["hide-input"]
levels = np.linspace(0.5, 0.999, 200)
weights = {g: np.array([slope, 0.0]) for g, slope in slopes.items()}
shares = {g: mistakes_above(w, levels, flip=flip, spread=spread) for g, w in weights.items()}
above = {names[g]: share / share[0] for g, share in shares.items()}

# %% tags=["remove-input"] mystnb={"image": {"alt": "Share of the mistakes with more than a given confidence, over the confidence, a falling curve for each loss. Focal loss falls earlier than cross-entropy, the earlier the larger gamma."}, "figure": {"name": "fig-simple-mistakes", "caption": "Share of the mistakes that are made with more than a given confidence, fits to the whole distribution. Counterpart of M20 Fig. 6 (a)."}}
line_figure(levels, above, "confidence", "share of the mistakes above it", ylim=(0, 1))

# %% tags=["remove-input"]
show("m20.linear_high_never", "m20.linear_underconfident", "m20.linear_mapped")

# %% [markdown]
# ## Two moons: what the losses ask for
#
# Points on two half circles with normal noise, L25's 'noise=0.2'. The density of each class is an integral along its
# half circle, so the true probability is known here, too, and with it what each loss would predict if it could choose
# freely. Cross-entropy and Brier ask for the truth. Focal loss and FCL ask for something else:

# %% tags=["hide-input"]
moons = moon_truth()
focal, fcl = MoonLoss(gamma), MoonLoss(gamma, lam)
losses = (MoonLoss(), MoonLoss(brier=True), focal, fcl)
wanted = {loss: loss.wanted(moons.logits) for loss in losses}
wanted_panels = {"cross-entropy, Brier: the truth": moons.on_grid(moons.truth.posterior)}
wanted_panels |= {loss.label: moons.on_grid(expit(wanted[loss])) for loss in (focal, fcl)}

# %% tags=["remove-input"] mystnb={"image": {"alt": "Three maps of the probability of class one over the plane of two moons: the truth, what focal loss asks for, what FCL asks for. The line at one half is the same in all three; the probabilities that focal loss asks for are nearer to one half than the true ones."}, "figure": {"name": "fig-simple-wanted", "caption": "What the losses ask for: probability of class 1, a line at one half, dashed ones a tenth from either end."}}
probability_regions(moons.x, moons.y, wanted_panels)

# %% [markdown]
# The line between the classes is the same for all of them: each keeps the order of the classes
# (`l25.order_preserving` in {ref}`ch-fcl`), and of two classes the likelier one has more than one half. So whatever
# the boundaries of trained networks differ in comes from the sample and from the way there, not from what the loss
# asks for.
#
# ## What networks do
#
# Ten units, twice, and Adam on all samples at once. A seed draws the sample and the start, so runs of one seed are
# paired. The first seed:

# %% tags=["hide-input"]
numbers = tuple(range(200, 200 + seeds))
marks = tuple(sorted({round(e) for e in np.geomspace(min(20, epochs), further, 14)} | {epochs}))
trained = {
    loss: train_on_moons(loss, numbers, samples=points, epochs=further, rate=rate, marks=marks) for loss in losses
}
logits = {loss: moon_logits(found[epochs], moons) for loss, found in trained.items()}
panels = {loss.label: moons.on_grid(expit(z[0])) for loss, z in logits.items()}
panels[f"{focal.label}, after its map"] = moons.on_grid(expit(focal.mapped(logits[focal][0])))
panels["truth"] = moons.on_grid(moons.truth.posterior)

# %% tags=["remove-input"] mystnb={"image": {"alt": "Six maps of the probability of class one over two moons: networks trained with cross-entropy, Brier, focal loss and FCL, the focal network after its map, and the truth. The boundaries of the networks are made of straight pieces. The map leaves the boundary of the focal network where it is and takes the probabilities away from one half."}, "figure": {"name": "fig-simple-networks", "caption": "Networks of the first seed. Counterpart of L25 Fig. 7."}}
probability_regions(moons.x, moons.y, panels)

# %% tags=["hide-input"]
table = by_loss(logits, moons)
asked = by_loss({loss: z[None] for loss, z in wanted.items()}, moons)
columns = {"accuracy": "accuracy", "gap": "confidence minus accuracy", "distance": "distance"}
columns |= {"mapped_distance": "after its map", "turning": "turning", "steepness": "steepness"}
text = format_mean_sd(table.groupby("loss", sort=False)[list(columns)], 3).rename(columns=columns)
captioned(text, f"After {epochs} epochs, mean and standard deviation over seeds; turning in half turns")

# %% tags=["hide-input"]
ideal = asked.set_index("loss")[list(columns)].rename(columns=columns)
captioned(ideal, "The same of what the losses ask for")

# %% tags=["remove-input"]
at = table.groupby("loss").mean()
note("simple", moons_raw=at["distance"][focal.label], moons_mapped=at["mapped_distance"][focal.label])
note("simple", moons_fcl=at["distance"][fcl.label], moons_fcl_mapped=at["mapped_distance"][fcl.label])
note("simple", gamma_moons=gamma, asked=asked.set_index("loss")["distance"][focal.label], seeds=seeds)
note("simple", steep=asked.set_index("loss")["steepness"][focal.label], steep_truth=asked["steepness"][0])
margin = 0.02  # of the accuracy
note("simple", least=100 * (moons.truth.accuracy - margin), margin=100 * margin)
short = (table["accuracy"] < moons.truth.accuracy - margin).groupby(table["loss"], sort=False).sum()
note("simple", short=", ".join(f"{name}: {count}" for name, count in short.items()))

# %% [markdown]
# An average can be that of a few bad networks. Of {glue:text}`simple-seeds:d` networks a loss, those with an accuracy
# below {glue:text}`simple-least:.1f` %, {glue:text}`simple-margin:g` points less than the best classifier, are:
# {glue:text}`simple-short:s`. And what a loss asks for is not what a network gives: focal loss asks for a distance from
# the truth of {glue:text}`simple-asked:.3f`, its networks are at {glue:text}`simple-moons-raw:.3f`.
#
# L25's 'sharp' and 'smoother' can be said of the form of the boundary or of the probability across it; the two are
# judged apart, below. *Turning* adds up all angles of the line at one half, in half turns. *Steepness* is the mean
# slope of the probability along it. What comes out of the second reading lies in the loss: with $\gamma =$
# {glue:text}`simple-gamma-moons:g` focal loss asks for a steepness of {glue:text}`simple-steep:.2f` where that of the
# truth is {glue:text}`simple-steep-truth:.2f`.
#
# One thing bears on the verdict about turning. The claims were first tried with twice their samples and other seeds,
# where the boundary of FCL did turn less. Then the samples were halved, for speed, and seeds taken that nobody had
# looked at; the verdict is of these alone. If it is undecided, that is no evidence against the paper: larger samples
# may decide it. `focal notebook simple_models -p points 1000` shows the mean turning of each loss with twice as
# many, and leaves the verdict as it is.
#
# The steepness that focal loss lacks its map gives back, without another training:

# %% tags=["remove-input"]
show("l25.fig7_mapped")

# %% [markdown]
# ## The map of FCL
#
# What {cite:t}`kk24` did for focal loss can be done for FCL. Where the risk is stationary, {eq}`eq-fcl-stationary`, the
# truth enters linearly. Solved for it, with $\bar g$ such that the probabilities add up to 1:
#
# ```{math}
# :label: eq-fcl-map
# \begin{gathered}
# p_i = q_i\,\frac{2\lambda q_i + \bar g}{2\lambda q_i + g(q_i)}, \\
# \bar g = \frac{\sum_j v_jg(q_j)}{\sum_j v_j}, \qquad v_j = \frac{q_j}{2\lambda q_j + g(q_j)}.
# \end{gathered}
# ```
#
# So FCL, which is not proper ({ref}`ch-fcl`), is proper after a map, as focal loss is. `theory` has it as
# `focal_calibration_log_probs`; the column 'after its map' of FCL uses it.

# %%
posterior = np.array([0.7, 0.2, 0.1])
predicted = theory.focal_calibration_minimiser(posterior, gamma, lam)
np.exp(theory.focal_calibration_log_probs(np.log(predicted), gamma, lam)).round(12)

# %% tags=["remove-input"]
show("l25.proper_after_map")

# %% [markdown]
# ## Which is nearer to the truth?
#
# Six contrasts of the distance from the truth, written down after a look at other seeds and before these were run
# (`studies/simple_models/moons.py`), corrected together by Holm's method:

# %% tags=["hide-input"]
contrasts = written_contrasts(table, gamma, lam)
note("simple", more=contrasts.set_index("question")["answer"]["the map does more than the square"])
caption = f"Differences of the distance from the truth over {seeds} seeds, 95 % t intervals, answers at 5 % after Holm"
captioned(contrasts, caption, precision=4, index=False).format("{:.2g}", subset="p (Holm)")

# %% [markdown]
# ## With more epochs
#
# Does a network that goes on training fit the accidents of its sample?

# %% tags=["hide-input"]
later = {loss: {e: moon_logits(found[e], moons) for e in marks} for loss, found in trained.items()}
followed = {e: by_loss({loss: z[e] for loss, z in later.items()}, moons, shape=False) for e in marks}
means = {e: found.groupby("loss")[["distance", "mapped_distance"]].mean() for e, found in followed.items()}
over = {loss.label: np.array([means[e]["distance"][loss.label] for e in marks]) for loss in losses}
for loss in (focal, fcl):
    over[f"{loss.label}, after its map"] = np.array([means[e]["mapped_distance"][loss.label] for e in marks])
best = {name: marks[int(curve.argmin())] for name, curve in over.items()}
note("simple", best="; ".join(f"{name}: {epoch}" for name, epoch in best.items()), further=further)

# %% tags=["remove-input"] mystnb={"image": {"alt": "Mean distance from the truth over epochs, both on logarithmic axes: a curve for each loss, and for focal loss and FCL one after their map."}, "figure": {"name": "fig-simple-epochs", "caption": "Root mean square distance from the truth while training, mean over seeds."}}
line_figure(
    np.array(marks), over, "epochs", "distance from the truth (probability)", xscale="log", yscale="log", ylim=(None, 1)
)

# %% [markdown]
# The epoch with the smallest mean distance, of those drawn, up to {glue:text}`simple-further:d`:
# {glue:text}`simple-best:s`. Where it is not the last, training on led away from the truth; where it is the last, not
# yet.
#
# ```{exercise}
# :label: ex-simple-map
# Show that {eq}`eq-fcl-map` is the identity for $\gamma = 0$, whatever $\lambda$, and for $\lambda \to \infty$.
# ```
#
# ```{solution} ex-simple-map
# :class: dropdown
# For $\gamma = 0$, $g = 1$ and so $\bar g = 1$: the fraction is 1. For $\lambda \to \infty$ both ends of the fraction
# are $2\lambda q_i$ up to something bounded, so that it tends to 1.
# ```
#
# :::{admonition} What to remember
# :class: tip
# * With a linear model and flipped labels focal loss with $\gamma =$ {glue:text}`simple-gamma-linear:g` keeps the
#   weights at {glue:text}`simple-ratio:.2f` of those of cross-entropy: about the temperature of its map,
#   {glue:text}`simple-temperature:.2f`. The direction of the two lines is judged below.
# * Smaller weights need not mean better calibration. As fitted, what focal loss says is {glue:text}`simple-linear-raw`
#   what cross-entropy says; after the map the distances from the truth differ by {glue:text}`simple-mapped-gap:+.3f`
#   (root mean square). Cross-entropy itself is {glue:text}`simple-ce-side` here, and {glue:text}`simple-high:.0f` % of
#   its mistakes have the 'greater than 90% confidence' that M20 see 'almost always'.
# * On two moons, $\gamma =$ {glue:text}`simple-gamma-moons:g`, the map brings focal loss from
#   {glue:text}`simple-moons-raw:.3f` to {glue:text}`simple-moons-mapped:.3f` off the truth; FCL is
#   {glue:text}`simple-moons-fcl:.3f` off. Whether the map does more than the square is {glue:text}`simple-more:s`.
# * FCL is proper after a map of its own, in closed form.
# * The spread of the clusters, the sizes of samples and the learning rates are ours, as the papers do not print them;
#   other spreads are asked, too.
# :::
#
# ## Verdict
#
# Of M20's linear model:

# %% tags=["remove-input"]
show(
    "m20.linear_norm",
    "m20.linear_logits",
    "m20.linear_direction",
    "m20.linear_direction_few",
    "m20.linear_high_confidence",
    "m20.linear_lower_confidence",
    "m20.linear_calibration",
)

# %% [markdown]
# Of L25's two moons:

# %% tags=["remove-input"]
show("l25.fig7_smoother", "l25.fig7_sharp", "l25.fig7_calibration", "l25.fig7_accuracy")

# %% tags=["remove-input"]
claims_of("simple_models")

# %% tags=["remove-input"]
foot(
    "simple_models",
    gammas=gammas,
    draws=draws,
    samples=samples,
    flip=flip,
    spread=spread,
    iterations=iterations,
    gamma=gamma,
    lam=lam,
    seeds=seeds,
    points=points,
    epochs=epochs,
    further=further,
    rate=rate,
)
