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
# (page-m20)=
# # M20: why focal loss calibrates
#
# Jishnu Mukhoti, Viveka Kulharia, Amartya Sanyal, Stuart Golodetz, Philip H. S. Torr and Puneet K. Dokania,
# *Calibrating Deep Neural Networks using Focal Loss*, NeurIPS 2020,
# [arXiv:2002.09437](https://arxiv.org/abs/2002.09437) {cite:p}`m20`.
#
# :::{admonition} Not the published version
# :class: important
# We read the anonymous submission to ICLR 2020, *The Intriguing Effects of Focal Loss on the Calibration of Deep Neural
# Networks*. Every claim, section, table and figure that this book calls M20's is that text's. The published paper may
# say it otherwise, or not at all: its policy FLSD-53, say, changes $\gamma$ at another threshold. Formulas in our copy
# are garbled but legible; in one step of a proof the bars of an absolute value are missing. Of the figures we have the
# captions, and the numbers printed in Fig. 8; we could not read the curves.
# :::
#
# ## What the paper says
#
# A network trained with cross-entropy goes on lowering its loss after it has learnt its training set, by becoming more
# confident. On new data its mistakes become more confident, too. The gradient of focal loss is that of cross-entropy
# times a factor, $g$. It is above 1 for samples that the network still gets wrong and below 1 for those it is sure of.
# So focal loss restrains the weights when confidence would run away. M20 choose $\gamma$ for each sample by where $g$
# crosses 1. Their networks are better calibrated than those of cross-entropy in almost all cases, as accurate, and
# stay confident where they are right.

# %% tags=["parameters"]
fold_above: int = 8  # a group of more claims than this is folded

# %% tags=["hide-input"]
import numpy as np

from focal_lib import theory
from reproduction import engine
from reproduction.ledger.paper import claims_of_paper
from reproduction.ledger.verdicts import expect_verdict
from reproduction.pages.differences import folded_differences
from reproduction.pages.expected import written_for
from reproduction.pages.footer import foot
from reproduction.studies.cifar.claims_m20_l25 import CLIPPED, LARGER, against_cross_entropy

expect = written_for("m20", globals())

# %% [markdown]
# ## What holds
#
# The theory holds. The gradient identity, the shape of $g$ and the formula for $\gamma$ are proved ([](#ch-gradient)).
# For a threshold of one quarter the formula gives this $\gamma$, and $g$ is 1 there:

# %%
gamma = theory.lambert_gamma(0.25)
gamma, np.exp(theory.log_gain(0.25, gamma))

# %% tags=["remove-cell"]
expect(abs(theory.log_gain(0.25, gamma)) < 1e-9, "the text says that g is 1 there")
expect_verdict("FORMALLY PROVED", "m20.prop1", "m20.g_unimodal", "m20.threshold", "m20.prop2_inequality", "m20.app_h")
expect_verdict("FORMALLY PROVED", "m20.policy_regularise", "m20.app_h_below_one", "m20.entropy_binary")
expect_verdict(
    "REPRODUCED", "m20.flsd_broadly_lowest", "m20.almost_all_cases", "m20.similar_accuracy", "m20.best_of_all"
)
expect_verdict("REPRODUCED", "m20.cifar10_before_long", "m20.gains_faster", "m20.linear_norm", "m20.linear_logits")
expect_verdict("REPRODUCED", "m20.linear_direction", "m20.table6_printed", "m20.fig8_right")
expect_verdict("REPRODUCED", "m20.fig1_test_nll", "m20.fig1_ece", "m20.fig3_nll_wrong", "m20.weight_norm_early")
expect_verdict("NOT REPRODUCED", "m20.fig1_training_error")

# %% [markdown]
# The entropy bound of Appendix H holds for every $\gamma \ge 0$, which is more than the paper proves. For two classes
# the solutions of focal loss do have the higher entropy.
#
# The printed tables bear out the main conclusions: FLSD-53 has the lowest ECE of four losses in most rows, is better
# than cross-entropy in almost all, and about as accurate. And it stays confident where it is right: in Table 6, after a
# temperature, it has far more nearly certain predictions than cross-entropy ([](#ch-published)).
#
# So do our networks where cross-entropy is as overconfident as M20's. A small network on CIFAR-10, trained by M20's
# schedule shortened, is better calibrated as trained with $\gamma = 3$ than with cross-entropy ([](#ch-larger)). While
# these networks train, test NLL and ECE of cross-entropy rise after the first drop of the learning rate, through the
# mistakes alone. With $\gamma = 3$ the rise is smaller, and the weights, larger at first, end smaller. Only the
# training error falls between the drops, where M20 saw it rise slightly ([](#ch-miscalibration)).
# Below the threshold focal loss gains confidence faster, as the paper says ([](#ch-miscalibration)). In the linear
# model of Appendix G cross-entropy ends with larger weights of the same direction ([](#ch-simple)).
#
# ## What we corrected
#
# Only one statement of the theory is false, and it is an aside. An optimiser cannot get stuck at a locally best
# temperature: log-loss is not convex in $T$, as they say, but it is in $1/T$, so each local minimum is the global one.
# (M20's search on a grid still has a point: it can choose $T$ by ECE.) Four clauses hold under a condition that the
# paper leaves out, and that is harmless where the paper works:
#
# * The focal gradient is the smaller *exactly* if $g \le 1$, unless both gradients are zero.
# * The slope of $g$ decreases throughout for $\gamma \le 1$ only; the proof needs only its sign, which is right.
# * That $g = 1$ *only* at the threshold, and that the other branch gives a negative $\gamma$, depends on which side of
#   one half the threshold lies. Below it, where the paper's thresholds are, that branch is $\gamma = 0$.
#
# Two sentences about the tables are true of most cells. 'For every model and dataset' one schedule is the better as
# trained; after temperature scaling, of which the sentence does not speak, it is so in most rows. Of the
# other focal losses the best temperature is as near to 1 as said with $\gamma = 3$ in most rows, not with the
# schedules.
#
# Two sentences of Appendix G, *as we read them*, are not reproduced in its linear model:
#
# * 'CE misclassifies almost always with greater than 90% confidence'. We take that as nine mistakes in ten. Far fewer
#   are so confident.
# * Focal loss keeps weights small, and 'this helps in calibration'. M20 say so of networks. We ask their linear model
#   whether focal loss comes nearer to the true probabilities. There cross-entropy does.
#
# The model, its flipped labels and $\gamma = 1$ are M20's. They do not print the spread of the clusters or the number
# of samples, so these are ours. At none of nine spreads does either sentence hold ([](#ch-simple)).

# %% tags=["remove-cell"]
expect_verdict("REFUTED", "m20.nll_local_optimum")
expect_verdict("PROVED", "m20.nll_not_convex")
expect_verdict("CONDITIONAL", "m20.prop1_iff", "m20.g_slope_decreasing", "m20.prop2_equality", "m20.principal_branch")
expect_verdict("NOT REPRODUCED", "m20.schedule_532_after", "m20.temperatures_other_focal")
expect_verdict("NOT REPRODUCED", "m20.linear_high_confidence", "m20.linear_calibration")
expect_verdict("CONFIRMED", "m20.linear_high_never", "m20.linear_underconfident")
expect_verdict("REPRODUCED", "m20.schedule_532_before")

# %% [markdown]
# ## Out of regime
#
# After a short schedule cross-entropy is hardly overconfident. There focal loss with $\gamma = 3$ comes out *worse* as
# trained, in our small network and in ResNet-18 ([](#ch-table1), [](#ch-larger)). That does not speak against M20,
# whose networks are trained for long and are more overconfident. One rule predicts both results: focal loss helps where
# it takes away less than twice the overconfidence that is there ([](#ch-when-it-helps)). What M20 observe on texts we
# could try on small data only ([](#ch-text)); it counts neither for the paper nor against it.

# %% tags=["remove-cell"]
expect_verdict("OUT OF REGIME", "m20.cifar10_before", "m20.cifar10_before_resnet18", "m20.text_before")
expect_verdict("CONFIRMED", "m20.longer_training_favours_focal")
short = [against_cross_entropy("focal 3", "pre", runs).measured for runs in (CLIPPED, LARGER)]
expect(min(short) > 0, "the text says that gamma 3 is worse after a short schedule, in ResNet-18, too")

# %% [markdown]
# **How our experiments differ.** M20 train ResNets, a Wide ResNet and DenseNet on all of CIFAR for long, once each. Our
# recorded runs have smaller networks, shorter schedules and two to four seeds. Each study lists its differences where
# its networks are introduced ([](#ch-table1), [](#ch-larger), [](#ch-miscalibration), [](#ch-text)). What M20's
# published code does otherwise than the text is in [](#page-codes). Grids at the paper's size are ready, and not
# trained.

# %% tags=["remove-input"]
grids = {"the tables at the paper's size": "m20-tables", "its figures": "m20-figures", "its texts": "m20-text"}
folded_differences({runs: engine.read_notes(f"workflow/grids/{grid}.yaml").differs for runs, grid in grids.items()})

# %% [markdown]
# ## Every claim of the paper
#
# Each chip leads to the claim's card, with the evidence and what would change the verdict. What we add to the paper,
# corrections among it, is in [](#ch-ledger).

# %%
claims_of_paper("m20", fold_above)

# %% tags=["remove-input"]
foot("m20", fold_above=fold_above)
