"""KK24 on underconfidence, asked of a coin."""

from __future__ import annotations

from focal_lib.metrics.intervals import t_interval
from reproduction.ledger.evidence import Evidence
from reproduction.ledger.ledger import claim
from reproduction.ledger.measurement import Measurement
from reproduction.studies.coin.train import HEADS, reported

GAMMA, SEEDS = 2.0, 5


@claim(
    "kk24.coin_underconfident",
    short="Trained with focal loss, one logit is less sure than its coin",
    source="KK24 section 3.1, asked of a coin",
    statement=r"One logit trained with focal loss, $\gamma = 2$, reports less than the share of heads, 0.7.",
    chapter="coin_page",
    fidelity="ours",
)
def coin_underconfident() -> Evidence:
    """Over seeds of the throws."""
    gaps = t_interval([HEADS - reported(seed, GAMMA) for seed in range(SEEDS)])
    return Measurement.signed("share of heads minus what is reported", "positive", gaps, 1, f"{SEEDS} seeds")
