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
# Mukhoti et al. (M20) train networks with focal loss and find them better calibrated. Our own short runs find them
# worse. Both are right, and one rule says which of the two to expect.
#
# Focal loss lowers a network's confidence. How much it lowers it is known without any labels: it is what the focal
# calibration map puts back. So focal loss helps a network that is too sure by about as much, and harms one that is not.
#
# **In short.** Let cross-entropy leave a network overconfident by $G$ points, and let the map add $D$ points to the
# focal network's confidence. Focal loss lowers the calibration error exactly if $D < 2G$. From the logits of one
# cross-entropy run, $D$, the error and the best $\gamma$ can be predicted before any training with focal loss.

# %% tags=["parameters"]
gamma: float = 3.0  # of the two examples; one that was recorded: 3
record: str = "cifar10-long-fresh"  # whose cross-entropy run is asked which gamma it needs: a folder in results/

# %% tags=["hide-input"]
import pandas as pd
from myst_nb import glue

from focal_lib.calibration.focal_training import SHARPENING
from focal_lib.plots.style import use_style
from focal_lib.tool.focal_training import predict_focal_training
from reproduction.ledger import show
from reproduction.pages.footer import foot
from reproduction.pages.notes import note
from reproduction.pages.tables import captioned
from reproduction.studies.law.earlier import OUT, errors
from reproduction.studies.law.figures import law_figure, prediction_figure
from reproduction.studies.law.judged import CELL, choices, over_cells, read_law, sign_predicted
from reproduction.studies.law.plan import CELLS, GAMMAS, SURE
from reproduction.studies.shared.recorded import load_recorded

use_style()
earlier = pd.read_parquet(OUT)
runs = read_law()

# %% [markdown]
# ## Two networks, one rule
#
# The same small network was trained on CIFAR-10 for few epochs and for many. Overconfidence is mean confidence minus
# accuracy, on test images; all numbers are percentage points.

# %%
two = earlier[(earlier["gamma"] == gamma) & earlier["record"].isin(["cifar10-record", "cifar10-long-fresh"])]
means = two.groupby("epochs")[["cross_entropy", "added", "own", "change"]].mean()
means["2 G"] = 2 * means["cross_entropy"]
means = means.rename(
    columns={
        "cross_entropy": "G: cross-entropy is overconfident by",
        "added": "D: the map adds",
        "own": "focal loss is overconfident by",
        "change": "change of ECE",
    }
)
captioned(means, "Means over seeds, in points (ECE with 15 bins of equal width)", precision=1)

# %% tags=["remove-cell"]
more = means["D: the map adds"] > means["2 G"]
assert more.loc[means.index.min()], "the text says that after few epochs too much is taken away"
assert not more.loc[means.index.max()], "the text says that after many it is less"
assert ((means["change of ECE"] > 0) == more).all(), "the text says that ECE follows"

# %% [markdown]
# After few epochs focal loss takes away far more confidence than there was too much: the network is now unsure by more
# than it was too sure. After many there is more to take away, and less is taken: the network is so sure on most images
# that the map hardly changes them.
#
# ## Why twice
#
# The map keeps the order of the classes, so the network and its map are right on the same images. Mean confidence drops
# by $D$ and accuracy stays, so a mapped network that is overconfident by $G$ stands for a focal network that is
# overconfident by $G - D$. That is closer to zero than $G$ as long as $D < 2G$, and zero at $D = G$.
#
# This is arithmetic. What is not: that $G$ is the *same* as with cross-entropy. KK24's decomposition says so for
# the best possible network. Whether it holds for trained networks on new data must be measured.
#
# ## Every network a point

# %% tags=["remove-input"] mystnb={"image": {"alt": "Scatter plot. Horizontal axis: overconfidence of cross-entropy, from underconfident to far overconfident. Vertical axis: confidence that the map adds. Filled points, where ECE falls, lie below the line D = 2G; open ones, where it rises, above it."}, "figure": {"name": "fig-law", "caption": "Below the line focal loss helps, above it it harms. Each point is a network trained with focal loss beside its twin with cross-entropy. Circles: networks trained to test the rule; squares: earlier runs, on which it was found."}}
law_figure(runs, earlier)

# %% tags=["remove-cell"]
glue("law-picture", law_figure(runs, earlier), display=False)

# %% tags=["remove-cell"]
right = sign_predicted(runs)
kinds = {"cells": len(runs[CELL].drop_duplicates()), "runs": len(runs) + len(runs) // len(GAMMAS)}
epochs = [cell.epochs for cell in CELLS]
note("law", kinds, fewest=min(epochs), most=max(epochs), least=min(GAMMAS), largest=max(GAMMAS), sure=SURE)
note("law", right=100 * right.mean(), asked=int(right.notna().sum()))
missed = errors(earlier)
note("law", plain_error=missed[0.0], sharper_error=missed[SHARPENING], sharpening=SHARPENING, earlier=len(earlier))
assert right.mean() > 0.9, "the text says that nearly all signs are as predicted"

# %% [markdown]
# The rule was found on {glue:text}`law-earlier` earlier pairs of runs. Then its predictions and their limits were
# [committed](#sec-law-verdicts), and {glue:text}`law-runs` networks of {glue:text}`law-cells` kinds were trained that
# nobody had seen: images and film reviews; a CNN, an MLP, a small ViT and a text CNN; {glue:text}`law-fewest` to
# {glue:text}`law-most` epochs; $\gamma$ from {glue:text}`law-least:g` to {glue:text}`law-largest:g`.
#
# ## Before any training with focal loss
#
# Read backwards, the decomposition predicts the focal network: it is the cross-entropy network seen through the
# *inverse* map. So one run with cross-entropy is enough to see what every $\gamma$ would do. This is
# `focal gamma logits.npz` on the command line, and one call here. The network is the longer trained one of the example:

# %%
plain = next(run for run in load_recorded(record) if run.spec.is_cross_entropy)
predicted = predict_focal_training((plain.validation.logits, plain.validation.labels), gammas=[1, 2, 3, 5])
captioned(predicted.table.set_index("gamma"), "Predicted from cross-entropy alone: points, and per cent", precision=1)

# %% [markdown]
# Wherever it predicts a change of ECE by {glue:text}`law-sure:g` point or more, the change went in the predicted
# direction in {glue:text}`law-right:.0f` % of {glue:text}`law-asked` new runs.

# %% tags=["remove-input"] mystnb={"image": {"alt": "Scatter plot of predicted against true confidence minus accuracy of focal networks. Open points, the map alone, lie above the diagonal: networks are less underconfident than predicted. Filled points, with sharpening, lie near the diagonal."}, "figure": {"name": "fig-law-prediction", "caption": "The inverse map alone predicts focal networks as too unsure. With one sharpening for all networks, fitted on the earlier runs, the predictions come close to the diagonal."}}
prediction_figure(runs)

# %% tags=["remove-cell"]
gap = over_cells(runs, lambda found: found["own"] - found["plain_own"])
assert gap.low > 0, "the text says that the map alone predicts too little confidence"

# %% [markdown]
# The inverse map alone misses in one direction: focal networks end more confident than it says. There is a reason.
# Seen after the map, focal loss trains faster where a network is already sure: $1 + \gamma$ times as fast, in the
# limit. So the mapped network ends sharper than the cross-entropy network. One number accounts for most of it:
# log-probabilities are multiplied by $(1+\gamma)^s$ before the inverse map. The exponent
# $s =$ {glue:text}`law-sharpening:g` was fitted on the earlier runs, where it takes the root mean square error
# from {glue:text}`law-plain-error:.1f` to {glue:text}`law-sharper-error:.1f` points.

# %% [markdown]
# ## Which gamma, and is it worth it?
#
# Four ways to get a calibrated network, on the same new runs. Test ECE in per cent, mean over kinds of networks:

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
captioned(table, "What each way gives, and how many trainings it takes", precision=2)

# %% tags=["remove-cell"]
ece = table["test ECE (%)"]
law = ece["the gamma that is predicted best"]
assert law < ece["always gamma 3"], "the text says that choosing beats always taking one"
found = over_cells(chosen, lambda each: each["law"] - each["all"])
assert found.high < 1, "the text says that it comes close to training with all of them"
after = ece["cross-entropy, then a temperature"]
assert after <= law, "the text says that a temperature does at least as well"

# %% [markdown]
# Choosing $\gamma$ by the prediction beats always taking the same, and comes close to training with all of them. But a
# temperature, fitted on the validation labels after one training with cross-entropy, does at least as well, and saves
# the second training.
#
# :::{admonition} What to do
# :class: important
# * If a few hundred labelled samples can be kept for it, train with cross-entropy and fit a temperature.
# * If the network's scores must be right without a second step, ask `focal gamma` with a cross-entropy run's validation
#   logits, and train with the $\gamma$ it names. If it names none, leave focal loss alone.
# * For a network that was trained with focal loss already, apply the map or a temperature, and check what is left
#   ([](#ch-fit)).
# :::
#
# **Where this says nothing.** The networks are small, or were trained for a third of the papers' epochs at most. The
# claims are about confidence and the ECE of the most probable class. Focal loss may also change accuracy, and the
# prediction does not see it.
#
# (sec-law-verdicts)=
# ## Verdicts

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
foot("when_focal_loss_helps", gamma=gamma, record=record)
