"""FCL on real posteriors: the votes of several raters, whose shares a proper loss would find."""

from __future__ import annotations

from reproduction.ledger.evidence import All
from reproduction.ledger.ledger import Rows
from reproduction.studies.human_labels.contrasts import NEEDS, SETTINGS, contrast_of_raters
from reproduction.studies.human_labels.plan import FCL

CHAPTER = "18_human_labels"
SIZE = rf"Film reviews, labels drawn from their raters' votes, $\gamma = {FCL[0]:g}$, $\lambda = {FCL[1]:g}$."


add_ours = Rows(CHAPTER, "ours", needs=NEEDS)


@add_ours(
    "l25.raters_fcl",
    "L25 section 4.3, taken further",
    f"Trained with FCL, models are nearer to the raters (KL) than with focal loss. ({SIZE})",
)
def raters_fcl() -> All:
    """The square lessens the bias."""
    return All(tuple(contrast_of_raters(setting, "FCL minus focal", -1) for setting in SETTINGS))


# The map removes all of the bias of focal loss, the square a part of it.
add_ours(
    "l25.raters_fcl_biased",
    "L25 section 4.3, taken further",
    f"FCL remains biased: models trained with it are farther from the raters (KL) than focal ones after their map. ({SIZE})",
    lambda: All(tuple(contrast_of_raters(setting, "FCL minus focal after its map", 1) for setting in SETTINGS)),
)
