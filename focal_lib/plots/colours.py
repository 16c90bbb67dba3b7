"""One colour for each loss in every figure: cross-entropy black, focal losses on a scale in gamma, others their own.

Figures have a white background. On the book's dark page the style sheet inverts their lightness and keeps the hue (its
test measures the contrast on both), so that black becomes the colour of the text.
"""

from __future__ import annotations

import math
import re

import numpy as np
from matplotlib.colors import LinearSegmentedColormap, to_hex, to_rgb

from focal_lib.loss_records import LOSS_RECORDS

CROSS_ENTROPY = "#000000"
LOSSES = {name: record.colour for name, record in LOSS_RECORDS.items() if record.colour}
SERIES = ("#0072B2", "#D55E00", "#00875F", "#B5558F", "#A87400", "#4A7FA5")  # curves that are of no loss
ACCENTS = SERIES[:2]  # what is measured, and its gap to what was wanted

# gamma -> colour, and between them mixed: the lighter, the farther from cross-entropy
_ABOVE = {
    0.0: "#1A0021",
    0.5: "#3D0755",
    1.0: "#51138E",
    2.0: "#2F4ABA",
    3.0: "#0471B2",
    4.0: "#0784A3",
    5.0: "#139494",
    7.0: "#0F9F7A",
    10.0: "#2EA359",
    20.0: "#5DA32B",
}
_BELOW = {0.0: "#4A0630", 0.5: "#AE1173", 1.0: "#E652A3"}  # of -gamma


def _scale(stops: dict[float, str]) -> LinearSegmentedColormap:
    largest = max(stops)
    return LinearSegmentedColormap.from_list(
        "gamma", [(_place(gamma, largest), colour) for gamma, colour in stops.items()]
    )


def _place(size: float, largest: float) -> float:
    return math.log1p(min(size, largest)) / math.log1p(largest)


_SCALES = {1: (_scale(_ABOVE), max(_ABOVE)), -1: (_scale(_BELOW), max(_BELOW))}

_NUMBER = r"(-?\d+(?:\.\d+)?)"
_SPELT = {"fcl, absolute": "fcl-l1"}  # as tables and legends write it
for _name in LOSSES:
    _SPELT |= dict.fromkeys((_name, _name.replace("-", " "), LOSS_RECORDS[_name].printed.lower()), _name)
_NAMED = "|".join(map(re.escape, sorted(_SPELT, key=len, reverse=True)))  # 'fcl-l1' before 'fcl'
_MENTION = re.compile(
    rf"(?P<other>\b(?:{_NAMED})\b)|(?P<ce>\bcross-entropy\b)"
    rf"|\\gamma = {_NUMBER}|\b(?:proper-)?focal,? (?:gamma (?:= )?)?{_NUMBER}|\bgamma = {_NUMBER}",
    re.IGNORECASE,
)


def gamma_colour(gamma: float) -> str:
    """Colour of the focal loss, or of its map, by gamma: black at 0, lighter for larger gamma, another hue below 0.

    Raises:
        ValueError: gamma <= -1.
    """
    if not gamma > -1:
        raise ValueError(f"gamma must be > -1. Got {gamma}.")
    if gamma == 0:
        return CROSS_ENTROPY
    scale, largest = _SCALES[1 if gamma > 0 else -1]
    return to_hex(scale(_place(abs(gamma), largest)))


def colour_of(label: str) -> str | None:
    r"""The colour of the first loss that a label names ('fcl 3 0.5', '$\gamma = 2$', 'cross-entropy'), or None."""
    found = _MENTION.search(label)
    if found is None:
        return None
    if found["ce"]:
        return CROSS_ENTROPY
    if found["other"]:
        return LOSSES[_SPELT[found["other"].lower()]]
    return gamma_colour(float(next(number for number in found.groups()[2:] if number)))


def apart(one: str, other: str) -> float:
    """Distance of two colours in OKLab (Ottosson 2020); 0.02 is just visible."""
    return float(np.linalg.norm(_oklab(one) - _oklab(other)))


def _oklab(colour: str) -> np.ndarray:
    rgb = np.asarray(to_rgb(colour))
    linear = np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)
    lab: np.ndarray = _TO_LAB @ np.cbrt(_TO_CONES @ linear)
    return lab


_TO_CONES = np.array(
    [
        [0.4122214708, 0.5363325363, 0.0514459929],
        [0.2119034982, 0.6806995451, 0.1073969566],
        [0.0883024619, 0.2817188376, 0.6299787005],
    ]
)
_TO_LAB = np.array(
    [
        [0.2104542553, 0.7936177850, -0.0040720468],
        [1.9779984951, -2.4285922050, 0.4505937099],
        [0.0259040371, 0.7827717662, -0.8086757660],
    ]
)
