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
# **The question.** In [](#ch-table1) a small network, after few epochs, has a lower ECE as trained with cross-entropy
# than with the focal loss of $\gamma = 3$ that {cite:t}`m20` (M20) recommend: focal loss leaves it with too little
# confidence. M20's networks are larger, and see {glue:text}`larger-m20-epochs` epochs. Is it the size of the network,
# or the length of training, that decides? **In short:** ECE (equal width) as trained with $\gamma = 3$, minus that with
# cross-entropy, is
#
# * {glue:text}`larger-lead-small:+.1f` points in the small network after {glue:text}`larger-epochs` epochs, with the
#   steps of M20's published code ({glue:text}`larger-seeds-small:s`);
# * {glue:text}`larger-lead-large:+.1f` in ResNet-18 after as many with the same recipe
#   ({glue:text}`larger-seeds-large:s`);
# * {glue:text}`larger-lead-long:+.1f` in the small network after {glue:text}`larger-long-epochs` epochs by M20's
#   schedule ({glue:text}`larger-seeds-long:s`); M20's Table 7 has {glue:text}`larger-printed:+.1f`, the mean of its
#   networks.
#
# So here the larger network {glue:text}`larger-order-large:s` M20's order, and the longer training
# {glue:text}`larger-order-long:s` it. Where the training set has been learnt, cross-entropy is too sure of itself on
# new images, and it is then that confidence is to be lowered. {glue:text}`larger-waiting:s`
#
# :::{admonition} As printed: M20 section 3
# 'after the 150th epoch (where the learning rate drops by a factor of 10), there is a marked rise in the average test
# NLL, indicating that the network starts to overfit on average NLL.' 'We also observe that after epoch 150, the test
# set ECE rises, indicating that the network is becoming miscalibrated.' (ResNet-50 on CIFAR-10, cross-entropy, 350
# epochs.)
# :::

# %% tags=["parameters"]
small: str = "cifar10-clipped"  # folder in results, and grid in workflow/grids: the small network, few epochs
larger: str = "cifar10-resnet18"  # a larger one, as many epochs
longer: str = "cifar10-long"  # the small one, more epochs, M20's schedule
by_mean: str = "cifar10-record"  # the small one, few epochs, steps by the mean

# %% tags=["hide-input"]
import json

from focal_lib import results, training
from focal_lib.checkout import ROOT
from focal_lib.claims import find, show
from focal_lib.claims.printed_effects import mean_difference
from focal_lib.pages.differences import differences
from focal_lib.pages.footer import foot
from focal_lib.pages.notes import note
from focal_lib.pages.plots import use_style
from focal_lib.pages.plots.curves import row_figure
from focal_lib.pages.plots.epochs import epoch_panels, reliability_strip
from focal_lib.pages.tables import captioned, in_words
from focal_lib.results import speed
from focal_lib.training.cost import images_to_train

use_style()
names = {"small": small, "large": larger, "long": longer}
runs = {short: results.load_whole_seeds(name) for short, name in names.items()}
tables = {short: results.read_whole_seeds(name) for short, name in names.items()}
primary, _ = results.primary_contrast(longer, "M20 Tables 1 and 7")

# %% tags=["remove-input"]
for short, table in tables.items():
    lead = results.evaluate_contrasts(table, [primary]).iloc[0]
    of_grid = len({spec.seed for spec in results.read_planned(names[short])})
    have = int(lead["seeds"])
    brings = "brings" if lead["difference"] < 0 else "does not bring"
    note("larger", {f"lead-{short}": lead["difference"], f"order-{short}": brings})
    said = f"{have} seed{'s' * (have > 1)}" + (f" of {of_grid} planned" if have < of_grid else "")
    note("larger", {f"seeds-{short}": said})
first = {short: found[0].spec for short, found in runs.items()}
note("larger", m20_epochs=training.RECIPES["m20-cifar"].epochs, long_epochs=first["long"].training.epochs)
note("larger", epochs=first["large"].training.epochs, n=first["large"].n_train)
note("larger", printed=mean_difference("M20", "cifar10", "ece", "pre", "focal 3", "cross-entropy", -1).size)
asked = [find(name) for name in ("m20.longer_training_favours_focal", "m20.larger_network_favours_focal")]
open_yet = [one.verdict == "UNDECIDED" for one in asked]
note("larger", waiting="Both questions wait for seeds that are planned." if all(open_yet) else "")

# %% [markdown]
# ## What was run
#
# All of CIFAR-10, {glue:text}`larger-n:,` training images, on {glue:text}`larger-machine:s` (PyTorch
# {glue:text}`larger-torch:s`, commit {glue:text}`larger-commit:s`): ResNet-18 with KK24's seven losses, and the small
# network of [](#ch-table1) with cross-entropy and $\gamma = 3$. How many epochs ResNet-18 has was settled before its
# first run, by how many a GPU does in the minutes that there were; what would be compared is in the grid file, as for
# the small network. The first of the long runs were there, and looked at, before others were planned.

# %% tags=["remove-input"]
made = json.loads((ROOT / "results" / larger / first["large"].digest / "spec.json").read_text())
note("larger", machine=" and ".join(made["machines"]), torch=made["versions"]["torch"], commit=made["commit"][:12])
differences(training.read_notes(f"workflow/grids/{larger}.yaml").differs)

# %% tags=["remove-input"]
differences(training.read_notes(f"workflow/grids/{longer}.yaml").differs)

# %% [markdown]
# ## Larger: ResNet-18
#
# Table 1 of {cite:t}`kk24` (KK24) again:

# %% tags=["hide-input"]
frame = tables["large"]
whole = results.format_as_kk24(frame).rename(index=in_words)
over = f"over {results.name_seeds(frame)}"
caption = (
    f"ResNet-18: mean ± standard deviation {over}, mean temperature in brackets; T and gamma chosen by adaptive ECE"
)
captioned(whole[["error (%)", "adaptive ECE (%)"]], caption)

# %% tags=["hide-input"]
summary = results.summarise(frame)
by_mass = summary[summary["metric"] == "adaptive-ece"]
methods = {"as trained": "none", "temperature scaling": "temperature", "focal temperature scaling": "focal-temperature"}
by_method = by_mass[by_mass["objective"].isin(["", "adaptive-ece"])].set_index(["method", "loss"])[["mean", "sd"]]
order = list(frame["loss"].unique())
shown = {label: tuple(by_method.loc[method].reindex(order).to_numpy().T) for label, method in methods.items()}

# %% tags=["remove-input"] mystnb={"image": {"alt": "A row for each loss with its points, on a logarithmic scale: adaptive ECE of ResNet-18 as trained, after temperature scaling and after focal temperature scaling, with standard deviations."}, "figure": {"name": "fig-larger-ece", "caption": "ResNet-18 on CIFAR-10: adaptive ECE (%), mean and standard deviation over seeds, as trained and after either scaling, chosen by adaptive ECE."}}
row_figure(order, shown, "adaptive ECE (%), logarithmic", xscale="log")

# %% tags=["remove-input"]
errors = summary.query("metric == 'error' and method == 'none'").set_index("loss")["mean"]
as_trained = by_method.loc["none"]["mean"]
scaled = by_method.loc["temperature"]["mean"]
note("larger", error_first=in_words(errors.idxmin()), error_least=errors.min(), error_most=errors.max())
note("larger", error_last=in_words(errors.idxmax()), ece_first=in_words(as_trained.idxmin()))
note("larger", ece_least=as_trained.min(), ece_ce=as_trained["cross-entropy"], ece_three=as_trained["focal 3"])
note("larger", ece_last=in_words(as_trained.idxmax()), ece_most=as_trained.max())
note("larger", scaled_least=scaled.min(), scaled_most=scaled.max())
ends = results.final_gaps([run for run in runs["large"] if run.spec.is_cross_entropy], "train")
note("larger", train_error=100 * (1 - ends["accuracy"]).mean())

# %% [markdown]
# The error is from {glue:text}`larger-error-least:.1f` % ({glue:text}`larger-error-first:s`) to
# {glue:text}`larger-error-most:.1f` % ({glue:text}`larger-error-last:s`). As trained the adaptive ECE is lowest with
# {glue:text}`larger-ece-first:s`, {glue:text}`larger-ece-least:.1f` %; with cross-entropy it is
# {glue:text}`larger-ece-ce:.1f`, with $\gamma = 3$ {glue:text}`larger-ece-three:.1f`, and highest with
# {glue:text}`larger-ece-last:s`, {glue:text}`larger-ece-most:.1f`. After one temperature each it is
# {glue:text}`larger-scaled-least:.1f` to {glue:text}`larger-scaled-most:.1f` %. The training set is not learnt by
# heart: with cross-entropy {glue:text}`larger-train-error:.1f` % of it are still misclassified at the end, without
# crops and flips.
#
# What had been written down, with the primary comparison of each table tested alone and the others with Holm's
# correction:

# %% tags=["hide-input"]
written = results.keep_evaluable(results.recorded.read_written(larger), frame)
found = results.evaluate_contrasts(frame, written)
claimed = found["claimed"].map({-1: "lower", 1: "higher"})
named = found.assign(name=found["table"] + ": " + found["name"] + ", " + found["metric"] + ", claimed " + claimed)
results.format_contrasts(named, f"Contrasts of workflow/grids/{larger}.yaml")

# %% tags=["remove-input"]
as_claimed = found["difference"] * found["claimed"] > 0
note("larger", contrasts=len(found), sure=int(found["significant"].sum()))
note("larger", sure_so=int((found["significant"] & as_claimed).sum()))
note("larger", sure_not=int((found["significant"] & ~as_claimed).sum()))
least = min(table.query("metric == 'error'")["value"].min() for table in tables.values())
printed = results.compare_with_printed(frame, "error", "CIFAR-10")["as trained"]["M20"]
note("larger", least_error=least, m20_error=printed["cross-entropy"])

# %% [markdown]
# Of {glue:text}`larger-contrasts` contrasts {glue:text}`larger-sure` are significant at 5 %:
# {glue:text}`larger-sure-so` as claimed, {glue:text}`larger-sure-not` the other way.
#
# ## Longer: M20's schedule
#
# The small network, from the first epoch to the last, on test images, with upright lines where the learning rate falls
# to a tenth:

# %% tags=["hide-input"]
long_tests = results.histories(runs["long"], "test")
long_tests = long_tests.assign(gap=100 * (long_tests["confidence"] - long_tests["accuracy"]))
long_tests = long_tests.assign(width=100 * long_tests["ece"], wrong=100 * long_tests["error"])
drops = first["long"].training.drops
titles = {"ECE (equal width, %)": "width", "confidence minus accuracy (points)": "gap"}
titles |= {"error (%)": "wrong", "NLL (nats)": "nll"}
by_column = results.over_seeds_by_epoch(long_tests, list(titles.values()))
panels = {title: by_column[column] for title, column in titles.items()}

# %% tags=["remove-input"] mystnb={"image": {"alt": "Four panels over the epochs, a line for cross-entropy and one for focal loss with gamma 3, upright lines where the learning rate falls: ECE, confidence minus accuracy with a line at zero, error, NLL on test images."}, "figure": {"name": "fig-larger-epochs", "caption": "CIFAR-10, test images, epoch by epoch: the small network, cross-entropy and $\\gamma = 3$; upright lines where the learning rate falls to a tenth. Counterpart of M20 Figs. 1 (c) and 3 (g)."}}
epoch_panels(panels, marks=drops, zero=["confidence minus accuracy (points)"])

# %% tags=["remove-input"]
at = long_tests.groupby(["loss", "epoch"])[["width", "gap", "wrong", "nll", "nll_wrong", "nll_right"]].mean()
last = first["long"].training.epochs
for short, loss in (("ce", "cross-entropy"), ("three", "focal 3")):
    before, end = at.loc[loss, drops[0] + 1], at.loc[loss, last]
    for column in ("width", "gap", "nll", "wrong"):
        note("larger", {f"{short}-{column}-after": before[column], f"{short}-{column}-end": end[column]})
note("larger", drop=drops[0], second_drop=drops[1])
ahead = results.lower_from(long_tests, "width", "focal 3", "cross-entropy")
note("larger", ahead=f"from epoch {ahead} on to the last" if ahead else "not at the last epoch")
learnt = results.final_gaps(runs["long"], "train").groupby("loss")["accuracy"].mean()
note("larger", learnt_ce=100 * (1 - learnt["cross-entropy"]), learnt_three=100 * (1 - learnt["focal 3"]))

# %% [markdown]
# One epoch after the rate first falls, ECE is {glue:text}`larger-ce-width-after:.1f` % with cross-entropy and
# {glue:text}`larger-three-width-after:.1f` % with $\gamma = 3$, confidence minus accuracy
# {glue:text}`larger-ce-gap-after:+.1f` and {glue:text}`larger-three-gap-after:+.1f` points. At the end ECE is
# {glue:text}`larger-ce-width-end:.1f` and {glue:text}`larger-three-width-end:.1f` %, confidence minus accuracy
# {glue:text}`larger-ce-gap-end:+.1f` and {glue:text}`larger-three-gap-end:+.1f` points, and on training images
# {glue:text}`larger-learnt-ce:.2f` and {glue:text}`larger-learnt-three:.2f` % are misclassified. The ECE with $\gamma =
# 3$ is the lower one {glue:text}`larger-ahead:s`. In between, the NLL with cross-entropy goes from
# {glue:text}`larger-ce-nll-after:.2f` to {glue:text}`larger-ce-nll-end:.2f` and its error from
# {glue:text}`larger-ce-wrong-after:.1f` to {glue:text}`larger-ce-wrong-end:.1f` %; with $\gamma = 3$ the NLL goes from
# {glue:text}`larger-three-nll-after:.2f` to {glue:text}`larger-three-nll-end:.2f`.
#
# So after the first fall of the rate both move towards more confidence: cross-entropy away from calibration, focal loss
# towards it and, by the end, past it. Which of these two networks is nearer depends on when training ends.
#
# Where the confidence comes from, right and wrong samples apart, as in M20's Figs. 1 and 3:

# %% tags=["hide-input"]
titles = {"NLL, right (nats)": "nll_right", "NLL, wrong (nats)": "nll_wrong"}
titles |= {"probability of the true class, right": "true_class_right", "the same, wrong": "true_class_wrong"}
titles |= {"entropy, wrong (nats)": "entropy_wrong", "norm of the last layer": "weight_norm"}
by_column = results.over_seeds_by_epoch(long_tests, list(titles.values()))
apart = {title: by_column[column] for title, column in titles.items()}

# %% tags=["remove-input"] mystnb={"image": {"alt": "Six panels over the epochs, a line for cross-entropy and one for focal loss: NLL of right and of wrong test samples, probability of the true class of right and of wrong ones, entropy of wrong ones, norm of the last layer."}, "figure": {"name": "fig-larger-apart", "caption": "The small network on test images, samples classified correctly (right) and not (wrong). Counterpart of M20 Figs. 1 (a), (b), 3 (b) to (f), (h)."}}
epoch_panels(apart, columns=3, marks=drops)

# %% tags=["hide-input"]
kept = {in_words(loss): results.reliability_of_kept(runs["long"], loss) for loss in ("cross-entropy", "focal 3")}
moments = [title for title in kept["cross-entropy"] if int(title.split()[1]) in (10, 40, 50, 70, 100)]
strip = {loss: {title: bins[title] for title in moments} for loss, bins in kept.items()}

# %% tags=["remove-input"] mystnb={"image": {"alt": "Reliability diagrams on test images, a row for cross-entropy and one for focal loss, a column for each of five epochs: accuracy over confidence by bin with the diagonal, and the shares of the bins."}, "figure": {"name": "fig-larger-reliability", "caption": "Reliability on test images after some epochs, 25 bins of equal width. Grey: the shares of the bins; orange: the gaps. Counterpart of M20 Fig. 2, which has training and test images."}}
reliability_strip(strip)

# %% [markdown]
# ## Side by side
#
# The same losses, seed for seed, in four ways; the first row of each is that of [](#ch-table1):

# %% tags=["hide-input"]
ways = {
    "small, mean": by_mean,
    "small, sum, clipped": small,
    "ResNet-18, sum, clipped": larger,
    "small, sum, clipped, longer": longer,
}
side_by_side = results.compare_training(
    {way: results.read_whole_seeds(name) for way, name in ways.items()},
    {way: results.load_whole_seeds(name) for way, name in ways.items()},
)
by_way = side_by_side.rename(index=in_words).rename_axis(["loss", "network, steps"])
captioned(by_way, "CIFAR-10, all test images, means over the seeds that all four have; T chosen by ECE", precision=2)

# %% tags=["remove-input"]
t_ce, t_three = (side_by_side.loc[loss, "T by ECE"] for loss in ("cross-entropy", "focal 3"))
note("larger", t_ce=t_ce.iloc[-1], t_ce_before=t_ce.iloc[-3], t_three=t_three.iloc[-1], t_three_before=t_three.iloc[-3])
shared = int(side_by_side["seeds"].min())
leads = side_by_side.loc["focal 3", "ECE (%)"] - side_by_side.loc["cross-entropy", "ECE (%)"]
note("larger", by_length=leads.iloc[-1] - leads.iloc[-3], by_size=leads.iloc[-2] - leads.iloc[-3])
note("larger", shared_said=f"{shared} seed{'s' * (shared > 1)} of each")

# %% [markdown]
# With the longer training the temperature that validation images choose rises from {glue:text}`larger-t-ce-before:.2f`
# to {glue:text}`larger-t-ce:.2f` with cross-entropy, and from {glue:text}`larger-t-three-before:.2f` to
# {glue:text}`larger-t-three:.2f` with $\gamma = 3$
# ({glue:text}`larger-shared-said:s`). The ECE with $\gamma = 3$ minus that with cross-entropy moves by
# {glue:text}`larger-by-length:+.1f` points with the longer training and by {glue:text}`larger-by-size:+.1f` with the
# larger network. The ledger asks both below, over all seeds that the two of a comparison have.
#
# ## How fast a GPU is
#
# Images a second of ResNet-18 in the papers' batches, as `python -m benchmarks.training` measures it: the loop of
# torchvision's examples, and ours with its steps as PyTorch does them (plain), compiled, and replayed as a CUDA graph.

# %% tags=["remove-input"]
rates = speed.read_training_rates()
table = None if rates is None else speed.tabulate_training(rates)
where = "" if rates is None else " and ".join(rates["device"].unique())
None if table is None else captioned(table, f"Training ResNet-18 on {where}", precision=1, index=False)

# %% tags=["remove-input"]
best = table.loc[table["images/s"].idxmax()]
note("larger", best_steps=best["steps"], best_rate=best["images/s"], best_times=best["times torchvision's"])
one = table[(table["steps"] == "compiled") & (table["runs at once"] == 1)]["images/s"].iloc[0]
note("larger", over_compiled=best["images/s"] / one)
total = sum(images_to_train(spec) for spec in training.read_grid("workflow/grids/kk24-gpu.yaml"))
note("larger", grid_hours=total / best["images/s"] / 3600)

# %% [markdown]
# Fastest is the step as a {glue:text}`larger-best-steps:s`, {glue:text}`larger-best-rate:,.0f` images a second,
# {glue:text}`larger-best-times:.1f` times the plain loop and {glue:text}`larger-over-compiled:.1f` times a compiled
# step, which waits for the processor to launch its kernels. At that rate the training alone of
# `workflow/grids/kk24-gpu.yaml` takes {glue:text}`larger-grid-hours:.1f` hours.
#
# ```{exercise}
# :label: ex-larger-stop
# Would stopping early help? At which epoch has cross-entropy its lowest ECE on test images, and at which its lowest
# error?
# ```
#
# ```{solution} ex-larger-stop
# :class: dropdown
# `long_tests.query("loss == 'cross-entropy'").set_index("epoch")[["width", "wrong"]].idxmin()`. An epoch chosen on
# test images is a picture, not a method: validation images would have to choose it, and the history has none of them.
# ```
#
# :::{admonition} What to remember
# :class: tip
# * Which loss is better calibrated as trained may turn on how long is trained. In the small network ECE with $\gamma =
#   3$ minus that with cross-entropy is {glue:text}`larger-lead-small:+.1f` points after {glue:text}`larger-epochs`
#   epochs ({glue:text}`larger-seeds-small:s`), when focal loss leaves too little confidence, and
#   {glue:text}`larger-lead-long:+.1f` after {glue:text}`larger-long-epochs` ({glue:text}`larger-seeds-long:s`), when
#   the training set is learnt and cross-entropy has too much. M20 print {glue:text}`larger-printed:+.1f` on average.
# * In ResNet-18 after {glue:text}`larger-epochs` epochs it is {glue:text}`larger-lead-large:+.1f`
#   ({glue:text}`larger-seeds-large:s`).
# * After one temperature each, the losses of ResNet-18 have an adaptive ECE of {glue:text}`larger-scaled-least:.1f` to
#   {glue:text}`larger-scaled-most:.1f` %.
# * All of this is CIFAR-10, with errors of {glue:text}`larger-least-error:.1f` % and more; M20 print
#   {glue:text}`larger-m20-error:.1f` % for ResNet-50 with cross-entropy.
# :::
#
# ## Verdict
#
# Of the larger network:

# %% tags=["remove-input"]
show(
    "m20.cifar10_before_resnet18",
    "m20.cifar10_after_sample_dependent_resnet18",
    "m20.cifar10_after_fixed_resnet18",
    "m20.larger_network_favours_focal",
    "kk24.table1_ece_every_loss_resnet18",
    "kk24.table1_ece_focal_losses_resnet18",
    "kk24.table1_gamma_ece_resnet18",
    "kk24.table1_gamma_accuracy_resnet18",
)

# %% [markdown]
# Of the longer training:

# %% tags=["remove-input"]
show("m20.cifar10_before_long", "m20.longer_training_favours_focal")

# %% tags=["remove-input"]
foot("24_larger_longer", small=small, larger=larger, longer=longer, by_mean=by_mean)
