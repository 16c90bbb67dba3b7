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
# (page-calibrate)=
# # Calibrate a model
#
# Logits and labels in, a calibrator and an honest report out: `focal calibrate LOGITS.npz --out DIR` runs this page on a file of yours. The model of
# this copy is named by `path` below.

# %% tags=["parameters"]
path: str = "results/cifar10-resnet8/598cf2a97b66ca1c/logits.npz"  # npz, npy, csv or parquet
given: str = "logits"  # or log-probs, or probs
labels: str = ""  # file of the labels, for npy
share: float = 0.5  # of the rows for validation, where the file has one set
seed: int = 0  # of that split and of the bootstrap
resamples: int = 200
out: str = ""  # folder for calibrator.json and metrics.parquet; empty for none

# %% tags=["hide-input"]
from pathlib import Path

import numpy as np
from IPython.display import Markdown
from scipy.special import softmax

from focal_lib import calibrator_file, comparison, logits_file, metrics
from focal_lib.atomic import write_whole
from focal_lib.calibrators import PAPER_GAMMAS, ConfidencePath
from focal_lib.experiment import ROOT
from focal_lib.plots import use_style
from focal_lib.plots.reliability import landscape, reliability_diagrams
from focal_lib.provenance import foot

use_style()
parts = logits_file.read(ROOT / path, given, ROOT / labels if labels else None)  # absolute, or from the project
if "all" in parts:
    parts = logits_file.split(parts["all"], share, seed)
validation, test = parts["validation"], parts["test"]

# %% tags=["hide-input"]
fits = comparison.fit_all(validation)
measured = comparison.compare(fits, test, resamples, seed)
differences = comparison.differences(fits, test, 5 * resamples, seed=seed)
chosen = comparison.choose(differences)

# %% [markdown]
# ## In a word

# %% tags=["remove-input"]
Markdown(f"**{comparison.recommend(differences, len(validation))}**")

# %% tags=["remove-input"]
Markdown("\n".join(f"* {note}" for note in comparison.notes(fits, validation, test)))

# %% [markdown]
# ## Metrics on the test set
#
# Errors and the ECE family in per cent, 15 bins; 95 % bootstrap intervals over test rows.

# %% tags=["remove-input"]
comparison.as_text(measured)

# %% [markdown]
# ## What is real
#
# Differences on the same test rows, with intervals. 'Real' means: beyond chance at 5 %, after Holm's correction for the number of rows in this table.

# %% tags=["remove-input"]
differences.round(4).set_index(["method", "against"])

# %% tags=["hide-input"]
before = softmax(test.logits.astype(np.float64), -1)
panels = {"as given": before}
if chosen is not None:
    panels[chosen] = fits[chosen].predict_proba(test.logits.astype(np.float64))
bins = {name: metrics.reliability_bins(probs, test.labels) for name, probs in panels.items()}

# %% mystnb={"image": {"alt": "Reliability diagrams of the test set, as given and after the recommended method, with the number of rows in each bin."}, "figure": {"name": "fig-calibrate-reliability", "caption": "Accuracy over confidence on the test set, as given and after the recommended method."}}
reliability_diagrams(bins)

# %% tags=["hide-input"]
fit = fits["focal temperature, by ECE"]
surface = ConfidencePath(validation.logits.astype(np.float64), validation.labels)
temperatures = fit.temperature_ * np.geomspace(0.5, 2, 33)
gammas = np.array([g for g in PAPER_GAMMAS if g <= 1])
values = np.array([[surface.ece(g, t) for g in gammas] for t in temperatures])
marks = {"plain": (0.0, fits["temperature"].temperature_)}
marks |= {"chosen": (fit.gamma_, fit.temperature_)} if fit.gamma_ <= 1 else {}

# %% mystnb={"image": {"alt": "Contours of the validation ECE over gamma and temperature, with plain temperature scaling and the chosen pair marked."}, "figure": {"name": "fig-calibrate-landscape", "caption": "Validation ECE over $(\\gamma, T)$. A long valley means that the pair is not determined by the data, only the valley is."}}
landscape(gammas, temperatures, values, marks)

# %% tags=["remove-input"]
if out:
    folder = Path(out)
    folder.mkdir(parents=True, exist_ok=True)
    calibrator_file.save(fits[chosen or "temperature"], folder / "calibrator.json")
    write_whole(folder / "metrics.parquet", measured.to_parquet)

# %% tags=["remove-input"]
foot("calibrate", path=path, given=given, labels=labels, share=share, seed=seed, resamples=resamples, out=out)
