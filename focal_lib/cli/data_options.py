"""Options of `focal calibrate` and `focal check` that say what a file holds: the arguments of read_logits."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

GIVEN = click.Choice(["logits", "log-probs", "probs"])
_LAYOUTS = click.Choice(["classes", "binary", "multi-label", "segmentation", "tokens", "options"])
_FILE = click.Path(exists=True, path_type=Path)


class _Names(click.ParamType):
    """Comma-separated text, as a tuple."""

    name = "names"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[str, ...]:
        found = value if isinstance(value, tuple) else tuple(part.strip() for part in str(value).split(","))
        if not all(found) or len({*found}) < len(found):
            self.fail(f"{value!r} must be names that differ, with commas between.", param, ctx)
        return found


SCORES = click.option(
    "--scores",
    multiple=True,
    metavar="NAME",
    callback=lambda *given: given[-1] or None,
    help="Column of scores of csv, parquet, jsonl, where others are none; one for each class, in order: --scores cat "
    "--scores dog, or cat,dog. One alone: of the positive class.",
)
CLASS_NAMES = click.option(
    "--class-names",
    type=_Names(),
    metavar="NAME,NAME,...",
    help="Where labels are names: of the columns, in order; of one column: negative,positive.",
)
_OPTIONS = (
    click.option("--given", type=GIVEN, default="logits", show_default=True, help="What the file holds."),
    click.option("--labels", type=_FILE, help="File of the labels, for npy."),
    click.option("--test", type=_FILE, help="File of the test set, where PATH is for validation alone."),
    click.option("--test-labels", type=_FILE, help="File of its labels, for npy."),
    SCORES,
    click.option("--label-column", metavar="NAME", help="Of a table. Default: label. Multi-label: NAME,NAME,..."),
    CLASS_NAMES,
    click.option("--groups", metavar="NAME", help="Column or array of samples that stay together in splits."),
    click.option("--slices", metavar="NAME", help="Column or array by which errors are reported one by one."),
    click.option("--weights", metavar="NAME", help="Column or array of what each sample counts."),
    click.option("--layout", type=_LAYOUTS, help="Of scores and labels, if the shapes are ambiguous."),
    click.option("--ignore-index", type=int, help="Label of what is left out. Default in images: 255 and -100."),
    click.option("--pixels", type=click.IntRange(0), default=1000, show_default=True, help="Of each image; 0: all."),
)


def data_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add these options, in this order."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


def files_among(options: dict[str, Any]) -> list[Path]:
    """The input files besides PATH, which must not be overwritten."""
    return [options[name] for name in ("labels", "test", "test_labels") if options[name] is not None]
