"""The `focal watch` command.

focal watch today.csv --state watch.json
tail -f outcomes.jsonl | focal watch -
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

import click

from focal_lib.atomic_write import check_target
from focal_lib.cli.errors import CheckingCommand

if TYPE_CHECKING:
    from focal_lib.tool.watch import CalibrationWatch


_NO_DRIFT, _ALARM = 0, 1
_AT_ONCE = 4096  # samples of a file; of a pipe each is looked at when it comes


@click.command(cls=CheckingCommand, word="Did not run")
@click.argument("path", type=click.Path(exists=True, dir_okay=False, path_type=Path, allow_dash=True))
@click.option("--alpha", type=float, help="At most the chance of a false alarm, ever. Default: 0.05.")
@click.option("--resolution", type=float, help="Precision of confidences near 0 and 1. Default: 1e-5.")
@click.option("--tolerance", type=float, help="Confidences off by no more are no drift. Default: 0.")
@click.option(
    "--state", type=click.Path(dir_okay=False, path_type=Path), help="Go on from this file, if there, and keep it."
)
@click.pass_context
def watch(context: click.Context, path: Path, state: Path | None, **options: float | None) -> None:
    """Has a model drifted out of calibration? Exit status 0: not so far, 1: alarm, 2: this did not run.

    PATH, or - for standard input, is csv with a header or an object of JSON a line, in the order in which the samples
    came: columns confidence, of the predicted class, and correct; confidence, predicted and label; or label and the
    probabilities of every class (in JSON: probs, a list).

    The test may be looked at after every sample: a calibrated model, or one within --tolerance, ever raises an alarm
    with probability --alpha at most. An alarm stays in the state: calibrate again, and go on with another state.
    Without a state, the watch starts anew. Of a file all lines are counted or, where one is wrong, none; of a pipe
    those up to then. What is given twice counts twice.
    """
    from focal_lib.tool.inputs.outcome_lines import read_outcomes

    own = _start(state, options)
    if state is not None:
        check_target(state, path)
    before, of_file, low = own.steps, path.is_file() and str(path) != "-", 0
    said = own.alarm or of_file  # of a pipe an alarm is reported at once
    try:
        with click.open_file(str(path), encoding="utf-8") as lines:
            outcomes = read_outcomes(lines, path.name if of_file else "standard input")
            while part := list(islice(outcomes, _AT_ONCE if of_file else 1)):
                own.update(*map(list, zip(*part, strict=True)))
                low += sum(confidence < 0.5 for confidence, _ in part)
                if own.alarm and not said:
                    click.echo(own.words)
                    said = True
    except KeyboardInterrupt:  # how one ends a pipe that does not end
        if of_file:
            raise
    except BaseException:
        if state is not None and not of_file and own.steps > before:  # the samples are gone: what was counted is kept
            own.save(state)
        raise
    if own.steps == before:
        raise ValueError("there must be samples to look at. Got none.")
    if state is not None:
        own.save(state)
    click.echo("\n".join((own.words, *_told_besides(own, before, low, state))))
    context.exit(_ALARM if own.alarm else _NO_DRIFT)


def _told_besides(own: CalibrationWatch, before: int, low: int, state: Path | None) -> Iterator[str]:
    """Notes on the number of new samples, on dubious confidences, and on what to do after an alarm."""
    new = own.steps - before
    if before:
        yield f"{new:,} of the {own.steps:,} samples are new: those that are given twice count twice."
    if own.alarm and low:
        yield (
            f"{low:,} of {new:,} confidences are below 0.5, as that of a predicted class is not where there are two: "
            "then give the larger of p and 1 - p, not the probability of the positive class."
        )
    if own.alarm:
        where = f"; then watch anew, with another --state than {state.name}" if state is not None else ""
        yield f"Next: calibrate again, on samples of late (focal calibrate){where}."


def _start(state: Path | None, options: dict[str, float | None]) -> CalibrationWatch:
    """Start from the saved state, if there is one; its options apply."""
    from focal_lib.tool.watch import CalibrationWatch

    given = {name: value for name, value in options.items() if value is not None}
    if state is None or not state.exists():
        return CalibrationWatch(**given)
    found = CalibrationWatch.load(state)
    for name, value in given.items():
        if value != getattr(found, name):
            raise ValueError(f"--{name} must be that of {state.name}, {getattr(found, name):g}. Got {value:g}.")
    return found
