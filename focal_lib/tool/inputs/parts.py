"""One set as somebody gave it, before it is looked at."""

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
    """Scores and labels in any layout, and what goes with each sample; see LogitSet for what these mean."""

    scores: Any
    labels: Any
    groups: Any = None
    slices: Any = None
    weights: Any = None
    class_names: tuple[str, ...] | None = None
    score_columns: tuple[str, ...] | None = None  # of a table
    layout: Layout | None = None  # where the kind of file tells it


def as_array(values: Any) -> np.ndarray:
    """On the CPU; a memory map stays one."""
    values = to_numpy(values)
    return values if isinstance(values, np.ndarray) else np.asarray(values)
