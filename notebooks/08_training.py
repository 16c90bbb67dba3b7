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
# training data, yes, strikingly. On test data confidence falls with $\gamma$ as hoped, but the factor by which the best
# temperature falls is only roughly the map's.
#
# :::{admonition} As printed: KK24 section 4.1
# If focal loss has a similar 'generalization compensation' as cross-entropy, the composition of temperature during
# training (around 0.4-0.5) and generalization compensation (2-2.5) gives an overall temperature of about 1.
# :::

# %% tags=["parameters"]
grid: str = "workflow/grids/fashion-mnist.yaml"  # the runs to read
runs: str = "_build/runs"  # where they are

# %% tags=["hide-input"]
import numpy as np
import pandas as pd

from focal_lib import metrics, results, theory, training
from focal_lib.claims import show
from focal_lib.pages.footer import foot
from focal_lib.pages.notes import note
from focal_lib.pages.plots import use_style
from focal_lib.pages.plots.curves import point_figure

use_style()
trained = training.load_runs(grid, runs)
gaps = results.confidence_gaps(trained)

# %% [markdown]
# ## What was run

# %% tags=["remove-input"]
spec = trained[0].spec
note("training", runs=len(trained), seeds=int(gaps["seed"].nunique()), n=spec.n_train, epochs=spec.epochs)

# %% [markdown]
# {glue:text}`training-runs` runs: cross-entropy and focal loss with several $\gamma$, {glue:text}`training-seeds` seeds
# each. A seed fixes the split, the weights and the order of the batches, so runs of one seed are paired. Every run:
# {glue:text}`training-n` training images of Fashion-MNIST, a small CNN, {glue:text}`training-epochs` epochs of Adam.
# ECE is KK24's throughout: adaptive, 15 bins of equal mass.

# %% tags=["hide-input"]
columns = {"accuracy": "accuracy", "confidence": "confidence", "adaptive_ece": "adaptive ECE"}
on_test = gaps[gaps["split"] == "test"].set_index("loss")[list(columns)].mul(100).rename(columns=columns)
by_loss = results.format_mean_sd(on_test.groupby(level="loss", sort=False))
by_loss.style.set_caption("On test data, in per cent: mean ± standard deviation over seeds")

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

# %% tags=["remove-input"] mystnb={"image": {"alt": "Confidence minus accuracy over training gamma. On train it falls from 0 ever further below and is 0 after the map; on test it falls from far above 0 towards 0, and stays far above 0 after the map, rising a little with gamma."}, "figure": {"name": "fig-training-gaps", "caption": "Confidence minus accuracy, in percentage points, mean and standard deviation over seeds. After the map the training gap vanishes for every $\\gamma$; the test gap is near that of cross-entropy, and a little above it for large $\\gamma$."}}
point_figure(gap_groups, r"$\gamma$ of training ($0$: cross-entropy)", "confidence - accuracy", reference=0)

# %% tags=["remove-input"]
mapped = 100 * gaps[gaps["split"] == "test"].pivot(index="seed", columns="gamma", values="mapped_gap")
top = mapped.columns.max()
excess = metrics.paired_t_interval(mapped[top], mapped[0.0])
note("training", gap_ce=mapped[0.0].mean(), gap_top=mapped[top].mean(), gamma_top=top)
note("training", excess=excess.estimate, excess_low=excess.low, excess_high=excess.high)

# %% [markdown]
# This is the decomposition at work. After the map every focal network is, on its training data, as calibrated as the
# cross-entropy one. On test data it is about as overconfident, though not quite: the gap after the map is
# {glue:text}`training-gap-ce:.1f` points for cross-entropy and {glue:text}`training-gap-top:.1f` at $\gamma =$
# {glue:text}`training-gamma-top:g`, a difference of {glue:text}`training-excess:.1f` (95 % t interval over seeds
# {glue:text}`training-excess-low:.1f` to {glue:text}`training-excess-high:.1f`). What focal loss changes is mainly the
# fixed map in front.
#
# ## The temperature that is left
#
# If the gap to new data were one temperature factor for every loss, the best temperature of a focal network would be
# that of cross-entropy times the temperature closest to the map. That one is computed in {ref}`ch-fit` for two to four
# classes; these networks have ten. Here are three and four:

# %% tags=["hide-input"]
temperatures = results.validation_temperatures(trained)
wide = temperatures.pivot(index="seed", columns="gamma", values="temperature")
ratio = wide.div(wide[0.0], axis=0).drop(columns=0.0)
gammas = ratio.columns.to_numpy()
closest = {n: np.array([theory.closest_temperature(g, n).temperature for g in gammas]) for n in (3, 4)}
shown = {"measured": (gammas, ratio.mean().to_numpy(), ratio.std().to_numpy())}
shown |= {f"closest to the map, {n} classes": (gammas, factors, None) for n, factors in closest.items()}

# %% tags=["remove-input"] mystnb={"image": {"alt": "Validation temperature over that of cross-entropy, against gamma, with the temperatures closest to the map of three and of four classes. All three fall in much the same way; the measured ratios fall more slowly for large gamma."}, "figure": {"name": "fig-training-temperature", "caption": "Validation temperature of a focal network over that of cross-entropy, mean and standard deviation over seeds, and the temperature closest to the map of three and of four classes."}}
point_figure(shown, r"$\gamma$ of training", "temperature factor", ylim=(0, 1.1))

# %% tags=["hide-input"]
intervals = [metrics.paired_t_interval(ratio[g], np.zeros(len(ratio))) for g in gammas]
factors = pd.DataFrame([(g, i.estimate, i.low, i.high) for g, i in zip(gammas, intervals, strict=True)])
factors.columns = ["gamma", "measured", "95 % from", "to"]
factors = factors.assign(**{f"map, {n} classes": values for n, values in closest.items()})
text = factors.style.format(precision=3).format("{:g}", subset="gamma").hide()
text.set_caption("Temperature factors, t intervals over seeds")

# %% tags=["remove-input"]
near = {n: int((np.abs(factors["measured"] / values - 1) <= 0.1).sum()) for n, values in closest.items()}
note("training", near_three=near[3], near_four=near[4], losses=len(gammas))
note("training", t_ce=wide[0.0].mean(), t_top=wide[top].mean())

# %% [markdown]
# Of {glue:text}`training-losses` focal losses {glue:text}`training-near-three` have a factor within 10 % of the map's
# for three classes, {glue:text}`training-near-four` for four. So how well 'generalisation compensation' as one number
# does depends on the classes one counts, and for the ten of these networks the closest temperature is not computed
# here. Cross-entropy needs $T =$ {glue:text}`training-t-ce:.2f`, where the paper quotes 2 to 2.5; at $\gamma =$
# {glue:text}`training-gamma-top:g` the temperature left is {glue:text}`training-t-top:.2f`.
#
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
# ## Verdict

# %% tags=["remove-input"]
show(
    "kk24.focal_underconfident",
    "kk24.proper_part_calibrated",
    "kk24.focal_temperature_near_one",
    "kk24.ce_temperature",
    "kk24.generalisation_compensation",
    "kk24.gamma_trades_accuracy",
)

# %% tags=["remove-input"]
foot("08_training", grid=grid, runs=runs)
