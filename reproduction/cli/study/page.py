# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3
#     language: python
#     name: python3
# ---

# %% [markdown]
# # My loss against cross-entropy
#
# The mean over the seeds, on test images. Write below the table what you conclude.

# %% tags=["parameters"]
grid: str = "grid.yaml"
runs: str = "runs"  # folder of the runs

# %%
from pathlib import Path

import pandas as pd
from scipy.special import softmax

from focal_lib import metrics
from focal_lib.calibration import TemperatureScaling
from reproduction import engine

results = engine.load_runs(Path(grid).resolve(), Path(runs).resolve())

# %%
rows = []
for run in results:
    scaling = TemperatureScaling("nll").fit(run.validation.logits, run.validation.labels)
    probs, labels = softmax(run.test.logits, -1), run.test.labels
    scaled = scaling.predict_proba(run.test.logits)
    row = {"loss": run.spec.label, "accuracy": (probs.argmax(-1) == labels).mean(), "T": scaling.temperature_}
    row |= {"NLL": metrics.nll(probs, labels), "NLL after T": metrics.nll(scaled, labels)}
    row |= {"ECE": metrics.ece(probs, labels), "ECE after T": metrics.ece(scaled, labels)}
    rows.append(row)
table = pd.DataFrame(rows).groupby("loss").mean().round(4)
table
