"""M20 App. G: cross-entropy and focal loss on a linear model with noisy labels."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import pandas as pd

from focal_lib.claims.evidence import All, Evidence
from focal_lib.claims.ledger import claim
from focal_lib.claims.measurement import Measurement
from focal_lib.metrics.intervals import mean_and_range, paired_t_interval, t_interval
from focal_lib.theory.linear_model import fit_linear_model, noisy_clusters

CHAPTER = "10_gradient_factor"
DRAWS = 20


@cache
def draws() -> pd.DataFrame:
    """Of each draw: norms, direction, and confidence of the mistakes of both fits on fresh points."""
    rows = []
    for seed in range(DRAWS):
        x, labels = noisy_clusters(1000, seed)
        fresh, truth = noisy_clusters(5000, seed + 10_000)
        fits = {"ce": fit_linear_model(x, labels, 0.0), "focal": fit_linear_model(x, labels, 1.0)}
        row: dict[str, float] = {}
        for name, fit in fits.items():
            probs = fit.probs(fresh)
            mistakes = np.maximum(probs, 1 - probs)[(probs > 0.5) != (truth == 1)]
            row |= {f"{name}_norm": float(np.linalg.norm(fit.weights)), f"{name}_high": float((mistakes > 0.9).mean())}
        a, b = (fit.weights / np.linalg.norm(fit.weights) for fit in fits.values())
        rows.append(row | {"angle": float(np.degrees(np.arccos(np.clip(a @ b, -1, 1))))})
    return pd.DataFrame(rows)


@claim(
    "m20.linear_norm",
    source="M20 App. G, Fig. 5",
    statement=r"On a linear model with noisy labels, cross-entropy ends with larger weights than focal loss ($\gamma = 1$).",
    chapter=CHAPTER,
    fidelity="paraphrased",
)
def linear_norm() -> Evidence:
    """Norm of the exact fits, paired over 20 draws."""
    gap = paired_t_interval(draws()["ce_norm"].to_numpy(), draws()["focal_norm"].to_numpy())
    return Measurement.signed("norm, cross-entropy minus focal", "positive", gap, 1, f"{DRAWS} draws")


@claim(
    "m20.linear_direction",
    source="M20 App. G, Fig. 6 (b), (c)",
    statement=r"Both losses give the same decision regions. (Taken as: weights at most 2 degrees apart in direction.)",
    chapter=CHAPTER,
    fidelity="our reading",
)
def linear_direction() -> Evidence:
    """Angle between the two weight vectors."""
    angles = mean_and_range(draws()["angle"])
    quantity = "largest angle between the weights, in degrees"
    return Measurement(quantity, "0", angles.high, 0.0, 2.0, interval=angles, over=f"{DRAWS} draws")


@claim(
    "m20.linear_high_confidence",
    source="M20 App. G, Fig. 6 (a)",
    statement=r"On the linear model 'CE misclassifies almost always with greater than 90 % confidence'. (Taken as: at least 90 % of its mistakes, at the "
    r"exact minimum. The spread of the clusters, which is not printed, is ours; for others see m20.linear_high_never.)",
    chapter=CHAPTER,
    fidelity="our reading",
)
def linear_high_confidence() -> Evidence:
    """Share of its mistakes above 0.9 at the exact minimum; the cluster spread is ours."""
    share = t_interval(draws()["ce_high"])
    quantity = "share of mistakes with confidence above 0.9"
    return Measurement.near(quantity, "almost 1", share, 1.0, 0.1, f"{DRAWS} draws", said="claimed")


@claim(
    "m20.linear_high_never",
    source="M20 App. G, Fig. 6 (a), for other spreads",
    statement=r"At none of nine spreads of the clusters from 0.05 to 1.5 (two of them are 2 apart) do as many as 90 % of the mistakes of cross-entropy have a "
    r"confidence above 90 %.",
    chapter=CHAPTER,
    fidelity="ours",
    corrects="m20.linear_high_confidence",
)
def linear_high_never() -> Evidence:
    """90 % minus the share, over the draws, for each of nine spreads."""
    parts = []
    for spread in (0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 1.0, 1.25, 1.5):
        room = t_interval([0.9 - _share_above(0.9, spread, seed) for seed in range(DRAWS)])
        parts.append(
            Measurement.signed(
                f"0.9 minus the share of mistakes above 0.9, spread {spread:g}", "positive", room, 1, f"{DRAWS} draws"
            )
        )
    return All(tuple(replace(part, said="claimed") for part in parts))


def _share_above(confidence: float, spread: float, seed: int) -> float:
    """Of the mistakes of cross-entropy on fresh points, those with more confidence than this."""
    fit = fit_linear_model(*noisy_clusters(1000, seed, spread=spread), 0.0)
    fresh, truth = noisy_clusters(5000, seed + 10_000, spread=spread)
    probs = fit.probs(fresh)
    mistakes = (probs > 0.5) != (truth == 1)
    return float((np.maximum(probs, 1 - probs)[mistakes] > confidence).mean())


@claim(
    "m20.linear_lower_confidence",
    source="M20 App. G, Fig. 6 (a)",
    statement=r"On the linear model 'CE misclassifies almost always with greater than 90 % confidence whereas FL misclassifies with much lower confidence'. "
    r"(Of the second part, taken as: fewer of its mistakes have a confidence above 0.9. The spread of the clusters, which is not printed, is ours.)",
    chapter=CHAPTER,
    fidelity="our reading",
)
def linear_lower_confidence() -> Evidence:
    """Paired over draws."""
    gap = paired_t_interval(draws()["ce_high"].to_numpy(), draws()["focal_high"].to_numpy())
    return Measurement.signed(
        "share of mistakes above 0.9, cross-entropy minus focal", "positive", gap, 1, f"{DRAWS} draws"
    )
