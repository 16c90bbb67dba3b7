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
# (page-in-your-project)=
# # Focal loss in your project
#
# How do I train my model with focal loss, and what do I do with its scores afterwards? Training takes one line in a
# PyTorch loop, in Lightning, in the Trainer of Hugging Face, in LightGBM and XGBoost. Afterwards the sigmoid or
# softmax of a score is **not** the probability of the class: focal loss draws it towards the middle, and class weights
# shift it. Both can be undone exactly, without a single labelled sample.
#
# The data below are made up, so that the true probability of each sample is known. The event is rare.

# %% tags=["parameters"]
samples: int = 10000  # to train on, as many to test on; at least 1000
gamma: float = 2.0  # of focal loss; at least 0
alpha: float = 0.25  # weight of the event, the rest is that of no event (Lin et al.); between 0 and 1
epochs: int = 20  # of the network; at least 1
rounds: int = 100  # of boosting; at least 1
seed: int = 0  # at least 0

# %% tags=["hide-input"]
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pandas as pd
import torch
from IPython.display import Markdown
from scipy.special import expit
from torch import nn

from focal_lib.boosting import FocalObjective
from focal_lib.calibration import FocalProbabilities, save_calibrator, write_onnx
from focal_lib.losses import FocalLoss
from focal_lib.plots.reliability import positive_reliability_diagram
from focal_lib.plots.style import use_style
from focal_lib.theory import estimate_priors, focal_logit, prior_shift, weighted_focal_logit
from reproduction.checkout import ROOT
from reproduction.pages.expected import written_for
from reproduction.pages.footer import foot
from reproduction.pages.tables import captioned

try:
    import lightgbm
except OSError:  # its wheel takes OpenMP from the system
    lightgbm = None
use_style()


def draw(rng):
    """Features, whether the event happened, and its true probability."""
    x = rng.normal(size=(samples, 10))
    p = expit(-4.3 + 1.4 * x[:, 0] + 1.2 * x[:, 1] * x[:, 2] + np.abs(x[:, 3]))
    return x, (rng.random(samples) < p).astype(int), p


(x, y, _), (x_test, y_test, truth) = (draw(np.random.default_rng([seed, part])) for part in (0, 1))
{"events to train on": f"{y.mean():.1%}"}
expect = written_for("in_your_project", globals())

# %% [markdown]
# ## A PyTorch loop
#
# `FocalLoss` takes the place of `nn.CrossEntropyLoss`, with the same shapes: logits (n, K, ...) and labels (n, ...).
# For a network with one logit a label, as torchvision's `sigmoid_focal_loss` expects it, wrap it:
# `MultiLabelLoss(FocalLoss(gamma, alpha=alpha))`. The two calls that are marked matter for losses that change while
# they train. Schedules need the first, AdaFocal the second; others ignore both.

# %%
torch.manual_seed(seed)
network = nn.Sequential(nn.Linear(10, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 2))
optimiser = torch.optim.AdamW(network.parameters(), 2e-3)
loss = FocalLoss(gamma, alpha=alpha)
inputs, labels = torch.tensor(x, dtype=torch.float32), torch.tensor(y)

# %%
for epoch in range(epochs):
    loss.start_epoch(epoch)  # for schedules
    for batch in torch.randperm(samples).split(256):
        optimiser.zero_grad()
        loss(network(inputs[batch]), labels[batch]).backward()
        optimiser.step()
    if loss.learns_from_validation:  # AdaFocal; samples of your validation set belong here
        with torch.no_grad():
            confidence, predicted = network(inputs).softmax(-1).max(-1)
        loss.after_validation(confidence, predicted == labels)

# %%
with torch.no_grad():
    logits = network(torch.tensor(x_test, dtype=torch.float32)).numpy()
of_network = logits[:, 1] - logits[:, 0]  # one score, the logit of the event

# %% [markdown]
# ## Lightning
#
# The loss is a module, so it moves with the model. This block is not run here: Lightning is not installed with the
# book.
#
# ```python
# class Classifier(lightning.LightningModule):
#     def __init__(self, network):
#         super().__init__()
#         self.network, self.loss = network, FocalLoss(2.0, alpha=0.25)
#
#     def on_train_epoch_start(self):
#         self.loss.start_epoch(self.current_epoch)  # for schedules
#
#     def training_step(self, batch, _):
#         inputs, labels = batch
#         return self.loss(self.network(inputs), labels)
#
#     def configure_optimizers(self):
#         return torch.optim.AdamW(self.parameters(), 2e-3)
#
# lightning.Trainer(max_epochs=20).fit(Classifier(network), train_loader)
# ```
#
# ## Trainer of Hugging Face
#
# `compute_loss_func` replaces the loss of the model. Trainer counts the samples of all batches that it accumulates, so
# the loss is a sum over that count. This block is not run here either.
#
# ```python
# loss = FocalLoss(2.0, alpha=0.25, reduction="sum")
#
# def focal(outputs, labels, num_items_in_batch):
#     return loss(outputs.logits, labels) / num_items_in_batch
#
# Trainer(model, arguments, train_dataset=data, compute_loss_func=focal).train()
# ```
#
# Scores of tokens are (batch, length, K): give `outputs.logits.movedim(-1, 1)`. Labels of `-100` are ignored.
#
# ## LightGBM and XGBoost
#
# `FocalObjective` is an objective for both. It gives the gradient and, in place of the second derivative, an upper
# bound of it: the second derivative is negative where the model denies a label, and trees divide by it. With
# $\gamma = 0$ it is the log-loss of LightGBM itself. `initial_score` is the constant that the library would begin with
# if the objective were its own.

# %%
objective = FocalObjective(gamma, class_weights=alpha)
start = objective.initial_score(y)


def boost(objective, start):
    """Scores of the test samples."""
    data = lightgbm.Dataset(x, y, init_score=np.full(samples, start))
    options = {"objective": objective, "num_leaves": 15, "num_threads": 1, "verbose": -1, "seed": seed}
    return lightgbm.train(options, data, rounds).predict(x_test, raw_score=True) + start


scores = {"network": of_network}
if lightgbm:
    scores["LightGBM"] = boost(objective, start)
    of_log_loss = expit(boost(FocalObjective(0.0), FocalObjective(0.0).initial_score(y)))
else:
    print("LightGBM needs OpenMP of the system: install libgomp1 and run again.")

# %% [markdown]
# The classifiers of both libraries take it, too: `LGBMClassifier(objective=objective)`,
# `XGBClassifier(objective=objective)`. With XGBoost, which is not run here, the same reads:
#
# ```python
# data = xgboost.DMatrix(x, y, base_margin=np.full(len(x), start))
# trees = xgboost.train({"max_depth": 4}, data, 100, obj=objective)
# new = xgboost.DMatrix(x_test, base_margin=np.full(len(x_test), start))
# probabilities = objective.probabilities(trees.predict(new, output_margin=True))
# ```
#
# Sample weights of the data set are used. With more classes raw scores are (n, K), and `class_weights` has K numbers.

# %% [markdown]
# (sec-other-losses)=
# ## Focal losses of other libraries
#
# What can each do? Every cell of the table was run: the loss was called, and held against the definition in double or
# many more digits. Losses of classes take (N, K, ...), those of one logit a label (N, ...).

# %% tags=["remove-input"]
features = pd.read_parquet(ROOT / "results/losses/features.parquet")
cells = features.assign(of=features["library"] + ": " + features["call"])
cells = cells.pivot(index="feature", columns="of", values="result").loc[features["feature"].unique()]
expect(cells.filter(like="focal-lib: Multi").eq("yes").all(axis=None), "the text below says so")
cells = cells.rename(columns=lambda of: of.replace("_", " "), index=lambda of: of.replace("_", " "))
captioned(cells[cells.columns.sort_values(key=lambda of: ~of.str.startswith("focal-lib"))], "What focal losses can do")

# %% [markdown]
# Three rows are worth a look before a loss is exchanged. The mean of kornia and MONAI is over labels times classes, so
# the gradient is K times smaller. With $\gamma < 1$ a network that is sure gives a gradient of nan in three libraries.
# And where a label has nearly all probability, float32 rounds what is left: of a loss of $10^{-20}$ ours of classes has
# more than half wrong, too. `MultiLabelLoss` has not.

# %% tags=["remove-input"]
versions = sorted(set(features["library"] + " " + features["version"]) | {f"torch {features['torch_version'].iloc[0]}"})
Markdown(
    f"Versions: {', '.join(versions)}. `python -m benchmarks.losses --out results/losses/features.parquet` runs the "
    "cells again, where these libraries are installed."
)

# %% [markdown]
# (sec-way-back)=
# ## The way back to probabilities
#
# Where focal loss is least in the mean, the focal calibration map ({ref}`ch-binary`) turns the prediction into the
# true probability. For $q = 1/(1+e^{-s})$, class weights $a$ are a shift of logits after it ({ref}`sec-class-weights`):
#
# $$
# \operatorname{logit} p = \operatorname{logit}\hat p(q) + \log\frac{a_0}{a_1}, \qquad
# \frac{a_0}{a_1} = \frac{1-\alpha}{\alpha}.
# $$
#
# The table has the mean distance from the true probability, which only made-up data let us know.

# %%
ways = {
    "sigmoid of the score": expit,
    "the map alone": lambda s: expit(focal_logit(s, gamma)),
    "the map and the shift": lambda s: expit(weighted_focal_logit(s, gamma, alpha)),
}
errors = {name: {way: np.abs(f(s) - truth).mean() for way, f in ways.items()} for name, s in scores.items()}
if lightgbm:
    errors["LightGBM"]["trained with log-loss"] = np.abs(of_log_loss - truth).mean()
captioned(pd.DataFrame(errors), "Mean distance of the predicted from the true probability", precision=4)

# %% [markdown]
# After the way back the trees are as near to the truth as trees trained with log-loss. The pictures show the same from
# labels alone: the share of events among samples of like probability, before and after.

# %% tags=["hide-input"]
name = "LightGBM" if lightgbm else "network"
before, after = expit(scores[name]), ways["the map and the shift"](scores[name])

# %% tags=["remove-input"] mystnb={"image": {"alt": "Observed share of events against the sigmoid of the score, in bins: the points lie far below the diagonal, the last one above it."}, "figure": {"name": "fig-project-before", "caption": "As trained with focal loss: the sigmoid of the score is far too high for most samples, and too low for the most probable."}}
positive_reliability_diagram(before, y_test, event="sigmoid of the score")

# %% tags=["remove-input"] mystnb={"image": {"alt": "Observed share of events against the probability after the map and the shift, in bins: points lie on the diagonal."}, "figure": {"name": "fig-project-after", "caption": "The same scores after the map and the shift: what is predicted happens as often."}}
positive_reliability_diagram(after, y_test, event="after the map and the shift")

# %% [markdown]
# The minimum is what the way back assumes. A network that overfits is elsewhere, and no map without data helps it. With
# validation samples, fit a temperature after it, or ask `calibrate` ({ref}`page-calibrate`).
#
# As a calibrator it is saved, exported and applied like any other, and needs no `fit` on data. `focal export --gamma 2
# --class-weights 0.25 --out focal.json` writes the same file, and `focal apply focal.json scores.csv --out probs.csv`
# uses it.

# %%
calibrator = FocalProbabilities(gamma, class_weights=alpha).fit()
with TemporaryDirectory() as folder:
    save_calibrator(calibrator, Path(folder) / "focal.json")
    write_onnx(calibrator.to_module(), classes=2, path=Path(folder) / "focal.onnx")
whole = nn.Sequential(network, calibrator.to_module())  # features in, probabilities out
float(np.abs(calibrator.predict_proba(logits)[:, 1] - ways["the map and the shift"](of_network)).max())

# %% [markdown]
# (sec-new-prevalence)=
# ## Another prevalence
#
# Often the data of training do not have the prevalence of use: the rare class was sampled more often, or the model
# moves to another hospital. If only the shares of the classes change, and not how each class looks, probabilities
# change by the ratio of the shares {cite:p}`elkan01`. `prior_shift` does that. Here all events of the test samples are
# kept, and one in ten of the others:

# %%
kept = (y_test == 1) | (np.random.default_rng(seed).random(samples) < 0.1)
old, new = y.mean(), y_test[kept].mean()
shifted = prior_shift(after[kept], old, new)

# %% [markdown]
# Where the new prevalence is not known, `estimate_priors` finds it from scores without labels
# {cite:p}`saerens02`. The probabilities must be calibrated for the old one, so the way back comes first
# {cite:p}`alexandari20`.

# %%
estimated = estimate_priors(after[kept], old)
now_true = prior_shift(truth[kept], truth.mean(), new)
found = {
    "as before": (old, after[kept]),
    "new prevalence known": (new, shifted),
    "new prevalence estimated": (estimated, prior_shift(after[kept], old, estimated)),
    "estimated without the way back": (bad := estimate_priors(before[kept], old), prior_shift(before[kept], old, bad)),
}
rows = {how: {"prevalence": p, "mean distance": np.abs(q - now_true).mean()} for how, (p, q) in found.items()}
captioned(pd.DataFrame(rows).T, "Samples of another prevalence: what is assumed of it, and how far from the truth")

# %% [markdown]
# Ratios of sampling rates multiply with class weights. A model trained with weights $a$, on classes of which shares $r$
# were kept, for the original prevalence, needs `class_weights` $a_kr_k$.

# %% tags=["remove-input"]
foot("in_your_project", samples=samples, gamma=gamma, alpha=alpha, epochs=epochs, rounds=rounds, seed=seed)
