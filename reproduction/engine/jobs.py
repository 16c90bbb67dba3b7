"""The runs of a grid as jobs: Snakemake does them, here or on a cluster."""

from __future__ import annotations

import argparse
import logging
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple, NoReturn

from focal_lib.atomic_write import check_folder
from reproduction.checkout import require_checkout
from reproduction.engine.grids import read_grid
from reproduction.engine.locks import gpus_here
from reproduction.engine.status import status
from reproduction.parameters import read_yaml

log = logging.getLogger(__name__)

REASON, STOPPED = "Error: ", "Stopped: "  # how the last words of `focal run` begin, as workflow/tell.py knows, too
NONE_BEGAN = "its job did not begin, for the reason that Snakemake gave above"
HERE = ("local", "dryrun", "touch")  # executors of Snakemake that need no other machine


class Ended(NamedTuple):
    """How a call ended: Snakemake's exit status, and digest -> why that run failed in this call."""

    code: int
    failed: dict[str, str]


def is_for_cluster(more: Sequence[str]) -> bool:
    """Whether what is given to Snakemake hands the jobs to other machines.

    As an executor does that is not local, or, where none is given, a profile, also by SNAKEMAKE_PROFILE.
    """
    given = _given(more)
    if given.executor:
        return given.executor not in HERE
    return not {given.profile, given.workflow_profile} <= {None, "", "none"}


def _given(more: Sequence[str]) -> argparse.Namespace:
    """Of what is given to Snakemake: who does the jobs."""
    parser = argparse.ArgumentParser(add_help=False, allow_abbrev=False)
    parser.add_argument("--executor", "-e", nargs="?")
    parser.add_argument("--profile", nargs="?", default=os.environ.get("SNAKEMAKE_PROFILE"))
    parser.add_argument("--workflow-profile", nargs="?")
    return parser.parse_known_args(more)[0]


def check_scheduler(more: Sequence[str]) -> None:
    """Whether Slurm is there, where what is given to Snakemake hands the jobs to it.

    Raises:
        ValueError: it is not.
    """
    given = _given(more)
    profile = Path(given.profile or "none", "config.yaml")
    executor = given.executor or (read_yaml(profile.read_text()).get("executor") if profile.is_file() else None)
    if executor == "slurm" and shutil.which("sbatch") is None:
        raise ValueError("--executor slurm must find the command sbatch, as a login node has it. It is not in PATH.")


def check_root(root: Path) -> None:
    """Whether a grid can keep its runs there, asked before any work.

    Raises:
        OSError: nothing can be written there, see `check_folder`.
        ValueError: a name that Snakemake would change.
    """
    check_folder(root, made=True)
    name = str(root.resolve())
    if set("{}\n\r") & set(name) or name.endswith(("'", '"')):
        raise ValueError(
            "the folder of a grid's runs must have no {, } or line break in its name, nor a quotation mark at its end. "
            f"Got {str(root)!r}."
        )


def do_grid(
    path: Path,
    root: Path,
    *,
    cores: str = "all",
    again: bool = False,
    minutes: float | None = None,
    device: str = "auto",
    per_device: int = 1,
    follow: Sequence[str] = (),
    more: Sequence[str] = (),
) -> Ended:
    """Do every run of a grid that is not done, and come back.

    Args:
        root: folder of the runs, see `check_root`.
        again: move finished runs aside and make them anew.
        minutes: after these no run is begun and those at work stop at a checkpoint; the next call goes on. On a
            cluster, where jobs wait, each job has these for itself.
        device: of the runs. 'cuda': here each takes a GPU that has fewer than `per_device` of them; on a cluster the
            one that its job was given.
        follow: names of `follow.FOLLOWERS`.
        more: for Snakemake.

    Raises:
        FileNotFoundError: the package is installed without a checkout.
        ValueError: 'cuda' without a GPU.
        SystemExit: a signal came that ends processes: no further run was begun, and those at work have ended.
    """
    checkout = require_checkout("a grid of runs")
    cluster = is_for_cluster(more)
    flags = ["--snakefile", "workflow/grid.smk", "--cores", cores, "--keep-going", "--drop-metadata"]
    # each run has a lock of its own, so that grids at once share runs; greedy: its choice takes no time to be killed in
    flags += ["--nolock", "--scheduler", "greedy", "--quiet", "progress", "reason", "host"]
    flags += [] if cluster else ["rules"]  # with these Snakemake would not tell why a scheduler refuses a job
    options = [] if device == "auto" else ["--device", device]
    if device == "cuda" and not cluster:
        options += ["--per-device", str(per_device)]
        flags += ["--resources", f"gpu_places={len(gpus_here()) * per_device}"]
    options += ["--again"] if again else []
    options += [part for name in follow for part in ("--follow", name)]
    until = time.time() + 60 * (minutes or 0)
    if minutes is not None:
        options += ["--minutes", f"{minutes:g}"] if cluster else ["--until", f"{until:.0f}"]
        minutes = None if cluster else minutes
    root.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".logs-", dir=root) as logs:  # of its own: grids at once may do a run both
        if not again:
            _mark_what_is_done(path, root, Path(logs))
        config = ["--config", f"grid={path.resolve()}", f"runs={root.resolve()}", f"run_logs={Path(logs).resolve()}"]
        config += [f"run_options={' '.join(options)}"] if options else []
        command = [sys.executable, "-m", "snakemake", "runs", *flags, *more, *config]
        code = _wait(subprocess.Popen(command, cwd=checkout, env=_environment(checkout)), minutes)
        failed = _failed(path, root, Path(logs))
        unknown = time.time() < until and not any(Path(logs).rglob("*.txt"))  # an option that it does not know, say
        if code and (cluster or unknown):
            left = (spec.digest for spec, state, _ in status(read_grid(path), root) if state not in ("done", "running"))
            failed = {own: NONE_BEGAN for own in left if not _said(Path(logs) / f"run-{own}.txt")} | failed
        return Ended(code, failed)


def _mark_what_is_done(path: Path, root: Path, marks: Path) -> None:
    """For Snakemake, which asks for no run whose marker is there."""
    for spec, state, _ in status(read_grid(path), root, whole=True):
        if state == "done":
            (marks / f"{spec.digest}.finished").touch()


def _failed(path: Path, root: Path, logs: Path) -> dict[str, str]:
    """Digest -> reason, of the runs whose job of this call failed: what cannot be prepared leaves nothing else."""
    found = {}
    for spec, state, _ in status(read_grid(path), root):
        if state in ("done", "running"):  # another grid's job may have done better
            continue
        of_data = next(logs.rglob(f"data-{spec.dataset}.txt"), logs)
        if reason := _last_reason(logs / f"run-{spec.digest}.txt") or _last_reason(of_data):
            found[spec.digest] = reason
    return found


def _said(log_file: Path) -> list[str]:
    """The lines of a job's log; none where it has not begun: Snakemake makes empty ones."""
    return [line for line in log_file.read_text(errors="replace").splitlines() if line] if log_file.is_file() else []


def _last_reason(log_file: Path) -> str:
    """Why the job with this log failed, in a line; '' where it did not, was stopped or killed, or has not begun."""
    lines = _said(log_file)
    if not lines or lines[-1].startswith(STOPPED):
        return ""
    if said := [line for line in lines if line.startswith(REASON)]:  # some go on over several lines
        return said[-1].removeprefix(REASON)
    return lines[-1] if any(line.startswith("Traceback (most recent call last)") for line in lines) else ""


def _environment(checkout: Path) -> dict[str, str]:
    """The jobs' python is this one, and finds the checkout whatever PYTHONSAFEPATH says."""
    first = [str(Path(sys.executable).parent), *filter(None, [os.environ.get("PATH")])]
    search = [*filter(None, [os.environ.get("PYTHONPATH")]), str(checkout)]
    return os.environ | {"PATH": os.pathsep.join(first), "PYTHONPATH": os.pathsep.join(search)}


def _wait(process: subprocess.Popen[bytes], minutes: float | None) -> int:
    """Snakemake's exit status; after the minutes it begins no further job and waits for those at work.

    Raises:
        SystemExit: a signal came that ends processes, and Snakemake has ended first.
    """

    def end(number: int, _: Any) -> NoReturn:
        for own in ends:  # a terminal that closes sends SIGHUP twice
            signal.signal(own, signal.SIG_IGN)
        raise SystemExit(128 + number)

    ends = [own for own in (signal.SIGTERM, signal.SIGHUP) if signal.getsignal(own) is not signal.SIG_IGN]  # nohup
    before = {own: signal.signal(own, end) for own in ends}
    try:
        if minutes is not None:
            with suppress(subprocess.TimeoutExpired):
                return process.wait(60 * minutes)
            process.terminate()
        return process.wait()
    except SystemExit:
        log.warning("No further run is begun. Those at work are waited for.")
        process.terminate()  # also for SIGHUP, at which Snakemake would leave its jobs behind
        process.wait()
        raise
    except KeyboardInterrupt:  # Ctrl-C reaches Snakemake, too
        process.wait()
        raise
    finally:
        for own, handler in before.items():
            signal.signal(own, handler)
