"""Commands with options -p NAME VALUE, listed by --help."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import Any

import click


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
