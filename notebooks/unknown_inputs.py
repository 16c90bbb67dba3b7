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
# (ch-unknown)=
# # Inputs the network has not seen
#
# **The question.** A network will be shown what it was not trained for. Does focal loss help to notice that? And does a
# calibration that was fitted on known data hold when the data shift? **In short:** by the largest probability networks
# trained with focal loss, $\gamma =$ {glue:text}`unknown-gamma:g`, tell unknown images from known ones
# {glue:text}`unknown-chief-said` those trained with cross-entropy; the score that is taken changes the AUROC
# {glue:text}`unknown-score-said` the loss does. A temperature fitted on clean images lowers the adaptive ECE on
# corrupted ones significantly (5 %, Holm) in {glue:text}`unknown-lowered` of {glue:text}`unknown-both-cells` cases and
# raises it in {glue:text}`unknown-raised`. In numbers:
#
# * AUROC, focal loss minus cross-entropy, by the largest probability: {glue:text}`unknown-chief-signed:+.1f` points
#   (95 % t interval {glue:text}`unknown-chief-low:+.1f` to {glue:text}`unknown-chief-high:+.1f`). By energy
#   {glue:text}`unknown-energy:+.1f`, {glue:text}`unknown-energy-said`; on fresh seeds, with $\gamma = 3$,
#   {glue:text}`unknown-fresh-energy:+.1f` (95 % t interval {glue:text}`unknown-fresh-energy-low:+.1f` to
#   {glue:text}`unknown-fresh-energy-high:+.1f`), {glue:text}`unknown-fresh-energy-said`.
# * AUROC by energy minus by the largest probability, means of the losses: {glue:text}`unknown-energy-least:+.1f` to
#   {glue:text}`unknown-energy-most:+.1f` points in the runs of this page,
#   {glue:text}`unknown-fresh-score-least:+.1f` to {glue:text}`unknown-fresh-score-most:+.1f` on fresh seeds, and
#   {glue:text}`unknown-cifar-score-least:+.1f` to {glue:text}`unknown-cifar-score-most:+.1f` of networks on CIFAR-10.
# * Where a temperature fitted on clean images raises the adaptive ECE significantly (5 %, Holm over all losses,
#   corruptions and severities): of focal loss: {glue:text}`unknown-harm-focal`; of cross-entropy:
#   {glue:text}`unknown-harm-ce`. Of networks on CIFAR-10 with $\gamma = 3$, contrast reduced, it changes it by
#   {glue:text}`unknown-cifar-contrast:+.1f` points (95 % t interval {glue:text}`unknown-cifar-contrast-low:+.1f` to
#   {glue:text}`unknown-cifar-contrast-high:+.1f`).
# * These networks on CIFAR-10 are small and err in {glue:text}`unknown-cifar-error-least:.0f` to
#   {glue:text}`unknown-cifar-error-most:.0f` % of clean images. Over {glue:text}`unknown-cifar-made` corruptions a
#   temperature takes their mean adaptive ECE from {glue:text}`unknown-cifar-none-ce-shifted:.1f` to
#   {glue:text}`unknown-cifar-temperature-ce-shifted:.1f` % for cross-entropy, and from
#   {glue:text}`unknown-cifar-none-focal-shifted:.1f` to {glue:text}`unknown-cifar-temperature-focal-shifted:.1f` % for
#   $\gamma = 3$.
#
# :::{admonition} As printed: L25 section 5.4
# 'Across most datasets, FCL consistently achieves the highest AUROC, outperforming other models in handling OoD data.'
# 'This suggests that the FCL generalize well across different types of OoD shifts.'
# :::
#
# L25 trains {glue:text}`unknown-networks` networks on CIFAR-10 and tells its test images from SVHN and from CIFAR-10-C.
# Which score it takes and which corruption, the text at hand does not say. In its table FCL has a higher AUROC than
# cross-entropy in {glue:text}`unknown-rows-fcl` of {glue:text}`unknown-rows` rows as trained, FLSD-53 in
# {glue:text}`unknown-rows-flsd`. Whether FCL is the highest of all, {ref}`ch-published` counts. {cite:t}`kk24` measure
# calibration on the data that a network was trained for; what becomes of it elsewhere is open there.

# %% tags=["parameters"]
recorded: str = "fashion-mnist"  # grid whose networks' answers are in results/unknown-inputs
unknown: str = "mnist-5k"  # whose images are unknown: a data set on record
gamma: float = 3.0  # the focal loss of the grid to look at most closely; above 0, one of the grid's
corruptions: str = "gaussian-noise, gaussian-blur, contrast"  # of those on record

# %% tags=["hide-input"]
import numpy as np
import pandas as pd

from focal_lib import metrics
from focal_lib.plots.style import use_style
from reproduction import engine
from reproduction.engine.data import CORRUPTION_KINDS
from reproduction.ledger import claims_of, show
from reproduction.pages.differences import differences
from reproduction.pages.footer import foot
from reproduction.pages.notes import note
from reproduction.pages.plots.curves import panel_figure, point_figure
from reproduction.pages.tables import captioned, in_words
from reproduction.studies.ood.contrasts import (
    detection_by_severity,
    energy_minus_probability,
    evaluate_by_unknown,
    extremes_over_corruptions,
    largest_changes,
    levels_under_shift,
    minus_cross_entropy_under_shift,
    over_severity,
    say_absent,
    say_better,
    say_harm,
    say_significant,
    tabulate_changes,
    tells_apart,
    temperature_changes,
    temperature_under,
)
from reproduction.studies.ood.measures import mean_over_shifts, unknown_images
from reproduction.studies.ood.plan import (
    CIFAR,
    CIFAR_SHIFTS,
    CIFAR_SHOWN,
    FRESH_DIGITS,
    RECORDED_DIGITS,
    SHIFTS,
    corruptions_asked,
    digit_contrasts,
    shift_contrasts,
)
from reproduction.studies.printed_tables import printed_tables
from reproduction.studies.shared.recorded import load_recorded, read_planned, read_shift, read_unknown
from reproduction.studies.shared.written_contrasts import evaluate_contrasts, format_contrasts

use_style()
detected, shifted = read_unknown(recorded, unknown), read_shift(recorded)
gammas = sorted(set(detected["gamma"]) - {0})
focal = f"focal {gamma:g}"
if focal not in set(detected["loss"]):
    raise ValueError(f"gamma must be one of {', '.join(f'{value:g}' for value in gammas)}. Got {gamma:g}.")

# %% [markdown]
# ## What was run

# %% tags=["remove-input"]
planned = read_planned(recorded)
spec = planned[0]
note("unknown", runs=len(planned), seeds=int(detected["seed"].nunique()), n=spec.n_train, epochs=spec.training.epochs)
known = len(load_recorded(recorded)[0].test.labels)
note("unknown", known=known, dataset=in_words(spec.dataset), unknown=in_words(unknown), gamma=gamma)
note("unknown", digits=len(unknown_images(unknown)))
cells = printed_tables().query("table == 'AUROC table' and stage == 'pre'")
printed = cells.pivot(index=["dataset", "network"], columns="loss", values="value")
above = printed.gt(printed["cross-entropy"], axis=0).sum()
note("unknown", rows=len(printed), rows_fcl=above["fcl"], rows_flsd=above["flsd-53"])
note("unknown", networks=printed.index.unique("network").size)

# %% [markdown]
# No network is trained on this page. The {glue:text}`unknown-runs` networks of {ref}`ch-training`, with
# {glue:text}`unknown-n:,` training images and {glue:text}`unknown-epochs` epochs each, {glue:text}`unknown-seeds` seeds
# a loss, are given new images, scaled as their own. Known are the {glue:text}`unknown-known:,` test images of
# {glue:text}`unknown-dataset`, unknown {glue:text}`unknown-digits:,` images of {glue:text}`unknown-unknown`
# ({ref}`page-rerun`). What they said is recorded, their weights are not. Runs of one seed are paired. Every network is
# shown the same images: the intervals are over training, not over images.

# %% tags=["remove-input"]
differences(engine.read_notes("workflow/grids/fashion-mnist-unknown.yaml").differs)

# %% [markdown]
# ## Telling unknown inputs from known ones
#
# One number says how known an input looks, the higher the more: the largest probability, minus the entropy of the
# probabilities, or the energy score
#
# ```{math}
# :label: eq-energy
# \log\sum_i e^{s_i},
# ```
#
# which a constant added to every logit $s_i$ changes, and no probability. **AUROC** is the share of pairs, one known
# and one unknown, in which the known input has the higher score, a tie counting half; one half is guessing. **FPR at
# 95 %** is the share of unknown inputs that pass a threshold which 95 % of the known ones pass.

# %% tags=["hide-input"]
as_trained = detected[detected["method"] == "none"]
means = as_trained.pivot_table(index="loss", columns="metric", values="value", sort=False)
captioned(means, "In per cent, mean over seeds. AUROC: higher is better; FPR at 95 %: lower", precision=1)


# %% tags=["hide-input"]
def by_gamma(score: str) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Gammas, the mean AUROC as trained minus that of cross-entropy, and half of its t interval, paired over seeds."""
    wide = as_trained[as_trained["metric"] == f"auroc {score}"].pivot(index="seed", columns="gamma", values="value")
    found = [metrics.paired_t_interval(wide[g], wide[0.0]) for g in gammas]
    return np.array(gammas), np.array([i.estimate for i in found]), np.array([(i.high - i.low) / 2 for i in found])


scores = {"energy": "energy", "minus entropy": "entropy", "largest probability": "max-probability"}
by_score = {name: by_gamma(score) for name, score in scores.items()}

# %% tags=["remove-input"] mystnb={"image": {"alt": "AUROC minus that of cross-entropy, in points, over the gamma of training, with t intervals: a line each by energy, by minus the entropy and by the largest probability, and 0 as reference."}, "figure": {"name": "fig-unknown-auroc", "caption": "AUROC as trained minus that of cross-entropy, in points, over $\\gamma$ of training, by each score; mean and 95 % t interval over paired seeds, each for itself."}}
point_figure(by_score, r"$\gamma$ of training", "AUROC minus cross-entropy's (points)", reference=0)

# %% [markdown]
# What to compare was written down before any of these networks was shown an image of another kind: by L25's table,
# focal loss should have the higher AUROC and the lower FPR.

# %% tags=["hide-input"]
asked = evaluate_contrasts(detected, digit_contrasts(gammas, gamma))
format_contrasts(asked, "Minus cross-entropy, in points; the others with Holm")

# %% tags=["remove-input"]
chief = asked[asked["primary"]].iloc[0]
note("unknown", chief_signed=chief["difference"], chief_low=chief["low"], chief_high=chief["high"])
note("unknown", chief_said=say_better(chief), chief_smallest=chief["smallest"])
note("unknown", significant=asked["significant"].sum(), contrasts=len(asked))
pairs = as_trained[as_trained["metric"] == "auroc max-probability"].pivot(index="seed", columns="loss", values="value")
lower = pairs.drop(columns="cross-entropy").lt(pairs["cross-entropy"], axis=0)
note("unknown", pairs=lower.size, pairs_lower=lower.to_numpy().sum())
levels = means[[name for name in means if name.startswith("auroc")]]
spread = [(levels.max(axis=axis) - levels.min(axis=axis)).max() for axis in ("columns", "index")]
note("unknown", pairs_chief=lower[focal].sum(), by_score=spread[0], by_loss=spread[1])
note("unknown", score_said="more than" if spread[0] > spread[1] else "less than")
by_energy = asked.set_index("name").loc[f"{focal}, auroc energy"]
note("unknown", energy=by_energy["difference"])
note("unknown", energy_said="significant after Holm" if by_energy["significant"] else "not significant after Holm")

# %% [markdown]
# Of {glue:text}`unknown-contrasts` contrasts {glue:text}`unknown-significant` are significant (5 %; the first by
# itself, the others after Holm). In the first a difference of {glue:text}`unknown-chief-smallest:.1f` points would have
# shown in four of five cases. An early trial for this book had found a lower AUROC with focal loss in each of the few
# pairs of networks that it had. Here, by the largest probability, it is lower in {glue:text}`unknown-pairs-chief` of
# {glue:text}`unknown-seeds` pairs with $\gamma =$ {glue:text}`unknown-gamma:g`, and in {glue:text}`unknown-pairs-lower`
# of {glue:text}`unknown-pairs` over all $\gamma$. For one loss the score changes the mean AUROC by up to
# {glue:text}`unknown-by-score:.1f` points; for one score the loss changes it by up to {glue:text}`unknown-by-loss:.1f`.

# %% tags=["remove-input"]
show("l25.auroc_above_cross_entropy", "l25.focal_digits")

# %% [markdown]
# ## After a temperature, or the map
#
# With two classes the largest probability rises with $|s_1 - s_2|$, and so it does after any temperature and after the
# focal map: both leave AUROC by the largest probability and by entropy as they are. With more classes they need not:
# inputs with the same largest probability differ in the others. L25 prints both, before and after a temperature.

# %% tags=["hide-input"]
scaled = detected[detected["metric"].isin(("auroc max-probability", "auroc entropy", "auroc energy"))]
names = {"none": "as trained", "temperature": "temperature", "focal-temperature": "focal temperature"}
wide = scaled.assign(after=scaled["method"].map(names)).pivot_table(
    index="loss", columns=["metric", "after"], values="value", sort=False
)
caption = "AUROC (%), mean over seeds; scalings fitted by NLL on clean validation images"
captioned(wide.rename_axis(columns=[None, None]), caption, precision=1)

# %% tags=["remove-input"]
by_method = scaled[scaled["metric"] == "auroc max-probability"].pivot_table(
    index=["loss", "seed"], columns="method", values="value"
)
moved = (by_method["temperature"] - by_method["none"]).groupby("loss").mean()
mapped = (by_method["focal-temperature"] - by_method["temperature"]).groupby("loss").mean()
note("unknown", moved_least=moved.min(), moved_most=moved.max(), mapped_least=mapped.min(), mapped_most=mapped.max())

# %% [markdown]
# By the largest probability a temperature changes the mean AUROC of a loss by {glue:text}`unknown-moved-least:+.1f` to
# {glue:text}`unknown-moved-most:+.1f` points; the map after it by {glue:text}`unknown-mapped-least:+.1f` to
# {glue:text}`unknown-mapped-most:+.1f` more. An energy score after the map there is none: the map gives probabilities.
#
# ## Focal calibration loss
#
# The book's grid trains no FCL. It was trained for this, in the same way, with L25's two pairs of $\gamma$ and
# $\lambda$ for CIFAR-10, and FLSD-53 beside it (`workflow/grids/fashion-mnist-unknown.yaml`); what these networks said
# of digits is recorded.

# %% tags=["hide-input"]
recorded = read_unknown("fashion-mnist-unknown", "mnist-5k")
of_fcl = evaluate_contrasts(recorded, RECORDED_DIGITS)
format_contrasts(of_fcl, "Minus cross-entropy, in points, written down before; the others with Holm")

# %% tags=["remove-input"]
fcl = of_fcl[of_fcl["primary"]].iloc[0]
note("unknown", fcl=fcl["difference"], fcl_low=fcl["low"], fcl_high=fcl["high"], fcl_smallest=fcl["smallest"])
cells = cells[cells["loss"].isin(("fcl", "cross-entropy"))].pivot_table(index="dataset", columns="loss", values="value")
gains = cells["fcl"] - cells["cross-entropy"]
note("unknown", fcl_printed_low=gains.min(), fcl_printed_high=gains.max())

# %% [markdown]
# With FCL the AUROC is {glue:text}`unknown-fcl:+.1f` points from that of cross-entropy, by the largest probability
# (95 % t interval {glue:text}`unknown-fcl-low:+.1f` to {glue:text}`unknown-fcl-high:+.1f`). L25's table has
# {glue:text}`unknown-fcl-printed-low:+.1f` and {glue:text}`unknown-fcl-printed-high:+.1f` on its two data sets, on
# average over {glue:text}`unknown-networks` networks of one run each; here {glue:text}`unknown-fcl-smallest:.1f` points
# would have shown in four of five cases.
#
# What {glue:text}`unknown-first-seeds` seeds had suggested was asked of {glue:text}`unknown-fresh-seeds` more, which
# nobody had seen (`workflow/grids/fashion-mnist-fresh.yaml`):

# %% tags=["hide-input"]
on_fresh = read_unknown("fashion-mnist-fresh", "mnist-5k")
fresh = evaluate_contrasts(on_fresh, FRESH_DIGITS)
format_contrasts(fresh, "Minus cross-entropy, in points, of fresh seeds; the others with Holm")

# %% tags=["remove-input"]
again = {row["name"]: row for _, row in fresh.iterrows()}
asked_again = {"energy": "focal 3, auroc energy", "top": "focal 3, auroc max-probability"}
asked_again |= {"fcl": "fcl 4 1.5, auroc max-probability"}
for key, name in asked_again.items():
    row = again[name]
    note(
        "unknown", {f"fresh-{key}": row["difference"], f"fresh-{key}-low": row["low"], f"fresh-{key}-high": row["high"]}
    )
    note("unknown", {f"fresh-{key}-said": "significant" if row["significant"] else "not significant"})
row = again[asked_again["fcl"]]
outside = sum(not row["low"] <= gain <= row["high"] for gain in gains)
note("unknown", first_seeds=recorded["seed"].nunique(), fresh_seeds=on_fresh["seed"].nunique())
note("unknown", fcl_outside=("both inside", "one inside and one outside", "both outside")[outside])

# %% tags=["remove-input"]
gain = energy_minus_probability(detected).mean()
note("unknown", energy_least=gain.min(), energy_most=gain.max())
scored = energy_minus_probability(on_fresh).mean()
note("unknown", fresh_score_least=scored.min(), fresh_score_most=scored.max())

# %% [markdown]
# In brackets 95 % t intervals, each for itself. By energy the AUROC of $\gamma = 3$ is
# {glue:text}`unknown-fresh-energy:+.1f` points from that of cross-entropy
# ({glue:text}`unknown-fresh-energy-low:+.1f` to {glue:text}`unknown-fresh-energy-high:+.1f`),
# {glue:text}`unknown-fresh-energy-said` at 5 %; by the largest probability {glue:text}`unknown-fresh-top:+.2f`
# ({glue:text}`unknown-fresh-top-low:+.2f` to {glue:text}`unknown-fresh-top-high:+.2f`),
# {glue:text}`unknown-fresh-top-said` after Holm's correction. FCL, by the largest probability, is
# {glue:text}`unknown-fresh-fcl:+.2f` ({glue:text}`unknown-fresh-fcl-low:+.2f` to
# {glue:text}`unknown-fresh-fcl-high:+.2f`), {glue:text}`unknown-fresh-fcl-said`; L25's two differences, printed for
# other shifts, are {glue:text}`unknown-fcl-outside` of this interval.
#
# That the score matters, energy in place of the largest probability, was seen in the first seeds and not written down.
# In the runs of this page it is {glue:text}`unknown-energy-least:+.1f` to {glue:text}`unknown-energy-most:+.1f` points,
# means of the losses; on the fresh seeds {glue:text}`unknown-fresh-score-least:+.1f` to
# {glue:text}`unknown-fresh-score-most:+.1f`, and the verdict below is of these. A claim of several parts, all of which
# must hold, is judged part by part without Holm's correction ([](#page-verdicts)); so a part of one below may be
# decided that is not significant in a table here.

# %% tags=["remove-input"]
show("l25.fcl_other_shifts", "l25.flsd53_digits", "l25.energy_fresh_seeds", "l25.energy_above_probability")

# %% [markdown]
# ## Does a calibration hold when the data shift?
#
# The test images are corrupted, as CIFAR-10-C's are made ({cite:t}`hendrycks2019`), at {glue:text}`unknown-severities`
# severities. Temperature and focal temperature scaling are fitted by NLL on clean validation images. Confidence minus
# accuracy says in which direction a network is wrong.

# %% tags=["hide-input"]
kinds = tuple(name.strip() for name in corruptions.split(","))
shifted = shifted[shifted["corruption"].isin(kinds) & shifted["loss"].isin(("cross-entropy", focal))]
images = int(shifted["images"].max())
lines = {
    f"{loss}, {names[method]}": (loss, method)
    for loss in ("cross-entropy", focal)
    for method in ("none", "temperature")
}
panels = {
    in_words(kind): {label: over_severity(shifted, *line, "gap", (kind,)) for label, line in lines.items()}
    for kind in kinds
}

# %% tags=["remove-input"] mystnb={"image": {"alt": "Confidence minus accuracy over the severity of a corruption, a panel each, for cross-entropy and focal loss, as trained and after a temperature fitted on clean images."}, "figure": {"name": "fig-unknown-shift", "caption": "Confidence minus accuracy, in points, over severity (0: clean images), mean and 95 % t interval over seeds. Above 0 a network is overconfident, below 0 underconfident."}}
panel_figure(panels, "severity", "confidence $-$ accuracy (points)", reference=0)

# %% tags=["hide-input"]
of_shift = evaluate_contrasts(mean_over_shifts(shifted), shift_contrasts(gamma))
written = "written down before; " if (gamma, set(kinds)) == (3, set(SHIFTS)) else ""
format_contrasts(of_shift, f"Means over corruptions and severities; {written}the others with Holm")

# %% tags=["hide-input"]
changes = temperature_changes(shifted)
every = f"Holm over all {len(changes)}, not written down before"
caption = f"Adaptive ECE (equal mass) after a temperature minus as trained, in points; * significant at 5 %, {every}"
captioned(tabulate_changes(changes), caption)

# %% tags=["hide-input"]
format_contrasts(largest_changes(changes), f"The largest rise and fall of a loss; {every}", precision=1)

# %% tags=["remove-input"]
clear = changes[changes["significant"]].assign(rises=lambda found: found["difference"] > 0)
for loss, key in (("cross-entropy", "ce"), (focal, "focal")):
    rises = clear.loc[clear["loss"] == loss, "rises"]
    note("unknown", {f"harmed-{key}": rises.sum(), f"helped-{key}": (~rises).sum()})
    note("unknown", {f"harm-{key}": say_harm(changes, loss)})
note("unknown", raised=clear["rises"].sum(), lowered=(~clear["rises"]).sum(), both_cells=len(changes))
note("unknown", severities=changes["severity"].nunique(), cells=len(changes) // 2, images=images)
gain = of_shift.set_index("name")["difference"]
for loss, key in (("cross-entropy", "ce"), (focal, "focal")):
    note("unknown", {f"nll-{key}": gain[f"{loss}: temperature minus none, nll"]})
    note("unknown", {f"map-{key}": gain[f"{loss}: focal-temperature minus temperature, nll"]})
gap = shifted.query("metric == 'gap' and method == 'temperature'").groupby(["corruption", "severity"])["value"].mean()
note("unknown", gap_least=gap.min(), gap_most=gap.max(), gap_where=in_words(" ".join(map(str, gap.idxmin()))))

# %% [markdown]
# On {glue:text}`unknown-images` test images, over all corruptions and severities, the temperature changes the NLL by
# {glue:text}`unknown-nll-ce:+.3f` for cross-entropy and {glue:text}`unknown-nll-focal:+.3f` for focal loss; the map in
# place of the temperature alone by {glue:text}`unknown-map-ce:+.4f` and {glue:text}`unknown-map-focal:+.4f` more. In
# adaptive ECE (equal mass) the temperature is better, after Holm's correction over both losses and all corruptions and
# severities, in {glue:text}`unknown-helped-ce` of {glue:text}`unknown-cells` for cross-entropy and worse in
# {glue:text}`unknown-harmed-ce`; for focal loss better in {glue:text}`unknown-helped-focal` and worse in
# {glue:text}`unknown-harmed-focal` ({glue:text}`unknown-harm-focal`). After it, the mean gap of both losses runs from
# {glue:text}`unknown-gap-least:+.1f` ({glue:text}`unknown-gap-where`) to {glue:text}`unknown-gap-most:+.1f` points. A
# shift may lower the confidence of a network more than its accuracy; then a temperature above 1, right on clean images,
# is wrong in the other direction. Neither the map nor the temperature has a guarantee where the data are other than
# those it was fitted on.
#
# ## From which severity on is a shift noticed?
#
# The other way round, corrupted images are unknown inputs: how well are they told from the same images as they were?
# As trained, not written down before.

# %% tags=["hide-input"]
scored = {"largest probability": "max-probability", "energy": "energy"}
panels = {
    in_words(kind): {
        f"{loss}, {said}": over_severity(shifted, loss, "none", f"auroc {score}", (kind,))
        for loss in ("cross-entropy", focal)
        for said, score in scored.items()
    }
    for kind in kinds
}

# %% tags=["remove-input"] mystnb={"image": {"alt": "AUROC of telling corrupted images from clean ones over the severity of a corruption, a panel each, for cross-entropy and focal loss, by the largest probability and by energy, with one half as reference."}, "figure": {"name": "fig-unknown-severity", "caption": "AUROC (%) of telling corrupted images from the same ones as they were, over severity, as trained; mean and 95 % t interval over seeds, each for itself. Grey line: guessing."}}
panel_figure(panels, "severity", "AUROC (%)", reference=50)

# %% tags=["hide-input"]
by_severity = detection_by_severity(shifted, ["cross-entropy", focal])
caption = (
    "Corrupted images told from clean ones, in per cent: mean over corruptions ± half of a 95 % t interval over seeds"
)
captioned(by_severity, caption)

# %% tags=["remove-input"]
ends = shifted.query("method == 'none' and metric == 'auroc max-probability'")
ends = ends.groupby(["loss", "severity"])["value"].mean().unstack()
for loss, key in (("cross-entropy", "ce"), (focal, "focal")):
    note("unknown", {f"mild-{key}": ends.loc[loss].iloc[0], f"strong-{key}": ends.loc[loss].iloc[-1]})
note("unknown", mild=ends.columns[0], strong=ends.columns[-1])

# %% [markdown]
# By the largest probability, over these corruptions, the AUROC is {glue:text}`unknown-mild-ce:.1f` % at severity
# {glue:text}`unknown-mild` and {glue:text}`unknown-strong-ce:.1f` % at severity {glue:text}`unknown-strong` with
# cross-entropy; {glue:text}`unknown-mild-focal:.1f` and {glue:text}`unknown-strong-focal:.1f` % with focal loss.
#
# (sec-unknown-cifar)=
# ## CIFAR-10, and its corruptions
#
# {glue:text}`unknown-cifar-runs` networks were trained for this on {glue:text}`unknown-cifar-n:,` images of CIFAR-10,
# {glue:text}`unknown-cifar-seeds` seeds a loss (`workflow/grids/cifar10-unknown.yaml`); a seed is also a split of the
# training images. What they said is recorded, their weights are not: of CIFAR-100's test images and of CIFAR-10's under
# the strongest Gaussian noise, as unknown inputs; and of the first {glue:text}`unknown-cifar-images:,` of CIFAR-10's
# test images under {glue:text}`unknown-cifar-made` corruptions at {glue:text}`unknown-cifar-severities` severities.
# Of the {glue:text}`unknown-cifar-main` main ones of CIFAR-10-C these are {glue:text}`unknown-cifar-of-main`; missing
# in the record: {glue:text}`unknown-cifar-absent`. All can be made here, with the authors' settings for images of this
# size and other random numbers, frost from the authors' photographs, motion blur with ImageMagick's kernel computed
# here; the commands at the end of this section show them to networks trained anew. Temperatures are fitted by NLL on
# {glue:text}`unknown-cifar-validation:,` clean images. All networks see the same images, so that intervals are over
# training and not over images.

# %% tags=["hide-input"]
cifar = "cifar10-unknown"
notes = engine.read_notes(f"workflow/grids/{cifar}.yaml")
under = read_shift(cifar)
small = engine.read_grid(f"workflow/grids/{cifar}.yaml")
seen, made = int(under["images"].max()), under["corruption"].nunique()
note("unknown", cifar_runs=len(small), cifar_n=small[0].n_train, cifar_validation=small[0].n_validation)
note("unknown", cifar_seeds=under["seed"].nunique(), cifar_made=made, cifar_images=seen)
note("unknown", cifar_severities=under.loc[under["severity"] > 0, "severity"].nunique())
main = {name for kind in CORRUPTION_KINDS.values() for name in kind}
note("unknown", cifar_main=len(main), cifar_of_main=len(main & set(under["corruption"])))
note("unknown", cifar_absent=say_absent(under))
differences(notes.differs, notes.missing)

# %% tags=["hide-input"]
levels = levels_under_shift(under)
captioned(levels, "Clean images, and the mean over corruptions and severities; means over seeds", precision=2)

# %% tags=["remove-input"]
errors = levels["error (%)", "clean"]
note("unknown", cifar_error_least=errors.min(), cifar_error_most=errors.max())
right = 1 - errors.mean() / 100
note("unknown", cifar_floor=100 * np.sqrt(2 / np.pi * right * (1 - right) * 15 / seen), cifar_right=100 * right)
for loss, key in (("cross-entropy", "ce"), ("focal 3", "focal")):
    for said, method in (("as trained", "none"), ("temperature", "temperature")):
        _, shifted = levels.loc[loss, f"adaptive ECE (%), {said}"]
        note("unknown", {f"cifar-{method}-{key}-shifted": shifted})

# %% [markdown]
# These networks are small and have seen few images: they err in {glue:text}`unknown-cifar-error-least:.0f` to
# {glue:text}`unknown-cifar-error-most:.0f` % of clean ones, means of the losses. What holds of them need not hold of
# the papers' networks. An ECE of {glue:text}`unknown-cifar-images:,` images is not 0 for a calibrated network either:
# with {glue:text}`unknown-cifar-right:.0f` % of the images right, noise alone makes it up to about
# {glue:text}`unknown-cifar-floor:.1f` %.
#
# What to compare was written down before these networks were trained. On corrupted images: the scalings of
# cross-entropy and of $\gamma = 3$, with the signs that KK24 finds on clean ones.

# %% tags=["hide-input"]
asked = corruptions_asked(under)
of_cifar = evaluate_contrasts(mean_over_shifts(asked), CIFAR_SHIFTS)
format_contrasts(of_cifar, "CIFAR-10: means over the corruptions asked and severities; the others with Holm")

# %% tags=["hide-input"]
lines = {f"{loss}, {said}": (loss, method) for loss in ("cross-entropy", "focal 3") for method, said in names.items()}
panels = {
    kind: {label: over_severity(under, *line, "adaptive-ece", kinds) for label, line in lines.items()}
    for kind, kinds in CORRUPTION_KINDS.items()
}

# %% tags=["remove-input"] mystnb={"image": {"alt": "Adaptive ECE over the severity of corruptions, a panel for each kind of them, for cross-entropy and focal loss with gamma 3: as trained, after a temperature and after focal temperature scaling fitted on clean images."}, "figure": {"name": "fig-unknown-cifar", "caption": "Adaptive ECE (equal mass, %) of networks on CIFAR-10 over severity (0: clean images), the mean over the three or four corruptions of a kind, with 95 % t intervals over seeds, each for itself. Markers are full as trained, empty after a temperature, half full after focal temperature scaling; curves stand a little aside of each other."}}
panel_figure(panels, "severity", "adaptive ECE (%)", aside=True)

# %% tags=["remove-input"]
note("unknown", cifar_shift=say_significant(of_cifar))
by_name = of_cifar.set_index("name")
minuses = {"scaled": "temperature minus none", "map": "focal-temperature minus temperature"}
for loss, key in (("cross-entropy", "ce"), ("focal 3", "focal")):
    for what, minus in minuses.items():
        for metric, of in (("adaptive-ece", ""), ("nll", "-nll")):
            row = by_name.loc[f"{loss}: {minus}, {metric}"]
            note("unknown", {f"cifar-{what}{of}-{key}": row["difference"]})
            note("unknown", {f"cifar-{what}{of}-{key}-low": row["low"], f"cifar-{what}{of}-{key}-high": row["high"]})
    note(
        "unknown",
        {f"cifar-significant-{key}": int(of_cifar[of_cifar["name"].str.startswith(loss)]["significant"].sum())},
    )
    for said, (name, value) in zip(("least", "most"), extremes_over_corruptions(under, loss), strict=True):
        note("unknown", {f"cifar-{said}-{key}": value, f"cifar-{said}-{key}-name": in_words(name)})

# %% tags=["remove-input"]
with_all = evaluate_contrasts(mean_over_shifts(under), CIFAR_SHIFTS).set_index("name")
later = sorted(set(under["corruption"]) - set(asked["corruption"]))
chief = with_all.loc["cross-entropy: focal-temperature minus temperature, nll"]
alike = int((with_all["significant"] == by_name["significant"]).sum())
more = (
    "They are over the corruptions that could be made when they were written down; with "
    f"{', '.join(map(in_words, later))}, made later, the primary one is {chief['difference']:+.4f} "
    f"({chief['low']:+.4f} to {chief['high']:+.4f}), and "
    f"{alike} of {len(with_all)} are as significant, or not, as before."
)
note("unknown", cifar_later=more if later else "")

# %% tags=["remove-input"]
reduced = metrics.t_interval(temperature_under(under, "contrast", "focal 3"))
note("unknown", cifar_contrast=reduced.estimate, cifar_contrast_low=reduced.low, cifar_contrast_high=reduced.high)
afterwards = minus_cross_entropy_under_shift(under, "focal 3")
for (metric, method), row in afterwards.iterrows():
    note("unknown", {f"cifar-loss-{metric}-{method}": row["difference"]})
    note(
        "unknown", {f"cifar-loss-{metric}-{method}-low": row["low"], f"cifar-loss-{metric}-{method}-high": row["high"]}
    )

# %% [markdown]
# Of these contrasts {glue:text}`unknown-cifar-shift`: {glue:text}`unknown-cifar-significant-ce` of cross-entropy and
# {glue:text}`unknown-cifar-significant-focal` of $\gamma = 3$. In brackets are 95 % t intervals over seeds, each for
# itself, before Holm. {glue:text}`unknown-cifar-later:s` A temperature changes the adaptive ECE of cross-entropy
# by {glue:text}`unknown-cifar-scaled-ce:+.1f` points ({glue:text}`unknown-cifar-scaled-ce-low:+.1f` to
# {glue:text}`unknown-cifar-scaled-ce-high:+.1f`) and that of $\gamma = 3$ by
# {glue:text}`unknown-cifar-scaled-focal:+.1f` ({glue:text}`unknown-cifar-scaled-focal-low:+.1f` to
# {glue:text}`unknown-cifar-scaled-focal-high:+.1f`). The primary one, the map in place of the temperature for
# cross-entropy by NLL, is {glue:text}`unknown-cifar-map-nll-ce:+.4f` ({glue:text}`unknown-cifar-map-nll-ce-low:+.4f` to
# {glue:text}`unknown-cifar-map-nll-ce-high:+.4f`). For $\gamma = 3$ the map changes the NLL by
# {glue:text}`unknown-cifar-map-nll-focal:+.3f` ({glue:text}`unknown-cifar-map-nll-focal-low:+.3f` to
# {glue:text}`unknown-cifar-map-nll-focal-high:+.3f`) and the adaptive ECE by
# {glue:text}`unknown-cifar-map-focal:+.2f` points ({glue:text}`unknown-cifar-map-focal-low:+.2f` to
# {glue:text}`unknown-cifar-map-focal-high:+.2f`).
#
# Not written down before, with the same kind of intervals: where contrast is reduced, a temperature changes the
# adaptive ECE of $\gamma = 3$ by {glue:text}`unknown-cifar-contrast:+.1f` points
# ({glue:text}`unknown-cifar-contrast-low:+.1f` to {glue:text}`unknown-cifar-contrast-high:+.1f`), mean over severities.
# $\gamma = 3$ minus cross-entropy is, in adaptive ECE,
# {glue:text}`unknown-cifar-loss-adaptive-ece-none:+.1f` points as trained
# ({glue:text}`unknown-cifar-loss-adaptive-ece-none-low:+.1f` to
# {glue:text}`unknown-cifar-loss-adaptive-ece-none-high:+.1f`) and
# {glue:text}`unknown-cifar-loss-adaptive-ece-temperature:+.1f` after a temperature
# ({glue:text}`unknown-cifar-loss-adaptive-ece-temperature-low:+.1f` to
# {glue:text}`unknown-cifar-loss-adaptive-ece-temperature-high:+.1f`); in NLL
# {glue:text}`unknown-cifar-loss-nll-none:+.2f` and {glue:text}`unknown-cifar-loss-nll-temperature:+.3f`
# ({glue:text}`unknown-cifar-loss-nll-temperature-low:+.3f` to
# {glue:text}`unknown-cifar-loss-nll-temperature-high:+.3f`). Corruptions differ: as trained and at the highest
# severity, the adaptive ECE of cross-entropy runs from {glue:text}`unknown-cifar-least-ce:.1f` %
# ({glue:text}`unknown-cifar-least-ce-name`) to {glue:text}`unknown-cifar-most-ce:.1f` %
# ({glue:text}`unknown-cifar-most-ce-name`), that of $\gamma = 3$ from {glue:text}`unknown-cifar-least-focal:.1f` %
# ({glue:text}`unknown-cifar-least-focal-name`) to {glue:text}`unknown-cifar-most-focal:.1f` %
# ({glue:text}`unknown-cifar-most-focal-name`).
#
# As unknown inputs: the losses against cross-entropy by the largest probability, with the sign that L25's table has for
# FLSD-53 and FCL, and the same sign asked of $\gamma = 3$.

# %% tags=["hide-input"]
told = evaluate_by_unknown(cifar, CIFAR, CIFAR_SHOWN)
format_contrasts(told, "AUROC minus that of cross-entropy, in points; the others with Holm, by what is shown")

# %% tags=["hide-input"]
answers = pd.concat([read_unknown(cifar, name) for name in CIFAR_SHOWN])
by_shown = [energy_minus_probability(part).mean() for _, part in answers.groupby("unknown")]
answers = answers[answers["method"] == "none"]
aurocs = answers.pivot_table(index="loss", columns=["unknown", "metric"], values="value", sort=False)
caption = "AUROC and FPR at 95 % as trained, in per cent, means over seeds"
captioned(aurocs.rename_axis(index=None, columns=[None, None]), caption, precision=1)

# %% tags=["remove-input"]
note("unknown", cifar_score_least=min(map(min, by_shown)), cifar_score_most=max(map(max, by_shown)))

# %% tags=["remove-input"]
note("unknown", cifar_detection=say_significant(told))
chiefs = told[told["primary"]].set_index("table")
energy = [contrast for contrast in digit_contrasts((3,)) if contrast.metric == "auroc energy"]
for key, name in (("hundred", "cifar100"), ("noise", "cifar10-c-gaussian-noise-5")):
    by_energy = evaluate_contrasts(read_unknown(cifar, name), energy).iloc[0]
    for of, row in (("fcl", chiefs.loc[f"FCL, {name}"]), ("energy", by_energy)):
        note(
            "unknown",
            {f"{key}-{of}": row["difference"], f"{key}-{of}-low": row["low"], f"{key}-{of}-high": row["high"]},
        )
    note("unknown", {f"{key}-smallest": chiefs.loc[f"FCL, {name}"]["smallest"]})
    note(
        "unknown",
        {f"{key}-auroc-{end}": getattr(aurocs[name]["auroc max-probability"], end)() for end in ("min", "max")},
    )

# %% [markdown]
# Of these contrasts {glue:text}`unknown-cifar-detection`. In brackets 95 % t intervals, each for itself. By the largest
# probability the AUROC of FCL with $\gamma = 4$, $\lambda = 1.5$ is {glue:text}`unknown-hundred-fcl:+.1f` points from
# that of cross-entropy on CIFAR-100
# ({glue:text}`unknown-hundred-fcl-low:+.1f` to {glue:text}`unknown-hundred-fcl-high:+.1f`), where
# {glue:text}`unknown-hundred-smallest:.1f` points would have shown in four of five cases if seeds scatter as these do,
# and {glue:text}`unknown-noise-fcl:+.1f` on noise ({glue:text}`unknown-noise-fcl-low:+.1f` to
# {glue:text}`unknown-noise-fcl-high:+.1f`), where {glue:text}`unknown-noise-smallest:.1f` would have. The levels tell
# how much there is to compare: by the largest probability {glue:text}`unknown-hundred-auroc-min:.1f` to
# {glue:text}`unknown-hundred-auroc-max:.1f` % over the losses on CIFAR-100, and on noise
# {glue:text}`unknown-noise-auroc-min:.1f` to {glue:text}`unknown-noise-auroc-max:.1f` %, where guessing has one half.
# Not written down before: energy in place of the largest probability changes the mean AUROC of a loss by
# {glue:text}`unknown-cifar-score-least:+.1f` to {glue:text}`unknown-cifar-score-most:+.1f` points here. By energy,
# which told digits from garments, $\gamma = 3$ is {glue:text}`unknown-hundred-energy:+.1f` points from cross-entropy on
# CIFAR-100
# ({glue:text}`unknown-hundred-energy-low:+.1f` to {glue:text}`unknown-hundred-energy-high:+.1f`) and
# {glue:text}`unknown-noise-energy:+.1f` on noise ({glue:text}`unknown-noise-energy-low:+.1f` to
# {glue:text}`unknown-noise-energy-high:+.1f`).
#
# Corrupted images as unknown inputs, severity by severity and over all corruptions, not written down before:
# {glue:text}`unknown-cifar-severity:s`.

# %% tags=["hide-input"]
recorded_apart = tells_apart(under)
here = "below, as trained, against the same images as they were"
absent = (
    "the record was made before that was measured and has no such rows; the last of the commands below records them"
)
note("unknown", cifar_severity=here if recorded_apart else absent)
caption = "Corrupted images against clean ones, as trained, in per cent: mean over seeds ± half of its 95 % t interval"
captioned(detection_by_severity(under, ["cross-entropy", "focal 3"]), caption) if recorded_apart else None

# %% [markdown]
# Other images, SVHN among them, are shown to these networks once their weights are there, and to those of L25's size
# (`l25-tables`, for a GPU) likewise; SVHN is fetched, or read from `FOCAL_DATA/svhn` ([](#page-rerun)). The AUROCs are
# printed, the table goes to `_build/unknown-inputs`. Without `--shown` the record is made anew, of all
# corruptions; the networks are trained in less than an hour of one core.
#
# ```sh
# focal grid workflow/grids/cifar10-unknown.yaml --cores 2
# python -m reproduction.studies.ood.record cifar10-unknown --shown svhn cifar10-c-frost-3
# python -m reproduction.studies.ood.record l25-tables --shown svhn cifar10-c-gaussian-noise-5
# python -m reproduction.studies.ood.record cifar10-unknown
# ```
#
# ```{exercise}
# :label: ex-unknown-two-classes
# With two classes, which of the three scores can a temperature change the AUROC of?
# ```
#
# ```{solution} ex-unknown-two-classes
# :class: dropdown
# Of energy alone. The largest probability and the entropy are functions of $|s_1 - s_2|$, one rising and one falling,
# and dividing by $T$ keeps the order; $\log(e^{s_1/T} + e^{s_2/T})$ also knows how large both are.
# ```
#
# :::{admonition} What to remember
# :class: tip
# * By the largest probability, the AUROC of telling unknown images from known ones with focal loss,
#   $\gamma =$ {glue:text}`unknown-gamma:g`, is {glue:text}`unknown-chief-signed:+.1f` points from that with
#   cross-entropy, 95 % t interval {glue:text}`unknown-chief-low:+.1f` to {glue:text}`unknown-chief-high:+.1f`. A
#   difference of {glue:text}`unknown-chief-smallest:.1f` points would have shown in four of five cases.
# * For one loss the score changes the mean AUROC by up to {glue:text}`unknown-by-score:.1f` points, for one score the
#   loss by up to {glue:text}`unknown-by-loss:.1f`. On fresh seeds energy in place of the largest probability is
#   {glue:text}`unknown-fresh-score-least:+.1f` to {glue:text}`unknown-fresh-score-most:+.1f` points, means of the
#   losses; of the networks on CIFAR-10 {glue:text}`unknown-cifar-score-least:+.1f` to
#   {glue:text}`unknown-cifar-score-most:+.1f`.
# * A temperature fitted on clean images changes the NLL on corrupted ones by {glue:text}`unknown-nll-ce:+.2f` for
#   cross-entropy and {glue:text}`unknown-nll-focal:+.2f` for focal loss, on average. For focal loss it raises the
#   adaptive ECE significantly (5 %, Holm over all) in {glue:text}`unknown-harmed-focal` of {glue:text}`unknown-cells`
#   corruptions and severities, and lowers it in {glue:text}`unknown-helped-focal`.
# * On data of another kind than those of training, or of the fit, neither the map nor a temperature has a guarantee.
# * The networks on CIFAR-10 are small and err in {glue:text}`unknown-cifar-error-least:.0f` to
#   {glue:text}`unknown-cifar-error-most:.0f` % of clean images; on noise the AUROC by the largest probability is
#   {glue:text}`unknown-noise-auroc-min:.1f` to {glue:text}`unknown-noise-auroc-max:.1f` %. On corrupted images the
#   adaptive ECE of $\gamma = 3$ is {glue:text}`unknown-cifar-none-focal-shifted:.1f` % as trained, that of
#   cross-entropy {glue:text}`unknown-cifar-temperature-ce-shifted:.1f` % after a temperature.
# :::
#
# ## Verdict

# %% tags=["remove-input"]
show(
    "kk24.temperature_under_shift",
    "kk24.temperature_ece_under_shift",
    "kk24.focal_scaling_under_shift",
    "kk24.temperature_harms_under_contrast",
)

# %% [markdown]
# Of the networks on CIFAR-10:

# %% tags=["remove-input"]
show(
    "kk24.temperature_under_shift_cifar",
    "kk24.temperature_ece_under_shift_cifar",
    "kk24.focal_scaling_under_shift_cifar",
    "kk24.temperature_harms_cifar",
    "l25.fcl_cifar",
    "l25.flsd53_cifar",
    "l25.energy_above_probability_cifar",
)

# %% tags=["remove-input"]
claims_of("unknown_inputs")

# %% tags=["remove-input"]
foot("unknown_inputs", recorded=recorded, unknown=unknown, gamma=gamma, corruptions=corruptions)
