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
# (ch-miscalibration)=
# # Why networks become miscalibrated
#
# **The question.** {cite:t}`m20` follow networks through training and explain what they see: cross-entropy goes on
# pushing the confidence of what is already right, the weights grow, and mistakes become confident, too. Focal loss is
# to start faster and then to hold the weights back. Is that what happens here?
#
# **In short:**
#
# * *The turn.* With cross-entropy the test NLL is lowest at epoch {glue:text}`miscalibration-turn`, on average over
#   seeds ({glue:text}`miscalibration-turn-seeds:s`). There {glue:text}`miscalibration-turn-error:.0f` % of the training
#   samples are still misclassified ({glue:text}`miscalibration-turn-error-span:s`).
# * *After it.* From there to the end the test NLL grows {glue:text}`miscalibration-nll-factor:.1f`-fold
#   ({glue:text}`miscalibration-nll-factor-span:s`), while the test error {glue:text}`miscalibration-error-word` by
#   {glue:text}`miscalibration-error-change:.1f` points (as a change, {glue:text}`miscalibration-error-span:s`).
# * *The start.* Step by step, the weights of a focal network with $\gamma =$
#   {glue:text}`miscalibration-gamma-top:g` are larger than those of cross-entropy for
#   {glue:text}`miscalibration-lead` of the first {glue:text}`miscalibration-steps` steps, on the mean over seeds
#   ({glue:text}`miscalibration-lead-seeds:s`).
# * *Confidence after temperature scaling.* {glue:text}`miscalibration-ce-after:.0f` % of the predictions have one of
#   {glue:text}`miscalibration-confident:g` or more with cross-entropy ({glue:text}`miscalibration-ce-after-span:s`),
#   {glue:text}`miscalibration-kept-after:.0f` % with $\gamma =$ {glue:text}`miscalibration-kept:g`
#   ({glue:text}`miscalibration-kept-after-span:s`); in M20's Table 6, which has one network a row and no interval,
#   focal loss keeps {glue:text}`miscalibration-table6-word`.
#
# Intervals are over the seeds of these networks, each for itself; of the epoch and of the steps it is the range of the
# seeds.
#
# :::{admonition} As printed: M20 sections 3 and 4
# The increase in average test NLL is caused only by the incorrectly classified samples, as the average NLL for the
# correctly classified samples continues to decrease even after the 150th epoch. [...] as soon as $p_{i,y_i}$ crosses
# the threshold $p_0$, $g(p_{i,y_i}, \gamma)$ falls below 1 and reduces the size of the gradient updates made to the
# network weights, thereby having a regularising effect on the weights. (ResNet-50 on CIFAR-10, 350 epochs, learning
# rate divided by 10 after 150 and 250.)
# :::

# %% tags=["parameters"]
grid: str = "workflow/grids/fashion-mnist.yaml"  # runs of the small CNN at one rate: cross-entropy, focal loss
runs: str = "results/fashion-mnist"  # where they are
n_train: int = 600  # images of the small network that is followed here; at least 64
epochs: int = 42  # of it; at least 5. M20: 350
seeds: int = 3  # of it, and of the first steps; at least 1
first_samples: int = 500  # images of the first steps; at least 10
first_steps: int = 40  # of gradient descent; at least 1

# %% tags=["hide-input"]
import numpy as np
import pandas as pd

from focal_lib.calibration import PAPER_TEMPERATURES
from focal_lib.metrics.intervals import t_interval_if_any
from focal_lib.plots.style import use_style
from reproduction import engine
from reproduction.engine import data
from reproduction.engine.data.sources import find_source
from reproduction.ledger import claims_of, show
from reproduction.pages.differences import differences
from reproduction.pages.footer import foot
from reproduction.pages.notes import note, say_spans
from reproduction.pages.plots.epochs import (
    MANY,
    epoch_panels,
    histogram_panels,
    picture_table,
    reliability_film,
    reliability_strip,
)
from reproduction.pages.tables import captioned
from reproduction.studies.epochs import claims_regularisation as beginning
from reproduction.studies.epochs import while_training
from reproduction.studies.epochs.confident import (
    CONFIDENT,
    agreed,
    beside_table6,
    caption_agreed,
    confidence_where_agreed,
    confident_shares,
)
from reproduction.studies.epochs.while_training import (
    describe_followed,
    ece_of_histories,
    follow,
    gradient_norms_at,
    histories,
    last_mistakes,
    minus_cross_entropy,
    over_seeds_by_epoch,
    reliability_by_epoch,
)

use_style()
trained = [run for run in engine.load_runs(grid, runs) if run.spec.is_focal and run.spec.gamma <= 3]
base = [run for run in trained if run.spec.is_cross_entropy]
spec = trained[0].spec
ece_bins, ece_column = ece_of_histories(histories(trained))

# %% [markdown]
# ## What was run
#
# Two kinds of networks. The runs of [](#ch-training), {glue:text}`miscalibration-runs` of them: a small CNN on
# {glue:text}`miscalibration-n` images of Fashion-MNIST, {glue:text}`miscalibration-epochs` epochs of Adam at one
# learning rate, cross-entropy and $\gamma$ of {glue:text}`miscalibration-gammas`, {glue:text}`miscalibration-seeds`
# seeds, looked at every {glue:text}`miscalibration-every` epochs. And, where every epoch and every sample counts, an
# MLP that is trained while this page is made: {glue:text}`miscalibration-mlp-n` images,
# {glue:text}`miscalibration-mlp-epochs` epochs of SGD, {glue:text}`miscalibration-mlp-seeds` seeds. Its learning rate
# falls to a tenth after {glue:text}`miscalibration-drops` epochs; M20's schedule, shortened alike, has that after
# {glue:text}`miscalibration-drops-m20`. Lines over epochs are means over seeds, and their bands reach from the lowest
# to the highest seed. ECE has 15 bins of {glue:text}`miscalibration-ece-bins:s`.
#
# What the claims of this page take of these runs, 'from the fifth epoch to the last' and 'more than 1 %' among it, was
# written when runs of that kind were known. None of their contrasts is a primary one; their intervals are each for
# itself.

# %% tags=["remove-input"]
note("miscalibration", runs=len(trained), n=spec.n_train, epochs=spec.training.epochs, every=spec.evaluate_every)
note("miscalibration", seeds=len({run.spec.seed for run in trained}), mlp_n=n_train, mlp_epochs=epochs)
note("miscalibration", mlp_seeds=seeds, gammas=", ".join(sorted({f"{run.spec.gamma:g}" for run in trained} - {"0"})))
of_mlp = "the MLP: two layers, no crops or flips, batches of 64, a learning rate of 0.05 at first, not 0.1"
shown = find_source(spec.dataset).title
of_cnn = f"{shown}, a small CNN and Adam, where M20 has CIFAR-10, ResNet-50 and 350 epochs of SGD, each evaluated"
of_ece = f"{'the claims ask ' if ece_column == 'ece' else ''}ECE of equal mass, where M20's has equal width"
differences(
    [of_cnn, "several seeds, where M20's figures have one", of_mlp, of_ece],
    ["the training error between and after drops of the learning rate (Fig. 1 c), but for the MLP's"],
)

# %% [markdown]
# ## When the NLL turns
#
# Cross-entropy first. The upright line is where the test NLL is lowest.

# %% tags=["hide-input"]
splits = {split: histories(base, split) for split in ("train", "test")}
turn = int(splits["test"].groupby("epoch")["nll"].mean().idxmin())
both = pd.concat([frame.assign(loss=f"{split} data") for split, frame in splits.items()])
names = {"NLL (nats)": "nll", "error (share)": "error", f"ECE ({ece_bins})": ece_column}
by_column = over_seeds_by_epoch(both, list(names.values()))
panels = {title: by_column[column] for title, column in names.items()}

# %% tags=["remove-input"] mystnb={"image": {"alt": "NLL, classification error and ECE of cross-entropy over the epochs, on training and on test data, with an upright line where the test NLL is lowest."}, "figure": {"name": "fig-miscalibration-turn", "caption": "Cross-entropy over the epochs. Counterpart of M20 Fig. 1 (c), and of the NLL of all samples in (a) and (b), without a drop of the learning rate."}}
epoch_panels(panels, columns=3, marks=[turn])

# %% tags=["remove-input"]
means = {split: frame.groupby("epoch")[["nll", "error", ece_column]].mean() for split, frame in splits.items()}
at, end = means["test"].loc[turn], means["test"].iloc[-1]
change = 100 * (end["error"] - at["error"])
note("miscalibration", turn=turn, turn_error=100 * means["train"].loc[turn, "error"])
note("miscalibration", nll_low=at["nll"], nll_end=end["nll"])
note("miscalibration", error_word="falls" if change < 0 else "rises", error_change=abs(change))
learnt = means["train"].loc[turn, "error"] <= 0.01
note("miscalibration", learnt="the set is learnt, as M20's" if learnt else "the set need not be learnt for that")
note("miscalibration", ece_low=100 * at[ece_column], ece_end=100 * end[ece_column], ece_bins=ece_bins)

# %% tags=["remove-input"]
by_seed = splits["test"].pivot(index="seed", columns="epoch")
ratio = by_seed["nll"].iloc[:, -1] / by_seed["nll"][turn]
note("miscalibration", nll_factor=ratio.mean(), nll_factor_span=say_spans(ratio))
changed = 100 * (by_seed["error"].iloc[:, -1] - by_seed["error"][turn])
missed = 100 * splits["train"].pivot(index="seed", columns="epoch", values="error")[turn]
note("miscalibration", error_span=say_spans(changed, signed=True), turn_error_span=say_spans(missed, within=(0, 100)))
turns = by_seed["nll"].idxmin(axis="columns")
own_turns = f"{turns.min()} to {turns.max()} in the {len(turns)} seeds by themselves"
note("miscalibration", turn_seeds=own_turns if len(turns) > 1 else "one seed, no interval")

# %% [markdown]
# From epoch {glue:text}`miscalibration-turn` to the last the test NLL goes from {glue:text}`miscalibration-nll-low:.2f`
# to {glue:text}`miscalibration-nll-end:.2f`, the ECE from {glue:text}`miscalibration-ece-low:.1f` to
# {glue:text}`miscalibration-ece-end:.1f` %, and the error {glue:text}`miscalibration-error-word` by
# {glue:text}`miscalibration-error-change:.1f` points. M20's network has nearly no training error when this begins,
# since both begin where the learning rate drops. Here nothing drops, and {glue:text}`miscalibration-turn-error:.0f` %
# of the training samples are misclassified when the NLL turns: {glue:text}`miscalibration-learnt`. A longer run on all
# of CIFAR-10, with two falls of the rate as M20's, stands in [](#ch-larger).

# %% tags=["remove-input"]
show("m20.nll_overfits_not_error", "m20.nll_turns_early", "m20.fig1_training_error")

# %% [markdown]
# ## Right and wrong apart
#
# The mean over all samples can hide two movements. Cross-entropy first, with the samples that a network classifies
# correctly apart from the others, on training and on test data:

# %% tags=["hide-input"]
names = {"NLL, right (nats)": "nll_right", "NLL, wrong (nats)": "nll_wrong"}
names |= {"entropy, right (nats)": "entropy_right", "entropy, wrong (nats)": "entropy_wrong"}
by_column = over_seeds_by_epoch(both, list(names.values()))
beside_test = {title: by_column[column] for title, column in names.items()}
note("miscalibration", last_mistakes=last_mistakes(splits["train"], spec.n_train))

# %% tags=["remove-input"] mystnb={"image": {"alt": "Four panels over the epochs of cross-entropy, a line for training and one for test data: NLL of right and of wrong samples, entropy of right and of wrong ones."}, "figure": {"name": "fig-miscalibration-train", "caption": "Cross-entropy, samples classified correctly (right) and not (wrong), on training and on test data. Counterpart of M20 Fig. 1 (a) and (b)."}}
epoch_panels(beside_test)

# %% [markdown]
# Where no network misclassifies a sample, the lines of wrong samples have no value; else they are means over the
# networks that do, be the samples ever so few. The last evaluated epoch with a mistake on training data:
# {glue:text}`miscalibration-last-mistakes:s`. What the ledger judges of training data:

# %% tags=["remove-input"]
show("m20.fig1_train_nll")

# %% [markdown]
# On test data, for cross-entropy and for focal loss:

# %% tags=["hide-input"]
tests = histories(trained, "test")
names = {"NLL, right (nats)": "nll_right", "NLL, wrong (nats)": "nll_wrong", "NLL, all (nats)": "nll"}
names |= {"entropy, right (nats)": "entropy_right", "entropy, wrong (nats)": "entropy_wrong"}
names |= {f"ECE ({ece_bins})": ece_column}
by_column = over_seeds_by_epoch(tests, list(names.values()))
apart = {title: by_column[column] for title, column in names.items()}

# %% tags=["remove-input"] mystnb={"image": {"alt": "Six panels over the epochs, a line for each loss: NLL of right, of wrong and of all test samples; entropy of right and of wrong ones; ECE."}, "figure": {"name": "fig-miscalibration-apart", "caption": "Cross-entropy and focal loss on test data, samples classified correctly (right) and not (wrong). Counterpart of M20 Fig. 3 (a) to (d), (g)."}}
epoch_panels(apart, columns=3)

# %% [markdown]
# What the ledger judges of it, first of cross-entropy:

# %% tags=["remove-input"]
show("m20.fig1_test_nll", "m20.fig1_ece", "m20.fig1_entropies", "m20.fig2_highest_bin", "m20.fig2_after_perfect")

# %% [markdown]
# Then of focal loss beside it:

# %% tags=["remove-input"]
show(
    "m20.fig3_nll_wrong",
    "m20.fig3_entropy_wrong",
    "m20.fig3_true_class_wrong",
    "m20.fig3_true_class_right",
    "m20.fig3_confidence_kept",
    "m20.fig3_confidence_here",
)

# %% [markdown]
# ## Reliability while it trains
#
# M20's Fig. 2 shows the samples move into the highest bin. The MLP of this page, cross-entropy and the largest
# $\gamma$, on test data; on training data cross-entropy alone. Bars are the shares of the samples in
# {glue:text}`miscalibration-bins` bins of equal width; orange is the gap to the diagonal, where a bin holds
# {glue:text}`miscalibration-many` samples or more.

# %% tags=["hide-input"]
recipe = {"model": "mlp", "recipe": "cifar-cpu", "n_validation": 1, "learning_rate": 0.05}
specs = [
    engine.Spec(gamma=gamma, seed=seed, n_train=n_train, epochs=epochs, **recipe)
    for seed in range(seeds)
    for gamma in (0, 1, 2, 3)
]
followed = follow(specs)
drops, m20 = specs[0].training.drops, engine.RECIPES["m20-cifar"]
shortened = [round(drop * epochs / m20.epochs) for drop in m20.drops]
note("miscalibration", {name: " and ".join(map(str, at)) for name, at in (("drops", drops), ("drops-m20", shortened))})
moments = list(dict.fromkeys(round(epochs * share) for share in (1 / epochs, 0.1, 3 / 7, 5 / 7, 1)))

# %% tags=["hide-input"]
ce, focal = specs[0].label, specs[-1].label
strip = {
    f"{ce}, train": reliability_by_epoch(followed, ce, moments, "train"),
    f"{ce}, test": reliability_by_epoch(followed, ce, moments),
    f"{focal}, test": reliability_by_epoch(followed, focal, moments),
}
every = [reliability_by_epoch(followed, loss, range(1, epochs + 1)) for loss in (ce, focal)]
frames = {title: {ce: every[0][title], focal: every[1][title]} for title in every[0]}
note("miscalibration", bins=while_training.BINS, many=MANY)

# %% tags=["remove-input"] mystnb={"image": {"alt": "Three rows of reliability diagrams, a column for each of up to five epochs: cross-entropy on training data, cross-entropy on test data, focal loss on test data."}, "figure": {"name": "fig-miscalibration-strip", "caption": "Reliability at several epochs, samples of all seeds together. Counterpart of M20 Fig. 2."}}
reliability_strip(strip)

# %% [markdown]
# The same on test data for every epoch, as a picture that moves once and then stands. It is folded, so that nothing
# moves unasked; the figure above is its still alternative.

# %% tags=["remove-input", "hide-output"] mystnb={"code_prompt_show": "Show the moving picture", "code_prompt_hide": "Hide the moving picture", "image": {"alt": "Moving picture of two reliability diagrams on test data, cross-entropy and focal loss, one epoch after the other; it ends with the last epoch."}, "figure": {"name": "fig-miscalibration-film", "caption": "Reliability on test data, epoch by epoch."}}
reliability_film(frames)

# %% [markdown]
# ## Weights and logits
#
# Confidence comes from large logits, and these can come from large weights. In the MLP, with upright lines where the
# learning rate drops:

# %% tags=["hide-input"]
described = describe_followed(followed)
surely = f"{CONFIDENT:.0%}".replace("%", " %")
names = {"norm of the last layer": "weight_norm", "mean norm of the logits": "logit_norm"}
names |= {f"share of test samples above {surely}": "above_99", f"right, of those above {surely}": "right_above_99"}
by_column = over_seeds_by_epoch(described, list(names.values()))
grown = {title: by_column[column] for title, column in names.items()}
last = described[described["epoch"] == epochs].groupby("gamma")[["weight_norm", "logit_norm"]].mean()
note("miscalibration", logits_ce=last["logit_norm"].iloc[0], logits_top=last["logit_norm"].iloc[-1])
note("miscalibration", weights_ce=last["weight_norm"].iloc[0], weights_top=last["weight_norm"].iloc[-1])

# %% tags=["remove-input"] mystnb={"image": {"alt": "Four panels over the epochs of the MLP, a line for each loss: norm of the last layer, norm of the logits, share of very confident test samples, and how many of these are right."}, "figure": {"name": "fig-miscalibration-weights", "caption": "Weights, logits and very confident predictions of the MLP. Counterpart of M20 Fig. 3 (h)."}}
epoch_panels(grown, marks=drops)

# %% [markdown]
# At the end the last layer of cross-entropy has norm {glue:text}`miscalibration-weights-ce:.2f` and its logits
# {glue:text}`miscalibration-logits-ce:.1f`; with $\gamma = 3$ it is {glue:text}`miscalibration-weights-top:.2f` and
# {glue:text}`miscalibration-logits-top:.1f`. The small CNN is judged in the ledger:

# %% tags=["remove-input"]
show("m20.weight_norm_late", "m20.weight_norm_fifth", "m20.weight_norm_early")

# %% [markdown]
# What the drops do to the errors of the MLP, and to the probability of the true class of the test samples that it
# classifies correctly (right) and of the others (wrong):

# %% tags=["hide-input"]
names = {"training error (share)": "train_error", "test error (share)": "test_error"}
names |= {f"probability of the true class, {kind}": f"true_class_{kind}" for kind in ("right", "wrong")}
by_column = over_seeds_by_epoch(described, list(names.values()))
dropped = {title: by_column[column] for title, column in names.items()}
errors = described[described["loss"] == "cross-entropy"].pivot(index="seed", columns="epoch", values="train_error")
after, until = min(drops[0] + 1, drops[-1]), drops[-1]
rise = t_interval_if_any(100 * (errors[until] - errors[after]))
at_least = f", 95 % t interval {rise.low:+.2f} to {rise.high:+.2f}" if rise.kind else ", of one seed"
note("miscalibration", drop_after=after, drop_until=until, drop_rise=f"{rise.estimate:+.2f}", drop_span=at_least)
note("miscalibration", drop_end=100 * errors[epochs].mean())

# %% tags=["remove-input"] mystnb={"image": {"alt": "Four panels over the epochs of the MLP, a line for each loss, with upright lines where the learning rate drops: training error, test error, mean probability of the true class of test samples classified correctly and of those that are not."}, "figure": {"name": "fig-miscalibration-drops", "caption": "Errors and the probability of the true class, MLP, with the drops of the learning rate. Counterpart of M20 Figs. 1 (c) and 3 (e), (f)."}}
epoch_panels(dropped, marks=drops)

# %% [markdown]
# M20's training error 'rises slightly' between the drops and is 'exactly 0' after the second. Here, with cross-entropy,
# it changes by {glue:text}`miscalibration-drop-rise:s` points from epoch {glue:text}`miscalibration-drop-after` to
# epoch {glue:text}`miscalibration-drop-until`{glue:text}`miscalibration-drop-span:s`, and is
# {glue:text}`miscalibration-drop-end:.2f` % at the end. That is another network, and no test of the sentence.

# %% [markdown]
# ## The first steps
#
# Theory says when focal loss should lead: while the probability $q$ of the true class is below $p_0 = \tau(\gamma)$ its
# gradient is the larger one ([](#ch-gradient)). An epoch is too long a look. So the same MLP, from the same weights,
# with gradient descent on {glue:text}`miscalibration-samples` images at once, step by step. The upright lines are where
# cross-entropy's mean $q$ passes the thresholds of the three $\gamma$.

# %% tags=["hide-input"]
steps = beginning.first_steps(seeds, first_samples, first_steps)
names = {"$q$": "true_class", "$q$, minus cross-entropy's": "true_class", "norm, minus cross-entropy's": "weight_norm"}
mean_q, *gained = names
less = over_seeds_by_epoch(minus_cross_entropy(steps, ["true_class", "weight_norm"]), names.values())
led = {mean_q: over_seeds_by_epoch(steps, ["true_class"])["true_class"]}
led |= {title: less[names[title]] for title in gained}
passed = beginning.threshold_steps(steps)
lead = {gamma: beginning.steps_in_lead(steps, "weight_norm", gamma) for gamma in beginning.GAMMAS}
note("miscalibration", steps=first_steps, samples=first_samples, gamma_top=max(lead), lead=lead[max(lead)])
note("miscalibration", leads=", ".join(map(str, lead.values())))
leads = [beginning.steps_in_lead(own, "weight_norm", max(lead)) for _, own in steps.groupby("seed")]
own_leads = f"{min(leads)} to {max(leads)} in the {len(leads)} seeds by themselves"
note("miscalibration", lead_seeds=own_leads if len(leads) > 1 else "one seed, no interval")
at_steps = "; ".join(f"that of gamma {gamma:g} at {at:g}" for gamma, at in passed.items())
note("miscalibration", passed=at_steps or "none is passed in every seed")

# %% tags=["remove-input"] mystnb={"image": {"alt": "Three panels over the first steps: mean probability of the true class for each loss; the same less that of cross-entropy, for each focal loss; and the norm of the last layer less that of cross-entropy. Upright lines are where cross-entropy passes the thresholds."}, "figure": {"name": "fig-miscalibration-first", "caption": "The first steps of gradient descent on all images at once, from the same weights for each loss: mean $q$, and $q$ and the norm of the last layer less those of cross-entropy with the same seed."}}
epoch_panels(led, "step", columns=3, marks=list(passed.values()), zero=gained)

# %% [markdown]
# On average over seeds, the mean $q$ of cross-entropy passes the thresholds at these steps:
# {glue:text}`miscalibration-passed`. With $\gamma = 1, 2, 3$ the norm of the last layer is larger than with
# cross-entropy for {glue:text}`miscalibration-leads` steps. In M20's Fig. 3 (h) the reversal of the order occurs
# 'between epochs 150 and 250'. By Fig. 1 (c) most training samples are classified correctly before that, and for a $q$
# below $p_0$, which is less than one half, such a sample must share its probability with two other classes or more. The
# threshold can explain a lead in the first steps; that it explains one as long as M20's is not shown.

# %% tags=["remove-input"]
show("m20.gains_faster", "m20.weights_lead_then_trail")

# %% [markdown]
# ## The gradients of the samples
#
# Past the threshold $g < 1$ makes the gradient of a sample smaller than with cross-entropy. Norms of the loss gradient
# in the last layer, of each training sample of the MLP:

# %% tags=["hide-input"]
looks = list(dict.fromkeys((1, max(1, round(epochs * 2 / 7)), max(1, round(epochs * 4 / 7)))))
spread = {f"epoch {epoch}": gradient_norms_at(followed, epoch) for epoch in looks}
medians = described[described["epoch"].isin((looks[0], looks[-1]))].groupby(["gamma", "epoch"])["gradient_norm"].mean()
left = medians.unstack().pipe(lambda wide: wide[looks[-1]] / wide[looks[0]])
note("miscalibration", look=looks[-1], left_ce=left.iloc[0], left_top=left.iloc[-1])

# %% tags=["remove-input"] mystnb={"image": {"alt": "Histograms of the gradient norms of the training samples at up to three epochs, on a logarithmic axis, an outline for each loss."}, "figure": {"name": "fig-miscalibration-gradients", "caption": "Gradient norms of the training samples in the last layer; the first bin holds all below. Counterpart of M20 Fig. 4 (b) to (d)."}}
histogram_panels(spread, "norm of the gradient", lowest=1e-6)

# %% [markdown]
# From epoch 1 to epoch {glue:text}`miscalibration-look` the median goes to {glue:text}`miscalibration-left-ce:.2g` of
# what it was with cross-entropy and to {glue:text}`miscalibration-left-top:.2g` with $\gamma = 3$. Of the small CNN, by
# a quantile that the claim names:

# %% tags=["remove-input"]
show("m20.gradient_norms")

# %% [markdown]
# ## Very confident predictions
#
# M20 count the test samples 'predicted with a confidence of 0.99 or more', and how many of these are right, before and
# after temperature scaling. The small CNNs, on average over seeds, and M20's Table 6 below (CIFAR-10; 'focal' is
# FLSD-53). Temperatures are chosen by the ECE on validation, as theirs: here of equal mass, T from
# {glue:text}`miscalibration-t-low:g` to {glue:text}`miscalibration-t-high:g` in steps of
# {glue:text}`miscalibration-t-step:g`. M20's ECE is of equal width, its T 'between 0 and 10, with a step of 0.1'
# (section 6).

# %% tags=["hide-input"]
shares = confident_shares(trained)
tried = PAPER_TEMPERATURES
note("miscalibration", t_low=tried[0], t_high=tried[-1], t_step=round(tried[1] - tried[0], 6))
beside = beside_table6(shares)
caption = f"Test samples with a confidence of {CONFIDENT:g} or more, and how many of them are right, in per cent"
captioned(beside.rename_axis(index=None), caption, precision=1)

# %% tags=["remove-input"]
temperatures = shares[shares["stage"] == "after"].groupby("gamma")["temperature"].mean()
ours, printed = beside.iloc[: temperatures.size], beside["share, after"].iloc[temperatures.size :]
by_loss = {key: printed[[name.startswith(key) for name in printed.index]].to_numpy() for key in ("focal", "cross")}
keeps_more = (by_loss["focal"] > by_loss["cross"]).all()
note("miscalibration", table6_word="more" if keeps_more else "not always more", confident=CONFIDENT)
note(
    "miscalibration",
    ce_before=ours.iloc[0, 0],
    ce_right=f"{ours.iloc[0, 1]:.0f} %" if ours.iloc[0, 0] else "undefined: there is none",
    ce_after=ours.iloc[0, 2],
)
note("miscalibration", kept_before=ours.iloc[-1, 0], kept_after=ours.iloc[-1, 2], kept=temperatures.index[-1])
note("miscalibration", t_ce=temperatures.iloc[0], t_kept=temperatures.iloc[-1])

# %% tags=["remove-input"]
left_over = 100 * shares[shares["stage"] == "after"].pivot(index="seed", columns="gamma", values="share")
for key, gamma in (("ce", temperatures.index[0]), ("kept", temperatures.index[-1])):
    note("miscalibration", {f"{key}-after-span": say_spans(left_over[gamma], within=(0, 100))})

# %% [markdown]
# Of what cross-entropy predicts with such a confidence the share that is right is
# {glue:text}`miscalibration-ce-right:s`. M20 argue that a temperature near 1 leaves focal loss its confidence. Here the
# temperature is {glue:text}`miscalibration-t-kept:.1f` with $\gamma =$ {glue:text}`miscalibration-kept:g` and
# {glue:text}`miscalibration-t-ce:.1f` with cross-entropy, and the share of such predictions that is left after it is
# {glue:text}`miscalibration-kept-after:.0f` and {glue:text}`miscalibration-ce-after:.0f` %. A temperature alone does
# not say how many predictions stay confident: it divides logits, and how large these are differs with the loss.

# %% tags=["remove-input"]
show("m20.table6_before_here", "m20.table6_after_here", "m20.table6_right_here")

# %% [markdown]
# M20's Fig. 8 shows four test images that all networks have right, and four that all have wrong. Here they are the
# first of the test set, with the class, and what cross-entropy and the largest $\gamma$ say of them, with the
# confidence before and after temperature scaling (seed {glue:text}`miscalibration-seed`).

# %% tags=["hide-input"]
seed = base[0].spec.seed
group = [run for run in trained if run.spec.seed == seed]
chosen = np.concatenate([agreed(group, right)[:4] for right in (True, False)])
test = data.load(spec.dataset).test
classes = data.class_names(spec.dataset, group[0].test.logits.shape[-1])
captions = [caption_agreed([group[0], group[-1]], sample, classes) for sample in chosen]
note("miscalibration", seed=seed)

# %% tags=["remove-input"] mystnb={"image": {"alt": "Eight test images, the first four classified correctly by all networks, the others by none, each with its class and what two networks say with which confidence."}, "figure": {"name": "fig-miscalibration-images", "caption": "Above, images that all networks of one seed classify correctly; below, images that none does. Confidence before and after temperature scaling, with an arrow between them. Counterpart of M20 Fig. 8."}}
picture_table(test.inputs[chosen], captions)

# %% tags=["hide-input"]
shared = confidence_where_agreed(trained)
named = shared.groupby(["gamma", "loss", "kind", "stage"], sort=False)["confidence"].mean().unstack(["kind", "stage"])
counts = shared.groupby(["kind", "seed"])["samples"].first().groupby("kind").mean()
note("miscalibration", shared_right=counts["right"], shared_wrong=counts["wrong"])
note(
    "miscalibration",
    shared_lowest=shared.query("kind == 'wrong'").groupby(["loss", "stage"])["confidence"].mean().min(),
)
caption = "Mean confidence on all samples that the networks of a seed all have right, or all wrong"
captioned(named.droplevel("gamma").rename_axis(index=None, columns=["", ""]), caption)

# %% [markdown]
# Four images prove nothing, so the ledger takes all that the networks of a seed agree on: on average
# {glue:text}`miscalibration-shared-right:.0f` right and {glue:text}`miscalibration-shared-wrong:.0f` wrong ones. M20
# speak of 'a very low confidence for the focal loss model' on mistakes; the lowest mean in the table, of any loss at
# either stage, is {glue:text}`miscalibration-shared-lowest:.2f`. The claims ask only whether it is lower than that of
# cross-entropy.

# %% tags=["remove-input"]
show("m20.fig8_wrong_before_here", "m20.fig8_wrong_after_here")

# %% [markdown]
# ```{exercise}
# :label: ex-miscalibration-decay
# M20 name weight decay as another way to hold the weights back. What does the MLP do without it, or with ten times as
# much?
# ```
#
# ```{solution} ex-miscalibration-decay
# :class: dropdown
# A recipe has it as `weight_decay`: add one to `engine.RECIPES` with `dataclasses.replace`, and follow it with
# `follow`.
# ```
#
# :::{admonition} What to remember
# :class: tip
# * With cross-entropy and a constant learning rate the test NLL turns at epoch {glue:text}`miscalibration-turn`, on
#   average over seeds ({glue:text}`miscalibration-turn-seeds:s`), when {glue:text}`miscalibration-turn-error:.0f` % of
#   the training samples are still misclassified. By the last epoch it has grown
#   {glue:text}`miscalibration-nll-factor:.1f`-fold; the test error {glue:text}`miscalibration-error-word` by
#   {glue:text}`miscalibration-error-change:.1f` points. So accuracy does not tell when calibration is lost.
# * The test NLL rises with the samples that are classified wrongly; that of the others falls, as M20 say.
# * Focal loss starts faster and then holds the weights back: those of the network with
#   $\gamma =$ {glue:text}`miscalibration-gamma-top:g` are the larger ones for {glue:text}`miscalibration-lead` of the
#   first {glue:text}`miscalibration-steps` steps.
# * After temperature scaling {glue:text}`miscalibration-ce-after:.0f` % of the predictions of cross-entropy have a
#   confidence of at least {glue:text}`miscalibration-confident:g`, and {glue:text}`miscalibration-kept-after:.0f` %
#   with $\gamma =$ {glue:text}`miscalibration-kept:g`. In M20's Table 6 focal loss keeps
#   {glue:text}`miscalibration-table6-word`.
# * These are small networks on Fashion-MNIST, without drops of the learning rate but for a small MLP.
# :::
#
# ## Verdict

# %% tags=["remove-input"]
claims_of("miscalibration")

# %% tags=["remove-input"]
foot(
    "miscalibration",
    grid=grid,
    runs=runs,
    n_train=n_train,
    epochs=epochs,
    seeds=seeds,
    first_samples=first_samples,
    first_steps=first_steps,
)
