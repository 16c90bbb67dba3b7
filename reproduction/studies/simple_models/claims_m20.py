"""M20 App. G: cross-entropy and focal loss on a linear model with noisy labels."""

from __future__ import annotations

import itertools
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from focal_lib.metrics.intervals import mean_and_range, paired_t_interval, t_interval
from focal_lib.theory.closest_temperature import closest_temperature
from reproduction.ledger.evidence import All, Evidence
from reproduction.ledger.ledger import Rows, claim
from reproduction.ledger.measurement import Measurement
from reproduction.studies.simple_models.linear import (
    fit_linear_model,
    gradient_flow,
    linear_fits,
    noisy_clusters,
    separable_growth,
)

CHAPTER = "simple_models"
DRAWS, BOUNDED_DRAWS = 20, 5
OVER = f"{DRAWS} draws"
GAMMA = 1.0  # M20's
SAMPLES = (50, 200, 1000)  # M20 prints none
SPREADS = (0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 1.0, 1.25, 1.5)
DATA = "1,000 samples with 10 % flipped labels"
NOT_PRINTED = "The spread of the clusters, 0.5, and the number of samples, which are not printed, are ours"
OURS = f"{DATA}, mean over {DRAWS} draws. {NOT_PRINTED}"


def _column(name: str, gamma: float, **data: Any) -> pd.Series:
    """Of the exact fits with that gamma, a number a draw."""
    table = linear_fits((0.0, GAMMA), DRAWS, **data)
    return table.loc[table["gamma"] == gamma, name].reset_index(drop=True)


def _larger(quantity: str, name: str) -> Measurement:
    """A column is larger of cross-entropy than of focal loss, paired over 20 draws."""
    gap = paired_t_interval(_column(name, 0.0), _column(name, GAMMA))
    return Measurement.signed(f"{quantity}, cross-entropy minus focal", "positive", gap, 1, OVER)


def _angle(printed: str, angles: pd.Series, apart: bool) -> Measurement:
    """Between the two weight vectors, the largest of all draws; apart by more than 2 degrees, or not."""
    found = mean_and_range(angles)
    quantity, holds = "largest angle between the weights, in degrees", (found.high > 2) == apart
    return Measurement(quantity, printed, found.high, holds=holds, interval=found, over=OVER, said="claimed")


add_reading = Rows(CHAPTER, "our reading")
add_ours = Rows(CHAPTER, "ours")

add_reading(
    "m20.linear_norm",
    "Linear model: cross-entropy ends with larger weights",
    "M20 App. G, Fig. 5",
    r"On a linear model with noisy labels, cross-entropy ends with larger weights than focal loss ($\gamma = 1$). (Taken as: the norm at the "
    rf"exact minimum; how much is not judged. {OURS}.)",
    lambda: _larger("norm", "norm"),
)

add_reading(
    "m20.linear_logits",
    "Linear model: cross-entropy ends with larger logits",
    "M20 App. G, Fig. 5 (a)",
    r"On a linear model with noisy labels, cross-entropy ends with larger logits than focal loss ($\gamma = 1$). (Taken as: the root mean "
    rf"square of the logits on the training samples, at the exact minimum; how much is not judged. {OURS}.)",
    lambda: _larger("root mean square of the logits", "logits"),
)

add_reading(
    "m20.linear_direction",
    "Linear model: both losses give the same direction of weights",
    "M20 App. G, Fig. 6 (b), (c)",
    r"Cross-entropy and focal loss 'both gives the same decision regions i.e. the weight vector points in the same region'. (Taken as: "
    rf"weights at most 2 degrees apart in direction in each of {DRAWS} draws, $\gamma = 1$, at the exact minimum. {DATA}. {NOT_PRINTED}; for fewer samples see "
    r"m20.linear_direction_few.)",
    lambda: _angle("the same, at most 2", _column("angle", GAMMA), apart=False),
)

# What m20.linear_direction says hangs on sizes that M20 does not print.
add_ours(
    "m20.linear_direction_few",
    "Linear model: with few samples the directions can differ",
    "M20 App. G, Fig. 6 (b), (c), with fewer samples",
    rf"With {SAMPLES[0]} samples, 10 % of their labels flipped, and clusters of spread 1 the weight vectors of cross-entropy and focal loss, "
    rf"$\gamma = 1$, at the exact minimum can be more than 2 degrees apart: they are in at least one of our {DRAWS} draws. (How often is not "
    r"judged.)",
    lambda: _angle("above 2", _column("angle", GAMMA, samples=SAMPLES[0], spread=1.0), apart=True),
)

# Share of its mistakes above 0.9 at the exact minimum; the cluster spread is ours.
add_reading(
    "m20.linear_high_confidence",
    "Linear model: most cross-entropy mistakes are made with high confidence",
    "M20 App. G, Fig. 6 (a)",
    r"On the linear model 'CE misclassifies almost always with greater than 90 % confidence'. (Taken as: at least 90 % of its mistakes, at the "
    rf"exact minimum. {OURS}; for others see m20.linear_high_never.)",
    lambda: Measurement.near(
        "share of mistakes with confidence above 0.9",
        "almost 1",
        t_interval(_column("high", 0.0)),
        1.0,
        0.1,
        OVER,
        said="claimed",
    ),
    instead="far fewer are",
)


@claim(
    "m20.linear_high_never",
    short="Linear model: at none of nine spreads are nearly all mistakes so confident",
    source="M20 App. G, Fig. 6 (a), for other spreads and sizes",
    statement=r"At none of nine spreads of the clusters from 0.05 to 1.5 (two of them are 2 apart) do as many as 90 % of the mistakes of cross-entropy have a "
    r"confidence above 90 %: 50, 200 and 1,000 samples with 10 % flipped labels, at the exact minimum of the loss on them; mistakes of the whole "
    rf"distribution, mean over {DRAWS} draws.",
    chapter=CHAPTER,
    fidelity="ours",
    corrects="m20.linear_high_confidence",
)
def linear_high_never() -> Evidence:
    """90 % minus the share, over the draws, for each of nine spreads and three sizes."""
    parts = []
    for samples, spread in itertools.product(SAMPLES, SPREADS):
        gammas = (0.0, GAMMA) if samples == SAMPLES[-1] else (0.0,)  # as in linear_underconfident, which spares fits
        table = linear_fits(gammas, DRAWS, samples, spread=spread)
        room = t_interval(0.9 - table.loc[table["gamma"] == 0, "high"])
        quantity = f"0.9 minus the share of mistakes above 0.9, {samples:,} samples, spread {spread:g}"
        parts.append(Measurement.signed(quantity, "positive", room, 1, OVER))
    return All(tuple(replace(part, said="claimed") for part in parts))


# Paired over draws.
add_reading(
    "m20.linear_lower_confidence",
    "Linear model: focal loss makes fewer confident mistakes",
    "M20 App. G, Fig. 6 (a)",
    r"On the linear model 'CE misclassifies almost always with greater than 90 % confidence whereas FL misclassifies with much lower confidence'. "
    rf"(Of the second part, taken as: fewer of its mistakes have a confidence above 0.9. {OURS}.)",
    lambda: _larger("share of mistakes above 0.9", "high"),
)

# Distance of the exact fits from the truth, in closed form, paired over draws.
add_reading(
    "m20.linear_calibration",
    "Linear model: smaller weights bring focal loss nearer the truth",
    "M20 App. G, 'Weight Magnification'",
    r"That focal loss keeps the weights of the model small 'helps in calibration'. (Said of networks; taken, on App. G's linear model, as: the predicted "
    rf"probabilities are nearer to the true ones than those of cross-entropy, in root mean square. {OURS}; for others see m20.linear_underconfident.)",
    lambda: _larger("distance from the true probabilities", "distance"),
    instead="cross-entropy is nearer",
)


@claim(
    "m20.linear_underconfident",
    short="Linear model: cross-entropy is not overconfident, focal loss is farther off",
    source="M20 App. G, 'Weight Magnification', for other spreads",
    statement=r"At each of nine spreads of the clusters from 0.05 to 1.5 the exact fit of cross-entropy is not overconfident, and that of focal loss with "
    rf"$\gamma = 1$ is farther from the true probabilities. (Not overconfident, taken as: confidence at most 1 point above accuracy. {DATA}, mean over {DRAWS} draws.)",
    chapter=CHAPTER,
    fidelity="ours",
    corrects="m20.linear_calibration",
)
def linear_underconfident() -> Evidence:
    """Confidence less accuracy, and the distances, for each of nine spreads."""
    parts = []
    for spread in SPREADS:
        table = linear_fits((0.0, GAMMA), DRAWS, SAMPLES[-1], spread=spread).pivot(index="seed", columns="gamma")
        room = t_interval(0.01 - (table["confidence"] - table["accuracy"])[0.0])
        gap = paired_t_interval(table["distance"][GAMMA], table["distance"][0.0])
        for quantity, interval in (
            (f"accuracy plus 0.01 minus confidence of cross-entropy, spread {spread:g}", room),
            (f"distance from the truth, focal minus cross-entropy, spread {spread:g}", gap),
        ):
            parts.append(replace(Measurement.signed(quantity, "positive", interval, 1, OVER), said="claimed"))
    return All(tuple(parts))


def _norm_ratio() -> Measurement:
    """Norm of the weights of focal loss over that of cross-entropy, over draws, against the closest temperature."""
    closest = closest_temperature(GAMMA, 2).temperature
    ratio = t_interval(_column("norm", GAMMA) / _column("norm", 0.0))
    quantity = "norm of the weights, focal over cross-entropy"
    return Measurement.near(quantity, f"{closest:.4f}", ratio, closest, 0.05 * closest, OVER, said="claimed")


add_ours(
    "m20.linear_ratio",
    "Linear model: focal loss shrinks weights by the map's temperature",
    "M20 App. G, Fig. 5 (b), with KK24 Fig. 2",
    r"By how much focal loss shrinks the weights is the temperature of its map: for $\gamma = 1$ the norm over that of cross-entropy is the "
    rf"temperature closest to the binary focal calibration map, within 5 %. ({OURS}.)",
    lambda: _norm_ratio(),
)

# The paired difference of the distances: between 0 and 0.01.
add_ours(
    "m20.linear_mapped",
    "Linear model: after the map focal loss nearly matches cross-entropy",
    "M20 App. G, after the map",
    r"After the focal calibration map the exact fit of focal loss ($\gamma = 1$) is as far from the true probabilities as that of cross-entropy, "
    rf"within 0.01, our threshold, in root mean square, and not nearer. ({OURS}.)",
    lambda: Measurement.near(
        "distance from the truth, focal after the map minus cross-entropy",
        "0 to 0.01",
        paired_t_interval(_column("mapped_distance", GAMMA), _column("distance", 0.0)),
        0.005,
        0.005,
        OVER,
        said="claimed",
    ),
)


@claim(
    "m20.linear_bounded",
    short="Linear model: with flipped labels weights of both losses stay finite",
    source="M20 App. G, Fig. 5 (b), its end",
    statement=rf"In {BOUNDED_DRAWS} draws of 1,000 samples, clusters of spread 0.5 and a tenth of the labels flipped, the weights of neither loss grow without limit: gradient flow ends "
    r"at the exact minimum, which is finite. (Taken as: at time $10^6$ within a relative distance of $10^{-5}$ of it. A draw that a line separates would "
    r"have no such minimum.)",
    chapter=CHAPTER,
    fidelity="ours",
)
def linear_bounded() -> Evidence:
    """Distance of the flow at time 10^6 from the exact fit, the largest of five draws."""
    parts = []
    for gamma in (0.0, GAMMA):
        apart = []
        for seed in range(BOUNDED_DRAWS):
            x, labels = noisy_clusters(1000, seed)
            end = gradient_flow(x, labels, gamma, np.array([1e6]))[-1]
            fit = fit_linear_model(x, labels, gamma).weights
            apart.append(float(np.linalg.norm(end - fit) / np.linalg.norm(fit)))
        quantity = f"gamma = {gamma:g}: relative distance of the flow at time $10^6$ from the minimum, the largest of {len(apart)} draws"
        parts.append(Measurement(quantity, "0", max(apart), 0.0, 1e-5, said="claimed"))
    return All(tuple(parts))


@claim(
    "m20.linear_separable",
    short="Separable classes: weights grow without limit, those of focal loss slower",
    source="M20 App. G, Fig. 5 (b), without flipped labels",
    statement=r"Where the classes are separable the weights of both losses grow without limit, and those of focal loss in the end $1/(1+\gamma)$ times as fast, "
    r"the slope of the inverse of its map in the logit. (Taken as: the growth of the norm from time $10^{11}$ to $10^{12}$, within 0.02, $\gamma$ of 1 and 3. 1,000 samples, "
    r"clusters of spread 0.2, 5 draws.)",
    chapter=CHAPTER,
    fidelity="ours",
)
def linear_separable() -> Evidence:
    """Growth per tenfold time along the gradient flow, over that of cross-entropy; five draws."""
    gammas, times = (GAMMA, 3.0), np.array([1e11, 1e12])
    parts = []
    tables = [separable_growth((0.0, *gammas), times, seed).diff().iloc[-1] for seed in range(5)]
    slowest = min(table[0.0] for table in tables)
    quantity = "growth of the norm with cross-entropy, the smallest of 5 draws"
    parts.append(Measurement(quantity, "positive", slowest, holds=bool(slowest > 0), said="claimed"))
    for gamma in gammas:
        growth = mean_and_range([table[gamma] / table[0.0] for table in tables])
        farthest = max((growth.low, growth.high), key=lambda ratio: abs(ratio - 1 / (1 + gamma)))
        quantity = f"growth of the norm, gamma = {gamma:g} over cross-entropy, the one of 5 draws that is farthest off"
        parts.append(
            Measurement(
                quantity,
                f"{1 / (1 + gamma):g}",
                farthest,
                1 / (1 + gamma),
                0.02,
                interval=growth,
                over="5 draws",
                said="claimed",
            )
        )
    return All(tuple(parts))
