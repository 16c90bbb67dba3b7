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
# (page-advice)=
# # How often is the advice wrong?
#
# The question: `focal calibrate` says which method to use, from a few hundred or a few thousand samples. How often does
# it say the wrong thing, and do the intervals that it prints hold the truth as often as they claim? Whoever knows the
# truth can count, so we make up models whose truth is known, or take a recorded model's samples as all there is, draw
# samples from them, and ask.

# %% tags=["parameters"]
samples: int = 1000  # samples to fit on, and as many to test on; at least 20
classes: int = 10  # number of classes; at least 2
runs: int = 2  # decisions for each truth, live; at least 1
intervals_runs: int = 50  # simulated samples of each size, for the coverage of the intervals; at least 1
seed: int = 0  # seed of the simulations; at least 0

# %% tags=["hide-input"]
from functools import partial

import numpy as np
import pandas as pd
from IPython.display import Markdown

from focal_lib import metrics
from focal_lib.plots.style import use_style
from reproduction.checkout import ROOT
from reproduction.pages.footer import foot
from reproduction.pages.notes import note
from reproduction.pages.plots.curves import panel_figure
from reproduction.pages.tables import captioned
from reproduction.studies.advice.coverage import estimate_coverage
from reproduction.studies.advice.groups import (
    GROUP_ERRORS,
    count_group_errors,
    mark_group_errors,
)
from reproduction.studies.advice.power import count_advised
from reproduction.studies.advice.rates import (
    ADVICE_ERRORS,
    KNOWN_TRUTHS,
    count_advice_errors,
    judge_advice,
    made_up_population,
)

use_style()

decisions = pd.read_parquet(ROOT / "results/advice/decisions.parquet")
coverage = pd.read_parquet(ROOT / "results/advice/coverage.parquet")
power = pd.read_parquet(ROOT / "results/advice/power.parquet")
grouped = pd.read_parquet(ROOT / "results/advice/groups.parquet")

# %% tags=["remove-input"]
together = count_advice_errors(decisions, by=["relevant"]).set_index("error")
low_rate, high_rate = 0.93, 0.97  # of intervals at 95 %: below the one too few hold, above the other too many
note("advice", relevant=100 * decisions["relevant"].iloc[0])

# %% [markdown]
# ## In short


# %% tags=["remove-input"]
def share_of(wrong, runs):
    low, high = metrics.exact_binomial_ends(wrong, runs, 0.025)
    return f"{wrong:,.0f} of {runs:,.0f} ({wrong / runs:.1%}, 95 % interval {low:.1%} to {high:.1%})"


def said(error):
    return share_of(*together.loc[error, ["wrong", "runs"]])


def by_size(error):
    parts = [count_advice_errors(decisions[of], by=["relevant"]).set_index("error").loc[error] for of in (few, ~few)]
    return " and ".join(f"{p.wrong:.0f} of {p.runs:.0f} with {m} samples" for p, m in zip(parts, words, strict=True))


# %% tags=["remove-input"]
def clear(part):
    """Settings whose rate is below 93 % by an exact 95 % interval, those whose rate is above 97 %, and all of them."""
    rates = part.groupby(["of", "classes", "model", "samples"])[["hits", "runs"]].sum()
    low, high = metrics.exact_binomial_ends(rates["hits"], rates["runs"], 0.025)
    return (high < low_rate).sum(), (low > high_rate).sum(), len(rates)


def held(of):
    part = coverage[coverage["of"].isin(of)]
    low, high, settings = clear(part)
    surely = f"clearly below {low_rate:.0%} in {low} of {settings} settings, clearly above {high_rate:.0%} in {high}"
    return f"{part['hits'].sum() / part['runs'].sum():.1%} of {part['runs'].sum():,} samples ({surely})"


# %% tags=["remove-input"]
by_gain = count_advised(power).assign(times=lambda table: table["gain"] / power["relevant"].iloc[0])
four = by_gain[(by_gain["gaining"] == "temperature") & by_gain["times"].round(6).eq(4)]
of_gains = (
    "Where the best temperature could lower the NLL by four times the relevant amount, a method is advised in "
    + ", ".join(f"{r.advised} of {r.runs} with {r.samples:,} samples" for r in four.itertuples())
    + " ({ref}`more <sec-power>`)"
)
open_still = "" if together.loc["worse", "high"] <= 0.05 else ", too few decisions to say that it is below 5 %"
bold, timid = (together.loc[error, "wrong"] for error in ("worse", "leaves alone"))
how = "too careful more often than too bold" if timid > bold else "too bold at least as often as too careful"
sizes, kinds = decisions["samples"], decisions["classes"]
few = sizes <= sizes.median()
words = (f"at most {sizes.median():,.0f}", "more")
compared = decisions[decisions["intervals"] > 0]

# %% tags=["remove-input"]
by_truth = count_advice_errors(decisions, by=["truth"]).query("error == 'worse' and wrong > 0")
by_truth = by_truth.sort_values("wrong", ascending=False)
kinds_of = ", ".join(f"{r.wrong} of {r.runs} where it is '{r.truth}'" for r in by_truth.itertuples())
of_kinds = f"by kind of model {kinds_of or 'in none'}" + (", in none of the others" if kinds_of else "")
of_differences = (
    f"all of a decision, which hold together with 95 %, held the truth in "
    f"{share_of(compared['all hold'].sum(), len(compared))} decisions, and in "
    f"{compared['wrong side'].sum()} one lay on the wrong side of 0"
)
of_errors = (
    f"The 95 % intervals of the two ECEs held the truth in {held(['ece', 'adaptive-ece'])}, those of the "
    f"classwise ECE in {held(['classwise-ece'])}"
)

# %% tags=["remove-input"]
at_most, binned = 1000, coverage["of"].isin(["ece", "adaptive-ece", "classwise-ece"])
is_small = coverage["samples"] <= at_most
wide_where = ", ".join(
    f"{wide} of the {settings} settings with {size} samples"
    for size, part in {f"at most {at_most:,}": is_small, "more": ~is_small}.items()
    for _, wide, settings in [clear(coverage[binned & part])]
)

# %% tags=["remove-input"]
said_of = {told: f"{'' if told else 'not '}told of the groups" for told in (True, False)}
by_told = count_group_errors(grouped, by=["told"]).set_index(["told", "error"])


def outside(told):
    return share_of(*by_told.loc[(told, "truth outside"), ["wrong", "runs"]])


of_groups = (
    f"Where samples come in groups, a true difference is outside of its interval in {outside(True)} decisions that are "
    f"{said_of[True]}, and in {outside(False)} that are {said_of[False]} ({{ref}}`more <sec-groups>`)"
)

# %% tags=["remove-input"]
of_advice = f"""* **Too bold.** Where it recommends a richer method than temperature scaling, that is truly worse by a
  relevant amount in {said("worse")}{open_still}; {of_kinds}. Where it recommends anything, that is worse than the
  logits as given in {said("harms")}.
* **Too careful.** Where something is better by a relevant amount, the logits are left alone in
  {by_size("leaves alone")}, and something else is advised that is worse than it by that amount in {by_size("misses")}.
* **How much there must be to gain.** {of_gains}."""

# %% tags=["remove-input"]
of_intervals = f"""* **Intervals of differences.** The advice rests on them, in NLL and Brier score: {of_differences}.
* **Intervals of errors.** {of_errors}; a setting is a number of samples, a number of classes and a model, judged by an
  exact 95 % interval. Where too many hold, intervals are wider than they need be: {wide_where}.
* **Groups.** All of the above is of samples that are independent. {of_groups}.
* **What was tried.** Decisions of {sizes.min():,} to {sizes.max():,} samples and {kinds.min()} to {kinds.max():,}
  classes, not each size with each number of classes: {few.sum():,} of the {len(sizes):,} have at most
  {sizes.median():,.0f} samples. All samples count the same, with a set to fit on and one to test on."""
opening = f"Over the recorded decisions the advice is {how}."
Markdown(f"```{{admonition}} Verdict\n:class: important\n{opening}\n\n{of_advice}\n{of_intervals}\n```")

# %% [markdown]
# ## A small simulation, live
#
# Made-up populations: calibrated as given, often wrong or rarely wrong, the latter also with logits that are too large
# or too small; right after a temperature; right after the focal calibration map with $\gamma = 3$, as if trained with
# focal loss; right after a scale and a shift for each class (`calibration.made_up_population` has their numbers).
# Classes are equally frequent, but for one kind, right after a temperature, of which the k-th class is 1 / k times as
# frequent as the first. Each decision draws samples to fit on and samples to test on, fits the default methods,
# compares them and gives advice, as `focal calibrate` does. What each fit is worth is then its expected NLL and Brier
# score over the population. The relevant amount is that of the advice, {glue:text}`advice-relevant:g` % of a score.

# %%
made_up = [made_up_population(truth, classes, seed=seed, size=5000) for truth in KNOWN_TRUTHS]
live = pd.DataFrame([judge_advice(population, samples, seed + run) for population in made_up for run in range(runs)])
advised = live.groupby(["truth", "advised"], sort=False).size().rename("advised so often").to_frame()
captioned(advised, "What was advised, by what is true")


# %% tags=["hide-input"]
def table_of(counted, rows, columns="error", order=tuple(ADVICE_ERRORS)):
    cells = [f"{r.wrong} of {r.runs} [{r.low:.0%}, {r.high:.0%}]" if r.runs else "none" for r in counted.itertuples()]
    text = counted.assign(text=cells)
    return text.pivot(index=rows, columns=columns, values="text")[list(order)]


# %%
captioned(table_of(count_advice_errors(live, by=["truth"]), ["truth"]), "Wrong advice of this page, by what is true")

# %% tags=["remove-input"]
Markdown("\n".join(f"* *{name}*: {words}." for name, words in ADVICE_ERRORS.items()))

# %% [markdown]
# In brackets stands the exact binomial interval at 95 %; an error is counted over the decisions in which it could be
# made, of which there may be none. A method is worse where its NLL or its Brier score is larger
# by the amount, better where one of the two is smaller by it and the other no larger.
#
# ## Recorded: sample sizes and numbers of classes
#
# The same for other sample sizes and numbers of classes, as far as the record goes, and with recorded models whose
# samples of CIFAR, of validation and test, are drawn from as if they were all there is. What has no row was not run:
# many samples of many classes take long. Samples are independent in all of these decisions; groups have
# [a section of their own](#sec-groups). Weights and folds are in no decision of this page. All truths together:

# %% tags=["remove-input"]
wrong_by_size = table_of(count_advice_errors(decisions, by=["classes", "samples"]), ["classes", "samples"]).sort_index()
captioned(wrong_by_size, "Wrong advice of the record, by classes and samples")

# %% [markdown]
# By what is true, all sizes together:

# %% tags=["remove-input"]
captioned(
    table_of(count_advice_errors(decisions, by=["truth"]), ["truth"]), "Wrong advice of the record, by what is true"
)

# %% tags=["remove-input"]
codes = ", ".join(sorted(set(decisions["commit"])))
Markdown(
    f"{len(decisions):,} decisions, seeds 0 to {decisions['seed'].max()}, made with commit {codes}. "
    "`python -m reproduction.studies.advice.record rates --minutes 25` goes on with the record, or makes it again "
    "elsewhere: small "
    "settings take part in every round, large ones in few, so theirs are the wide intervals. Each decision has samples "
    "of its own, and those of a made-up truth another population for each seed and number of classes. Rates over all "
    "of them are of this mixture of truths, classes and sizes, and of no single model."
)

# %% [markdown]
# (sec-power)=
# ## How much must there be to gain?
#
# The made-up truths above have much to gain, or nothing. Here the best temperature could lower the expected NLL of the
# logits as given by a known share, or the best vector scaling that of the best temperature, around the smallest
# relevant amount (`calibration.population_with_gain`: logits too large, or shifted and scaled by class). What is fitted
# to few samples gains less, and may lose. A method is advised where it gains the relevant amount, in NLL or Brier
# score, by the near end of an interval; all intervals of a decision hold together with 95 %.

# %% tags=["hide-input"]
possible = {"temperature": "temperature over as given", "vector": "vector over temperature"}
panels = {
    title: {
        f"{n:,} samples": (of["times"].to_numpy(), of["rate"].to_numpy(), np.abs(of[["low", "high"]].T - of["rate"]))
        for n, of in by_gain[by_gain["gaining"] == kind].groupby("samples")
    }
    for kind, title in possible.items()
}

# %% tags=["remove-input"] mystnb={"image": {"alt": "Share of decisions in which the method was advised over what its best fit could gain in multiples of the smallest relevant amount, a line for each number of samples; a panel for a temperature and one for vector scaling."}, "figure": {"name": "fig-advice-power", "caption": "Share of recorded decisions in which the method was advised, with exact 95 % intervals, over what its best fit could gain of the NLL, in multiples of the relevant amount."}}
panel_figure(panels, "possible gain / relevant amount", "share advised")

# %% tags=["remove-input"]
worth = by_gain.assign(gaining=by_gain["gaining"].map(possible))
worth = worth.pivot(index=["gaining", "samples"], columns="times", values="worth it").rename_axis(columns="gain")
captioned(
    worth, "Share of decisions in which the fit truly gained the relevant amount, by the possible gain", precision=2
)


# %% tags=["remove-input"]
def found_from(kind, n):
    """The smallest possible gain tried from which on at least four of five decisions found it."""
    of = by_gain[(by_gain["gaining"] == kind) & (by_gain["samples"] == n)].sort_values("times")
    often = of["rate"].ge(0.8)[::-1].cummin()[::-1]
    return f"{of.loc[often, 'times'].min():g} times" if often.any() else "none of those tried"


counts = sorted(power["samples"].unique())
needless = by_gain[by_gain["worth it"] == 0]
Markdown(
    "The smallest possible gain tried, in multiples of the relevant amount, from which on the method was advised in at "
    f"least four of five of the decisions, of {by_gain['runs'].min()} to {by_gain['runs'].max()} each, with "
    f"{', '.join(f'{n:,}' for n in counts)} samples to fit on and as many to test on:\n\n"
    + "\n".join(f"* {title}: {', '.join(found_from(kind, n) for n in counts)}" for kind, title in possible.items())
    + "\n\nIn the settings where no fit gained the relevant amount, the method was advised in "
    f"{needless['advised'].sum()} of {needless['runs'].sum():,} decisions."
)

# %% tags=["remove-input"]
codes = ", ".join(sorted(set(power["commit"])))
Markdown(
    f"{len(power):,} decisions with {power['classes'].iloc[0]} classes, made with commit {codes}; a round has one "
    "population of each kind, distorted more for a larger gain, and draws new samples for each decision. "
    "`python -m reproduction.studies.advice.record power --minutes 25` goes on with the record, or makes it again "
    "elsewhere."
)

# %% tags=["remove-input"]
relevant = grouped["relevant"].iloc[0]
times = (grouped.loc[grouped["gain"] > 0, "gain"] / relevant).round(6).unique()
note("advice", grouped_classes=grouped["classes"].iloc[0], grouped_gains=" or ".join(f"{k:g}" for k in sorted(times)))
kinds_of_sizes = list(dict.fromkeys(grouped["sizes"]))

# %% [markdown]
# (sec-groups)=
# ## With groups
#
# Samples of one patient or one image are often right or wrong together, and `--groups` says which belong together. How
# often is the advice wrong then, and how often if that is forgotten? Here groups are drawn from populations with
# {glue:text}`advice-grouped-classes` classes: calibrated, often or rarely wrong, and with logits that are too large, so
# that a temperature gains {glue:text}`advice-grouped-gains` times the relevant amount. A group has cases of one
# difficulty, and true probabilities of its own, for which the model is too sure or not sure enough, in such a way that
# a sample alone is as without groups: what is calibrated stays so, and expected scores are known
# (`calibration.group_population`). How much that is, is said by the correlation of the log-losses of two samples of a
# group. Of each draw, groups to fit on and as many others to test on, advice is taken twice: told of the groups, and
# not.

# %% tags=["remove-input"]
shown = grouped.assign(told=grouped["told"].map({True: "yes", False: "no"}))
given_advice = shown["advised"].ne("as given")
wrong_in_groups = table_of(count_group_errors(shown), ["correlation", "told"], order=GROUP_ERRORS)
captioned(
    wrong_in_groups.rename_axis(index={"told": "told of groups"}),
    "Wrong advice where samples come in groups, by their correlation",
    precision=2,
)

# %% tags=["remove-input"]
Markdown("\n".join(f"* *{name}*: {words}." for name, words in GROUP_ERRORS.items()))

# %% [markdown]
# The last of these by the sizes of the groups, all truths together:

# %% tags=["hide-input"]
by_sizes = count_group_errors(grouped, by=["sizes", "told", "correlation"]).query("error == 'truth outside'")
panels = {
    f"groups: {sizes}": {
        said_of[told]: (of["correlation"].to_numpy(), of["rate"].to_numpy(), np.abs(of[["low", "high"]].T - of["rate"]))
        for told in (True, False)
        for of in [by_sizes[(by_sizes["sizes"] == sizes) & (by_sizes["told"] == told)].sort_values("correlation")]
    }
    for sizes in kinds_of_sizes
}

# %% tags=["remove-input"] mystnb={"image": {"alt": "Share of decisions in which an interval leaves out the truth over the correlation within groups, a line for advice that is told of the groups and one for advice that is not; a panel for each kind of sizes."}, "figure": {"name": "fig-advice-groups", "caption": "Share of recorded decisions in which one of the intervals leaves out the truth, with exact 95 % intervals, over the correlation of log-losses within a group. The line is at the share that is allowed."}}
panel_figure(panels, "correlation in a group", "share with truth outside", reference=0.05)

# %% [markdown]
# And how often a method is advised at all, by what is true, sizes together. Of calibrated logits all advice is wrong;
# of the others there is something to gain:

# %% tags=["remove-input"]
gains = (shown["gain"] / relevant).map("temperature gains {:g} x".format)
any_advice = shown.assign(
    truth=shown["truth"].where(shown["gain"] == 0, gains), told=grouped["told"].map(said_of), wrong=given_advice
)
any_advice = any_advice.groupby(["truth", "correlation", "told"], sort=False)["wrong"].agg(wrong="sum", runs="size")
low, high = metrics.exact_binomial_ends(any_advice["wrong"], any_advice["runs"], 0.025)
any_advice = any_advice.assign(low=low, high=high).reset_index()
captioned(
    table_of(any_advice, ["truth", "correlation"], "told", said_of.values()),
    "Decisions that advise a method, by what is true",
    precision=2,
)


# %% tags=["remove-input"]
allowed = 0.05


def above_allowed(told):
    """Settings whose rate is above what is allowed by an exact interval, in words."""
    rates = by_sizes[by_sizes["told"] == told]
    above = rates[rates["low"] > allowed]
    where = "; ".join(f"{r.sizes}, correlation {r.correlation:g}: {r.rate:.0%}" for r in above.itertuples())
    return f"in {len(above)} of {len(rates)}" + (f" ({where})" if where else "")


# %% tags=["remove-input"]
marks = mark_group_errors(grouped)
keys = ["seed", "truth", "correlation", "sizes"]
pairs = pd.concat([grouped[[*keys, "told"]], marks], axis=1).pivot(index=keys, columns="told", values=list(marks))


def only(error, told):
    """Draws in which the one decision makes the error and the other, which could make it, does not."""
    return int((pairs[error, told].eq(1) & pairs[error, not told].eq(0)).sum())


# %% tags=["remove-input"]
once = "; ".join(f"*{error}* in {only(error, False)} not told, in {only(error, True)} told" for error in GROUP_ERRORS)
silent = grouped[grouped["intervals"] == 0].groupby("told").size().reindex([True, False], fill_value=0)
Markdown(
    f"Clearly more than {allowed:.0%} of the decisions have a truth outside, by an exact 95 % interval for each of the "
    f"sizes with each correlation, {above_allowed(True)} where they are {said_of[True]}, and {above_allowed(False)} "
    f"where they are {said_of[False]}. On the same draws one decision alone makes an error that the other could make: "
    f"{once}. There is no interval at all, as hardly an error is to be expected, in {silent[True]} decisions told and "
    f"in {silent[False]} not told, of {len(pairs):,} each."
)

# %% tags=["remove-input"]
most, least = grouped["gain"].max(), grouped["correlation"].min()
easy = shown[(shown["gain"] == most) & (shown["correlation"] == least)].assign(found=given_advice)
found = easy.groupby(["sizes", "told"])["found"].agg(["sum", "size"])
of_easy = "; ".join(
    f"{sizes}: {found.loc[(sizes, 'yes'), 'sum']} told, {found.loc[(sizes, 'no'), 'sum']} not told, of "
    f"{found.loc[(sizes, 'yes'), 'size']}"
    for sizes in kinds_of_sizes
)
Markdown(
    f"Groups matter least at a correlation of {least:g}. There, where a temperature gains {most / relevant:g} times "
    f"the relevant amount, {most:.0%} of the NLL, the decisions that advise a method are, with groups {of_easy}."
)

# %% tags=["remove-input"]
codes = ", ".join(sorted(set(grouped["commit"])))
Markdown(
    f"{len(pairs):,} draws of {grouped['samples'].iloc[0]:,} samples, each decided twice, made with commit {codes}. "
    "`python -m reproduction.studies.advice.record groups --minutes 10` goes on with the record, or makes it again "
    "elsewhere."
)

# %% [markdown]
# (sec-coverage)=
# ## Are the intervals honest?
#
# A calibrated model has ECE 0, but no sample of it has: noise makes gaps, and the ECE adds up their sizes. A bootstrap
# adds noise once more, so its percentile interval lies above the truth. Below, models with a known adaptive ECE
# (equal mass) are sampled again and again; a 95 % interval should hold the truth in 95 % of the samples. Ours moves the
# gaps of the bins until the observed ECE would be surprising.

# %% tags=["hide-input"]
settings = [(n, gap) for n in (500, 5000) for gap in (0.0, 0.02, 0.1)]
intervals = {
    "percentile bootstrap": partial(metrics.bootstrap_adaptive_ece, resamples=50),
    "inverted test": metrics.adaptive_ece_interval_of,
}
table = pd.DataFrame([estimate_coverage(n, gap, intervals, intervals_runs, seed) for n, gap in settings]).round(2)

# %% tags=["remove-input"]
captioned(
    table.set_index(["samples", "true ECE (%)"]), "Share of 95 % intervals that hold the true adaptive ECE", precision=2
)

# %% tags=["remove-input"]
spans = {name: f"in {table[name].min():.0%} to {table[name].max():.0%}" for name in intervals}
Markdown(
    f"Over these {len(table)} settings, {intervals_runs} samples each, the percentile interval holds the true ECE "
    f"{spans['percentile bootstrap']} of them, the inverted test {spans['inverted test']}. `focal calibrate` prints "
    "the latter."
)

# %% [markdown]
# Recorded, over sample sizes, classes and models that are calibrated, have somewhat or much too large logits, or too
# small ones: the share of 95 % intervals that hold the truth. Of few samples the intervals of all these errors hold it
# more often than they say, as the second table counts. With many classes the cells of a class and a bin have few
# counts, and classes depend on one another. The interval of the classwise ECE of more than two classes allows for both:
# it holds at least as often as it says, mostly more, and is wide. The MCE's truth is over the bins in which such a
# sample has anything as often as not.


# %% tags=["remove-input"]
def shares(of, rows):
    part = coverage[coverage["of"].isin(of)].groupby([*rows, "of"])[["hits", "runs"]].sum()
    text = [f"{r.hits / r.runs:.1%} of {r.runs}" for r in part.itertuples()]
    return pd.Series(text, part.index).unstack("of").fillna("")


errors = ["ece", "adaptive-ece", "mce", "classwise-ece"]
captioned(shares(errors, ["classes", "samples"]), "95 % intervals that hold the truth, by classes and samples")

# %% tags=["remove-input"]
counts = pd.DataFrame({of: clear(coverage[coverage["of"] == of]) for of in errors}).T
counts.columns = [f"clearly below {low_rate:.0%}", f"clearly above {high_rate:.0%}", "settings"]
captioned(counts, "Settings of samples, classes and model whose share is clearly another than 95 %")

# %% tags=["remove-input"]
captioned(shares(errors, ["model"]), "95 % intervals that hold the truth, by model")

# %% [markdown]
# And how often a calibrated model is called miscalibrated: by `calibration_p_value` at 5 %, and by a point outside the
# bands of its reliability diagram, which hold for all bins together. Both should do so with a rate of at most 5 %.

# %% tags=["remove-input"]
called = shares(["p <= 0.05", "bands"], ["model", "samples"]).loc["calibrated"]
captioned(called, "Calibrated models that are called miscalibrated")

# %% [markdown]
# The **smooth ECE has no interval**. A calibrated model's is 0, yet that of every sample is above 0, and of every
# resample, so that a percentile interval never holds it; and as the width of its kernel is chosen by the sample, there
# is no fixed set of normal gaps for which a test could be inverted. **Differences of two ECEs** have none: each is too
# large by an amount of its own, which a resample adds once more. The advice is therefore decided on NLL and Brier
# score, whose differences are means over samples.

# %% tags=["remove-input"]
codes = ", ".join(sorted(set(coverage["commit"])))
Markdown(
    f"Recorded with commit {codes}; "
    "`python -m reproduction.studies.advice.record coverage --minutes 10` goes on with it."
)

# %% tags=["remove-input"]
foot("advice", samples=samples, classes=classes, runs=runs, intervals_runs=intervals_runs, seed=seed)
