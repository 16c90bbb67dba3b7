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
# (page-kn24)=
# # KN24: focal loss and curvature
#
# Masanari Kimura and Hiroki Naganuma, *Geometric Insights into Focal Loss: Reducing Curvature for Enhanced Model
# Calibration*, [arXiv:2405.00442](https://arxiv.org/abs/2405.00442) {cite:p}`kn24`.
#
# :::{admonition} We did not have the paper
# :class: important
# We read a page about it: the abstract, a summary in the third person, the words of Lemma 1 without its formula, four
# captions, and a list of the names of definitions and theorems. No theorem, no definition of focal loss (only that it
# cites Lin et al.), no proof and no curve of a figure is on it. So we judge none of the theory, and no verdict here
# says that KN24 err.
# :::
#
# ## What the paper says
#
# Why does focal loss calibrate? KN24 look at the shape of the loss surface. Their analysis suggests that focal loss
# lowers its curvature in training, and the summary calls that optimisation under a constraint on entropy, with a
# Maxwell–Boltzmann posterior. On CIFAR-100 the top eigenvalue of the Hessian falls as $\gamma$ grows, and ECE is least
# where the trace is reduced to a certain extent, not as far as it goes. A penalty on the trace,
# put into the loss, lowers trace and ECE. Curvature may be one of the essential factors, says the abstract; a general
# mechanism, says the summary.

# %% tags=["parameters"]
fold_above: int = 10  # a group of more claims than this is folded

# %% tags=["hide-input"]
import numpy as np

from focal_lib import theory
from reproduction import engine
from reproduction.ledger.paper import claims_of_paper
from reproduction.ledger.verdicts import expect_verdict
from reproduction.pages.differences import folded_differences
from reproduction.pages.expected import written_for
from reproduction.pages.footer import foot

expect = written_for("kn24", globals())

# %% [markdown]
# ## What can be said of the theory
#
# All of this is ours, proved beside the paper ([](#ch-curvature)). Lemma 1, read as M20's bound by cross-entropy and
# entropy, is true for every $\gamma \ge 0$. In the logit of the true class the loss itself supports the idea for
# samples that a network is sure of, and not for those it is unsure of. Curvature of focal loss with $\gamma = 2$ over
# that of cross-entropy, at $q = 0.3$ and at $q = 0.9$:

# %%
unsure, sure = theory.logit_curvature_ratio(np.array([0.3, 0.9]), 2)
unsure, sure

# %% tags=["remove-cell"]
expect(sure < 1 < unsure, "the text says that focal loss is flatter for sure samples, not for unsure ones")
expect_verdict("FORMALLY PROVED", "kn24.lemma1_reading", "kn24.fig1_coincide_corrected")
expect_verdict("PROVED", "kn24.curvature_logit_high", "kn24.fig1_other_exponent", "kn24.flat_by_scaling")
expect_verdict(
    "UNCHECKABLE HERE", "kn24.theorem1", "kn24.theorem2", "kn24.lemma1", "kn24.fig1_coincide", "kn24.pac_bayes"
)

# %% [markdown]
# Late in training most samples are sure ones, so the paper's idea is plausible; a theorem about weights needs more.
#
# The caption of Fig. 1 has focal loss coincide with cross-entropy at $\gamma = 1$. For the exponent $\gamma$ of
# {cite:t}`lin17` that happens at $\gamma = 0$; for an exponent $\gamma - 1$ the sentence is right, and so is the next.
# As we do not have the paper's definition, we judge neither.
#
# Nor does the page say that curvature alone decides calibration. It cannot: scaling the layers of a ReLU network
# changes the Hessian and no probability. This does not contradict KN24's figures, which compare networks that were
# trained alike.
#
# ## What our networks say
#
# *Out of regime*, all of it: ours are three small networks on part of Fashion-MNIST, and one on part of CIFAR-10, where
# KN24 train several architectures on CIFAR-100 ([](#ch-landscape)). For Figure 4 they, too, have a two-layer network on
# CIFAR-10, on more images as far as we can tell. Ours say nothing for or against the paper. The penalty on the trace
# did lower ECE here as the paper reports. After temperature scaling, of which the paper does not speak, nothing of that
# was left.

# %% tags=["remove-cell"]
expect_verdict("OUT OF REGIME", "kn24.fig2", "kn24.fig2_ece", "kn24.fig3", "kn24.fig4")
expect_verdict("NOT CONFIRMED", "kn24.fig4_after_scaling")

# %% [markdown]
# **How our experiments differ.** In full, for the two studies on record and for the two grids at the paper's size,
# which were not trained:

# %% tags=["remove-input"]
grids = {"curvature of small networks": "landscape", "a penalty on the trace": "cifar10-hessian"}
grids |= {"curvature at the paper's size": "kn24-curvature", "the penalty at the paper's size": "kn24-fig4"}
folded_differences({runs: engine.read_notes(f"workflow/grids/{grid}.yaml").differs for runs, grid in grids.items()})

# %% [markdown]
# ## Every claim of the paper
#
# Each chip leads to the claim's card, with the evidence and what would change the verdict. What we prove and measure
# beside the paper is in [](#ch-ledger).

# %%
claims_of_paper("kn24", fold_above)

# %% tags=["remove-input"]
foot("kn24", fold_above=fold_above)
