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
# (ch-formal)=
# # What has a proof checker checked?
#
# **The question.** Sympy reduced the derivations of this book, step by step. But we chose the steps, and judged that
# they make a proof, and a simplification of sympy can be wrong. Who checks that?
#
# **In short.** Coq does, a program that accepts a proof only where each step follows by a rule of logic.
#
# * It has accepted {glue:text}`formal-theorems:d` theorems on these papers. A theorem about every $\gamma$, or every
#   number of classes, holds for all of them, not only for those tried.
# * With them {glue:text}`formal-proved:d` claims of the ledger are proved, {glue:text}`formal-conditional:d` with their
#   exact conditions, and {glue:text}`formal-denied:d` denied.
# * Coq {glue:text}`formal-coq:s` checked them all. Where Coq is installed, `make proofs` checks them again.

# %% tags=["parameters"]
statement: str = "Confidence.map_lowers_top"  # file and name of the lemma or theorem that the figure is about

# %% tags=["hide-input"]
from focal_lib.plots.style import use_style
from reproduction.ledger import formal_page, ledger, show
from reproduction.ledger.formal import coq_version, stale
from reproduction.ledger.verdicts import expect_verdict
from reproduction.pages.expected import written_for
from reproduction.pages.footer import foot
from reproduction.pages.notes import note
from reproduction.pages.plots.graphs import columns_figure

use_style()
claims = ledger()
expect = written_for("formal_proofs", globals())

# %% tags=["remove-cell"]
counts = formal_page.counts(claims)
note("formal", counts, coq=coq_version())
expect_verdict("FORMALLY PROVED", "kk24.prop4")
expect_verdict("REFUTED", "kk24.prop5")
expect(not stale(), "the text says that the theorems of these sources were checked")
expect(counts["axioms"] == 4 and counts["related"] == 4, "the text says: four axioms, four related statements")

# %% [markdown]
# ## What it means
#
# A proof in Coq is a term. To check it is to check its type, which a small program does, the *kernel*. Tactics, the
# commands by which a proof is written, only build the term. If one is wrong, the kernel refuses its work. So little is
# left to trust:
#
# * **The kernel.** `coqchk`, a second program on the same kernel, has checked {glue:text}`formal-checked-again:d`
#   theorems and examples again. The others compute with the processor's integers (the tactic `interval`), or use such a
#   file; `coqchk` does not finish those in reasonable time.
# * **Axioms.** Coq's real numbers and the library Coquelicot rest on four: the excluded middle, two that decide
#   statements about natural numbers, and that functions with equal values are equal. Files that compute rest on
#   {glue:text}`formal-processor:d` more, on the processor's integers. `make proofs` fails on any other.
# * **The definitions.** A proof of the wrong statement proves nothing. Most theorems share those in `proofs/Focal.v`,
#   written as in the papers. Some of them, in full:

# %%
formal_page.definitions(
    "Focal.focal_loss", "Focal.binary_map", "Focal.simplex", "Focal.strictly_proper", "Focal.strictly_convex_on_unit"
)

# %% [markdown]
# `Rpower x g` is $x^g$ for $x > 0$, and `nat -> R` a vector. Functions of Coq have a value everywhere, `ln 0` is 0.
# What the papers call infinite is excluded by a condition instead, `supports`.
#
# The ledger says how near a formal statement is to its claim: *exact*, *equivalent*, or *related*. A related one is a
# part or a consequence, and leaves the verdict to the other evidence.
#
# ## Three proofs, step by step
#
# Coq prints what is left after each step of a proof. Below the double line stands what is to be shown. Above it stands
# what the step adds to what is known.
#
# ### Focal loss is convex
#
# {cite:t}`kk24` Prop. 1 says so ([](#ch-convexity)). The paper computes two derivatives. It writes the second as a
# quadratic expression in $\gamma$ with non-negative coefficients, and concludes.
#
# The formal proof has the same skeleton. Its second step leaves three things to show: the first derivative (steps 3 to
# 5), the second (6 to 8), and that it is positive (9 and 10). That these give convexity, the paper's 'which yields', is
# the lemma `chord_above`:

# %%
formal_page.proof_steps("KK24_Prop1.kk24_prop1")

# %% [markdown]
# One thing is different. Step 10 uses a lemma that puts $q = e^{-x}$. The bracket of $L''$ is 0 at $x = 0$ and has a
# positive slope: for $\gamma \ge 0$ because $e^x - 1 > 0$. For $\gamma \le -1$, which the paper does not treat, one
# completes a square.
#
# ### The map gives the truth back
#
# Let $p$ be the truth. A prediction $q$ has the smallest expected focal loss exactly if the calibration map sends it to
# $p$ ([](#ch-simplex)). Look at step 8: the map is onto, so it sends some $x$ to $p$. In step 10, `M` says that the
# risk of $x$ is no larger than that of $q$, and `U` that equal risks mean $q = x$. So a minimiser $q$ is $x$ (step 14),
# which the map sends to $p$. Braces hold the proof of a fact used on the way:

# %%
formal_page.proof_steps("KK24_Prop4.kk24_map_recovers_truth")

# %% [markdown]
# ### Four classes refute Prop. 5
#
# KK24 Prop. 5 says that the map never lowers the largest probability ([](#ch-confidence)). Here $\gamma = 1$. Class 0
# gets a thousandth, and three tied classes share the rest. Up to step 8 Coq accepts that this is a distribution, and
# that class 1 is predicted. Look at step 10: the gain $g$, the gradient of focal loss over that of cross-entropy, is
# smaller for class 0 than for class 1. Then the map lowers class 1, by the lemma `map_lowers_top`:

# %%
formal_page.proof_steps("KK24_Prop5.kk24_prop5_refuted_4")

# %% [markdown]
# ## From a lemma to a chapter
#
# That lemma has more to say. Theorems that rest on it also prove claims that put the proposition right. The parameter
# `statement` draws another lemma, or a theorem with the lemmas that its proof names:

# %% tags=["remove-cell"]
columns, pairs, verdicts = formal_page.chain(statement, claims)
words = [word for word, _ in verdicts.values()]
expect(words.count("refuted") == 1, "the caption says: one claim is refuted")
expect(sum("proved" in word for word in words) == len(words) - 1, "the caption says: all others are true")

# %% tags=["remove-input"] mystnb={"image": {"alt": "Four columns, joined by lines: the lemma map_lowers_top; the theorems that rest on it; the claims these decide, one refuted in red, the others proved in green; the chapters that tell them."}, "figure": {"name": "fig-formal-chain", "caption": "One lemma refutes Prop. 5 and proves what is true instead. A line leads from a statement to what rests on it."}}
columns_figure(columns, pairs, verdicts)

# %% [markdown]
# ## The claims
#
# Each claim that has a formal statement, with its verdict without Coq. Where a claim is refuted or not reproduced, the
# theorems say the opposite.

# %% tags=["remove-input"]
formal_page.claim_table(claims)

# %% [markdown]
# Four of these statements are only related. Sympy or ball arithmetic proves {glue:text}`formal-not-formal:d` more
# claims that were not formalised; the ledger says why for each. For most of them nobody has tried. Two on negative
# $\gamma$ need more lemmas: that the map is a bijection of the simplex (`kk24.prop4_negative`), and its temperature
# bounds (`kk24.negative_bounds`).
#
# ## Every theorem
#
# What it says to Coq, and its author's note on how that compares with the paper. An *example* shows that something
# meets a theorem's conditions.

# %% tags=["remove-input"]
formal_page.theorem_list()

# %% [markdown]
# :::{admonition} What to remember
# :class: tip
# * Coq has accepted {glue:text}`formal-theorems:d` theorems on these papers, for all $\gamma$ and all numbers of
#   classes that they name. They decide {glue:text}`formal-claims:d` claims of the ledger.
# * What is left to trust: the kernel, the axioms of real numbers and logic, and that the definitions say what the
#   papers mean.
# * {glue:text}`formal-not-formal:d` claims that sympy or ball arithmetic proves were not formalised.
# * Proofs are about the loss and the map. What networks do is measured, and no proof says it.
# :::
#
# ## Verdict
#
# One proposition that holds, and one that does not; their chapters have the evidence.

# %% tags=["remove-input"]
show("kk24.prop4", "kk24.prop5")

# %% tags=["remove-input"]
foot("formal_proofs", statement=statement)
