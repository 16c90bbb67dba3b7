"""The `focal calibrate` command.

focal calibrate logits.npz --out report
"""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import click

from focal_lib.atomic_write import check_folder, check_target
from focal_lib.cli.data_options import data_options, files_among
from focal_lib.cli.errors import FileCommand
from focal_lib.cli.files import NEW_FILE
from focal_lib.cli.numbers import FiniteNumber, WholeNumber
from focal_lib.cli.progress import progress_line

__all__ = ["calibrate"]


@click.command(cls=FileCommand)
@click.argument("path", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--out", required=True, type=click.Path(file_okay=False, path_type=Path), help="Folder for the results.")
@data_options
@click.option(
    "--share",
    type=FiniteNumber(0, 1, min_open=True, max_open=True),
    help="Of the samples, to fit on, where the file has one set. Default: 0.5.",
)
@click.option(
    "--folds",
    type=WholeNumber(0),
    default=0,
    help="Of cross-fitting instead, at least 2, where the file has one set. 0: none.",
)
@click.option("--seed", type=WholeNumber(0), default=0, show_default=True, help="Of the split and of the intervals.")
@click.option("--methods", default="", help="Names with commas between, or all; see above.")
@click.option("--shrinkage", type=FiniteNumber(0), default=0.0, help="Draws gamma towards 0; for few samples.")
@click.option("--resamples", type=WholeNumber(1), default=1000, show_default=True, help="Of the bootstrap.")
@click.option(
    "--relevant",
    type=FiniteNumber(0, 1, max_open=True),
    default=0.005,
    help="Smallest gain that matters, a share. Default: 0.005.",
)
@click.option("--force", is_flag=True, help="Go on where the data look wrong.")
@click.option("--json", "as_json", type=NEW_FILE, help="Also all of the report as JSON, into this file.")
@click.option("--model-card", "card", type=NEW_FILE, help="Also a section for a model card, in Markdown.")
def calibrate(path: Path, out: Path, as_json: Path | None, card: Path | None, **options: Any) -> None:
    """Calibrate a model from its logits: calibrator.json, metrics.parquet and report.html in the folder OUT.

    PATH is npz (logits and labels, or both for validation_ and test_), npy, csv or parquet (a column label), or
    samples*.jsonl of lm-evaluation-harness. Scores (n, K) or, of one class, (n,); multi-label (n, L); (N, K, H, W).

    \b
    What a method minimises stands after a colon. The default methods are
      temperature,focal-temperature,focal-temperature:adaptive-ece,vector
    and those that there are, with their objectives, the first as default:
      temperature (nll, ece, adaptive-ece), focal-temperature (the same),
      vector, matrix, structured-matrix, beta, dirichlet (nll), histogram, isotonic,
      venn-abers (brier); 'all' is all that are installed (pip install focal-lib[methods])
    """
    from focal_lib.calibration.report import report

    check_folder(out, made=True)
    also = [name for name in (as_json, card) if name is not None]
    targets = [*(out / name for name in report.FILES), *also]
    if len({name.resolve() for name in targets}) < len(targets):
        raise ValueError(f"each result must go into a file of its own. Got {', '.join(map(str, targets))}.")
    for name in targets:
        check_target(name, path, *files_among(options))
    with progress_line() as show:
        found = report.calibrate(path, **options, progress=show)
        show("writing", 1, 1)
        texts = {name: text() for name, text in ((as_json, found.to_json), (card, found.to_model_card)) if name}
        found.save(out, {name: partial(_write_text, text) for name, text in texts.items()})
    files = f"{', '.join(report.FILES)} -> {click.format_filename(out)}"
    files += "".join(f"; {click.format_filename(name)}" for name in also)
    cautions = (f"Caution: {text}" for text in found.summary.cautions)
    click.echo("\n".join((*found.summary.todo, *cautions, files)))


def _write_text(text: str, path: Path) -> None:
    path.write_text(text, encoding="utf-8")
