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
# (ch-raters)=
# # When the truth is a distribution
#
# **The question.** Focal loss finds, says the decomposition, the inverse map of the true probabilities. Mostly these
# are unknown. Where several people labelled each sentence they are nearly known. Does the map bring a focal model to
# what people said? **In short:** with weights chosen on validation labels, a focal model after its map, against the
# same model as it is, is {glue:text}`raters-primary`. {glue:text}`raters-exclude` Against cross-entropy the mapped
# model is {glue:text}`raters-against-ce`; the map, against a temperature fitted on held-out labels, is
# {glue:text}`raters-sharpened`.
#
# :::{admonition} As printed: KK24 sections 2 and 3.3
# 'the authors proved the existence of the closed-form transformation that recovers true class probability from the
# focal minimizer predictions. In practice, reaching perfect focal loss minimization is almost impossible due to reasons
# such as data noise and imperfect learning algorithms.' 'The derived focal calibration map is observed to equal with
# the transformation that maps the outputs from focal minimizers to the true class probabilities.'
# :::
#
# The paper has no experiment with known probabilities. This one is ours.

# %% tags=["parameters"]
gamma: float = 2.0  # of the focal loss trained here; above 0
seeds: int = 2  # models of each loss trained here; at least 2
n_train: int = 3000  # sentences to train on; 500 to 8045
n_validation: int = 1500  # sentences to choose the penalty and fit temperatures on; 300 to 1500

# %% tags=["hide-input"]
import numpy as np
import pandas as pd
from scipy.special import log_softmax

from focal_lib import metrics, theory
from focal_lib.plots.style import use_style
from reproduction.ledger import claims_of, show
from reproduction.pages.footer import foot
from reproduction.pages.notes import note
from reproduction.pages.plots.curves import interval_figure, point_figure
from reproduction.pages.tables import captioned, in_words
from reproduction.studies.human_labels import contrasts, measures
from reproduction.studies.human_labels.plan import FCL, GAMMA, VALIDATED, Plan, losses_compared
from reproduction.studies.human_labels.train import train
from reproduction.studies.shared.over_seeds import format_mean_sd
from reproduction.studies.shared.recorded import read_table
from reproduction.studies.shared.votes import divergence_to_raters

use_style()
record = read_table(measures.RECORD)
evaluated = contrasts.evaluate_written()

# %% [markdown]
# ## What people said
#
# {cite:t}`hutto14` had sentences from film reviews rated, in whole numbers of $[-4, 4]$. A vote below 0 is negative
# here, one above 0 positive. A vote of 0 counts half for each of two classes; with three classes it is a class of its
# own.

# %% tags=["hide-input"]
sizes = {"n_train": n_train, "n_validation": n_validation}
losses = losses_compared(gamma)
plans = [Plan("linear", seed=seed + 1, **sizes, **loss) for seed in range(seeds) for loss in losses.values()]
outcomes = [outcome for plan in plans for outcome in train(plan)]
votes = outcomes[0].votes

# %% tags=["remove-input"]
positive = votes.shares[:, 1]
note("raters", sentences=len(votes), raters=votes.raters.mean(), fewest=int(votes.raters.min()))
note("raters", unanimous=100 * np.mean(positive % 1 == 0), split=100 * np.mean(abs(positive - 0.5) <= 0.25))
note("raters", squared_noise=votes.squared_noise.mean(), kl_noise=votes.divergence_noise.mean())
note("raters", neutral=100 * votes.counts[:, 1].sum() / votes.counts.sum(), gamma=gamma, recorded_gamma=GAMMA)
note("raters", n_train=n_train, n_validation=n_validation, seeds=seeds, fcl_gamma=FCL[0], fcl_lam=FCL[1])

# %% [markdown]
# The {glue:text}`raters-sentences` test sentences have {glue:text}`raters-raters:.1f` votes each on average, and at
# least {glue:text}`raters-fewest`. On {glue:text}`raters-unanimous:.0f` % of them all raters agree; on
# {glue:text}`raters-split:.0f` % the positive share is between a quarter and three quarters.
# {glue:text}`raters-neutral:.1f` % of the votes are 0.
#
# ### The noise of few raters
#
# The share $s$ of so few votes is not the share $p$ among all the raters there could be. For a prediction $q$ that has
# not seen these votes
#
# ```{math}
# :label: eq-raters-noise
# \begin{aligned}
# E\lVert q-s\rVert^2 &= \lVert q-p\rVert^2 + E\lVert s-p\rVert^2, \\
# E\big[-\textstyle\sum_k s_k\log q_k\big] &= -\textstyle\sum_k p_k\log q_k.
# \end{aligned}
# ```
#
# The variance in the first line has an unbiased estimate, sentence by sentence, which is subtracted here. Its mean is
# {glue:text}`raters-squared-noise:.4f`. The second line has no noise term: a difference in KL between two models is a
# difference of cross-entropies, and unbiased. Only the level needs the entropy of $p$. It is estimated by the
# jackknife: the truth itself would lie about {glue:text}`raters-kl-noise:.4f` away from the votes in KL, and that is
# taken out. It is the smaller part of the noise where nearly all raters agree, and none where all do, so that levels of
# KL stay somewhat too high. For two classes the energy distance is the squared distance, so it adds nothing. Of three
# ordered classes it counts negative for positive as farther off than for neutral, which KL and the squared distance do
# not; with $P_k$, $Q_k$ the chances to be at most $k$, it is
#
# ```{math}
# :label: eq-raters-energy
# 2\sum_{k<K}(Q_k-P_k)^2,
# ```
#
# and the noise of the votes is taken out of it in the same way.
#
# ## What theory speaks of
#
# The minimiser of a loss depends on the law of the labels. The theory's labels are *drawn*: one rater at random, here
# drawn once for each sentence. All *votes* at once give the same law without the chance. The *majority* is another law,
# certain of each sentence, however split its raters are.
#
# And it speaks of the best prediction from what a model sees. A bag of words does not tell all that a rater reads. What
# any loss can find is $E[p]$ given the words. The distance that is left need not be the fault of the loss.
#
# ## What was run
#
# Here, now: a linear model on words and pairs of words (TF-IDF), {glue:text}`raters-n-train` sentences,
# {glue:text}`raters-seeds` seeds, labels drawn. L-BFGS goes down a path of penalties to a stationary point of each;
# with cross-entropy the objective is convex and that is its optimum, with the other losses it need not be. The penalty
# of least validation loss is kept, each loss by itself, on {glue:text}`raters-n-validation` sentences with drawn
# labels; the weakest penalty is what is called 'to the end' below.
#
# Recorded: more seeds of it, a network on averaged word vectors, GP-CNN and a Tree-LSTM, these three from GloVe vectors
# and with Adam, at the epoch of least validation loss and at the last one. The Tree-LSTM is M20's network for sentences
# with parse trees; these sentences have none, so that their words are halved down to single ones. It was added, with
# the contrasts of the others, when the results of the others had been seen, and takes
# {glue:text}`raters-tree-times:.1f` times the recorded processor time of GP-CNN. FCL has
# $\gamma =$ {glue:text}`raters-fcl-gamma:g` and $\lambda =$ {glue:text}`raters-fcl-lam:g`, L25's pair.

# %% tags=["remove-input"]
seconds = record.drop_duplicates(["model", "classes", "labels", "loss", "seed"])
by_setting = seconds.groupby(["model", "classes"], sort=False).agg(seeds=("seed", "nunique"), s=("cpu_seconds", "sum"))
columns = {"model": "model", "classes": "classes", "seeds": "seeds", "s": "processor seconds"}
caption = "The record: seeds, and the time that all models of a setting took; "
caption += f"networks have {Plan.epochs} epochs"
captioned(by_setting.reset_index().rename(columns=columns), caption, precision=0, index=False, spelt=True)

# %% tags=["remove-input"]
each = seconds[seconds["classes"] == 2].groupby("model")["cpu_seconds"].mean()
note("raters", tree_times=each["tree-lstm"] / each["gp-cnn"])
note("raters", three_seeds=record.loc[record["classes"] == 3, "seed"].nunique())

# %% [markdown]
# ## Prediction against raters
#
# Predicted: where a focal model says $q$, raters say $\hat p(q)$ on average. Test sentences in bins of equal mass, each
# model by itself, weights of least validation loss. Drawn are the bins' means over the seeds.


# %% tags=["hide-input"]
def binned(loss: str, mapped: bool = False) -> pd.DataFrame:
    """Predictions of positive and the raters' shares by bin, of each seed."""
    chosen = [o.test for o in outcomes if o.plan.label == loss and o.kept == VALIDATED]
    said = [theory.focal_log_probs(z, gamma) if mapped else log_softmax(z, -1) for z in chosen]
    return pd.concat([measures.share_by_prediction(np.exp(one)[:, 1], positive) for one in said])


ce, focal = list(losses)[:2]
points = binned(focal)
bins = {ce: binned(ce), focal: points, f"{focal} after its map": binned(focal, mapped=True)}
bins = {name: part.groupby(level=0).mean() for name, part in bins.items()}
curves = {name: tuple(part[c].to_numpy() for c in ("predicted", "share", "half")) for name, part in bins.items()}
q = np.linspace(0.02, 0.98, 25)
curves["the map"] = (q, np.exp(theory.focal_log_probs(np.log(np.stack([1 - q, q], -1)), gamma))[:, 1], None)

# %% tags=["remove-input"] mystnb={"image": {"alt": "Share of raters who say positive over the predicted probability, by bin, for cross-entropy, for focal loss and for focal loss after its map, with the diagonal and the focal map as a curve."}, "figure": {"name": "fig-raters-reliability", "caption": "Share of raters who say positive against the prediction, bins of equal mass, 95 % t intervals over the sentences of a bin, means over seeds. By the theory focal loss lies on the curve of the map, the other two on the diagonal."}}
point_figure(curves, "predicted probability of positive", "share of raters", diagonal=True)

# %% tags=["remove-input"]
pairs = np.log(np.stack([1 - points["predicted"], points["predicted"]], -1))
off_map = np.abs(points["share"] - np.exp(theory.focal_log_probs(pairs, gamma))[:, 1])
off_diagonal = np.abs(points["share"] - points["predicted"])
note("raters", off_map=100 * off_map.mean(), off_diagonal=100 * off_diagonal.mean())
note("raters", on_map=int((off_map <= points["half"]).sum()), bins=len(points))

# %% [markdown]
# The bins of the focal models lie {glue:text}`raters-off-map:.1f` points from the map on average and
# {glue:text}`raters-off-diagonal:.1f` from the diagonal. The map is inside the interval of {glue:text}`raters-on-map`
# of {glue:text}`raters-bins` bins, those of all seeds.
#
# ## Which comes closest?

# %% tags=["hide-input"]
table = measures.measure_outcomes(outcomes)
against_ce = contrasts.differences_from(table, VALIDATED)

# %% tags=["remove-input"] mystnb={"image": {"alt": "Kullback-Leibler divergence to the raters minus that of cross-entropy, a row for each loss and scaling, ordered, with t intervals and a line at zero."}, "figure": {"name": "fig-raters-losses", "caption": "KL to the raters minus that of cross-entropy as trained: linear model, drawn labels, weights of least validation loss; mean and 95 % t interval over paired seeds, each for itself. Left of the line is nearer to the raters."}}
interval_figure(
    *(against_ce[c].tolist() for c in ("label", "difference", "low", "high")),
    "KL minus that of cross-entropy",
    reference=0,
)

# %% tags=["hide-input"]
shown = table[(table["kept"] == VALIDATED) & table["metric"].isin(["kl", "l2", "gap", "accuracy"])]
means = shown.pivot_table(index=["loss", "method"], columns="metric", values="value", sort=False)
means = means[["kl", "l2", "gap", "accuracy"]].rename(columns={"kl": "KL", "l2": "squared distance"}).sort_values("KL")
caption = "Linear model, means over seeds. Gap: top probability less the share of raters who say so (accuracy)"
captioned(means.reset_index().rename_axis(columns=None), caption, index=False, spelt=True)

# %% tags=["hide-input"]
own = [o for o in outcomes if o.plan.label == focal and o.kept == VALIDATED]
moved = [divergence_to_raters(theory.focal_log_probs(o.test, gamma), votes) for o in own]
moved = np.mean([a - divergence_to_raters(log_softmax(o.test, -1), votes) for a, o in zip(moved, own, strict=True)], 0)
over_sentences = metrics.t_interval(moved)
note("raters", moved=over_sentences.estimate, moved_low=over_sentences.low, moved_high=over_sentences.high)
first = against_ce.iloc[0]
note("raters", improved=100 * np.mean(moved < 0))
note("raters", least=in_words(first["label"]) if first["difference"] < 0 else "cross-entropy")

# %% [markdown]
# Least KL, among those trained here, has {glue:text}`raters-least`; what the intervals do not tell apart stays open.
# The map moves focal loss by {glue:text}`raters-moved:.3f` in KL. Over sentences, which are the same for all seeds,
# its interval is {glue:text}`raters-moved-low:.3f` to {glue:text}`raters-moved-high:.3f` (95 % t, means over the
# seeds); of the sentences {glue:text}`raters-improved:.0f` % come nearer to their raters.
#
# ## The contrasts
#
# Written down in code before the recorded runs, after a trial with one seed that is none of theirs, on the same test
# sentences; of the Tree-LSTM without a trial, when the others had been seen. The first of each setting is primary and
# stands for itself; the others are corrected together, by Holm.
# $\gamma =$ {glue:text}`raters-recorded-gamma:g` throughout. A seed draws labels, weights, batches, and which sentences
# of one pool to train on, of which any two seeds share most. So the intervals are about other training on nearly the
# same sentences, and not about other test sentences, for which the smallest of these differences may not hold.
#
# The claims at the end of the page are judged part by part without a correction, since all parts of one must hold
# together ([](#page-verdicts)). So a part may be decided there that is not told apart here.

# %% tags=["hide-input"]
columns = {"table": "setting", "name": "contrast", "metric": "metric", "difference": "difference", "low": "95 % from"}
columns |= {"high": "to", "seeds": "seeds", "p_adjusted": "p, corrected (Holm)", "significant": "significant"}
caption = "Distance to the raters, one setting minus another, paired over seeds; t intervals, each for itself"
captioned(evaluated[list(columns)].rename(columns=columns), caption, index=False, spelt=True)

# %% tags=["remove-input"]
count = contrasts.sum_up_relations
primary = "focal: after its map minus as it is"
three = evaluated[evaluated["table"] == "linear, three classes"]
note(
    "raters", primary=count(evaluated, primary), against_ce=count(evaluated, "focal after its map minus cross-entropy")
)
note("raters", three=count(three, "focal after its map minus focal after a temperature").split(" in ")[0])
note("raters", late_focal=count(evaluated, "to the end: focal minus cross-entropy"))
note("raters", late_map=count(evaluated, "to the end: focal after its map minus as it is"))
note("raters", proper=count(evaluated, "proper part minus focal"), fcl=count(evaluated, "FCL minus focal"))
note("raters", fcl_map=count(evaluated, "FCL minus focal after its map"))
note("raters", brier=count(evaluated, "Brier minus cross-entropy"))
note("raters", sharpened=count(evaluated, "focal after its map minus focal after a temperature"))

# %% [markdown]
# Of these settings, in KL and after the correction: focal loss after its map, against as it is,
# {glue:text}`raters-primary`. Its proper part, against focal loss, {glue:text}`raters-proper`. FCL, against focal loss,
# {glue:text}`raters-fcl`; against focal loss after its map, {glue:text}`raters-fcl-map`. The Brier score, against
# cross-entropy, {glue:text}`raters-brier`. (With three classes a class as rare as the neutral one costs little in
# squared distance where it gets too small a probability, and can cost much in KL.)
#
# ### Three classes, in their order
#
# By the energy distance {eq}`eq-raters-energy`. The contrasts above were written down in KL and in squared distance;
# the energy distance was recorded when those had been seen.

# %% tags=["hide-input"]
ordered = record[(record["model"] == "linear") & (record["classes"] == 3)]
names = {"energy": "energy distance", "l2": "squared distance", "kl": "KL"}
by = {metric: contrasts.differences_from(ordered, VALIDATED, metric).set_index("label") for metric in names}
beside = by["energy"].rename(columns={"difference": names["energy"], "low": "95 % from", "high": "to"})
beside = beside.assign(**{names[metric]: by[metric]["difference"] for metric in ("l2", "kl")}).reset_index()
caption = "Three classes, minus cross-entropy as trained, paired over seeds; t intervals, each for itself"
captioned(beside, caption, precision=4, index=False, spelt=True)

# %% tags=["remove-input"]
nearest = {metric: found["difference"].idxmin() for metric, found in by.items() if found["difference"].min() < 0}
for metric in names:
    note("raters", {f"nearest-{metric}": in_words(nearest.get(metric, "cross-entropy"))})
steps = by["energy"]["difference"]
note("raters", energy_moved=steps[f"focal {GAMMA:g}, after its map"] - steps[f"focal {GAMMA:g}"])
note("raters", energy_below=int((by["energy"]["high"] < 0).sum()), energy_rows=len(steps))
note("raters", energy_above=int((by["energy"]["low"] > 0).sum()))

# %% [markdown]
# Least by the energy distance, on average over seeds, has {glue:text}`raters-nearest-energy`; by the squared distance
# {glue:text}`raters-nearest-l2`, by KL {glue:text}`raters-nearest-kl`. With the whole interval
# {glue:text}`raters-energy-below` of {glue:text}`raters-energy-rows` lie below cross-entropy as trained, and
# {glue:text}`raters-energy-above` above. The map moves focal loss by {glue:text}`raters-energy-moved:+.4f` in energy
# distance.
#
# ## Is it mere sharpening?
#
# The map makes predictions more certain, and so does any temperature below 1. For two classes the two are nearly the
# same function ({ref}`ch-fit`), so which *shape* is right can hardly show. What the map adds is the amount: it takes it
# from theory, without held-out labels. For three classes the shapes differ. In the record the map, against a
# temperature fitted on held-out labels, is {glue:text}`raters-sharpened`.

# %% tags=["hide-input"]
tried = sorted(g for g in record.loc[record["loss"].str.startswith("focal "), "gamma"].unique())
fitted = {
    m: [metrics.t_interval(contrasts.temperature_ratios("linear", 2, g, m)) for g in tried]
    for m in ("temperature", "map-temperature")
}
named = {"temperature": "focal as it is", "map-temperature": "focal after its map"}
ratios = {
    named[m]: (np.array(tried), np.array([i.estimate for i in part]), np.array([(i.high - i.low) / 2 for i in part]))
    for m, part in fitted.items()
}
ratios["closest to the map"] = (
    np.array(tried),
    np.array([theory.closest_temperature(g, 2).temperature for g in tried]),
    None,
)

# %% tags=["remove-input"] mystnb={"image": {"alt": "Fitted temperature of focal models over that of cross-entropy, against gamma, before and after the map, with t intervals, and the temperature closest to the map."}, "figure": {"name": "fig-raters-temperature", "caption": "Temperature fitted on held-out labels over that of cross-entropy: recorded linear models, two classes, mean and 95 % t interval over seeds. By the theory it is the closest temperature before the map, and 1 after it."}}
point_figure(ratios, r"$\gamma$ of training", "temperature over cross-entropy's", reference=1.0)

# %% tags=["remove-input"]
left = fitted["map-temperature"]
note("raters", left_low=min(i.estimate for i in left), left_high=max(i.estimate for i in left))
note("raters", left_one=sum(i.low <= 1 <= i.high for i in left), gammas=len(tried))

# %% [markdown]
# After the map the temperature left is {glue:text}`raters-left-low:.2f` to {glue:text}`raters-left-high:.2f` times
# that of cross-entropy; 1 is inside the interval for {glue:text}`raters-left-one` of {glue:text}`raters-gammas` values
# of $\gamma$. A penalty is chosen for each loss by itself, from a grid, and what it shrinks the fit has to undo: that
# is one reason why a ratio can differ from 1.
#
# ## The majority's label
#
# Where a data set keeps the majority and drops the votes, a proper loss finds the posterior of the majority, in which
# raters who disagree do not show. But such labels have less noise than drawn ones, which can help a model that has few
# sentences to learn from.

# %% tags=["hide-input"]
said = record[(record["model"] == "linear") & (record["classes"] == 2) & (record["kept"] == VALIDATED)]
said = said[said["loss"].isin([f"focal {GAMMA:g}", "cross-entropy"]) & said["method"].isin(["none", "map"])]
said = said.assign(column=said["loss"] + said["method"].map({"none": "", "map": " after its map"}))
kinds = said[said["metric"] == "kl"].groupby(["labels", "column"], sort=False)[["value"]]
form = format_mean_sd(kinds, 3)["value"].unstack("column").reset_index()
caption = "KL to the raters by the labels: recorded linear models, mean ± standard deviation over seeds"
captioned(form, caption, index=False)

# %% tags=["remove-input"]
note("raters", majority=count(evaluated, "cross-entropy: majority minus drawn"))
note("raters", majority_map=count(evaluated, "majority: focal after its map minus as it is"))

# %% [markdown]
# Cross-entropy on the majority, against labels drawn from the votes, is {glue:text}`raters-majority`, all with two
# classes. Focal loss on the majority, after its map against as it is, is {glue:text}`raters-majority-map`.
#
# ## Trained on to the end
#
# KK24's explanation is about networks that fit their training data too well: there focal loss is underconfident on
# them, and so less overconfident on new data. KK24 evaluate at the last epoch. With the last epoch, or the weakest
# penalty, that is what is compared.

# %% tags=["hide-input"]
late = evaluated[
    evaluated["name"].isin(
        [primary, "to the end: focal after its map minus as it is", "to the end: focal minus cross-entropy"]
    )
]
names = {primary: "the map, validated", "to the end: focal after its map minus as it is": "the map, to the end"}
rows = late.assign(label=late["table"] + ": " + late["name"].map(names).fillna("focal minus CE, to the end"))

# %% tags=["remove-input"]
note("raters", exclude=contrasts.say_whether_uses_exclude(evaluated))
seen = contrasts.evaluate_seen_afterwards()
note("raters", validated_focal=count(seen, contrasts.SEEN_AFTERWARDS))

# %% tags=["remove-input"] mystnb={"image": {"alt": "Differences in Kullback-Leibler divergence to the raters with t intervals, on an axis that is logarithmic away from zero, three rows for each setting: what the map does with validated weights, focal loss minus cross-entropy after training to the end, and what the map does after training to the end."}, "figure": {"name": "fig-raters-end", "caption": "Difference in KL to the raters, mean and 95 % t interval over paired seeds, each for itself: focal loss after its map minus as it is, with the weights of least validation loss and trained on to the end; and focal loss minus cross-entropy, to the end. The axis is linear near 0 and logarithmic beyond."}}
interval_figure(
    *(rows[c].tolist() for c in ("label", "difference", "low", "high")),
    "difference in KL to the raters",
    reference=0,
    linear_within=0.1,
)

# %% [markdown]
# Trained on to the end, focal loss as it is, against cross-entropy, is {glue:text}`raters-late-focal`. After its map,
# against as it is, it is {glue:text}`raters-late-map`. {glue:text}`raters-exclude` With validated weights, focal loss
# as it is, against cross-entropy, is {glue:text}`raters-validated-focal`; that comparison was made when the others
# had been seen.
#
# ```{exercise}
# :label: ex-raters-noise
# Two models are compared by their squared distance to the votes. Does the noise of few raters bias the difference?
# ```
#
# ```{solution} ex-raters-noise
# :class: dropdown
# No: by {eq}`eq-raters-noise` it adds the same to both. It biases the level, and a ratio of two distances.
# ```
#
# :::{admonition} What to remember
# :class: tip
# * Where several people rated a sentence, the share of them that said 'positive' is nearly the true probability. Here
#   models are held against that.
# * With weights chosen on validation labels, a focal model after its map, against the same model as it is, is
#   {glue:text}`raters-primary`; against cross-entropy it is {glue:text}`raters-against-ce`.
# * Against a temperature fitted on held-out labels, which the map does not need, the map is
#   {glue:text}`raters-sharpened`. With three classes, where the two differ in shape, it is {glue:text}`raters-three`;
#   that is one linear model on one collection of film reviews, {glue:text}`raters-three-seeds` seeds on the same test
#   sentences.
# * Trained on to the end, focal loss as it is, against cross-entropy, is {glue:text}`raters-late-focal`, and the map
#   then takes it {glue:text}`raters-late-map`. So the map is for weights chosen on validation data, not for a model
#   that has overfitted.
# * Settings are few, models small, and all of them on film reviews.
# :::
#
# ## Verdict

# %% tags=["remove-input"]
show(
    "kk24.raters_after_map",
    "kk24.raters_proper_part",
    "kk24.raters_map_not_temperature",
    "kk24.raters_temperature_left",
    "kk24.raters_overfitted",
    "kk24.raters_validated",
    "kk24.raters_overfitted_map",
    "kk24.raters_majority",
    "l25.raters_fcl",
    "l25.raters_fcl_biased",
)

# %% tags=["remove-input"]
claims_of("human_labels")

# %% tags=["remove-input"]
foot("human_labels", gamma=gamma, seeds=seeds, n_train=n_train, n_validation=n_validation)
