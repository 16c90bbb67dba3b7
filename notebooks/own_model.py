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
# (page-own-model)=
# # Calibrate the model of another library
#
# How do the logits of a torch or scikit-learn model get in, or what has the shape of Hugging Face's outputs, and how
# does the calibrated model get out? Each way below ends with a model that gives calibrated probabilities. The data are
# made up; {ref}`page-three-models` has real ones. For a report on a file of logits, see {ref}`page-calibrate`; for
# commands, which need no Python, {ref}`page-command-line`.

# %% tags=["parameters"]
samples: int = 4000  # samples made up to train on, as many to validate and to test on; at least 1000
seed: int = 0  # seed of the data and the network; at least 0
networks: str = "cifar10-resnet8/598cf2a97b66ca1c"  # in results/, for the last table
fit_on: int = 2000  # how many of their validation samples the calibrators are fitted on; at least 500

# %% tags=["hide-input"]
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

import numpy as np
import pandas as pd
import torch
from IPython.display import Markdown, display
from scipy.special import expit
from sklearn.datasets import make_classification
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.multioutput import MultiOutputClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.svm import LinearSVC
from torch import nn

try:
    from lightgbm import LGBMClassifier
except OSError:  # its wheel takes OpenMP from the system
    LGBMClassifier = None

# %% tags=["hide-input"]
from focal_lib import metrics
from focal_lib.boosting import FocalObjective
from focal_lib.calibration import (
    FocalTemperatureScaling,
    TemperatureScaling,
    as_logits,
    load_calibrator,
    save_calibrator,
    write_onnx,
)
from focal_lib.tool import apply_to_scores, calibrate, method_table, read_logits
from reproduction.checkout import ROOT
from reproduction.pages.footer import foot
from reproduction.pages.tables import captioned
from reproduction.studies.shared import speed

torch.manual_seed(seed)
x, y = make_classification(3 * samples, n_features=20, n_informative=8, n_classes=4, flip_y=0.1, random_state=seed)
x_train, x_rest, y_train, y_rest = train_test_split(x.astype(np.float32), y, test_size=2 / 3, random_state=seed)
x_val, x_test, y_val, y_test = train_test_split(x_rest, y_rest, test_size=1 / 2, random_state=seed)

# %% [markdown]
# ## A torch network
#
# Fit on the logits of the validation set, on any device; append the calibrator as a module. The module has no
# parameters to train, is safe in float32, and goes wherever the network goes: to another device, into `state_dict`,
# into ONNX.

# %%
network = nn.Sequential(nn.Linear(20, 256), nn.ReLU(), nn.Linear(256, 4))
optimiser = torch.optim.Adam(network.parameters(), 3e-3)
inputs, targets = torch.from_numpy(x_train), torch.from_numpy(y_train)
for _ in range(300):
    optimiser.zero_grad()
    nn.functional.cross_entropy(network(inputs), targets).backward()
    optimiser.step()

# %%
with torch.no_grad():
    fit = FocalTemperatureScaling("nll", "newton").fit(network(torch.from_numpy(x_val)), torch.from_numpy(y_val))
    calibrated = nn.Sequential(network, fit.to_module())
    before = torch.softmax(network(torch.from_numpy(x_test)), -1)
    after = calibrated(torch.from_numpy(x_test))


def scores_of(found):
    """NLL and ECE of probabilities by name."""
    ece = "ECE, equal width (%)"
    rows = {name: {"NLL": metrics.nll(p, y_test), ece: 100 * metrics.ece(p, y_test)} for name, p in found.items()}
    return pd.DataFrame(rows).T


captioned(scores_of({"before": before, "after": after}), "The network on test data")

# %% [markdown]
# The same as a file for other runtimes, and as a small file of numbers that loads without pickle (`focal export` and
# `focal apply` use it):

# %%
home = TemporaryDirectory()  # removed with the kernel
folder = Path(home.name)
write_onnx(fit.to_module(), classes=4, path=folder / "calibrator.onnx")
save_calibrator(fit, folder / "calibrator.json")
again = load_calibrator(folder / "calibrator.json")
{"T": round(again.temperature_, 3), "gamma": round(again.gamma_, 3)}

# %% [markdown]
# ## A scikit-learn classifier
#
# What has `decision_function` of shape (n, K) gives logits; what has `predict_proba` alone, as a forest has, gives
# probabilities: say so, and they become logits. A calibrator is a classifier on logits, so it ends a pipeline, is
# cloned, and is searched over like any other.

# %%
forest = RandomForestClassifier(200, random_state=seed, n_jobs=1).fit(x_train, y_train)


def logits_of_forest(inputs):
    return as_logits(forest.predict_proba(inputs), "probs")


# %%
pipeline = make_pipeline(FunctionTransformer(logits_of_forest), TemperatureScaling()).fit(x_val, y_val)
found = {"before": forest.predict_proba(x_test), "after": pipeline.predict_proba(x_test)}
captioned(scores_of(found), "The forest on test data")

# %% [markdown]
# A forest averages votes, which often makes it *under*confident: its temperature is then below 1. Where no tree voted
# for a class its probability is 0 and its logit that of the smallest float, which no temperature repairs.

# %%
t = pipeline[-1].temperature_
f"T = {t:.3f}: the forest is {'under' if t < 1 else 'over'}confident here."

# %% [markdown]
# ## Outputs of the shape of Hugging Face's
#
# `Trainer.predict` gives an object with `predictions`, which are logits, and `label_ids`; a model's own output has
# `.logits`. Both are arrays or tensors of shape (n, K) already. Language models give (batch, length, vocabulary):
# flatten the first two axes and drop the labels that are `-100`, the padding (`calibrate` takes them as they are).
# Below is the shape of such an object alone: no model of Hugging Face made its numbers, but the network of above.


# %%
class PredictionOutput(NamedTuple):
    """The shape of transformers' own, without it."""

    predictions: np.ndarray
    label_ids: np.ndarray


with torch.no_grad():
    whole = samples // 8 * 8
    token_logits = network(torch.from_numpy(x_val[:whole])).numpy().reshape(-1, 8, 4)  # (batch, length, K)
token_labels = np.where(np.arange(8) < 6, y_val[:whole].reshape(-1, 8), -100)  # the last two are padding
output = PredictionOutput(token_logits, token_labels)

# %%
kept = output.label_ids.ravel() != -100
logits, labels = output.predictions.reshape(-1, 4)[kept], output.label_ids.ravel()[kept]
np.savez(folder / "logits.npz", logits=logits, labels=labels)  # for: focal calibrate logits.npz --out report
round(TemperatureScaling().fit(logits, labels).temperature_, 3)

# %% [markdown]
# (sec-layouts)=
# ## Scores of one class, of several labels, of pixels
#
# `calibrate` and `read_logits` tell by the shapes what was given, and `apply_to_scores` (on the command line
# `focal apply`) gives probabilities of the shape of the new scores. A classifier of two classes has one score a sample,
# which is a logit of the positive class:

# %%
signs = y_train == 3, y_val == 3, y_test == 3
machine = LinearSVC(random_state=seed).fit(x_train, signs[0])
report = calibrate((machine.decision_function(x_val), signs[1]), "temperature,vector", resamples=200)
report.advice.words

# %%
positive = apply_to_scores(report.calibrator, machine.decision_function(x_test))
positive.shape, round(float(positive.mean()), 3), round(float(signs[2].mean()), 3)

# %% [markdown]
# Boosted trees can be trained with the focal loss as an objective of one's own ({ref}`page-in-your-project`). Their raw
# scores are then no logits: where the expected loss is smallest the sigmoid of such a score is too near 1/2. The focal
# calibration map (KK24 section 4.2) makes it the probability, without a sample to fit on. Trees that overfit are
# elsewhere, and the map, which moves all away from 1/2, may make them worse. Where there are validation samples,
# `calibrate` is asked:


# %%
def compare_scores_of_trees():
    """NLL and ECE of what can be made of the raw scores."""
    objective = FocalObjective(gamma=3.0)
    trees = LGBMClassifier(objective=objective, n_jobs=1, verbose=-1, random_state=seed).fit(x_train, signs[0])
    raw_val, raw = (trees.predict(inputs, raw_score=True) for inputs in (x_val, x_test))
    of_trees = calibrate((raw_val, signs[1]), "temperature", resamples=200)
    found = {"sigmoid": expit(raw), "focal calibration map": objective.probabilities(raw)}
    found[f"advice of calibrate: {of_trees.kept.label}"] = apply_to_scores(of_trees.calibrator, raw)
    rows = {}
    for name, p in found.items():
        both, truth = np.stack([1 - p, p], -1), signs[2].astype(int)
        rows[name] = {"NLL": metrics.nll(both, truth), "ECE, equal width (%)": 100 * metrics.ece(both, truth)}
    return captioned(pd.DataFrame(rows).T, "Trees trained with focal loss, on test data")


# %%
compare_scores_of_trees() if LGBMClassifier else "LightGBM needs OpenMP of the system: install libgomp1 and run again."

# %% [markdown]
# Scores (n, L) with labels (n, L) of 0 and 1 are L problems of two classes, with one calibrator for all of them. Labels
# of one sample are not independent, so a sample's labels stay together in splits, and each label is a slice:

# %%
several = MultiOutputClassifier(LogisticRegression(max_iter=1000)).fit(
    x_train, np.stack([y_train > 1, y_train % 2], -1)
)
scores = np.stack([one.decision_function(x_val) for one in several.estimators_], -1)
of_labels = calibrate((scores, np.stack([y_val > 1, y_val % 2], -1)), "temperature", resamples=200)
print(of_labels.notes[0])
print(of_labels.kept_in_words)

# %% [markdown]
# A segmentation network gives (N, K, H, W), with labels (N, H, W); those of `255` (or another `ignore_index`) are left
# out, and of each image at most `pixels` are drawn. The pixels of an image stay together. Here the network of above
# runs over made-up images:

# %%
side = 8
images = torch.from_numpy(x_val[: samples // side**2 * side**2]).reshape(-1, side, side, 20)
masks = torch.from_numpy(y_val[: images.numel() // 20].reshape(-1, side, side).copy())
masks[:, 0] = 255  # the upper edge is not labelled
with torch.no_grad():
    of_pixels = calibrate((network(images).movedim(-1, 1), masks), "temperature", pixels=40, resamples=200)
    shape = apply_to_scores(of_pixels.calibrator, network(images).movedim(-1, 1)).shape
print(*of_pixels.notes[:2], f"Probabilities: {shape}.", sep="\n")

# %% [markdown]
# Questions with different numbers of options, as `samples_*.jsonl` of lm-evaluation-harness holds, are read as they are
# (`focal calibrate samples_arc.jsonl --out report`); an option that is not there has probability 0. Only temperatures
# are fitted then, as what stands in a column differs from question to question:

# %%
rng = np.random.default_rng(seed)
questions = [4 * rng.normal(size=rng.integers(2, 6)) for _ in range(samples // 4)]
answers = [rng.choice(len(one), p=np.exp(one / 2) / np.exp(one / 2).sum()) for one in questions]
of_options = calibrate((questions, answers), "temperature,focal-temperature", resamples=200)
print(of_options.notes[0])
two = pd.DataFrame(apply_to_scores(of_options.calibrator, np.array([[1.0, 3.0, -np.inf], [2.0, 0.0, 1.0]])))
captioned(two.add_prefix("option "), "Two questions, the first with two options")

# %% [markdown]
# ## More samples than memory holds
#
# Fits and metrics read samples in chunks. A memory map goes in as it is; a Dask array goes in as it is, on one machine
# or many, and what its workers lose when one of them dies is computed again. The three give the same numbers:

# %%
import dask.array

np.save(folder / "logits.npy", logits.astype(np.float16))
mapped = np.load(folder / "logits.npy", mmap_mode="r")
lazy = dask.array.from_array(mapped, chunks=(1000, 4))
kinds = {"in memory": np.array(mapped), "memory map": mapped, "Dask array": lazy}
fits = {name: TemperatureScaling().fit(z, labels) for name, z in kinds.items()}
found = {name: (f.temperature_, metrics.nll(f.lazy_proba(kinds[name]), labels)) for name, f in fits.items()}
captioned(pd.DataFrame(found, index=["T", "NLL"]).T, "One fit, three ways to hold the samples", precision=6)

# %% [markdown]
# `lazy_proba` gives probabilities that are computed where they are sliced; of a Dask array `predict_proba` is another
# Dask array.

# %% [markdown]
# (sec-all-calibrators)=
# ## All calibrators in one table
#
# `focal calibrate --methods all` compares our calibrators with those of other libraries, which are estimators here,
# too. Below all of them are fitted on the same validation samples of a recorded network and measured on their test
# samples; `tool.method_table` does it for any logits. The ECEs have 15 bins; the one with less bias is that of
# equal width without what noise adds. Seconds are those of the machine that made this page. The last column counts test
# samples whose predicted class the calibrator changes, which no temperature can. An infinite NLL means that a label got
# probability 0, as histogram binning and isotonic regression may give it; Brier score and errors are finite there, too.
# Splines are missing: no library of the lock file has them.

# %%
for network in networks.split(","):
    sets = read_logits(ROOT / "results" / network.strip() / "logits.npz")
    order = np.random.default_rng(seed).permutation(len(sets["validation"]))
    table = method_table(sets["validation"].take(order[:fit_on]), sets["test"])
    display(captioned(table, f"All calibrators on a recorded network of {sets['test'].classes} classes"))

# %% [markdown]
# (sec-how-fast)=
# ## How fast, and how large
#
# The tables below are a record, not of the machine that made this page but of the one that is named: `make bench
# RECORD=1` measures again. First, other libraries. Each gets its own call, on the input that its documentation shows;
# ours gets the same data in turn. A ratio is the median time of theirs by that of ours, so above 1 ours is faster. The
# difference is theirs minus ours, of temperatures theirs by ours minus 1.

# %% tags=["remove-input"]
libraries = speed.read_speed("libraries")
display(Markdown(speed.say_made(libraries)))
caption = "Other libraries' time by ours, and the difference of both results"
captioned(speed.compare_ratios(libraries), caption, precision=2, index=False)

# %% [markdown]
# Where other processes want the cores too, a call that waits for all of its threads could be slowed by more than its
# share, of two cores by more than twice where one is taken.
# The last column is the time to add up the numbers that a call reads, on one thread, by the time of the call: at 1 it
# would be as fast as memory is read once.

# %% tags=["remove-input"]
busy = speed.read_speed("busy")
display(Markdown(speed.say_made(busy)))
caption = "Calls while the machine is quiet, and while processes that never rest have some of its cores"
captioned(speed.tabulate_busy(busy), caption, precision=2, index=False)

# %% [markdown]
# Last, logits in a file, read as a memory map by the methods that stream and by the metrics. These are those of
# probabilities that a temperature calibrates as they are read. The file repeats one block of samples, so that each
# number can be compared with that of the block in memory; bins of equal mass can end elsewhere there, and change the
# adaptive ECE. Memory is what the calling process had for itself at most: Python and its libraries, and some numbers
# for each sample. A row without a time says why; what an estimate found is of the part that was measured.

# %% tags=["remove-input"]
large = speed.read_speed("large")
display(Markdown(speed.say_made(large)))
captioned(speed.tabulate_large(large), speed.caption_large(large), precision=2, index=False)

# %% tags=["remove-input"]
foot("own_model", samples=samples, seed=seed, networks=networks, fit_on=fit_on)
