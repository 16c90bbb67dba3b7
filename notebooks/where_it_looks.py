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
# **The question.** A heat map shows which pixels made a network decide. Does a network trained with focal loss, or with
# L25's focal calibration loss (FCL), look at the object more precisely than one trained with cross-entropy?
# **In short,** with garments on a canvas, where we know each object's box:
#
# * With one garment on the canvas the share of the heat in its box does not depend measurably on the loss.
# * With several garments both losses put more heat into the box than cross-entropy. Plain focal loss puts the
#   most; of X-rays L25 says that FCL does.
# * The same order holds for the AUROC of the labels. The calibration error is the other way round, until each loss's
#   map is applied.
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
# MCE).'
# :::
#
# L25 shows chest X-rays and one picture a loss. We had no X-rays, so the verdicts below are about what the losses do on
# other images.

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
import numpy as np
import pandas as pd

from focal_lib.plots.style import use_style
from reproduction.ledger import claims_of, show
from reproduction.pages.expected import written_for
from reproduction.pages.footer import foot
from reproduction.pages.notes import note
from reproduction.pages.plots.curves import interval_figure
from reproduction.pages.tables import captioned, in_words
from reproduction.studies.localisation import contrasts
from reproduction.studies.localisation.figures import heat_map_table
from reproduction.studies.localisation.measures import energy_in_box, grad_cam, points_into_box, spread
from reproduction.studies.localisation.plan import ONE, SEVERAL, Plan, losses_compared
from reproduction.studies.localisation.train import train
from reproduction.studies.printed_tables import l25_table9
from reproduction.studies.shared.written_contrasts import significant_signs

use_style()
expect = written_for("where_it_looks", globals())

# %% [markdown]
# ## A number for 'precise'
#
# L25 gives no number. We use three:
#
# * *Energy*: the share of a heat map's sum that lies in the object's box.
# * *Pointing*: whether the hottest pixel lies in the box.
# * *Spread*: the smallest share of the image that holds half of the heat. It ignores the box: a narrow map may lie
#   beside the object.
#
# On an image of four by four pixels, with the object in the upper left quarter:

# %%
heat = np.array([[4.0, 2, 0, 0], [2, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 0]])[None]
box = np.array([[0, 0, 2, 2]])  # top, left, bottom, right
by_hand = {"energy": energy_in_box(heat, box), "pointing": points_into_box(heat, box), "spread": spread(heat)}
captioned(pd.DataFrame(by_hand), "Of a heat map made by hand", precision=3, index=False)

# %% tags=["remove-cell"]
expect(by_hand["energy"][0] == 0.9 and by_hand["pointing"][0] == 1, "nine tenths of the heat lie in the box")

# %% [markdown]
# Nine of the ten units of heat lie in the box.
#
# ## Three networks, the same images
#
# Each canvas has garments of Fashion-MNIST at random places, with small cut-outs of other garments around them, and
# sometimes on them. With *several garments* there are none to three of different classes. Each class is a label, as
# each finding on an X-ray is. The loss is the mean over the labels of a loss $\ell$ of two classes:
#
# ```{math}
# :label: eq-looks-labels
# \frac1L\sum_{k=1}^L \ell\big((1-q_k,\,q_k),\,y_k\big), \qquad q_k = \sigma(z_k).
# ```
#
# L25 does not say how its loss is made one of several labels; this is our reading. Grad-CAM {cite:p}`selvaraju17`
# weighs the feature maps $A_c$ before the last pooling by how much each speaks for label $k$:
#
# ```{math}
# :label: eq-grad-cam
# m = \max\Big(0, \sum_c \overline{\frac{\partial z_k}{\partial A_c}}\,A_c\Big),
# ```
#
# the bar being a mean over places. We train a network with each loss and ask for every garment that is there:

# %%
sizes = {"seed": seed, "n_train": n_train, "n_test": n_test, "epochs": epochs, "network": network}
plans = [Plan(setting, **loss, **sizes) for loss in losses_compared(gamma, lam).values()]
outcomes = {plan.label: train(plan) for plan in plans}
test = next(iter(outcomes.values())).test
image, label = test.asked()
boxes = test.boxes[image, label]
maps = {name: grad_cam(outcome, image, label) for name, outcome in outcomes.items()}
energy = {name: 100 * energy_in_box(found, boxes) for name, found in maps.items()}

# %% tags=["hide-input"]
first = slice(shown)
notes = {in_words(name): [f"{share:.0f} %" for share in values[first]] for name, values in energy.items()}
titles = [test.names[k] for k in label[first]]
drawn = {in_words(name): found[first] for name, found in maps.items()}

# %% tags=["remove-input"] mystnb={"image": {"alt": "Canvases in the upper row, each with a blue box around the object that is asked for. Beneath them a row of heat maps for each loss, in red over the same canvases, with the share of the map that lies in the box."}, "figure": {"name": "fig-looks-maps", "caption": "A few pictures decide little. Grad-CAM for the class that stands above, the first boxes of the test images, not chosen; beneath each map the share of its energy in the box. Counterpart of L25 Fig. 1."}}
heat_map_table(test.images[image[first], ..., 0], boxes[first], drawn, titles, notes)

# %% tags=["remove-cell"]
of_ce, _, of_fcl = energy.values()
note("looks", live_more=100 * np.mean(of_fcl > of_ce))
expect(0.8 < np.mean(of_fcl > of_ce) < 1, "FCL has more energy in most maps, not in all")

# %% [markdown]
# Over all test images of these networks, FCL has more energy in the box than cross-entropy in
# {glue:text}`looks-live-more:.0f` % of the maps. In the others it has less: pictures could be chosen that show either.
#
# ## Ten seeds
#
# So we recorded ten seeds of each loss in both settings, with preregistered comparisons.

# %%
recorded = {name: contrasts.of_setting(name) for name in (ONE, SEVERAL)}
evaluated = {name: contrasts.evaluate_written(name) for name in recorded}
levels = pd.concat(recorded.values()).query("method == 'none'")
means = levels.pivot_table(index=["dataset", "loss"], columns="metric", values="value", sort=False)
named = means[["energy", "pointing", "spread", "box"]].rename(columns={"box": "energy of a constant map"})
named = named.rename_axis(index=["canvas", "loss"], columns=None)
captioned(named, "Heat maps: in per cent, means over seeds and test images", precision=1)

# %% tags=["hide-input"]
rows = [part[part["table"].str.startswith("heat maps")].assign(setting=name) for name, part in evaluated.items()]
rows = pd.concat(rows).sort_values("metric", kind="stable")
labels = [f"{name}, {where}" for name, where in rows[["name", "setting"]].to_numpy()]

# %% tags=["remove-input"] mystnb={"image": {"alt": "A row for each contrast of energy, pointing and spread between two losses in each setting: the difference in points with its t interval, and a line at zero. With several garments the intervals lie far from zero, with one mostly near it."}, "figure": {"name": "fig-looks-contrasts", "caption": "With several garments both focal losses look more precisely than cross-entropy, and focal loss more than FCL. With one garment only the hottest pixel differs. One loss minus another, in points; mean and 95 % t interval over paired seeds."}}
interval_figure(labels, *(rows[c].tolist() for c in ("difference", "low", "high")), "difference in points", reference=0)

# %% tags=["remove-cell"]
ce, focal, fcl = losses_compared()
one, several = (significant_signs(found).droplevel("table") for found in evaluated.values())
expect(not one[[name for name in one.index if name.startswith(("energy", "spread"))]].any(), "one garment: undecided")
expect(one[f"pointing: {fcl} minus {ce}"] > 0 and one[f"pointing: {focal} minus {ce}"] > 0, "but the hottest pixel")
for metric in ("energy", "pointing"):
    expect(several[f"{metric}: {fcl} minus {ce}"] > 0 > several[f"{metric}: {fcl} minus {focal}"], "focal loss is best")
expect(several[f"spread: {focal} minus {ce}"] < 0, "heat is narrower with focal loss")
expect(several[f"auroc: {fcl} minus {ce}"] > 0 > several[f"auroc: {fcl} minus {focal}"], "AUROC has the same order")
expect(several[f"ece: {focal} minus {ce}"] > 0 and several[f"ece: {fcl} minus {ce}"] > 0, "ECE is higher as trained")
expect(several[f"ece: {focal} after its map minus {ce}"] < 0, "focal loss is better calibrated after its map")
expect(not several[f"ece: {fcl} after its map minus {ce}"], "FCL after its map is undecided")
by_name = evaluated[SEVERAL].set_index("name")["difference"]
note("looks", fcl=by_name[f"energy: {fcl} minus {ce}"], less=-by_name[f"energy: {fcl} minus {focal}"])
note("looks", ece=by_name[f"ece: {fcl} minus {ce}"], auroc=by_name[f"auroc: {fcl} minus {ce}"])

# %% [markdown]
# With several garments FCL has {glue:text}`looks-fcl:.1f` points more energy in the box than cross-entropy, and
# {glue:text}`looks-less:.1f` less than focal loss with the same $\gamma$. The square that FCL adds does not help here.
# With one garment energy and spread are undecided; with both losses the hottest pixel hits the box more often.
#
# Most of the energy is what any training brings: compare the untrained network in the table.
#
# ## The labels
#
# L25's Table 9 prints an AUROC for each finding: how often an image that has it gets a higher logit than one that has
# not. Here is the same, by class of garment, with the calibration error. Each loss has a map that gives the true
# probabilities back: KK24's for focal loss, {eq}`eq-fcl-map` for FCL.

# %%
found = recorded[SEVERAL].query("loss != 'untrained' and metric in ['auroc', 'error', 'ece', 'mce', 'nll']")
wide = found.pivot_table(index="loss", columns=["metric", "method"], values="value", sort=False)
wide.columns = [f"{metric}{', after its map' * (method == 'map')}" for metric, method in wide.columns]
order = ["auroc", "error", "ece", "ece, after its map", "nll", "nll, after its map"]
captioned(
    wide[order].rename_axis(index="loss"), "Several garments: per cent but for the NLL, means over seeds", precision=2
)

# %% tags=["hide-input"]
gains = {loss: contrasts.gains_by_label(recorded[SEVERAL], loss, ce) for loss in (fcl, focal)}
of_both = pd.concat([part.assign(label=part["label"] + f", {loss}") for loss, part in gains.items()])
of_both = of_both.sort_index(kind="stable")  # the two of a class side by side

# %% tags=["remove-input"] mystnb={"image": {"alt": "AUROC with FCL, and with focal loss, minus that with binary cross-entropy, in points, two rows for each class of garments, with t intervals and a line at zero. All means lie right of the line."}, "figure": {"name": "fig-looks-labels", "caption": "Both losses raise the AUROC of nearly every class. Difference from binary cross-entropy in points; mean and 95 % t interval over paired seeds. Counterpart of L25 Table 9."}}
interval_figure(
    *(of_both[c].tolist() for c in ("label", "difference", "low", "high")), "AUROC, difference in points", reference=0
)

# %% tags=["remove-cell"]
for part in gains.values():
    expect((part["difference"] > 0).all() and (part["p_adjusted"] <= 0.05).sum() == len(part) - 1, "all but one class")
printed = l25_table9().pivot(index="pathology", columns="method", values="auroc").drop("Average")
note("looks", printed=100 * (printed["FCL"] - printed["CheXNet (BCE)"]).mean())

# %% [markdown]
# FCL raises the mean AUROC by {glue:text}`looks-auroc:.1f` points; in L25's table it is
# {glue:text}`looks-printed:.1f`. Focal loss raises it more. All classes but one are significant after Holm's
# correction. So the more precise maps belong to the better networks: we did not test whether they would be more precise
# at equal AUROC.
#
# As trained FCL has an ECE {glue:text}`looks-ece:.1f` points *higher* than cross-entropy; L25 prints a lower
# one for X-rays. (After these few epochs cross-entropy is hardly overfitted; trained for longer on fewer canvases, the
# order may turn.) FCL's map, which needs no validation data, takes that away. After it, focal loss has a lower ECE than
# cross-entropy, and between FCL and cross-entropy the difference is undecided.
#
# :::{admonition} Small print
# :class: dropdown
# *Runs.* Contrasts were preregistered; two seeds that had been looked at are not among them. The first of a table
# stands for itself, the others are corrected together, by Holm. A seed draws the test canvases too. $\gamma = 3$ and
# $\lambda = 0.5$ are L25's pair for DenseNet-121 on CIFAR-100. ECE and MCE are of the larger of $q_k$ and $1 - q_k$,
# all labels together, in bins of equal width; L25 does not say which it means.
#
# *Differs from the paper in:* garments and three convolutions for CheXNet, a DenseNet-121, on 112,120 X-rays of 14
# findings; both end in mean pooling and a linear layer. L25 prints neither $\gamma$ and $\lambda$ of CheXNet nor the
# loss of several labels. It has Adam with a rate that falls on plateaus, weight decay, batches of 32, 100 epochs and
# ten crops of each test image. Here the rate rises and falls, without weight decay, with batches of 64, six epochs, the
# image itself and no validation set. L25 does not say whether heat maps are asked for the true label; here they are.
#
# *Chest X-rays.* Set `FOCAL_DATA` to a folder with `chest-xray14/`, in it `Data_Entry_2017.csv`, `train_val_list.txt`,
# `test_list.txt`, `BBox_List_2017.csv` {cite:p}`wang17` and the images. Then `-p setting 'chest X-rays' -p network
# densenet121` runs this page's first half on them; the command on the page [](#page-figures) trains all losses. Images
# are grey, without crops or flips, and DenseNet-121 begins from random weights with a stem for small images.
# :::
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
# :::{admonition} What to remember
# :class: tip
# * Heat maps need a number, many images and several seeds. Single pictures could be chosen for either side.
# * With several objects focal loss looked most precisely, before FCL and cross-entropy. With one object it made no
#   measurable difference to the energy.
# * The more precise maps came from networks with the higher AUROC.
# * Focal losses need their map before their probabilities are used; it needs no validation data.
# * Chest X-rays, which L25 shows, we could not test.
# :::
#
# ## Verdict

# %% tags=["remove-input"]
show("l25.fig1_broader", "l25.fig1_precise", "l25.fig1_pointing", "l25.table9_garments", "l25.labels_after_map")

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
