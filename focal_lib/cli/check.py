"""The `focal check` command.

focal check predictions.npz --max-ece 0.02
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import click

from focal_lib.atomic_write import check_folder, check_target
from focal_lib.cli.data_options import data_options, files_among
from focal_lib.cli.errors import CheckingCommand, in_a_line
from focal_lib.cli.parameters import NEW_FILE, FiniteNumber


class _CheckCommand(CheckingCommand):
    """Also writes errors of options, such as a missing file, to --out."""

    def make_context(self, info_name: str | None, args: list[str], *rest: Any, **more: Any) -> click.Context:
        given = list(args)
        try:
            return super().make_context(info_name, args, *rest, **more)
        except click.UsageError as error:
            known = super().make_context(info_name, [*given], *rest, **more, resilient_parsing=True).params
            if (out := known.get("out")) is not None:
                _leave(in_a_line(error.format_message()), out, _others(given, out))
            raise


def _others(args: Sequence[str], out: Path) -> list[Path]:
    """Arguments that may be files, without that of --out."""
    paths = [Path(text.partition("=")[2] if text.startswith("--") and "=" in text else text) for text in args]
    if out in paths:
        paths.remove(out)
    return paths


def _leave(reason: str, out: Path, inputs: Sequence[Path], **asked: Any) -> None:
    """Write the reason why the check did not run, unless --out is an input file: an old result would be misleading."""
    from focal_lib.tool.gate import did_not_run

    with suppress(OSError, ValueError):  # the reason itself is said on the terminal
        check_target(out, *inputs)
        did_not_run(reason, **asked).save(out)


@click.command(cls=_CheckCommand, word="Investigate")
@click.argument("path", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option(
    "--max-ece",
    "limit",
    required=True,
    type=FiniteNumber(0, 1, max_open=True),
    help="Largest error that passes, a fraction: 0.02.",
)
@click.option(
    "--metric",
    type=click.Choice(["positive-ece", "observed-expected", "ece", "adaptive-ece"]),
    default=None,
    help="What is judged. Of two classes: positive-ece, is a 0.3 for class 1 a 0.3, or observed-expected, |O/E - 1| "
    "of the rarer class, for rare events. Of the most probable class: ece, adaptive-ece. Default: positive-ece for two "
    "classes, else ece.",
)
@data_options
@click.option(
    "--calibrator",
    type=click.Path(exists=True, path_type=Path),
    help="Of focal calibrate, applied first: check it on samples that it was not fitted on.",
)
@click.option(
    "--level",
    type=FiniteNumber(0, 1, min_open=True, max_open=True),
    default=0.95,
    show_default=True,
    help="Of the interval.",
)
@click.option("--out", type=NEW_FILE, help="JSON, or JUnit where it ends in .xml, also where the check did not run.")
@click.option("--force", is_flag=True, help="Check also where the data look wrong.")
@click.pass_context
def check(context: click.Context, path: Path, out: Path | None, calibrator: Path | None, **options: Any) -> None:
    """Is a model calibrated well enough? Exit status 0: yes, 1: no, 2: to be investigated.

    Judged by the 95 % interval of the calibration error over the samples in PATH, those for testing where it has two
    sets: 0 if all of it is at most --max-ece, 1 if all of it is above; 2 if the samples do not tell, if a model that
    is always certain of the commonest class would pass, if the ece of two classes hides a positive-ece above the limit,
    or if the check did not run. The samples must be others than those that the model, and the calibrator, were fitted
    on.
    """
    from focal_lib.calibration.saved import load_calibrator
    from focal_lib.tool import gate

    options["metric"] = options["metric"] or ""
    if out is not None:
        check_folder(out.parent)
        check_target(out, *filter(None, (path, calibrator)), *files_among(options))
    try:
        fit = None if calibrator is None else load_calibrator(calibrator)
        found = gate.check(path, calibrator=fit, **options)
    except BaseException as error:
        if out is not None:
            reason = in_a_line(error) if isinstance(error, Exception) else "interrupted."
            _leave(reason, out, (), **{name: options[name] for name in ("metric", "limit", "level")})
        raise
    if out is not None:
        found.save(out)
    click.echo(found.words)
    context.exit(int(found.outcome))
