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
# Logits and labels in, a calibrator and a report with honest intervals out. One function does it,
# `calibration.calibrate`; the command `focal calibrate LOGITS.npz --out DIR` calls it on a file of yours and leaves
# the calibrator, the metrics and a page like this one, without a notebook; {ref}`page-command-line` has this command
# and those that apply the calibrator, check a model in continuous integration (`focal check`) and watch it in use. Here
# is what is found for the model that `path` names.

# %% tags=["parameters"]
path: str = "results/cifar10-resnet8/598cf2a97b66ca1c/logits.npz"  # npz, npy, csv or parquet
given: str = "logits"  # or log-probs, or probs
labels: str = ""  # file of the labels, for npy
share: float = None  # share of the samples to fit on, where the file has one set; none for folds; in (0, 1)
folds: int = None  # number of cross-fitting folds of one set; 0 for a split in halves; none for 5; at least 0
seed: int = 0  # seed of the random split and of the bootstrap; at least 0
methods: str = (
    ""  # methods with commas between, such as vector,focal-temperature:adaptive-ece; or all; empty for the default
)
shrinkage: float = 0.0  # precision of a prior that draws gamma towards 0, for few samples; at least 0
resamples: int = 1000  # number of resamples of the bootstrap; at least 1
relevant: float = 0.005  # smallest gain that matters, as a share of the NLL or Brier score; in [0, 1)
force: bool = False  # go on where the data look wrong; what did is then among the notes
out: str = ""  # folder for calibrator.json, metrics.csv and report.html; empty for none

# %% tags=["hide-input"]
from IPython.display import Markdown

from focal_lib.tool import calibrate
from reproduction.checkout import ROOT
from reproduction.pages.footer import foot
from reproduction.pages.notes import note
from reproduction.pages.tables import captioned

# %%
report = calibrate(
    ROOT / path,
    methods,
    given=given,
    labels=ROOT / labels if labels else None,
    share=share,
    folds=folds,
    seed=seed,
    shrinkage=shrinkage,
    resamples=resamples,
    relevant=relevant,
    force=force,
)

# %% [markdown]
# ## In short

# %% tags=["remove-input"]
Markdown("\n\n".join(f"**{sentence}**" for sentence in report.summary.todo[:-1]))

# %% tags=["remove-input"]
captioned(report.summary.table(), "As given and after").set_table_attributes('class="dataframe words"').set_uuid(
    "summary"
)

# %% tags=["remove-input"]
said = *report.summary.gave, report.summary.split, *report.summary.sure, *report.notes
Markdown("\n".join(f"* {sentence}" for sentence in dict.fromkeys(said) if sentence))

# %% [markdown]
# ## Metrics on samples not fitted on
#
# Error and the ECE family in per cent. Of two ECEs, `ece` has 15 bins of equal width and `adaptive-ece` 15 of equal
# mass. The intervals, at 95 % over samples, are exact binomial ones for the error and percentile bootstrap for NLL and
# Brier score, widened for rare errors that may be missing among the samples. A bootstrap of an ECE cannot reach 0, and
# holds the truth less often than it says. So the intervals of the binned errors invert a simulated test (see
# {ref}`coverage of both <sec-coverage>`), or are bounds for a classwise ECE of few counts. On average noise makes such
# an error too large, so that it may lie above its interval. In round brackets stands an estimate with less of this
# bias. The smooth ECE has no interval.

# %%
metrics_of = report.metric_table()
captioned(metrics_of.iloc[:, :3], "Error and proper scores of each method, with 95 % intervals")

# %%
captioned(metrics_of.iloc[:, 3:5], "Calibration errors of each method, with 95 % intervals")

# %%
captioned(metrics_of.iloc[:, 5:], "Further calibration errors of each method, with 95 % intervals")

# %% [markdown]
# ## Differences
#
# Method minus reference over the same samples. What decides are proper scores, NLL and Brier score: their differences
# are means over samples and have t intervals, which all hold together with 95 % (Bonferroni); a star marks those that
# leave out 0. They, too, are widened for rare errors that may be missing among the samples. A richer method is
# recommended where the interval of its gain in such a score lies above a relevant share (`--relevant`, here
# {glue:text}`calibrate-relevant:g` %); of several, the one of the largest gain. The ECE (`adaptive-ece`, of equal mass,
# in percentage points) is told without an interval, as the bootstrap's of such a difference holds the truth less often
# than it says.

# %% tags=["remove-input"]
note("calibrate", relevant=100 * relevant)

# %%
captioned(report.difference_table(), "Each method minus a reference; * where the interval leaves out 0")

# %% [markdown]
# ## Reliability

# %% tags=["remove-input"] mystnb={"image": {"alt": "Reliability diagrams, one for each method that the sentences below name, with the band of a calibrated model and the number of samples in each bin."}, "figure": {"name": "fig-calibrate-reliability", "caption": "Accuracy over confidence in 15 bins of equal width, as given and, where a method is recommended, after it, beside the simplest method where it is another."}}
report.reliability_diagrams()

# %% tags=["remove-input"]
Markdown("\n\n".join([report.reliability_caption(), *map(report.reliability_alt, report.compared)]))

# %% [markdown]
# ## When to trust an answer
#
# With the calibrator that is kept, on the samples that were not fitted on: thresholds of the confidence with a
# certified bound on the errors above them, and the classes whose confidence is off.

# %% tags=["remove-input"]
Markdown("\n".join(f"* {sentence}" for sentence in report.decisions.sentences()))

# %% [markdown]
# ## The landscape of focal temperature scaling

# %% tags=["remove-input"] mystnb={"image": {"alt": "Contours of the adaptive ECE over gamma and temperature on the samples fitted on, with the fits of temperatures marked; their values stand below."}, "figure": {"name": "fig-calibrate-landscape", "caption": "Adaptive ECE (equal mass) over $(\\gamma, T)$ on the samples fitted on."}}
report.landscape()

# %% tags=["remove-input"]
Markdown("\n\n".join([report.landscape_caption(), *report.theory]))

# %% [markdown]
# ## What it leaves
#
# `report.save(folder)` writes the fitted calibrator (JSON, no pickle), the metrics and the page, all or none. `focal
# apply` and `focal export` take the calibrator further, `focal check --calibrator` tests it ({ref}`page-command-line`),
# {ref}`page-own-model` shows it inside other libraries, and {ref}`page-three-models` takes others the whole way.

# %%
if out:
    report.save(ROOT / out)
report.kept_in_words

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
    relevant=relevant,
    force=force,
    out=out,
)
