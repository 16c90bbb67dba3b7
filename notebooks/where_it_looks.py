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
# (ch-looks)=
# # Where the network looks
#
# **The question.** Does a network that is trained with focal loss, or with L25's focal calibration loss, look at the
# object more precisely than one trained with cross-entropy? And does it tell several labels better?
#
# **In short:**
#
# * Of the contrasts of heat maps for which L25's words have a sign, with one garment on a canvas
#   {glue:text}`looks-signs-one`; with several, {glue:text}`looks-signs-several`.
# * The share of a map's energy in the object's box with FCL, against cross-entropy, is {glue:text}`looks-energy-one`
#   with one garment and {glue:text}`looks-energy-several` with several.
# * Of several labels, the mean AUROC with FCL is {glue:text}`looks-auroc` against cross-entropy, the ECE
#   {glue:text}`looks-ece`; after the map of FCL the ECE is {glue:text}`looks-mapped-fcl` against FCL as trained.
#
# :::{admonition} As printed: L25 section 5.3.1, Fig. 1
# 'For Cross Entropy, the heatmaps show broader regions of activation, which suggest that the model has less certainty
# in localizing the anomalies. In contrast, focal loss demonstrates more concentrated regions of activation. ...
# However, while the activations are more focused, they may not always be aligned with precise boundaries ... Focal
# Calibration Loss, on the other hand, provides the most well-defined and precise activation areas.'
# :::
#
# :::{admonition} As printed: L25 Appendix A.16
# 'FCL produces clearer and more precise anomaly-localization maps compared to baseline methods.' 'Note that FCL
# consistently yields strong performance gains, particularly in terms of average AUROC and reliability scores (ECE,
# MCE).' In Table 9 the AUROC with FCL is higher than with binary cross-entropy in
# {glue:text}`looks-printed-higher` findings.
# :::
#
# The figure compares heat maps of CheXNet on chest X-rays, by loss. The text has no number for 'precise'. Here there is
# one, on images whose objects have boxes by construction.

# %% tags=["parameters"]
setting: str = "several garments"  # to train on here; or 'one garment', or 'chest X-rays', whose files must be given
gamma: float = 3.0  # of focal loss and FCL, to train here; above 0
lam: float = 0.5  # lambda of FCL; above 0
seed: int = 1  # of images, first weights and the order of batches; at least 0
n_train: int = 2000  # images to train on, of which ChestX-ray14 has 86524; at least 2
n_test: int = 1000  # images to look at, of which ChestX-ray14 has 25596; at least 50
epochs: int = 6  # at least 1
network: str = "small"  # or 'densenet121', which is CheXNet's
shown: int = 6  # heat maps to draw of each loss; 1 to 8

# %% tags=["hide-input"]
import pandas as pd

from focal_lib.plots.style import use_style
from reproduction.ledger import claims_of, show
from reproduction.pages.differences import differences
from reproduction.pages.footer import foot
from reproduction.pages.notes import note
from reproduction.pages.plots.curves import interval_figure
from reproduction.pages.tables import captioned, in_words
from reproduction.studies.localisation import chest_xrays, contrasts
from reproduction.studies.localisation.canvases import GARMENT, SIDE
from reproduction.studies.localisation.figures import heat_map_table
from reproduction.studies.localisation.measures import energy_in_box, grad_cam
from reproduction.studies.localisation.plan import FCL, ONE, SEVERAL, Plan, losses_compared
from reproduction.studies.localisation.train import train
from reproduction.studies.printed_tables import l25_table9
from reproduction.studies.shared.written_contrasts import format_contrasts

use_style()
recorded = {name: contrasts.of_setting(name) for name in (ONE, SEVERAL)}
evaluated = {name: contrasts.evaluate_written(name) for name in recorded}
ce, focal, fcl = losses_compared()  # of the record
note("looks", side=SIDE, garment=GARMENT)

# %% [markdown]
# ## Images with boxes
#
# A canvas, {glue:text}`looks-side` pixels wide and high, has garments of Fashion-MNIST, halved to
# {glue:text}`looks-garment`, at random places. Around them, and sometimes on them, lie small cut-outs of other
# garments, in the manner of Mnih et al.'s cluttered digits. The box is the smallest around the garment's visible
# pixels. In one setting a canvas has *one* garment, and the network ends in a softmax. In the other it has none to
# three of different classes, that do not overlap, and each class is a label by itself, as the findings on a chest
# X-ray are:
#
# ```{math}
# :label: eq-looks-labels
# \frac1L\sum_{k=1}^L \ell\big((1-q_k,\,q_k),\,y_k\big), \qquad q_k = \sigma(z_k),
# ```
#
# with $\ell$ the loss of two classes: cross-entropy, focal loss, or FCL, whose square is $2\lambda(q_k-y_k)^2$ here.
# L25's text does not say how its loss is made one of several labels; this is our reading. `MultiLabelLoss` does
# it to any loss of the package.

# %% tags=["hide-input"]
sizes = {"seed": seed, "n_train": n_train, "n_test": n_test, "epochs": epochs, "network": network}
plans = [Plan(setting, **loss, **sizes) for loss in losses_compared(gamma, lam).values()]
outcomes = {plan.label: train(plan) for plan in plans}
test = next(iter(outcomes.values())).test
image, label = test.asked()
maps = {name: grad_cam(outcome, image, label) for name, outcome in outcomes.items()}

# %% tags=["remove-input"]
note("looks", setting=setting, n_train=n_train, n_test=n_test, epochs=epochs, seed=seed, gamma=gamma, lam=lam)
note("looks", boxes=len(image), recorded_gamma=FCL[0], recorded_lam=FCL[1])
made = recorded[SEVERAL].iloc[0]
note("looks", recorded_n=int(made["n_train"]), recorded_epochs=int(made["epochs"]))
note("looks", seeds=int(recorded[SEVERAL]["seed"].nunique()))
both = pd.concat(recorded.values()).drop_duplicates(["dataset", "loss", "seed"])
note("looks", minutes=both["cpu_seconds"].sum() / 60)
printed = l25_table9().pivot(index="pathology", columns="method", values="auroc").drop("Average")
gains = 100 * (printed["FCL"] - printed["CheXNet (BCE)"])
note("looks", printed_higher=f"{int((gains > 0).sum())} of {len(gains)}", printed_mean=gains.mean())

# %% [markdown]
# ## What was run
#
# Here, now, setting '{glue:text}`looks-setting`': a network a loss, {glue:text}`looks-n-train:,` images and
# {glue:text}`looks-epochs` epochs each, the same images, first weights and order of batches for each loss; for the
# pictures. Recorded, for the numbers: both settings, {glue:text}`looks-seeds` seeds of
# {glue:text}`looks-recorded-n:,` images and {glue:text}`looks-recorded-epochs` epochs, with
# $\gamma =$ {glue:text}`looks-recorded-gamma:g` and $\lambda =$ {glue:text}`looks-recorded-lam:g`, L25's pair for
# DenseNet-121 on CIFAR-100; {glue:text}`looks-minutes:.0f` minutes of one core. A seed draws the test canvases too, so
# that intervals over seeds are about other training and other test images.

# %% tags=["remove-input"]
differences(
    [
        "L25: CheXNet, a DenseNet-121, on 112,120 chest X-rays of 14 findings; here garments and three convolutions. "
        "Both end in mean pooling and a linear layer.",
        "L25 does not print $\\gamma$ and $\\lambda$ of CheXNet, nor the loss of several labels.",
        "L25: Adam with a rate of 1e-4 that falls on plateaus, weight decay, batches of 32, 100 epochs; here a rate "
        f"that rises to 1e-2 and falls, no weight decay, batches of 64, {int(made['epochs'])} epochs recorded.",
        "L25: ten crops of each validation and test image; here the image itself, and no validation set.",
        "L25: a picture a loss, one network each; here numbers over seeds.",
        "L25 does not say whether heat maps are asked for the true label; here they are.",
        "Cells of the small network's last map lie in the middle of what they see. Those of CheXNet, whose strided "
        "kernels are odd, do not quite, when a map is enlarged.",
    ]
)

# %% [markdown]
# ## Heat maps
#
# Grad-CAM {cite:p}`selvaraju17` weighs the feature maps $A_c$ that are pooled by how much each speaks for a label,
#
# ```{math}
# :label: eq-grad-cam
# m = \max\Big(0, \sum_c \overline{\frac{\partial z_k}{\partial A_c}}\,A_c\Big),
# ```
#
# the bar being a mean over places. It is captum's. The first boxes of the test images, not chosen; each map is asked
# for the class above it, which is there, whatever the network predicts:

# %% tags=["hide-input"]
first = slice(shown)
boxes = test.boxes[image, label]
energy = {name: 100 * energy_in_box(found, boxes) for name, found in maps.items()}
notes = {in_words(name): [f"{share:.0f} %" for share in values[first]] for name, values in energy.items()}
titles = [test.names[k] for k in label[first]]
drawn = {in_words(name): found[first] for name, found in maps.items()}

# %% tags=["remove-input"] mystnb={"image": {"alt": "Canvases in the upper row, each with a blue box around the object that is asked for. Beneath them a row of heat maps for each loss, in red over the same canvases, with the share of the map that lies in the box."}, "figure": {"name": "fig-looks-maps", "caption": "Grad-CAM of networks trained with three losses on the same images, for the class that stands above; beneath each map the share of its energy that lies in the box. Counterpart of L25 Fig. 1."}}
heat_map_table(test.images[image[first], ..., 0], boxes[first], drawn, titles, notes)

# %% tags=["remove-input"]
apart = abs(energy[plans[2].label] - energy[plans[0].label])
more = energy[plans[2].label] > energy[plans[0].label]
said = (
    "Pictures could be chosen that show either." if 0 < more.mean() < 1 else "No choice of pictures shows the opposite."
)
note("looks", live_more=100 * more.mean(), live_apart=apart.mean(), live_fcl=in_words(plans[2].label), live_said=said)

# %% [markdown]
# A picture decides little. Over all {glue:text}`looks-boxes:,` boxes of these networks, {glue:text}`looks-live-fcl` has
# more energy in the box than cross-entropy in {glue:text}`looks-live-more:.0f` % of the maps; the two shares differ by
# {glue:text}`looks-live-apart:.1f` points on average, in whichever direction. {glue:text}`looks-live-said`
#
# ## A number for 'precise'
#
# * *Energy*: the share of a map's sum that lies in the box. A map that is the same everywhere has the share of the
#   image that the box has.
# * *Pointing*: how often the highest pixel lies in the box.
# * *Spread*: the smallest share of the image that holds half of the sum. Broad maps have a large one. It asks nothing
#   of the box: a narrow map may lie beside the object.

# %% tags=["hide-input"]
columns = ["energy", "pointing", "spread", "empty", "box"]
levels = pd.concat(recorded.values())
means = levels.pivot_table(index=["dataset", "loss"], columns="metric", values="value", sort=False)[columns]
text = means.reset_index().rename(columns={"dataset": "canvas", "empty": "maps of 0", "box": "constant map"})
caption = "The record: in per cent, means over seeds. Constant map: the energy that it would have"
captioned(text.assign(loss=text["loss"].map(in_words)), caption, precision=1, index=False)

# %% [markdown]
# What to compare was written down before the recorded networks were trained (`studies/localisation/plan.py`); two
# seeds that had been looked at while it was written are not among them. The first contrast of a table is primary and
# stands for itself; the others are corrected together, by Holm. Positive is more for the loss named first.

# %% tags=["hide-input"]
of_maps = {name: found[found["table"].str.startswith("heat maps")] for name, found in evaluated.items()}
rows = pd.concat([part.assign(row=part["name"] + f", {name}") for name, part in of_maps.items()])
rows = rows.sort_values("metric", kind="stable")

# %% tags=["remove-input"] mystnb={"image": {"alt": "A row for each contrast of energy, pointing and spread between two losses in each setting: the difference in points with its t interval, and a line at zero."}, "figure": {"name": "fig-looks-contrasts", "caption": "Heat maps: one loss minus another, in points, mean and 95 % t interval over paired seeds, each for itself; the record."}}
interval_figure(*(rows[c].tolist() for c in ("row", "difference", "low", "high")), "difference in points", reference=0)

# %% tags=["hide-input"]
format_contrasts(of_maps[ONE], "Heat maps, one garment, in points; the others with Holm")

# %% tags=["hide-input"]
format_contrasts(of_maps[SEVERAL], "Heat maps, several garments, in points; the others with Holm")

# %% tags=["remove-input"]
say = contrasts.say_contrast
for short, name in (("one", ONE), ("several", SEVERAL)):
    own = evaluated[name]
    note("looks", {f"ce-{short}": means.loc[(name, ce), "energy"], f"box-{short}": means.loc[(name, ce), "box"]})
    note("looks", {f"energy-{short}": say(own, f"energy: {fcl} minus {ce}")})
    note("looks", {f"square-{short}": say(own, f"energy: {fcl} minus {focal}")})
    note("looks", {f"spread-{short}": say(own, f"spread: {focal} minus {ce}", words=("smaller", "larger"))})
    note("looks", {f"hits-{short}": say(own, f"pointing: {fcl} minus {ce}")})
    note("looks", {f"focal-{short}": say(own, f"energy: {focal} minus {ce}")})
    note("looks", {f"untrained-{short}": means.loc[(name, "untrained"), "energy"]})
    note("looks", {f"signs-{short}": contrasts.count_signs(own, "heat maps")})

# %% [markdown]
# Energy in the box, against cross-entropy: with FCL {glue:text}`looks-energy-one` for one garment, and
# {glue:text}`looks-energy-several` for several; with focal loss {glue:text}`looks-focal-one`, and
# {glue:text}`looks-focal-several`. The pointing game, FCL against cross-entropy: {glue:text}`looks-hits-one`, and
# {glue:text}`looks-hits-several`. The spread of the heat with focal loss, against
# cross-entropy: {glue:text}`looks-spread-one`, and {glue:text}`looks-spread-several`. Of the contrasts for which
# L25's words have a sign, {glue:text}`looks-signs-one` (one garment), {glue:text}`looks-signs-several` (several).
#
# A network that was never trained has {glue:text}`looks-untrained-one:.1f` % and
# {glue:text}`looks-untrained-several:.1f` %, a constant map {glue:text}`looks-box-one:.1f` % and
# {glue:text}`looks-box-several:.1f` %: what lies between these and the trained networks is what training does; what
# lies between the losses is set beside it in {numref}`fig-looks-contrasts`.
#
# ## Several labels
#
# Table 9 prints an AUROC for each finding. The same here, a class by itself: how often a canvas that has it gets a
# higher logit than one that has not.

# %% tags=["hide-input"]
by_label = contrasts.gains_by_label(recorded[SEVERAL], fcl, ce)
by_focal = contrasts.gains_by_label(recorded[SEVERAL], focal, ce)
of_both = pd.concat([part.assign(label=part["label"] + f", {of}") for of, part in ((fcl, by_label), (focal, by_focal))])
of_both = of_both.sort_index(kind="stable")  # the two of a class side by side
found = recorded[SEVERAL].query("method == 'none'")
labels = found[found["metric"].isin(["auroc", "ece", "classwise-ece", "mce", "nll", "error"])]
table = labels.pivot_table(index="loss", columns="metric", values="value", sort=False)
table = table.drop(index="untrained")[["auroc", "error", "ece", "classwise-ece", "mce", "nll"]]
caption = "The record, several garments: in per cent but for the NLL, means over seeds"
captioned(table.reset_index(), caption, precision=2, index=False, spelt=True).format("{:.4f}", subset=["nll"])

# %% tags=["remove-input"] mystnb={"image": {"alt": "AUROC with FCL, and with focal loss, minus that with binary cross-entropy, in points, two rows for each class of garments, with t intervals and a line at zero."}, "figure": {"name": "fig-looks-labels", "caption": "AUROC with FCL, and with focal loss, minus that with binary cross-entropy, by class, in points, mean and 95 % t interval over paired seeds, each for itself; the record. Counterpart of L25 Table 9."}}
interval_figure(
    *(of_both[c].tolist() for c in ("label", "difference", "low", "high")), "AUROC, difference in points", reference=0
)

# %% tags=["hide-input"]
of_labels = evaluated[SEVERAL][evaluated[SEVERAL]["table"].str.startswith("labels")]
format_contrasts(of_labels, "Several garments, AUROC, ECE and MCE in points; the others with Holm")

# %% tags=["remove-input"]
note("looks", auroc=say(of_labels, f"auroc: {fcl} minus {ce}"), ece=say(of_labels, f"ece: {fcl} minus {ce}"))
note("looks", mce=say(of_labels, f"mce: {fcl} minus {ce}"), focal_ece=say(of_labels, f"ece: {focal} minus {ce}"))
note("looks", focal_auroc=say(of_labels, f"auroc: {focal} minus {ce}"))
raised = by_label["difference"] > 0
note("looks", raised=int(raised.sum()), labels=len(by_label))
orders = [list(table.index[values.argsort()]) for values in (table["auroc"], means.loc[SEVERAL, "energy"][table.index])]
note("looks", order="the same as" if orders[0] == orders[1] else "another than")
note("looks", raised_significant=int((raised & (by_label["p_adjusted"] <= 0.05)).sum()))
note("looks", lowered_significant=int((~raised & (by_label["p_adjusted"] <= 0.05)).sum()))
sure = by_focal["p_adjusted"] <= 0.05
note("looks", focal_raised=int((by_focal["difference"] > 0).sum()))
for key, sign in (("raised", 1), ("lowered", -1)):
    note("looks", {f"focal-{key}-significant": int((sure & (sign * by_focal["difference"] > 0)).sum())})

# %% [markdown]
# Against binary cross-entropy the mean AUROC with FCL is {glue:text}`looks-auroc`, with focal loss
# {glue:text}`looks-focal-auroc`. Table 9's rows have a mean gain of {glue:text}`looks-printed-mean:+.1f`. By class, FCL
# has the higher AUROC in {glue:text}`looks-raised` of {glue:text}`looks-labels`; after Holm's correction over the
# classes it is higher in {glue:text}`looks-raised-significant` and lower in {glue:text}`looks-lowered-significant`.
# Focal loss has the higher one in {glue:text}`looks-focal-raised`, after the same correction it is higher in
# {glue:text}`looks-focal-raised-significant` and lower in {glue:text}`looks-focal-lowered-significant`. The order of
# the losses by AUROC is {glue:text}`looks-order` that by energy in the box. Maps may be more precise where a network is
# simply the better one after so many epochs: nothing here holds the AUROC fixed.
#
# All labels together, as so many problems of two classes: the ECE with FCL is {glue:text}`looks-ece`, the MCE
# {glue:text}`looks-mce`; with focal loss the ECE is {glue:text}`looks-focal-ece`. These are of the larger of $q_k$ and
# $1-q_k$, in bins of equal width; the column 'classwise ECE' is of $q_k$ itself. Which one Table 9 means, L25 does not
# say.
#
# ### After the map
#
# Focal loss and FCL ask for other probabilities than the true ones, and each has a map that gives these back: of focal
# loss that of {cite:t}`kk24`, of FCL {eq}`eq-fcl-map`. Of several labels it is the map of two classes, label by label.
# It needs no validation data.

# %% tags=["hide-input"]
kept = levels[levels["metric"].isin(["ece", "mce", "nll"]) & (levels["loss"] != "untrained")]
kept = kept.assign(after=kept["method"].map({"none": "as trained", "map": "after its map"}))
wide = kept.pivot_table(index=["dataset", "loss"], columns=["metric", "after"], values="value", sort=False)
caption = "The record: ECE and MCE in per cent, NLL; means over seeds"
captioned(wide.rename_axis(columns=[None, None]), caption, precision=2)

# %% tags=["hide-input"]
after = pd.concat([part[part["table"].str.startswith("after the map")] for part in evaluated.values()])
named = after.assign(name=after["name"] + ", " + after["table"].str.removeprefix("after the map, "))
format_contrasts(named, "ECE in points, and NLL; the others with Holm, within a setting")

# %% tags=["remove-input"]
own = evaluated[SEVERAL]
note("looks", mapped_focal=say(own, f"ece: {focal} after its map minus {focal}"))
note("looks", mapped_fcl=say(own, f"ece: {fcl} after its map minus {fcl}"))
note("looks", mapped_focal_ce=say(own, f"ece: {focal} after its map minus {ce}"))
note("looks", mapped_fcl_ce=say(own, f"ece: {fcl} after its map minus {ce}"))
note("looks", mapped_signs=contrasts.count_signs(after, "after the map"))

# %% [markdown]
# Of several labels, after the map against as trained: the ECE of focal loss is {glue:text}`looks-mapped-focal`, that of
# FCL {glue:text}`looks-mapped-fcl`. After the map against cross-entropy, which needs none:
# {glue:text}`looks-mapped-focal-ce`, and {glue:text}`looks-mapped-fcl-ce`. Of the contrasts of both settings that ask
# whether a map makes ECE or NLL lower, {glue:text}`looks-mapped-signs`.
#
# ```{exercise}
# :label: ex-looks-cam
# Show that of a network that ends in mean pooling and a linear layer Grad-CAM of $z_k$ is
# $\max(0, \sum_c w_{kc}A_c)$ up to a factor, so that it does not matter whether focal loss has made all weights of the
# last layer smaller.
# ```
#
# ```{solution} ex-looks-cam
# :class: dropdown
# $z_k = b_k + \sum_c w_{kc}\,\overline{A_c}$, so the derivative by each of the $N$ places of $A_c$ is $w_{kc}/N$, and
# so is its mean. Smaller weights, all by one factor, change the map by that factor, and energy, pointing and spread are
# of shares and places.
# ```
#
# ## Chest X-rays
#
# `localisation/chest_xrays.py` reads ChestX-ray14 where its files are given, with the official split and, where there
# is the list, the boxes of some findings {cite:p}`wang17`. They are not fetched: set `FOCAL_DATA` to a folder with
# `chest-xray14/`, in it `Data_Entry_2017.csv`, `train_val_list.txt`, `test_list.txt`, `BBox_List_2017.csv` and the
# images. Then `-p setting 'chest X-rays' -p network densenet121` runs this page's first half on them; the command on
# the page [](#page-figures) trains all losses, and says first how many images that is and about how many hours. On
# X-rays, too, the rate, the batches and the missing validation set are those of the list above, and the last epoch is
# kept. Of L25 A.16, which follows 'the training procedure outlined by Rajpurkar et al.', whose text is not at hand,
# this differs besides:

# %% tags=["remove-input"]
side = chest_xrays.SIDE
differences(
    [
        f"images are grey, {side} pixels a side, and shown as they are, without crops or flips",
        "DenseNet-121 begins from random weights; its stem is that for small images, 3x3 without pooling",
        "no weight decay, which L25 section 5 has for CheXNet, without its value",
    ]
)

# %% [markdown]
# :::{admonition} What to remember
# :class: tip
# * 'Precise' is measured here as the share of a heat map's energy in the object's box. With cross-entropy it is
#   {glue:text}`looks-ce-one:.1f` % for one garment on a canvas and {glue:text}`looks-ce-several:.1f` % for several.
# * FCL, against cross-entropy: {glue:text}`looks-energy-one` with one garment, {glue:text}`looks-energy-several` with
#   several. Against focal loss with the same $\gamma$: {glue:text}`looks-square-one`, and
#   {glue:text}`looks-square-several`.
# * For several labels FCL's mean AUROC is {glue:text}`looks-auroc` than that of cross-entropy, and its ECE
#   {glue:text}`looks-ece`. After the map of FCL the ECE, against as trained, is {glue:text}`looks-mapped-fcl`, and
#   against cross-entropy {glue:text}`looks-mapped-fcl-ce`.
# * {glue:text}`looks-live-said:s` Compare numbers over many images and several seeds.
# * Chest X-rays, which the paper shows, were not at hand.
# :::
#
# ## Verdict
#
# The statements are L25's words; the images are other ones, so that a verdict is about what the losses do here.

# %% tags=["remove-input"]
show("l25.fig1_broader", "l25.fig1_precise", "l25.fig1_pointing", "l25.table9_garments")

# %% tags=["remove-input"]
show("l25.labels_after_map", "l25.chexnet")

# %% tags=["remove-input"]
claims_of("where_it_looks")

# %% tags=["remove-input"]
foot(
    "where_it_looks",
    setting=setting,
    gamma=gamma,
    lam=lam,
    seed=seed,
    n_train=n_train,
    n_test=n_test,
    epochs=epochs,
    network=network,
    shown=shown,
)
