"""Types of parameters - files, numbers - and options -p NAME VALUE."""

from __future__ import annotations

import math
import re
from itertools import pairwise
from pathlib import Path
from typing import Any

import click


class _Path(click.Path):
    """A path with a name; '-' only where it may be standard input or output."""

    def __init__(self, *, pipe: bool = True, **more: Any) -> None:
        super().__init__(path_type=Path, **more)
        self.pipe = pipe

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if not str(value):  # of an unset shell variable
            self.fail("must have a name. Got ''; the current folder is '.'.", param, ctx)
        if str(value) == "-" and not self.pipe:
            self.fail("must be the name of a file: it is not written to standard output. Got '-'.", param, ctx)
        return super().convert(value, param, ctx)


GRID_FILE = click.Path(exists=True, dir_okay=False, resolve_path=True, path_type=Path)
NEW_FILE = _Path(pipe=False, dir_okay=False)
NEW_FOLDER = _Path(file_okay=False)
NAMED_PATH = _Path()
FILE_OR_PIPE = _Path(allow_dash=True)
ROOT_FOLDER = _Path(file_okay=False, resolve_path=True)


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
        try:
            return value if value == "all" else super().convert(value, param, ctx)
        except click.BadParameter:
            self.fail(f"must be all, or a whole number from 1 to {self.max:,}. Got {value!r}.", param, ctx)


CORES = _Cores(1, 100_000)  # more are a slip


class FiniteNumber(click.FloatRange):
    """A finite number."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        number = super().convert(value, param, ctx)
        return number if math.isfinite(number) else self.fail(f"{value!r} is not a finite number.", param, ctx)


class CommandWithParameters(click.Command):
    """A command with -p NAME VALUE, whose --help lists the names: `rows` returns pairs (name, meaning)."""

    def parse_args(self, context: click.Context, args: list[str]) -> list[str]:
        for flag, given in pairwise(["", *args]):
            text = given if flag == "-p" else given.removeprefix("-p") if given.startswith("-p") else ""
            if match := re.match(r"([A-Za-z_]\w*)=(.*)", text, re.DOTALL):
                name, value = match.groups()
                raise click.UsageError(f"-p takes a name and a value: -p {name} {value}. Got {text}.", context)
        return super().parse_args(context, args)

    def format_options(self, context: click.Context, formatter: click.HelpFormatter) -> None:
        super().format_options(context, formatter)
        if rows := self.rows(context):
            with formatter.section("Parameters"):
                formatter.write_dl(rows)

    def rows(self, context: click.Context) -> list[tuple[str, str]]:
        return []


def parameters_option(kinds: str) -> Any:
    text = f"A parameter, of those below: {kinds}."
    return click.option("-p", "parameters", nargs=2, multiple=True, metavar="NAME VALUE", help=text)
