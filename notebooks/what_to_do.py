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
# (ch-what-to-do)=
# # What to do
#
# Your classifier's scores should mean what they say: of all answers that are eight tenths sure, eight in ten should be
# right. Do you train with focal loss, or do something else? This page is the decision; the chapters before it are the
# reasons.
#
# **In short.** Train with cross-entropy, and fit one temperature on labelled samples that the network has not learnt
# from. In the example below a hundred of them do better, on average, than focal loss as trained. The temperature can be
# built into the last layer, so nothing is added in use. Focal loss is for the rest: where no sample can be spared after
# training, with the $\gamma$ that `focal gamma` names.

# %% tags=["parameters"]
record: str = "cifar10-long-fresh"  # networks of the example: a folder in results
short: str = "cifar10-clipped"  # those after few epochs
seed: int = 1  # of the networks
draws: int = 50  # samples of each size to fit a temperature on; at least 1

# %% tags=["hide-input"]
import numpy as np
import pandas as pd
from scipy.special import softmax

from focal_lib import metrics, theory
from focal_lib.calibration import TemperatureScaling
from focal_lib.plots.style import use_style
from reproduction.checkout import ROOT
from reproduction.ledger import show
from reproduction.pages.expected import written_for
from reproduction.pages.footer import foot
from reproduction.pages.plots.curves import panel_figure
from reproduction.pages.tables import captioned
from reproduction.studies.advice.few_samples import ece_by_samples
from reproduction.studies.advice.regret import ADVICE, mean_regrets, regrets_of
from reproduction.studies.shared.recorded import load_whole_seeds, read_whole_seeds

use_style()
expect = written_for("what_to_do", globals())

# %% [markdown]
# ## The decision
#
# * *Labelled samples are kept aside.* Train with cross-entropy. Then [`focal calibrate`](#page-calibrate) fits a
#   temperature, or more where that is shown to be worth it.
# * *The network's scores are used as they come.* Do the same, and build the temperature into the last layer (below).
# * *All labelled samples are for training.* Hold a few hundred out of an earlier run with cross-entropy. Ask [`focal
#   gamma`](#ch-when-it-helps) about it, and train on everything with the $\gamma$ that it names; if it names none,
#   with cross-entropy. (One could also carry that run's temperature over. Which is better we did not test.)
# * *You were handed a network, and have no labels.* Then nothing tells you whether the scores are right.
# * *The network was trained with focal loss already.* With labelled samples, fit a temperature, as for any other
#   network. Without any, leave it as it is, unless you know that it does as well on new data as in training. The
#   [map](#ch-binary) alone brings back what cross-entropy would have given, with its overconfidence.
# * *There were class weights, or $\alpha$.* `weighted_focal_log_probs` undoes both, the map's part and the weights'
#   ([](#page-in-your-project)).
# * *Two classes, an event and none.* Judge the probability of the event. Use Platt scaling, a slope and
#   an intercept for the logit, where the share of events is off.
# * *People disagree about the labels.* First say [whom the scores are for](#ch-whom).
#
# ## One network, from logits to a decision
#
# Two networks were trained on CIFAR-10 for long, one with cross-entropy and one with focal loss. Their logits of
# validation images, with labels, are all that the decision needs.

# %%
runs = {run.spec.gamma: run for run in load_whole_seeds(record) if run.spec.seed == seed}  # of cross-entropy gamma is 0
plain, focal = runs[0], runs[3]


def calibrated(run):
    """Test probabilities after a temperature that validation images chose; the prior is for few samples."""
    fit = TemperatureScaling(prior_sd=0.5).fit(run.validation.logits, run.validation.labels)
    return fit.predict_proba(run.test.logits)


# %%
probs = {
    "cross-entropy, as trained": softmax(plain.test.logits, axis=1),
    "cross-entropy, then a temperature": calibrated(plain),
    "focal loss, as trained": softmax(focal.test.logits, axis=1),
    "focal loss, then its map": np.exp(theory.focal_log_probs(focal.test.logits, gamma=3.0)),
    "focal loss, then a temperature": calibrated(focal),
}
labels = plain.test.labels
scores = {
    name: {"ECE (%)": 100 * metrics.ece(p, labels), "error (%)": 100 * (p.argmax(1) != labels).mean()}
    for name, p in probs.items()
}
table = pd.DataFrame(scores).T
captioned(table, "Test images; ECE of 15 bins of equal width", precision=1)

# %% tags=["remove-cell"]
of = table["ECE (%)"]
expect(of["focal loss, as trained"] < of["cross-entropy, as trained"], "the text says that focal loss helps as trained")
expect(
    of.filter(like="a temperature").max() < of["focal loss, as trained"] / 2, "and that a temperature helps far more"
)
expect(of.idxmax() == "focal loss, then its map", "the text says that the map makes it worse here")
expect(table["error (%)"]["focal loss, as trained"] > table["error (%)"]["cross-entropy, as trained"], "and so is it")

# %% [markdown]
# As trained, focal loss is the better calibrated of the two. A temperature is worth far more, for either, and
# cross-entropy has the smaller error. The map makes this network worse: it gives back what focal loss took away, too
# much confidence for new images. So the map alone is for models that do as well on new data as in training.
#
# A second step costs nothing in use. The logits are linear in the last layer, $Wx + b$, so divide $W$ and $b$ by $T$:
# the network then gives the calibrated probabilities itself.
#
# ## How many labelled samples?
#
# Fewer than one thinks. Here a temperature is fitted on some of the validation images, drawn again and again:

# %%
sizes = (20, 50, 100, 200, 500, 1000, 2000, 5000)
by_epochs = {"few epochs": short, "many epochs": record}
pairs = {
    title: {run.spec.gamma: run for run in load_whole_seeds(name) if run.spec.seed == seed}
    for title, name in by_epochs.items()
}
after = {title: ece_by_samples(pair[0], sizes, draws) for title, pair in pairs.items()}

# %% tags=["hide-input"]
panels = {}
for title, pair in pairs.items():
    found, n = after[title], np.array(sizes, dtype=float)
    ends = np.abs(found[["low", "high"]].to_numpy().T - found["mean"].to_numpy())
    panels[title] = {"cross-entropy, then a temperature": (n, found["mean"].to_numpy(), ends)}
    for gamma, label in ((0, "cross-entropy, as trained"), (3, "focal loss, as trained")):
        error = 100 * metrics.ece(softmax(pair[gamma].test.logits, axis=1), pair[gamma].test.labels)
        panels[title][label] = (n, np.full(len(n), error), None)

# %% tags=["remove-input"] mystnb={"image": {"alt": "Two panels, ECE over the number of labelled samples on a logarithmic axis. Two level lines for cross-entropy and focal loss as trained; a falling line with bars for cross-entropy after a temperature, below both from a hundred samples on."}, "figure": {"name": "fig-what-samples", "caption": "From a hundred labelled images on, cross-entropy with a temperature is better calibrated on average than focal loss as trained; from a few hundred on, nearly always. Test images of CIFAR-10, small network; bars hold the middle nine tenths of the draws."}}
panel_figure(panels, "labelled samples", "ECE (%)", xscale="log", ylim=(0, 6))

# %% tags=["remove-cell"]
for title, groups in panels.items():
    level = groups["focal loss, as trained"][1][0]
    expect((after[title]["mean"].loc[100:] < level).all(), "the caption says: from a hundred on")
    expect((after[title]["high"].loc[500:] < level).all(), "the caption says: from a few hundred on nearly always")
decided = mean_regrets(regrets_of(pd.read_parquet(ROOT / "results/advice/regret.parquet")), ["samples"])
expect((decided[ADVICE] < decided["as given"]).all(), "the text says: at every number of samples")
expect(decided["samples"].min() == 100, "the text says: from a hundred on")
scaled = read_whole_seeds("fashion-mnist-architectures").query(
    "method == 'temperature' and objective == 'adaptive-ece' and metric == objective"
)
by_loss = scaled.pivot_table(index="model", columns="loss", values="value")
expect((by_loss["focal 3"] < by_loss["cross-entropy"]).sum() == 3, "the text says so of these three")

# %% [markdown]
# The same was counted on made-up models and recorded networks of many kinds ([](#page-advice)). From a hundred samples
# on, the advice of `focal calibrate` costs less on average than leaving the scores as they are. On a model that is
# calibrated already a temperature cannot help, and with few samples it costs a little. What counts is errors among
# the samples, ten or more: a model that is rarely wrong needs more samples.
#
# There are exceptions: a small ViT, a Mixer and a ConvNeXt that learnt few images for many epochs; why these we do not
# know. With focal loss they stay better calibrated after a temperature, too ([](#ch-fts)), and for some networks of
# [](#ch-when-it-helps) the predicted $\gamma$ beats a temperature.

# %% tags=["remove-input"]
show("kk24.helps_temperature", "kk24.helps_choice")

# %% [markdown]
# ## Class weights, two classes
#
# Weights shift every probability, and no temperature mends that. For three classes, the last one weighted five times:

# %%
logits = np.array([[2.0, 0.5, 1.0]])
undone = np.exp(theory.weighted_focal_log_probs(logits, 2.0, class_weights=[1, 1, 5]))
rows = {"softmax of the logits": softmax(logits, axis=1)[0], "map and weights undone": undone[0]}
captioned(pd.DataFrame(rows, index=["class 1", "class 2", "class 3"]).T, "Probabilities of one sample", precision=2)

# %% [markdown]
# Of two classes, ask whether an event that gets three tenths happens three times in ten. `metrics.positive_ece` and
# `focal check` do. The most probable class is nearly always 'no event' where events are rare, and can look
# calibrated while the events are not.
#
# ## Afterwards
#
# ```
# focal gamma validation.npz                   # which gamma, from a run with cross-entropy
# focal calibrate validation.npz --out report  # fits, compares, advises
# focal check test.npz --max-ece 0.02          # passes, fails, or says that the samples do not tell
# focal watch outcomes.csv --state watch.db    # in use: an alarm when calibration is lost
# ```
#
# A temperature is fitted to the data of a day. Check it on data that it has not seen, and watch it in use
# ([](#page-in-use)): when the data change, a calibrator need not hold.
#
# :::{admonition} What to do
# :class: tip
# * Keep labelled samples aside, a few hundred if you can. Train with cross-entropy, fit a temperature, and divide the
#   last layer by it.
# * Where none can be spared after training, ask `focal gamma` before it. Leave focal loss alone if it names no
#   $\gamma$.
# * A focal network is a network: fit a temperature. Use the map alone where there is no overfitting.
# * Undo class weights before anything else.
# * Judge two classes by the probability of the event.
# * Check on new data, and watch.
# :::
#
# **Where this says nothing.** The networks here are small, and most data are images. None of it makes your network
# right more often: a temperature changes no answer.

# %% tags=["remove-input"]
foot("what_to_do", record=record, short=short, seed=seed, draws=draws)
