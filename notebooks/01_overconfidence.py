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
# **The question.** A network says 'ninety-six per cent sure', again and again. How often is it right? We train a small
# CNN on part of Fashion-MNIST with cross-entropy, past 100 % training accuracy, and compare what it says with what
# happens. **In short:** on its training data its confidence is honest; on new data it is far too high; one number, a
# temperature, repairs most of it.
#
# :::{admonition} As printed: KK24 section 4.1
# Proper losses, such as cross-entropy, have almost perfect calibration performance on the training set but are
# generally overconfident on the validation set.
# :::

# %% tags=["parameters"]
grid: str = "workflow/grids/fashion-mnist.yaml"  # the runs to read
runs: str = "_build/runs"  # where they are
seed: int = 0  # which cross-entropy run

# %% tags=["hide-input"]
from scipy.special import softmax

from focal_lib import metrics, training
from focal_lib.calibration import TemperatureScaling
from focal_lib.claims import show
from focal_lib.pages.footer import foot
from focal_lib.pages.notes import note
from focal_lib.pages.plots import use_style
from focal_lib.pages.plots.curves import line_figure
from focal_lib.pages.plots.reliability import reliability_diagrams

use_style()
(spec,) = [s for s in training.read_grid(grid) if s.gamma == 0 and s.seed == seed]
run = training.load(spec, runs)

# %% tags=["remove-input"]
note("over", n_train=spec.n_train, epochs=spec.epochs, seed=spec.seed)

# %% [markdown]
# ## The network
#
# The run is one of a grid that the build makes: {glue:text}`over-n-train` training images, {glue:text}`over-epochs` epochs of
# Adam, seed {glue:text}`over-seed`, 5,000 images held out for validation, the published test set. That is a small
# recipe, chosen so that everybody can repeat it on a laptop; it is not the CIFAR training of the papers.

# %% tags=["hide-input"]
history = run.history.pivot(index="epoch", columns="split")
curves = {
    f"{name}, {split}": history[key, split].to_numpy()
    for key, name in (("accuracy", "accuracy"), ("confidence", "mean confidence"))
    for split in ("train", "test")
}

# %% mystnb={"image": {"alt": "Accuracy and mean confidence over epochs, on train and test. On train they rise together to one; on test accuracy stays near 0.83 while confidence climbs to about 0.96."}, "figure": {"name": "fig-over-history", "caption": "Accuracy and mean confidence while training. On the test set they part."}}
line_figure(history.index.to_numpy(), curves, "epoch", "share", ylim=(0.6, 1.02))

# %% [markdown]
# ## Is it right as often as it says?
#
# Sort the predictions by confidence into bins, and compare the mean confidence of a bin with the share it got right.
# The expected calibration error averages the gaps:
#
# ```{math}
# :label: eq-over-ece
# \mathrm{ECE} = \sum_b \frac{n_b}{n}\,\big|\mathrm{accuracy}_b - \mathrm{confidence}_b\big|.
# ```

# %% tags=["hide-input"]
calibrator = TemperatureScaling("nll").fit(run.validation.logits, run.validation.labels)
probs = {
    "train": (softmax(run.train.logits.astype(float), -1), run.train.labels),
    "test": (softmax(run.test.logits.astype(float), -1), run.test.labels),
    "test, after temperature scaling": (calibrator.predict_proba(run.test.logits.astype(float)), run.test.labels),
}
for key, (p, y) in zip(("train", "test", "scaled"), probs.values(), strict=True):
    note(
        "over",
        {
            f"ece-{key}": 100 * metrics.ece(p, y),
            f"confidence-{key}": 100 * float(p.max(-1).mean()),
            f"accuracy-{key}": 100 * metrics.accuracy(p, y),
        },
    )
note("over", temperature=calibrator.temperature_)

# %% mystnb={"image": {"alt": "Three reliability diagrams. On train the points lie at full confidence and accuracy; on test they lie well below the diagonal; after temperature scaling they lie on it."}, "figure": {"name": "fig-over-reliability", "caption": "Reliability on the training set, on the test set, and there after temperature scaling. Hatched: the gap. Below: the share of predictions in each bin."}}
reliability_diagrams({name: metrics.reliability_bins(p, y) for name, (p, y) in probs.items()})

# %% [markdown]
# On train the network is {glue:text}`over-confidence-train:.1f` % confident and {glue:text}`over-accuracy-train:.1f` % right. On test
# it is {glue:text}`over-confidence-test:.1f` % confident and {glue:text}`over-accuracy-test:.1f` % right: an ECE of
# {glue:text}`over-ece-test:.1f` %.
#
# ## One number that helps
#
# Temperature scaling {cite:p}`guo17` divides the logits by a $T$ chosen on validation data, here by the NLL. It finds
# $T =$ {glue:text}`over-temperature:.2f` and brings the test ECE to {glue:text}`over-ece-scaled:.1f` %. The ranking of classes,
# and so the accuracy, stays as it was.
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
# ## Verdict

# %% tags=["remove-input"]
show("kk24.ce_overconfident")

# %% tags=["remove-input"]
foot("01_overconfidence", grid=grid, runs=runs, seed=seed)
