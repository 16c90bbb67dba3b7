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
# (ch-ledger)=
# # The claim ledger
#
# **What is this?** Every claim of {cite:t}`kk24`, {cite:t}`m20`, {cite:t}`kn24` and {cite:t}`l25`, as a
# function that returns its evidence. The
# verdict is computed from the evidence when the book is built; nobody types it. The statement
# is quoted or paraphrased as the paper makes it. Where it is false, the corrected statement
# stands next to it, with a check of its own.
#
# What each verdict means, and the one rule for what is measured: {ref}`page-verdicts`.

# %% tags=["parameters"]
paper: str = ""  # kk24, m20, kn24 or l25 for the claims of one paper; empty for all

# %% tags=["hide-input"]
from reproduction.ledger import ledger
from reproduction.ledger.lost_formulas import table
from reproduction.ledger.page import cards, count_table, weights
from reproduction.ledger.tally import tally
from reproduction.pages.footer import foot
from reproduction.pages.notes import note

claims = ledger(paper or None)
for verdict in sorted({str(claim.verdict) for claim in claims}):
    key = verdict.lower().replace(" ", "-")
    note("ledger", {f"{key}": sum(claim.verdict == verdict for claim in claims)})
note("ledger", total=len(claims))
of_papers = [claim for claim in claims if claim.of_paper]
counted = tally(of_papers, {claim.id: claim.verdict for claim in claims})
note(
    "ledger",
    {f"on-{weight.name.lower().replace('_', '-')}": counts["statements"] for weight, counts in counted.items()},
)
note("ledger", papers=len(of_papers), ours=len(claims) - len(of_papers))

# %% [markdown]
# ## Summary
#
# {glue:text}`ledger-total` statements were checked: {glue:text}`ledger-papers` that the papers make, and
# {glue:text}`ledger-ours` that this book adds, corrections, sharper statements, answers to what is left open. A
# correction is never counted as a reproduction.

# %% tags=["remove-input"]
weights(claims)

# %% [markdown]
# How near a statement is to the paper's is said beside it:
#
# | fidelity | means |
# |---|---|
# | quoted | in the paper's words or formula, with its conditions |
# | paraphrased | the paper's claim in other words, nothing added, nothing left out |
# | our reading | the paper leaves open what it means, or measures, exactly: the statement says how it is taken |
# | ours | in none of the four papers |
#
# What the papers claim, by verdict:

# %% tags=["remove-input"]
count_table(of_papers)

# %% [markdown]
# What this book adds:

# %% tags=["remove-input"]
count_table([claim for claim in claims if not claim.of_paper])

# %% [markdown]
# ## Every claim
#
# A card's first line has the verdict, the claim in a few words and the number that matters most. Open it for the
# statement, what the verdict means and what would change it, the evidence, and the formal proof where there is one.
# A correction follows what it corrects. What is chosen here is kept in the page's address. 'Line of the
# text that was read' is where quoted words stand in our plain text, which the book does not distribute
# ({ref}`verdicts-texts`).

# %% tags=["remove-input"]
cards(claims)

# %% [markdown]
# (sec-formulas)=
# ## Formulas we ask for
#
# These claims wait for a line that our copy of the paper has lost. If you have the paper, look it up and give it to the
# ledger: `focal claims kn24.lemma1 --formula "CE - gamma*H"` prints the verdict that follows. Where no symbols are
# named, or your formula is not yet known, open an issue with it.

# %% tags=["remove-input"]
table()

# %% tags=["remove-input"]
foot("ledger", paper=paper)
