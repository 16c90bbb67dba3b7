"""The `focal gamma` command.

focal gamma validation.npz
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from focal_lib.atomic_write import check_folder, check_target, write_whole
from focal_lib.cli.data_options import data_options, files_among
from focal_lib.cli.errors import FileCommand
from focal_lib.cli.parameters import NEW_FILE, FiniteNumber


@click.command(cls=FileCommand)
@click.argument("path", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option(
    "--gamma", "gammas", multiple=True, type=FiniteNumber(0, 5, min_open=True), help="To try, at most 5; several times."
)
@data_options
@click.option("--out", type=NEW_FILE, help="JSON with the table.")
def gamma(path: Path, gammas: tuple[float, ...], out: Path | None, **options: Any) -> None:
    """Which gamma would calibrate a network, before it is trained with focal loss.

    PATH has logits of the network trained with cross-entropy, with labels, on samples that it was not trained on. For
    each gamma: the predicted overconfidence (mean confidence minus accuracy) and ECE of the network trained with focal
    loss instead, with an interval; and the ECE that a temperature gives without another training.
    """
    from focal_lib.tool.focal_training import GAMMAS, predict_focal_training

    if out is not None:
        check_folder(out.parent)
        check_target(out, path, *files_among(options))
    found = predict_focal_training(path, gammas or GAMMAS, **options)
    if out is not None:
        write_whole(out, lambda part: part.write_text(found.to_json(), encoding="utf-8"))
    click.echo(found.words)
