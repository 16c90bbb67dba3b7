"""Numbers that a page's prose quotes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from myst_nb import glue

__all__ = ["note"]


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
