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
# (ch-when-it-helps)=
# # When does focal loss help?
#
# Mukhoti et al. (M20) train networks with focal loss of $\gamma = 3$ and find them better calibrated. Our own short
# runs find them worse. Both can be right, and one rule says which of the two to expect.
#
# Focal loss makes a network less sure of itself. By about how much is known: it is what the
# [focal calibration map](#ch-binary) puts back, the function that turns a focal network's outputs into calibrated
# probabilities. So focal loss helps a network that would be too sure by about that much, and harms one that would not.
#
# **In short.** Let cross-entropy leave a network overconfident by $G$: its mean confidence is $G$ points above its
# accuracy. Let the map add $D$ points to the confidence of its twin, trained with focal loss. Then focal loss lowers
# the calibration error where $D < 2G$, and raises it elsewhere, with few exceptions. And from logits and labels of
# held-out samples of the cross-entropy network, the effect of each $\gamma$ can be predicted before any training with
# focal loss.

# %% tags=["parameters"]
gamma: float = 3.0  # of the example; one that was trained
record: str = "cifar10-long-fresh"  # whose cross-entropy run is asked which gamma it needs: a folder in results/

# %% tags=["hide-input"]
import pandas as pd
from scipy.special import softmax

from focal_lib.calibration.focal_training import SHARPENING
from focal_lib.metrics import ece
from focal_lib.plots.style import use_style
from focal_lib.tool.focal_training import predict_focal_training
from reproduction.ledger import claims_of, show
from reproduction.pages.explore import explore
from reproduction.pages.footer import foot
from reproduction.pages.notes import note
from reproduction.pages.tables import captioned
from reproduction.studies.law.earlier import OUT
from reproduction.studies.law.figures import law_figure, networks, prediction_figure
from reproduction.studies.law.judged import (
    CELL,
    below_twice,
    choices,
    forecasts,
    is_complete,
    over_cells,
    read_law,
    sign_predicted,
    slope,
)
from reproduction.studies.law.plan import CELLS, GAMMAS, SURE
from reproduction.studies.shared.recorded import load_recorded

use_style()
earlier = pd.read_parquet(OUT)
runs = read_law()

# %% [markdown]
# ## One network, trained longer and longer
#
# A small CNN was trained on Fashion-MNIST, with cross-entropy and with focal loss, for few epochs and for many.
# Confidence and accuracy are those of test images. ECE averages the distance of confidence from accuracy over bins of
# confidence. All numbers are percentage points.

# %%
series = runs.query("dataset == 'fashion-mnist' and model == 'small-cnn' and n_train == 2000 and gamma == @gamma")
means = series.groupby("epochs")[["cross_entropy", "added", "own", "change"]].mean()
means.insert(1, "2 G", 2 * means["cross_entropy"])
captioned(
    means.rename(
        columns={
            "cross_entropy": "G, cross-entropy is overconfident by",
            "added": "D, the map adds",
            "own": "focal loss is overconfident by",
            "change": "ECE of focal loss minus cross-entropy",
        }
    ),
    "By epochs of training, in percentage points (ECE with 15 bins of equal width)",
    precision=1,
)

# %% tags=["remove-cell"]
more = means["added"] > means["2 G"]
assert more.iloc[0], "the text says that after few epochs too much is taken away"
assert not more.iloc[-1], "the text says that after many it is less"
clear = (means["added"] - means["2 G"]).abs() > 3  # points from the line
assert ((means["change"] > 0) == more)[clear].all(), "the text says that ECE follows"
assert means["added"].iloc[-1] < means["added"].iloc[0], "the text says that less is taken away"

# %% [markdown]
# After few epochs focal loss removes far more confidence than was in excess: the network ends more underconfident
# than it was overconfident. With every further epoch there is more to take away, and less is taken: the network is so
# sure on most images that the map hardly changes them.
#
# ## Why twice
#
# The map keeps the order of the classes, so a network and its map are right on the same images. Mean confidence
# differs by $D$. If the map is overconfident by $G$, the network itself is so by $G - D$. That is closer to zero than
# $G$ as long as $D < 2G$, and zero at $D = G$. ECE is at least this distance, and here hardly more.
#
# This is arithmetic. What is not: that the *map of the focal network* is as overconfident as the *cross-entropy
# network*. KK24's decomposition says so for the best possible networks. Networks that were trained, on new data, come
# close: the map is more overconfident by {glue:text}`law-own:.1f` points on average (95 % interval over kinds of
# networks {glue:text}`law-own-low:.1f` to {glue:text}`law-own-high:.1f`), and by more for larger $\gamma$.
#
# ## Every network a point

# %% tags=["remove-input"] mystnb={"image": {"alt": "Scatter plot. Horizontal axis: overconfidence of cross-entropy, from underconfident to far overconfident. Vertical axis: confidence that the map adds. Filled points, where ECE falls, lie below the line D = 2G; open ones, where it rises, above it."}, "figure": {"name": "fig-law", "caption": "Below the line focal loss helps, above it it harms. Each point is a network trained with focal loss beside its twin with cross-entropy. Circles: networks trained to test the rule; squares: earlier runs, on which it was found."}}
law_figure(runs, earlier)

# %% tags=["remove-input"]
picture = explore("law", networks=networks(runs))
note("law", explore=picture)  # for the landing page
picture

# %% tags=["remove-cell"]
right, half = sign_predicted(runs), below_twice(runs)
near = (runs["added"] - 2 * runs["cross_entropy"]).abs() <= 5  # points
gap = over_cells(runs, lambda found: found["own"] + found["added"] - found["cross_entropy"])
kinds = {"cells": len(runs[CELL].drop_duplicates()), "runs": len(runs) + len(runs) // len(GAMMAS)}
done = "" if is_complete(runs) else f" (so far, of {len(CELLS)} planned kinds with two seeds each)"
note("law", kinds, done=done, fewest=runs["epochs"].min(), most=runs["epochs"].max(), sure=SURE)
note("law", least=min(GAMMAS), largest=max(GAMMAS), data=runs["dataset"].nunique(), models=runs["model"].nunique())
note("law", half=int(half.sum()), all=len(half), near=int(near.sum()), near_right=int(half[near].sum()))
note(
    "law", right=int(right.sum()), asked=int(right.notna().sum()), own=gap.estimate, own_low=gap.low, own_high=gap.high
)
assert gap.low > 0, "the text says that the map is more overconfident"
assert half.mean() > 0.9, "the text says: with few exceptions"

# %% [markdown]
# The rule was found on {glue:text}`law-earlier` earlier pairs of runs. Then predictions and their limits were
# [committed](#sec-law-verdicts), and {glue:text}`law-runs` new networks were trained{glue:text}`law-done`, of
# {glue:text}`law-cells` kinds: {glue:text}`law-data` data sets of images and film reviews, {glue:text}`law-models`
# architectures, {glue:text}`law-fewest` to {glue:text}`law-most` epochs, $\gamma$ from {glue:text}`law-least:g` to
# {glue:text}`law-largest:g`. The rule is right for {glue:text}`law-half` of {glue:text}`law-all`. This checks it and
# forecasts nothing, as $D$ is that of the focal network; and most networks lie far from the line. Of those near it,
# {glue:text}`law-near-right` of {glue:text}`law-near` are right.
#
# ## Before any training with focal loss
#
# Read backwards, the decomposition forecasts the focal network: it is the cross-entropy network seen through the
# *inverse* map. So one run with cross-entropy is enough to see what every $\gamma$ would do. This is `focal gamma
# logits.npz` on the command line, and one call here. The network was trained on CIFAR-10 for long; its twin with
# focal loss was trained as well, and is what the last column is about.

# %%
trained = [run for run in load_recorded(record) if run.spec.is_focal]
plain = next(run for run in trained if run.spec.is_cross_entropy)
twins = {run.spec.gamma: run for run in trained if run.spec.seed == plain.spec.seed}
predicted = predict_focal_training((plain.validation.logits, plain.validation.labels), gammas=[1, 2, 3, 5])
table = predicted.table.set_index("gamma")
table["measured ece"] = pd.Series({g: 100 * ece(softmax(t.test.logits, 1), t.test.labels) for g, t in twins.items()})
captioned(table, "Overconfidence in points and ECE in per cent, predicted; ECE measured on test images", precision=1)

# %% [markdown]
# Wherever a change of ECE by {glue:text}`law-sure:g` point or more is predicted for the new runs, it has the predicted
# direction in {glue:text}`law-right` of {glue:text}`law-asked`.

# %% tags=["remove-input"] mystnb={"image": {"alt": "Scatter plot of predicted against true confidence minus accuracy of focal networks. Open points, the map alone, lie above the diagonal: networks are less underconfident than predicted. Filled points, with sharpening, lie near the diagonal."}, "figure": {"name": "fig-law-prediction", "caption": "The inverse map alone predicts focal networks as too unsure. With one sharpening for all networks, fitted on the earlier runs, the predictions come close to the diagonal."}}
prediction_figure(runs)

# %% tags=["remove-cell"]
bias = {
    name: over_cells(runs, lambda found, name=name: found["own"] - found[name]) for name in ("plain_own", "sharper_own")
}
assert bias["plain_own"].low > 0, "the text says that the map alone predicts too little confidence"
assert 0 < bias["sharper_own"].estimate < bias["plain_own"].estimate / 2, "and that sharpening mends more than half"
note("law", bias=bias["sharper_own"].estimate, sharpening=SHARPENING, earlier=len(earlier))
changed = slope(runs, of_change=True)
assert changed.high < 1, "the text says that the change is overpredicted"
note("law", slope=changed.estimate, slope_low=changed.low, slope_high=changed.high)

# %% [markdown]
# The inverse map alone misses in one direction: focal networks end surer than it says. A possible reason: seen after
# the map, focal loss trains faster where a network is sure already, $1 + \gamma$ times as fast in the limit. That
# does not prove it, as samples that are surely wrong are corrected as fast. One number mends most of it:
# log-probabilities are multiplied by $(1+\gamma)^s$ before the inverse map, with $s =$ {glue:text}`law-sharpening:g`,
# fitted on the earlier runs. The new networks still end {glue:text}`law-bias:.1f` points surer than predicted; the
# change is predicted too large (slope of the true on the predicted change {glue:text}`law-slope:.2f`, 95 % interval
# {glue:text}`law-slope-low:.2f` to {glue:text}`law-slope-high:.2f`).

# %% tags=["hide-input"]
found = forecasts(runs)
error = (found.sub(runs["own"], axis=0) ** 2).mean() ** 0.5
captioned(
    error.to_frame("root mean square error (points)"),
    "Forecasts of a focal network's overconfidence: the law, and rivals that know less",
    precision=1,
)

# %% tags=["remove-cell"]
assert error.idxmin() == "the map, sharpened", "the text says that it is best"
assert error["the map alone"] > error["the usual drop of this gamma"], "the text says that the map alone is no better"

# %% [markdown]
# The map alone forecasts no better than what a $\gamma$ usually takes away; the sharpened map does.
#
# ### Where it fails
#
# Kinds of networks with a wrong direction, or with an overconfidence that is missed by far on average:

# %% tags=["hide-input"]
off = runs.assign(wrong=right.eq(0), missed=(runs["own"] - runs["sharper_own"]).abs())
by_kind = (
    off.groupby(CELL).agg(error=("error", "mean"), wrong=("wrong", "sum"), missed=("missed", "mean")).reset_index()
)
failures = by_kind[(by_kind["wrong"] > 0) | (by_kind["missed"] > 4)].set_index("dataset")
heads = {
    "n_train": "training samples",
    "error": "test error (%)",
    "wrong": "wrong directions",
    "missed": "missed by (points)",
}
captioned(failures.rename(columns=heads), "Where the prediction fails", precision=1)

# %% tags=["remove-cell"]
assert failures["missed"].idxmax() == "movie-reviews", "the text says so"
assert failures.loc[["movie-reviews"], "error"].max() > 40, "and that it is near chance"

# %% [markdown]
# It fails most on short film reviews, where networks are wrong on new ones nearly as often as right. There the twins
# differ by more than their loss.
#
# ## Which gamma, and is it worth it?
#
# Five ways to a network, on the same new runs. Test ECE in per cent, mean over kinds of networks:

# %%
chosen = choices(runs)
ways = {
    "cross-entropy, as trained": ("cross-entropy", 1),
    "always gamma 3": ("always", 1),
    "the gamma that is predicted best": ("law", 2),
    "train all, choose on validation": ("all", 1 + len(GAMMAS)),
    "cross-entropy, then a temperature": ("temperature", 1),
}
rows = {name: (trainings, over_cells(chosen, way).estimate) for name, (way, trainings) in ways.items()}
table = pd.DataFrame(rows, index=["trainings", "test ECE (%)"]).T.astype({"trainings": int})
captioned(table, "What each way gives, and how many trainings it takes at most", precision=2)

# %% tags=["remove-cell"]
against = {
    way: chosen.assign(minus=chosen["law"] - chosen[way]).groupby(CELL)["minus"].mean()
    for way in ("always", "all", "temperature")
}
assert over_cells(chosen, lambda each: each["law"] - each["always"]).high < 0, "the text says that choosing is better"
assert over_cells(chosen, lambda each: each["law"] - each["all"]).high < 1, "the text says that it comes close"
assert (against["temperature"] > 0).mean() > 0.5, "the text says that a temperature is better for most kinds"
note("law", cooler=int((against["temperature"] > 0).sum()), warmer=int((against["temperature"] < 0).sum()))

# %% [markdown]
# Choosing $\gamma$ by the prediction is better than always taking the same, and comes close to training with all of
# them. A temperature, fitted on validation labels after one training with cross-entropy, is better for
# {glue:text}`law-cooler` kinds of networks and worse for {glue:text}`law-warmer`; its advantage is large where a
# network is so overconfident that the largest $\gamma$ tried is too small.
#
# :::{admonition} What to do
# :class: important
# * If labelled samples can be kept for it ([how many](#page-advice)), train with cross-entropy and fit a temperature.
# * If the network's scores must be right without a second step, ask `focal gamma` with a cross-entropy run's
#   validation logits and labels, and train with the $\gamma$ it names. If it names none, leave focal loss alone.
# * For a network that was trained with focal loss already, apply the map or a temperature, and check what is left
#   ([](#ch-fit)).
# :::
#
# **Where this says nothing.** The networks are small. The claims are about confidence and the ECE of the most probable
# class. Focal loss may also change accuracy, and the prediction does not see it.
#
# (sec-law-verdicts)=
# ## Verdicts
#
# Predictions and limits were committed before the first run. The code that judges them followed minutes later, when a
# few networks were trained. It departs from the plan in one point: size and slope are those of single networks, where
# the plan says means over seeds.

# %% tags=["remove-input"]
show(
    "kk24.helps_below_twice",
    "kk24.faster_where_sure",
    "kk24.helps_sign",
    "kk24.helps_half",
    "kk24.helps_size",
    "kk24.helps_slope",
    "kk24.helps_own_gap",
    "kk24.helps_choice",
    "kk24.helps_choice_all",
    "kk24.helps_temperature",
)

# %% tags=["remove-input"]
claims_of("when_focal_loss_helps")

# %% tags=["remove-input"]
foot("when_focal_loss_helps", gamma=gamma, record=record)
