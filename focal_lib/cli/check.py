"""The `focal check` command.

focal check predictions.npz --max-ece 0.02
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from focal_lib.atomic_write import check_folder, check_target
from focal_lib.cli.data_options import data_options, files_among
from focal_lib.cli.errors import CheckingCommand
from focal_lib.cli.numbers import FiniteNumber

__all__ = ["check"]


@click.command(cls=CheckingCommand, word="Investigate")
@click.argument("path", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option(
    "--max-ece",
    "limit",
    required=True,
    type=FiniteNumber(0, 1, max_open=True),
    help="Largest error that passes, a fraction: 0.02.",
)
@click.option("--metric", type=click.Choice(["ece", "adaptive-ece"]), default="ece", show_default=True)
@data_options
@click.option("--calibrator", type=click.Path(exists=True, path_type=Path), help="Of focal calibrate, applied first.")
@click.option(
    "--level",
    type=FiniteNumber(0, 1, min_open=True, max_open=True),
    default=0.95,
    show_default=True,
    help="Of the interval.",
)
@click.option("--out", type=click.Path(dir_okay=False, path_type=Path), help="JSON, or JUnit where it ends in .xml.")
@click.option("--force", is_flag=True, help="Check also where the data look wrong.")
@click.pass_context
def check(context: click.Context, path: Path, out: Path | None, calibrator: Path | None, **options: Any) -> None:
    """Is a model calibrated well enough? Exit status 0: yes, 1: no, 2: to be investigated.

    Judged by the 95 % interval of the ECE over the samples in PATH, those for testing where it has two sets: 0 if all
    of it is at most --max-ece, 1 if all of it is above; 2 if the samples do not tell, or if the check did not run.
    """
    from focal_lib.calibration import gate
    from focal_lib.calibration.saved import load_calibrator

    if out is not None:
        check_folder(out.parent)
        check_target(out, *filter(None, (path, calibrator)), *files_among(options))
    fit = None if calibrator is None else load_calibrator(calibrator)
    found = gate.check(path, calibrator=fit, **options)
    if out is not None:
        found.save(out)
    click.echo(found.words)
    context.exit(int(found.outcome))
