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
# (ch-larger)=
# # While it trains
#
# You train one network with cross-entropy and one with focal loss, and compare their calibration. When do you look?
# After ten epochs one loss wins, after a hundred the other. This chapter watches both, epoch by epoch.
#
# **In short.**
#
# * With cross-entropy a network is too sure of itself nearly from the start. After the learning rate has fallen it
#   becomes more so.
# * With focal loss, $\gamma = 3$, it starts far from sure enough. It grows surer, is calibrated for a moment, and ends
#   overconfident, too, but by less.
# * So cross-entropy is better calibrated early, and focal loss late. On these networks longer training brings the order
#   that {cite:t}`m20` (M20) report. A larger one, trained as briefly, does not.
# * Both changes follow [the rule](#ch-when-it-helps): focal loss helps where it takes away less than twice what is in
#   excess.

# %% tags=["parameters"]
longer: str = "cifar10-long"  # a folder in results and a grid in workflow/grids: runs followed for many epochs
fresh: str = "cifar10-long-fresh"  # other seeds of the same, with a comparison written down before
small: str = "cifar10-clipped"  # the same network for few epochs
larger: str = "cifar10-resnet18"  # a larger network for as few

# %% tags=["hide-input"]
import numpy as np
import pandas as pd
from scipy.special import softmax

from focal_lib.metrics import ece
from focal_lib.plots.style import use_style
from focal_lib.theory import focal_log_probs
from reproduction import engine
from reproduction.engine.contrasts import Setting
from reproduction.ledger import claims_of, show
from reproduction.ledger.verdicts import expect_verdict
from reproduction.pages.differences import folded_differences
from reproduction.pages.expected import written_for
from reproduction.pages.explore import explore
from reproduction.pages.footer import foot
from reproduction.pages.notes import note
from reproduction.pages.plots.epochs import epoch_panels
from reproduction.pages.tables import captioned, in_words
from reproduction.studies.cifar.other_training import compare_training
from reproduction.studies.epochs.while_training import (
    RIGHT_AND_WRONG,
    histories,
    lower_from,
    over_seeds_by_epoch,
    pair_by_epoch,
)
from reproduction.studies.shared.over_seeds import format_as_kk24
from reproduction.studies.shared.printed_effects import mean_difference
from reproduction.studies.shared.recorded import load_whole_seeds, read_planned, read_whole_seeds, read_written
from reproduction.studies.shared.written_contrasts import (
    evaluate_contrasts,
    format_contrasts,
    interval_of,
    name_in_full,
    paired_by_seed,
)

use_style()
expect = written_for("larger_longer", globals())

# %% [markdown]
# ## Right at one moment
#
# Suppose that the answers of a network are eight tenths sure on average, and nine in ten are right. The network is
# not sure enough, by a tenth. Now training goes on. The answers stay the same, but all logits grow. When the network
# is nine tenths sure, it is calibrated. It does not stop there: the loss on training images still falls with every
# growth. So it becomes overconfident.
#
# Nothing about new images was learnt on that way. Only the moment of looking changed.
#
# ## A hundred epochs
#
# A small convolutional network learns CIFAR-10 with M20's schedule, shortened: the learning rate falls to a tenth
# twice, after three and five sevenths of the epochs. After each epoch test images tell its accuracy and its mean
# confidence.

# %%
runs = {run.spec.gamma: run for run in load_whole_seeds(longer)}  # of cross-entropy gamma is 0
course = histories(runs.values(), "test")  # a row for each loss and epoch
course["gap"] = 100 * (course["confidence"] - course["accuracy"])
gaps = course.pivot(index="epoch", columns="loss", values="gap")
first_drop, last = runs[3].spec.training.drops[0], runs[3].spec.training.epochs

# %% tags=["remove-input"]
explore("epochs", **pair_by_epoch(runs.values(), "focal 3"))

# %% tags=["remove-cell"]
expect((gaps["cross-entropy"].loc[5:] > 0).all(), "the text says: nearly from the start")
expect((gaps["focal 3"].loc[:first_drop] < 0).all(), "the text says that it starts far from sure enough")
expect(0 < gaps["focal 3"][last] < gaps["cross-entropy"][last], "the text says that it ends overconfident by less")
met = int(gaps["focal 3"].abs().loc[first_drop:].idxmin())
expect(
    (gaps.iloc[-10:].mean() > gaps.loc[first_drop + 1 : first_drop + 10].mean()).all(),
    "the text says that both grow surer after the first fall",
)
errors = course.pivot(index="epoch", columns="loss", values="error").loc[first_drop + 10 :]
expect(errors.iloc[0].sub(errors.iloc[-1]).between(0, 0.02).all(), "the text says that accuracy rises slowly")
note("larger", met=met, fall=first_drop, epochs=last)

# %% [markdown]
# Until the learning rate falls, both lines jump about. Then accuracy rises at once, and only slowly afterwards. Yet
# both networks grow surer and surer. Focal loss meets the diagonal around epoch {glue:text}`larger-met` of
# {glue:text}`larger-epochs`.
#
# ## Why the order turns
#
# Let cross-entropy be overconfident by $G$, and let the focal calibration map add $D$ points of confidence to what the
# focal network says. In [](#ch-when-it-helps) focal loss is better calibrated where $D < 2G$. Here both can be
# followed in one pair of networks:

# %%
rows = {}
for epoch in [*runs[3].test_by_epoch, last]:  # those of which logits are kept
    plain, focal = ({**runs[gamma].test_by_epoch, last: runs[gamma].test}[epoch] for gamma in (0, 3))
    q, focal_q = softmax(plain.logits, axis=1), softmax(focal.logits, axis=1)
    mapped = np.exp(focal_log_probs(focal.logits, gamma=3))
    rows[epoch] = {
        "2 G": 2 * gaps.loc[epoch, "cross-entropy"],
        "D": 100 * (mapped.max(axis=1) - focal_q.max(axis=1)).mean(),
        "ECE of focal loss minus cross-entropy": 100 * (ece(focal_q, focal.labels) - ece(q, plain.labels)),
    }
rule = pd.DataFrame(rows).T.rename_axis("epoch")
captioned(rule, "The rule while it trains, in percentage points (ECE: 15 bins of equal width)", precision=1)

# %% tags=["remove-cell"]
wrong = (rule["D"] < rule["2 G"]) != (rule.iloc[:, 2] < 0)
expect(wrong.sum() == 1, "the text says: wrong once")
expect((rule["D"] - rule["2 G"]).abs().idxmin() == rule.index[wrong][0], "and where the two are closest")
expect(rule["D"].is_monotonic_decreasing, "the text says that less and less is taken away")
expect(rule["2 G"].iloc[-1] > rule["2 G"].iloc[0], "and that there is more to take")

# %% [markdown]
# Less and less is taken away, and in the end there is more to take. A network that is nearly sure of most images leaves
# the map little to add. The rule is wrong at one moment, where $D$ and $2G$ are closest.
#
# ## Three more seeds
#
# One pair of networks can mislead, and we had looked at it before we asked anything. So we wrote a comparison down and
# trained three more pairs.

# %%
table = read_whole_seeds(fresh)
written = evaluate_contrasts(table, read_written(fresh))
caption = "Preregistered: after the last epoch, percentage points"
format_contrasts(name_in_full(written), caption, precision=None)

# %%
tests = histories(load_whole_seeds(fresh), "test")
tests = tests.assign(gap=100 * (tests["confidence"] - tests["accuracy"]), width=100 * tests["ece"])
tests = tests.assign(wrong=100 * tests["error"])[tests["epoch"] >= 5]
titles = {"ECE (%)": "width", "confidence minus accuracy (points)": "gap", "error (%)": "wrong", "NLL (nats)": "nll"}
by_column = over_seeds_by_epoch(tests, list(titles.values()))
panels = {title: by_column[column] for title, column in titles.items()}

# %% tags=["remove-input"] mystnb={"image": {"alt": "Four panels over the epochs, a line with a band for cross-entropy and one for focal loss with gamma 3, vertical lines where the learning rate falls: ECE, in which the lines cross; confidence minus accuracy, with a line at zero; error; NLL; all on test images."}, "figure": {"name": "fig-larger-epochs", "caption": "The lines of ECE cross soon after the learning rate first falls: before, cross-entropy is better calibrated, afterwards focal loss. Its error stays a little higher. Test images of CIFAR-10, mean, least and largest of three seeds. Counterpart, for test images, of M20 Figs. 1 (c), 3 (a) and (g)."}}
epoch_panels(panels, marks=runs[3].spec.training.drops, zero=["confidence minus accuracy (points)"])

# %% tags=["remove-cell"]
before, after_t = written[written["primary"]].iloc[0], written[~written["primary"]].iloc[0]
expect(before["significant"], "the text says that the order is M20's")
expect(before["difference"] < 0, "the text says that the order is M20's")
expect(not after_t["significant"], "the text says that no difference was found")
ahead = lower_from(tests, "width", "focal 3", "cross-entropy")
expect(first_drop < ahead < first_drop + 10, "the caption says: soon after")
error = interval_of(paired_by_seed(table, "error", Setting(("focal 3",)), Setting(("cross-entropy",))), "error")
expect(error.low > 0, "the text says that the error is higher")
printed = mean_difference("M20", "cifar10", "ece", "pre", "focal 3", "cross-entropy", -1)
note("larger", by=before["difference"], printed=printed.size, error=error.estimate)
note("larger", smallest=after_t["smallest"])

# %% [markdown]
# The order is M20's: $\gamma = 3$ minus cross-entropy is {glue:text}`larger-by:+.1f` points, and
# {glue:text}`larger-printed:+.1f` on average in their tables. After a temperature we found no difference; but with
# three seeds this test could hardly have shown one below {glue:text}`larger-smallest:.1f` points. The error is higher
# with focal loss, by {glue:text}`larger-error:.1f` points, which was not preregistered.
#
# ## Which images make it too sure?
#
# :::{admonition} As printed: M20 section 3
# 'after the 150th epoch (where the learning rate drops by a factor of 10), there is a marked rise in the average test
# NLL, indicating that the network starts to overfit on average NLL. However, the increase in average test NLL is caused
# only by the incorrectly classified samples, as the average NLL for the correctly classified samples continues to
# decrease even after the 150th epoch. We also observe that after epoch 150, the test set ECE rises, indicating that the
# network is becoming miscalibrated.' (ResNet-50 on CIFAR-10, cross-entropy, 350 epochs.)
# :::
#
# We see the same here, on the first pair of networks.

# %%
by_column = over_seeds_by_epoch(course[course["epoch"] >= 5], list(RIGHT_AND_WRONG.values()))
apart = {title: by_column[column] for title, column in RIGHT_AND_WRONG.items()}

# %% tags=["remove-input"] mystnb={"image": {"alt": "Six panels over the epochs, a line for cross-entropy and one for focal loss: NLL of right test samples and of wrong ones, of which the second rises with cross-entropy after the first fall of the rate; entropy of wrong ones; probability of the true class of right and of wrong ones; norm of the last layer."}, "figure": {"name": "fig-larger-apart", "caption": "After the learning rate falls, wrong answers become surer and cost more; with focal loss less so. Test images, right and wrong apart; the last panel is of the weights. Counterpart, for test images, of M20 Fig. 1 (a) and (b), and of Fig. 3 (b), (d) to (f), (h)."}}
epoch_panels(apart, columns=3, marks=runs[3].spec.training.drops)

# %% tags=["remove-cell"]
at = course.groupby(["loss", "epoch"])[["nll", "nll_right", "nll_wrong", "ece", "weight_norm"]].mean()
start, end = (at.xs(epoch, level="epoch") for epoch in (first_drop + 1, last))
expect((end > start).loc["cross-entropy", ["nll", "nll_wrong", "ece"]].all(), "the text says: as M20")
expect((end < start).loc["cross-entropy", "nll_right"], "the text says: as M20")
expect(end["nll_wrong"]["focal 3"] < end["nll_wrong"]["cross-entropy"], "the text says that they cost less")
note("larger", start=start["nll_wrong"]["cross-entropy"], end=end["nll_wrong"]["cross-entropy"])

# %% [markdown]
# With cross-entropy the mean NLL of wrong answers rises from {glue:text}`larger-start:.1f` to
# {glue:text}`larger-end:.1f` nats between the first fall and the end. That of right answers falls. With focal loss
# wrong answers cost less. More of M20's account is in [](#ch-miscalibration).
#
# ## Longer, or larger?
#
# M20's networks differ from our short runs in two ways: they are larger, and they are trained longer. Which of them
# turns the order?

# %%
ways = {"small network": small, "ResNet-18": larger, "small network, longer": fresh}
side_by_side = compare_training(
    {way: read_whole_seeds(name) for way, name in ways.items()},
    {way: load_whole_seeds(name) for way, name in ways.items()},
)
captioned(
    side_by_side.drop(columns="seeds").rename(index=in_words).rename_axis(["loss", "trained"]),
    "All test images of CIFAR-10, seeds that all three have; T chosen by ECE",
    precision=2,
)

# %% tags=["remove-cell"]
lead = side_by_side["ECE (%)"].unstack().T
lead = lead["focal 3"] - lead["cross-entropy"]
expect(lead["small network, longer"] < 0 < lead["small network"] < lead["ResNet-18"], "the text says: length, not size")
expect_verdict("CONFIRMED", "m20.longer_training_favours_focal")
expect_verdict("NOT CONFIRMED", "m20.larger_network_favours_focal")
surer = side_by_side["confidence - accuracy (points)"].unstack()["ResNet-18"]
small_too = side_by_side["confidence - accuracy (points)"].unstack()["small network"]
expect((surer <= small_too).all(), "the text says: no more overconfident, and even more is taken away")
scaled = side_by_side["T by ECE"].unstack()
expect((scaled["small network, longer"] > scaled["small network"]).all(), "the text says that both want a higher T")
note("larger", few=read_planned(small)[0].training.epochs)

# %% [markdown]
# Here the longer training does, and the larger network does not. After {glue:text}`larger-few` epochs ResNet-18 is no
# more overconfident than the small network, and focal loss takes away even more from it. After
# {glue:text}`larger-epochs` epochs the small network wants a much higher temperature with either loss. That longer
# training came with another schedule, and no larger network was trained for as long.

# %% tags=["remove-input"]
show(
    "m20.cifar10_before_long",
    "m20.longer_training_favours_focal",
    "m20.larger_network_favours_focal",
    "m20.cifar10_before_resnet18",
)

# %% [markdown]
# A smaller $\gamma$ takes less away. So after few epochs $\gamma = 1$ should suit ResNet-18, and does. (FLSD-53 is
# focal loss with a $\gamma$ for each sample, 5 where the true class has a small probability and 3 elsewhere.)

# %%
of_larger = format_as_kk24(read_whole_seeds(larger)).rename(index=in_words)
caption = "ResNet-18, mean ± standard deviation over seeds, temperature in brackets; 15 bins of equal mass"
captioned(of_larger[["error (%)", "adaptive ECE (%)"]], caption)

# %% tags=["remove-cell"]
of_pre = read_whole_seeds(larger).query("method == 'none' and metric == 'adaptive-ece'").groupby("loss")["value"].mean()
expect(of_pre.idxmin() == "focal 1", "the text says that gamma 1 suits it")
by_gamma = of_pre[[f"focal {gamma}" for gamma in (1, 2, 3, 5, 7)]]
expect(by_gamma.is_monotonic_increasing, "the text says that more gamma is worse")

# %% [markdown]
# Every larger $\gamma$ is worse as trained. This comparison was not preregistered.
#
# :::{admonition} Small print
# :class: note dropdown
# From the small network to ResNet-18 the machine and the version of PyTorch change, too. From few epochs to many so do
# the schedule, Nesterov's momentum and whether the last batch is dropped. So what length does alone is not separated;
# but within a long run it can be followed, as above. For ResNet-18 more epochs were planned. They were cut before the
# first run, to what the machine could do in a quarter of an hour. That it was before the first run is not to be seen
# from the record. In the small network's short runs two of the four seeds were planned when one difference had been
# seen.
# :::
#
# ```{exercise}
# :label: ex-larger-stop
# Would stopping early help? In the first pair, at which epoch has cross-entropy its lowest ECE on test images, and at
# which its lowest error?
# ```

# %% tags=["remove-input"]
of_ce = course[course["loss"] == "cross-entropy"].set_index("epoch")[["ece", "error"]]
lowest = of_ce.idxmin()
stop_error, least = 100 * of_ce["error"][lowest["ece"]], 100 * of_ce["error"].min()
note("larger", stop=int(lowest["ece"]), stop_error=stop_error, least=least)
expect(stop_error > least + 2, "the solution says that it costs accuracy")

# %% [markdown]
# ```{solution} ex-larger-stop
# :class: dropdown
# `of_ce.idxmin()`: the lowest ECE is at epoch {glue:text}`larger-stop`. There the error is
# {glue:text}`larger-stop-error:.1f` %, where {glue:text}`larger-least:.1f` % can be had. A low ECE alone is no reason
# to stop, and an epoch chosen on test images is chosen on the answer.
# ```
#
# :::{admonition} What to remember
# :class: tip
# * Which loss is better calibrated as trained depends on when you look: cross-entropy after few epochs, focal loss
#   with $\gamma = 3$ after many.
# * Networks grow surer while accuracy hardly moves, on wrong answers most of all.
# * What focal loss takes away shrinks in training, and what there is to take away grows. The rule $D < 2G$ says when
#   the order turns.
# * Longer training brings M20's order, with another schedule and on one data set; a larger network did not. A larger
#   network that is trained as long was not tried.
# * Do not choose the epoch by calibration. Choose it by error or NLL on validation data, then fit a temperature.
# :::
#
# ## Verdicts
#
# M20's claims about ResNet-18 after a temperature:

# %% tags=["remove-input"]
show("m20.cifar10_after_fixed_resnet18", "m20.cifar10_after_sample_dependent_resnet18")

# %% tags=["remove-input"]
claims_of("larger_longer")

# %% tags=["remove-input"]
grids = {"the small network, few epochs": small, "ResNet-18": larger, "the longer training": fresh}
folded_differences({which: engine.read_notes(f"workflow/grids/{name}.yaml").differs for which, name in grids.items()})

# %% tags=["remove-input"]
foot("larger_longer", longer=longer, fresh=fresh, small=small, larger=larger)
