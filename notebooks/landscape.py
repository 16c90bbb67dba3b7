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
# (ch-landscape)=
# # Does focal loss flatten the landscape?
#
# **The question.** {cite:t}`kn24` conjecture that a lower curvature is one of the reasons why focal loss calibrates.
# [](#ch-curvature) looks at the loss itself. Here are the networks: how curved is the loss in their weights, does it
# become flatter as $\gamma$ grows, and is it this that calibrates? **In short:** how flat it is depends on the loss
# whose Hessian is taken, and no flatness fixes the calibration. By the loss trained with, the top eigenvalue of the
# small CNN falls with $\gamma$; for the other two networks we cannot tell. By one loss for all, cross-entropy, the CNN
# lies flatter after $\gamma = 3$ on validation images and far steeper on training images. And one layer multiplied by
# {glue:text}`landscape-factor:g` and the next divided by it multiply the trace by {glue:text}`landscape-by-factor:.2g`
# without changing a probability but by rounding. The networks are small, so none of this speaks for or against KN24.
#
# :::{admonition} As printed: KN24 abstract, captions of Figs. 2 and 3
# 'Our analysis suggests that focal loss reduces the curvature of the loss surface in training the model. This
# indicates that curvature may be one of the essential factors in achieving model calibration.' 'For all architectures,
# $\lambda_{\max}(H_{val})$ monotonically decreases with increasing $\gamma$.' 'ECE reaches its minimum for ViT
# architecture around $\gamma$ = 10 and for other architectures around $\gamma = 3,4$.' 'ECE reaches a minimum peak for
# all network architectures when $\operatorname{Tr}(H_{val})$ is reduced to a certain extent rather than maximizing
# it.' 'This indicates that applying appropriate regularization to reduce $\operatorname{Tr}(H_{val})$ to a certain
# extent is crucial for minimizing ECE.' 'When $\operatorname{Tr}(H_{val})$ is too low' the ECE degrades. The figures
# are of CIFAR-100.
# :::
#
# Of which loss is the Hessian? The abstract and captions that we had ([](#page-kn24)) do not say. With the loss that
# was trained with, the landscape itself changes with $\gamma$. So we measure both, focal loss and cross-entropy, in the
# same networks. If KN24 write the exponent as $\gamma - 1$, as the caption of their Fig. 1 suggests, their $\gamma$ is
# larger by 1 than ours.

# %% tags=["parameters"]
gamma: float = 3.0  # the focal loss to look at most closely, one of workflow/grids/landscape.yaml; above 0

# %% tags=["hide-input"]

import numpy as np
import pandas as pd

from focal_lib.plots.style import use_style
from reproduction.ledger import claims_of, show
from reproduction.pages.expected import written_for
from reproduction.pages.footer import foot
from reproduction.pages.notes import note
from reproduction.pages.plots.curves import panel_figure, point_figure
from reproduction.pages.tables import captioned
from reproduction.studies.landscape import plan
from reproduction.studies.landscape.contrasts import (
    FACTORS,
    evaluate_by_network,
    factors_at,
    means_over_gamma,
    ratios_over_gamma,
    read_landscape,
    read_rescaled,
    share_within,
    values_over_gamma,
)
from reproduction.studies.landscape.measures import relation_by_seed
from reproduction.studies.landscape.plan import MIDDLE, NETWORKS, eigenvalue_contrasts
from reproduction.studies.shared.written_contrasts import format_contrasts

use_style()
table = read_landscape()
networks = list(NETWORKS)
small = table[table["model"] == "small-cnn"]
if gamma not in set(small["gamma"]) - {0}:
    raise ValueError(f"gamma must be one of {sorted(set(small['gamma']) - {0})}. Got {gamma:g}.")
cause_contrasts, calibration_contrasts = plan.cause_contrasts(), plan.calibration_contrasts()
expect = written_for("landscape", globals())

# %% [markdown]
# ## What was run
#
# Three small networks, one of them a transformer, trained with focal loss on Fashion-MNIST, four seeds each
# (`workflow/grids/landscape.yaml`). On {glue:text}`landscape-recorded` training and as many validation images of each
# run the Hessian $H$ of the mean loss in all weights was looked at without writing it down: its largest eigenvalue by
# Lanczos iteration, its trace by Hutchinson's estimator, the mean of $v^THv$ over {glue:text}`landscape-signs` vectors
# of random signs. The measurements are recorded (`results/landscape`), the weights are not. Of a network of ReLUs the
# trace can be had without signs, see [](#sec-landscape-causes): of its {glue:text}`landscape-estimates` estimates
# {glue:text}`landscape-near` lie within two standard errors of it. The median standard error of a trace is at most
# {glue:text}`landscape-relative:.0f` % of it. All networks of one kind are given the same signs, so their errors are
# alike and cancel in part in comparisons; the estimates are no independent trials. KN24's own size is for a cluster:
# `workflow/grids/kn24-curvature.yaml` trains, `measure_landscape` measures. In what these runs differ from KN24's is on
# [](#page-kn24).

# %% tags=["remove-input"]
note("landscape", recorded=int(table["images"].iloc[0]), signs=int(table["signs"].iloc[0]))
near, estimates = share_within(table[(table["model"] != "small-vit") & ~table["metric"].str.startswith("log")])
note("landscape", near=near, estimates=estimates)
traces = table[table["metric"].str.startswith("trace")]
relative = (100 * traces["error"] / traces["value"].abs()).groupby(traces["model"]).median()
note("landscape", relative=relative.max())

# %% [markdown]
# ## Over gamma

# %% tags=["hide-input"]
kinds = {"focal loss, top eigenvalue": "top own", "focal loss, trace": "trace own", "cross-entropy, trace": "trace ce"}


def over_gamma(split: str) -> dict:
    """Of each network, each kind of curvature over that of cross-entropy's network, in logarithms."""
    return {
        name: {text: ratios_over_gamma(table, name, f"{kind} {split}") for text, kind in kinds.items()}
        for name in networks
    }


axes = {"xlabel": r"$\gamma$ of training", "ylabel": r"log of curvature over that at $\gamma = 0$", "reference": 0}

# %% tags=["remove-input"] mystnb={"image": {"alt": "Three panels, one a network: over the gamma of training the logarithm of the top eigenvalue and of the trace of focal loss, and of the trace of cross-entropy, on validation images, each over that at gamma zero, with t intervals."}, "figure": {"name": "fig-landscape-validation", "caption": "Curvature on validation images over that at $\\gamma = 0$, natural logarithm: of the loss trained with, top eigenvalue (KN24 Fig. 2) and trace, and of cross-entropy in the same networks; mean and 95 % t interval over paired seeds, each for itself."}}
panel_figure(over_gamma("validation"), **axes)

# %% tags=["remove-input"] mystnb={"image": {"alt": "The same three panels on training images."}, "figure": {"name": "fig-landscape-train", "caption": "The same on training images."}}
panel_figure(over_gamma("train"), **axes)

# %% [markdown]
# We preregistered, after KN24, that the top eigenvalue falls with each step of $\gamma$. Its mean does in every step of
# the small CNN, significantly in the first two, and in some steps of the others, significantly in none. Between the
# ends, $\gamma = 7$ and cross-entropy, the fall is significant for the CNN alone.

# %% tags=["hide-input"]
steps = {name: eigenvalue_contrasts(gammas) for name, gammas in NETWORKS.items()}
eigenvalues = evaluate_by_network(table, steps)
format_contrasts(eigenvalues, "Differences of logarithms; the primary one alone, the others with Holm")

# %% tags=["remove-input"]
ends, others = (eigenvalues[eigenvalues["primary"] == primary] for primary in (True, False))
show("kn24.fig2", "kn24.fig2_ends")

# %% tags=["remove-cell"]
of_cnn = others[others["network"] == "small-cnn"]
expect((of_cnn["difference"] < 0).all(), "the text says that every step of the small CNN falls")
expect(
    of_cnn["significant"].tolist() == [True, True, False, False, False], "the text says: the first two significantly"
)
expect(not others[others["network"] != "small-cnn"]["significant"].any(), "the text says: no step of the others")
expect(ends["network"][ends["significant"]].tolist() == ["small-cnn"], "the text says: between the ends the CNN alone")

# %% [markdown]
# ## Against the calibration error

# %% tags=["hide-input"]
paths = {name: means_over_gamma(table, name, "trace own validation", "ece") for name in networks}
over = {name: values_over_gamma(table, name, "ece") for name in networks}

# %% tags=["remove-input"] mystnb={"image": {"alt": "ECE, with t intervals, over the trace of the Hessian of focal loss on validation images, a line a network through its values of gamma in order."}, "figure": {"name": "fig-landscape-ece", "caption": "ECE of equal width (%) against the trace of the Hessian of the loss trained with, on validation images; a point a $\\gamma$, joined in order, means over seeds, with 95 % t intervals of the ECE, each for itself. Counterpart of KN24 Fig. 3."}}
point_figure(paths, "trace of the Hessian, validation", "ECE (%)", xscale="log")

# %% tags=["remove-input"] mystnb={"image": {"alt": "ECE over the gamma of training, a line a network with t intervals."}, "figure": {"name": "fig-landscape-ece-gamma", "caption": "ECE of equal width (%) over $\\gamma$, mean and 95 % t interval over seeds, each for itself. Counterpart of the ECE in KN24 Fig. 2."}}
point_figure(over, r"$\gamma$ of training", "ECE (%)")

# %% tags=["hide-input"]
calibration = evaluate_by_network(table, dict.fromkeys(networks, calibration_contrasts))
format_contrasts(calibration, "ECE in points, traces in logarithms; the others with Holm")

# %% tags=["hide-input"]
pairs = {"by focal loss": "trace own validation", "by cross-entropy": "trace ce validation"}
by_seed = {text: relation_by_seed(table, metric) for text, metric in pairs.items()}
relations = {text: found.groupby("model", sort=False).agg(["mean", "min", "max"]) for text, found in by_seed.items()}
shown = pd.concat(relations, axis="columns")
captioned(shown, "Rank correlation of ECE with the trace over the gammas of a seed, over seeds", precision=2)

# %% tags=["remove-input"]
own, ce = (relations[text]["mean"] for text in pairs)
gammas, eces, _ = over["small-vit"]
note("landscape", largest=gammas[-1], vit_middle=MIDDLE)
[late] = calibration.query("network == 'small-vit' and metric == 'ece' and not primary").itertuples()
note("landscape", vit_change=late.difference)

# %% tags=["remove-cell"]
expect(own["small-cnn"] > 0.99, "the text says that ECE and trace rank alike for the small CNN")
expect(own.drop("small-cnn").abs().max() < 0.3, "the text says that they hardly do for the others")
expect(ce["mlp"] < -0.5, "the text says: the other way round for the MLP")
expect(ce.drop("mlp").abs().max() < 0.1, "the text says: no such relation")
expect(late.low > 0, "the text says that the transformer's ECE rises")
expect(late.p_adjusted <= 0.05, "the text says: significantly")

# %% [markdown]
# Over $\gamma$, ECE and the trace of the loss trained with rank alike for the small CNN, and hardly for the others.
# With the trace of cross-entropy, one landscape for all these networks, there is no such relation; for the MLP it is
# the other way round.
#
# The least ECE of KN24's ViT is 'around $\gamma = 10$'. No network here was trained with a $\gamma$ above
# {glue:text}`landscape-largest:g`, so we judge the part on other architectures only. The ECE of our small transformer
# rises significantly, by {glue:text}`landscape-vit-change:.0f` points, from $\gamma =$
# {glue:text}`landscape-vit-middle:g` to {glue:text}`landscape-largest:g`.

# %% tags=["remove-input"]
show("kn24.fig2_ece", "kn24.fig3", "kn24.relation")

# %% [markdown]
# (sec-landscape-causes)=
# ## Causes kept apart
#
# A trace can be smaller because the loss is, because the probabilities are less spread, or because the logits depend
# less on the weights. With the Hessian $H_s$ of the loss in the logits and their Jacobian $J$ in the weights, the trace
# of a network whose logits are linear in each single weight, as those of ReLU networks are, is exactly
#
# ```{math}
# :label: eq-landscape-factors
# \begin{aligned}
# \operatorname{tr}H &= \overline{\langle H_s, JJ^T\rangle} \\[1ex]
# &= \underbrace{\frac{\operatorname{tr}H}{\operatorname{tr}H_{CE}}}_{\text{loss}}
#   \cdot \underbrace{\vphantom{\frac{H}{H}}\overline{1 - \textstyle\sum_k p_k^2}}_{\text{spread}}
#   \cdot \underbrace{\frac{\operatorname{tr}H_{CE}}{\overline{1 - \sum_k p_k^2}}}_{\text{sensitivity}},
# \end{aligned}
# ```
#
# a bar for the mean over images; $1 - \sum_k p_k^2$ is the trace of cross-entropy's $H_s$. Less concentrated
# probabilities make the second factor larger. All three need one Jacobian an image and no random signs. Here they are
# for the small CNNs, {glue:text}`landscape-runs` networks.

# %% tags=["hide-input"]
curves = {text: ratios_over_gamma(table, "small-cnn", f"{metric} validation") for text, metric in FACTORS.items()}

# %% tags=["remove-input"] mystnb={"image": {"alt": "Over the gamma of training the logarithm of the exact trace of the Hessian of focal loss, and of its three factors, loss, spread and sensitivity, each over that at gamma zero, with t intervals."}, "figure": {"name": "fig-landscape-factors", "caption": "The trace on validation images and the three factors whose product it is, over those at $\\gamma = 0$, natural logarithm; the logarithms of the factors add up to that of the trace. Mean and 95 % t interval over paired seeds, each for itself."}}
point_figure(curves, r"$\gamma$ of training", r"log of value over that at $\gamma = 0$", reference=0)

# %% [markdown]
# How far Hutchinson's estimate is from the exact trace, for two of these networks:

# %% tags=["hide-input"]
two = small[(small["seed"] == 0) & small["gamma"].isin((0, gamma))]
both = two[two["metric"].str.match(r"(?:top|trace|exact) .* validation")]
beside = both.pivot(index="loss", columns="metric", values=["value", "error"])["value"]
errors = both.pivot(index="loss", columns="metric", values="error")[["trace ce validation", "trace own validation"]]
words = {"^exact": "exact trace", "^top": "largest eigenvalue", "^trace": "Hutchinson's trace", " validation": ""}
words |= {r"\bown": "of its loss", r"\bce\b": "of cross-entropy"}
beside = beside.join(errors.add_suffix(", standard error"))
beside.columns = beside.columns.to_series().replace(words, regex=True)
captioned(
    beside,
    "Hessians of two networks on validation images, of the loss each was trained with and of cross-entropy",
    precision=2,
)

# %% [markdown]
# And the recorded networks, on training images as well. For the transformer the factors are of the Gauss-Newton part
# of the Hessian alone, which is not all of its trace.

# %% tags=["hide-input"]
at = factors_at(table, MIDDLE)
captioned(at, f"Focal loss with gamma = {MIDDLE:g} over cross-entropy, geometric means over seeds")

# %% tags=["remove-input"]
note("landscape", middle=MIDDLE)

# %% tags=["remove-cell"]
expect((at["spread"] > 2).all(), "the text says that the probabilities are more spread everywhere")
expect((at["sensitivity"] < 0.55).all(), "the text says that the logits depend less on the weights")
expect(
    at["loss"].xs("train", level="split")[["small-cnn", "mlp"]].max() < 0.06, "the text says that this factor is small"
)
expect((at["weights"] < 1).all(), "the text says that the weights are smaller")

# %% [markdown]
# With $\gamma =$ {glue:text}`landscape-middle:g` the three pull apart. Probabilities are more spread, by more than
# twice, which makes the trace larger. The logits depend less on the weights, which makes it smaller. On training images
# that the CNN and the MLP have fitted, spread is many times larger and the factor of the loss small. The weights are
# smaller than with cross-entropy. What was preregistered:

# %% tags=["hide-input"]
causes = evaluate_by_network(table, dict.fromkeys(networks, cause_contrasts))
format_contrasts(causes, "Differences of logarithms; the primary one alone, the others with Holm")

# %% tags=["remove-input"]
show("kn24.one_landscape", "kn24.one_landscape_train", "kn24.spread")

# %% [markdown]
# ## The same probabilities at a steeper place
#
# A ReLU lets a positive factor through. So a layer can be multiplied by $a$ and the next one divided by $a$
# {cite:p}`dinh17`: the network says what it said, elsewhere in the landscape. Of the small CNNs above with $\gamma = 0$
# and $\gamma =$ {glue:text}`landscape-gamma:g`, first seed:

# %% tags=["hide-input"]
rescaled = read_rescaled()
rescaled = rescaled[rescaled["gamma"].isin((0, gamma))]
wide = rescaled.set_index(["loss", "factor"])[["trace", "ece", "moved"]]
captioned(
    wide, "Trace of cross-entropy's Hessian, ECE (%) of the validation images, largest change of a probability"
).format("{:.1e}", subset="moved")

# %% tags=["remove-input"]
grown = rescaled.pivot(index="loss", columns="factor", values="trace")
most = grown.columns.max()
note("landscape", factor=most, by_factor=(grown[most] / grown[1.0]).mean())
note("landscape", runs=len(small[["loss", "seed"]].drop_duplicates()), gamma=gamma, moved=rescaled["moved"].max())

# %% tags=["remove-cell"]
found = causes.set_index(["metric", "network"])[["low", "high"]]
validation, train = found.loc["log trace ce validation"], found.loc["log trace ce train"]
expect(
    validation["high"]["small-cnn"] < 0 < validation["low"]["mlp"], "the text says: the CNN flatter, the MLP steeper"
)
expect((train["low"][["small-cnn", "mlp"]] > np.log(7)).all(), "the text says: both far steeper on training images")
expect(max(part["low"]["small-vit"] for part in (validation, train)) < 0, "the text says: the transformer is undecided")
expect(
    min(part["high"]["small-vit"] for part in (validation, train)) > 0, "the text says: the transformer is undecided"
)

# %% [markdown]
# The largest change of a probability is {glue:text}`landscape-moved:.0e`, by rounding in float32. So no value of the
# trace belongs to a calibration error: what KN24's figures relate are networks that were trained in one way. Whether it
# helps to make the trace small while training is another question, that of their Fig. 4: see [](#ch-curvature).
#
# :::{admonition} What to remember
# :class: tip
# * 'Flatter' depends on the loss whose Hessian is taken. By the loss trained with, the top eigenvalue of the small CNN
#   on validation images falls with $\gamma$; for the MLP and the transformer we cannot tell.
# * By cross-entropy, one landscape for all networks, the CNN lies flatter after $\gamma = 3$ on validation images and
#   the MLP steeper. On training images both lie far steeper. For the transformer we cannot tell.
# * Flatness does not decide calibration: layers can be rescaled so that the trace grows
#   {glue:text}`landscape-by-factor:.2g`-fold and no probability changes but by rounding. That this is possible is
#   proved.
# * Over $\gamma$, ECE and the trace of the loss trained with rank alike for the small CNN, and hardly for the others.
# * These networks are small, on Fashion-MNIST; KN24's are of CIFAR-100. So all of this is out of regime for KN24.
# :::
#
# ## Verdict

# %% tags=["remove-input"]
show("kn24.theorem1", "kn24.flat_by_scaling")

# %% tags=["remove-input"]
claims_of("landscape")

# %% tags=["remove-input"]
foot("landscape", gamma=gamma)
