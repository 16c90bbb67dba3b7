"""Train a grid on a device that is there for minutes: a queue, a notebook service, a machine that is lent.

    FOCAL_COMMIT=<git rev-parse HEAD, where this copy has no history> python -m workflow.train_within 9 \\
        workflow/grids/cifar10-long-losses.yaml --runs _build/gpu/runs --home _build/gpu/home --out _build/gpu/out

results/README.md says what travels, in which order the grids are trained, and what is done at home.

A call does the runs of the grid in its order until the time is up; those that are home are not done again, and those
that an earlier call began here go on from their checkpoints. What it leaves in `out` are the runs that have finished
and are not home, packed as soon as each is: specification, history, logits of validation and test, no weights, no
checkpoint. A finished run that is damaged is named, and done again. It needs no Snakemake.
"""

from __future__ import annotations

import subprocess
import sys
import threading
import time
import zipfile
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

import click

from focal_lib.atomic_write import write_whole
from focal_lib.cli.parameters import FiniteNumber
from reproduction.checkout import ROOT, commit
from reproduction.engine.files import move_aside
from reproduction.engine.grids import read_grid
from reproduction.engine.plan import check_runs
from reproduction.engine.recording import copy_runs, not_recorded
from reproduction.engine.spec import Spec
from reproduction.engine.status import CALL_AGAIN, exit_status, status
from reproduction.engine.store import SPEC, RunDamaged, load

LARGEST = 15 * 2**20  # bytes of a file that goes back
FILES = 6  # such files a call


class Packer:
    """Packs the finished runs that are not home, as zip files in place of those that an earlier call left."""

    def __init__(self, specs: Sequence[Spec], runs: Path, out: Path, home: Collection[str]) -> None:
        self.specs, self.runs, self.out, self.home = specs, runs, out, home
        self.damaged: dict[str, str] = {}  # digest -> why it cannot be loaded
        self.left = 0  # whole runs for which there was no file

    def finished(self) -> list[Spec]:
        stand = status([spec for spec in self.specs if spec.digest not in self.home], self.runs)
        return [spec for spec, state, _ in stand if state == "done"]

    def pack(self) -> list[str]:
        """Digests of the runs that are packed now."""
        kept, self.damaged = self.runs / "recorded", {}
        whole = [spec for spec in self.finished() if self._copied(spec, kept)]
        groups: list[list[str]] = []
        size = LARGEST + 1
        for spec in whole:
            more = sum(path.stat().st_size for path in (kept / spec.digest).iterdir())
            if size + more > LARGEST:
                if len(groups) == FILES:
                    break
                groups.append([])
                size = 0
            groups[-1].append(spec.digest)
            size += more
        self.out.mkdir(parents=True, exist_ok=True)
        for number, digests in enumerate(groups):
            write_whole(self.out / f"runs-{number:02}.zip", partial(_zip, digests, kept))
        for old in sorted(self.out.glob("runs-??.zip"))[len(groups) :]:
            old.unlink()
        packed = [digest for digests in groups for digest in digests]
        self.left = len(whole) - len(packed)
        return packed

    def _copied(self, spec: Spec, kept: Path) -> bool:
        """Whether the run is whole, and so has its copy in `kept`."""
        try:
            result = load(spec, self.runs)
        except (RunDamaged, OSError) as error:
            self.damaged[spec.digest] = str(error)
            return False
        try:
            fresh = not_recorded([result], kept)
        except (RunDamaged, OSError):  # a copy that is damaged, or of an attempt before this one
            move_aside(kept / spec.digest)
            fresh = [result]
        copy_runs(fresh, kept, self.runs)
        return True


def _zip(digests: Iterable[str], kept: Path, target: Path) -> None:
    with zipfile.ZipFile(target, "w") as archive:  # logits are compressed already
        for path in (path for digest in digests for path in sorted((kept / digest).iterdir())):
            archive.write(path, path.relative_to(kept))


def train(left: Iterable[Spec], command: Sequence[str], until: float, at_once: int, packer: Packer) -> set[str]:
    """Do these runs, so many at once; digests of the failed.

    None is begun after that time (seconds since 1970), nor where one has stopped as its next epoch would end later.
    """
    waiting, lock, failed, stopped = iter(left), threading.Lock(), set[str](), threading.Event()

    def work() -> None:
        while time.time() < until and not stopped.is_set():
            with lock:
                spec = next(waiting, None)
            if spec is None:
                return
            code = _train_one(spec, [*command, "--until", f"{until:.0f}"])
            if code == CALL_AGAIN:
                stopped.set()
            elif code:
                failed.add(spec.digest)
            else:
                with lock:
                    try:
                        packer.pack()
                    except OSError as error:  # the time is for the runs; the end of the call packs again
                        click.echo(f"Not packed yet: {error}")

    with ThreadPoolExecutor(at_once) as pool:
        for worker in [pool.submit(work) for _ in range(at_once)]:
            worker.result()
    return failed


def _train_one(spec: Spec, command: Sequence[str]) -> int:
    """The exit status of `focal run`, whose last line is printed."""
    started = time.time()
    done = subprocess.run([*command, "--digest", spec.digest], cwd=ROOT, capture_output=True, text=True)
    last = ((done.stderr if done.returncode else done.stdout).strip().splitlines()[-1:] or ["no word"])[0]
    named = last if last.startswith(spec.name) else f"{spec.name}: {last}"
    click.echo(f"{named} ({time.time() - started:.0f} s)")
    return done.returncode


FOLDER = click.Path(file_okay=False, resolve_path=True, path_type=Path)


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.argument("minutes", type=FiniteNumber(0, min_open=True))
@click.argument("grid", type=click.Path(exists=True, dir_okay=False, resolve_path=True, path_type=Path))
@click.option("--runs", required=True, type=FOLDER, help="Folder of the runs under way.")
@click.option("--home", type=FOLDER, help="Folder of runs that came home from earlier calls.")
@click.option("--out", required=True, type=FOLDER, help="Folder of what goes home.")
@click.option("--device", default="cuda", show_default=True, help="cuda or cpu.")
@click.option("--per-device", default=1, show_default=True, type=click.IntRange(1), help="Runs at once.")
@click.option("--again", is_flag=True, help="Try again what failed.")
def main(
    minutes: float, grid: Path, runs: Path, home: Path | None, out: Path, device: str, per_device: int, again: bool
) -> None:
    """Do runs of GRID for MINUTES, and pack those that have finished."""
    until = time.time() + 60 * minutes
    try:
        if not commit():
            raise ValueError("FOCAL_COMMIT must be the commit of this copy, where there is no git. It is not set.")
        specs = read_grid(grid)
        check_runs(specs)
        at_home = {path.parent.name for path in home.glob(f"*/{SPEC}")} if home else set[str]()
        packer = Packer(specs, runs, out, at_home)
        runs.mkdir(parents=True, exist_ok=True)
        packer.pack()
        names = {spec.digest: spec.name for spec in specs}
        for digest, why in packer.damaged.items():
            click.echo(f"{names[digest]} is done again: {why}")
        left_out = {"done", *(() if again else ("failed",))}
        stand = status([spec for spec in specs if spec.digest not in at_home], runs)
        left = [spec for spec, state, _ in stand if spec.digest in packer.damaged or state not in left_out]
        command = [sys.executable, "-m", "focal_lib.cli", "run", "--grid", str(grid), "--root", str(runs)]
        command += ["--device", device, *(["--per-device", str(per_device)] if device == "cuda" else [])]
        failed = train(left, command, until, per_device, packer)
        packed = packer.pack()
    except (ValueError, OSError) as error:
        raise click.ClickException(str(error)) from None
    for digest, why in packer.damaged.items():
        click.echo(f"{names[digest]} is not packed, and done again by the next call: {why}")
    now = dict.fromkeys(at_home, "home") | dict.fromkeys(packer.damaged, "damaged") | dict.fromkeys(failed, "failed")
    states = [now.get(spec.digest, state) for spec, state, _ in status(specs, runs)]
    click.echo(", ".join(f"{count} {state}" for state, count in Counter(states).items()))
    click.echo(f"{len(packed)} runs -> {out}" + (f"; {packer.left} more at the next call" if packer.left else ""))
    raise SystemExit(CALL_AGAIN if packer.left else exit_status(["done" if s == "home" else s for s in states]))


if __name__ == "__main__":
    main()
