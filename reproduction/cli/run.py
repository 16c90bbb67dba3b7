"""The `focal run` command.

focal run -p loss focal -p gamma 3
"""

from __future__ import annotations

import math
import time
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import click

from focal_lib.atomic_write import check_folder, check_target
from focal_lib.cli.parameters import (
    GRID_FILE,
    NAMED_PATH,
    ROOT_FOLDER,
    CommandWithParameters,
    FiniteNumber,
    WholeNumber,
    parameters_option,
)


class _RunHelp(CommandWithParameters):
    def rows(self, context: click.Context) -> list[tuple[str, str]]:
        from reproduction.engine.spec import describe_parameters

        return describe_parameters()


@click.command(cls=_RunHelp)
@parameters_option("a number or a name")
@click.option("--root", type=ROOT_FOLDER, help="Folder of the runs. Default: FOCAL_RUNS, else _build/runs.")
@click.option("--device", default="auto", show_default=True, help="auto, cpu, cuda or cuda:1.")
@click.option("--per-device", type=WholeNumber(1), help="Take a GPU that has fewer jobs than this, or wait for it.")
@click.option("--minutes", type=FiniteNumber(0, min_open=True), help="Stop at a checkpoint; the next call goes on.")
@click.option("--again", is_flag=True, help="Move a finished run aside and make it anew.")
@click.option("--page", type=NAMED_PATH, help="Also leave an executed notebook on the run.")
@click.option("--follow", multiple=True, help="tensorboard or mlflow: show the history there as it comes.")
@click.option("--grid", "path", type=GRID_FILE, help="Instead of -p: a run of this grid, the one with that ...")
@click.option("--digest", help="... digest.")
@click.option("--until", type=float, default=math.inf, help="As --minutes; a time in seconds since 1970.")
def run(
    parameters: tuple[tuple[str, str], ...],
    root: Path | None,
    device: str,
    per_device: int | None,
    minutes: float | None,
    again: bool,
    page: Path | None,
    follow: tuple[str, ...],
    path: Path | None,
    digest: str | None,
    until: float,
) -> None:
    """Train one network, go on where it was interrupted, or just say what it gave.

    focal run -p dataset cifar10 -p model resnet50 -p recipe m20-cifar -p loss focal -p gamma 3 -p seed 0
    """
    from reproduction.engine.follow import find_followers
    from reproduction.engine.grids import make_spec, read_grid_from
    from reproduction.engine.locks import TimeUp, place_on_a_gpu
    from reproduction.engine.run import run_shared
    from reproduction.engine.spec import chosen_fields
    from reproduction.engine.status import CALL_AGAIN
    from reproduction.engine.store import describe
    from reproduction.parameters import parse_parameters

    try:
        given = parse_parameters(parameters)
        if math.isnan(until):
            raise ValueError("--until must be a time in seconds since 1970. Got nan.")
        if (path is None) != (digest is None) or (path is not None and given):
            raise ValueError("a run is told by -p, or by --grid and --digest. Got a mixture.")
        if per_device and device != "cuda":
            raise ValueError(f"--per-device is for --device cuda. Got {device}.")
        if page is not None:
            check_target(page, ending=".ipynb")
            check_folder(page.absolute().parent)
        followers = find_followers(follow)
        specs = [make_spec(given)] if path is None or digest is None else read_grid_from(path, digest)
        until = min(until, time.time() + 60 * minutes) if minutes is not None else until
        with place_on_a_gpu(per_device, until=until) if per_device else nullcontext(device) as place:
            options: dict[str, Any] = {"again": again, "until": until, "progress": path is None, "followers": followers}
            result = run_shared(specs, root, place, **options)
        click.echo(f"{describe(result)} -> {result.spec.digest}")
        if page is not None:
            from reproduction.pages.execute import execute, find_source
            from reproduction.pages.resolve import resolve

            chosen = {own.name: getattr(result.spec, own.name) for own in chosen_fields()}
            execute(find_source("experiment"), page, chosen | {"runs": str(root or "")})
            resolve(page, page)
            click.echo(f"page -> {page}")
    except TimeUp as stop:
        click.echo(f"Stopped: {stop}", err=True)
        raise SystemExit(CALL_AGAIN) from None
    except (ValueError, TypeError, OSError, RuntimeError, MemoryError) as error:
        raise click.ClickException(str(error)) from None
