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
# # A larger network, and longer training
#
# **The question.** In [](#ch-table1) a small network, after few epochs, is better calibrated as trained with
# cross-entropy than with the focal loss of $\gamma = 3$, the fixed $\gamma$ that {cite:t}`m20` (M20) find best. M20's
# networks are larger, and see {glue:text}`larger-m20-epochs` epochs. Does the size of the network make the difference,
# or the length of training? **In short:** the number is the ECE (equal width) as trained with $\gamma = 3$, minus that
# with cross-entropy, in percentage points: above 0 focal loss is the worse calibrated, below 0 the order is M20's.
#
# * *Few epochs*, {glue:text}`larger-epochs`, of the small network, with the steps of M20's published code
#   ([](#sec-table1-clipped)): {glue:text}`larger-lead-small:+.1f` ({glue:text}`larger-seeds-small:s`).
# * *Larger*, ResNet-18, as many epochs with the same recipe: {glue:text}`larger-lead-large:+.1f`
#   ({glue:text}`larger-seeds-large:s`).
# * *Longer*, the small network, {glue:text}`larger-long-epochs` epochs with M20's schedule, shortened:
#   {glue:text}`larger-lead-fresh:+.1f` ({glue:text}`larger-seeds-fresh:s`).
# * M20's Tables 1 and 7: {glue:text}`larger-printed:+.1f` on average over its networks.
#
# So here the larger network {glue:text}`larger-answer-large:s`, and the longer training
# {glue:text}`larger-answer-fresh:s`; schedule, momentum and machine change with its length. A larger network was not
# trained for as long.
#
# In the order of the list, confidence minus accuracy with cross-entropy is {glue:text}`larger-gap-small:+.2f`,
# {glue:text}`larger-gap-large:+.2f` and {glue:text}`larger-gap-fresh:+.2f` points; with $\gamma = 3$ it is
# {glue:text}`larger-three-small:+.2f`, {glue:text}`larger-three-large:+.2f` and {glue:text}`larger-three-fresh:+.2f`.
# $\gamma = 3$ changes it by {glue:text}`larger-change-small:+.2f`, {glue:text}`larger-change-large:+.2f` and
# {glue:text}`larger-change-fresh:+.2f` points: where it is then below 0 that is too much, where it is still above 0 too
# little. The longer training was first seen in {glue:text}`larger-of-long:s` ({glue:text}`larger-lead-long:+.1f`). What
# to compare was then written down, before other seeds were trained: the numbers of the longer training above are
# theirs.
#
# :::{admonition} As printed: M20 section 3
# 'after the 150th epoch (where the learning rate drops by a factor of 10), there is a marked rise in the average test
# NLL, indicating that the network starts to overfit on average NLL. However, the increase in average test NLL is caused
# only by the incorrectly classified samples, as the average NLL for the correctly classified samples continues to
# decrease even after the 150th epoch. We also observe that after epoch 150, the test set ECE rises, indicating that the
# network is becoming miscalibrated.' (ResNet-50 on CIFAR-10, cross-entropy, 350 epochs.)
# :::

# %% tags=["parameters"]
small: str = "cifar10-clipped"  # folder in results, and grid in workflow/grids: the small network, few epochs
larger: str = "cifar10-resnet18"  # a larger one, as many epochs
longer: str = "cifar10-long"  # the small one, more epochs, M20's schedule
by_mean: str = "cifar10-record"  # the small one, few epochs, steps by the mean
fresh: str = "cifar10-long-fresh"  # other seeds of the longer training, asked what its first suggests

# %% tags=["hide-input"]
from focal_lib.plots.style import use_style
from reproduction import engine
from reproduction.checkout import ROOT
from reproduction.engine.contrasts import Setting
from reproduction.ledger import claims_of, find, show
from reproduction.pages.differences import folded_differences
from reproduction.pages.footer import foot
from reproduction.pages.notes import note
from reproduction.pages.plots.curves import ECE_TICKS, row_figure
from reproduction.pages.plots.epochs import MANY, epoch_panels, reliability_strip
from reproduction.pages.tables import captioned, in_words
from reproduction.studies.cifar.other_training import compare_training
from reproduction.studies.epochs.while_training import (
    BINS,
    final_gaps,
    histories,
    lower_from,
    over_seeds_by_epoch,
    reliability_of_kept,
)
from reproduction.studies.shared import recorded
from reproduction.studies.shared.experiments import say_how_made
from reproduction.studies.shared.miscalibration import confidence_gaps, eces_if_calibrated
from reproduction.studies.shared.over_seeds import (
    by_scaling,
    contrast,
    format_as_kk24,
    name_seeds,
    say_seeds,
    summarise,
)
from reproduction.studies.shared.printed_effects import compare_with_printed, mean_difference
from reproduction.studies.shared.recorded import load_whole_seeds, read_planned, read_whole_seeds
from reproduction.studies.shared.written_contrasts import (
    evaluate_contrasts,
    format_contrasts,
    interval_of,
    name_in_full,
    paired_by_seed,
    primary_contrast,
)

use_style()
names = {"small": small, "large": larger, "long": longer, "fresh": fresh}
runs = {short: load_whole_seeds(name) for short, name in names.items()}
tables = {short: read_whole_seeds(name) for short, name in names.items()}
first = {short: found[0].spec for short, found in runs.items()}
primary, written = primary_contrast(fresh, "M20 Tables 1 and 7")
if not written:
    raise ValueError(f"fresh must be a grid with contrasts for M20 Tables 1 and 7. Got {fresh!r}.")

# %% tags=["remove-input"]
for short, table in tables.items():
    lead = evaluate_contrasts(table, [primary]).iloc[0]
    have, planned = int(lead["seeds"]), len({spec.seed for spec in read_planned(names[short])})
    said = say_seeds(have, planned)
    said += f", 95 % t interval {lead['low']:+.1f} to {lead['high']:+.1f}" if have > 1 else ""
    order = {"True False": "brings M20's order", "False True": "does not bring M20's order"}
    answer = order.get(f"{lead['high'] < 0} {lead['low'] > 0}", "leaves it open which order there is")
    note("larger", {f"lead-{short}": lead["difference"], f"seeds-{short}": said, f"answer-{short}": answer})
    gaps = 100 * confidence_gaps(runs[short], ["test"]).groupby("loss")["gap"].mean()
    note("larger", {f"gap-{short}": gaps["cross-entropy"], f"three-{short}": gaps["focal 3"]})
    note("larger", {f"change-{short}": gaps["focal 3"] - gaps["cross-entropy"]})

# %% tags=["remove-input"]
note("larger", m20_epochs=engine.RECIPES["m20-cifar"].epochs, long_epochs=first["long"].training.epochs)
note("larger", epochs=first["large"].training.epochs, n=first["large"].n_train)
note("larger", printed=mean_difference("M20", "cifar10", "ece", "pre", "focal 3", "cross-entropy", -1).size)
of_long = sorted(tables["long"]["seed"].unique())
alone = f"seed {of_long[0]} alone" if len(of_long) == 1 else f"{len(of_long)} seeds"
seeds = ", ".join(str(seed) for seed in sorted(tables["fresh"]["seed"].unique()))
every = int(histories(runs["fresh"], "test")["epoch"].drop_duplicates().sort_values().diff().max())
note("larger", of_long=alone, fresh=f"seeds {seeds}", fresh_grid=f"workflow/grids/{fresh}.yaml", every=every)

# %% [markdown]
# ## What was run
#
# Four sets of runs on all of CIFAR-10, {glue:text}`larger-n:,` training images:
#
# * the small network (AirBench CNN) for {glue:text}`larger-epochs` epochs, from [](#sec-table1-clipped), on
#   {glue:text}`larger-made-small:s`;
# * ResNet-18 for as many, with the losses of {cite:t}`kk24` (KK24), on {glue:text}`larger-made-large:s`. The grid file
#   of that commit plans more epochs: they were cut, before the first run, to what the speed just measured allows in a
#   quarter of an hour for three seeds; that it was before is not to be seen from the record. The comparisons were
#   written down before;
# * the small network for {glue:text}`larger-long-epochs` epochs, cross-entropy and $\gamma = 3$, on
#   {glue:text}`larger-made-long:s`. It has {glue:text}`larger-long-seeds:s`, looked at before anything was asked of
#   such runs; its history has every epoch;
# * the same, {glue:text}`larger-fresh:s`, on {glue:text}`larger-made-fresh:s`. What is compared was written down before
#   the first of these runs, when the set above had been seen.
#
# From the first set to the second the network changes, and with it the machine, the version of PyTorch and how it does
# a step. From the first to the last two the network stays, and these three change; besides the number of epochs so do
# the schedule of the learning rate (rising and falling once, or in three steps down), Nesterov's momentum and whether
# the last batch is dropped, both as in the recipes. So what length does alone is not separated; but within a long run
# the epochs can be followed. ResNet-18 for as long was not run.

# %% tags=["remove-input"]
for short, name in names.items():
    note("larger", {f"made-{short}": say_how_made(ROOT / "results" / name, runs[short])})
grids = {"the small network, few epochs": small, "ResNet-18": larger, "the longer training": longer}
grids |= {"its fresh seeds": fresh}
folded_differences({which: engine.read_notes(f"workflow/grids/{name}.yaml").differs for which, name in grids.items()})

# %% [markdown]
# ## Side by side
#
# Cross-entropy and $\gamma = 3$ in four ways, on the seeds that all four have. *Mean* is the main network of
# [](#ch-table1), here with these seeds only; *clipped* has the steps of the published code; *longer* has M20's
# schedule, too.

# %% tags=["hide-input"]
ways = {"small, mean": by_mean, "small, clipped": small, "ResNet-18, clipped": larger, "small, clipped, longer": fresh}
side_by_side = compare_training(
    {way: read_whole_seeds(name) for way, name in ways.items()},
    {way: load_whole_seeds(name) for way, name in ways.items()},
)
by_way = side_by_side.rename(index=in_words).rename_axis(["loss", "trained"])
note("larger", long_seeds=say_seeds(len(of_long)))
shared = say_seeds(int(side_by_side["seeds"].min()))
caption = f"CIFAR-10, all test images, {shared}; ECE of equal width, T chosen by it"
captioned(by_way.drop(columns="seeds"), caption, precision=2)

# %% tags=["remove-input"]
leads = side_by_side.loc["focal 3", "ECE (%)"] - side_by_side.loc["cross-entropy", "ECE (%)"]
note("larger", by_length=leads["small, clipped, longer"] - leads["small, clipped"])
judged = {key: find(f"m20.{key}_favours_focal").evidence for key in ("larger_network", "longer_training")}
to = {"larger_network": "to the larger network", "longer_training": "to the longer training"}
more = [f"{to[key]} {found.measured:+.1f} ({found.over})" for key, found in judged.items()]
note("larger", all_seeds=" and ".join(more))
note("larger", by_size=leads["ResNet-18, clipped"] - leads["small, clipped"])
for short, loss in (("ce", "cross-entropy"), ("three", "focal 3")):
    by_ece = side_by_side.loc[loss, "T by ECE"]
    note("larger", {f"t-{short}": by_ece["small, clipped, longer"], f"t-{short}-short": by_ece["small, clipped"]})
after_t = side_by_side["ECE after T (%)"].unstack()["small, clipped, longer"]
note("larger", after_t_ce=after_t["cross-entropy"], after_t_three=after_t["focal 3"])
note("larger", shared=shared)

# %% [markdown]
# On {glue:text}`larger-shared:s`, the ECE with $\gamma = 3$ minus that with cross-entropy changes by
# {glue:text}`larger-by-size:+.1f` points from the small network to the larger one, and by
# {glue:text}`larger-by-length:+.1f` from the short training to the longer; on all seeds that each has
# in common with the small network's short training, {glue:text}`larger-all-seeds:s`, not the seeds of the list above.
# The temperature that validation images choose goes
# with the longer training from {glue:text}`larger-t-ce-short:.2f` to {glue:text}`larger-t-ce:.2f` with cross-entropy
# and from {glue:text}`larger-t-three-short:.2f` to {glue:text}`larger-t-three:.2f` with $\gamma = 3$; after it the ECEs
# are {glue:text}`larger-after-t-ce:.1f` and {glue:text}`larger-after-t-three:.1f` %. Both changes are claims of the
# ledger:

# %% tags=["remove-input"]
show("m20.larger_network_favours_focal", "m20.longer_training_favours_focal")

# %% [markdown]
# (sec-larger-fresh)=
# ## Longer: the fresh seeds
#
# The contrasts written down in {glue:text}`larger-fresh-grid:s`: the primary one is M20's claim, as trained; the other
# is the same after a temperature chosen by the same ECE.

# %% tags=["hide-input"]
of_fresh = evaluate_contrasts(tables["fresh"], recorded.read_written(fresh))
caption = f"CIFAR-10, the small network after {first['fresh'].training.epochs} epochs, percentage points"
format_contrasts(name_in_full(of_fresh), caption, precision=None)


# %% tags=["hide-input"]
def in_per_cent(short):
    """Test rows of a set of runs, with ECE, error and confidence minus accuracy in per cent and points."""
    found = histories(runs[short], "test")
    gap = 100 * (found["confidence"] - found["accuracy"])
    return found.assign(gap=gap, width=100 * found["ece"], wrong=100 * found["error"])


fresh_tests = in_per_cent("fresh")
titles = {"ECE (equal width, %)": "width", "confidence minus accuracy (points)": "gap"}
by_column = over_seeds_by_epoch(fresh_tests[fresh_tests["epoch"] >= 5], list(titles.values()))
panels = {title: by_column[column] for title, column in titles.items()}

# %% tags=["remove-input"] mystnb={"image": {"alt": "Two panels over the epochs, a line with a band for cross-entropy and one for focal loss with gamma 3, vertical lines where the learning rate falls: ECE, in which the lines cross, and confidence minus accuracy, with a line at zero; on test images."}, "figure": {"name": "fig-larger-fresh", "caption": "CIFAR-10, test images, after the first epochs: the small network, cross-entropy and $\\gamma = 3$, mean of the fresh seeds, and their least and largest. Vertical lines: the learning rate falls to a tenth."}}
epoch_panels(panels, marks=first["fresh"].training.drops, zero=["confidence minus accuracy (points)"])

# %% tags=["remove-input"]
ahead = lower_from(fresh_tests, "width", "focal 3", "cross-entropy")
note("larger", fresh_ahead=f"from epoch {ahead} on to the last" if ahead else "not at the last epoch")
by_epoch = fresh_tests.pivot_table(index="epoch", columns="loss", values="width")
by_epoch = by_epoch["focal 3"] - by_epoch["cross-entropy"]
note("larger", fresh_most=by_epoch.min(), fresh_most_at=int(by_epoch.idxmin()))
lead, after_t = of_fresh[of_fresh["primary"]].iloc[0], of_fresh[~of_fresh["primary"]].iloc[0]
for short, row in (("fresh", lead), ("fresh-after", after_t)):
    note("larger", {f"{short}-by": row["difference"], f"{short}-low": row["low"], f"{short}-high": row["high"]})
    note("larger", {f"{short}-said": "significant" if row["significant"] else "not significant"})
three, ce = Setting(("focal 3",)), Setting(("cross-entropy",))
more = interval_of(paired_by_seed(tables["fresh"], "error", three, ce), "error")
error = tables["fresh"].query("metric == 'error' and method == 'none'").groupby("loss")["value"].mean()
note("larger", fresh_error_ce=error["cross-entropy"], fresh_error_three=error["focal 3"])
note("larger", fresh_error_by=more.estimate, fresh_error_low=more.low, fresh_error_high=more.high)

# %% [markdown]
# As trained $\gamma = 3$ minus cross-entropy is {glue:text}`larger-fresh-by:+.2f` points of ECE, 95 % t interval
# {glue:text}`larger-fresh-low:+.2f` to {glue:text}`larger-fresh-high:+.2f`, {glue:text}`larger-fresh-said:s`; in M20's
# tables it is {glue:text}`larger-printed:+.2f` on average. The mean ECE of these seeds, measured every
# {glue:text}`larger-every` epochs, is lower with $\gamma = 3$ {glue:text}`larger-fresh-ahead:s`. The difference is
# least at epoch {glue:text}`larger-fresh-most-at`, {glue:text}`larger-fresh-most:+.1f` points: at the end it depends on
# how long one trains. After a temperature the difference is {glue:text}`larger-fresh-after-by:+.2f` points
# ({glue:text}`larger-fresh-after-low:+.2f` to {glue:text}`larger-fresh-after-high:+.2f`),
# {glue:text}`larger-fresh-after-said:s`. The error is {glue:text}`larger-fresh-error-ce:.1f` % with cross-entropy and
# {glue:text}`larger-fresh-error-three:.1f` % with $\gamma = 3$: {glue:text}`larger-fresh-error-by:+.2f` points
# ({glue:text}`larger-fresh-error-low:+.2f` to {glue:text}`larger-fresh-error-high:+.2f`), which was not written down.
#
# ## Longer: what happens on the way
#
# The run that was looked at first ({glue:text}`larger-of-long:s`; not the fresh seeds above), on test images, epoch by
# epoch. The learning rate falls to a tenth
# after the epochs {glue:text}`larger-drop` and {glue:text}`larger-second-drop`, the vertical lines.

# %% tags=["hide-input"]
long_tests = in_per_cent("long")
settled = long_tests[long_tests["epoch"] >= 5]
drops, last = first["long"].training.drops, first["long"].training.epochs
titles = {"ECE (equal width, %)": "width", "confidence minus accuracy (points)": "gap"}
titles |= {"error (%)": "wrong", "NLL (nats)": "nll"}
by_column = over_seeds_by_epoch(settled, list(titles.values()))
panels = {title: by_column[column] for title, column in titles.items()}

# %% tags=["remove-input"] mystnb={"image": {"alt": "Four panels over the epochs, a line for cross-entropy and one for focal loss with gamma 3, vertical lines where the learning rate falls: ECE, in which the lines cross; confidence minus accuracy, with a line at zero; error; NLL; all on test images."}, "figure": {"name": "fig-larger-epochs", "caption": "CIFAR-10, test images, after the first epochs: the small network, cross-entropy and $\\gamma = 3$; vertical lines where the learning rate falls to a tenth. Where confidence minus accuracy is 0, mean confidence is right. Counterpart, for test images, of M20 Figs. 1 (c), 3 (a) and (g)."}}
epoch_panels(panels, marks=drops, zero=["confidence minus accuracy (points)"])

# %% tags=["hide-input"]
after = drops[0] + 1
shown = {"width": "ECE (%)", "gap": "confidence - accuracy (points)", "nll": "NLL", "wrong": "error (%)"}
moments = long_tests[long_tests["epoch"].isin([drops[0], after, drops[1], last])]
form = moments.groupby(["loss", "epoch"])[list(shown)].mean().rename(columns=shown).rename(index=in_words, level=0)
captioned(form, "Test images, before and after the first fall, at the second, and at the end", precision=2)

# %% tags=["remove-input"]
ahead = lower_from(long_tests, "width", "focal 3", "cross-entropy")
note("larger", ahead=f"from epoch {ahead} on to the last" if ahead else "not at the last epoch", after=after)
learnt = final_gaps(runs["long"], "train").groupby("loss")["accuracy"].mean()
note("larger", learnt_ce=100 * (1 - learnt["cross-entropy"]), learnt_three=100 * (1 - learnt["focal 3"]))
at = long_tests.groupby(["loss", "epoch"])[["nll", "nll_right", "nll_wrong", "width", "gap", "weight_norm"]].mean()
for short, loss in (("ce", "cross-entropy"), ("three", "focal 3")):
    for when, epoch in (("after", after), ("end", last)):
        note("larger", {f"{short}-{column}-{when}": value for column, value in at.loc[loss, epoch].items()})
rises = at.loc["cross-entropy", last] > at.loc["cross-entropy", after]
note("larger", {f"ce-{name}-moves": "rises" if so else "falls" for name, so in rises.items()})
note("larger", drop=drops[0], second_drop=drops[1])
lighter = lower_from(long_tests, "weight_norm", "focal 3", "cross-entropy")
note("larger", lighter=f"the smaller one from epoch {lighter} on" if lighter else "the larger one at the end")

# %% [markdown]
# From epoch {glue:text}`larger-after` to the last, confidence minus accuracy goes from
# {glue:text}`larger-ce-gap-after:+.1f` to {glue:text}`larger-ce-gap-end:+.1f` points with cross-entropy and from
# {glue:text}`larger-three-gap-after:+.1f` to {glue:text}`larger-three-gap-end:+.1f` with $\gamma = 3$. The ECE with
# $\gamma = 3$ is the lower one {glue:text}`larger-ahead:s`. At the end {glue:text}`larger-learnt-ce:.2f` and
# {glue:text}`larger-learnt-three:.2f` % of the training images are misclassified. Which of two is better
# calibrated can depend on the epoch at which one looks; a shorter training with a schedule of its own need not pass
# through the same values.
#
# Right and wrong samples apart, as in [](#ch-miscalibration):

# %% tags=["hide-input"]
titles = {"NLL, right (nats)": "nll_right", "NLL, wrong (nats)": "nll_wrong", "entropy, wrong (nats)": "entropy_wrong"}
titles |= {f"probability of the true class, {kind}": f"true_class_{kind}" for kind in ("right", "wrong")}
titles |= {"norm of the last layer": "weight_norm"}
by_column = over_seeds_by_epoch(settled, list(titles.values()))
apart = {title: by_column[column] for title, column in titles.items()}

# %% tags=["remove-input"] mystnb={"image": {"alt": "Six panels over the epochs, a line for cross-entropy and one for focal loss: NLL of right test samples and of wrong ones, of which the second rises with cross-entropy after the first fall of the rate; entropy of wrong ones; probability of the true class of right and of wrong ones; norm of the last layer."}, "figure": {"name": "fig-larger-apart", "caption": "The small network on test images, samples classified correctly (right) and not (wrong), after the first epochs; the last panel is of the weights. Counterpart, for test images, of M20 Fig. 1 (a) and (b), and of Fig. 3 (b), (d) to (f), (h)."}}
epoch_panels(apart, columns=3, marks=drops)

# %% [markdown]
# With cross-entropy the NLL of right samples goes from {glue:text}`larger-ce-nll-right-after:.3f` at epoch
# {glue:text}`larger-after` to {glue:text}`larger-ce-nll-right-end:.3f` at the end, and that of wrong ones from
# {glue:text}`larger-ce-nll-wrong-after:.1f` to {glue:text}`larger-ce-nll-wrong-end:.1f`; with $\gamma = 3$ from
# {glue:text}`larger-three-nll-right-after:.3f` to {glue:text}`larger-three-nll-right-end:.3f` and from
# {glue:text}`larger-three-nll-wrong-after:.1f` to {glue:text}`larger-three-nll-wrong-end:.1f`. The norm of the last
# layer with $\gamma = 3$ is {glue:text}`larger-lighter:s`.
#
# And M20's sentence above, of cross-entropy after the first fall? From epoch {glue:text}`larger-after` to the end the
# NLL on test images {glue:text}`larger-ce-nll-moves:s` here, from {glue:text}`larger-ce-nll-after:.2f` to
# {glue:text}`larger-ce-nll-end:.2f`; that of wrong samples {glue:text}`larger-ce-nll-wrong-moves:s`, that of right ones
# {glue:text}`larger-ce-nll-right-moves:s`; the ECE {glue:text}`larger-ce-width-moves:s`, from
# {glue:text}`larger-ce-width-after:.1f` to {glue:text}`larger-ce-width-end:.1f` %. That is
# {glue:text}`larger-long-seeds:s` of another network, and no verdict; those are in [](#ch-miscalibration).

# %% tags=["hide-input"]
kept = {in_words(loss): reliability_of_kept(runs["long"], loss) for loss in ("cross-entropy", "focal 3")}
there = sorted(int(title.split()[1]) for title in kept["cross-entropy"])
if len(there) < 5:
    raise ValueError(f"longer must be a grid whose runs keep logits on the way. Got {longer!r}.")
before, later = ([e for e in there if e <= drops[0]], [e for e in there if e > drops[0]])
around = {before[0], before[-1], later[0], max(e for e in there if e <= drops[1]), last}
chosen = [f"epoch {epoch}" for epoch in sorted(around)]
strip = {loss: {title: bins[title] for title in chosen} for loss, bins in kept.items()}
note("larger", bins=BINS, many=MANY)

# %% tags=["remove-input"] mystnb={"image": {"alt": "Reliability diagrams on test images, a row for cross-entropy and one for focal loss, a column for each of five epochs: accuracy over confidence by bin with the diagonal, and the shares of the bins. Cross-entropy is below the diagonal, focal loss above it at first."}, "figure": {"name": "fig-larger-reliability", "caption": "Reliability on test images after some epochs, before and after the rate first falls, bins of equal width. Grey: the shares of the bins, on the same axis; orange: the gaps. Counterpart of M20 Fig. 2, which has training images, too."}}
reliability_strip(strip)

# %% [markdown]
# There are {glue:text}`larger-bins` bins, as in M20's figure; a bin with fewer than {glue:text}`larger-many` samples
# shows its share and no point.
#
# ## Larger: ResNet-18
#
# KK24's Table 1 for ResNet-18. KK24's ECE is of equal mass (adaptive); in the list at the top of this page it is M20's,
# of equal width.

# %% tags=["hide-input"]
frame = tables["large"]
whole = format_as_kk24(frame).rename(index=in_words)
over = f"over {name_seeds(frame)}"
caption = f"Mean ± standard deviation {over}, mean temperature in brackets; T and gamma chosen by adaptive ECE"
captioned(whole[["error (%)", "adaptive ECE (%)"]], caption)

# %% tags=["hide-input"]
summary = summarise(frame)
of_scaling = by_scaling(frame, "adaptive-ece")
points = {label: tuple(of.to_numpy().T) for label, of in of_scaling.items()}
order = list(frame["loss"].unique())

# %% tags=["remove-input"] mystnb={"image": {"alt": "A row for each loss with its points, on a logarithmic scale: adaptive ECE of ResNet-18 as trained, after temperature scaling and after focal temperature scaling, with standard deviations. As trained they are far apart, after either scaling close together."}, "figure": {"name": "fig-larger-ece", "caption": "ResNet-18 on CIFAR-10: adaptive ECE (%), mean and standard deviation over seeds, as trained and after either scaling, chosen by adaptive ECE."}}
row_figure(order, points, "adaptive ECE (%), logarithmic", xscale="log", **ECE_TICKS)

# %% tags=["remove-input"]
errors = summary.query("metric == 'error' and method == 'none'").set_index("loss")["mean"]
as_trained, scaled = (of_scaling[label]["mean"] for label in ("as trained", "temperature scaling"))
note("larger", error_first=in_words(errors.idxmin()), error_least=errors.min(), error_most=errors.max())
note("larger", error_last=in_words(errors.idxmax()), ece_first=in_words(as_trained.idxmin()))
note("larger", ece_least=as_trained.min(), ece_ce=as_trained["cross-entropy"], ece_three=as_trained["focal 3"])
note("larger", ece_last=in_words(as_trained.idxmax()), ece_most=as_trained.max())
note("larger", scaled_least=scaled.min(), scaled_most=scaled.max())
ends = final_gaps([run for run in runs["large"] if run.spec.is_cross_entropy], "train")
note("larger", train_error=100 * (1 - ends["accuracy"]).mean())
against = contrast(frame, "loss", "cross-entropy").query("metric == 'ece' and method == 'none'")
one = against.set_index("loss").loc["focal 1"]
note("larger", one=one["difference"], one_low=one["low"], one_high=one["high"])
after_one = frame.query("method == 'temperature' and metric == objective == 'adaptive-ece'")
by_chance = summarise(eces_if_calibrated(runs["large"], after_one))["mean"]
note("larger", chance_least=by_chance.min(), chance_most=by_chance.max())

# %% [markdown]
# The error is from {glue:text}`larger-error-least:.1f` % ({glue:text}`larger-error-first:s`) to
# {glue:text}`larger-error-most:.1f` % ({glue:text}`larger-error-last:s`). As trained the adaptive ECE is lowest with
# {glue:text}`larger-ece-first:s`, {glue:text}`larger-ece-least:.1f` %; with cross-entropy it is
# {glue:text}`larger-ece-ce:.1f`, with $\gamma = 3$ {glue:text}`larger-ece-three:.1f`, and highest with
# {glue:text}`larger-ece-last:s`, {glue:text}`larger-ece-most:.1f`. The ECE of equal width with $\gamma = 1$ minus that
# with cross-entropy is {glue:text}`larger-one:+.2f` points, 95 % t interval {glue:text}`larger-one-low:+.2f` to
# {glue:text}`larger-one-high:+.2f`, a comparison that was not written down. After one temperature each the adaptive ECE
# is {glue:text}`larger-scaled-least:.1f` to {glue:text}`larger-scaled-most:.1f` %, where calibrated networks with the
# same confidences would show {glue:text}`larger-chance-least:.1f` to {glue:text}`larger-chance-most:.1f` by chance. At
# the end the networks trained with cross-entropy still misclassify {glue:text}`larger-train-error:.1f` % of the
# training images, shown without crops and flips.

# %% tags=["hide-input"]
written = recorded.read_written(larger)
found = evaluate_contrasts(frame, written)
caption = f"Contrasts of workflow/grids/{larger}.yaml, written down before the runs; percentage points, of NLL nats"
format_contrasts(name_in_full(found), caption, precision=None)

# %% tags=["remove-input"]
so = found["significant"] & (found["difference"] * found["claimed"] > 0)
words = found["table"] + ": " + found["compared"]
sides = {"so": so, "not": found["significant"] & ~so}
for side, which in sides.items():
    note("larger", {f"sure-{side}": "; ".join(words[which]) or "none", f"count-{side}": int(which.sum())})
note("larger", contrasts=len(found))

# %% [markdown]
# How they are corrected, and what the last column means, [](#sec-table1-written) says. Of {glue:text}`larger-contrasts`
# comparisons {glue:text}`larger-count-so` are significant at 5 % as claimed
# ({glue:text}`larger-sure-so:s`) and {glue:text}`larger-count-not` the other way ({glue:text}`larger-sure-not:s`).
#
# ```{exercise}
# :label: ex-larger-stop
# Would stopping early help? At which epoch of the long run has cross-entropy its lowest ECE on test images, and at
# which its lowest error?
# ```

# %% tags=["remove-input"]
of_ce = long_tests.query("loss == 'cross-entropy'").groupby("epoch")[["width", "wrong"]].mean()
by_ece, by_error = of_ce["width"].idxmin(), of_ce["wrong"].idxmin()
note("larger", stop_ece=int(by_ece), stop_ece_value=of_ce["width"][by_ece], stop_ece_error=of_ce["wrong"][by_ece])
note("larger", stop_error=int(by_error), stop_error_value=of_ce["wrong"][by_error])
least = min(table.query("metric == 'error'")["value"].min() for table in tables.values())
m20_error = compare_with_printed(frame, "error", "CIFAR-10")["as trained"]["M20"]["cross-entropy"]
note("larger", least_error=least, m20_error=m20_error)

# %% [markdown]
# ```{solution} ex-larger-stop
# :class: dropdown
# `of_ce.idxmin()`: the lowest ECE, {glue:text}`larger-stop-ece-value:.1f` %, is at epoch
# {glue:text}`larger-stop-ece`, where the error is {glue:text}`larger-stop-ece-error:.1f` %; the lowest error,
# {glue:text}`larger-stop-error-value:.1f` %, at epoch {glue:text}`larger-stop-error`. A low ECE alone is no reason to
# stop. And an epoch chosen on test images is chosen on the answer: validation images would have to choose it, which
# this history has not.
# ```
#
# :::{admonition} What to remember
# :class: tip
# * Which loss is better calibrated as trained can change while a network is trained: in the longer training the
#   mean ECE of the fresh seeds, measured every {glue:text}`larger-every` epochs, is lower with $\gamma = 3$
#   {glue:text}`larger-fresh-ahead:s`; its error at the end is {glue:text}`larger-fresh-error-by:+.2f` points from
#   cross-entropy's. In the small network $\gamma = 3$ minus
#   cross-entropy is {glue:text}`larger-lead-small:+.1f` points of ECE after {glue:text}`larger-epochs` epochs
#   ({glue:text}`larger-seeds-small:s`) and {glue:text}`larger-lead-fresh:+.1f` after {glue:text}`larger-long-epochs`
#   ({glue:text}`larger-seeds-fresh:s`), with another schedule and on another machine.
# * In ResNet-18 after {glue:text}`larger-epochs` epochs it is {glue:text}`larger-lead-large:+.1f`
#   ({glue:text}`larger-seeds-large:s`); there {glue:text}`larger-ece-first:s` has the lowest adaptive ECE as trained.
# * Focal loss with $\gamma = 3$ takes confidence away. Whether that helps depends on how overconfident the
#   network is without it, with cross-entropy {glue:text}`larger-gap-small:+.1f` points after the short training and
#   {glue:text}`larger-gap-fresh:+.1f` after the longer, and on how much it takes away: it changes confidence minus
#   accuracy by {glue:text}`larger-change-small:+.1f` points after the short training and by
#   {glue:text}`larger-change-fresh:+.1f` after the longer.
# * One data set, and errors of {glue:text}`larger-least-error:.1f` % at the least, at the end of training, where M20's
#   ResNet-50 has {glue:text}`larger-m20-error:.1f`. Whether a larger network that is trained as long follows M20 is not
#   shown here.
# :::
#
# ## Verdict
#
# Of the longer training:

# %% tags=["remove-input"]
show("m20.cifar10_before_long")

# %% [markdown]
# Of the larger network:

# %% tags=["remove-input"]
show(
    "m20.cifar10_before_resnet18",
    "m20.cifar10_after_sample_dependent_resnet18",
    "m20.cifar10_after_fixed_resnet18",
    "kk24.table1_ece_every_loss_resnet18",
    "kk24.table1_ece_focal_losses_resnet18",
    "kk24.table1_gamma_ece_resnet18",
    "kk24.table1_gamma_accuracy_resnet18",
)

# %% tags=["remove-input"]
claims_of("larger_longer")

# %% tags=["remove-input"]
foot("larger_longer", small=small, larger=larger, longer=longer, by_mean=by_mean, fresh=fresh)
