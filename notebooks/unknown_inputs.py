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
# **The question.** A network that sorts garments will one day be shown something else. Does focal loss help to notice
# that? And does a temperature fitted on clean images still calibrate when images get worse? **In short:**
#
# * By the largest probability, no network here notices unknown images measurably better with focal loss, or with focal
#   calibration loss (FCL).
# * By another score, energy, focal loss notices digits among garments better. On CIFAR-10 we could not show it.
# * A temperature fitted on clean images helps cross-entropy under most corruptions. Under reduced contrast it can make
#   focal loss worse.
#
# :::{admonition} As printed: L25 section 5.4
# 'Across most datasets, FCL consistently achieves the highest AUROC, outperforming other models in handling OoD data.'
# 'This suggests that the FCL generalize well across different types of OoD shifts.'
# :::
#
# Liang et al. (L25) tell the test images of CIFAR-10 from SVHN and from CIFAR-10-C, with four large networks. The text
# that we read names neither the score nor the corruption. In its table FCL has a higher AUROC than cross-entropy in
# every row ({ref}`ch-published`). Komisarenko and Kull (KK24) measure calibration on the data that a network was
# trained for, and leave open what becomes of it elsewhere.

# %% tags=["parameters"]
recorded: str = "fashion-mnist"  # grid whose networks' answers are in results/unknown-inputs
unknown: str = "mnist-5k"  # whose images are unknown: a data set on record
gamma: float = 3.0  # the focal loss of the grid to look at most closely; above 0, one of the grid's
corruptions: str = "gaussian-noise, gaussian-blur, contrast"  # of those on record

# %% tags=["hide-input"]
import numpy as np
import pandas as pd

from focal_lib.metrics.detection import DETECTION_SCORES, auroc
from focal_lib.plots.style import use_style
from reproduction import engine
from reproduction.ledger import claims_of, show
from reproduction.pages.differences import folded_differences
from reproduction.pages.expected import written_for
from reproduction.pages.footer import foot
from reproduction.pages.notes import note
from reproduction.pages.plots.curves import panel_figure, point_figure
from reproduction.pages.tables import captioned, in_words
from reproduction.studies.ood import contrasts
from reproduction.studies.ood.measures import mean_over_shifts
from reproduction.studies.ood.plan import CIFAR, CIFAR_SHOWN, RECORDED_DIGITS, digit_contrasts, shift_contrasts
from reproduction.studies.shared.recorded import read_shift, read_unknown
from reproduction.studies.shared.written_contrasts import evaluate_contrasts

use_style()
expect = written_for("unknown_inputs", globals())
focal = f"focal {gamma:g}"
detected, shifted = read_unknown(recorded, unknown), read_shift(recorded)
if focal not in set(detected["loss"]):
    known = ", ".join(f"{value:g}" for value in sorted(set(detected["gamma"]) - {0}))
    raise ValueError(f"gamma must be one of {known}. Got {gamma:g}.")

# %% [markdown]
# ## How known does an input look?
#
# To notice unknown inputs one needs a score, higher for what looks known. Three are common: the largest probability,
# minus the entropy of the probabilities, and the energy score
#
# ```{math}
# :label: eq-energy
# \log\sum_i e^{s_i}
# ```
#
# of the logits $s_i$. Add a constant to every logit of an input: no probability changes, and the energy changes by that
# constant. So energy sees how large the logits are, and the other two do not.
#
# **AUROC** is the share of pairs, one known and one unknown input, in which the known one has the higher score. One
# half is guessing. Take three known inputs, and three unknown ones whose logits are the same but for a constant:

# %%
garments = np.array([[5.0, 2.0, 0.0], [6.0, 1.0, 1.0], [4.0, 3.0, 0.0]])
digits = garments - 4  # the same probabilities
known_as = {
    in_words(name): [score(images).round(9) for images in (garments, digits)]
    for name, score in DETECTION_SCORES.items()
}
toy = pd.DataFrame({f"by {name}": [100 * auroc(*pair)] for name, pair in known_as.items()})
captioned(toy, "AUROC (%) of the made-up inputs", precision=0, index=False)

# %% tags=["remove-cell"]
expect(toy.iloc[0, 0] == 50 and toy.iloc[0, -1] == 100, "only energy sees a constant that is added to the logits")

# %% [markdown]
# ## Digits among garments
#
# Networks trained on garments of Fashion-MNIST are shown handwritten digits. None had seen a digit before.

# %%
scores = {"energy": "energy", "minus entropy": "entropy", "largest probability": "max-probability"}
by_score = {said: contrasts.auroc_by_gamma(detected, score) for said, score in scores.items()}

# %% tags=["remove-input"] mystnb={"image": {"alt": "AUROC minus that of cross-entropy, in points, over the gamma of training, with t intervals: a line each by energy, by minus the entropy and by the largest probability, and 0 as reference. Energy rises with gamma, the largest probability stays near 0."}, "figure": {"name": "fig-unknown-auroc", "caption": "By energy, focal loss notices digits the better the larger $\\gamma$ is; by the largest probability it does not. AUROC minus that of cross-entropy, in points, as trained; mean and 95 % t interval over paired seeds."}}
point_figure(by_score, r"$\gamma$ of training", "AUROC minus cross-entropy's (points)", reference=0)

# %% [markdown]
# By the largest probability, which is what most people look at, the loss makes no measurable difference. By energy
# $\gamma = 3$ gains {glue:text}`unknown-energy:.1f` points. So the choice of the score matters more than the loss: for
# one loss it moves the AUROC by up to {glue:text}`unknown-by-score:.0f` points.
#
# Does that repeat? We trained networks with fresh seeds, networks with FCL, and small networks on CIFAR-10, which are
# shown CIFAR-100 and the strongest Gaussian noise of CIFAR-10-C:

# %%
sets = {
    ("fashion-mnist", "mnist-5k"): "garments, shown digits",
    ("fashion-mnist-unknown", "mnist-5k"): "garments, shown digits (FCL)",
    ("fashion-mnist-fresh", "mnist-5k"): "the same, fresh seeds",
    ("cifar10-unknown", "cifar100"): "CIFAR-10, shown CIFAR-100",
    ("cifar10-unknown", "cifar10-c-gaussian-noise-5"): "CIFAR-10, shown noise",
}
trained = {"fashion-mnist": ["focal 3"], "fashion-mnist-unknown": ["fcl 4 1.5"]}
compared = [(grid, shown, loss) for grid, shown in sets for loss in trained.get(grid, ["focal 3", "fcl 4 1.5"])]
gains = contrasts.detection_gains(compared, ["max-probability", "energy"])
caption = "AUROC (%) of cross-entropy, and a loss minus that of cross-entropy, in points (95 % t interval over seeds)"
captioned(contrasts.tabulate_gains(gains, sets), caption, precision=1, index=False, spelt=True)

# %% tags=["remove-cell"]
asked = evaluate_contrasts(detected, digit_contrasts(sorted(set(detected["gamma"]) - {0}), gamma)).set_index("name")
chief, by_energy = (asked.loc[f"{focal}, auroc {score}"] for score in ("max-probability", "energy"))
note("unknown", energy=by_energy["difference"], smallest=chief["smallest"])
by_top = asked[asked["metric"] == "auroc max-probability"]
expect(not by_top["significant"].any(), "by the largest probability focal loss is not measurably better or worse")
expect(by_energy["significant"] and by_energy["difference"] > 0, "by energy focal loss is better")
planned = [evaluate_contrasts(read_unknown("fashion-mnist-unknown", "mnist-5k"), RECORDED_DIGITS)]
planned += [contrasts.evaluate_by_unknown("cifar10-unknown", CIFAR, CIFAR_SHOWN)]
expect(not pd.concat(planned)["significant"].any(), "no contrast with FCL, FLSD-53 or on CIFAR-10 is significant")
fresh = gains[gains["grid"] == "fashion-mnist-fresh"].set_index(["loss", "score"])
of_fcl = fresh.loc[("fcl 4 1.5", "max-probability")]
note("unknown", fcl=of_fcl["difference"], fcl_high=of_fcl["high"])
expect(of_fcl["low"] < 0 < of_fcl["high"], "fresh seeds do not decide about FCL")
expect(fresh.loc[("focal 3", "energy"), "low"] > 0, "fresh seeds repeat the gain by energy")
expect(fresh.loc[("focal 3", "max-probability"), "high"] < 0, "with fresh seeds the largest probability does worse")

# %% tags=["remove-cell"]
on_cifar = gains[gains["grid"] == "cifar10-unknown"]
expect(((on_cifar["low"] < 0) & (on_cifar["high"] > 0)).all(), "on CIFAR-10 nothing is decided")
noise = on_cifar.loc[on_cifar["unknown"] != "cifar100", "cross-entropy"]
expect(noise.between(45, 55).all(), "networks on CIFAR-10 hardly notice noise")
aurocs = detected.pivot_table(index="loss", columns=["method", "metric"], values="value")
levels = aurocs["none"][[f"auroc {score}" for score in scores.values()]]
by_score, by_loss = (levels.max(axis=axis) - levels.min(axis=axis) for axis in ("columns", "index"))
note("unknown", by_score=by_score.max())
expect(by_score.min() > by_loss.max(), "the score matters more than the loss")
plain, scaled, mapped = (aurocs[m]["auroc max-probability"] for m in ("none", "temperature", "focal-temperature"))
note("unknown", moved=(scaled - plain)["cross-entropy"])
expect((scaled > plain).all(), "a temperature raises AUROC by the largest probability")
expect((mapped > scaled).drop("cross-entropy").all(), "and the map adds to it")

# %% [markdown]
# * *Focal loss, energy.* Fresh seeds repeat the gain on digits. On CIFAR-10 neither a gain nor a loss is shown.
# * *Focal loss, largest probability.* Undecided: the contrast planned first would have shown
#   {glue:text}`unknown-smallest:.1f` points in four of five cases. With fresh seeds it is lower; that is not
#   significant after Holm's correction.
# * *FCL.* L25's claim is not borne out here, and not refuted: our networks are small, and the images are other ones.
#   With fresh seeds FCL differs by {glue:text}`unknown-fcl:+.1f` points, and gains of more than
#   {glue:text}`unknown-fcl-high:.1f` lie outside the interval.
# * *A temperature* fitted on clean images raises the AUROC by the largest probability, for cross-entropy by
#   {glue:text}`unknown-moved:.1f` points. For networks trained with focal loss the map after it adds a little more.
#
# The small networks on CIFAR-10 can hardly tell strong noise from clean images, whatever the loss.
#
# ## Does a calibration survive a shift?
#
# Test images are corrupted as those of CIFAR-10-C are {cite:p}`hendrycks2019`. The temperature is fitted on clean
# validation images. Above zero a network is overconfident, below zero underconfident:

# %%
kinds = tuple(name.strip() for name in corruptions.split(","))
both = ("cross-entropy", focal)
shifted = shifted[shifted["corruption"].isin(kinds) & shifted["loss"].isin(both)]
methods = {"as trained": "none", "temperature": "temperature"}
lines = {f"{loss}, {said}": (loss, method) for loss in both for said, method in methods.items()}
panels = {
    in_words(kind): {label: contrasts.over_severity(shifted, *line, "gap", (kind,)) for label, line in lines.items()}
    for kind in kinds
}

# %% tags=["remove-input"] mystnb={"image": {"alt": "Confidence minus accuracy over the severity of a corruption, a panel each for noise, blur and contrast, for cross-entropy and focal loss, as trained and after a temperature fitted on clean images. Under contrast the lines after a temperature fall far below zero."}, "figure": {"name": "fig-unknown-shift", "caption": "Noise and blur hardly change what a temperature corrected. Reduced contrast lowers confidence more than accuracy, and the temperature then makes both networks underconfident. Confidence minus accuracy, in points, over severity (0: clean); mean and 95 % t interval over seeds."}}
panel_figure(panels, "severity", "confidence $-$ accuracy (points)", reference=0)

# %%
changes = contrasts.temperature_changes(shifted)
caption = "Adaptive ECE (bins of equal mass) after a temperature minus as trained; * significant (Holm over all)"
captioned(contrasts.tabulate_changes(changes), caption)

# %% tags=["remove-cell"]
scaled = shifted.query("metric == 'gap' and method == 'temperature'")
gap = scaled.groupby(["corruption", "severity", "loss"], as_index=False)["value"].mean()
reduced = gap["corruption"] == "contrast"
expect((gap[reduced & gap["severity"].isin([2, 3, 4])]["value"] < -10).all(), "underconfident under contrast")
expect(gap[~reduced]["value"].between(-5, 5).all(), "noise and blur change little")
clear = changes[changes["significant"]]
up, down = clear[clear["difference"] > 0], clear[clear["difference"] < 0]
expect(set(up["name"]) == {"focal 3, contrast 2", "focal 3, contrast 3"}, "it harms where the text says")
expect((down["loss"] == "cross-entropy").sum() == 11, "it helps under noise and blur at every severity")
of_shift = evaluate_contrasts(mean_over_shifts(shifted), shift_contrasts(gamma))
undecided = of_shift["name"].str.contains("focal-temperature") | of_shift["name"].str.startswith(f"{focal}: temp")
expect(not of_shift[undecided]["significant"].any(), "undecided on average over corruptions")

# %% [markdown]
# For cross-entropy the temperature lowers the calibration error under noise and blur, at every severity. For focal loss
# there is less to correct. Under reduced contrast, severity 2 and 3, the temperature makes focal loss significantly
# worse. On average over corruptions its effect on focal loss is undecided. So is whether the focal map that KK24 add to
# a temperature changes anything.
#
# Would the shift be noticed? Hardly, while it is mild, with either loss:

# %%
noticed = shifted.query("method == 'none' and metric == 'auroc max-probability'")
noticed = noticed.pivot_table(index="severity", columns="loss", values="value")
captioned(noticed, "AUROC (%) of corrupted against clean images, by the largest probability, as trained", precision=1)

# %% tags=["remove-cell"]
expect((noticed.max(axis="columns") - noticed.min(axis="columns")).max() < 2, "with either loss")
expect((noticed.iloc[0] < 55).all(), "mild corruptions are hardly noticed")

# %% [markdown]
# (sec-unknown-cifar)=
# ## CIFAR-10 and its corruptions
#
# The same question, with small networks on CIFAR-10 and
# {glue:text}`unknown-cifar-made` corruptions at five severities:

# %%
under = read_shift("cifar10-unknown")
levels = contrasts.levels_under_shift(under)
shown = levels[[name for name in levels if not name[0].startswith("NLL")]]
captioned(shown, "Clean images, and the mean over corruptions and severities; means over seeds", precision=1)

# %% tags=["remove-cell"]
minus = contrasts.minus_cross_entropy_under_shift(under, "focal 3")
expect(minus.loc[("adaptive-ece", "none"), "high"] < 0, "as trained focal loss is far better calibrated under shift")
after = minus.loc[("adaptive-ece", "temperature")]
expect(after["low"] < 0 < after["high"], "after a temperature the difference is undecided")
note("unknown", cifar_made=under["corruption"].nunique(), images=int(under["images"].max()))
note("unknown", ce=levels.loc["cross-entropy", ("adaptive ECE (%), as trained", "corrupted")])
note("unknown", ce_after=levels.loc["cross-entropy", ("adaptive ECE (%), temperature", "corrupted")])
by_seed = contrasts.temperature_under(under, "contrast", "focal 3")
expect(by_seed.min() < 0 < by_seed.max(), "on CIFAR-10 harm under contrast is undecided")
wrong = levels["error (%)", "clean"].mean() / 100
note("unknown", floor=100 * np.sqrt(2 / np.pi * wrong * (1 - wrong) * 15 / under["images"].max()))
expect(levels["error (%)", "clean"].between(40, 50).all(), "the networks err on more than four of ten clean images")

# %% [markdown]
# As trained, focal loss is much better calibrated than cross-entropy on corrupted images. A temperature takes
# cross-entropy from {glue:text}`unknown-ce:.1f` to {glue:text}`unknown-ce-after:.1f` %, and then the difference is
# undecided. So is whether a temperature harms focal loss under reduced contrast here. These networks err on more than
# four of ten clean images; what holds for them need not hold for the papers' networks.
#
# :::{admonition} Small print
# :class: dropdown
# No network is trained on this page. What the networks answered is recorded, their weights are not. Every network saw
# the same images, so intervals are over training, not over images. Contrasts with digits and with CIFAR-10 were
# preregistered; those of the fresh seeds after the first seeds had been seen. The first contrast of a family stands for
# itself, the others are corrected together, by Holm. Not preregistered: energy against the largest probability, the
# table of temperatures by severity, harm under reduced contrast. A claim of several parts is judged part by part,
# without Holm's correction ([](#page-verdicts)).
#
# The record on CIFAR-10 has three seeds a loss and {glue:text}`unknown-images:,` corrupted test images; chance alone
# makes the ECE of a calibrated network up to about {glue:text}`unknown-floor:.1f` % with so few. Its corruptions are
# made here with the authors' settings and other random numbers. Frost was made after the contrasts were written. To
# train these networks and show them other images, SVHN among them ([](#page-rerun)):
#
# ```sh
# focal grid workflow/grids/cifar10-unknown.yaml --cores 2
# python -m reproduction.studies.ood.record cifar10-unknown --shown svhn cifar10-c-frost-3
# ```
# :::

# %% tags=["remove-input"]
grids = {"garments, shown digits": "fashion-mnist-unknown", "networks on CIFAR-10": "cifar10-unknown"}
folded_differences({said: engine.read_notes(f"workflow/grids/{grid}.yaml").differs for said, grid in grids.items()})

# %% [markdown]
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
# * To notice unknown inputs, choose the score before the loss. Energy beats the largest probability on digits, for
#   every loss tried.
# * By the largest probability focal loss and FCL are not measurably better than cross-entropy here.
# * By energy focal loss notices digits better, on fresh seeds, too. On CIFAR-10 this is undecided.
# * A temperature fitted on clean images has no guarantee elsewhere, and neither has the map. Check it on data like
#   those you expect.
# :::
#
# ## Verdict

# %% tags=["remove-input"]
show("l25.fcl_other_shifts", "l25.energy_fresh_seeds", "l25.energy_above_probability")

# %% tags=["remove-input"]
show("kk24.temperature_under_shift", "kk24.temperature_harms_under_contrast", "kk24.focal_scaling_under_shift")

# %% tags=["remove-input"]
claims_of("unknown_inputs")

# %% tags=["remove-input"]
foot("unknown_inputs", recorded=recorded, unknown=unknown, gamma=gamma, corruptions=corruptions)
