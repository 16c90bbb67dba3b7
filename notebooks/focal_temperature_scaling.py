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
# (ch-fts)=
# # Focal temperature scaling
#
# **The question.** If the map is not quite a temperature, then map and temperature together have more to offer than a
# temperature alone. Does focal temperature scaling calibrate better? **In short:** on these models, chosen by ECE as
# the paper does, its ECE is lower on validation data in {glue:text}`fts-validation-lower` of {glue:text}`fts-total`
# runs and higher in {glue:text}`fts-validation-higher`; on test data, by 95 % bootstrap intervals each for itself,
# {glue:text}`fts-better` of {glue:text}`fts-total` runs are better for it and {glue:text}`fts-worse` worse. Chosen by
# log-loss, against a temperature alone and by 95 % intervals over seeds, each for itself, {glue:text}`fts-nll-said`.
# Small networks of other kinds, and other scalings, are in [](#page-questions). The paper's open question, whether a
# search along a line is enough: it gives up at most {glue:text}`fts-line-slack:g` points in {glue:text}`fts-line-under`
# of {glue:text}`fts-total` runs.
#
# :::{admonition} As printed: KK24 sections 4.2 and 5.2
# Focal temperature scaling composes the map with temperature scaling and optimises $(\gamma_{ev}, T)$ on a validation
# set. It could noticeably improve ECE among all baseline models while keeping the same accuracy.
# :::

# %% tags=["parameters"]
grid: str = "workflow/grids/fashion-mnist.yaml"  # the runs to read
runs: str = "results/fashion-mnist"  # where they are
resamples: int = 200  # of the bootstrap; at least 1

# %% tags=["hide-input"]
import numpy as np
import pandas as pd

from focal_lib import metrics
from focal_lib.calibration import PAPER_GAMMAS, PAPER_TEMPERATURES, EceSurface
from focal_lib.calibration.calibrators.newton import GAMMA_RANGE
from focal_lib.plots.reliability import landscape
from focal_lib.plots.style import use_style
from reproduction import engine
from reproduction.ledger import claims_of, show
from reproduction.pages.differences import differences, folded_differences
from reproduction.pages.footer import foot
from reproduction.pages.notes import note
from reproduction.pages.plots.curves import panel_figure, point_figure
from reproduction.pages.tables import captioned
from reproduction.studies.shared.from_runs import BOOK_RUNS
from reproduction.studies.shared.over_seeds import format_mean_sd
from reproduction.studies.shared.recorded import load_whole_seeds, read_scalings
from reproduction.studies.shared.scalings import (
    compare_scaling,
    count_on_validation,
    resample_gain,
    say_signs,
    straightness,
    temperature_by_gamma,
    temperature_lines,
)

use_style()
trained = engine.load_runs(grid, runs)
scaled = read_scalings() if runs == BOOK_RUNS else compare_scaling(trained)

# %% [markdown]
# ## The method
#
# ```{math}
# :label: eq-fts
# p = \hat p_\gamma\big(\operatorname{softmax}(z/T)\big),
# ```
#
# with $\gamma$ and $T$ fitted on validation data. The grid is the paper's: {glue:text}`fts-grid` pairs. ECE on this
# page is the paper's, too: adaptive, with 15 bins of equal mass. The class with the largest probability never changes,
# so accuracy is the same throughout. For $\gamma \ge 0$ that is plain, as the map's weight $w$ increases. For the
# negative $\gamma$ of the grid $w$ falls near 1 ([](#ch-simplex)), but two classes of one distribution have
# $x + y \le 1$, and for such $w$ keeps the order.

# %% tags=["remove-input"]
show("kk24.accuracy_unchanged")

# %% tags=["remove-input"]
note("fts", grid=len(PAPER_GAMMAS) * len(PAPER_TEMPERATURES))
note("fts", newton_from=GAMMA_RANGE[0], newton_to=GAMMA_RANGE[1])
on_validation = count_on_validation(scaled)
note("fts", {f"validation-{word}": count for word, count in on_validation.items()})

# %% tags=["hide-input"]
run = trained[0]
surface = EceSurface(run.validation.logits.astype(float), run.validation.labels)
small = [g for g in PAPER_GAMMAS if g <= 1]
temperatures = np.linspace(1, 5, 41)
values = np.array([[surface.ece(g, t) for g in small] for t in temperatures])
of_run = scaled[(scaled["loss"] == run.spec.label) & (scaled["seed"] == run.spec.seed)]
chosen = of_run[(of_run["method"] == "focal-temperature") & (of_run["objective"] == "adaptive-ece")]
chosen = chosen.set_index("search")[["calibration_gamma", "temperature"]]
marks = {"grid optimum": tuple(chosen.loc["grid"]), "line search": tuple(chosen.loc["line"])}

# %% tags=["remove-input"] mystnb={"image": {"alt": "Contours of the adaptive ECE on validation data over gamma and temperature. The low values form a narrow, nearly straight valley that rises to the right."}, "figure": {"name": "fig-fts-landscape", "caption": "Adaptive ECE on validation data of one cross-entropy network over $(\\gamma, T)$. The valley is what makes a search along a line possible."}}
landscape(np.array(small), temperatures, values, marks)

# %% [markdown]
# ## Chosen by ECE, as in Table 1
#
# Adaptive ECE on test data, each scaling fitted on validation data by what stands over it:

# %% tags=["hide-input"]
NAMES = {
    ("none", "", ""): ("", "as trained"),
    ("temperature", "adaptive-ece", "grid"): ("by adaptive ECE", "temperature"),
    ("focal-temperature", "adaptive-ece", "grid"): ("by adaptive ECE", "focal temperature"),
    ("focal-temperature", "adaptive-ece", "line"): ("by adaptive ECE", "along the line"),
    ("temperature", "nll", "newton"): ("by NLL", "temperature"),
    ("focal-temperature", "nll", "newton"): ("by NLL", "focal temperature"),
}


def by_loss(metric: str, scale: float, digits: int, objectives: tuple[str, ...]) -> pd.DataFrame:
    """Mean ± standard deviation over seeds, a row a loss, a column a scaling."""
    wide = scaled.pivot(index=["loss", "gamma", "seed"], columns=["method", "objective", "search"], values=metric)
    kept = (scale * wide[[k for k in NAMES if k[1] in objectives]]).sort_values("gamma").droplevel(["gamma", "seed"])
    kept.columns = pd.MultiIndex.from_tuples([NAMES[key] for key in kept.columns])
    return format_mean_sd(kept.groupby(level="loss", sort=False), digits)


# %% tags=["hide-input"]
by_ece = by_loss("adaptive_ece", 100, 2, ("", "adaptive-ece", "nll"))
captioned(by_ece, "Adaptive ECE (%) on test data, mean ± standard deviation over seeds")

# %% [markdown]
# The difference that matters is the paired one. For each run the test set is resampled; the interval is that of the
# adaptive ECE after focal temperature scaling minus that after temperature scaling. Resampling inflates an ECE, so
# these intervals are a guide only; the ledger judges over seeds and test images.


# %% tags=["hide-input"]
def gain(result: engine.Result) -> metrics.Interval:
    """Of adaptive ECE on test, focal minus plain temperature scaling, both chosen by it on the grid."""
    kept = scaled[(scaled["loss"] == result.spec.label) & (scaled["seed"] == result.spec.seed)]
    kept = kept[(kept["objective"] == "adaptive-ece") & (kept["search"] == "grid")].set_index("method")
    pairs = [tuple(kept.loc[m, ["calibration_gamma", "temperature"]]) for m in ("focal-temperature", "temperature")]
    return resample_gain(result, *pairs, resamples=resamples).scaled(100)


gains = [(run.spec, gain(run)) for run in trained]
groups = {}
for seed in sorted({spec.seed for spec, _ in gains if spec.is_focal}):
    own = [(spec.gamma + 0.12 * (seed - 1.5), i) for spec, i in gains if spec.is_focal and spec.seed == seed]
    sides = np.array([(i.estimate - i.low, i.high - i.estimate) for _, i in own]).T
    groups[f"seed {seed}"] = (np.array([x for x, _ in own]), np.array([i.estimate for _, i in own]), sides)

# %% tags=["remove-input"]
intervals = [i for _, i in gains]
note("fts", better=sum(i.high < 0 for i in intervals), worse=sum(i.low > 0 for i in intervals))
note("fts", total=len(intervals), by_chance=0.025 * len(intervals), validation=len(run.validation.labels))

# %% tags=["remove-input"] mystnb={"image": {"alt": "Difference of the adaptive ECE on test data between focal and plain temperature scaling for each run, with bootstrap intervals, on both sides of zero. Most intervals contain zero."}, "figure": {"name": "fig-fts-differences", "caption": "Adaptive ECE on test data after focal minus after plain temperature scaling, in percentage points, with 95 % bootstrap intervals over test samples. Below zero is better."}}
point_figure(groups, r"$\gamma$ of training", "difference of adaptive ECE (points)", reference=0)

# %% [markdown]
# Of {glue:text}`fts-total` runs {glue:text}`fts-better` have an interval below zero, better with the map, and
# {glue:text}`fts-worse` above it. Each interval stands alone, at 95 %: about {glue:text}`fts-by-chance:.1f` on either
# side would be expected if there were no difference at all.
#
# On the {glue:text}`fts-validation` validation images, by which both are chosen, the adaptive ECE of focal temperature
# scaling is lower than that of a temperature alone in {glue:text}`fts-validation-lower` runs, equal in
# {glue:text}`fts-validation-equal` and higher in {glue:text}`fts-validation-higher`. It need not be lower there: the
# grid of $\gamma$ in KK24 section 5.1 has no 0, so a temperature alone is not among the pairs that are tried. Two
# parameters also follow the noise of these images more closely than one does; on the test set it may go either way.

# %% tags=["remove-input"]
plain = scaled[scaled["method"] == "temperature"]
by_seed = plain.groupby(["loss", "seed", "objective"])["adaptive_ece"].mean().unstack()
means = by_seed.groupby("seed").mean()
relative = means["adaptive-ece"] / means["nll"] - 1
change = metrics.paired_t_interval(relative, 0 * relative).scaled(100)
of_ce = by_seed.loc["cross-entropy"].mean()
note("fts", criterion=change.estimate, criterion_low=change.low, criterion_high=change.high)
note("fts", ce_by_ece=100 * of_ce["adaptive-ece"], ce_by_nll=100 * of_ce["nll"])

# %% [markdown]
# The paper reports 'an extra 20% relative improvement' of ECE from choosing the temperature by ECE instead of log-loss.
# Here the adaptive ECE changes by
# {glue:text}`fts-criterion:+.0f` % on average over losses, with a 95 % t interval over seeds from
# {glue:text}`fts-criterion-low:+.0f` to {glue:text}`fts-criterion-high:+.0f` %; one that holds 0 leaves the
# sign open, and the size is that of other data. For cross-entropy it is {glue:text}`fts-ce-by-ece:.2f` % chosen by ECE,
# {glue:text}`fts-ce-by-nll:.2f` % by log-loss.
#
# ## Chosen by log-loss
#
# KK24 section 5.1 tries the same grid of values for log-loss, where 'the hyperparameter choice criterion was log-loss'.
# Here $T$ and $\gamma$ are found by Newton's method, $\gamma$ from {glue:text}`fts-newton-from:g` to
# {glue:text}`fts-newton-to:g` and $T$ without a grid. That is more than the paper tries: 0 is a value of $\gamma$, and
# the fit of a temperature alone is one of the candidates, so that on validation data the log-loss is never above that
# of a temperature alone.

# %% tags=["hide-input"]
by_nll = by_loss("nll", 1, 3, ("", "nll"))
captioned(by_nll, "NLL on test data, mean ± standard deviation over seeds")

# %% tags=["hide-input"]
fitted = scaled[scaled["objective"] == "nll"].pivot(index=["gamma", "seed"], columns="method")
rows = []
for gamma, part in fitted.groupby(level="gamma"):
    change = metrics.paired_t_interval(part["nll", "focal-temperature"], part["nll", "temperature"])
    mean = part["calibration_gamma", "focal-temperature"].mean()
    rows.append((gamma, mean, change.estimate, change.low, change.high))
columns = ["gamma of training", "mean fitted gamma", "change of NLL", "95 % from", "to"]
changes = pd.DataFrame(rows, columns=columns)
caption = (
    "NLL after focal temperature scaling minus after temperature scaling, both by NLL, 95 % t intervals over seeds"
)
captioned(changes, caption, precision=4, index=False).format("{:g}", subset="gamma of training")

# %% tags=["remove-input"]
of_nll = fitted["nll"].groupby(level="gamma").mean()
relative = 100 * (of_nll["focal-temperature"] / of_nll["temperature"] - 1)
rising = changes["mean fitted gamma"].is_monotonic_increasing
note("fts", grows="grows" if rising else "does not always grow")
note("fts", nll_said=say_signs(changes, "gamma of training", "95 % from", "to", "the test log-loss"))
note("fts", nll_least=relative.min(), nll_most=relative.max(), nll_rows=len(changes))
last = changes.iloc[-1]
note("fts", last=last["gamma of training"], last_fitted=last["mean fitted gamma"])

# %% [markdown]
# By log-loss the fitted $\gamma$ {glue:text}`fts-grows` with the $\gamma$ of training. Of the {glue:text}`fts-nll-rows`
# losses, by 95 % intervals, each for itself: {glue:text}`fts-nll-said`. A lower one looks as if the
# map had bent the network's outputs, and were undone. That this is the cause is not shown: after training with
# {glue:text}`fts-last:g` the fitted $\gamma$ is {glue:text}`fts-last-fitted:.2f` on average.
#
# ## A line in the landscape

# %% tags=["hide-input"]
lines = {}
for result in trained:
    if result.spec.seed == trained[0].spec.seed:
        lines[result.spec.label] = (np.array(small), temperature_by_gamma(result, small), None)
at_end = [name for name, (_, best, _) in lines.items() if best.max() >= PAPER_TEMPERATURES[-1]]

# %% tags=["remove-input"] mystnb={"image": {"alt": "Best temperature over calibration gamma, one line for each training loss. Each is close to straight and rises with gamma; the highest runs into the end of the grid of temperatures."}, "figure": {"name": "fig-fts-lines", "caption": "The temperature that suits each calibration $\\gamma$, one line a training loss, first seed. At $T = 5$ the paper's grid ends. Counterpart of KK24 Fig. 8."}}
point_figure(lines, r"$\gamma$ of the calibration map", "best temperature")

# %% tags=["remove-input"]
focal = scaled[(scaled["method"] == "focal-temperature") & (scaled["objective"] == "adaptive-ece")]
searches = focal.pivot(index=["loss", "seed"], columns="search", values=["value", "seconds"])
given_up = 100 * (searches["value", "line"] - searches["value", "grid"])
note("fts", line_mean=given_up.mean(), line_max=given_up.max())
slack = 0.1  # points
note("fts", line_slack=slack, line_under=int((given_up <= slack).sum()))
note("fts", line_speed=(searches["seconds", "grid"] / searches["seconds", "line"]).median())
note("fts", lines=len(lines), at_end=", ".join(at_end) or "none")

# %% [markdown]
# Of the {glue:text}`fts-lines` lines those that run into the end of the grid ({glue:text}`fts-at-end`) say nothing
# about straightness there, and the ledger, which asks every seed, leaves them out. Searching along the line gives up
# {glue:text}`fts-line-mean:.2f` points of validation ECE on average and {glue:text}`fts-line-max:.2f` at worst, at most
# {glue:text}`fts-line-slack:g` in {glue:text}`fts-line-under` of {glue:text}`fts-total` runs, and is
# {glue:text}`fts-line-speed:.1f` times faster than our grid search. The ledger asks what it loses on test data.
#
# KK24 have CIFAR. Of networks of [](#ch-table1), on all of CIFAR-10 and of CIFAR-100:

# %% tags=["hide-input"]
of_cifar = {}
for name, title in (("cifar10-record", "CIFAR-10"), ("cifar100-record", "CIFAR-100")):
    found = temperature_lines(load_whole_seeds(name), small)
    of_cifar[title] = {label: (np.array(small), best, None) for label, best in found.items()}

# %% tags=["remove-input"] mystnb={"image": {"alt": "Two panels, CIFAR-10 and CIFAR-100: best temperature over calibration gamma, one line for each training loss."}, "figure": {"name": "fig-fts-lines-cifar", "caption": "The same on CIFAR: recorded networks, first seed, cross-entropy and the focal losses that are recorded of each. Counterpart of KK24 Fig. 8, whose networks are ResNet-50."}}
panel_figure(of_cifar, r"$\gamma$ of the calibration map", "best temperature")

# %% tags=["remove-input"]
read = {"the runs on CIFAR-10": "cifar10-record", "those on CIFAR-100": "cifar100-record"}
folded_differences({runs: engine.read_notes(f"workflow/grids/{name}.yaml").differs for runs, name in read.items()})

# %% tags=["remove-input"]
said = []
for title, found in of_cifar.items():
    r2, off = zip(*(straightness(small, best) for _, best, _ in found.values()), strict=True)
    said.append(f"on {title} {min(r2):.2f} to {max(r2):.2f}, no temperature more than {max(off):.2f} off the line")
note("fts", straight_cifar="; ".join(said))

# %% [markdown]
# $R^2$ of the straight line through each is {glue:text}`fts-straight-cifar:s`. Where the temperature hardly changes
# with $\gamma$, small deviations make a low $R^2$. Drawn are networks of one seed, and no claim is judged by them.
#
# That grid search already skips what cannot win: a temperature whose mean confidence is further from the accuracy than
# the best ECE so far. Nothing is lost by it, for any $\gamma > -1$: whatever the temperature, the calibrated confidence
# lies between two increasing functions of the softmax's largest probability, and that falls as $T$ rises, so the bound
# on the distance holds for all temperatures further on (`theory.top_probability_bounds` has the functions and why).
#
# ```{exercise}
# :label: ex-fts-bound
# Show that the ECE is at least $|\text{mean confidence} - \text{accuracy}|$, whatever the bins.
# ```
#
# ```{solution} ex-fts-bound
# :class: dropdown
# The mean gap is $\sum_b \frac{N_b}{N}(\mathrm{conf}_b - \mathrm{acc}_b)$; move the absolute value inside the sum.
# ```
#
# :::{admonition} What to remember
# :class: tip
# * Focal temperature scaling fits two numbers, the $\gamma$ of the map and a temperature. The order of the classes, and
#   so the accuracy, stays; this is proved.
# * Chosen by adaptive ECE on validation data, its adaptive ECE on test data is lower than that of a temperature alone,
#   by bootstrap intervals (a guide only), for {glue:text}`fts-better` of {glue:text}`fts-total` networks and higher for
#   {glue:text}`fts-worse` (each at 95 %). The ledger's verdict, over seeds and images, is below.
# * Chosen by log-loss, it changes the log-loss by {glue:text}`fts-nll-least:+.1f` to {glue:text}`fts-nll-most:+.1f` %,
#   mean over seeds, by loss. By intervals each for itself, {glue:text}`fts-nll-said`.
# * The pairs of $\gamma$ and $T$ with a low ECE form a valley. A search along it gives up
#   {glue:text}`fts-line-mean:.2f` points of ECE on validation data on average, {glue:text}`fts-line-max:.2f` at worst.
# * These are small networks of one kind on one data set. [](#ch-table1) has CIFAR-10; [](#page-questions) has three
#   other architectures, and scalings with parameters for each class, by comparisons that were written down before.
# :::
#
# ## Verdict

# %% tags=["remove-input"]
show(
    "kk24.table1_ece",
    "kk24.nll_kept",
    "kk24.choose_by_ece",
    "kk24.choose_by_nll",
    "kk24.fig8_linear",
    "kk24.line_search",
    "kk24.temperature_decreases_printed",
    "kk24.temperature_decreases",
)

# %% tags=["remove-input"]
claims_of("focal_temperature_scaling")

# %% [markdown]
# The paper's Table 1 is CIFAR and Tiny-ImageNet with a ResNet-50; these verdicts are of small networks on
# Fashion-MNIST, those on CIFAR-10 stand in [](#ch-table1).

# %% tags=["remove-input"]
differences(engine.read_notes(grid).differs)

# %% tags=["remove-input"]
foot("focal_temperature_scaling", grid=grid, runs=runs, resamples=resamples)
