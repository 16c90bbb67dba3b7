"""Which cases of a slow test are quick ones, too."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest

__all__ = ["first_is_quick"]


def first_is_quick(cases: Iterable[Any]) -> list[Any]:
    """The cases for `parametrize`, all but the first marked slow."""
    first, *others = cases
    return [first, *(pytest.param(case, marks=pytest.mark.slow) for case in others)]
