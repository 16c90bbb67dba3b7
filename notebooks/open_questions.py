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
# (page-questions)=
# # Open questions
#
# **What is this?** {cite:t}`kk24` leave questions to future work, and a summary of the paper that we read beside it
# lists four of them and three next checks. What is known now of each, and what is not.
#
# | question | answered | where |
# |---|---|---|
# | bounds on the map with more than two classes | proved, but for the sharp upper one | {ref}`ch-bounds` |
# | why $T$ over the calibration $\gamma$ is a line | explained, not proved | below, {ref}`ch-fts` |
# | against vector and matrix scaling | measured on small networks | below |
# | what the decomposition means for generalisation | measured, small networks | {ref}`ch-training`, {ref}`ch-raters` |
# | is the map like $T < 1$ on other architectures? | measured on two small networks | below |
# | the whole landscape of $(\gamma, T)$ | searched for every network | {ref}`ch-fts` |
# | data out of distribution | measured on small networks | {ref}`ch-unknown` |

# %% tags=["parameters"]
grid: str = "workflow/grids/fashion-mnist.yaml"  # the runs to read
runs: str = "_build/runs"  # where they are
l2: float = 0.001  # penalty of vector and matrix scaling, so that their fits converge; at least 0
gamma: float = 3.0  # of the map that is held against other architectures; at least 0

# %% tags=["hide-input"]
import numpy as np
import pandas as pd
from scipy.optimize import minimize_scalar
from scipy.special import log_softmax

from focal_lib import calibration, metrics, results, theory, training
from focal_lib.pages.footer import foot
from focal_lib.pages.notes import note

trained = training.load_runs(grid, runs)

# %% [markdown]
# ## Why is the best temperature a line in the calibration gamma?
#
# Focal temperature scaling is the map after a temperature. If the map is nearly a temperature $t(\gamma)$ itself, the
# two together are nearly the temperature $T\,t(\gamma)$, and what is best for a network, $T_0$, stays best: $T \approx
# T_0 / t(\gamma)$. As $1/t(\gamma)$ is nearly a line ({ref}`ch-fit`), so is $T$, and every network's line is the same
# up to its factor $T_0$. That can be tested: $T$ at $\gamma = 1$ over $T$ at $\gamma = 0$, both by NLL on validation
# data, should not depend on the network.


# %% tags=["hide-input"]
steps = np.linspace(0, 1, 5)
fitted = np.array([[results.nll_temperature(run, g) for g in steps] for run in trained])
factors = fitted[:, -1] / fitted[:, 0]
straight = min(np.corrcoef(steps, row)[0, 1] ** 2 for row in fitted)

# %% tags=["hide-input"]
by_loss = pd.DataFrame({"loss": [run.spec.label for run in trained], "T, no map": fitted[:, 0], "factor": factors})
form = results.format_mean_sd(by_loss.groupby("loss", sort=False), 3)
form.style.set_caption("Best temperature, and its factor from gamma 0 to 1, mean ± standard deviation over seeds")

# %% tags=["remove-input"]
classes = trained[0].test.logits.shape[-1]
note("questions", factor_low=factors.min(), factor_high=factors.max(), straight=straight, networks=len(trained))
note("questions", t_low=fitted[:, 0].min(), t_high=fitted[:, 0].max(), classes=classes)
note("questions", factor_map=theory.closest_temperature(1.0, classes).inverse_temperature)
note("questions", factor_two=theory.closest_temperature(1.0, 2).inverse_temperature)

# %% [markdown]
# Over {glue:text}`questions-networks` networks $T_0$ runs from {glue:text}`questions-t-low:.2f` to
# {glue:text}`questions-t-high:.2f`, the factor from {glue:text}`questions-factor-low:.2f` to
# {glue:text}`questions-factor-high:.2f`; $R^2$ of the line is at least {glue:text}`questions-straight:.4f`. The
# temperature closest to the map over the whole simplex would give {glue:text}`questions-factor-map:.2f` for
# {glue:text}`questions-classes` classes and {glue:text}`questions-factor-two:.2f` for two. So the explanation says why
# there is a line, and why one factor nearly serves all networks of this grid; which factor, depends on where on the
# simplex the predictions lie, and that it stays close to a line there is not proved. What the search along it costs:
# {ref}`ch-fts`.
#
# ## Against vector and matrix scaling
#
# All four are fitted on the NLL of the same validation data, on the cross-entropy networks and those of the largest
# $\gamma$; ECE is adaptive, with bins of equal mass.

# %% tags=["hide-input"]
methods = {
    "temperature": calibration.TemperatureScaling("nll"),
    "focal temperature": calibration.FocalTemperatureScaling("nll", "newton"),
    "vector": calibration.VectorScaling(l2),
    "matrix": calibration.MatrixScaling(l2),
}
top = max(run.spec.gamma for run in trained)
rows = []
for run in (r for r in trained if r.spec.gamma in (0, top)):
    for name, method in methods.items():
        fit = method.fit(run.validation.logits, run.validation.labels)
        probs, labels = fit.predict_proba(run.test.logits.astype(float)), run.test.labels
        error = 100 * float((probs.argmax(-1) != labels).mean())
        rows.append((name, run.spec.seed, error, 100 * metrics.adaptive_ece(probs, labels), metrics.nll(probs, labels)))

# %% tags=["hide-input"]
columns = ["error (%)", "adaptive ECE (%)", "NLL"]
measured = pd.DataFrame(rows, columns=["method", "seed", *columns]).groupby(["method", "seed"], sort=False).mean()
form = results.format_mean_sd(measured.groupby(level="method", sort=False), 3)
form.style.set_caption("On test data, mean of both losses, then mean ± standard deviation over seeds")

# %% tags=["hide-input"]
differences = []
for name in ("temperature", "vector", "matrix"):
    for column in columns:
        change = metrics.paired_t_interval(measured.loc[name, column], measured.loc["focal temperature", column])
        differences.append((name, column, change.estimate, change.low, change.high))
compared = pd.DataFrame(differences, columns=["method", "metric", "difference", "95 % from", "to"])
text = compared.style.format(precision=3).hide()
text.set_caption("Method minus focal temperature scaling, t intervals over seeds, each for itself")

# %% tags=["remove-input"]
for name in ("vector", "matrix"):
    for column, key in zip(columns, ("error", "ece", "nll"), strict=True):
        row = compared[(compared["method"] == name) & (compared["metric"] == column)].iloc[0]
        sign = "lower" if row["to"] < 0 else "higher" if row["95 % from"] > 0 else "not clearly another"
        note("questions", {f"{name}-{key}": sign, f"{name}-{key}-by": row["difference"]})
note("questions", top=top, validation=len(trained[0].validation.labels))

# %% [markdown]
# Vector and matrix scaling may change the class, which no temperature and no map does. With
# {glue:text}`questions-validation` validation images the test error after vector scaling is
# {glue:text}`questions-vector-error` ({glue:text}`questions-vector-error-by:+.2f` points), the NLL
# {glue:text}`questions-vector-nll` ({glue:text}`questions-vector-nll-by:+.3f`), the ECE
# {glue:text}`questions-vector-ece` ({glue:text}`questions-vector-ece-by:+.2f`) than after focal temperature scaling;
# after matrix scaling they are {glue:text}`questions-matrix-error` ({glue:text}`questions-matrix-error-by:+.2f`),
# {glue:text}`questions-matrix-nll` ({glue:text}`questions-matrix-nll-by:+.3f`) and {glue:text}`questions-matrix-ece`
# ({glue:text}`questions-matrix-ece-by:+.2f`). By the intervals above, at 95 %, uncorrected. One data set and one small
# network; for a model of yours, {ref}`page-calibrate` compares all of them.
#
# ## Is the map like a temperature below 1 on other architectures?
#
# The map is a fixed function; what an architecture changes is where its predictions lie. On the test predictions of
# cross-entropy networks: the temperature that comes nearest to the map there (least mean Kullback-Leibler divergence),
# and the share of predictions whose top probability the map lowers.


# %% tags=["hide-input"]
def against_map(run: training.Result) -> tuple[float, float]:
    """The temperature nearest to the map on the test predictions; the share of them that lose confidence, in %."""
    logits = run.test.logits.astype(float)
    mapped = np.exp(theory.focal_log_probs(logits, gamma))
    lowered = mapped.max(-1) < np.exp(log_softmax(logits, -1)).max(-1) - 1e-12

    def divergence(t: float) -> float:
        return float(-(mapped * log_softmax(logits / t, -1)).sum(-1).mean())

    nearest = minimize_scalar(divergence, bounds=(0.05, 3), method="bounded", options={"xatol": 1e-4}).x
    return float(nearest), 100 * float(lowered.mean())


# %% tags=["hide-input"]
sets = [trained, *(results.load_recorded(name) for name in ("cifar10-resnet8", "cifar100-resnet8"))]
found = []
for networks in sets:
    of_ce = [run for run in networks if run.spec.label == "cross-entropy"]
    nearest, lowered = np.mean([against_map(run) for run in of_ce], axis=0)
    spec, width = of_ce[0].spec, of_ce[0].test.logits.shape[-1]
    found.append((spec.dataset, spec.model, width, len(of_ce), nearest, lowered))
by_network = pd.DataFrame(found, columns=["data set", "network", "classes", "networks", "nearest T", "lowered (%)"])
text = by_network.style.format(precision=2).hide().set_caption(f"The map with gamma = {gamma:g} on test predictions")
text

# %% tags=["remove-input"]
note("questions", gamma=gamma, nearest_low=by_network["nearest T"].min(), nearest_high=by_network["nearest T"].max())
note("questions", lowered=by_network["lowered (%)"].max(), sets=len(by_network))
note("questions", lowered_on=by_network.loc[by_network["lowered (%)"].idxmax(), "data set"])

# %% [markdown]
# For $\gamma =$ {glue:text}`questions-gamma:g` the nearest temperature is {glue:text}`questions-nearest-low:.2f` to
# {glue:text}`questions-nearest-high:.2f` on these {glue:text}`questions-sets` sets, and the largest share of
# predictions that lose confidence is {glue:text}`questions-lowered:.1f` %, on {glue:text}`questions-lowered-on`. That
# some can, with four classes or more, is proved ({ref}`ch-confidence`); a network that spreads its probability over
# many classes can stay below the threshold often. Nothing is measured on this page of other architectures.
#
# ## The landscape
#
# {ref}`ch-fts` searches KK24's whole grid of $(\gamma, T)$ for every network of the book's grid and shows one
# landscape; {ref}`page-calibrate` shows that of any logits. Both parameters were varied together, on validation data;
# the best pairs lie in a narrow valley along the line above.
#
# ## Out of distribution
#
# {ref}`ch-unknown` shows the networks of the book's grid digits and corrupted images. The CIFAR networks on record keep
# no weights, so that nothing new can be shown to them; `workflow/grids/cifar10-unknown.yaml`, for CIFAR-100 and for
# CIFAR-10's corruptions, waits to be run, with what it will be compared by written down.

# %% tags=["remove-input"]
foot("open_questions", grid=grid, runs=runs, l2=l2, gamma=gamma)
