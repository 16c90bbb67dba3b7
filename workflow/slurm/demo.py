"""A grid of twenty runs on a real Slurm on this machine, one node of which is killed in the middle.

    apt-get install slurm-wlm munge; pip install -e '.[cluster,reproduction]'
    python -m workflow.slurm.demo          # as root: starts Slurm, and stops it at the end

Shows that nothing is lost and nothing done twice: every run ends once, the ones on the dead node go on from their
last checkpoint, and no finished run is started again. Exits with 1 if that is not so.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from reproduction.checkout import ROOT
from reproduction.engine.grids import read_grid
from reproduction.engine.status import status

HERE = Path(__file__).resolve().parent
GRID = ROOT / "workflow" / "grids" / "slurm-demo.yaml"
CONFIG = Path("/etc/slurm/slurm.conf")
NODES = ("node1", "node2")
EXECUTOR = ["--executor", "slurm", "--jobs", "20", "--slurm-status-command", "squeue", "--slurm-no-account"]
EXECUTOR += ["--slurm-init-seconds-before-status-checks", "5", "--slurm-requeue", "--default-resources"]
EXECUTOR += ["slurm_partition=demo", "runtime=30", "mem_mb=1000", "cpus_per_task=1"]


def wait(condition: Callable[[], bool], what: str, seconds: float = 300) -> None:
    """Poll until the condition holds. Raises TimeoutError."""
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            raise TimeoutError(f"{what} did not happen within {seconds:g} s")
        time.sleep(0.5)


def squeue() -> list[list[str]]:
    """Id, state and node of every job."""
    done = subprocess.run(["squeue", "--noheader", "--format=%i %T %N"], capture_output=True, text=True, check=True)
    return [line.split() for line in done.stdout.splitlines()]


@contextlib.contextmanager
def slurm(folder: Path) -> Iterator[dict[str, subprocess.Popen[bytes]]]:
    """munged, slurmctld and a slurmd a node, ended at exit; yields the slurmds by node."""
    host = socket.gethostname().split(".")[0]
    text = (HERE / "slurm.conf").read_text().replace("FOLDER", str(folder)).replace("HOST", host)
    (folder / "slurm.conf").write_text(text)
    CONFIG.symlink_to(folder / "slurm.conf")  # the executor hides SLURM_CONF from the srun inside a job
    started: list[subprocess.Popen[bytes]] = []

    def start(*command: str) -> subprocess.Popen[bytes]:
        process = subprocess.Popen(
            command, start_new_session=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        started.append(process)
        return process

    try:
        if subprocess.run(["munge", "-n"], capture_output=True).returncode:
            Path("/run/munge").mkdir(exist_ok=True)
            shutil.chown("/run/munge", "munge", "munge")
            start("setpriv", "--reuid=munge", "--regid=munge", "--clear-groups", "munged", "--foreground", "--force")
            wait(lambda: not subprocess.run(["munge", "-n"], capture_output=True).returncode, "munged to start", 20)
        start("slurmctld", "-D", "-c")
        daemons = {}
        for node in NODES:
            (folder / f"spool-{node}").mkdir()
            daemons[node] = start("slurmd", "-D", "-N", node)
        idle = ["sinfo", "--noheader", "--Node", "--format=%T"]

        def ready() -> bool:
            return subprocess.run(idle, capture_output=True, text=True).stdout.split() == ["idle"] * len(NODES)

        wait(ready, "both nodes to be idle", 60)
        yield daemons
    finally:
        CONFIG.unlink()
        for process in reversed(started):
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGTERM)
                process.wait(timeout=20)


def children(pid: int) -> list[int]:
    """All processes below pid."""
    done = subprocess.run(["ps", "-o", "pid=", "--ppid", str(pid)], capture_output=True, text=True)
    direct = [int(p) for p in done.stdout.split()]
    return [p for child in direct for p in (child, *children(child))]


def job_processes(node: str) -> list[int]:
    """The step daemons of a node's jobs, which outlive slurmd, and all they started."""
    found = []
    jobs = {job for job, state, *where in squeue() if where == [node]}
    for line in subprocess.run(["ps", "-eo", "pid=,args="], capture_output=True, text=True).stdout.splitlines():
        pid, _, command = line.strip().partition(" ")
        if "slurmstepd" in command and any(f"[{job}." in command for job in jobs):
            found += [int(pid), *children(int(pid))]
    return found


def kill_node(node: str, daemon: subprocess.Popen[bytes]) -> list[str]:
    """The node dies: its daemon and all its jobs' processes, with -9. Returns the jobs it was running."""
    jobs = [job for job, state, *where in squeue() if where == [node] and state == "RUNNING"]
    pids = job_processes(node)
    os.kill(daemon.pid, signal.SIGKILL)
    for pid in pids:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    return jobs


def attempts(digest: str, runs: Path) -> list[dict[str, object]]:
    log = runs / digest / "log.jsonl"
    return [json.loads(line) for line in log.read_text().splitlines()] if log.is_file() else []


def main() -> int:
    if missing := [name for name in ("slurmctld", "slurmd", "munged") if shutil.which(name) is None]:
        print(f"Slurm is needed (apt-get install slurm-wlm munge). Got no {', '.join(missing)}.")
        return 1
    if CONFIG.exists() or CONFIG.is_symlink():
        print(f"{CONFIG} must not exist: this machine has a Slurm of its own, use focal grid --executor slurm.")
        return 1
    specs = read_grid(GRID)
    folder = Path(tempfile.mkdtemp(prefix="focal-slurm-"))
    runs = folder / "runs"
    (folder / "state").mkdir()
    print(f"Slurm in {folder}: {len(NODES)} nodes of one core; {len(specs)} runs", flush=True)
    with slurm(folder) as daemons:
        command = [sys.executable, "-m", "focal_lib.cli", "grid", str(GRID), "--root", str(runs), *EXECUTOR]
        with (folder / "grid.log").open("wb") as log:
            grid = subprocess.Popen(command, stdout=log, stderr=log, cwd=ROOT)

        def states() -> list[str]:
            return [entry.state for entry in status(specs, runs)]

        def midway() -> bool:
            """Some runs are done, and one on node1 is training and has a checkpoint to go on from."""
            if grid.poll() is not None:
                return True
            here = job_processes("node1")
            training = [attempts(p.parent.name, runs)[-1] for p in runs.glob("*/checkpoint")]
            return states().count("done") >= 3 and any(a["pid"] in here and a["event"] == "start" for a in training)

        wait(midway, "three runs to be done", 900)
        done_before = {s.digest for s, state in zip(specs, states(), strict=True) if state == "done"}
        jobs = kill_node("node1", daemons["node1"])
        print(f"{len(done_before)} runs done; node1 killed with job {', '.join(jobs) or 'none'} on it", flush=True)
        code = grid.wait()
    found = {s.digest: [a["event"] for a in attempts(s.digest, runs)] for s in specs}
    resumed = [d for d in found if found[d].count("start") > 1]
    problems = [f"{d}: {events}" for d, events in found.items() if events.count("done") != 1]
    problems += [f"{d} was done and started again" for d in done_before if found[d] != ["start", "done"]]
    if not resumed:
        problems.append("no run was interrupted: nothing was shown")
    if code or len(resumed) > len(jobs):
        problems.append(
            f"exit code {code}, {len(resumed)} runs started twice for {len(jobs)} killed; see {folder}/grid.log"
        )
    for digest in resumed:
        epochs = [a["epoch"] for a in attempts(digest, runs) if a["event"] == "start"]
        if epochs[-1] == 0:
            problems.append(f"{digest} began anew in spite of its checkpoint")
        print(f"{digest} was on the dead node: started at epochs {epochs}")
    print("\n".join(problems) or f"{len(specs)} runs, each done once; {len(resumed)} went on after the kill")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
