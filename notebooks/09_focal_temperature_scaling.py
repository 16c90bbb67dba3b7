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
# (ch-fts)=
# # Focal temperature scaling
#
# **The question.** If the map is not quite a temperature, then map and temperature together have more to offer than a
# temperature alone. Does focal temperature scaling calibrate better? **In short:** on these models, chosen by ECE as the
# paper does, no: on validation data it wins by construction, on test data the gain is not there. Chosen by log-loss it
# helps a little where $\gamma$ was large in training. The paper's open question, whether a search along a line is
# enough, has the answer: nearly.
#
# :::{admonition} As printed: KK24 sections 4.2 and 5.2
# Focal temperature scaling composes the map with temperature scaling and optimises $(\gamma_{ev}, T)$ on a validation
# set. It could noticeably improve ECE among all baseline models while keeping the same accuracy.
# :::

# %% tags=["parameters"]
grid: str = "workflow/grids/fashion-mnist.yaml"  # the runs to read
runs: str = "_build/runs"  # where they are
resamples: int = 200  # of the bootstrap

# %% tags=["hide-input"]
import numpy as np
import pandas as pd

from focal_lib import metrics, results, training
from focal_lib.calibration import PAPER_GAMMAS, PAPER_TEMPERATURES, EceSurface
from focal_lib.claims import show
from focal_lib.pages.footer import foot
from focal_lib.pages.notes import note
from focal_lib.pages.plots import use_style
from focal_lib.pages.plots.curves import point_figure
from focal_lib.pages.plots.reliability import landscape

use_style()
trained = training.load_runs(grid, runs)
table = results.compare_scaling(trained, resamples)

# %% [markdown]
# ## The method
#
# ```{math}
# :label: eq-fts
# p = \hat p_\gamma\big(\operatorname{softmax}(z/T)\big), \qquad (\gamma, T) \text{ fitted on validation data.}
# ```
#
# The grid is the paper's: {glue:text}`fts-grid` pairs. The ECE has 15 bins of equal mass. Since the class with the largest
# probability never changes, accuracy is the same throughout.

# %% tags=["remove-input"]
note("fts", grid=len(PAPER_GAMMAS) * len(PAPER_TEMPERATURES))

# %% tags=["hide-input"]
run = trained[0]
path = EceSurface(run.validation.logits.astype(float), run.validation.labels)
temperatures = np.linspace(1, 5, 41)
values = np.array([[path.ece(g, t) for g in PAPER_GAMMAS] for t in temperatures])
first = table.iloc[0]
marks = {
    name: (first[f"{key}_gamma"], first[f"{key}_T"]) for key, name in (("fts", "grid optimum"), ("line", "line search"))
}
keep = [i for i, g in enumerate(PAPER_GAMMAS) if g <= 1]

# %% mystnb={"image": {"alt": "Contours of the validation ECE over gamma and temperature. The low values form a narrow, nearly straight valley that rises to the right."}, "figure": {"name": "fig-fts-landscape", "caption": "Validation ECE of one cross-entropy network over $(\\gamma, T)$. The valley is what makes a search along a line possible."}}
landscape(np.array(PAPER_GAMMAS)[keep], temperatures, values[:, keep], marks)

# %% [markdown]
# ## Chosen by ECE, as in Table 1
#
# Test ECE in per cent, mean ± standard deviation over seeds:

# %% tags=["hide-input"]
names = {"ece": "none", "ts_ece": "temperature", "fts_ece": "focal temperature", "line_ece": "focal, line search"}
by_ece = results.mean_sd(table, ["loss"], list(names), scale=100).rename(columns=names)
by_ece

# %% [markdown]
# The difference that matters is the paired one. For each run the test set is resampled; the interval is that of
# ECE(focal temperature) - ECE(temperature). Resampling inflates an ECE, so the intervals are a guide, not gospel; the
# spread over seeds is the stricter judge, and the ledger uses it.

# %% tags=["hide-input"]
better, worse = int((table["high"] < 0).sum()), int((table["low"] > 0).sum())
note("fts", better=better, worse=worse, total=len(table))
groups = {}
for seed, part in table.groupby("seed"):
    x = part["gamma"].to_numpy() + 0.12 * (seed - 1.5)
    spread = np.abs(np.array([part["difference"] - part["low"], part["high"] - part["difference"]]))
    groups[f"seed {seed}"] = (x, 100 * part["difference"].to_numpy(), 100 * spread)

# %% mystnb={"image": {"alt": "Difference of test ECE between focal and plain temperature scaling for each run, with bootstrap intervals. Most intervals contain zero."}, "figure": {"name": "fig-fts-differences", "caption": "Test ECE after focal minus after plain temperature scaling, in points, with 95 % bootstrap intervals. Below zero is better."}}
point_figure(groups, r"$\gamma$ of training", "difference of ECE", reference=0)

# %% [markdown]
# Of {glue:text}`fts-total` runs, {glue:text}`fts-better` are significantly better with the map and {glue:text}`fts-worse` worse. A second parameter
# chosen on the noise of 5,000 validation images buys validation ECE, not test ECE.
#
# ## Chosen by log-loss

# %% tags=["hide-input"]
names = {"nll": "none", "ts_nll_nll": "temperature", "fts_nll_nll": "focal temperature"}
by_nll = results.mean_sd(table, ["loss"], list(names), scale=1).rename(columns=names)
names = {"ts_nll_ece": "ECE % after temperature", "fts_nll_ece": "ECE % after focal temperature"}
by_nll.join(results.mean_sd(table, ["loss"], list(names), scale=100).rename(columns=names))

# %% tags=["hide-input"]
rows = []
for gamma, part in table.groupby("gamma"):
    change = metrics.paired_t_interval(part["fts_nll_nll"].to_numpy(), part["ts_nll_nll"].to_numpy())
    rows.append((gamma, change.estimate, change.low, change.high, part["fts_nll_gamma"].mean()))
columns = ["gamma of training", "change of NLL", "95 % from", "to", "mean fitted gamma"]
pd.DataFrame(rows, columns=columns).style.format(precision=4).hide()

# %% [markdown]
# By log-loss the fitted $\gamma$ grows with the $\gamma$ of training, and for large $\gamma$ the gain is clear of zero: there the
# network's outputs are bent by the map, and the map unbends them.
#
# ## A line in the landscape

# %% tags=["hide-input"]
small = [g for g in PAPER_GAMMAS if g <= 1]
lines = {}
for result in trained:
    if result.spec.seed == trained[0].spec.seed:
        lines[result.spec.label] = (np.array(small), results.temperature_by_gamma(result, small), None)

# %% mystnb={"image": {"alt": "Best temperature over calibration gamma, one line for each training loss. Each is close to straight and rises with gamma."}, "figure": {"name": "fig-fts-lines", "caption": "The temperature that suits each calibration $\\gamma$, one line a training loss, first seed. Counterpart of KK24 Fig. 8."}}
point_figure(lines, r"$\gamma$ of the calibration map", "best temperature")

# %% tags=["remove-input"]
loss = table["line_objective"] - table["fts_objective"]
note(
    "fts",
    line_mean=100 * float(loss.mean()),
    line_max=100 * float(loss.max()),
    line_speed=float((table["fts_seconds"] / table["line_seconds"]).median()),
)

# %% [markdown]
# Searching along it gives up {glue:text}`fts-line-mean:.3f` points of validation ECE on average and {glue:text}`fts-line-max:.2f` at worst,
# and is {glue:text}`fts-line-speed:.1f` times faster than our grid search. That search already skips what cannot win: a temperature
# whose mean confidence is further from the accuracy than the best ECE so far. Nothing is lost by it, for any $\gamma > -1$: whatever the temperature,
# the calibrated confidence lies between two increasing functions of the softmax's largest probability, and that falls as $T$ rises, so the bound on the
# distance holds for all temperatures further on (`focal_lib.theory.confidence.top_probability_bounds` has the functions and why).
#
# ```{exercise}
# :label: ex-fts-bound
# Show that the ECE is at least $|\text{mean confidence} - \text{accuracy}|$, whatever the bins.
# ```
#
# ```{solution} ex-fts-bound
# :class: dropdown
# The mean gap is $\sum_b \frac{n_b}{n}(\mathrm{conf}_b - \mathrm{acc}_b)$; move the absolute value inside the sum.
# ```
#
# ## Verdict

# %% tags=["remove-input"]
show("kk24.table1_ece", "kk24.table1_nll", "kk24.choose_by_ece", "kk24.fig8_linear", "kk24.line_search")

# %% [markdown]
# All of this is Fashion-MNIST with a small network trained on few images. The paper's Table 1 is CIFAR and Tiny-ImageNet
# with a ResNet-50; nothing here says what happens there.

# %% tags=["remove-input"]
foot("09_focal_temperature_scaling", grid=grid, runs=runs, resamples=resamples)
