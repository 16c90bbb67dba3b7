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
# (ch-table1)=
# # Table 1 again
#
# **The question.** {cite:t}`kk24` train with many losses and compare temperature with focal temperature scaling; {cite:t}`m20` and {cite:t}`l25` compare the losses. What does the
# same table look like for networks that we trained ourselves? **In short:** every focal loss is far better calibrated than cross-entropy as trained. After one temperature that
# lead is gone. Focal temperature scaling lowers ECE once more for the focal losses, by half a point on average, which three seeds do not quite settle; for cross-entropy it has nothing
# to do.
#
# :::{admonition} As printed: KK24 section 5.2
# The results show that focal temperature scaling could noticeably improve ECE among all baseline models while keeping the same accuracy and occasionally marginally losing on
# log-loss compared to standard temperature scaling. Models trained with higher $\gamma$ have generally better ECE but worse accuracy.
# :::

# %% tags=["parameters"]
recorded: str = "cifar10-resnet8"  # folder in trained, and grid in workflow/grids
recorded_many: str = "cifar100-resnet8"  # the same with a hundred classes
grid: str = "workflow/grids/fashion-mnist.yaml"  # the live runs
runs: str = "_build/runs"  # where they are

# %% tags=["hide-input"]
import json

import pandas as pd

from focal_lib import results, training
from focal_lib.checkout import ROOT
from focal_lib.claims import show
from focal_lib.claims.from_runs import recorded as load_recorded
from focal_lib.claims.from_runs import recorded_table
from focal_lib.pages.footer import foot
from focal_lib.pages.notes import note
from focal_lib.pages.plots import use_style
from focal_lib.pages.plots.curves import interval_figure, point_figure
from focal_lib.results import beside

use_style()

# %% [markdown]
# ## What was run

# %% tags=["remove-input"]
trained = load_recorded(recorded)
spec = trained[0].spec
provenance = json.loads((ROOT / "results" / recorded / spec.digest / "spec.json").read_text())
tested = {"test": len(trained[0].test.labels), "validation": len(trained[0].validation.labels)}
facts = {"runs": len(trained), "seeds": len({r.spec.seed for r in trained}), "n": spec.n_train} | tested
facts |= {"epochs": spec.training.epochs, "threads": provenance["threads"], "commit": provenance["commit"]}
facts |= {"torch": provenance["versions"]["torch"]}
for name, value in facts.items():
    note("table1", {f"{name}": value})

# %% [markdown]
# {glue:text}`table1-runs` recorded runs on real CIFAR-10, and small ones: a ResNet with 8 layers, {glue:text}`table1-n` of the 45,000 training images, {glue:text}`table1-epochs` epochs of
# the papers' SGD without augmentation, on {glue:text}`table1-threads` core each (PyTorch {glue:text}`table1-torch`, commit {glue:text}`table1-commit`). Its errors are those of such a network, many
# times the papers'; what can be compared is the order of the losses and the size of the effects. {glue:text}`table1-seeds` seeds, which fix split, weights and batches, so runs of one
# seed are paired. Tested on all {glue:text}`table1-test` test images; $T$ and $\gamma$ chosen on {glue:text}`table1-validation` validation images. The same again, with the images in `FOCAL_DATA`:
#
#     focal grid workflow/grids/cifar10-resnet8.yaml --cores 2
#     focal grid workflow/grids/cifar10-resnet8.yaml --record results/cifar10-resnet8 --table results/cifar10-resnet8/table.parquet
#
# The papers' own networks are one word away (`model: resnet50`, `recipe: kk24-cifar`) and want a GPU.
#
# ## The table
#
# Mean ± standard deviation over seeds, mean temperature in brackets; error and ECE (15 equal bins) in per cent. As in KK24 the temperature for NLL is chosen by NLL and that for ECE by ECE.

# %%
whole = results.as_printed(recorded_table(recorded))
whole[["error", "ece"]]

# %%
whole[["nll"]]

# %% [markdown]
# ## Beside the printed numbers
#
# ECE of our small network beside what the papers print for ResNet-50 on the whole of CIFAR-10, ten times smaller; 'post' is after temperature scaling by ECE. Errors and the other
# metrics of M20's and L25's tables come the same way: `beside(frame, "adaptive-ece", "CIFAR-10")`.

# %%
beside(recorded_table(recorded), "ece", "CIFAR-10").map("{:.2f}".format).replace("nan", "")

# %% [markdown]
# ## As trained, and after one temperature

# %% tags=["hide-input"]
frame = recorded_table(recorded)
spread = results.spread(frame)
eces = spread[spread["metric"] == "ece"]
stages = {"as trained": "pre", "temperature scaling": "ts, ece", "focal temperature scaling": "fts, ece"}
shown = {}
for label, stage in stages.items():
    part = eces[eces["stage"] == stage]
    shown[label] = (
        part["loss"].replace({"cross-entropy": "CE", "dual-focal 5": "dual 5", "fcl 3 0.5": "fcl"}).to_numpy(),
        part["mean"].to_numpy(),
        part["sd"].to_numpy(),
    )

# %% mystnb={"image": {"alt": "ECE of nine losses as trained, after temperature scaling and after focal temperature scaling, with standard deviations. As trained cross-entropy stands far above the focal losses; after scaling all lie between 1 and 3 per cent."}, "figure": {"name": "fig-table1-ece", "caption": "ECE (%) on CIFAR-10, mean and standard deviation over seeds, as trained and after either scaling."}}
point_figure(shown, "loss", "ECE (%)", yscale="log", ylim=(0.7, 45))

# %% tags=["hide-input"]
losses = results.against(frame)
losses = losses[losses["metric"] == "ece"]
before, after = (losses[losses["stage"] == stage] for stage in ("pre", "ts, ece"))
note(
    "table1",
    best_before=int((before["high"] < 0).sum()),
    compared=len(before),
    better_after=int((after["high"] < 0).sum()),
    worse_after=int((after["low"] > 0).sum()),
)
both = pd.concat([before.assign(when="as trained"), after.assign(when="scaled")])

# %% mystnb={"image": {"alt": "ECE of each loss minus that of cross-entropy with intervals over seeds. As trained all lie around minus 10 points; after temperature scaling around 0 to plus 1.5 points."}, "figure": {"name": "fig-table1-losses", "caption": "ECE minus that of cross-entropy, in points, paired over seeds, 95 % intervals, as trained and after temperature scaling."}}
interval_figure(
    both["loss"] + ", " + both["when"],
    both["difference"],
    both["low"],
    both["high"],
    "difference of ECE, points",
    reference=0,
)

# %% [markdown]
# As trained, {glue:text}`table1-best-before` of {glue:text}`table1-compared` losses are surely better calibrated than cross-entropy. After one temperature each,
# {glue:text}`table1-better-after` are surely better and {glue:text}`table1-worse-after` surely worse. ('Surely': the 95 % interval over seeds excludes 0.)
#
# ## Temperature or focal temperature scaling?

# %% tags=["hide-input"]
methods = results.against(frame, None, "ts, ece")
methods = methods[(methods["metric"] == "ece") & (methods["stage"] == "fts, ece")]
comparison = results.compare_scaling(trained)
note("table1", run_better=int((comparison["high"] < 0).sum()), run_worse=int((comparison["low"] > 0).sum()))
ce = comparison[comparison["loss"] == "cross-entropy"]
note(
    "table1",
    ce_gamma=float(ce["fts_gamma"].mean()),
    focal_gamma=float(comparison[comparison["loss"] != "cross-entropy"]["fts_gamma"].mean()),
)

# %% mystnb={"image": {"alt": "ECE after focal temperature scaling minus after temperature scaling for nine losses with wide intervals; cross-entropy at 0, most focal losses below 0."}, "figure": {"name": "fig-table1-methods", "caption": "ECE after focal temperature scaling minus after temperature scaling, in points, paired over seeds, 95 % intervals."}}
interval_figure(
    methods["loss"], methods["difference"], methods["low"], methods["high"], "difference of ECE, points", reference=0
)

# %% [markdown]
# With so few seeds the intervals are wide. Within a run, resampling test images, focal temperature scaling has a surely lower ECE in {glue:text}`table1-run-better` of
# {glue:text}`table1-runs` runs and a surely higher one in {glue:text}`table1-run-worse`. For cross-entropy the chosen calibration $\gamma$ is {glue:text}`table1-ce-gamma:.2f` on average: there is
# little for a second parameter to do. For the other losses it is {glue:text}`table1-focal-gamma:.2f`: part of the map in front of the proper loss is applied, which is not a temperature for more than two classes ({ref}`ch-fit`).
#
# ## A hundred classes

# %% tags=["remove-input"]
many = load_recorded(recorded_many)
facts = {"runs": len(many), "n": many[0].spec.n_train, "epochs": many[0].spec.training.epochs}
for name, value in facts.items():
    note("table1", {f"many-{name}": value})

# %% [markdown]
# CIFAR-100, the same network, {glue:text}`table1-many-n` training images, {glue:text}`table1-many-epochs` epochs, one seed: {glue:text}`table1-many-runs` runs, no spread, so read it as an illustration.

# %%
results.as_printed(recorded_table(recorded_many))[["error", "ece"]]

# %% [markdown]
# ## Fashion-MNIST, run live
#
# The grid of this book, trained when it was built:

# %%
live = results.measure(training.load_runs(grid, runs))
results.as_printed(live)[["error", "ece"]]

# %% [markdown]
# ```{exercise}
# :label: ex-table1-adaptive
# The table has more metrics than the page shows. Is the order of the losses the same in smooth ECE?
# ```
#
# ```{solution} ex-table1-adaptive
# :class: dropdown
# `table.spread(frame).query("metric == 'smooth-ece' and stage == 'pre'")`; the parquet file can be asked with SQL, too:
# `duckdb -c "select loss, avg(value) from 'results/cifar10-resnet8/table.parquet' where metric = 'smooth-ece' and stage = 'pre' group by 1"`.
# ```
#
# ## Verdict

# %% tags=["remove-input"]
show(
    "m20.cifar10_before",
    "m20.cifar10_after",
    "kk24.table1_ece_every_loss",
    "kk24.table1_ece_focal_losses",
    "kk24.table1_gamma_accuracy",
    "l25.cifar10_cross_entropy",
    "l25.cifar10_focal",
)

# %% tags=["remove-input"]
foot("13_table1", recorded=recorded, recorded_many=recorded_many, grid=grid, runs=runs)
