"""Which cases of a slow test are quick ones, too."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Any

import pytest


def first_is_quick(cases: Iterable[Any]) -> list[Any]:
    """The cases for `parametrize`, all but the first marked slow."""
    first, *others = cases
    return [first, *quick_but_for(others, others)]


def quick_but_for(slow: Collection[Any], cases: Iterable[Any]) -> list[Any]:
    """The cases for `parametrize`, those in `slow` marked so."""
    return [pytest.param(case, marks=pytest.mark.slow) if case in slow else case for case in cases]
