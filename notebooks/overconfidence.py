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
# (ch-overconfidence)=
# # A network that is too sure
#
# A network looks at a photograph of a shoe and says 'sneaker, 99 %'. Should you believe it? Collect everything that it
# is so sure of, and count. If it is right as often as it says, you should. This chapter counts, for a small network
# that was trained for long with cross-entropy on pictures of clothes.
#
# **In short:** on its training data its confidence is honest. On new data it is too high by
# {glue:text}`over-gap:.0f` percentage points. One number, a temperature, removes {glue:text}`over-repaired:.0f` % of
# the calibration error.
#
# :::{admonition} As printed: KK24 section 4.1
# Proper losses, such as cross-entropy, have almost perfect calibration performance on the training set but are
# generally overconfident on the validation set.
# :::
#
# (*Proper* losses are defined in the [next chapter](#ch-focal-loss); cross-entropy is one.)

# %% tags=["parameters"]
grid: str = "workflow/grids/fashion-mnist.yaml"  # the runs to read
runs: str = "results/fashion-mnist"  # where they are
seed: int = 1  # which of the grid's cross-entropy runs

# %% tags=["hide-input"]
import numpy as np
from scipy.special import softmax

from focal_lib import metrics
from focal_lib.calibration import TemperatureScaling
from focal_lib.plots.reliability import reliability_diagrams
from focal_lib.plots.style import use_style
from reproduction import engine
from reproduction.ledger import claims_of, show
from reproduction.pages.expected import written_for
from reproduction.pages.footer import foot
from reproduction.pages.notes import note
from reproduction.pages.plots.curves import line_figure

use_style()
loaded = {run.spec.seed: run for run in engine.load_runs(grid, runs) if run.spec.is_cross_entropy}
if seed not in loaded:
    raise ValueError(f"seed must be one of the grid's, {', '.join(map(str, loaded))}. Got {seed}.")
run = loaded[seed]
expect = written_for("overconfidence", globals())

# %% tags=["remove-input"]
note("over", n_train=run.spec.n_train, epochs=run.spec.training.epochs, count=len(loaded))
note("over", n_validation=len(run.validation.labels))

# %% [markdown]
# ## It goes on learning to be sure
#
# The network is a small CNN, the data are {glue:text}`over-n-train:,d` images of Fashion-MNIST, and the training lasts
# {glue:text}`over-epochs` epochs. (The recipe is small so that you can repeat it on a laptop; the papers train larger
# networks on CIFAR.) After each epoch we note how often it is right, its *accuracy*, and how sure it is on average.
# Its *confidence* is the probability that it gives the class it chooses.

# %%
history = run.history.pivot(index="epoch", columns="split")
curves = {
    f"{name}, {split}": history[key, split].to_numpy()
    for key, name in (("accuracy", "accuracy"), ("confidence", "mean confidence"))
    for split in ("train", "test")
}

# %% tags=["remove-input"] mystnb={"image": {"alt": "Accuracy and mean confidence over epochs, on train and test. On train both rise to one; on test accuracy soon stays where it is while confidence climbs on, to far above it."}, "figure": {"name": "fig-over-history", "caption": "On the training set accuracy and confidence rise together. On the test set accuracy stops early and confidence climbs on."}}
line_figure(history.index.to_numpy(), curves, "epoch", "share of samples, or probability", ylim=(0.6, 1.02))

# %% [markdown]
# Cross-entropy rewards the network for every bit of probability that it still adds to the right class. On the training
# set it is soon right about everything, so all that is left to gain is to be surer, and it becomes surer of
# everything, new images included.

# %%
sure = softmax(run.test.logits.astype(float), -1)  # 10,000 test images, 10 classes
right = sure.argmax(-1) == run.test.labels
{"confidence": round(float(sure.max(-1).mean()), 3), "accuracy": round(float(right.mean()), 3)}

# %% [markdown]
# ## Is it right as often as it says?
#
# Two averages can agree by accident, so we compare them where they should agree, among predictions of the same
# confidence. Sort the predictions into 15 bins of equal width. A bin $b$ has $N_b$ of the $N$ samples, a mean
# confidence $\mathrm{conf}_b$ and an accuracy $\mathrm{acc}_b$. By hand, for the predictions that are surest:

# %%
surest = sure.max(-1) > 14 / 15
{
    "share of the samples": round(float(surest.mean()), 3),
    "they say": round(float(sure.max(-1)[surest].mean()), 3),
    "they are right": round(float(right[surest].mean()), 3),
}

# %% [markdown]
# It is nearly certain of all of these, and more than one in ten is wrong. The *expected calibration error* (ECE) is the
# average gap over the bins, weighted by the share of samples in each:
#
# ```{math}
# :label: eq-over-ece
# \mathrm{ECE} = \sum_b \frac{N_b}{N}\,\big|\mathrm{acc}_b - \mathrm{conf}_b\big|.
# ```
#
# ## One number that helps
#
# ```{index} ! temperature scaling
# ```
#
# *Temperature scaling* {cite:p}`guo17` divides all logits by one number $T$. With $T > 1$ the probabilities move
# towards each other; which class is largest does not change, and neither does the accuracy. We choose the $T$ with the
# lowest log-loss (NLL) on {glue:text}`over-n-validation:,d` images that were held out from training.

# %%
calibrators = {s: TemperatureScaling("nll").fit(r.validation.logits, r.validation.labels) for s, r in loaded.items()}
scaled = {s: calibrators[s].predict_proba(r.test.logits.astype(float)) for s, r in loaded.items()}
probs = {
    "train": (softmax(run.train.logits.astype(float), -1), run.train.labels),
    "test": (sure, run.test.labels),
    "test, after temperature scaling": (scaled[seed], run.test.labels),
}
{"T": round(calibrators[seed].temperature_, 2)} | {k: round(100 * metrics.ece(*pair), 1) for k, pair in probs.items()}

# %% tags=["remove-input"] mystnb={"image": {"alt": "Three reliability diagrams. On train all points lie in the corner of full confidence and accuracy; on test all but the lowest bins lie well below the diagonal; after temperature scaling they lie near it, the lowest bins excepted, which hold few samples."}, "figure": {"name": "fig-over-reliability", "caption": "On the test set the network is right less often than it says; one temperature repairs most of that. Hatched: the gap of a bin. Below: the share of predictions in each."}}
reliability_diagrams({name: metrics.reliability_bins(p, y) for name, (p, y) in probs.items()})

# %% tags=["remove-input"]
for key, (p, y) in zip(("train", "test", "scaled"), probs.values(), strict=True):
    note("over", {f"ece-{key}": 100 * metrics.ece(p, y), f"accuracy-{key}": 100 * metrics.accuracy(p, y)})
    note("over", {f"confidence-{key}": 100 * float(p.max(-1).mean())})
temperatures = [calibrator.temperature_ for calibrator in calibrators.values()]
before = [100 * metrics.ece(softmax(r.test.logits.astype(float), -1), r.test.labels) for r in loaded.values()]
after = [100 * metrics.ece(scaled[s], r.test.labels) for s, r in loaded.items()]
for name, values in (("t", temperatures), ("before", before), ("after", after)):
    note("over", {f"{name}-min": float(np.min(values)), f"{name}-max": float(np.max(values))})
of_seed = list(loaded).index(seed)
note("over", repaired=100 * (1 - after[of_seed] / before[of_seed]), gap=100 * float(sure.max(-1).mean() - right.mean()))

# %% tags=["remove-cell"]
expect(right[surest].mean() < 0.9 < sure.max(-1)[surest].mean(), "'nearly certain, and more than one in ten is wrong'")
expect(probs["train"][0].max(-1).mean() - metrics.accuracy(*probs["train"]) < 0.01, "'honest on its training data'")
expect(sure.max(-1).mean() - right.mean() > 0.02, "'on new data it is too high'")
expect(after[of_seed] < before[of_seed] / 2, "'one temperature repairs most of that'")
expect(min(temperatures) > 1, "'every seed needs a T above 1'")
expect(max(after) < min(before), "'the worst seed after scaling is better than the best before'")

# %% [markdown]
# It is not this one network. Every one of the {glue:text}`over-count` seeds needs a $T$ above 1, between
# {glue:text}`over-t-min:.2f` and {glue:text}`over-t-max:.2f`. After scaling the worst of them, with an ECE of
# {glue:text}`over-after-max:.1f` %, is better than the best before, with {glue:text}`over-before-min:.1f` %.
#
# Could one train the network so that it does not become so sure? That is the promise of focal loss. The
# [next chapter](#ch-focal-loss) shows what it asks for, and [](#ch-training) what networks make of it.
#
# :::{admonition} What to remember
# :class: tip
# * A network is *overconfident* where it is right less often than it says. On new data this one says
#   {glue:text}`over-confidence-test:.1f` % and is right in {glue:text}`over-accuracy-test:.1f` %.
# * The *expected calibration error* (ECE) averages such gaps over bins of confidence. Sampling alone makes it larger
#   than 0.
# * *Temperature scaling* divides the logits by one number, fitted on held-out data. Which class is largest does not
#   change. Here the ECE on test data goes from {glue:text}`over-ece-test:.1f` to {glue:text}`over-ece-scaled:.1f` %.
# * This is one small network and a data set of clothes. Part II asks the question of many networks.
# :::
#
# ```{exercise}
# :label: ex-over-bins
# The ECE of a perfectly calibrated model is not 0 on a finite test set. Estimate it here by drawing labels from the
# scaled probabilities.
# ```
#
# ```{solution} ex-over-bins
# :class: dropdown
# `rng.random((n, 1)) < p.cumsum(-1)`, `argmax` along classes gives labels drawn from `p`. The ECE of such labels, over
# repeated draws, shows what sampling alone produces; compare the ECE after scaling with its range.
# ```

# %% tags=["remove-input"]
show("kk24.ce_overconfident")

# %% tags=["remove-input"]
claims_of("overconfidence")

# %% tags=["remove-input"]
foot("overconfidence", grid=grid, runs=runs, seed=seed)
