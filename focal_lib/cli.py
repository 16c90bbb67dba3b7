"""The `focal` command.

focal notebook 04_temperature_bounds -p radius 10 --out page.ipynb
focal run -p loss=focal -p gamma=3
focal grid workflow/grids/fashion-mnist.yaml --status
focal calibrate logits.npz --out report
focal apply report/calibrator.json new.npy --out probs.npy
focal export report/calibrator.json --out calibrator.onnx
focal claims kk24.prop5
focal claims --verify
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import yaml

from focal_lib.atomic_write import write_whole

if TYPE_CHECKING:
    from collections.abc import Iterator

    import numpy as np

    from focal_lib.calibration.calibrators import Calibrator
    from focal_lib.claims import Claim
    from focal_lib.training.spec import Spec

__all__ = ["main"]


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="focal-lib")
def main() -> None:
    """Focal loss and calibration: run the book's notebooks, train networks, check claims."""


@main.command()
@click.argument("name")
@click.option("-p", "parameters", nargs=2, multiple=True, metavar="NAME VALUE", help="A parameter, in YAML.")
@click.option("--out", type=click.Path(path_type=Path), help="Executed notebook. Default: NAME.ipynb here.")
def notebook(name: str, parameters: tuple[tuple[str, str], ...], out: Path | None) -> None:
    """Run the notebook NAME headless with papermill, its parameter names checked first."""
    from focal_lib.pages.execute import execute, find_source

    try:
        source = find_source(name)
        out = out or Path(f"{source.stem}.ipynb")
        seconds = execute(source, out, {key: yaml.safe_load(value) for key, value in parameters})
    except (ValueError, RuntimeError) as error:
        raise click.ClickException(str(error)) from None
    click.echo(f"{source.stem}: done in {seconds:.1f} s -> {out}")


@main.command()
@click.option("-p", "parameters", multiple=True, metavar="NAME=VALUE", help="A field of the specification.")
@click.option("--root", type=click.Path(), help="Folder of the runs. Default: FOCAL_RUNS, else _build/runs.")
@click.option("--device", default="auto", show_default=True, help="auto, cpu or cuda.")
@click.option("--page", type=click.Path(path_type=Path), help="Also leave an executed notebook on the run.")
def run(parameters: tuple[str, ...], root: str | None, device: str, page: Path | None) -> None:
    """Train one network, go on where it was interrupted, or just say what it gave.

    focal run -p dataset=cifar10 -p model=resnet50 -p recipe=m20-cifar -p loss=focal -p gamma=3 -p seed=0
    """
    from dataclasses import asdict, fields

    from focal_lib.pages.execute import execute, find_source
    from focal_lib.training.run import run as train
    from focal_lib.training.spec import Spec
    from focal_lib.training.store import describe

    try:
        given = _pairs(parameters)
        known = [field.name for field in fields(Spec)]
        if unknown := sorted(set(given) - set(known)):
            raise ValueError(f"parameters must be among {', '.join(known)}. Got {', '.join(unknown)}.")
        spec = Spec(**given)
        result = train(spec, root, device, progress=True)
        click.echo(f"{describe(result)} -> {spec.digest}")
        if page is not None:
            execute(find_source("experiment"), page, asdict(spec) | {"runs": root or ""})
            click.echo(f"page -> {page}")
    except (ValueError, TypeError, OSError, RuntimeError, MemoryError) as error:
        raise click.ClickException(str(error)) from None


def _pairs(parameters: tuple[str, ...]) -> dict[str, Any]:
    """('gamma=3',) -> {'gamma': 3}. Raises ValueError for one without '='."""
    if bad := [text for text in parameters if "=" not in text]:
        raise ValueError(f"a parameter must read NAME=VALUE. Got {bad[0]!r}.")
    return {name: yaml.safe_load(value) for name, value in (text.split("=", 1) for text in parameters)}


GIVEN = click.Choice(["logits", "log-probs", "probs"])


@main.command()
@click.argument("path", type=click.Path(exists=True, path_type=Path))
@click.option("--out", required=True, type=click.Path(path_type=Path), help="Folder for the results.")
@click.option("--given", type=GIVEN, default="logits", show_default=True, help="What the file holds.")
@click.option("--labels", type=click.Path(exists=True, path_type=Path), help="File of the labels, for npy.")
@click.option("--share", default=0.5, show_default=True, help="Of the rows, to fit on, where the file has one set.")
@click.option("--folds", default=0, show_default=True, help="Of cross-fitting instead, where the file has one set.")
@click.option("--seed", default=0, show_default=True, help="Of the split and of the intervals.")
@click.option(
    "--methods", default="", help="Names with commas between, or all. Default: temperatures and vector scaling."
)
@click.option("--shrinkage", default=0.0, show_default=True, help="Draws gamma towards 0; for few rows.")
def calibrate(path: Path, out: Path, given: str, labels: Path | None, **options: Any) -> None:
    """Calibrate a model from its logits: calibrator.json, metrics.parquet and report.html in the folder OUT.

    PATH is npz (logits and labels, or both for validation_ and test_), npy, csv or parquet (a column label).
    """
    from focal_lib.calibration import comparison, logits_file
    from focal_lib.checkout import ROOT
    from focal_lib.pages.execute import as_html, execute, find_source

    try:  # mistakes are told here, not in a page
        comparison.from_text(options["methods"], options["shrinkage"])
        parts = logits_file.read(path, given, labels)  # type: ignore[arg-type]
        logits_file.arrange(parts, options["share"], options["folds"], options["seed"])
        out.mkdir(parents=True, exist_ok=True)
        values = {"path": str(path.resolve()), "given": given, "labels": str(labels.resolve()) if labels else ""}
        page = out / "report.ipynb"
        execute(
            find_source("calibrate", ROOT / "notebooks"),
            page,
            values | options | {"out": str(out.resolve())},
        )
        as_html(page, out / "report.html")
    except (ValueError, OSError, RuntimeError) as error:
        raise click.ClickException(str(error)) from None
    click.echo(f"calibrator.json, metrics.parquet, report.html -> {out}")


@main.command()
@click.argument("calibrator", type=click.Path(exists=True, path_type=Path))
@click.argument("path", type=click.Path(exists=True, path_type=Path, allow_dash=True))
@click.option("--out", required=True, type=click.Path(path_type=Path, allow_dash=True), help="Probabilities, npy.")
@click.option("--given", type=GIVEN, default="logits", show_default=True, help="What the file holds.")
@click.option(
    "--chunk", default=100_000, show_default=True, type=click.IntRange(1), help="Samples in memory at a time."
)
def apply(calibrator: Path, path: Path, out: Path, given: str, chunk: int) -> None:
    """Calibrated probabilities (n, K) of new logits, an npy file that may be larger than memory.

    PATH and --out may be -, for standard input and output.
    """
    from focal_lib.calibration import npy_stream, saved

    try:
        fit = saved.load(calibrator)
        with npy_stream.reader(path) as source:
            written = npy_stream.write(out, source.shape, _calibrated(fit, source.chunks(chunk), given), source.dtype)
    except (ValueError, OSError) as error:
        raise click.ClickException(str(error)) from None
    click.echo(f"{written:,} rows -> {out}", err=True)


def _calibrated(fit: Calibrator, chunks: Iterator[np.ndarray], given: str) -> Iterator[np.ndarray]:
    import numpy as np

    from focal_lib.calibration import logits_file

    for rows in chunks:
        wide = np.asarray(rows, dtype=np.float64)
        yield fit.predict_proba(logits_file.as_logits(wide, given))  # type: ignore[arg-type]


@main.command()
@click.argument("calibrator", type=click.Path(exists=True, path_type=Path))
@click.option("--out", required=True, type=click.Path(path_type=Path), help="The model, onnx.")
def export(calibrator: Path, out: Path) -> None:
    """The calibrator as an ONNX model: input logits (n, K) float32, output probs."""
    from focal_lib.calibration import saved
    from focal_lib.calibration.calibrators import write_onnx

    try:
        fit = saved.load(calibrator)
        write_onnx(fit.to_module(), fit.n_classes_, out)
    except (ValueError, TypeError, ImportError, OSError) as error:
        raise click.ClickException(str(error)) from None
    click.echo(f"{type(fit).__name__}, {fit.n_classes_} classes -> {out}")


@main.command(context_settings={"ignore_unknown_options": True})
@click.argument("path", type=click.Path(exists=True, path_type=Path))
@click.option("--cores", default="all", show_default=True)
@click.option("--status", "only_status", is_flag=True, help="Say what is done, started, waiting, or failed and why.")
@click.option("--root", type=click.Path(path_type=Path), help="Folder of the runs. Default: _build/runs.")
@click.option("--at-once", is_flag=True, help="Train the seeds of a setting together, here: small networks on a GPU.")
@click.option(
    "--record", type=click.Path(path_type=Path), help="Copy the finished runs there, without training logits."
)
@click.option("--table", type=click.Path(path_type=Path), help="Write test metrics of the finished runs, as parquet.")
@click.argument("snakemake", nargs=-1, type=click.UNPROCESSED)
def grid(
    path: Path,
    cores: str,
    only_status: bool,
    root: Path | None,
    at_once: bool,
    record: Path | None,
    table: Path | None,
    snakemake: tuple[str, ...],
) -> None:
    """Do every run of the grid PATH, a YAML file; what follows the options goes to Snakemake.

    focal grid workflow/grids/fashion-mnist.yaml --cores 2 --executor slurm

    --status, --record and --table run nothing: they look at the runs there are.
    """
    from focal_lib.checkout import ROOT
    from focal_lib.training.spec import read_grid
    from focal_lib.training.store import status

    try:
        specs = read_grid(path.resolve())
    except (ValueError, TypeError) as error:
        raise click.ClickException(str(error)) from None
    if only_status:
        for entry in status(specs, root):
            click.echo(
                f"{entry.state:8} {entry.spec.digest}  {entry.spec.label:20} seed {entry.spec.seed}  {entry.detail}"
            )
        return
    if record is not None or table is not None:
        _collect(specs, root, record, table)
        return
    if at_once:
        _at_once(specs, root)
        return
    flags = ["--snakefile", "workflow/Snakefile", "--cores", cores, "--keep-going", "--rerun-incomplete", "--nolock"]
    config = ["--config", f"grid={path.resolve()}", *([f"runs={root.resolve()}"] if root else [])]
    own = f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', '')}"  # the jobs' python is this one
    command = [sys.executable, "-m", "snakemake", "runs", *flags, *snakemake, *config]
    done = subprocess.run(command, cwd=ROOT, env=os.environ | {"PATH": own})
    raise SystemExit(done.returncode)


def _at_once(specs: list[Spec], root: Path | None) -> None:
    """Every run, the seeds of one setting trained together."""
    from dataclasses import replace

    from focal_lib.training.run import run_many
    from focal_lib.training.store import describe

    settings: dict[Spec, list[Spec]] = {}
    for spec in specs:
        settings.setdefault(replace(spec, seed=0), []).append(spec)
    try:
        for seeds in settings.values():
            for result in run_many(seeds, root):
                click.echo(describe(result))
    except (OSError, RuntimeError, ValueError, MemoryError) as error:
        raise click.ClickException(str(error)) from None


def _collect(specs: list[Spec], root: Path | None, record: Path | None, table: Path | None) -> None:
    """Copies of the runs, and a table of them."""
    from focal_lib.results import over_seeds
    from focal_lib.training.store import load, record_runs

    try:
        if record is not None:
            click.echo(f"{record_runs(specs, record, root)} runs -> {record}")
        if table is not None:
            over_seeds.write(over_seeds.measure(load(spec, root) for spec in specs), table)
            click.echo(f"{len(specs)} runs -> {table}")
    except (OSError, ValueError) as error:
        raise click.ClickException(str(error)) from None


@main.command()
@click.argument("claim_id", required=False)
@click.option("--verify", is_flag=True, help="Check again and compare with the verdicts on record.")
@click.option("--paper", help="Only the claims of one paper: kk24, m20, kn24 or l25.")
@click.option("--boxes", type=click.Path(path_type=Path), help="Write the boxes of CLAIM_ID's certificate, as JSON.")
def claims(claim_id: str | None, verify: bool, paper: str | None, boxes: Path | None) -> None:
    """The ledger: every claim with its verdict on record, or CLAIM_ID explained with its evidence.

    With --verify everything is computed anew; the exit status is 1 if a verdict changed.
    """
    from focal_lib.claims import find, ledger, verdicts

    try:
        wanted = [find(claim_id)] if claim_id else ledger(paper)
    except ValueError as error:
        raise click.ClickException(str(error)) from None
    if boxes is not None:
        _write_boxes(wanted[0] if claim_id else None, boxes)
    elif verify:
        _verify([claim.id for claim in wanted])
    elif claim_id:
        claim = wanted[0]
        click.echo(claim._repr_markdown_())
        corrections = ", ".join(other.id for other in ledger() if claim.id in other.corrects)
        click.echo(f"\nChapter {claim.chapter}; code {claim.location}; checked in {claim.seconds:.1f} s.")
        if corrections:
            click.echo(f"Corrected by {corrections}.")
    else:
        on_record = verdicts.recorded()
        for claim in wanted:
            click.echo(f"{on_record.get(claim.id, 'not on record'):18} {claim.id:34} {claim.source}")


def _verify(ids: list[str]) -> None:
    from focal_lib.claims import verdicts

    changed, unchecked = [], 0
    with click.progressbar(length=len(ids), label="checking", file=sys.stderr) as bar:
        for check in verdicts.check_all(ids):
            bar.update(1)
            unchecked += check.verdict == "UNCHECKABLE HERE" and not check.changed and check.recorded != check.verdict
            if check.changed:
                changed.append(check)
    for check in changed:
        click.echo(f"{check.id}: {check.recorded or 'not on record'} -> {check.verdict}")
    note = f" {unchecked} need the training runs, which `make book` makes, and were not compared." if unchecked else ""
    click.echo(f"{len(ids) - len(changed) - unchecked} of {len(ids)} verdicts as recorded.{note}")
    if changed:
        raise SystemExit(1)


def _write_boxes(claim: Claim | None, out: Path) -> None:
    from focal_lib.claims.evidence import certificates

    found = certificates(claim.evidence) if claim else []
    if not found:
        raise click.ClickException(
            "--boxes needs the id of a claim with a certificate, such as kk24.prop3_sharp_above."
        )
    text = json.dumps([certificate.as_json() for certificate in found], indent=1) + "\n"
    write_whole(out, lambda part: part.write_text(text))
    click.echo(f"{sum(len(b) for c in found for b in c.boxes.values()):,} boxes -> {out}")


if __name__ == "__main__":
    main()
