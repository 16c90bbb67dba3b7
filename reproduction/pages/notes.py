"""Numbers that a page's prose quotes."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from myst_nb import glue


def at_most(value: float, digits: int = 2) -> float:
    """The value rounded up, for a sentence with 'at most': 0.16 of 0.153; what is written with so many digits stays."""
    unit = 10.0**digits
    return math.ceil(float(value) * unit * (1 - 1e-12)) / unit


def note(page: str, values: Mapping[str, Any] | None = None, /, **named: Any) -> None:
    """Keep numbers for the prose: ``note("bounds", gamma_c=5.6)`` is ``{glue:text}`bounds-gamma-c``` in the text.

    Args:
        page: what the keys begin with.
        values: names that are computed.
        named: names and values; an underscore is a dash in the text.
    """
    for name, value in {**(values or {}), **named}.items():
        plain = value.item() if isinstance(value, np.generic) else value  # a number, which the text formats
        glue(f"{page}-{name.replace('_', '-')}", plain, display=False)
