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
# **The question.** {cite:t}`kn24` conjecture that focal loss calibrates partly because it lowers the curvature of the
# loss. [](#ch-curvature) looks at the loss itself. How curved is it in the weights of networks, does it become flatter
# as $\gamma$ grows, and is it this that calibrates?
#
# **In short.** How flat a network lies depends on the loss whose Hessian is taken. By the loss trained with, the top
# eigenvalue of a small CNN falls with $\gamma$; for a small MLP and a small transformer we cannot tell. By one loss for
# all, cross-entropy, the CNN with $\gamma = 3$ lies flatter on validation images, and far steeper on training images.
# And flatness does not decide calibration: two layers can be rescaled so that the trace grows
# {glue:text}`landscape-by-factor:.2g`-fold, and no probability changes but by rounding. The networks are small, so none
# of this speaks for or against KN24.
#
# :::{admonition} As printed: KN24, captions of Figs. 2 and 3
# 'For all architectures, $\lambda_{\max}(H_{val})$ monotonically decreases with increasing $\gamma$.' 'ECE reaches its
# minimum for ViT architecture around $\gamma$ = 10 and for other architectures around $\gamma = 3,4$.' 'ECE reaches a
# minimum peak for all network architectures when $\operatorname{Tr}(H_{val})$ is reduced to a certain extent rather
# than maximizing it.'
# :::
#
# What we had of the paper ([](#page-kn24)) does not say of which loss the Hessian is. So we measure both in the same
# networks, the loss trained with and cross-entropy. If KN24's exponent is $\gamma - 1$, as the caption of their Fig. 1
# suggests, their $\gamma$ is larger by 1 than ours.

# %% tags=["parameters"]
gamma: float = 3.0  # the focal loss whose layers are rescaled, one of workflow/grids/landscape.yaml; above 0

# %% tags=["hide-input"]
import numpy as np
import pandas as pd
from IPython.display import HTML

from focal_lib.plots.style import use_style
from reproduction.ledger import claims_of, show
from reproduction.pages.blocks import fold
from reproduction.pages.expected import written_for
from reproduction.pages.footer import foot
from reproduction.pages.notes import note
from reproduction.pages.plots.curves import panel_figure, point_figure
from reproduction.pages.tables import as_html, captioned
from reproduction.studies.landscape import contrasts, plan
from reproduction.studies.landscape.measures import relation_by_seed
from reproduction.studies.shared.written_contrasts import format_contrasts

use_style()
table = contrasts.read_landscape()
if gamma not in (known := set(table.loc[table["model"] == "small-cnn", "gamma"]) - {0}):
    raise ValueError(f"gamma must be one of {sorted(known)}. Got {gamma:g}.")
expect = written_for("landscape", globals())

# %% [markdown]
# ## What was measured
#
# Three small networks learnt Fashion-MNIST, four seeds each (`workflow/grids/landscape.yaml`); [](#page-kn24) says how
# they differ from KN24's. On {glue:text}`landscape-recorded` training and as many validation images we take the Hessian
# $H$ of the mean loss in all weights. Two numbers say how curved it is: its largest eigenvalue and its trace.
#
# The trace is estimated, from vectors of random signs. For ReLU networks there is an
# [exact value](#sec-landscape-causes): {glue:text}`landscape-near` of {glue:text}`landscape-estimates` estimates lie
# within two standard errors of it. Networks of one kind get the same signs, so their errors are not independent.

# %% tags=["remove-cell"]
of_relus = table[(table["model"] != "small-vit") & ~table["metric"].str.startswith("log")]
near, estimates = contrasts.share_within(of_relus)
note("landscape", recorded=int(table["images"].iloc[0]), near=near, estimates=estimates)

# %% [markdown]
# ## Over gamma

# %%
kinds = {"focal loss, top eigenvalue": "top own", "focal loss, trace": "trace own", "cross-entropy, trace": "trace ce"}
ratios = contrasts.ratios_over_gamma
panels = {
    name: {title: ratios(table, name, f"{kind} validation") for title, kind in kinds.items()} for name in plan.NETWORKS
}

# %% tags=["remove-input"] mystnb={"image": {"alt": "Three panels, one a network: over the gamma of training the logarithm of the top eigenvalue and of the trace of focal loss, and of the trace of cross-entropy, on validation images, each over that at gamma zero, with t intervals."}, "figure": {"name": "fig-landscape-validation", "caption": "The top eigenvalue of the small CNN falls with each step of $\\gamma$; the other networks show no such order. Curvature on validation images over that at $\\gamma = 0$, natural logarithm; mean and 95 % t interval over paired seeds. Counterpart of KN24 Fig. 2."}}
panel_figure(panels, r"$\gamma$ of training", r"log of curvature over that at $\gamma = 0$", reference=0)

# %%
steps = {name: plan.eigenvalue_contrasts(gammas) for name, gammas in plan.NETWORKS.items()}
eigenvalues = contrasts.evaluate_by_network(table, steps)
calibration, causes = (
    contrasts.evaluate_by_network(table, dict.fromkeys(plan.NETWORKS, written))
    for written in (plan.calibration_contrasts(), plan.cause_contrasts())
)
caption = "ECE in points, differences of logarithms; of each part the primary one alone, the others with Holm"
every = format_contrasts(pd.concat([eigenvalues, calibration, causes]), caption)
HTML(fold("All comparisons that were preregistered, those of the next sections too", as_html(every)))

# %% tags=["remove-cell"]
ends, others = (eigenvalues[eigenvalues["primary"] == primary] for primary in (True, False))
of_cnn = others[others["network"] == "small-cnn"]
expect((of_cnn["difference"] < 0).all(), "the text says that every step of the small CNN falls")
expect(of_cnn["significant"].tolist() == [True] * 2 + [False] * 3, "the text says: the first two significantly")
beside = others[others["network"] != "small-cnn"]
rises = beside.groupby("network")["difference"].max() > 0
expect(rises.all() and not beside["significant"].any(), "the text says: no such order, no significant step")
expect(ends["network"][ends["significant"]].tolist() == ["small-cnn"], "the text says: between the ends the CNN alone")

# %% [markdown]
# We preregistered, after KN24, that the top eigenvalue falls with each step of $\gamma$. For the small CNN every step
# falls, the first two significantly. For the others no step does so significantly. From cross-entropy to $\gamma = 7$
# the fall is significant for the CNN alone.

# %% tags=["remove-input"]
show("kn24.fig2", "kn24.fig2_ends")

# %% [markdown]
# ## Against the calibration error

# %%
paths = {name: contrasts.means_over_gamma(table, name, "trace own validation", "ece") for name in plan.NETWORKS}
over = {name: contrasts.values_over_gamma(table, name, "ece") for name in plan.NETWORKS}

# %% tags=["remove-input"] mystnb={"image": {"alt": "ECE, with t intervals, over the trace of the Hessian of focal loss on validation images, a line a network through its values of gamma in order."}, "figure": {"name": "fig-landscape-ece", "caption": "For the small CNN ECE and trace fall together; for the other two they do not. A point a $\\gamma$, joined in order; trace of the loss trained with, validation images; ECE of equal width, mean and 95 % t interval over seeds. Counterpart of KN24 Fig. 3."}}
point_figure(paths, "trace of the Hessian, validation", "ECE (%)", xscale="log")

# %% tags=["remove-input"] mystnb={"image": {"alt": "ECE over the gamma of training, a line a network with t intervals."}, "figure": {"name": "fig-landscape-ece-gamma", "caption": "The ECE of the small CNN falls as far as we went; that of the transformer rises again. ECE of equal width, mean and 95 % t interval over seeds. Counterpart of the ECE in KN24 Fig. 2."}}
point_figure(over, r"$\gamma$ of training", "ECE (%)")

# %%
pairs = {"by focal loss": "trace own validation", "by cross-entropy": "trace ce validation"}
by_seed = pd.DataFrame({title: relation_by_seed(table, metric) for title, metric in pairs.items()})
relations = by_seed.groupby("model", sort=False).agg(["mean", "min", "max"])
captioned(relations, "Rank correlation of ECE with the trace over the gammas of a seed, over seeds", precision=2)

# %% tags=["remove-cell"]
own, ce = (relations[title]["mean"] for title in pairs)
[late] = calibration.query("network == 'small-vit' and metric == 'ece' and not primary").itertuples()
note("landscape", vit_change=late.difference)
expect(own["small-cnn"] > 0.99 and own.drop("small-cnn").abs().max() < 0.3, "the text says: alike for the CNN alone")
expect(ce["mlp"] < -0.5 and ce.drop("mlp").abs().max() < 0.1, "the text says: no relation, for the MLP the other way")
expect((np.diff(over["small-cnn"][1]) < 0).all(), "the caption says that the CNN's ECE falls as far as we went")
expect(late.low > 0 and (over["small-vit"][0][-1], plan.MIDDLE) == (7, 3), "the text says: it rises from 3 to 7")

# %% [markdown]
# By the loss trained with, ECE and trace rank alike for the small CNN, and hardly for the others. By cross-entropy, one
# landscape for all these networks, there is no such relation. For the MLP it is the other way round. We trained with no
# $\gamma$ above 7, so of KN24's sentence on ECE we judge the part without ViT. The ECE of our small transformer rises
# by {glue:text}`landscape-vit-change:.0f` points from $\gamma = 3$ to 7.

# %% tags=["remove-input"]
show("kn24.fig2_ece", "kn24.fig3", "kn24.relation")

# %% [markdown]
# (sec-landscape-causes)=
# ## Three causes
#
# A trace can be smaller because the loss is, because the probabilities are less spread, or because the logits depend
# less on the weights. Let $H_s$ be the Hessian of the loss in the logits, and $J$ the Jacobian of the logits in the
# weights. If the logits are linear in each single weight, as in ReLU networks, the trace is exactly
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
# a bar for the mean over images; $1 - \sum_k p_k^2$ is the trace of cross-entropy's $H_s$. Here are the small CNNs:

# %%
curves = {title: ratios(table, "small-cnn", f"{name} validation") for title, name in contrasts.FACTORS.items()}

# %% tags=["remove-input"] mystnb={"image": {"alt": "Over the gamma of training the logarithm of the exact trace of the Hessian of focal loss, and of its three factors, loss, spread and sensitivity, each over that at gamma zero, with t intervals."}, "figure": {"name": "fig-landscape-factors", "caption": "Spread raises the trace, the other two lower it, and they win. Small CNN, validation images, over the values at $\\gamma = 0$, natural logarithm: the three add up to the trace. Mean and 95 % t interval over paired seeds."}}
point_figure(curves, r"$\gamma$ of training", r"log of value over that at $\gamma = 0$", reference=0)

# %%
at = contrasts.factors_at(table, plan.MIDDLE)
captioned(at, f"Focal loss with gamma = {plan.MIDDLE:g} over cross-entropy, geometric means over seeds", precision=2)

# %% tags=["remove-cell"]
expect(all((curves[n][1][1:] < 0).all() for n in ("trace", "loss", "sensitivity")), "the caption says: they win")
expect((at["spread"] > 2).all() and (at["sensitivity"] < 0.55).all(), "the text says: more spread, less sensitive")
expect((curves["spread"][1][1:] > 0).all(), "the caption says that spread raises the trace")
fitted = at.xs("train", level="split").loc[["small-cnn", "mlp"]]
expect(fitted["loss"].max() < 0.06 and fitted["spread"].min() > 10, "the text says: small, and many times larger")
expect((at["weights"] < 1).all(), "the text says that the weights are smaller")
found = causes.set_index(["metric", "network"])[["low", "high"]]
validation, train = found.loc["log trace ce validation"], found.loc["log trace ce train"]
expect(validation["high"]["small-cnn"] < 0 < validation["low"]["mlp"], "the text says: CNN flatter, MLP steeper")
expect((train["low"][["small-cnn", "mlp"]] > np.log(7)).all(), "the text says: both far steeper on training images")
for part in (validation, train):
    expect(part["low"]["small-vit"] < 0 < part["high"]["small-vit"], "the text says: the transformer is undecided")

# %% [markdown]
# With $\gamma = 3$ probabilities are more than twice as spread, which makes the trace larger. The logits depend less on
# the weights, which makes it smaller. On training images that CNN and MLP have fitted, spread is many times larger and
# the factor of the loss small. The weights are smaller, too. (For the transformer this is the Gauss-Newton part alone.)
#
# By cross-entropy's trace the CNN lies flatter on validation images, and the MLP steeper. On training images both lie
# far steeper. For the transformer we cannot tell.

# %% tags=["remove-input"]
show("kn24.one_landscape", "kn24.one_landscape_train", "kn24.spread")

# %% [markdown]
# ## The same probabilities at a steeper place
#
# A ReLU lets a positive factor through. So one layer can be multiplied by $a$ and the next divided by it
# {cite:p}`dinh17`: the network says what it said, elsewhere in the landscape. By hand, with two weights in a row that
# are both 1: the output depends on their product. At the least loss the trace is proportional to the sum of their
# squares, $a^2 + 1/a^2$. Here it is for four $a$, and then for two of the small CNNs, first seed:

# %%
{a: round(a**2 + 1 / a**2, 2) for a in (0.5, 1, 2, 5)}

# %%
rescaled = contrasts.read_rescaled().query("gamma in (0, @gamma)")
wide = rescaled.set_index(["loss", "factor"])[["trace", "ece", "moved"]]
caption = "Trace of cross-entropy's Hessian, ECE (%) of the validation images, largest change of a probability"
captioned(wide, caption, precision=1).format("{:.0e}", subset="moved")

# %% tags=["remove-cell"]
grown = rescaled.pivot(index="loss", columns="factor", values="trace")
note("landscape", by_factor=(grown[grown.columns.max()] / grown[1.0]).mean())
expect(rescaled["moved"].max() < 1e-5, "the text says: by rounding")

# %% [markdown]
# No probability changes but by rounding in float32. So no value of the trace belongs to a calibration error: KN24's
# figures relate networks that were trained in one way. Whether it helps to keep the trace small *while training* is
# another question ([](#ch-curvature)).
#
# :::{admonition} What to remember
# :class: tip
# * 'Flatter' depends on the loss whose Hessian is taken, and on the images.
# * Over $\gamma$, ECE and the trace of the loss trained with rank alike for one of three networks.
# * Flatness alone does not decide calibration, and that is proved: layers can be rescaled.
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
