"""The `focal apply` command.

focal apply report/calibrator.json new.npy --out probs.npy
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from focal_lib.atomic_write import check_folder, check_target
from focal_lib.cli.data_options import GIVEN, SCORES
from focal_lib.cli.errors import FileCommand
from focal_lib.cli.parameters import FILE_OR_PIPE, WholeNumber


@click.command(cls=FileCommand)
@click.argument("calibrator", type=click.Path(exists=True, path_type=Path))
@click.argument("path", type=click.Path(exists=True, path_type=Path, allow_dash=True))
@click.option(
    "--out",
    required=True,
    type=FILE_OR_PIPE,
    help="Probabilities, npy; of a table also csv, parquet.",
)
@click.option("--given", type=GIVEN, help="What the file holds. Default: what the calibrator was fitted on.")
@SCORES
@click.option("--chunk", default=100_000, show_default=True, type=WholeNumber(1), help="Samples in memory at a time.")
def apply(calibrator: Path, path: Path, out: Path, given: Any, scores: Any, chunk: int) -> None:
    """Calibrate new logits (n, K): npy, which may be larger than memory, npz, or samples*.jsonl.

    Scores may have any layout that the calibrator was fitted on, (n,), (n, L), (N, K, H, W), ...; their shape is kept.
    PATH and --out may be -, for standard input and output. Of a table - csv, parquet, jsonl - the columns of fit
    are taken, or those of --scores; --out may be a table, csv or parquet: the same with probabilities in their place.
    """
    from focal_lib.calibration.saved import load_calibrator
    from focal_lib.tool.apply.files import WRITTEN, apply_calibrator, apply_to_table, is_table

    fit = load_calibrator(calibrator)
    named = is_table(fit, path, scores)
    if scores and not named:
        raise ValueError(f"--scores goes with csv and parquet files, and jsonl. Got {path.name}.")
    if named and str(out) != "-" and out.suffix.lower() not in (*WRITTEN, ".npy"):
        raise ValueError(f"of a table the result must be {', '.join(WRITTEN)} or .npy. Got {out.name}.")
    if str(out) != "-":
        check_folder(out.parent)
        check_target(out, calibrator, path, ending="" if named and out.suffix.lower() in WRITTEN else ".npy")
    if named:
        written = apply_to_table(fit, path, out, given, scores)
    else:
        written = apply_calibrator(fit, path, out, given=given, chunk=chunk)
    click.echo(f"{written:,} samples -> {click.format_filename(out)}", err=True)
