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
# (page-kk24)=
# # KK24: the focal calibration map
#
# Viacheslav Komisarenko and Meelis Kull, *Improving Calibration by Relating Focal Loss, Temperature Scaling, and
# Properness*, ECAI 2024, [arXiv:2408.11598](https://arxiv.org/abs/2408.11598) {cite:p}`kk24`. We read the published
# paper in plain text. Some signs and exponents in the proofs of its appendix were lost on the way, and rows of Table 1.
#
# ## What the paper says
#
# Focal loss is not proper, yet networks trained with it are often better calibrated on new data. KK24 explain why.
# Focal loss is a *proper* loss of probabilities that have been passed through a fixed map, the focal calibration map,
# which raises confidence. So a network trained with focal loss reports less than it knows, and is underconfident on its
# training data. On new data it would have been overconfident, and the two errors offset each other. The map is close
# to a temperature. That suggests a new method, *focal temperature scaling*: the map and a temperature, both fitted on
# held-out data.

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
from reproduction.studies.printed_tables import kk24_table1
from reproduction.studies.printed_tables.study import gains_of_kk24

expect = written_for("kk24", globals())

# %% [markdown]
# ## What holds
#
# The decomposition holds, for two classes and for any number ([](#ch-binary), [](#ch-simplex)), and so do nearly all
# statements of the theory. Focal loss is convex in the probability ([](#ch-convexity)). The map is a bijection that
# undoes what focal loss does to the truth. For two classes it lies between two temperatures, and follows the printed
# line of temperatures; so does the closest temperature of three classes ([](#ch-bounds), [](#ch-fit)). Computer
# algebra, ball arithmetic or Coq checked these proofs.
#
# Networks bear the explanation out. Small ones trained with focal loss are underconfident on their training data, and
# the map removes that ([](#ch-training)). Cross-entropy is calibrated there and overconfident on new data, as the
# paper says. From this explanation follows our rule of when focal loss helps ([](#ch-when-it-helps)).

# %% tags=["remove-cell"]
expect_verdict("FORMALLY PROVED", "kk24.prop1", "kk24.prop2", "kk24.prop3", "kk24.prop4", "kk24.prop4_bijection")
expect_verdict("FORMALLY PROVED", "kk24.prop4_inverse_is_minimiser", "kk24.accuracy_unchanged")
expect_verdict("REPRODUCED", "kk24.fig2_line", "kk24.fig6_line", "kk24.focal_underconfident")
expect_verdict("REPRODUCED", "kk24.proper_part_calibrated", "kk24.ce_overconfident")

# %% [markdown]
# ## What we corrected
#
# *Proposition 5* says that the map never lowers the highest probability. That is true for two and three classes. With
# more it is false for small $\gamma$: for $\gamma < 1.4$ with four classes, $\gamma < 12.8$ with ten. With a hundred
# classes, one at
# $q = 0.13$ and the rest equal, the map with $\gamma = 1$ takes more than one percentage point away:

# %%
q = np.array([0.13, *[0.87 / 99] * 99])
mapped = np.exp(theory.focal_log_probs(np.log(q), gamma=1))
mapped.max() - q.max()

# %% tags=["remove-cell"]
expect(mapped.max() < q.max() - 0.01, "the text says that the map takes more than one point away")
expect(
    abs(theory.critical_gamma(4) - 1.4) < 0.05 > abs(theory.critical_gamma(10) - 12.8),
    "'1.4 with four classes', '12.8 with ten'",
)
expect_verdict("REFUTED", "kk24.prop5", "kk24.prop4_inflection", "kk24.fig5_others_fall", "kk24.fig2_caption")
expect_verdict("FORMALLY PROVED", "kk24.prop5_two_classes", "kk24.prop5_three_classes", "kk24.prop5_n_fails")
expect_verdict("FORMALLY PROVED", "kk24.prop5_n_holds", "kk24.prop5_threshold")
expect_verdict("NOT REPRODUCED", "kk24.fig5_caption", "kk24.fig2_error", "kk24.four_line")
expect_verdict("NOT REPRODUCED", "kk24.four_error", "kk24.fig7_corners", "kk24.prop3_example_lower")

# %% [markdown]
# The proof takes a function for concave that is convex at first ([](#ch-confidence)). Confident predictions are safe:
# above a threshold below one half the map never lowers them, and for each number of classes there is a $\gamma$ from
# which on it never does. Where it lowers them, it does so by little, so the paper's explanation does not depend on it.
#
# With three classes the text on Figure 5 has both other probabilities fall. A close second can rise, as it can under a
# temperature below one. The other corrections are of numbers, and small. Two captions seem to name the wrong $\gamma$:
# the printed temperatures are those of $\gamma = 0.5$ and 2, so a slip of labels is likely. The line for four classes
# is another, with the logits of three classes, as none are printed for four. The largest error for two classes is a
# little over the printed bound, and that for four classes is larger than printed. The map and its temperature differ
# most between the centre and the corners. Proposition 3 holds; where its printed proof could not be read we give
# another, with sharp bounds.
#
# ## What our networks say for it and against it
#
# *For it.* The explanation on training data, above. On CIFAR-10, after 100 epochs, the best temperature of focal loss
# is nearer one than that of cross-entropy ([](#ch-training)). On film reviews, focal networks that were trained to the
# end are nearer to human raters than cross-entropy's, as trained ([](#ch-raters)). The paper makes no claim of people;
# on photographs the question is undecided ([](#ch-whom)).
#
# *Undecided.* On CIFAR-100, and on CIFAR-10 after 100 epochs, networks are overconfident enough to count. There we
# cannot tell whether focal temperature scaling beats a temperature.
#
# *Out of regime.* Most runs on CIFAR-10 and Fashion-MNIST are of small networks on short schedules, or see few images.
# They are less overconfident or less accurate than the networks of Table 1. What they show of it
# ([](#ch-table1), [](#ch-larger)) is no evidence for the paper and none against it.
#
# The paper's own Table 1 speaks for it: focal temperature scaling has the lower ECE in every row that we could read,
# significantly so in all of Tiny-ImageNet and in one of CIFAR-10 ([](#ch-published)).

# %% tags=["remove-cell"]
expect_verdict("REPRODUCED", "kk24.raters_overfitted", "kk24.focal_temperature_near_one")
expect_verdict("UNDECIDED", "kk24.table1_ece_every_loss_cifar100", "kk24.table1_ece_focal_losses_cifar100")
expect_verdict("UNDECIDED", "kk24.table1_ece")
expect_verdict("OUT OF REGIME", "kk24.table1_ece_every_loss", "kk24.table1_ece_focal_losses_resnet18")
gains = gains_of_kk24(kk24_table1())
sure = gains[(gains["difference"] < 0) & (gains["p_adjusted"] <= 0.05)]["dataset"].value_counts()
expect((gains["difference"] < 0).all(), "the text says that every legible row has the lower ECE")
expect(sure["Tiny-ImageNet"] == (gains["dataset"] == "Tiny-ImageNet").sum(), "the text says: in all of Tiny-ImageNet")
expect(sure.drop("Tiny-ImageNet").to_dict() == {"CIFAR-10": 1}, "the text says: in one of CIFAR-10")

# %% [markdown]
# **How our experiments differ.** KK24 train ResNet-50 on a long schedule with five seeds. Our recorded runs have
# smaller networks, shorter schedules and fewer seeds. Each study lists its differences where its networks are
# introduced ([](#ch-table1), [](#ch-larger), [](#ch-training)). Grids at the paper's size are ready, and not trained.

# %% tags=["remove-input"]
grids = {"CIFAR at the paper's size": "kk24-table1", "Tiny-ImageNet at the paper's size": "kk24-tinyimagenet"}
folded_differences({runs: engine.read_notes(f"workflow/grids/{grid}.yaml").differs for runs, grid in grids.items()})

# %% [markdown]
# ## Every claim of the paper
#
# Each chip leads to the claim's card, with the evidence and what would change the verdict. What we add to the paper,
# corrections among it, is in [](#ch-ledger).

# %%
claims_of_paper("kk24", fold_above)

# %% tags=["remove-input"]
foot("kk24", fold_above=fold_above)
