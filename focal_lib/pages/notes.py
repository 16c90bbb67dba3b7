"""Numbers that a page's prose quotes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

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
        glue(f"{page}-{name.replace('_', '-')}", value, display=False)
