"""FCL on real posteriors: the votes of several raters, whose shares a proper loss would find."""

from __future__ import annotations

from reproduction.ledger.evidence import Evidence
from reproduction.ledger.ledger import claim
from reproduction.studies.human_labels.contrasts import NEEDS, SETTINGS, in_every_setting
from reproduction.studies.human_labels.plan import FCL

CHAPTER = "human_labels"
SIZE = (
    rf"Film reviews, labels drawn from their raters' votes, $\gamma = {FCL[0]:g}$, $\lambda = {FCL[1]:g}$; {'; '.join(SETTINGS)}; the Tree-LSTM added "
    "when the others had been seen. Trained to the end both comparisons turn on average: chapter."
)


@claim(
    "l25.raters_fcl",
    short="With validated weights FCL comes nearer to raters than focal loss",
    source="L25 section 4.3, taken further",
    statement=f"With weights of least validation loss, models trained with FCL are nearer to the raters (KL) than with focal loss. ({SIZE})",
    chapter=CHAPTER,
    fidelity="ours",
    needs=NEEDS,
)
def raters_fcl() -> Evidence:
    """The square lessens the bias."""
    return in_every_setting("FCL minus focal", -1)


@claim(
    "l25.raters_fcl_biased",
    short="With validated weights FCL stays farther from raters than mapped focal loss",
    source="L25 section 4.3, taken further",
    statement="FCL remains biased: with weights of least validation loss, models trained with it are farther from the raters (KL) than focal ones "
    f"after their map. ({SIZE})",
    chapter=CHAPTER,
    fidelity="ours",
    needs=NEEDS,
)
def raters_fcl_biased() -> Evidence:
    """The map removes all of the bias of focal loss, the square a part of it."""
    return in_every_setting("FCL minus focal after its map", 1)
