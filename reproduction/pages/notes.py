"""Numbers that a page's prose quotes."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from myst_nb import glue

from focal_lib.metrics.intervals import clipped, t_interval_if_any


def at_most(value: float, digits: int = 2) -> float:
    """The value rounded up, for a sentence with 'at most': 0.16 of 0.153; what is written with so many digits stays."""
    unit = 10.0**digits
    return math.ceil(float(value) * unit * (1 - 1e-12)) / unit


def say_spans(*groups: Any, digits: int = 1, signed: bool = False, within: tuple[float, float] | None = None) -> str:
    """The 95 % t interval over seeds of each group of values, for the brackets behind their means.

    Args:
        groups: values, one a seed, (n,) each.
        digits: behind the point.
        signed: whether a plus is written.
        within: the ends that no mean can pass, of a share 0 and 100, say.

    Returns:
        '95 % t interval 1.2 to 3.4', '95 % t intervals 1.2 to 3.4, 0.5 to 0.9'; 'one seed, no interval' where no group
        has two values, and 'none' in the place of a single one that has not.

    Raises:
        ValueError: no group, or one without values.
    """
    if not groups:
        raise ValueError("groups of values must be at least one. Got none.")
    found = [t_interval_if_any(values) for values in groups]
    if not any(i.kind for i in found):
        return "one seed, no interval"
    cut = [clipped(i, *within) if within else i for i in found]
    form = f"{'+' if signed else ''}.{digits}f"
    said = [f"{i.low:{form}} to {i.high:{form}}" if i.kind else "none" for i in cut]
    return f"95 % t interval{'s' * (len(said) > 1)} {', '.join(said)}"


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
