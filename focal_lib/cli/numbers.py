"""Parameter types for numbers."""

from __future__ import annotations

import math
import re
from typing import Any

import click


class WholeNumber(click.IntRange):
    """A whole number; 1e3 is allowed."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        try:
            number = float(value) if re.search("[.eE]", str(value)) else math.nan  # digits alone are read exactly
        except ValueError:
            number = math.nan
        return super().convert(int(number) if number.is_integer() else value, param, ctx)


class _Cores(WholeNumber):
    """'all', or a number."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if value == "all":
            return value
        try:
            return super().convert(value, param, ctx)
        except click.BadParameter:
            self.fail(f"must be all, or a whole number from 1 to {self.max:,}. Got {value!r}.", param, ctx)


CORES = _Cores(1, 100_000)  # more are a slip


class FiniteNumber(click.FloatRange):
    """A finite number."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        number = super().convert(value, param, ctx)
        return number if math.isfinite(number) else self.fail(f"{value!r} is not a finite number.", param, ctx)
