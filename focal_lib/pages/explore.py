"""The book's figures that move: their pictures at the values they begin with, their sliders, what to try.

The curves of the still pictures are theory's; book/_static/explore.js draws them again where a slider moves.
"""

from __future__ import annotations

import numpy as np
from IPython.display import HTML
from scipy.special import expit, logit

from focal_lib.pages.still import Check, Line, Panel, Slider, figure_of
from focal_lib.theory.closest_temperature import closest_temperature
from focal_lib.theory.maps import focal_logit

__all__ = ["FIGURES", "explore"]

_HALF = np.linspace(0.005, 0.995, 100)  # probabilities to draw at


def explore(name: str) -> HTML:
    """A figure with sliders.

    Args:
        name: one of FIGURES.

    Raises:
        ValueError: no such figure.
    """
    if name not in FIGURES:
        raise ValueError(f"name must be one of {', '.join(FIGURES)}. Got {name!r}.")
    return HTML(FIGURES[name]())


def _points(x: np.ndarray, y: np.ndarray) -> list[tuple[float, float]]:
    return list(zip(x.tolist(), y.tolist(), strict=True))


def _binary() -> str:
    gamma = 1.0
    found = closest_temperature(gamma)
    mapped = expit(focal_logit(logit(_HALF), gamma))
    scaled = expit(logit(_HALF) / found.temperature)
    size = 100 * found.error
    lines = [
        Line("diagonal", "thin", [(0, 0), (1, 1)]),
        Line("map", "one", _points(_HALF, mapped)),
        Line("scaled", "two", _points(_HALF, scaled)),
    ]
    legend = [("one", "the map"), ("two", "temperature T")]
    ends = (0.0, 0.5, 1.0)
    maps = Panel("maps", (0, 1, 0, 1), lines, "", "calibrated probability", ends, ends, legend=legend)
    differences = [
        Line("zero", "thin", [(0, 0), (1, 0)]),
        Line("gap", "one", _points(_HALF, (scaled - mapped) / found.error)),
    ]
    gap = Panel(
        "gap", (0, 1, -1.15, 1.15), differences, "model's probability q", f"difference, up to {size:.2f} points", ends,
        height=70,
    )  # fmt: skip
    return figure_of(
        "binary",
        [maps, gap],
        [
            Slider("gamma", "γ", 0, 10, 0.1, gamma),
            Slider("T", "T", 0.05, 1.5, 0.001, round(found.temperature, 3)),
            Check("nearest", "T is the nearest", True),
        ],
        "The focal calibration map and temperature scaling over the model's probability, and below the difference of "
        "the two. Both are curves through one half, steeper than the diagonal.",
        f"The map of two classes for γ = {gamma:g}, the nearest temperature, T = {found.temperature:.4f}, and by how "
        f"much they differ: by {size:.2f} percentage points at most. Try: raise γ, and see the nearest T fall.",
    )


FIGURES = {"binary": _binary}
