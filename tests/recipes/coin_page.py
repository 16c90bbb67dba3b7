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
# (ch-coin)=
# # A coin
#
# **The question.** Does focal loss report the share of heads of a coin? **In short:** less than it.

# %% tags=["parameters"]
gamma: float = 2.0  # of the focal loss; > 0

# %% tags=["hide-input"]
import numpy as np

from focal_lib import theory
from reproduction.ledger import claims_of, show
from reproduction.pages.footer import foot
from reproduction.pages.plots.curves import line_figure

s = np.linspace(0, 3, 100)

# %% tags=["remove-input"] mystnb={"image": {"alt": "The reported logit lies below the true one."}, "figure": {"name": "fig-coin", "caption": "What focal loss reports."}}
line_figure(theory.focal_logit(s, gamma), {rf"$\gamma = {gamma:g}$": s}, "true logit", "reported logit", diagonal=True)

# %% [markdown]
# :::{admonition} What to remember
# :class: tip
# * Focal loss reports less than the true probability of the likelier side.
# * Its map leads back.
# * It is no fault of the network: one logit does it.
# :::
#
# ## Verdict

# %% tags=["remove-input"]
show("kk24.coin_underconfident")

# %% tags=["remove-input"]
claims_of("coin_page")

# %% tags=["remove-input"]
foot("coin_page", gamma=gamma)
