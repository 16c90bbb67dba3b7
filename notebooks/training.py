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
# # On training data it does as the theory says
#
# **The question.** You train with focal loss, and theory says that your network is less sure than it should be, by
# exactly the [focal map](#ch-binary). Is that what you find? And does it cancel the overconfidence that networks have
# on new data?
#
# **In short.** On its training data a focal network leans as theory says: it is too unsure, and the map with the
# $\gamma$ of training puts this right. On new data the map does not: it leads back to the overconfidence of
# cross-entropy, or slightly more. Focal loss subtracts a certain amount of confidence, whether it was too high or not.
# So it calibrates a network whose excess has about this size ([](#ch-when-it-helps)).
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
from scipy.special import softmax

from focal_lib import metrics, theory
from focal_lib.plots.style import use_style
from reproduction import engine
from reproduction.ledger import claims_of, show
from reproduction.pages.differences import folded_differences
from reproduction.pages.expected import written_for
from reproduction.pages.footer import foot
from reproduction.pages.notes import at_most, note
from reproduction.pages.plots.curves import point_figure
from reproduction.pages.tables import captioned
from reproduction.studies.shared.miscalibration import confidence_gaps, validation_temperatures
from reproduction.studies.shared.recorded import load_recorded

use_style()
expect = written_for("training", globals())

# %% [markdown]
# ## A few images that the network has learnt
#
# Take a network trained with $\gamma = 3$, and images that it was trained on. It is right on all of its training
# images by now. Is it sure of them?

# %%
trained = [run for run in engine.load_runs(grid, runs) if run.spec.is_focal]
run = next(run for run in trained if run.spec.is_focal and run.spec.gamma == 3)
logits = run.train.logits[:5].astype(float)
says = softmax(logits, axis=1).max(axis=1)
mapped = np.exp(theory.focal_log_probs(logits, gamma=3)).max(axis=1)
captioned(
    pd.DataFrame({"the network says": says, "after the map": mapped}, index=[f"image {i}" for i in range(1, 6)]),
    "Confidence in the right class of five training images",
)

# %% tags=["remove-cell"]
expect((run.train.logits.argmax(1) == run.train.labels).all(), "the text says that it is right on all of them")
expect((says < mapped).all(), "the text says that the map makes it surer")
expect(mapped.min() > 0.999, "the text says that the map makes it almost sure")
note("training", unsure=100 * says.min(), seeds=len({one.spec.seed for one in trained}), n=run.spec.n_train)
note("training", epochs=run.spec.training.epochs)

# %% [markdown]
# Not quite: of one image it says {glue:text}`training-unsure:.0f` %, and it is right. The loss is the cause. Focal loss
# has almost vanished at such a prediction, so there is little to gain from more certainty. Theory says more. Focal loss
# of what the network says is a proper loss of what the [map](#ch-binary) makes of it. So training pushes the mapped
# prediction towards certainty, and here it has nearly arrived. What the network says lags behind.
#
# ## All images, every gamma
#
# The networks are a small CNN on {glue:text}`training-n:,d` images of Fashion-MNIST, trained for
# {glue:text}`training-epochs` epochs. They learnt with cross-entropy ($\gamma = 0$) or with focal loss of five other
# $\gamma$, always with the same seeds. The measure is overconfidence, mean confidence minus accuracy:

# %%
gaps = confidence_gaps(trained, splits=("train", "test"))  # 'gap' of the network, 'mapped_gap' after the map
points = 100 * gaps.groupby(["split", "gamma"])[["gap", "mapped_gap"]].mean()


def by_gamma(split: str, column: str) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Gammas, means and standard deviations over seeds, in percentage points."""
    groups = 100 * gaps[gaps["split"] == split].groupby("gamma")[column].agg(["mean", "std"])
    return groups.index.to_numpy(), groups["mean"].to_numpy(), groups["std"].to_numpy()


lines = {
    "training images": by_gamma("train", "gap"),
    "training images, after the map": by_gamma("train", "mapped_gap"),
    "new images": by_gamma("test", "gap"),
    "new images, after the map": by_gamma("test", "mapped_gap"),
}

# %% tags=["remove-input"] mystnb={"image": {"alt": "Confidence minus accuracy over training gamma. On training images it falls from near 0 ever further below and is near 0 after the map; on new images it falls from far above 0 to 0, and stays far above 0 after the map, rising a little with gamma."}, "figure": {"name": "fig-training-gaps", "caption": "On training images focal networks are too unsure, and the map takes this back for every $\\gamma$. On new images the map takes them back to the overconfidence of cross-entropy. Mean and standard deviation over seeds."}}
point_figure(lines, r"$\gamma$ of training ($0$: cross-entropy)", "confidence $-$ accuracy (points)", reference=0)

# %% tags=["remove-cell"]
seen, new = points.loc["train"], points.loc["test"]
top = new.index.max()
wide = 100 * gaps[gaps["split"] == "test"].pivot(index="seed", columns="gamma", values="mapped_gap")
excess = metrics.paired_t_interval(wide[top], wide[0.0])
expect(seen["gap"].is_monotonic_decreasing, "the text says that on training images they are the more unsure")
expect(seen["mapped_gap"].abs().max() < 0.5, "the text says that the map puts this right")
expect(new["gap"].is_monotonic_decreasing, "the text says that confidence falls on new images")
expect(new["gap"].drop(top).min() > 2, "the text says that most gamma do not take enough")
expect(abs(new["gap"][top]) < 2, "the text says that the largest comes near zero")
expect(excess.low > 0, "the text says that the map leads slightly above cross-entropy")
expect(excess.high < 0.2 * wide[0.0].mean(), "the text says: slightly")
note("training", gap_ce=new["gap"][0.0], gap_mapped=new["mapped_gap"][top], excess=excess.estimate)
note("training", seen_top=-seen["gap"][top], train_left=at_most(seen["mapped_gap"].abs().max()))
note("training", excess_low=excess.low, excess_high=excess.high)

# %% [markdown]
# **Training images.** The larger $\gamma$, the less sure the network: with $\gamma = 7$ its confidence is
# {glue:text}`training-seen-top:.0f` points too low. After the map at most {glue:text}`training-train-left:.2f` points
# are left. This is KK24's decomposition at work. A focal network behaves as if it were trained with a proper loss, and
# a fixed function in front of it lowers what it says.
#
# **New images.** Here cross-entropy is overconfident by {glue:text}`training-gap-ce:.0f` points. Focal loss takes
# confidence away as hoped, but most $\gamma$ do not take enough; only $\gamma = 7$ comes near zero. There two sizes
# happen to agree. Nothing in the loss knows how overconfident the network will be.
#
# Seen through the map, these networks are about equally overconfident. With $\gamma = 7$ the excess over cross-entropy
# is {glue:text}`training-excess:.1f` points. Its 95 % interval over seeds is
# {glue:text}`training-excess-low:.1f` to {glue:text}`training-excess-high:.1f`. So there are two separate parts:
#
# ```{math}
# \text{overconfidence of focal loss} \;\approx\;
# \underbrace{\text{that of cross-entropy}}_{\text{from seen to new images}} \;-\;
# \underbrace{\text{what the map adds}}_{\text{of }\gamma\text{ and the outputs}}.
# ```
#
# The first part depends on network, data and training. The second follows from $\gamma$ and the outputs.
#
# ## The same as temperatures
#
# KK24 argue with temperatures instead of points. The map acts like a temperature below 1, new data call for one above
# 1, and the product is about 1. This assumes two things: that new data need the same factor for every loss, and that
# one temperature can stand for the map. Fit temperatures on held-out images, before and after the map:

# %%
temperatures = validation_temperatures(trained).pivot(index="seed", columns="gamma")
before = temperatures["temperature"].div(temperatures["temperature"][0.0], axis=0).drop(columns=0.0)
after = temperatures["mapped_temperature"].div(temperatures["temperature"][0.0], axis=0).drop(columns=0.0)
classes = trained[0].test.logits.shape[1]
nearest = np.array([theory.closest_temperature(gamma, classes).temperature for gamma in before.columns])
intervals, after_map = ([metrics.t_interval(found[g]) for g in found.columns] for found in (before, after))

# %% tags=["hide-input"]
gammas = before.columns.to_numpy()
shown = {
    name: (gammas, found.mean().to_numpy(), np.array([(i.high - i.low) / 2 for i in each]))
    for name, found, each in (("after the map", after, after_map), ("before the map", before, intervals))
}
shown["the temperature nearest to the map"] = (gammas, nearest, None)

# %% tags=["remove-input"] mystnb={"image": {"alt": "Temperature over that of cross-entropy against gamma. After the map it is flat, a little below one; before the map it falls from about two thirds to a quarter, and stays well below the temperatures nearest to the map."}, "figure": {"name": "fig-training-temperature", "caption": "After the map every focal network needs about the temperature of cross-entropy: the first assumption holds. Before it, it needs less than the temperature nearest to the map: the second fails. Fitted temperatures over that of cross-entropy, means and 95 % t intervals over seeds."}}
point_figure(shown, r"$\gamma$ of training", "temperature, cross-entropy: 1", ylim=(0, 1.1))

# %% tags=["remove-cell"]
expect(all(i.low > 0.85 and i.high < 1 for i in after_map), "the text says: nearly the same, a little less")
expect(all(i.high < t for i, t in zip(intervals, nearest, strict=True)), "the text says that the second fails")
expect(temperatures["temperature"][0.0].min() > 2.5, "the text says: more than the paper gives as typical")
longer = validation_temperatures(load_recorded("cifar10-long-fresh")).set_index(["gamma", "seed"])
more = longer["mapped_temperature"][3.0] / longer["temperature"][0.0]
expect(metrics.t_interval(more).low > 1, "the text says: on CIFAR-10 it needs more")
note("training", after=after.mean().mean(), t_ce=temperatures["temperature"][0.0].mean())
note("training", t_top=temperatures["temperature"][top].mean())

# %% [markdown]
# The first assumption nearly holds. After its map every focal network needs about {glue:text}`training-after:.2f` times
# the temperature of cross-entropy, whatever its $\gamma$. That is so of these networks. On CIFAR-10, trained by M20's
# schedule, one with $\gamma = 3$ needs more than cross-entropy. The second fails: the map of ten classes is far from
# any temperature ([](#ch-fit)). The sizes differ from the paper's, too. These small networks need
# $T =$ {glue:text}`training-t-ce:.1f` with cross-entropy, more than the paper gives as typical. With $\gamma = 7$
# the temperature that is left is {glue:text}`training-t-top:.2f`. So the product can be 1, for the $\gamma$ that fits
# the network.
#
# Whether focal loss helps is therefore a question about the other part, the overconfidence without it. The next chapter
# makes a rule of this, and tests it on networks that were trained for the test.
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
# :::{admonition} What to remember
# :class: tip
# * On training data focal networks are too unsure, more so with larger $\gamma$, and the map puts this right.
# * On new data the map leads back to the overconfidence of cross-entropy, or slightly more.
# * The overconfidence of a focal network is therefore that of cross-entropy, minus what the map adds.
# * The two cancel only for a $\gamma$ that fits the network. Here that is a large one.
# * One temperature does not stand for the map when there are ten classes.
# * These are small networks of one kind, with {glue:text}`training-seeds` seeds. How overconfidence comes about while
#   they train is in [](#ch-miscalibration).
# :::
#
# ## Verdicts

# %% tags=["remove-input"]
show(
    "kk24.focal_underconfident",
    "kk24.proper_part_calibrated",
    "kk24.focal_temperature_near_one",
    "kk24.generalisation_compensation",
    "kk24.compensation_one_temperature",
    "m20.gamma_too_high",
)

# %% tags=["remove-input"]
claims_of("training")

# %% tags=["remove-input"]
of_cifar10 = engine.read_notes("workflow/grids/cifar10-record.yaml").differs
folded_differences({"these runs": engine.read_notes(grid).differs, "the runs on CIFAR-10": of_cifar10})

# %% tags=["remove-input"]
foot("training", grid=grid, runs=runs)
