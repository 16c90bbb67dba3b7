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
# whose Hessian is taken, and no flatness fixes the calibration. By the loss trained with, on validation images, the top
# eigenvalue falls, in the mean, in {glue:text}`landscape-falls` of {glue:text}`landscape-steps` steps of $\gamma$,
# significantly in {glue:text}`landscape-falls-sure` (5 %, Holm over the steps of a network). By one loss for all,
# cross-entropy, the trace where focal loss with $\gamma = 3$ leads is, against that where cross-entropy leads, on
# validation and on training images, {glue:text}`landscape-said:s`. And one layer multiplied by
# {glue:text}`landscape-factor:g` and the next divided by it multiply the trace by {glue:text}`landscape-by-factor:.2g`,
# and no probability changes but by rounding.
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
# Which loss the Hessian is of, what we read does not say. With the loss that was trained with, the landscape
# itself changes with $\gamma$; so we measure both, that of focal loss and that of cross-entropy, in the same networks.
# The caption of KN24's Fig. 1 would be right for an exponent $\gamma - 1$; then their $\gamma$ is larger by 1 than
# ours.

# %% tags=["parameters"]
gamma: float = 3.0  # the focal loss to look at most closely, one of workflow/grids/landscape.yaml; above 0

# %% tags=["hide-input"]

import numpy as np
import pandas as pd

from focal_lib.plots.style import use_style
from reproduction import engine
from reproduction.ledger import claims_of, show
from reproduction.pages.differences import differences
from reproduction.pages.footer import foot
from reproduction.pages.notes import note
from reproduction.pages.plots.curves import panel_figure, point_figure
from reproduction.pages.tables import captioned, in_words
from reproduction.studies.landscape import plan
from reproduction.studies.landscape.contrasts import (
    FACTORS,
    evaluate_by_network,
    factors_at,
    means_over_gamma,
    name_factor_intervals,
    name_factors,
    ratios_over_gamma,
    read_landscape,
    read_rescaled,
    say_places,
    say_steps,
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

# %% [markdown]
# ## What was run
#
# Three small networks, one of them a transformer, trained with focal loss on Fashion-MNIST, four seeds each
# (`workflow/grids/landscape.yaml`). On {glue:text}`landscape-recorded` training and as many validation images of each
# run the Hessian $H$ of the mean loss in all weights was looked at without writing it down: its largest eigenvalue by
# Lanczos iteration, its trace by Hutchinson's estimator, the mean of $v^THv$ over {glue:text}`landscape-signs`
# vectors of random signs. The measurements are recorded (`results/landscape`), the weights are not. Of a network of
# ReLUs the trace can be had without signs, see [](#sec-landscape-causes): of its {glue:text}`landscape-estimates`
# estimates {glue:text}`landscape-near` lie within two standard errors of it. The
# standard error of a trace is, at the median, {glue:text}`landscape-relative:s` % of it
# ({glue:text}`landscape-names:s`). All networks of one kind are given the same signs, so their errors are alike, and
# cancel in part in what is compared; those estimates are not as many independent trials. KN24's own size is for a
# cluster: `workflow/grids/kn24-curvature.yaml` trains,
# `measure_landscape` measures.

# %% tags=["remove-input"]
note("landscape", recorded=int(table["images"].iloc[0]), signs=int(table["signs"].iloc[0]))
near, estimates = share_within(table[(table["model"] != "small-vit") & ~table["metric"].str.startswith("log")])
note("landscape", near=near, estimates=estimates)
traces = table[table["metric"].str.startswith("trace")]
relative = (100 * traces["error"] / traces["value"].abs()).groupby(traces["model"]).median()
note(
    "landscape",
    relative=", ".join(f"{relative[name]:.0f}" for name in networks),
    names=", ".join(map(in_words, networks)),
)
differences(engine.read_notes("workflow/grids/landscape.yaml").differs)

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
# What to compare was written down before the curvature of any of these networks was measured: by KN24, that the top
# eigenvalue falls with each step of $\gamma$. The mean falls so ({glue:text}`landscape-by-network:s`).

# %% tags=["hide-input"]
steps = {name: eigenvalue_contrasts(gammas) for name, gammas in NETWORKS.items()}
eigenvalues = evaluate_by_network(table, steps)
format_contrasts(eigenvalues, "Differences of logarithms; the primary one alone, the others with Holm")

# %% tags=["remove-input"]
ends, others = (eigenvalues[eigenvalues["primary"] == primary] for primary in (True, False))
note("landscape", by_network=in_words(say_steps(others)))
note("landscape", top=name_factor_intervals(ends))
falls = others["difference"] < 0
note("landscape", falls=falls.sum(), falls_sure=(falls & others["significant"]).sum(), steps=len(others))
show("kn24.fig2", "kn24.fig2_ends")

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
for key, text in (("own", "by focal loss"), ("ce", "by cross-entropy")):
    means = relations[text].loc[networks, "mean"]
    note("landscape", {f"relation-{key}": ", ".join(f"{mean:+.2f}" for mean in means)})
gammas, eces, _ = over["small-vit"]
note("landscape", largest=gammas[-1], vit=", ".join(f"{ece:.1f}" for ece in eces), vit_middle=MIDDLE)
note("landscape", vit_gammas=", ".join(f"{value:g}" for value in gammas))
[late] = calibration.query("network == 'small-vit' and metric == 'ece' and not primary").itertuples()
ends_text = f"{late.difference:+.1f} points (95 % t interval {late.low:+.1f} to {late.high:+.1f}"
note("landscape", vit_change=f"{ends_text}; p by Holm {late.p_adjusted:.2g})")

# %% [markdown]
# Over the values of $\gamma$ of a seed the rank correlation of ECE with the trace of the loss trained with is
# {glue:text}`landscape-relation-own:s` ({glue:text}`landscape-names:s`), mean over seeds; with the trace of
# cross-entropy, which is one landscape for all these networks, it is {glue:text}`landscape-relation-ce:s`.
#
# The least ECE of KN24's ViT is 'around $\gamma = 10$'. No network here was trained with a $\gamma$ above
# {glue:text}`landscape-largest:g`, so that of this sentence only the part on other architectures is judged. The small
# transformer of the record has {glue:text}`landscape-vit:s` % with $\gamma$ of {glue:text}`landscape-vit-gammas:s`,
# means over seeds. From {glue:text}`landscape-vit-middle:g` to {glue:text}`landscape-largest:g` its ECE changes by
# {glue:text}`landscape-vit-change:s`.

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
for key, name in (("loss", "loss"), ("spread", "spread"), ("sensitivity", "sensitivity"), ("weights", "weights")):
    for split in ("train", "validation"):
        note("landscape", {f"{key}-{split}": name_factors(np.log(at[name].xs(split, level="split")))})
note("landscape", middle=MIDDLE)

# %% [markdown]
# On training images, with $\gamma =$ {glue:text}`landscape-middle:g`: the factor of the loss is
# {glue:text}`landscape-loss-train:s`, that of the spread {glue:text}`landscape-spread-train:s`, that of the
# sensitivity {glue:text}`landscape-sensitivity-train:s` ({glue:text}`landscape-names:s`). On validation images they
# are {glue:text}`landscape-loss-validation:s`; {glue:text}`landscape-spread-validation:s`;
# {glue:text}`landscape-sensitivity-validation:s`. The norms of the weights are {glue:text}`landscape-weights-train:s`
# times those with cross-entropy. What was written down:

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
for key, metric in (("ce", "log trace ce validation"), ("ce-train", "log trace ce train")):
    note("landscape", {key: name_factor_intervals(causes[causes["metric"] == metric])})
found = causes[causes["metric"].isin(("log trace ce validation", "log trace ce train"))]
note("landscape", said=say_places(found))

# %% [markdown]
# The largest change of a probability is {glue:text}`landscape-moved:.0e`, by rounding in float32. So no value of the
# trace belongs to a calibration error: what KN24's figures relate are networks that were trained in one way. Whether it
# helps to make the trace small while training is another question, that of their Fig. 4: see [](#ch-curvature).
#
# :::{admonition} What to remember
# :class: tip
# * 'Flatter' depends on the loss whose Hessian is taken. By the loss trained with, on validation images, the top
#   eigenvalue with $\gamma = 7$ is {glue:text}`landscape-top:s` times that of cross-entropy
#   ({glue:text}`landscape-names:s`; 95 % t intervals, each for itself). Its mean falls in
#   {glue:text}`landscape-falls` of {glue:text}`landscape-steps` steps of $\gamma$, significantly (5 %, Holm) in
#   {glue:text}`landscape-falls-sure`.
# * By cross-entropy, one landscape for all networks, the trace where $\gamma = 3$ leads is {glue:text}`landscape-ce:s`
#   times that where cross-entropy leads, {glue:text}`landscape-ce-train:s` times with training images; of validation
#   and training together, it is {glue:text}`landscape-said:s`. (The table above corrects by Holm over more, and has
#   the primary one alone.)
# * Flatness does not decide calibration: layers can be rescaled so that the trace grows
#   {glue:text}`landscape-by-factor:.2g`-fold and no probability changes but by rounding. That this is possible is
#   proved.
# * Over $\gamma$, ECE and the trace of the loss trained with have rank correlations of
#   {glue:text}`landscape-relation-own:s` ({glue:text}`landscape-names:s`), means over seeds. What KN24's figures say is
#   judged beside each comparison, and not all of it is decided.
# * The networks are small, on Fashion-MNIST; KN24's are of CIFAR-100, and its theorems are not legible here.
# :::
#
# ## Verdict

# %% tags=["remove-input"]
show("kn24.theorem1", "kn24.flat_by_scaling")

# %% tags=["remove-input"]
claims_of("landscape")

# %% tags=["remove-input"]
foot("landscape", gamma=gamma)
