"""The `focal calibrate` command.

focal calibrate logits.npz --out report
"""

from __future__ import annotations

import shutil
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import click

from focal_lib.atomic_write import check_folder, check_target
from focal_lib.cli.data_options import data_options, files_among
from focal_lib.cli.errors import FileCommand
from focal_lib.cli.parameters import NEW_FILE, NEW_FOLDER, FiniteNumber, WholeNumber

_BAR = 20  # characters


@contextmanager
def progress_line() -> Iterator[Callable[[str, int, int], None]]:
    """Yield a function (description, steps done, steps in all) that shows progress, if standard error is a terminal.

    It is one line that is rewritten, and erased at the end.
    """
    stream, start, width = sys.stderr, time.monotonic(), 0

    def write(line: str) -> None:
        nonlocal width
        if stream is not None and stream.isatty():
            line = line[: shutil.get_terminal_size().columns - 1]
            stream.write(f"\r{line:{width}}")
            stream.flush()
            width = len(line)

    def show(doing: str, done: int, of: int) -> None:
        minutes, seconds = divmod(int(time.monotonic() - start), 60)
        write(f"{doing}  {'#' * (_BAR * done // of):{_BAR}} {minutes:02}:{seconds:02}")

    try:
        yield show
    finally:
        write("")
        write("")


@click.command(cls=FileCommand)
@click.argument("path", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--out", required=True, type=NEW_FOLDER, help="Folder for the results.")
@data_options
@click.option(
    "--share",
    type=FiniteNumber(0, 1, min_open=True, max_open=True),
    help="Split a single set: this share of the samples is fitted on, the rest are tested on.",
)
@click.option(
    "--folds",
    type=WholeNumber(0),
    help="Folds of cross-fitting of a single set: all samples are tested on, and what is kept is fitted on all. "
    "0: a split. Default: 5; a split with --share, or of more than 5,000,000 logits.",
)
@click.option(
    "--seed", type=WholeNumber(0), default=0, show_default=True, help="Seed of the random split and of the intervals."
)
@click.option("--methods", default="", help="Methods to compare, with commas between, or all; see above.")
@click.option(
    "--shrinkage",
    type=FiniteNumber(0),
    default=0.0,
    help="Precision of a prior that draws gamma towards 0, for few samples. Default: 0, none.",
)
@click.option(
    "--resamples", type=WholeNumber(1), default=1000, show_default=True, help="Number of resamples of the bootstrap."
)
@click.option(
    "--relevant",
    type=FiniteNumber(0, 1, max_open=True),
    default=0.005,
    help="Smallest gain that matters, as a share of the NLL or Brier score. Default: 0.005.",
)
@click.option("--keep", default="", metavar="METHOD", help="Method to keep, or as-given, whatever is advised.")
@click.option(
    "--force", is_flag=True, help="Go on where the data look wrong; what does is then a caution in the report."
)
@click.option("--json", "as_json", type=NEW_FILE, help="Write all of the report as JSON into this file, too.")
@click.option(
    "--model-card", "card", type=NEW_FILE, help="Write a section for a model card, in Markdown, into this file, too."
)
def calibrate(path: Path, out: Path, as_json: Path | None, card: Path | None, **options: Any) -> None:
    """Calibrate a model from its logits: calibrator.json, metrics.csv and report.html in the folder OUT.

    PATH is npz (logits and labels, or both for validation_ and test_), npy, csv or parquet (a column label), or
    samples*.jsonl of lm-evaluation-harness. Scores (n, K) or, of one class, (n,); multi-label (n, L); (N, K, H, W).

    \b
    What a method minimises stands after a colon. The default methods are
      temperature,focal-temperature,ensemble-temperature, platt for two classes,
      else vector and, where it is installed, structured-matrix
    and those that there are, with their objectives, the first as default:
      temperature (nll, ece, adaptive-ece), focal-temperature (the same),
      ensemble-temperature, platt (two classes), vector, matrix, structured-matrix, beta,
      dirichlet (nll), histogram, isotonic, venn-abers (brier); 'all' is all that are installed
    In a checkout, pip install '.[methods]' adds beta, venn-abers and structured-matrix.
    """
    from focal_lib.tool.report import report

    check_folder(out, made=True)
    also = [name for name in (as_json, card) if name is not None]
    targets = [*(out / name for name in report.FILES), *also]
    if len({name.resolve() for name in targets}) < len(targets):
        raise ValueError(f"each result must go into a file of its own. Got {', '.join(map(str, targets))}.")
    for name in also:
        if name.parent.resolve() != out.resolve():
            check_folder(name.parent)
    for name in targets:
        check_target(name, path, *files_among(options))
    with progress_line() as show:
        found = report.calibrate(path, **options, progress=show)
        show("writing", 1, 1)
        texts = {name: text() for name, text in ((as_json, found.to_json), (card, found.to_model_card)) if name}
        found.save(out, {name: partial(Path.write_text, data=text, encoding="utf-8") for name, text in texts.items()})
    files = f"{', '.join(report.FILES)} -> {click.format_filename(out)}"
    files += "".join(f"; {click.format_filename(name)}" for name in also)
    cautions = (f"Caution: {text}" for text in found.summary.cautions)
    split = filter(None, [found.summary.split])
    click.echo("\n".join((*found.summary.todo, *split, *cautions, files)))
