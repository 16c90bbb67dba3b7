"""The `focal new` command.

focal new study my-study
"""

from __future__ import annotations

import shutil
from pathlib import Path

import click

from focal_lib.atomic_write import check_folder
from focal_lib.cli.parameters import NEW_FOLDER

_TEMPLATE = Path(__file__).with_name("study")


@click.group()
def new() -> None:
    """Begin something of your own from a template."""


@new.command()
@click.argument("folder", metavar="NAME", type=NEW_FOLDER)
def study(folder: Path) -> None:
    """Make the folder NAME with a loss, a network, data, a grid, a page and a test that run as they stand.

    The README in it has the commands in their order.
    """
    if folder.exists():
        raise click.ClickException(f"{folder} must be a new folder. Got one that exists.")
    try:
        check_folder(folder.absolute().parent)
        shutil.copytree(_TEMPLATE, folder, ignore=shutil.ignore_patterns("__pycache__"))
    except OSError as error:
        raise click.ClickException(str(error)) from None
    click.echo(f"{folder} is made: cd {folder}, and go on as README.md says.")
