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
# # Overconfidence you can see
#
# **The question.** A network is {glue:text}`over-confidence-test:.0f` % sure on average. How often is it right? We
# train a small CNN on part of Fashion-MNIST with cross-entropy, long after it makes its last mistake on its training
# data, and compare what it says with what happens. **In short:** on its training data its confidence is honest; on new
# data it is too high by {glue:text}`over-gap:.0f` percentage points; one number, a temperature, takes
# {glue:text}`over-repaired:.0f` % of the calibration error away.
#
# :::{admonition} As printed: KK24 section 4.1
# Proper losses, such as cross-entropy, have almost perfect calibration performance on the training set but are
# generally overconfident on the validation set.
# :::

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
from reproduction.pages.footer import foot
from reproduction.pages.notes import note
from reproduction.pages.plots.curves import line_figure

use_style()
loaded = {run.spec.seed: run for run in engine.load_runs(grid, runs) if run.spec.is_cross_entropy}
if seed not in loaded:
    raise ValueError(f"seed must be one of the grid's, {', '.join(map(str, loaded))}. Got {seed}.")
run = loaded[seed]

# %% tags=["remove-input"]
note("over", n_train=run.spec.n_train, epochs=run.spec.training.epochs, seed=seed, count=len(loaded))
note("over", n_validation=len(run.validation.labels))

# %% [markdown]
# ## The network
#
# The run is one of a recorded grid: {glue:text}`over-n-train:,d` training images, {glue:text}`over-epochs`
# epochs of Adam, seed {glue:text}`over-seed`; {glue:text}`over-n-validation:,d` images held out for validation; the
# published test set. That is a small recipe, chosen so that everybody can repeat it on a laptop; it is not the CIFAR
# training of the papers.

# %% tags=["hide-input"]
history = run.history.pivot(index="epoch", columns="split")
curves = {
    f"{name}, {split}": history[key, split].to_numpy()
    for key, name in (("accuracy", "accuracy"), ("confidence", "mean confidence"))
    for split in ("train", "test")
}

# %% tags=["remove-input"] mystnb={"image": {"alt": "Accuracy and mean confidence over epochs, on train and test. On train both rise to one; on test accuracy soon stays where it is while confidence climbs on, to far above it."}, "figure": {"name": "fig-over-history", "caption": "Accuracy and mean confidence while training. On the test set they part."}}
line_figure(history.index.to_numpy(), curves, "epoch", "share of samples, or probability", ylim=(0.6, 1.02))

# %% [markdown]
# ## Is it right as often as it says?
#
# Sort the predictions by confidence into 15 bins of equal width, and compare the mean confidence of a bin,
# $\mathrm{conf}_b$, with its accuracy, $\mathrm{acc}_b$. The expected calibration error (ECE) averages the gaps, a bin
# with $N_b$ of the $N$ samples counting $N_b/N$:
#
# ```{math}
# :label: eq-over-ece
# \mathrm{ECE} = \sum_b \frac{N_b}{N}\,\big|\mathrm{acc}_b - \mathrm{conf}_b\big|.
# ```

# %%
calibrators, scaled = {}, {}
for s, r in loaded.items():
    calibrators[s] = TemperatureScaling("nll").fit(r.validation.logits, r.validation.labels)
    scaled[s] = calibrators[s].predict_proba(r.test.logits.astype(float))
probs = {
    "train": (softmax(run.train.logits.astype(float), -1), run.train.labels),
    "test": (softmax(run.test.logits.astype(float), -1), run.test.labels),
    "test, after temperature scaling": (scaled[seed], run.test.labels),
}

# %% tags=["remove-input"]
for key, (p, y) in zip(("train", "test", "scaled"), probs.values(), strict=True):
    note("over", {f"ece-{key}": 100 * metrics.ece(p, y), f"accuracy-{key}": 100 * metrics.accuracy(p, y)})
    note("over", {f"confidence-{key}": 100 * float(p.max(-1).mean())})
temperatures = [calibrator.temperature_ for calibrator in calibrators.values()]
before = [100 * metrics.ece(softmax(r.test.logits.astype(float), -1), r.test.labels) for r in loaded.values()]
after = [100 * metrics.ece(scaled[s], r.test.labels) for s, r in loaded.items()]
for name, values in (("t", temperatures), ("before", before), ("after", after)):
    note("over", {f"{name}-min": float(np.min(values)), f"{name}-max": float(np.max(values))})
note("over", temperature=calibrators[seed].temperature_)
of_seed = list(loaded).index(seed)
note("over", repaired=100 * (1 - after[of_seed] / before[of_seed]))
p, y = probs["test"]
note("over", gap=100 * (float(p.max(-1).mean()) - metrics.accuracy(p, y)))

# %% tags=["remove-input"] mystnb={"image": {"alt": "Three reliability diagrams. On train all points lie in the corner of full confidence and accuracy; on test all but the lowest bins lie well below the diagonal; after temperature scaling they lie near it, the lowest bins excepted, which hold few samples."}, "figure": {"name": "fig-over-reliability", "caption": "Reliability on the training set, on the test set, and there after temperature scaling. Hatched: the gap. Below: the share of predictions in each bin."}}
reliability_diagrams({name: metrics.reliability_bins(p, y) for name, (p, y) in probs.items()})

# %% [markdown]
# On train the mean confidence is {glue:text}`over-confidence-train:.1f` % and the accuracy
# {glue:text}`over-accuracy-train:.1f` %. On test the mean confidence is {glue:text}`over-confidence-test:.1f` % and the
# accuracy {glue:text}`over-accuracy-test:.1f` %, with an ECE of {glue:text}`over-ece-test:.1f` %.
#
# ## One number that helps
#
# Temperature scaling {cite:p}`guo17` divides the logits by a $T$ chosen on validation data, here by the NLL. It finds
# $T =$ {glue:text}`over-temperature:.2f` and brings the test ECE to {glue:text}`over-ece-scaled:.1f` %. The ranking of
# classes, and so the accuracy, stays as it was. Over the {glue:text}`over-count` cross-entropy runs of the grid $T$
# ranges from {glue:text}`over-t-min:.2f` to {glue:text}`over-t-max:.2f`, the test ECE from
# {glue:text}`over-before-min:.1f` to {glue:text}`over-before-max:.1f` % before and from {glue:text}`over-after-min:.1f`
# to {glue:text}`over-after-max:.1f` % after.
#
# Focal loss promises to need less of this repair. Why it should is the subject of the next chapters; whether it does,
# of [](#ch-training).
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
#
# :::{admonition} What to remember
# :class: tip
# * A network is *overconfident* where it is right less often than it says. On its training data the one above says
#   {glue:text}`over-confidence-train:.1f` % and is right in {glue:text}`over-accuracy-train:.1f` %; on new data it says
#   {glue:text}`over-confidence-test:.1f` % and is right in {glue:text}`over-accuracy-test:.1f` %.
# * The *expected calibration error* (ECE) averages such gaps over bins of confidence. Sampling alone makes it larger
#   than 0.
# * *Temperature scaling* divides the logits by one number, fitted on data held out for it. The order of the classes
#   stays. Here the ECE on test data goes from {glue:text}`over-ece-test:.1f` to {glue:text}`over-ece-scaled:.1f` %.
# * This is one small network and a data set of clothes; over {glue:text}`over-count` seeds $T$ is between
#   {glue:text}`over-t-min:.2f` and {glue:text}`over-t-max:.2f`.
# :::
#
# ## Verdict

# %% tags=["remove-input"]
show("kk24.ce_overconfident")

# %% tags=["remove-input"]
claims_of("overconfidence")

# %% tags=["remove-input"]
foot("overconfidence", grid=grid, runs=runs, seed=seed)
