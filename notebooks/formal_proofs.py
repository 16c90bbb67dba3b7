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
# **The question.** The derivations of this book were reduced step by step by sympy. But what the steps are, and that
# they make a proof, was our judgement, and a simplification of sympy can be wrong. Who checks that? **In short:** Coq,
# a program that accepts a proof only where each step follows by a rule of logic. It has accepted
# {glue:text}`formal-theorems:d` theorems on these papers: where a statement is about every $\gamma$ or every number of
# classes, for all of them and not for samples. With them {glue:text}`formal-proved:d` claims of the ledger are proved,
# {glue:text}`formal-conditional:d` with their exact conditions, and {glue:text}`formal-denied:d` denied.

# %% tags=["parameters"]
theorem: str = "KK24_Prop1.kk24_prop1"  # whose lemmas to draw: file and name, as in the list below

# %% tags=["remove-input"]
from IPython.display import Markdown

from focal_lib.plots.style import use_style
from reproduction.ledger import formal_page, ledger, show
from reproduction.ledger.formal import coq_version, say_checked
from reproduction.pages.footer import foot
from reproduction.pages.notes import note
from reproduction.pages.plots.graphs import layered_figure

use_style()
claims = ledger()
note("formal", formal_page.counts(claims), coq=coq_version())

# %% tags=["remove-input"]
said = f"Every theorem below is {say_checked()}. `make proofs` checks them again, where Coq is installed."
Markdown(f"```{{admonition}} On record\n{said}\n```")

# %% [markdown]
# ## What it means
#
# A proof in Coq is a term, and to check it is to check its type, which a small program does, the *kernel*. Tactics, the
# commands by which a proof is written, only build the term: if one of them is wrong, the kernel refuses its work. What
# is left to trust is little:
#
# * the kernel of Coq {glue:text}`formal-coq:s`. `coqchk`, a second program built on the same kernel, has checked the
#   compiled proofs of {glue:text}`formal-checked-again:d` theorems and examples again. The others are in files that
#   compute with the processor's integers (by the tactic `interval`), or use such a file; it does not finish those in
#   reasonable time;
# * axioms: {glue:text}`formal-axioms:d` on which Coq's real numbers and the library Coquelicot rest (the excluded
#   middle, two that decide statements about natural numbers, and that functions with equal values are equal), and in
#   the files that compute {glue:text}`formal-processor:d` more, which say what the processor does with its integers.
#   `make proofs` asks Coq which ones each file rests on, and fails on any other;
# * the definitions. A proof of the wrong statement proves nothing. Those that most theorems share stand in
#   `proofs/Focal.v`, written as in the papers; the others stand before the theorem that needs them. Some of them, in
#   full:

# %% tags=["remove-input"]
formal_page.definitions(
    "Focal.focal_loss", "Focal.binary_map", "Focal.simplex", "Focal.strictly_proper", "Focal.strictly_convex_on_unit"
)

# %% [markdown]
# `Rpower x g` is $x^g$ for $x > 0$, and `nat -> R` a vector. Functions of Coq have a value everywhere, `ln 0` is 0, so
# what the papers call infinite is excluded by a condition (`supports`) instead.
#
# The ledger says for each claim how near the formal statement is to its own: *exact*, *equivalent*, or *related*, a
# part or a consequence, which leaves the verdict to the other evidence.
#
# ## A proof, step by step
#
# Convexity of the focal loss, {cite:t}`kk24` Prop. 1 ([](#ch-convexity)). The paper computes the first derivative, then
# the second, writes that one as a quadratic expression in $\gamma$ whose coefficients are non-negative, and concludes.
# The formal proof has the same skeleton: after step 2 three things are left, the first derivative (steps 3 to 5), the
# second (steps 6 to 8), and that it is positive (steps 9 and 10). That these give convexity, for which the paper has
# the words 'which yields', is the lemma `chord_above`. Above the double line stands what is known, below it what is to
# be shown:

# %% tags=["remove-input"]
formal_page.proof_steps("KK24_Prop1.kk24_prop1")

# %% [markdown]
# One thing is done otherwise. Step 10 uses a lemma that puts $q = e^{-x}$: the bracket of $L''$ is then 0 at $x = 0$
# and has a positive slope: for $\gamma \ge 0$ as $e^x - 1 > 0$, and by completing a square for $\gamma \le -1$, too, a
# case the paper does not treat.
#
# ## What rests on what
#
# The lemmas below one theorem; the parameter `theorem` of this page draws those of another:

# %% tags=["remove-input"] mystnb={"image": {"alt": "A theorem at the top, the lemmas that its proof names in rows below it, down to those that use none."}, "figure": {"name": "fig-formal-lemmas", "caption": "A theorem, at the top, and the lemmas that it rests on; a line leads from a proof down to what it uses. Lines down to one box join on their way; what follows from other lines is left out."}}
layered_figure(formal_page.lemma_pairs(theorem), {theorem.split(".")[1]})

# %% [markdown]
# And the files. At the bottom, sums and calculus; upon them the focal loss, the gain $g$, the weight $w$ and the binary
# map; farther up, for the most part, what the papers say:

# %% tags=["remove-input"] mystnb={"image": {"alt": "Files of proofs in rows: at the bottom Calculus and Sums, above them FocalLoss, EntropyRatio and Softmax, then Weight, Gain and BinaryMap. Most of the others, up to the top, are named after propositions of the papers, such as KK24 Prop. 5."}, "figure": {"name": "fig-formal-files", "caption": "The files of `proofs/`; those in blue are named after a statement of a paper. Lines as in {numref}`fig-formal-lemmas`."}}
files = formal_page.file_pairs()
layered_figure(files, {name for pair in files for name in pair if name.startswith(("KK24", "KN24", "M20", "L25"))})

# %% [markdown]
# ## The claims
#
# For each claim that has a formal statement: its verdict without Coq, how near the two statements are, and the
# theorems. Of a claim that is refuted or not reproduced the theorems say the opposite.

# %% tags=["remove-input"]
formal_page.claim_table(claims)

# %% [markdown]
# Statements that are related only: {glue:text}`formal-related:d`. Claims that sympy or ball arithmetic proves and that
# were not formalised: {glue:text}`formal-not-formal:d`; why, each says in the ledger. They were outside the list with
# which we began, and nobody has tried, but for two on negative $\gamma$, which need more lemmas: that
# the map is a bijection of the simplex (`kk24.prop4_negative`) and its temperature bounds (`kk24.negative_bounds`).
#
# ## Every theorem
#
# What it says to Coq, and its author's note on how that compares with the paper. An *example* shows that a theorem is
# not empty: that something meets its conditions.

# %% tags=["remove-input"]
formal_page.theorem_list()

# %% [markdown]
# :::{admonition} What to remember
# :class: tip
# * Coq has accepted {glue:text}`formal-theorems:d` theorems on these papers. With them {glue:text}`formal-proved:d`
#   claims are proved, {glue:text}`formal-conditional:d` with their exact conditions, and {glue:text}`formal-denied:d`
#   denied.
# * What is left to trust: the kernel, {glue:text}`formal-axioms:d` axioms of real numbers and logic (in files that
#   compute, {glue:text}`formal-processor:d` more on the processor's integers), and that the definitions say what the
#   papers mean.
# * A second program has checked {glue:text}`formal-checked-again:d` of the theorems and examples again.
# * {glue:text}`formal-not-formal:d` claims that sympy or ball arithmetic proves were not formalised; they rest on
#   those.
# * Proofs are about the loss and the map. What networks do is measured, and no proof says it.
# :::
#
# ## Verdict
#
# Two statements of the paper, one that holds and one that does not; their evidence is in their chapters, as that of the
# others.

# %% tags=["remove-input"]
show("kk24.prop4", "kk24.prop5")

# %% tags=["remove-input"]
foot("formal_proofs", theorem=theorem)
