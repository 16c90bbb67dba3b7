"""A grid on a GPU that is lent for minutes at a time; the images get there by `workflow.portions`.

    FOCAL_DATA=_build/gpu/data FOCAL_COMMIT=<git rev-parse HEAD, of where this copy is from> \\
        python -m workflow.gpu_record workflow/grids/kk24-gpu.yaml --runs _build/gpu/runs --out _build/gpu/out
    python -m zipfile -e runs-00.zip _build/gpu/home     # at home
    focal grid workflow/grids/kk24-gpu.yaml --root _build/gpu/home --part \\
        --record results/kk24-gpu --table results/kk24-gpu/table.parquet

A copy that carries the history of another commit wants GIT_DIR=/none, too, or its records name that one as changed.
A call looks at the device, measures once which way of a step is fastest and how many runs at once are, does the runs
of the grid in its order until the time is up, and goes on from their checkpoints at the next call. What it leaves in
`out` are the rates and copies of the runs that finished in it, packed as soon as each is: specification, history,
logits of validation and test. A finished run that is found damaged is named, and done again. It needs no installed
focal-lib and no Snakemake, which a borrowed machine may lack.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
import zipfile
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import click
import numpy as np

from focal_lib.atomic_write import write_whole
from focal_lib.cli.numbers import FiniteNumber
from reproduction.checkout import ROOT, commit
from reproduction.engine.data.images import find_image_set
from reproduction.engine.files import move_aside
from reproduction.engine.grids import read_grid
from reproduction.engine.pace import alike
from reproduction.engine.preflight import check_runs_apart
from reproduction.engine.recording import copy_runs, not_recorded
from reproduction.engine.spec import Spec
from reproduction.engine.speed import Kind, kind_of
from reproduction.engine.status import CALL_AGAIN, exit_status, status
from reproduction.engine.store import OtherSpecification, RunDamaged, load

LARGEST = 15 * 2**20  # bytes of a file that goes back
MOST = 6  # such files a call
SHARE = 0.4  # of a call, at most, for the benchmark
NEARLY = 0.9  # of the best rate


class Choice(NamedTuple):
    """How runs take a step ('': as they do unasked), and how many of them share a GPU."""

    way: str
    at_once: int


ALONE = Choice("", 1)


def fastest(rates: Sequence[dict[str, Any]]) -> Choice:
    """Of the deterministic rates of one network: the way of a step, and how many at once.

    That is the most that together do nearly as much as the best number does: while one begins or is evaluated, the
    others train. On an H100 a run of ResNet-18, three at once, took some 20 seconds besides its epochs. When the time
    is up, as many runs are half done.

    Raises:
        ValueError: no such rate.
    """
    ours = [rate for rate in rates if rate["loop"] == "ours" and rate["deterministic"]]
    if not ours:
        raise ValueError("the benchmark must have measured a way of a step. Every one failed.")
    alone = max((r for r in ours if r["at_once"] == 1), key=lambda rate: rate["images_per_second"])
    enough = NEARLY * max(rate["images_per_second"] for rate in ours)
    shared = [r["at_once"] for r in ours if r["images_per_second"] >= enough and r["way"] == alone["way"]]
    return Choice(alone["way"], max(shared, default=1))


def check_device(device: str) -> str:
    """What the runs are to be made on, in words.

    Raises:
        ValueError: it is not there, or nothing says which code this is, as a run's record must.
    """
    import torch

    import focal_lib
    from reproduction.engine.machine import machine_of
    from reproduction.engine.trainer import pick_device

    where = pick_device(device)
    if not (found := commit()):
        raise ValueError("FOCAL_COMMIT must be the commit that this copy is of, where there is no git. It is not set.")
    return f"{machine_of(where)}; torch {torch.__version__}, focal-lib {focal_lib.__version__}, commit {found}"


def choose(specs: Iterable[Spec], device: str, path: Path, until: float) -> dict[Kind, Choice]:
    """For each kind of runs on images of CIFAR's size, which the benchmark takes: what is fastest on this device.

    Args:
        path: rates that were measured, kept from call to call.
        until: seconds since 1970, at which measuring ends.
    """
    kinds = dict.fromkeys(
        kind_of(spec, device != "cpu")
        for spec in specs
        if (images := find_image_set(spec.dataset)) is not None and images.shape == (3, 32)
    )
    found = {}
    for kind in kinds:
        seconds = until - time.time()
        if seconds > 0 and (rates := measure_rates(kind.model, kind.precision, device, path, seconds)):
            found[kind] = fastest(rates)
    return found


def measure_rates(model: str, precision: str, device: str, path: Path, seconds: float) -> list[dict[str, Any]]:
    """Rates of a network's steps on this device, measured in a process of its own, or read where they were."""
    from reproduction.engine.machine import machine_of
    from reproduction.engine.trainer import pick_device

    wanted = {"device": machine_of(pick_device(device)), "network": model, "precision": precision}
    known = _read_rates(path)
    if not (ours := [rate for rate in known if rate["loop"] == "ours" and wanted.items() <= rate.items()]):
        several = [flag for count in (2, 3) for flag in ("--at-once", str(count))] if device != "cpu" else []
        fresh = path.with_suffix(".fresh.json")
        fresh.unlink(missing_ok=True)
        flags = ["--skip", "plain-loop", "--skip", "nondeterministic"]  # as no run does either
        flags += ["--model", model, "--device", device, "--precision", precision, *several, "--out", str(fresh)]
        if not ends_in([sys.executable, "-m", "benchmarks.training", *flags], seconds):
            click.echo(f"Measuring {model} was stopped after {seconds:.0f} s; what it had found counts.")
        ours = _read_rates(fresh)
        write_whole(path, lambda part: part.write_text(json.dumps([*known, *ours], indent=1) + "\n"))
        fresh.unlink(missing_ok=True)
    return ours


def ends_in(command: Sequence[str], seconds: float) -> bool:
    """Whether the command does its work in that time; else it is stopped, with the processes that it has begun.

    Raises:
        CalledProcessError: it failed.
    """
    with subprocess.Popen(command, cwd=ROOT, start_new_session=True) as process:
        try:
            code = process.wait(seconds)
        except BaseException as stop:
            os.killpg(process.pid, signal.SIGKILL)
            if isinstance(stop, subprocess.TimeoutExpired):
                return False
            raise
    if code:
        raise subprocess.CalledProcessError(code, command)
    return True


def _read_rates(path: Path) -> list[dict[str, Any]]:
    """Those of earlier calls; what a call that was killed left half written counts as none."""
    try:
        found: list[dict[str, Any]] = json.loads(path.read_text())
    except (FileNotFoundError, ValueError):
        return []
    return found


def do_runs(
    grid: Path,
    runs: Path,
    device: str,
    until: float,
    chosen: Mapping[Kind, Choice],
    again: bool = False,
    since: float | None = None,
    after_each: Callable[[], object] = lambda: None,
    damaged: Collection[str] = (),
) -> set[str]:
    """The grid's runs in its order, none begun after `until` (seconds since 1970); digests of those that failed now.

    Where one has stopped, as its next epoch would end too late, none like it is begun.

    Args:
        chosen: how the runs of a kind take a step, and how many of them share a GPU.
        again: also those that an earlier call left as failed.
        since: when the time began that lasts until then; default now.
        after_each: called when a run has finished, by one thread at a time; what it raises is told, and ends nothing.
        damaged: digests of finished runs that `find_damaged` has found: they are done again.
    """
    left_out = {"done", *(() if again else ("failed",))}
    stand = status(read_grid(grid), runs)
    left = [spec for spec, state, _ in stand if state not in left_out or spec.digest in damaged]
    waiting, failed, stopped, lock = iter(left), set[str](), set[str](), threading.Lock()
    choices = {spec.digest: chosen.get(kind_of(spec, device != "cpu"), ALONE) for spec in left}
    at_once = max((choice.at_once for choice in choices.values()), default=1)
    window = (time.time() if since is None else since, until)

    def work() -> None:
        while time.time() < until:
            with lock:
                spec = next((spec for spec in waiting if alike(spec) not in stopped), None)
            if spec is None:
                return
            code = _do_run(spec, grid, runs, device, window, choices[spec.digest])
            if code == CALL_AGAIN:
                stopped.add(alike(spec))
            elif code:
                failed.add(spec.digest)
            else:
                with lock:
                    _go_on_after(after_each)

    with ThreadPoolExecutor(at_once) as pool:
        for worker in [pool.submit(work) for _ in range(at_once)]:
            worker.result()
    return failed


def _go_on_after(pack: Callable[[], object]) -> None:
    try:
        pack()
    except Exception as error:  # the time is lent for the runs; the end of the call packs again
        click.echo(f"Not packed yet. Got {type(error).__name__}: {error}")


def _do_run(spec: Spec, grid: Path, runs: Path, device: str, window: tuple[float, float], choice: Choice) -> int:
    """The exit status of `focal run`."""
    since, until = window
    command = [sys.executable, "-m", "focal_lib.cli", "run", "--grid", str(grid), "--digest", spec.digest]
    command += ["--root", str(runs), "--device", device, "--until", f"{until:.0f}", "--since", f"{since:.0f}"]
    command += ["--per-device", str(choice.at_once)] if device == "cuda" else []
    started = time.time()
    way = {"FOCAL_STEP": choice.way} if choice.way else {}
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, env=way | os.environ)
    said = done.stderr if done.returncode else done.stdout  # warnings of one that went well are no news
    last = (said.strip().splitlines()[-1:] or ["no word"])[0]
    named = last if last.startswith(spec.name) else f"{spec.name}: {last}"
    click.echo(f"{named} ({time.time() - started:.0f} s)")
    return done.returncode


class Collected(NamedTuple):
    """Digests of the runs that are packed, how many more whole ones there are, and why others are not whole."""

    packed: list[str]
    left: int
    damaged: dict[str, str]


def collect(grid: Path, runs: Path, out: Path, before: Collection[str] = ()) -> Collected:
    """Copies of finished runs as zip files of at most 15 MB, in place of those that an earlier call has left.

    Args:
        before: digests of runs that are home already.
    """
    kept, whole, damaged = runs / "recorded", list[Spec](), dict[str, str]()
    for spec in _finished(grid, runs, before):
        if why := _record(spec, kept, runs):
            damaged[spec.digest] = why
        else:
            whole.append(spec)
    packed, number = list[str](), 0
    out.mkdir(parents=True, exist_ok=True)
    while number < MOST and len(packed) < len(whole):
        size = 0
        members: list[Path] = []
        for spec in whole[len(packed) :]:
            paths = sorted((kept / spec.digest).iterdir())
            more = sum(p.stat().st_size for p in paths)
            if members and size + more > LARGEST:
                break
            size, members, packed = size + more, [*members, *paths], [*packed, spec.digest]
        write_whole(out / f"runs-{number:02}.zip", partial(_pack, members, kept))
        number += 1
    for path in sorted(out.glob("runs-??.zip"))[number:]:
        path.unlink()
    return Collected(packed, len(whole) - len(packed), damaged)


def find_damaged(grid: Path, runs: Path, before: Collection[str] = ()) -> dict[str, str]:
    """Digests of finished runs that cannot be loaded, and why: `status` does not read their logits.

    Args:
        before: digests of runs that are home already, and not looked at.
    """
    damaged = {}
    for spec in _finished(grid, runs, before):
        try:
            load(spec, runs)
        except (RunDamaged, OSError) as error:
            damaged[spec.digest] = str(error)
    return damaged


def _finished(grid: Path, runs: Path, before: Collection[str]) -> list[Spec]:
    return [spec for spec, state, _ in status(read_grid(grid), runs) if state == "done" and spec.digest not in before]


def _record(spec: Spec, kept: Path, runs: Path) -> str:
    """Copy a finished run to keep, unless that has been done; '' or why it cannot be loaded."""
    try:
        result = load(spec, runs)
    except (RunDamaged, OSError) as error:
        return str(error)
    try:
        fresh = not_recorded([result], kept)
    except (RunDamaged, OtherSpecification, OSError) as error:  # damaged, or of an attempt before this one
        aside = move_aside(kept / spec.digest)
        click.echo(f"{spec.name}: its copy is moved aside as {aside.name}, and made anew. {error}")
        fresh = [result]
    copy_runs(fresh, kept, runs, number=np.float32)
    return ""


def _pack(members: Iterable[Path], folder: Path, target: Path) -> None:
    with zipfile.ZipFile(target, "w") as archive:  # logits are compressed already
        for member in members:
            archive.write(member, member.relative_to(folder))


FOLDER = click.Path(file_okay=False, resolve_path=True, path_type=Path)


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.argument("grid", type=click.Path(exists=True, dir_okay=False, resolve_path=True, path_type=Path))
@click.option("--minutes", default=9.0, show_default=True, type=FiniteNumber(0, min_open=True), help="Of this call.")
@click.option("--runs", required=True, type=FOLDER, help="Folder of the runs, that stays from call to call.")
@click.option("--out", required=True, type=FOLDER, help="Folder of what goes back.")
@click.option("--device", default="cuda", show_default=True, help="cuda or cpu.")
@click.option("--per-device", type=click.IntRange(1), help="Runs at once. Default: what the benchmark finds best.")
@click.option("--benchmark/--no-benchmark", default=True, help="Measure first, once for each network.")
@click.option("--again", is_flag=True, help="Try again what failed.")
@click.option("--everything", is_flag=True, help="Collect again what earlier calls have collected.")
def main(
    grid: Path,
    minutes: float,
    runs: Path,
    out: Path,
    device: str,
    per_device: int | None,
    benchmark: bool,
    again: bool,
    everything: bool,
) -> None:
    """Do runs of GRID for some minutes, and collect those that are finished."""
    since = time.time()
    until = since + 60 * minutes
    try:
        specs = read_grid(grid)
        check_runs_apart(grid, specs)
        click.echo(check_device(device))
        runs.mkdir(parents=True, exist_ok=True)
        out.mkdir(parents=True, exist_ok=True)
        chosen = choose(specs, device, runs / "rates.json", since + SHARE * 60 * minutes) if benchmark else {}
        for kind, choice in chosen.items():
            click.echo(f"fastest for {kind.model}, {kind.precision}: {choice.way}, {choice.at_once} at once")
        if chosen:
            shutil.copyfile(runs / "rates.json", out / "rates.json")
        if per_device:
            kinds = {kind_of(spec, device != "cpu") for spec in specs}
            chosen = {kind: chosen.get(kind, ALONE)._replace(at_once=per_device) for kind in kinds}
        sent = runs / "collected.json"
        before = set(json.loads(sent.read_text())) if sent.is_file() and not everything else set()
        names = {spec.digest: spec.name for spec in specs}
        found = find_damaged(grid, runs, before)
        for digest, why in found.items():
            click.echo(f"{names[digest]} is done again: {why}")
        pack = partial(collect, grid, runs, out, before)
        failed = do_runs(grid, runs, device, until, chosen, again, since, pack, found)
        packed, left, damaged = pack()
        write_whole(sent, lambda part: part.write_text(json.dumps(sorted(before | set(packed)))))
    except (ValueError, OSError, ImportError, subprocess.SubprocessError) as error:
        raise click.ClickException(str(error)) from None
    for digest, why in damaged.items():
        click.echo(f"{names[digest]} is not packed, and done again by the next call: {why}")
    now = dict.fromkeys(damaged, "damaged") | dict.fromkeys(failed, "failed")
    states = [now.get(spec.digest, state) for spec, state, _ in status(specs, runs)]
    click.echo(", ".join(f"{count} {state}" for state, count in Counter(states).items()))
    click.echo(f"{len(packed)} runs -> {out}" + (f"; {left} more at the next call" if left else ""))
    raise SystemExit(CALL_AGAIN if left else exit_status(states))


if __name__ == "__main__":
    main()
