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
# (page-in-use)=
# # A calibrated model in use
#
# Calibrated on the day it was measured: is it still? And what may one do with its probabilities? Below, a watch that
# raises an alarm when a model drifts, a threshold above which answers are right often enough, and which classes and
# which actions deserve trust.

# %% tags=["parameters"]
streams: int = 400  # number of streams of a calibrated model, simulated here; at least 1
length: int = 2000  # samples in each; at least 10
draws: int = 200  # number of test sets of 1,000 samples, for the certified thresholds; at least 1
seed: int = 0  # seed of all simulations; at least 0

# %% tags=["hide-input"]
import numpy as np
import pandas as pd
from IPython.display import Markdown
from scipy.special import softmax

# %% tags=["hide-input"]
from focal_lib import metrics
from focal_lib.calibration import TemperatureScaling
from focal_lib.plots.style import use_style
from focal_lib.tool import CalibrationWatch, decide, read_logits
from reproduction.checkout import ROOT
from reproduction.pages.footer import foot
from reproduction.pages.notes import note
from reproduction.pages.plots.curves import line_figure
from reproduction.pages.tables import captioned
from reproduction.studies.advice.watch_rates import alarm_delays, alarm_times, false_alarm_rates, simulate_stream

use_style()

# %% [markdown]
# ## Watch for drift
#
# A `CalibrationWatch` sees each prediction when its outcome is known: the confidence, and whether it was right. It bets
# against calibration. Were each prediction right with probability equal to its confidence, whatever came before, no
# betting would pay. Its wealth, the *e-value*, would be 1 in the mean at any time, and would ever reach $1/\alpha$ with
# probability $\alpha$ at most {cite:p}`ville39,shafer19,ramdas23`. So one may look after every sample, and stop or go
# on as one likes; no number of samples is fixed beforehand. {cite:t}`arnold23` test calibration of forecasts in this
# way.
#
# The test is exact, and so it is strict: a temperature fitted on a few hundred samples is a little wrong, and
# confidences written with two decimals are; of that, too, an alarm comes in time. What it says is that the confidences
# are not the probabilities; whether by enough to matter, the means beside it say. Who holds a difference of two points
# to be none says so: `CalibrationWatch(tolerance=0.02)` bets only on differences that are larger, and $\alpha$ then
# bounds the chance of an alarm for every model whose confidences are off by no more.
#
# Half of the stakes bet that confidences are too high, half that they are too low: by a temperature, or by a shift of
# the log-odds. Some of the stakes start with every sample, so that a late drift is found as well.
# Here is a model of ten classes that is calibrated for {glue:text}`in-use-calm:,d` samples; then its logits should be
# divided by {glue:text}`in-use-drift:g`:

# %%
rng = np.random.default_rng(seed)
calm, drift = 3000, 1.5
before, after = simulate_stream(calm, rng), simulate_stream(700, rng, temperature=drift)
confidence, correct = (np.concatenate(columns) for columns in zip(before, after, strict=True))
watch, e_values = CalibrationWatch(alpha=0.01), []
for start in range(0, len(correct), 10):
    watch.update(confidence[start : start + 10], correct[start : start + 10])
    e_values.append(watch.e_value)
Markdown(watch.words)

# %% tags=["remove-input"]
note("in-use", calm=calm, drift=drift)

# %% tags=["remove-input"] mystnb={"image": {"alt": "The e-value over samples, on a logarithmic scale. While the model is calibrated it stays low, then it rises steeply."}, "figure": {"name": "fig-in-use-wealth", "caption": "The e-value of the watch. The alarm is raised where it reaches $1/\\alpha$, soon after the model drifts."}}
line_figure(10 * (1 + np.arange(len(e_values))), {"e-value": np.array(e_values)}, "samples", "e-value", yscale="log")

# %% [markdown]
# On the command line ({ref}`page-command-line`), `focal watch outcomes.csv --state watch.db` goes on where the last
# call stopped; its exit status is `0` for no drift so far, `1` for an alarm, `2` where it did not run. `tail -f
# outcomes.jsonl | focal watch -` looks at each line when it comes. `--tolerance 0.02` says what is no drift. `focal
# check` is for one set of predictions with a limit, in continuous integration, say.
#
# What the test does not see: classes that are mistaken for others as often as before; outcomes that are never known;
# an order of outcomes that depends on whether predictions were right, as where complaints come first.

# %% [markdown]
# (sec-false-alarms)=
# ### How often is the alarm false?
#
# Streams of a calibrated model, watched with $\alpha = 0.05$: the share in which there was an alarm by then, with its
# 95 % interval {cite:p}`clopper34`. The longest are recorded (`python -m
# reproduction.studies.advice.record watch`); the others are
# simulated with this page.

# %% tags=["hide-input"]
recorded = pd.read_parquet(ROOT / "results/watch/alarms.parquet")
calm = recorded[recorded["temperature"] == 1]
longest = int(calm["horizon"].max())
false_alarms = false_alarm_rates(calm["alarm at"].to_numpy(), (1000, 10_000, longest))
here = false_alarm_rates(alarm_times(streams, length, seed=seed + 1), (length,))
false_alarms = pd.concat([false_alarms.assign(made="recorded"), here.assign(made="here")])

# %% tags=["remove-input"]
captioned(
    false_alarms.sort_values("samples").set_index("samples"),
    "Streams of a calibrated model with an alarm by then, 95 % interval",
    precision=4,
)

# %% [markdown]
# ### How late is it?
#
# Recorded streams that drift after so many samples: the labels' logits are those of the model divided by a temperature,
# above 1 for a model that has become overconfident. The delay is in samples, from the drift to the alarm; false alarms
# are those before it.

# %% tags=["hide-input"]
rows = {
    (temperature, int(change)): alarm_delays(part["alarm at"].to_numpy(), int(change))
    for (temperature, change), part in recorded[recorded["temperature"] != 1].groupby(["temperature", "change"])
}
delays = pd.DataFrame(rows).T.rename_axis(["temperature", "drift after"])

# %% tags=["remove-input"]
captioned(delays, "Alarms of streams that drift, delays in samples").format(
    "{:,.0f}", subset=["median delay", "90 % delay"], na_rep=""
)

# %% [markdown]
# ## Answer only where it is sure enough
#
# Answer where the confidence is above a threshold, and leave the rest to someone else: a larger threshold means fewer
# errors and fewer answers. The threshold at which the errors *of the sample* are few enough often errs, as it was
# chosen on that sample; how often is counted below. A certified threshold has an upper bound below the risk one
# accepts, and the bounds of all thresholds hold together {cite:p}`geifman17,angelopoulos21`. As calibrated on the
# recorded CIFAR-10 network, for several risks; where the samples certify no threshold for a risk, a row says so:

# %%
sets = read_logits(ROOT / "results/cifar10-resnet8/598cf2a97b66ca1c/logits.npz")
fit = TemperatureScaling().fit(sets["validation"].logits, sets["validation"].labels)
decisions = decide([(fit, sets["test"])])
shown = captioned(decisions.threshold_table(), "Thresholds of the confidence")
shown.format("{!r}", subset="threshold", na_rep="none certified").hide()

# %% tags=["remove-input"] mystnb={"image": {"alt": "Share of wrong answers over the share of samples that are answered, with its upper bound a little above it. Both rise with coverage."}, "figure": {"name": "fig-in-use-risk", "caption": "Risk-coverage curve, with upper bounds that all hold together with 95 % confidence."}}
curve = decisions.risk_coverage
line_figure(
    curve.coverage,
    {"wrong, of the sample": curve.risk, "at most, of the model": curve.bound},
    "coverage: share of samples that are answered",
    "risk: share of the answers that are wrong",
)

# %% [markdown]
# Do they hold? The {glue:text}`in-use-known:,d` test samples are now all there is, so that the risk of every threshold
# is known; test sets of {glue:text}`in-use-drawn:,d` are drawn from them. How often is the risk above what was asked
# for?

# %% tags=["hide-input"]
known = metrics.top_label(fit.predict_proba(sets["test"].logits), sets["test"].labels)
asked, drawn = decisions.risk_coverage.risk[-1] / 2, 1000
note("in-use", known=len(known[0]), drawn=drawn)


def chosen_thresholds(draw):
    sample = metrics.risk_coverage_of(known[0][draw], known[1][draw])
    few = np.flatnonzero(sample.risk <= asked)
    certified = sample.certified(asked)
    return [sample.threshold[few[-1]] if len(few) else 1, certified.threshold if certified else 1]


# %% tags=["hide-input"]
chosen = [chosen_thresholds(rng.integers(0, len(known[0]), drawn)) for _ in range(draws)]
answered = [[known[0] > threshold for threshold in pair] for pair in chosen]
risks = [[1 - known[1][a].mean() if a.any() else 0 for a in pair] for pair in answered]
coverage = [[a.mean() for a in pair] for pair in answered]
held = {"risk above what was asked": (np.array(risks) > asked).mean(0), "mean coverage": np.mean(coverage, axis=0)}
captioned(
    pd.DataFrame(held, index=["fewest errors of the sample", "certified"]),
    "Test sets drawn again: share whose risk is above what was asked for, and the share of samples answered",
)

# %% [markdown]
# ## Which classes to mistrust
#
# When the model says a class, how sure is it, and how often right? Exact intervals, which hold for all classes
# together; the class whose interval of the gap is the farthest from 0 comes first.

# %% tags=["remove-input"]
captioned(
    decisions.class_table(), "Classes as predicted, with intervals of the gap that hold together with 95 %", index=False
)

# %% [markdown]
# ### Which are mistaken for which, and how confidently

# %% tags=["remove-input"]
confused = captioned(decisions.confusion_table(), "Right and wrong by confidence", index=False)
confused.set_table_attributes('class="dataframe words"').set_uuid("confusion")

# %% [markdown]
# ## What acting on a probability is worth
#
# Whoever acts from probability $t$ on holds a needless action to cost $t/(1-t)$ of what a needed one brings. The net
# benefit {cite:p}`vickers06` at every such $t$, here of acting on class 0: does the model do better than always acting
# and never acting, before calibration and after?

# %% tags=["hide-input"]
test = sets["test"]
probs = {"as given": softmax(test.logits, 1)}
probs["calibrated"] = fit.predict_proba(test.logits)
found = {name: metrics.net_benefit(p, test.labels, 0) for name, p in probs.items()}
curves = {name: benefit.model for name, benefit in found.items()}
curves["always act"] = np.maximum(found["as given"].treat_all, -0.02)  # the rest would fill the figure

# %% tags=["remove-input"] mystnb={"image": {"alt": "Net benefit over the probability from which one acts, of the model before and after calibration, and of always acting, which falls below zero early."}, "figure": {"name": "fig-in-use-benefit", "caption": "Decision curves of class 0. Never acting is worth 0; that of always acting is cut a little below."}}
line_figure(found["as given"].threshold, curves, "act from this probability on", "net benefit of a sample", zero=True)

# %% [markdown]
# ## In short

# %% tags=["hide-input"]
highest = false_alarms.iloc[: len(false_alarms) - 1].set_index("samples").loc[longest]
drifts = [t for t in delays.index.get_level_values(0).unique() if t > 1]
slow = delays.loc[drifts, "median delay"]
allowed = 0.05  # the alpha of these streams
if highest["low"] > allowed:
    kept_to = "all of the interval is above this, so more alarms are false than are allowed"
elif highest["high"] <= allowed:
    kept_to = "all of the interval is below this, as it should be"
else:
    kept_to = "the interval holds this, so these streams do not contradict it"

# %% tags=["remove-input"]
of_network = "".join(f"For the recorded CIFAR-10 network: {said}" for said in decisions.sentences()[:1])
Markdown(
    f"""```{{admonition}} Verdict
:class: important
In {100 * highest["false alarms"]:.1f} % of {highest["streams"]:.0f} streams of {longest:,} samples a calibrated model
raises an alarm (95 % interval {100 * highest["low"]:.1f} to {100 * highest["high"]:.1f}). At most {100 * allowed:g} %
are allowed: {kept_to}.
After a drift by a temperature of {" or ".join(f"{t:g}" for t in drifts)}
the alarm comes after {slow.min():.0f} to {slow.max():.0f} samples (medians).
{of_network}
```"""
)

# %% tags=["remove-input"]
foot("in_use", streams=streams, length=length, draws=draws, seed=seed)
