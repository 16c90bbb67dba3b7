"""The `focal` command.

focal notebook 04_temperature_bounds -p radius 10 --out page.ipynb
focal run -p loss focal -p gamma 3
focal grid workflow/grids/fashion-mnist.yaml --status
focal calibrate logits.npz --out report
focal apply report/calibrator.json new.npy --out probs.npy
focal watch outcomes.csv --state watch.json
focal export report/calibrator.json --out calibrator.onnx
focal claims prop5
focal claims --verify
"""

from __future__ import annotations

import math
import re
import time
from collections import Counter
from collections.abc import Collection
from contextlib import nullcontext
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from focal_lib.atomic_write import check_folder, check_target
from focal_lib.cli_claims import claims
from focal_lib.cli_data import GIVEN, data_options, files_among
from focal_lib.cli_errors import CheckingCommand, FileCommand
from focal_lib.cli_progress import progress_line
from focal_lib.cli_watch import watch

if TYPE_CHECKING:
    from focal_lib.training.spec import Spec

__all__ = ["main"]


GRID_FILE = click.Path(exists=True, dir_okay=False, resolve_path=True, path_type=Path)
_NEW_FILE = click.Path(dir_okay=False, path_type=Path)
ROOT_FOLDER = click.Path(file_okay=False, resolve_path=True, path_type=Path)


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="focal-lib")
def main() -> None:
    """Focal loss and calibration: run the book's notebooks, train networks, check claims."""


class _Whole(click.IntRange):
    """A whole number as people write them, 1e3 among them."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        try:
            number = float(value) if re.search("[.eE]", str(value)) else math.nan  # digits alone are read exactly
        except ValueError:
            number = math.nan
        return super().convert(int(number) if number.is_integer() else value, param, ctx)


class _Number(click.FloatRange):
    """A finite number."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        number = super().convert(value, param, ctx)
        return number if math.isfinite(number) else self.fail(f"{value!r} is not a finite number.", param, ctx)


class _Help(click.Command):
    """A command with -p NAME VALUE, whose --help lists what that sets: `rows` of (name, meaning), when asked for."""

    def parse_args(self, context: click.Context, args: list[str]) -> list[str]:
        for flag, given in pairwise(["", *args]):
            text = given if flag == "-p" else given.removeprefix("-p") if given.startswith("-p") else ""
            if match := re.match(r"([A-Za-z_]\w*)=(.*)", text, re.DOTALL):
                name, value = match.groups()
                raise click.UsageError(f"-p takes a name and a value: -p {name} {value}. Got {text}.", context)
        return super().parse_args(context, args)

    def format_options(self, context: click.Context, formatter: click.HelpFormatter) -> None:
        super().format_options(context, formatter)
        if rows := self.rows(context):
            with formatter.section("Parameters"):
                formatter.write_dl(rows)

    def rows(self, context: click.Context) -> list[tuple[str, str]]:
        return []


class _NotebookHelp(_Help):
    def rows(self, context: click.Context) -> list[tuple[str, str]]:
        from focal_lib.pages.execute import describe_parameters, find_source

        name = context.params.get("name")
        try:
            return describe_parameters(find_source(name)) if name else []
        except (ValueError, FileNotFoundError) as error:
            raise click.ClickException(str(error)) from None


class _RunHelp(_Help):
    def rows(self, context: click.Context) -> list[tuple[str, str]]:
        from focal_lib.training.spec_help import describe_parameters

        return describe_parameters()


def _show_help(context: click.Context, option: click.Parameter, asked: bool) -> None:
    if asked:
        click.echo(context.get_help())
        context.exit()
    if context.params.get("name") is None:
        raise click.UsageError("Missing argument 'NAME'.", context)


def _parameters(kinds: str) -> Any:
    text = f"A parameter, of those below: {kinds}."
    return click.option("-p", "parameters", nargs=2, multiple=True, metavar="NAME VALUE", help=text)


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


@main.command(cls=_NotebookHelp, add_help_option=False)
@click.argument("name", required=False, is_eager=True, metavar="NAME")  # known when --help is asked for
@_parameters("a number, text, true or false; of NAME --help")
@click.option("--out", type=click.Path(path_type=Path), help="Executed notebook. Default: NAME.ipynb here.")
@click.option("--html", type=click.Path(path_type=Path), help="Also one HTML page, which opens without a network.")
@click.option("--for-book", is_flag=True, help="Leave numbers and references to Sphinx, as the book's build needs.")
@click.option(
    "-h", "--help", is_flag=True, expose_value=False, callback=_show_help, help="This; after NAME, its parameters, too."
)
def notebook(
    name: str, parameters: tuple[tuple[str, str], ...], out: Path | None, html: Path | None, for_book: bool
) -> None:
    """Run the notebook NAME headless with papermill, its parameter names checked first.

    Paths among the parameters are relative to the project's folder. What it leaves is for JupyterLab: numbers and
    references of the text are filled in.
    """
    from focal_lib.checkout import require_checkout

    try:
        if Path(name).suffix != ".py":
            require_checkout("a notebook by its name")  # before the packages of the book are looked for
    except FileNotFoundError as error:
        raise click.ClickException(str(error)) from None

    from focal_lib.pages.execute import execute, find_source
    from focal_lib.pages.html import as_html
    from focal_lib.pages.resolve import resolve
    from focal_lib.parameters import parse_parameters

    try:
        if for_book and html is not None:
            raise ValueError("--html shows the numbers, which --for-book leaves to Sphinx. Got both.")
        source = find_source(name)
        out = out or Path(f"{source.stem}.ipynb")
        check_target(out, source, ending=".ipynb")
        if html is not None:
            if html.resolve() == out.resolve():
                raise ValueError(f"--html must be another file than the notebook. Got {html} for both.")
            check_target(html, source, ending=".html")
        seconds = execute(source, out, parse_parameters(parameters))
        if not for_book:
            resolve(out, out)
        if html is not None:
            as_html(out, html)
    except (ValueError, RuntimeError, OSError) as error:
        raise click.ClickException(str(error)) from None
    click.echo(f"{source.stem}: done in {seconds:.1f} s -> {out}" + (f", {html}" if html else ""))


@main.command(cls=_RunHelp)
@_parameters("a number or a name")
@click.option("--root", type=ROOT_FOLDER, help="Folder of the runs. Default: FOCAL_RUNS, else _build/runs.")
@click.option("--device", default="auto", show_default=True, help="auto, cpu, cuda or cuda:1.")
@click.option("--per-device", type=_Whole(1), help="Take a GPU that has fewer jobs than this, or wait for it.")
@click.option("--minutes", type=_Number(0, min_open=True), help="Stop at a checkpoint; the next call goes on.")
@click.option("--again", is_flag=True, help="Move a finished run aside and make it anew.")
@click.option("--page", type=click.Path(path_type=Path), help="Also leave an executed notebook on the run.")
@click.option("--grid", "path", type=GRID_FILE, help="Instead of -p: a run of this grid, the one with that ...")
@click.option("--digest", help="... digest; if another process does it, one that nobody does.")
@click.option("--until", type=float, default=math.inf, help="As --minutes; a time in seconds since 1970.")
def run(
    parameters: tuple[tuple[str, str], ...],
    root: Path | None,
    device: str,
    per_device: int | None,
    minutes: float | None,
    again: bool,
    page: Path | None,
    path: Path | None,
    digest: str | None,
    until: float,
) -> None:
    """Train one network, go on where it was interrupted, or just say what it gave.

    focal run -p dataset cifar10 -p model resnet50 -p recipe m20-cifar -p loss focal -p gamma 3 -p seed 0
    """
    from dataclasses import asdict

    from focal_lib.parameters import parse_parameters
    from focal_lib.training.cards import place_on_a_card
    from focal_lib.training.grids import make_spec, read_grid_from
    from focal_lib.training.run import TimeUp, run_shared
    from focal_lib.training.status import CALL_AGAIN
    from focal_lib.training.store import describe

    try:
        given = parse_parameters(parameters)
        if (path is None) != (digest is None) or (path is not None and given):
            raise ValueError("a run is told by -p, or by --grid and --digest. Got a mixture.")
        if per_device and device != "cuda":
            raise ValueError(f"--per-device is for --device cuda. Got {device}.")
        if page is not None:
            check_target(page, ending=".ipynb")
        specs = [make_spec(given)] if path is None or digest is None else read_grid_from(path, digest)
        until = min(until, time.time() + 60 * minutes) if minutes is not None else until
        with place_on_a_card(per_device) if per_device else nullcontext(device) as place:
            result = run_shared(specs, root, place, again=again, until=until, progress=path is None)
        click.echo(f"{describe(result)} -> {result.spec.digest}")
        if page is not None:
            from focal_lib.pages.execute import execute, find_source
            from focal_lib.pages.resolve import resolve

            execute(find_source("experiment"), page, asdict(result.spec) | {"runs": str(root or "")})
            resolve(page, page)
            click.echo(f"page -> {page}")
    except TimeUp as stop:
        click.echo(f"Stopped: {stop}", err=True)
        raise SystemExit(CALL_AGAIN) from None
    except (ValueError, TypeError, OSError, RuntimeError, MemoryError) as error:
        raise click.ClickException(str(error)) from None


@main.command(cls=FileCommand)
@click.argument("path", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--out", required=True, type=click.Path(file_okay=False, path_type=Path), help="Folder for the results.")
@data_options
@click.option(
    "--share",
    type=_Number(0, 1, min_open=True, max_open=True),
    help="Of the samples, to fit on, where the file has one set. Default: 0.5.",
)
@click.option(
    "--folds",
    type=_Whole(0),
    default=0,
    help="Of cross-fitting instead, at least 2, where the file has one set. 0: none.",
)
@click.option("--seed", type=_Whole(0), default=0, show_default=True, help="Of the split and of the intervals.")
@click.option("--methods", default="", help="Names with commas between, or all; see above.")
@click.option("--shrinkage", type=_Number(0), default=0.0, help="Draws gamma towards 0; for few samples.")
@click.option("--resamples", type=_Whole(1), default=1000, show_default=True, help="Of the bootstrap.")
@click.option(
    "--relevant",
    type=_Number(0, 1, max_open=True),
    default=0.005,
    help="Smallest gain that matters, a share. Default: 0.005.",
)
@click.option("--force", is_flag=True, help="Go on where the data look wrong.")
@click.option("--json", "as_json", type=_NEW_FILE, help="Also all of the report as JSON, into this file.")
@click.option("--model-card", "card", type=_NEW_FILE, help="Also a section for a model card, in Markdown.")
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
    click.echo("\n".join((*found.summary.todo, files)))


def _write_text(text: str, path: Path) -> None:
    path.write_text(text, encoding="utf-8")


@main.command(cls=CheckingCommand, word="Investigate")
@click.argument("path", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option(
    "--max-ece",
    "limit",
    required=True,
    type=_Number(0, 1, max_open=True),
    help="Largest error that passes, a fraction: 0.02.",
)
@click.option("--metric", type=click.Choice(["ece", "adaptive-ece"]), default="ece", show_default=True)
@data_options
@click.option("--calibrator", type=click.Path(exists=True, path_type=Path), help="Of focal calibrate, applied first.")
@click.option(
    "--level",
    type=_Number(0, 1, min_open=True, max_open=True),
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


@main.command(cls=FileCommand)
@click.argument("calibrator", type=click.Path(exists=True, path_type=Path))
@click.argument("path", type=click.Path(exists=True, path_type=Path, allow_dash=True))
@click.option("--out", required=True, type=click.Path(path_type=Path, allow_dash=True), help="Probabilities, npy.")
@click.option("--given", type=GIVEN, default="logits", show_default=True, help="What the file holds.")
@click.option("--chunk", default=100_000, show_default=True, type=_Whole(1), help="Samples in memory at a time.")
def apply(calibrator: Path, path: Path, out: Path, given: Any, chunk: int) -> None:
    """Calibrated probabilities (n, K) of new logits, an npy file that may be larger than memory.

    Scores may have any layout that the calibrator was fitted on, (n,), (n, L), (N, K, H, W), ...; their shape is kept.
    PATH and --out may be -, for standard input and output.
    """
    from focal_lib.calibration.apply.npy_stream import apply_calibrator
    from focal_lib.calibration.saved import load_calibrator

    if str(out) != "-":
        check_folder(out.parent)
        check_target(out, calibrator, ending=".npy")
    written = apply_calibrator(load_calibrator(calibrator), path, out, given=given, chunk=chunk)
    click.echo(f"{written:,} samples -> {click.format_filename(out)}", err=True)


@main.command(cls=FileCommand)
@click.argument("calibrator", type=click.Path(exists=True, path_type=Path))
@click.option("--out", required=True, type=click.Path(path_type=Path), help="The model, onnx.")
def export(calibrator: Path, out: Path) -> None:
    """The calibrator as an ONNX model: input logits (n, K) float32, output probs.

    In Python, load_calibrator(path).to_module() is the same as a torch module.
    """
    from focal_lib.calibration.calibrators.torch_module import write_onnx
    from focal_lib.calibration.saved import load_calibrator

    check_folder(out.parent)
    check_target(out, calibrator, ending=".onnx")
    fit = load_calibrator(calibrator)
    write_onnx(fit.to_module(), fit.n_classes_, out)
    click.echo(f"{type(fit).__name__}, {fit.n_classes_} classes -> {click.format_filename(out)}")


@main.command(context_settings={"ignore_unknown_options": True})
@click.argument("path", type=GRID_FILE)
@click.option("--cores", default="all", show_default=True)
@click.option("--dry-run", is_flag=True, help="Only say what it stands for and would cost: runs, images, hours here.")
@click.option("--status", "only_status", is_flag=True, help="Say what is done, running, stopped, waiting, or failed.")
@click.option("--root", type=ROOT_FOLDER, help="Folder of the runs. Default: FOCAL_RUNS, else _build/runs.")
@click.option("--again", is_flag=True, help="Move finished runs aside and make them anew.")
@click.option("--minutes", type=_Number(0, min_open=True), help="Stop at checkpoints; the next call goes on.")
@click.option("--device", default="auto", show_default=True, type=click.Choice(["auto", "cpu", "cuda"]))
@click.option("--per-device", default=1, show_default=True, type=_Whole(1), help="Runs at once on each GPU.")
@click.option(
    "--record", type=click.Path(path_type=Path), help="Copy the finished runs there, without training logits."
)
@click.option("--table", type=click.Path(path_type=Path), help="Write test metrics of the finished runs, as parquet.")
@click.argument("snakemake", nargs=-1, type=click.UNPROCESSED)
def grid(
    path: Path,
    cores: str,
    dry_run: bool,
    only_status: bool,
    root: Path | None,
    again: bool,
    minutes: float | None,
    device: str,
    per_device: int,
    record: Path | None,
    table: Path | None,
    snakemake: tuple[str, ...],
) -> None:
    """Do every run of the grid PATH, a YAML file; what follows the options goes to Snakemake.

    focal grid workflow/grids/fashion-mnist.yaml --cores 2 --executor slurm

    With --executor or --profile, for a cluster, --minutes are those of each job, and nothing is said of this machine.
    After --minutes the exit status is 75 while calls help, and 1 when what is left has failed.

    A finished run is kept, but for --again. Two grids at once share the runs they have in common.
    --status, --record and --table run nothing: they look at the runs there are. Nor does --dry-run, which times a step
    of training where no finished run tells how long an image takes.
    """
    from focal_lib.training.grids import read_grid
    from focal_lib.training.jobs import do_grid, is_for_cluster
    from focal_lib.training.plan import plan_grid
    from focal_lib.training.status import exit_status, status
    from focal_lib.training.store import default_runs

    if only_status:
        _refuse_ignored({"path", "root", "only_status"}, "--status looks at the runs there are")
    elif record is not None or table is not None:
        _refuse_ignored({"path", "root", "record", "table"}, "--record and --table look at the runs there are")
    elif dry_run:
        used = {"path", "root", "dry_run", "cores", "device", "again"}
        _refuse_ignored(used, "--dry-run says what the grid would cost")
    elif device != "cuda":
        _refuse_ignored(set(click.get_current_context().params) - {"per_device"}, "only --device cuda shares out GPUs")
    try:
        specs, root = read_grid(path), root or default_runs()
        if only_status:
            for spec, state, detail in status(specs, root):
                click.echo(f"{state:8} {spec.digest}  {spec.label:20} seed {spec.seed}  {detail}")
            return
        if record is not None or table is not None:
            _collect(specs, root, record, table)
            return
        used_cores, here = int(cores) if cores.isdigit() else 0, not is_for_cluster(snakemake)
        plan = plan_grid(path, root, device, cores=used_cores, measure=dry_run, again=again, here=here)
        click.echo("\n".join(filter(None, (plan.aims if dry_run else "", plan.costs))), err=not dry_run)
        if dry_run:
            return
        where = {"cores": cores, "device": device}
        code = do_grid(path, root, again=again, minutes=minutes, per_device=per_device, more=snakemake, **where)
    except (ValueError, OSError) as error:
        raise click.ClickException(str(error)) from None
    states = Counter(entry.state for entry in status(specs, root))
    if minutes is not None:
        click.echo(", ".join(f"{count} {state}" for state, count in states.items()))
    raise SystemExit(((code and exit_status(states)) or code) if minutes is not None else code)


def _collect(specs: list[Spec], root: Path, record: Path | None, table: Path | None) -> None:
    """Copies of the runs, and a table of them."""
    from focal_lib.results import compute_used, half_precision, over_seeds
    from focal_lib.training.recording import copy_runs, not_recorded
    from focal_lib.training.store import load, require_one_version

    try:
        if table is not None:
            check_target(table, ending=".parquet")
        results = [load(spec, root) for spec in specs]
        require_one_version(results)
        if record is not None:
            fresh = not_recorded(results, record)
            answer = half_precision.decide(fresh)
            click.echo(answer.words)
            copy_runs(fresh, record, root, number=answer.number)
            click.echo(f"{len(results)} runs -> {record}; compute used: {compute_used.in_words(results)}")
            if compute_used.update_readme(record.resolve().parent / "README.md"):
                click.echo(f"compute used -> {record.parent / 'README.md'}")
        if table is not None:
            over_seeds.write_table(over_seeds.measure(results), table)
            click.echo(f"{len(specs)} runs -> {table}")
    except (OSError, ValueError) as error:
        raise click.ClickException(str(error)) from None


main.add_command(claims)
main.add_command(watch)


if __name__ == "__main__":
    main()
