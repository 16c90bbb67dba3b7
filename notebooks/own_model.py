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
# How do the logits of a torch, scikit-learn or Hugging Face model get in, and how does the calibrated model get out?
# Each way below ends with a model that gives calibrated probabilities. For a report on a file of logits, see
# {ref}`page-calibrate`.

# %% tags=["parameters"]
samples: int = 4000  # of the made-up data
runs: int = 200  # simulated samples of each size, for the coverage of the intervals; at least 1
seed: int = 0  # of the data, the network and the simulation; at least 0

# %% tags=["hide-input"]
from functools import partial
from pathlib import Path
from tempfile import mkdtemp
from typing import NamedTuple

import numpy as np
import pandas as pd
import torch
from IPython.display import Markdown
from sklearn.datasets import make_classification
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer
from torch import nn

# %% tags=["hide-input"]
from focal_lib import metrics
from focal_lib.calibration import (
    FocalTemperatureScaling,
    TemperatureScaling,
    as_logits,
    load_calibrator,
    save_calibrator,
    write_onnx,
)
from focal_lib.pages.footer import foot

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
pd.DataFrame(
    {
        name: {"NLL": metrics.nll(p, y_test), "ECE, equal width (%)": 100 * metrics.ece(p, y_test)}
        for name, p in [("before", before), ("after", after)]
    }
).T.round(3)

# %% [markdown]
# The same as a file for other runtimes, and as a small file of numbers that loads without pickle (`focal export` and
# `focal apply` use it):

# %%
folder = Path(mkdtemp())
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
found = [("before", forest.predict_proba(x_test)), ("after", pipeline.predict_proba(x_test))]
pd.DataFrame(
    {name: {"NLL": metrics.nll(p, y_test), "ECE, equal width (%)": 100 * metrics.ece(p, y_test)} for name, p in found}
).T.round(3)

# %% [markdown]
# A forest averages votes and is *under*confident: its temperature is below 1. Where no tree voted for a class its
# probability is 0 and its logit that of the smallest float, which no temperature repairs.

# %%
round(pipeline[-1].temperature_, 3)

# %% [markdown]
# ## Hugging Face style outputs
#
# `Trainer.predict` gives an object with `predictions`, which are logits, and `label_ids`; a model's own output has
# `.logits`. Both are arrays or tensors of shape (n, K) already. Language models give (batch, length, vocabulary):
# flatten the first two axes and drop the labels that are -100, the padding.


# %%
class PredictionOutput(NamedTuple):
    """The shape of transformers' own, so that this page needs no download."""

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
pd.DataFrame(found, index=["T", "NLL"]).T

# %% [markdown]
# `lazy_proba` gives probabilities that are computed where they are sliced; of a Dask array `predict_proba` is another
# Dask array.

# %% [markdown]
# (sec-coverage)=
# ## Are the intervals honest?
#
# A calibrated model has ECE 0, but no sample of it has: noise makes gaps, and the ECE adds up their sizes. A bootstrap
# adds noise once more, so its percentile interval lies above the truth. Below, models with a known adaptive ECE
# (equal mass) are sampled again and again; a 95 % interval should hold the truth in 95 of 100 samples. Ours moves the
# gaps of the bins until the observed ECE would be surprising.

# %% tags=["hide-input"]
settings = [(n, gap) for n in (500, 5000) for gap in (0.0, 0.02, 0.1)]
intervals = {
    "percentile bootstrap": partial(metrics.bootstrap_adaptive_ece, resamples=100),
    "inverted test": metrics.adaptive_ece_interval_of,
}
table = pd.DataFrame([metrics.estimate_coverage(n, gap, intervals, runs, seed) for n, gap in settings]).round(2)

# %% tags=["remove-input"]
table.set_index(["samples", "true ECE (%)"])

# %% tags=["remove-input"]
spans = {name: f"in {100 * table[name].min():.0f} to {100 * table[name].max():.0f} of 100" for name in intervals}
Markdown(
    f"""```{{admonition}} Verdict
:class: important
Over these {len(table)} settings, {runs} samples each, the percentile interval holds the true ECE
{spans["percentile bootstrap"]} samples, the inverted test {spans["inverted test"]}.
`focal calibrate` prints the latter.
```"""
)

# %% tags=["remove-input"]
foot("own_model", samples=samples, runs=runs, seed=seed)
