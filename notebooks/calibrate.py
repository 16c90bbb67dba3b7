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
folds: int = 0  # of cross-fitting instead; 0 for the split
seed: int = 0  # of that split and of the bootstrap
methods: str = ""  # names with commas between, or all; empty for temperatures and vector scaling
shrinkage: float = 0.0  # draws gamma towards 0
resamples: int = 1000
out: str = ""  # folder for calibrator.json and metrics.parquet; empty for none

# %% tags=["hide-input"]
from pathlib import Path

import numpy as np
from IPython.display import Markdown

from focal_lib import calibration
from focal_lib.atomic_write import write_whole
from focal_lib.calibration import WIDE_GAMMAS, EceSurface
from focal_lib.checkout import ROOT
from focal_lib.metrics import bins_of
from focal_lib.pages.footer import foot
from focal_lib.pages.plots import use_style
from focal_lib.pages.plots.reliability import landscape, reliability_diagrams

use_style()
parts = calibration.read(ROOT / path, given, ROOT / labels if labels else None)  # absolute, or from the project
parts = calibration.arrange(parts, share, folds, seed)
chosen_methods = calibration.from_text(methods, shrinkage)

# %% tags=["hide-input"]
if folds:
    validation = parts["all"]
    evaluation = calibration.cross_fit(validation, chosen_methods, folds, seed)
else:
    validation = parts["validation"]
    evaluation = calibration.hold_out(validation, parts["test"], chosen_methods)
measured = calibration.compare(evaluation, resamples, seed)
differences = calibration.differences(evaluation, resamples, seed=seed)
advice = calibration.advise(differences, evaluation.rows, evaluation.tested)

# %% [markdown]
# ## In a word

# %% tags=["remove-input"]
Markdown(f"**{advice.words}**")

# %% tags=["remove-input"]
Markdown("\n".join(f"* {note}" for note in calibration.notes(evaluation)))

# %% [markdown]
# ## Metrics on rows not fitted on
#
# Errors and the ECE family in per cent, 15 bins; 95 % intervals over rows. Those of error, NLL and Brier score are bootstrap intervals. A bootstrap of
# an ECE cannot reach 0 and does not cover, so those of the binned errors come from an inverted test (see {ref}`coverage of both <sec-coverage>`); the smooth ECE has none.

# %% tags=["remove-input"]
calibration.as_text(measured)

# %% [markdown]
# ## What is real
#
# Differences on the same rows, with intervals; the ECE in per cent, of equal mass. 'Real' stands where one is beyond chance at 5 %, after Holm's
# correction for all the differences of this table.

# %% tags=["remove-input"]
calibration.differences_as_text(differences)

# %% [markdown]
# ## Reliability
#
# The shaded band of a bin is where its accuracy would fall, 19 times of 20, if the model were calibrated. Points outside are no chance.

# %% mystnb={"image": {"alt": "Reliability diagrams as given and after the recommended method, with consistency bands and the number of rows in each bin."}, "figure": {"name": "fig-calibrate-reliability", "caption": "Accuracy over confidence, as given and after the recommended method, with the band of a calibrated model."}}
shown = {name: evaluation.scores[name] for name in (calibration.BEFORE, advice.method or "temperature")}
reliability_diagrams({name: bins_of(s.confidence, s.correct) for name, s in shown.items()}, bands=True)

# %% [markdown]
# ## The landscape of focal temperature scaling

# %% tags=["hide-input"]
every = max(1, len(validation) // 20_000)  # of larger sets an even sample
surface = EceSurface(validation.logits[::every], validation.labels[::every])
plain = evaluation.fits["temperature"].temperature_
fit = evaluation.fits.get("focal temperature by ECE", evaluation.fits["temperature"])
temperatures, gammas = plain * np.geomspace(0.5, 2, 33), np.array([g for g in WIDE_GAMMAS if g <= 1])
values = np.array([[surface.ece(g, t) for g in gammas] for t in temperatures])
marks = {"temperature": (0.0, plain)}
if gammas[0] <= fit.gamma_ <= 1 and temperatures[0] <= fit.temperature_ <= temperatures[-1]:
    marks["focal, by ECE"] = (fit.gamma_, fit.temperature_)

# %% mystnb={"image": {"alt": "Contours of the ECE over gamma and temperature on the rows fitted on, with plain temperature scaling and the chosen pair marked."}, "figure": {"name": "fig-calibrate-landscape", "caption": "ECE over $(\\gamma, T)$ on the rows fitted on. A long valley means that the pair is not determined by the data, only the valley is."}}
landscape(gammas, temperatures, values, marks)

# %% tags=["remove-input"]
if out:
    folder = Path(out)
    folder.mkdir(parents=True, exist_ok=True)
    calibration.save(evaluation.fits[advice.method or "temperature"], folder / "calibrator.json")
    write_whole(folder / "metrics.parquet", measured.to_parquet)

# %% tags=["remove-input"]
foot(
    "calibrate",
    path=path,
    given=given,
    labels=labels,
    share=share,
    folds=folds,
    seed=seed,
    methods=methods,
    shrinkage=shrinkage,
    resamples=resamples,
    out=out,
)
