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
# **The question.** {cite:t}`m20` follow networks through training and explain what they see. Cross-entropy goes on
# pushing the confidence of what is already right, the weights grow, and mistakes become confident, too. Focal loss
# starts faster and then holds the weights back. Is that what happens here?
#
# **In short,** on small networks and Fashion-MNIST:
#
# * With cross-entropy the test NLL turns after few epochs, before the training set is learnt. By the end it has more
#   than doubled, while the test error still falls.
# * The misclassified samples raise it. Focal loss raises it less, the less the larger $\gamma$ is.
# * In the first steps of training focal loss has the larger weights, later the smaller ones, as M20 say.
# * After a temperature, cross-entropy keeps the most very confident predictions. In M20's Table 6 it keeps fewer than
#   focal loss.
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

from focal_lib.metrics.intervals import t_interval_if_any
from focal_lib.plots.style import use_style
from reproduction import engine
from reproduction.engine.data.sources import find_source
from reproduction.ledger import claims_of, show
from reproduction.ledger.verdicts import expect_verdict
from reproduction.pages.differences import differences
from reproduction.pages.expected import written_for
from reproduction.pages.footer import foot
from reproduction.pages.notes import note
from reproduction.pages.plots.epochs import epoch_panels, histogram_panels, reliability_strip
from reproduction.pages.tables import captioned
from reproduction.studies.epochs import claims_regularisation as beginning
from reproduction.studies.epochs import confident, while_training
from reproduction.studies.epochs.while_training import follow, histories, over_seeds_by_epoch, reliability_by_epoch

use_style()
expect = written_for("miscalibration", globals())

# %% [markdown]
# ## What was run
#
# A small CNN on {glue:text}`miscalibration-n:,` images of Fashion-MNIST: the recorded runs of [](#ch-training), up to
# $\gamma = 3$. Adam has one learning rate throughout, and a run keeps how it does every
# {glue:text}`miscalibration-every` epochs. And an MLP that is trained while this page is made, so that every epoch and
# every sample can be looked at. Its learning rate falls to a tenth twice, as M20's does.

# %%
trained = [run for run in engine.load_runs(grid, runs) if run.spec.is_focal and run.spec.gamma <= 3]
base = [run for run in trained if run.spec.is_cross_entropy]
splits = {split: histories(base, split) for split in ("train", "test")}
ece_bins, ece_column = while_training.ece_of_histories(histories(trained))

# %%
recipe = {"model": "mlp", "recipe": "cifar-cpu", "n_validation": 1, "learning_rate": 0.05}
sizes = {"n_train": n_train, "epochs": epochs}
specs = [engine.Spec(gamma=g, seed=seed, **sizes, **recipe) for seed in range(seeds) for g in (0, 1, 2, 3)]
followed = follow(specs)
described = while_training.describe_followed(followed)
drops = specs[0].training.drops

# %% tags=["remove-input"]
spec = trained[0].spec
note("miscalibration", n=spec.n_train, every=spec.evaluate_every)
of_cnn = f"{find_source(spec.dataset).title}, a small CNN and Adam, where M20 has CIFAR-10 and ResNet-50"
of_time = f"{spec.training.epochs} epochs at one learning rate, where M20 has 350, with two drops"
of_mlp = "the MLP: two layers, no crops or flips, batches of 64, a learning rate of 0.05 at first, not 0.1"
of_ece = f"{'the claims ask ' if ece_column == 'ece' else ''}ECE of equal mass, where M20's has equal width"
missing = "the training error between and after drops of the learning rate (Fig. 1 c), drawn for the MLP alone"
differences([of_cnn, of_time, "several seeds, where M20's figures have one", of_mlp, of_ece], [missing])

# %% [markdown]
# The curves are of small networks, and illustrate. M20's sentences are judged on networks of CIFAR-10 that follow their
# steps for 100 epochs ([](#ch-larger)). The limits, 'from the first drop to the last epoch' say, were chosen when such
# runs were known. None of the contrasts is a primary one, and their intervals are uncorrected. A line below is the mean
# over seeds, its band reaches from the lowest seed to the highest, and ECE has 15 bins of equal width.
#
# ## When the NLL turns


# %%
def by_epoch(frame: pd.DataFrame, titles: dict[str, str]) -> dict:
    """Title -> loss -> epochs, mean, lowest and highest over seeds, for the panels of a figure."""
    bands = over_seeds_by_epoch(frame, list(titles.values()))
    return {title: bands[column] for title, column in titles.items()}


turn = int(splits["test"].groupby("epoch")["nll"].mean().idxmin())
both = pd.concat([frame.assign(loss=f"{split} data") for split, frame in splits.items()])
titles = {"NLL": "nll", "error (share)": "error", f"ECE ({ece_bins})": ece_column}
of_parts = {"NLL, right": "nll_right", "NLL, wrong": "nll_wrong", "entropy, wrong": "entropy_wrong"}
of_base = by_epoch(both, titles | of_parts)

# %% tags=["remove-input"] mystnb={"image": {"alt": "Six panels over the epochs of cross-entropy, a line for training and one for test data, with an upright line where the test NLL is lowest: NLL, error, ECE; NLL of samples classified rightly and wrongly, entropy of the latter. From the upright line on NLL, ECE and the NLL of wrong samples rise on test data."}, "figure": {"name": "fig-miscalibration-turn", "caption": "From the upright line on the test NLL rises, and the ECE with it; the test error does not. Only the misclassified test samples get worse, since their predictions become surer. Cross-entropy, nats; right and wrong: as classified. Counterpart of M20 Fig. 1, without a drop of the learning rate."}}
epoch_panels(of_base, columns=3, marks=[turn])

# %% tags=["remove-cell"]
nll, error = (splits["test"].pivot(index="seed", columns="epoch", values=column) for column in ("nll", "error"))
grown = nll.iloc[:, -1] / nll[turn]
unlearnt = splits["train"].pivot(index="seed", columns="epoch", values="error")[turn]
change = t_interval_if_any(100 * (error.iloc[:, -1] - error[turn]))
expect(turn <= 10 and unlearnt.min() > 0.05, "the text says: after few epochs, before the set is learnt")
expect(grown.min() > 2, "the text says: more than doubled, in every seed")
expect(change.high < 0, "the text says that the error still falls")
ece = splits["test"].groupby("epoch")[ece_column].mean()
expect(ece.iloc[-1] > 2 * ece[turn], "the text says that the ECE rises with it")
note("miscalibration", turn=turn, unlearnt=100 * unlearnt.mean(), factor=grown.mean(), fall=-change.estimate)

# %% [markdown]
# The mean NLL on test data is lowest at epoch {glue:text}`miscalibration-turn`, when
# {glue:text}`miscalibration-unlearnt:.0f` % of the training images are still misclassified. By the last epoch it has
# grown {glue:text}`miscalibration-factor:.1f`-fold in the mean. The error has fallen by
# {glue:text}`miscalibration-fall:.1f` points. So accuracy does not tell when calibration is lost.
#
# M20's network has nearly no training error when this begins, since both begin where the learning rate drops. A longer
# run on all of CIFAR-10, with two drops, is in [](#ch-larger).
#
# ## Right and wrong apart
#
# The mean hides two movements: of the samples that the network classifies correctly, and of the others. On test data,
# for focal loss as well:

# %%
tests = histories(trained, "test")
titles = of_parts | {"entropy, right": "entropy_right", "NLL, all": "nll", f"ECE ({ece_bins})": ece_column}
apart = by_epoch(tests, titles)

# %% tags=["remove-input"] mystnb={"image": {"alt": "Six panels over the epochs, a line for each loss: NLL and entropy of right and of wrong test samples, NLL of all, ECE. The curves of the losses do not cross but for ECE and NLL of all, which are highest for focal loss at first and for cross-entropy at the end."}, "figure": {"name": "fig-miscalibration-apart", "caption": "With focal loss mistakes cost less and stay less sure. At first its ECE is the higher one, at the end the lower. Test data, in nats. Counterpart of M20 Fig. 3 (a) to (d), (g)."}}
epoch_panels(apart, columns=3)

# %% tags=["remove-cell"]
course = tests.groupby(["gamma", "epoch"])[["nll_right", "nll_wrong", "entropy_wrong", ece_column]].mean()
starts, ends = (course.groupby("gamma").nth(k).droplevel("epoch") for k in (0, -1))
rises = ends - starts
expect((rises["nll_wrong"] > 0).all() and (rises["nll_right"] < 0).all(), "the text says: wrong up, right down")
expect(rises["nll_wrong"].is_monotonic_decreasing, "the text says: the less the larger gamma is")
expect((rises["entropy_wrong"] < 0).all(), "the caption says that wrong predictions become surer")
expect(ends["entropy_wrong"].is_monotonic_increasing, "the caption says: less sure with focal loss")
expect(starts[ece_column].idxmin() == 0 == ends[ece_column].idxmax(), "the caption says: first higher, then lower")
note("miscalibration", wrong_ce=rises["nll_wrong"].iloc[0], wrong_top=rises["nll_wrong"].iloc[-1])

# %% [markdown]
# The NLL of misclassified test images rises by {glue:text}`miscalibration-wrong-ce:.1f` nats with cross-entropy, and by
# {glue:text}`miscalibration-wrong-top:.1f` with $\gamma = 3$. That of correct ones falls with every loss. M20 see both
# after the learning rate drops, and so do our networks on CIFAR-10.
#
# ## Reliability while it trains
#
# M20's Fig. 2 shows how samples move into the highest of 25 bins. The same for the MLP:

# %%
moments = list(dict.fromkeys(round(epochs * share) for share in (1 / epochs, 0.1, 3 / 7, 5 / 7, 1)))
ce, focal = specs[0].label, specs[-1].label
rows = [(ce, "train"), (ce, "test"), (focal, "test")]
strip = {f"{loss}, {split}": reliability_by_epoch(followed, loss, moments, split) for loss, split in rows}

# %% tags=["remove-input"] mystnb={"image": {"alt": "Three rows of reliability diagrams, a column for each of up to five epochs: cross-entropy on training data, cross-entropy on test data, focal loss on test data. In the middle row the gaps to the diagonal grow."}, "figure": {"name": "fig-miscalibration-strip", "caption": "With cross-entropy the test samples, too, move into the highest bin, and accuracy does not follow. Bars: share of the samples. Orange: gap to the diagonal, in bins of 20 samples or more; all seeds together. Counterpart of M20 Fig. 2."}}
reliability_strip(strip)

# %% tags=["remove-cell"]
last = strip[f"{ce}, test"][f"epoch {moments[-1]}"]
expect(np.argmax(last.count) == len(last.count) - 1, "the caption says: into the highest bin")
expect(last.confidence[-1] > last.accuracy[-1], "the caption says that accuracy does not follow")

# %% [markdown]
# ## Weights, logits, errors
#
# Confidence comes from large logits, and these can come from large weights. In the MLP:

# %%
titles = {"norm of the last layer": "weight_norm", "mean norm of the logits": "logit_norm"}
titles |= {"test samples above 99 % (share)": "above_99", "training error (share)": "train_error"}
titles |= {f"probability of the true class, {kind}": f"true_class_{kind}" for kind in ("right", "wrong")}
of_mlp = by_epoch(described, titles)

# %% tags=["remove-input"] mystnb={"image": {"alt": "Six panels over the epochs of the MLP, a line for each loss, with upright lines where the learning rate drops: norm of the last layer, norm of the logits, share of very confident test samples, training error, and mean probability of the true class of test samples that are right and that are wrong."}, "figure": {"name": "fig-miscalibration-weights", "caption": "The larger $\\gamma$, the smaller weights and logits, and the fewer very confident predictions. Upright lines: drops of the learning rate. MLP. Counterpart of M20 Figs. 1 (c) and 3 (e), (f), (h)."}}
epoch_panels(of_mlp, columns=3, marks=drops)

# %% tags=["remove-cell"]
at_end = described[described["epoch"] == epochs].groupby("gamma")[["weight_norm", "logit_norm", "above_99"]].mean()
expect(all(at_end[c].is_monotonic_decreasing for c in at_end), "the caption says: the larger gamma, the smaller")
errors = described[described["gamma"] == 0].pivot(index="seed", columns="epoch", values="train_error")
rise = t_interval_if_any(100 * (errors[drops[-1]] - errors[min(drops[0] + 1, drops[-1])]))
expect(rise.low < 0 < rise.high and rise.estimate < 0, "the text says: falls in the mean, undecided")
expect(0 < errors[epochs].mean() < 0.001, "the text says: nearly, not exactly")

# %% [markdown]
# Between the drops M20's training error 'rises slightly'; ours falls in the mean, and three seeds do not decide it.
# After the second drop theirs is 'exactly 0', ours nearly. That is another network, and no test of M20's sentence.
#
# ## The first steps
#
# Where the probability $q$ of the true class is below $p_0 = \tau(\gamma)$, the gradient of focal loss is the larger
# one ([](#ch-gradient)). So focal loss should lead at first. An epoch is too long a look for that. Here is gradient
# descent on {glue:text}`miscalibration-samples` images at once, step by step, from the same weights for each loss:

# %%
steps = beginning.first_steps(seeds, first_samples, first_steps)
differs = while_training.minus_cross_entropy(steps, ["true_class", "weight_norm"])
gained = by_epoch(differs, {"$q$, minus cross-entropy's": "true_class", "norm, minus cross-entropy's": "weight_norm"})
passed = beginning.threshold_steps(steps)  # gamma -> the step at which cross-entropy's mean q passes its threshold
lead = {gamma: beginning.steps_in_lead(steps, "weight_norm", gamma) for gamma in beginning.GAMMAS}

# %% tags=["remove-input"] mystnb={"image": {"alt": "Two panels over the first steps, each with a line for each focal loss, less cross-entropy: mean probability of the true class, and norm of the last layer. Both rise above zero, and fall below it after the upright lines, where cross-entropy passes the thresholds."}, "figure": {"name": "fig-miscalibration-first", "caption": "Focal loss gains until about the threshold, and soon after it trails: mean $q$ and norm of the last layer, less those of cross-entropy with the same seed. Upright lines: cross-entropy's mean $q$ passes $\\tau(\\gamma)$."}}
epoch_panels(gained, "step", marks=list(passed.values()), zero=list(gained))

# %% tags=["remove-cell"]
expect(all(0 < steps_led < first_steps for steps_led in lead.values()), "the text says: at first larger, then smaller")
note("miscalibration", samples=first_samples, lead_low=min(lead.values()), lead_high=max(lead.values()))
note("miscalibration", passed_low=min(passed.values(), default=0), passed_high=max(passed.values(), default=0))

# %% [markdown]
# The thresholds of the three $\gamma$ are passed between steps {glue:text}`miscalibration-passed-low:.0f` and
# {glue:text}`miscalibration-passed-high:.0f`, on average over seeds. The norm of the last layer is the larger one for
# {glue:text}`miscalibration-lead-low` to {glue:text}`miscalibration-lead-high` steps, by $\gamma$.
#
# In M20's Fig. 3 (h) the order reverses 'between epochs 150 and 250'. By Fig. 1 (c) most training samples are right
# before that, and $p_0$ is less than one half. So the threshold explains a lead in the first steps. That it explains
# one as long as M20's is not shown.
#
# Past the threshold the gradient of a sample is smaller with focal loss. Norms of the loss gradient in the last layer,
# of each training sample of the MLP:

# %%
looks = list(dict.fromkeys((1, max(1, round(epochs * 2 / 7)), max(1, round(epochs * 4 / 7)))))
spread = {f"epoch {epoch}": while_training.gradient_norms_at(followed, epoch) for epoch in looks}

# %% tags=["remove-input"] mystnb={"image": {"alt": "Histograms of the gradient norms of the training samples at up to three epochs, on a logarithmic axis, an outline for each loss. They move to the left, a little further for focal loss."}, "figure": {"name": "fig-miscalibration-gradients", "caption": "Gradients shrink with every loss, and a little more with focal loss. MLP; the first bin holds all below. Counterpart of M20 Fig. 4 (b) to (d)."}}
histogram_panels(spread, "norm of the gradient", lowest=1e-6)

# %% tags=["remove-cell"]
medians = described.pivot_table(index="gamma", columns="epoch", values="gradient_norm")
left = medians[looks[-1]] / medians[looks[0]]
expect(left.iloc[-1] < left.iloc[0] < 0.1, "the caption says: with every loss, more with focal loss")

# %% [markdown]
# ## Very confident predictions
#
# M20 count the test samples 'predicted with a confidence of 0.99 or more', and how many of these are right, before and
# after temperature scaling. Here are the small CNNs, above M20's Table 6 (CIFAR-10; 'focal' is FLSD-53). Temperatures
# are chosen by the ECE on validation data, here with bins of equal mass.

# %%
shares = confident.confident_shares(trained)
caption = "Test samples with a confidence of 0.99 or more, and how many of them are right, in per cent"
captioned(confident.beside_table6(shares).rename_axis(index=None), caption, precision=1)

# %% tags=["remove-cell"]
kept = {stage: part.pivot(index="seed", columns="gamma", values="share") for stage, part in shares.groupby("stage")}
more = [t_interval_if_any(kept["after"][0] - kept["after"][g]).low for g in (1, 2, 3)]
expect(min(more) > 0, "the text says that cross-entropy keeps the most after a temperature")
expect(kept["before"].mean().is_monotonic_decreasing, "the text says: before it, too")
scaled = shares[shares["stage"] == "after"].groupby("gamma")["temperature"].mean()
note("miscalibration", t_ce=scaled[0], t_top=scaled[3])
expect_verdict("REPRODUCED", "m20.fig3_nll_wrong", "m20.fig1_test_nll", "m20.fig1_ece", "m20.weight_norm_late")
expect_verdict("NOT REPRODUCED", "m20.fig1_training_error")
expect_verdict("REPRODUCED", "m20.gains_faster")

# %% [markdown]
# M20 argue that a temperature near 1 leaves focal loss its confidence, and their Table 6 agrees. Here the mean
# temperature is {glue:text}`miscalibration-t-top:.1f` with $\gamma = 3$ and {glue:text}`miscalibration-t-ce:.1f` with
# cross-entropy. Yet cross-entropy has the most very confident predictions after it, as before. A temperature alone does
# not say how many stay confident: it divides logits, and their size differs with the loss.
#
# M20's Fig. 8 shows four test images that all networks have right, and four that all have wrong. Four images prove
# little, so here are all test images that the networks of a seed agree on:

# %%
shared = confident.confidence_where_agreed(trained)
means = shared.pivot_table(index=["gamma", "loss"], columns=["kind", "stage"], values="confidence", sort=False)
caption = "Mean confidence on all samples that the networks of a seed all have right, or all wrong"
captioned(means.droplevel("gamma").rename_axis(index=None, columns=["", ""]), caption)

# %% tags=["remove-cell"]
expect(means["wrong", "before"].is_monotonic_decreasing, "the text says: before a temperature focal loss is less sure")
expect(means["wrong", "after"].min() > 0.6, "the text says that none is very low")
expect_verdict("UNDECIDED", "m20.fig8_wrong_after_here")

# %% [markdown]
# On such mistakes focal networks are less confident than cross-entropy before a temperature; after one by the ECE of
# equal mass this is undecided. M20's 'very low confidence for the focal loss model' is not seen here: no mean in the
# table is very low.
#
# :::{admonition} What to remember
# :class: tip
# * With cross-entropy the test NLL turns early, here before the training set is learnt, and more than doubles. The
#   error still falls, so accuracy does not tell when calibration is lost.
# * The NLL rises with the samples that are classified wrongly; that of the others falls, as M20 say.
# * Focal loss leads in the first steps, until soon after the threshold $\tau(\gamma)$, and then holds the weights back.
# * Before a temperature focal loss has fewer very confident predictions than cross-entropy. After one it has fewer
#   here, and more in M20's Table 6.
# * These are small networks on Fashion-MNIST. On CIFAR-10, by M20's steps, test NLL and ECE rise after the first drop
#   of the learning rate, as they say. The training error falls there, where they saw it rise slightly.
# :::
#
# ## Verdict

# %% tags=["remove-input"]
show(
    "m20.nll_overfits_not_error", "m20.fig1_test_nll", "m20.fig3_nll_wrong", "m20.weight_norm_late", "m20.gains_faster"
)

# %% tags=["remove-input"]
show("m20.weights_lead_then_trail", "m20.gradient_norms", "m20.table6_after_here", "m20.fig8_wrong_after_here")

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
