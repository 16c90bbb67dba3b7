"""The `focal watch` command.

focal watch today.csv --state watch.db
tail -f outcomes.jsonl | focal watch -
"""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import click

from focal_lib.atomic_write import check_folder, check_target
from focal_lib.cli.data_options import CLASS_NAMES, GIVEN, SCORES
from focal_lib.cli.errors import CheckingCommand
from focal_lib.cli.parameters import NEW_FILE


@click.command(cls=CheckingCommand, word="Did not run")
@click.argument("path", type=click.Path(exists=True, dir_okay=False, path_type=Path, allow_dash=True))
@click.option("--alpha", type=float, help="At most the chance of a false alarm, ever. Default: 0.05.")
@click.option("--resolution", type=float, help="Precision of confidences near 0 and 1. Default: 1e-5.")
@click.option("--tolerance", type=float, help="Confidences off by no more are no drift. Default: 0.")
@click.option("--block", type=int, help="Samples judged together, where outcomes depend on each other. Default: 1.")
@SCORES
@click.option("--given", type=GIVEN, default="probs", show_default=True, help="What columns of scores hold.")
@click.option("--label-column", "label", default="label", show_default=True, metavar="NAME")
@CLASS_NAMES
@click.option("--id", "key", default="", metavar="NAME", help="Column of samples' ids: each is counted once.")
@click.option("--state", type=NEW_FILE, help="Go on from this file, if there, and keep it.")
@click.pass_context
def watch(context: click.Context, path: Path, state: Path | None, **options: Any) -> None:
    """Has a model drifted out of calibration? Exit status 0: not so far, 1: alarm, 2: this did not run.

    PATH, or - for standard input, is csv with a header or an object of JSON a line, in the order in which the samples
    came: columns confidence, of the predicted class, and correct; confidence, predicted and label; or label and the
    probabilities of every class (in JSON: probs, a list) or, one alone, of the positive class. Of two classes the
    probability of the second is watched. A sample without an outcome yet is left out: give it again, with --id.

    The test may be looked at after every sample. If each outcome, given all earlier ones, is right with the
    probability stated, or within --tolerance of it, there is ever an alarm with probability --alpha at most. This does
    not hold where outcomes come sooner if predictions are wrong, or depend on each other - of one session, one day.
    For these --block N judges N at a time, and the bound holds if that is so given the earlier blocks: nearly, where N
    is many times as long as the dependence.

    An alarm stays in the state: calibrate again, and go on with another state. Calls at once on one state wait for
    each other. A file counts whole, or not at all where a line is wrong, and once: it is known by its path and
    content. Lines that come again in another file, or in a pipe, count again, but with --id. A pipe counts as it
    comes; what was counted is in the state before an alarm is printed.
    """
    import numpy as np

    from focal_lib.tool.inputs.outcome_lines import OutcomeLines, lines_of
    from focal_lib.tool.watch import CalibrationWatch, WatchState

    if state is not None:
        check_folder(state.parent)
        check_target(state, path)
    store = WatchState(state, **{name: options.pop(name) for name in CalibrationWatch.OPTIONS if name in options})
    of_file = path.is_file() and str(path) != "-"
    lines = OutcomeLines(path.name if of_file else "standard input", **options)
    digest, new, low, said = hashlib.sha256(f"{path.resolve()}\0".encode()), 0, 0, store.watch.alarm
    with click.open_file(str(path), "rb") as stream:
        parts = lines.read(lines_of(stream, digest.update))
        try:
            for part in [[np.concatenate(own) for own in zip(*parts, strict=True)]] if of_file else parts:
                found = store.count(part, lines.of, digest.hexdigest() if of_file else "")
                new, low = new + found, low + int((part[0] < 0.5).sum())
                if store.watch.alarm and not (said or of_file):
                    click.echo(store.watch.words)
                    said = True
        except KeyboardInterrupt:  # how one ends a pipe that does not end
            if of_file:
                raise
    own = store.watch
    if not (new or lines.late or own.steps):
        raise ValueError("there must be samples to look at. Got none.")
    click.echo(own.words)
    if new < own.steps:
        click.echo(f"{new:,} of the {own.steps:,} samples are new.")
    if lines.late:
        again = "" if lines.key else ", with --id so that others do not count twice"
        click.echo(f"Left out, without an outcome so far: {lines.late:,}. Give them again when it is there{again}.")
    if lines.unused:
        click.echo(f"Columns that were left alone: {', '.join(lines.unused)}.")
    if own.alarm and low and lines.of == "confidence":
        click.echo(
            f"{low:,} of {new:,} confidences are below 0.5, as that of a predicted class is not where there are two: "
            "probabilities of the positive class go with a column label, and --scores."
        )
    if own.alarm:
        where = f"; then watch anew, with another --state than {state.name}" if state is not None else ""
        click.echo(f"Next: calibrate again, on recent samples (focal calibrate){where}.")
    context.exit(1 if own.alarm else 0)
