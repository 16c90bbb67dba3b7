"""The `focal grid` command.

focal grid workflow/grids/fashion-mnist.yaml --status
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from focal_lib.atomic_write import check_folder, check_target
from focal_lib.cli.parameters import CORES, GRID_FILE, NAMED_PATH, ROOT_FOLDER, FiniteNumber, WholeNumber

if TYPE_CHECKING:
    from reproduction.engine.store import Result


@click.command(context_settings={"ignore_unknown_options": True})
@click.argument("path", type=GRID_FILE)
@click.option("--cores", default="all", show_default=True, type=CORES, metavar="CORES", help="How many to use.")
@click.option("--dry-run", is_flag=True, help="Only say what it stands for and would cost: runs, images, hours here.")
@click.option("--status", "only_status", is_flag=True, help="Say what is done, running, stopped, waiting, or failed.")
@click.option("--root", type=ROOT_FOLDER, help="Folder of the runs. Default: FOCAL_RUNS, else _build/runs.")
@click.option("--again", is_flag=True, help="Move finished runs aside and make them anew.")
@click.option("--minutes", type=FiniteNumber(0, min_open=True), help="Stop at checkpoints; the next call goes on.")
@click.option("--device", default="auto", show_default=True, type=click.Choice(["auto", "cpu", "cuda"]))
@click.option("--per-device", default=1, show_default=True, type=WholeNumber(1), help="Runs at once on each GPU.")
@click.option("--follow", multiple=True, help="tensorboard or mlflow: show the runs' histories there as they come.")
@click.option("--record", type=NAMED_PATH, help="Copy the finished runs there, without weights.")
@click.option("--half", is_flag=True, help="With --record: logits as float16, in half the size.")
@click.option(
    "--table",
    type=NAMED_PATH,
    help="Write test metrics of the finished runs, as parquet; with --record of all that are recorded there.",
)
@click.option("--part", is_flag=True, help="With --record or --table: those that are finished, if not all are.")
@click.argument("snakemake", nargs=-1, type=click.UNPROCESSED)
def grid(
    path: Path,
    cores: int | str,
    dry_run: bool,
    only_status: bool,
    root: Path | None,
    again: bool,
    minutes: float | None,
    device: str,
    per_device: int,
    follow: tuple[str, ...],
    record: Path | None,
    half: bool,
    table: Path | None,
    part: bool,
    snakemake: tuple[str, ...],
) -> None:
    """Do every run of the grid PATH, a YAML file; what follows the options goes to Snakemake.

    focal grid workflow/grids/fashion-mnist.yaml --cores 2 --executor slurm

    With --executor slurm, say, or --profile, for a cluster, --minutes are those of each job, each takes the GPU it was
    given, and nothing is said of this machine.
    After --minutes the exit status is 75 while calls help, and 1 when what is left has failed; why is told at the end.

    A finished run is kept, but for --again. Two grids at once share the runs they have in common.
    --status, --record and --table run nothing: they look at the runs there are. Nor does --dry-run, which times a step
    of training of each network.
    """
    from reproduction.engine.follow import find_followers
    from reproduction.engine.grids import read_grid
    from reproduction.engine.jobs import check_scheduler, do_grid, is_for_cluster
    from reproduction.engine.status import exit_status, status
    from reproduction.engine.store import default_runs

    cluster, every = is_for_cluster(snakemake), set(click.get_current_context().params)
    if only_status:
        _refuse_ignored({"path", "root", "only_status"}, "--status looks at the runs there are")
    elif record is not None or table is not None:
        _refuse_ignored(
            {"path", "root", "record", "half", "table", "part"}, "--record and --table look at the runs there are"
        )
    elif dry_run:
        used = {"path", "root", "dry_run", "cores", "device", "again"}
        _refuse_ignored(used, "--dry-run says what the grid would cost")
    else:
        _refuse_ignored(every - {"half", "part"}, "--half and --part are for --record and --table")
        if cluster:
            _refuse_ignored(every - {"per_device"}, "on a cluster each run takes the GPU that its job was given")
        if device != "cuda":
            _refuse_ignored(every - {"per_device"}, "only --device cuda shares out GPUs")
    try:
        specs, root = read_grid(path), root or default_runs()
        if only_status:
            for spec, state, detail in status(specs, root):
                click.echo(f"{state:8} {spec.digest}  {spec.label:20} seed {spec.seed}  {detail}")
            return
        if record is not None or table is not None:
            _collect(path, root, record, table, half=half, part=part)
            return
        if not dry_run:
            check_scheduler(snakemake)
            find_followers(follow)
        _plan(path, root, dry_run, again, here=not cluster, device=device, cores=cores)
        if dry_run:
            return
        how: dict[str, Any] = {
            "cores": str(cores),
            "device": device,
            "per_device": per_device,
            "minutes": minutes,
            "follow": follow,
        }
        ended = do_grid(path, root, again=again, more=snakemake, **how)
    except (ValueError, OSError) as error:
        raise click.ClickException(str(error)) from None
    if minutes is None and not cluster:  # each job has told how it ended
        raise SystemExit(ended.code)
    failed = ended.failed
    states = Counter("failed" if spec.digest in failed else state for spec, state, _ in status(specs, root))
    click.echo(", ".join(f"{count} {state}" for state, count in states.items()))
    for reason in dict.fromkeys(failed.values()):
        first, *others = [spec.name for spec in specs if failed.get(spec.digest) == reason]
        click.echo(f"{first}{f' and {len(others)} more' if others else ''}: {reason}", err=True)
    raise SystemExit((minutes and ended.code and exit_status(states)) or ended.code)


def _plan(path: Path, root: Path, dry_run: bool, again: bool, here: bool, device: str, cores: int | str) -> None:
    """Say what is to do, and refuse what cannot be done; with `dry_run` say also what it stands for and would cost."""
    from reproduction.checkout import require_checkout
    from reproduction.engine.cost import images_to_train
    from reproduction.engine.data_identity import refuse_other_data
    from reproduction.engine.grids import read_grid, read_notes
    from reproduction.engine.jobs import check_root
    from reproduction.engine.plan import check_runs, say_hours
    from reproduction.engine.status import runs_to_do, status

    if not dry_run:
        require_checkout("a grid of runs")
        check_root(root)
    found = status(read_grid(path), root, whole=not dry_run)
    if not again:
        refuse_other_data((one.spec for one in found if one.state == "done"), root)
    if left := runs_to_do(found, again=again):
        check_runs(left, data=here)
    if dry_run:
        click.echo(read_notes(path).in_words, nl=False)
    listed = ", ".join(f"{count} {state}" for state, count in Counter(one.state for one in found).items())
    click.echo(f"{len(found)} runs: {listed}; {len(left)} to do.", err=not dry_run)
    if not left:
        return
    images = sum(map(images_to_train, left))  # what stands before a checkpoint is not subtracted
    click.echo(f"Images (or texts) to train on, epochs x those of one: at most {images:,}.", err=not dry_run)
    if dry_run:
        click.echo("\n".join(say_hours(left, device, cores=0 if isinstance(cores, str) else cores)))


def _collect(path: Path, root: Path, record: Path | None, table: Path | None, *, half: bool, part: bool) -> None:
    """Copies of the runs, and a table of them."""
    from reproduction.engine.recording import copy_runs, not_recorded
    from reproduction.engine.store import SPEC, load_runs
    from reproduction.studies.shared import experiments, over_seeds

    if table is not None:
        check_target(table, ending=".parquet")
        if ((folder := table.absolute().parent) / SPEC).exists():
            raise ValueError(f"a table must not lie in the folder of a run. Got {table}, beside {SPEC}.")
        check_folder(folder, made=record is not None and record.absolute().is_relative_to(folder))
    results = load_runs(path.resolve(), root, part=part)
    if record is not None:
        if fresh := not_recorded(results, record):
            check_folder(record, made=True)
        copy_runs(fresh, record, root, half=half)
        click.echo(
            f"{len(results)} runs -> {record}; compute used: {experiments.say_compute(run.compute for run in results)}"
        )
        if experiments.update_readme(record.resolve().parent / "README.md"):
            click.echo(f"compute used -> {record.parent / 'README.md'}")
    if table is not None:
        if record is not None:  # earlier calls, or other machines, may have recorded more
            results = load_runs(path.resolve(), record.absolute(), part=part)
        _refuse_to_lose(table, results)
        over_seeds.write_table(over_seeds.measure(results), table)
        click.echo(f"{len(results)} runs -> {table}")


def _refuse_to_lose(table: Path, results: Collection[Result]) -> None:
    """A table that has other runs, too, is not written over: their logits may not be kept."""
    from reproduction.studies.shared.experiments import runs_in_table

    specs = (result.spec for result in results)
    if lost := runs_in_table(table) - {(spec.dataset, spec.model, spec.label, spec.seed) for spec in specs}:
        raise ValueError(
            f"{table} must have no run that the new table has not. Got {len(lost)}: write elsewhere, or move it away."
        )


def _refuse_ignored(used: Collection[str], why: str) -> None:
    """Options that were given and would do nothing are refused."""
    context = click.get_current_context()
    given = [
        " ".join(context.params[own.name]) if isinstance(own, click.Argument) else own.opts[0]
        for own in context.command.params
        if own.name and own.name not in used and context.get_parameter_source(own.name) is ParameterSource.COMMANDLINE
    ]
    if given:
        raise click.UsageError(f"{why}: leave out {', '.join(given)}.", context)
