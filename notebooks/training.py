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
# (ch-training)=
# # Training with focal loss
#
# **The question.** Theory says that a network trained with focal loss is underconfident on its training data by exactly
# the focal map, and that this compensates for overconfidence on new data. Is that what happens? **In short:** on the
# training data confidence and accuracy differ, after the map, by at most {glue:text}`training-train-left:.2f` points,
# on average over seeds. On test data confidence falls with $\gamma$ as hoped. After the map a focal
# network needs the temperature that cross-entropy needs, within {glue:text}`training-within:g` %, for
# {glue:text}`training-borne-out` of {glue:text}`training-losses` values of $\gamma$. That one temperature stands for
# the map is contradicted for {glue:text}`training-contradicted` of them.
#
# :::{admonition} As printed: KK24 section 4.1
# If focal loss has a similar 'generalization compensation' as cross-entropy, the composition of temperature during
# training (around 0.4-0.5) and generalization compensation (2-2.5) gives an overall temperature of about 1.
# :::

# %% tags=["parameters"]
grid: str = "workflow/grids/fashion-mnist.yaml"  # the runs to read
runs: str = "results/fashion-mnist"  # where they are

# %% tags=["hide-input"]
import numpy as np
import pandas as pd

from focal_lib import metrics, theory
from focal_lib.plots.style import use_style
from reproduction import engine
from reproduction.ledger import claims_of, show
from reproduction.ledger.judgement import Verdict, judge
from reproduction.pages.differences import differences, folded_differences
from reproduction.pages.footer import foot
from reproduction.pages.notes import at_most, note
from reproduction.pages.plots.curves import point_figure
from reproduction.pages.tables import captioned
from reproduction.studies.shared.from_runs import COMPENSATION
from reproduction.studies.shared.miscalibration import confidence_gaps, validation_temperatures
from reproduction.studies.shared.over_seeds import format_mean_sd

use_style()
trained = [run for run in engine.load_runs(grid, runs) if run.spec.is_focal]
gaps = confidence_gaps(trained)

# %% [markdown]
# ## What was run

# %% tags=["remove-input"]
spec = trained[0].spec
note("training", runs=len(trained), seeds=int(gaps["seed"].nunique()), n=spec.n_train, epochs=spec.training.epochs)

# %% [markdown]
# {glue:text}`training-runs` runs: cross-entropy and focal loss with several $\gamma$, {glue:text}`training-seeds` seeds
# each. A seed fixes the split, the weights and the order of the batches, so runs of one seed are paired. Every run:
# {glue:text}`training-n` training images of Fashion-MNIST, a small CNN, {glue:text}`training-epochs` epochs of Adam.
# ECE is KK24's where nothing else is said: adaptive, 15 bins of equal mass.

# %% tags=["remove-input"]
differences(engine.read_notes(grid).differs)

# %% tags=["hide-input"]
columns = {"accuracy": "accuracy", "confidence": "confidence", "adaptive_ece": "adaptive ECE"}
on_test = gaps[gaps["split"] == "test"].set_index("loss")[list(columns)].mul(100).rename(columns=columns)
by_loss = format_mean_sd(on_test.groupby(level="loss", sort=False))
captioned(by_loss, "On test data, in per cent: mean ± standard deviation over seeds")

# %% [markdown]
# ## Underconfident on the training data
#
# Predicted: on training data, where the network can do what the loss wants, it reports $\hat p^{-1}$ of the truth. So
# its confidence should fall short of its accuracy, more with larger $\gamma$, and applying the map $\hat p$ should
# close the gap.


# %% tags=["hide-input"]
def by_gamma(split: str, column: str) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Gammas, means and standard deviations over seeds, in percentage points."""
    groups = 100 * gaps[gaps["split"] == split].groupby("gamma")[column].agg(["mean", "std"])
    return groups.index.to_numpy(), groups["mean"].to_numpy(), groups["std"].to_numpy()


gap_groups = {
    "train": by_gamma("train", "gap"),
    "train, after the map": by_gamma("train", "mapped_gap"),
    "test": by_gamma("test", "gap"),
    "test, after the map": by_gamma("test", "mapped_gap"),
}

# %% tags=["remove-input"] mystnb={"image": {"alt": "Confidence minus accuracy over training gamma. On train it falls from near 0 ever further below and is near 0 after the map; on test it falls from far above 0 towards 0, and stays far above 0 after the map, rising a little with gamma."}, "figure": {"name": "fig-training-gaps", "caption": "Confidence minus accuracy, in percentage points, mean and standard deviation over seeds. After the map the training gap nearly vanishes for every $\\gamma$; the test gap is near that of cross-entropy, and a little above it for large $\\gamma$."}}
point_figure(gap_groups, r"$\gamma$ of training ($0$: cross-entropy)", "confidence $-$ accuracy (points)", reference=0)

# %% tags=["remove-input"]
mapped = 100 * gaps[gaps["split"] == "test"].pivot(index="seed", columns="gamma", values="mapped_gap")
top = mapped.columns.max()
excess = metrics.paired_t_interval(mapped[top], mapped[0.0])
left = 100 * gaps[gaps["split"] == "train"].groupby("gamma")["mapped_gap"].mean().abs().max()
note("training", train_left=at_most(left))
note("training", gap_ce=mapped[0.0].mean(), gap_top=mapped[top].mean(), gamma_top=top)
note("training", excess=excess.estimate, excess_low=excess.low, excess_high=excess.high)

# %% [markdown]
# This is the decomposition at work. After the map the mean gap on the training data is at most
# {glue:text}`training-train-left:.2f` points for every loss, cross-entropy included. On test data every network is
# about as overconfident as the cross-entropy one, though not quite: the gap after the map is
# {glue:text}`training-gap-ce:.1f` points for cross-entropy and {glue:text}`training-gap-top:.1f` at $\gamma =$
# {glue:text}`training-gamma-top:g`, a difference of {glue:text}`training-excess:.1f` (95 % t interval over seeds
# {glue:text}`training-excess-low:.1f` to {glue:text}`training-excess-high:.1f`). What focal loss changes is mainly the
# fixed map in front.
#
# ## The temperature that is left
#
# If the gap to new data were one temperature factor for every loss, the best temperature of a focal network would be
# that of cross-entropy times the temperature closest to the map, which {ref}`ch-fit` computes for any number of
# classes: for as many as these networks tell apart, {glue:text}`training-classes`, and for comparison for fewer.

# %% tags=["hide-input"]
temperatures = validation_temperatures(trained)
wide = temperatures.pivot(index="seed", columns="gamma", values="temperature")
ratio = wide.div(wide[0.0], axis=0).drop(columns=0.0)
mapped_ratio = temperatures.pivot(index="seed", columns="gamma", values="mapped_temperature")[ratio.columns].div(
    wide[0.0], axis=0
)
gammas = ratio.columns.to_numpy()
classes = trained[0].test.logits.shape[-1]
closest = {
    n: np.array([theory.closest_temperature(g, n).temperature for g in gammas]) for n in sorted({2, 3, 4, classes})
}
intervals, after_map = ([metrics.t_interval(found[g]) for g in gammas] for found in (ratio, mapped_ratio))

# %% tags=["remove-input"] mystnb={"image": {"alt": "Validation temperature over that of cross-entropy with t intervals, against gamma, with the temperatures closest to the map of two, three, four and as many classes as the networks have. All fall with gamma."}, "figure": {"name": "fig-training-temperature", "caption": "Validation temperature of a focal network over that of cross-entropy, mean and 95 % t interval over seeds, and the temperature closest to the map, by the number of classes."}}
shown = {"measured": (gammas, ratio.mean().to_numpy(), np.array([(i.high - i.low) / 2 for i in intervals]))}
shown |= {f"closest to the map, {n} classes": (gammas, factors, None) for n, factors in closest.items()}
point_figure(shown, r"$\gamma$ of training", "temperature factor", ylim=(0, 1.1))

# %% tags=["hide-input"]
predicted = closest[classes]
direct, verdicts = (
    [judge(i, ((1 - COMPENSATION) * t, (1 + COMPENSATION) * t), parts=len(gammas)) for i, t in zip(*one, strict=True)]
    for one in ((after_map, np.ones(len(gammas))), (intervals, predicted))
)
both = zip(gammas, intervals, after_map, strict=True)
factors = pd.DataFrame([(g, i.estimate, i.low, i.high, m.estimate, m.low, m.high) for g, i, m in both])
factors.columns = ["gamma", "measured", "95 % from", "to", "after the map", "95 % from ", "to "]
factors[f"within {100 * COMPENSATION:g} % of 1"] = [str(verdict).lower() for verdict in direct]
factors[f"closest to the map, {classes}"] = predicted
factors[f"within {100 * COMPENSATION:g} % of that"] = [str(verdict).lower() for verdict in verdicts]
caption = "Temperature over that of cross-entropy, before and after the map; t intervals over seeds, judged by them"
captioned(factors, caption, index=False).format("{:g}", subset="gamma")

# %% tags=["remove-input"]
ratio_to_map = factors["measured"] / predicted
note("training", classes=classes, losses=len(gammas), borne_out=direct.count(Verdict.REPRODUCED))
note("training", after_low=mapped_ratio.mean().min(), after_high=mapped_ratio.mean().max())
note("training", contradicted=verdicts.count(Verdict.NOT_REPRODUCED), open=verdicts.count(Verdict.UNDECIDED))
note("training", ratio_low=ratio_to_map.min(), ratio_high=ratio_to_map.max())
note("training", t_ce=wide[0.0].mean(), t_top=wide[top].mean())
distance = {n: np.abs(np.log(factors["measured"] / values)).max() for n, values in closest.items()}
note("training", nearest=min(distance, key=distance.get), counts=", ".join(map(str, closest)))
note("training", within=100 * COMPENSATION, least_error=100 * theory.closest_temperature(top, classes).error)

# %% [markdown]
# After the map with its $\gamma$ of training a focal network needs {glue:text}`training-after-low:.2f` to
# {glue:text}`training-after-high:.2f` times the temperature of cross-entropy: by the intervals the 'generalization
# compensation' is one number, within {glue:text}`training-within:g` %, for {glue:text}`training-borne-out` of
# {glue:text}`training-losses` focal losses. To read it as a product of temperatures the map has to be one. With the
# temperature closest to the map, the factor measured before the map is {glue:text}`training-ratio-low:.2f` to
# {glue:text}`training-ratio-high:.2f` times that of {glue:text}`training-classes` classes, which is contradicted for
# {glue:text}`training-contradicted` losses and open for {glue:text}`training-open`. Of the maps of
# {glue:text}`training-counts` classes that of {glue:text}`training-nearest` comes nearest. One temperature stands for
# the map the worse, the more classes there are: at $\gamma =$ {glue:text}`training-gamma-top:g` the closest one is off
# by {glue:text}`training-least-error:.0f` points somewhere on the simplex of {glue:text}`training-classes` classes, and
# which one fits on the predictions a network makes depends on where on the simplex they lie. Cross-entropy needs $T =$
# {glue:text}`training-t-ce:.2f`, where the paper holds 'a temperature of 2-2.5' for typical (how many of the printed
# ones are in that range, [](#ch-published) counts); at $\gamma =$ {glue:text}`training-gamma-top:g` the temperature
# left is {glue:text}`training-t-top:.2f`.
#
# How overconfidence comes about while a network trains is the question of [](#ch-miscalibration), on the same runs.
#
# Which $\gamma$ calibrates best as trained, M20 say of CIFAR-10; so it is asked of the runs recorded there, by M20's
# ECE, of equal width; and so is what they say against the thought that more $\gamma$ is always better:

# %% tags=["remove-input"]
show("m20.gamma_order_here", "m20.gamma_too_high")

# %% tags=["remove-input"]
folded_differences({"the runs on CIFAR-10": engine.read_notes("workflow/grids/cifar10-record.yaml").differs})

# %% [markdown]
# ```{exercise}
# :label: ex-training-proper
# The package has the proper part as a loss, `losses.ProperFocalLoss`. What would training with it do to the gaps?
# ```
#
# ```{solution} ex-training-proper
# :class: dropdown
# Its softmax output is the mapped prediction itself, so on train the gap should be near 0, as after the map; on test,
# near that of cross-entropy. A grid file with `loss: proper-focal` runs it.
# ```
#
# :::{admonition} What to remember
# :class: tip
# * On their training data these focal networks are underconfident, and the map with the $\gamma$ of training undoes it:
#   after it the confidence is off by at most {glue:text}`training-train-left:.2f` points, mean over seeds, for every
#   loss.
# * On test data, after the map, they are about as overconfident as a network trained with cross-entropy:
#   {glue:text}`training-gap-ce:.1f` points for that one, {glue:text}`training-gap-top:.1f` at
#   $\gamma =$ {glue:text}`training-gamma-top:g`, a difference of {glue:text}`training-excess:.1f` (95 % t interval
#   {glue:text}`training-excess-low:.1f` to {glue:text}`training-excess-high:.1f`). So what focal loss changes is mainly
#   the fixed map in front.
# * What is left for a temperature after the map is {glue:text}`training-after-low:.2f` to
#   {glue:text}`training-after-high:.2f` times the temperature of cross-entropy: within {glue:text}`training-within:g` %
#   by the intervals for {glue:text}`training-borne-out` of {glue:text}`training-losses` values of $\gamma$; for all of
#   them together the verdict is below.
# * The temperature nearest to the map does not stand for it: this is contradicted for
#   {glue:text}`training-contradicted` of {glue:text}`training-losses`.
# * These are small networks and few seeds. Whether a higher $\gamma$ has a better ECE after scaling and a worse
#   accuracy is judged below, too.
# :::
#
# ## Verdict

# %% tags=["remove-input"]
show(
    "kk24.focal_underconfident",
    "kk24.proper_part_calibrated",
    "kk24.focal_temperature_near_one",
    "kk24.ce_temperature",
    "kk24.ce_temperature_above_one",
    "kk24.generalisation_compensation",
    "kk24.compensation_one_temperature",
    "kk24.gamma_trades_accuracy",
)

# %% tags=["remove-input"]
claims_of("training")

# %% tags=["remove-input"]
foot("training", grid=grid, runs=runs)
