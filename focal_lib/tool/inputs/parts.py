"""One set of scores and labels as given, before any check."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from focal_lib.arrays import to_numpy
from focal_lib.calibration.logit_sets import Layout

Column = Literal["groups", "slices", "weights"]
PER_SAMPLE: tuple[Column, ...] = ("groups", "slices", "weights")


@dataclass(frozen=True)
class Part:
    """Scores and labels in any layout, with groups, slices and weights; see LogitSet."""

    scores: Any
    labels: Any
    groups: Any = None
    slices: Any = None
    weights: Any = None
    class_names: tuple[str, ...] | None = None
    score_columns: tuple[str, ...] | None = None  # of a table
    layout: Layout | None = None  # where the kind of file tells it


def as_array(values: Any) -> np.ndarray:
    """As a NumPy array; a memory map is not read."""
    values = to_numpy(values)
    return values if isinstance(values, np.ndarray) else np.asarray(values)
