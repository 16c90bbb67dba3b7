"""Two processes do the same runs at once and are killed again and again.

    python -m tests.reproduction.engine.kill_runs FOLDER KILLS

Each worker goes through all runs, in its own order, as a grid would, and is killed with -9 at a random moment, then
begun again. Files are written slowly, so that many kills fall into the writing. Prints, as JSON, how often workers were
killed, how often while they wrote, and how often while they wrote a checkpoint.
"""

from __future__ import annotations

import json
import math
import os
import random
import signal
import sys
import time
from pathlib import Path

import pyarrow.parquet  # noqa: F401 - what workers need is loaded before they are forked
import torch
import tqdm.auto  # noqa: F401

from reproduction.engine import checkpoint, fit  # noqa: F401
from reproduction.engine.run import run_shared
from reproduction.engine.spec import Spec
from reproduction.engine.status import status
from reproduction.engine.store import CHECKPOINT

CERTAIN = 3  # kills while a checkpoint is written


def plan_runs(kills: int, seed: int = 0) -> list[Spec]:
    """Four, the longer the more often workers are killed."""
    common = {"n_train": 60, "n_validation": 30, "batch_size": 20, "epochs": 12 + 2 * (kills // 10), "seed": seed}
    return [
        Spec(model=model, gamma=gamma, evaluate_every=2, **common)
        for model in ("mlp", "small-cnn")
        for gamma in (0.0, 2.0)
    ]


def work(specs: list[Spec], root: Path) -> None:
    """All runs, one after another; each write takes a while."""
    write_bytes = Path.write_bytes

    def slowly(path: Path, content: bytes) -> int:
        with path.open("wb") as file:
            for start in range(0, len(content), 1 + len(content) // 4):
                file.write(content[start : start + 1 + len(content) // 4])
                file.flush()
                time.sleep(0.03)
        return len(content)

    Path.write_bytes = slowly  # type: ignore[method-assign, assignment]
    for i in range(len(specs)):
        run_shared([specs[i], *specs[:i], *specs[i + 1 :]], root, "cpu")
    Path.write_bytes = write_bytes  # type: ignore[method-assign]


def begin(specs: list[Spec], root: Path) -> int:
    """A worker, forked: PyTorch is there already."""
    pid = os.fork()
    if pid == 0:
        code = 1
        try:
            work(specs, root)
            code = 0
        finally:
            os._exit(code)
    return pid


def main(root: Path, kills: int, seed: int = 0) -> dict[str, int]:
    """Until all runs are done, four of the next seed where a fast machine has done all before the last kill.

    Kills fall into the writing of a checkpoint, until a few did; then half of them wait for some writing a while.
    """
    torch.set_num_threads(1)
    rng, counts = random.Random(seed), {"kills": 0, "while writing": 0, "while writing a checkpoint": 0, "seeds": 0}
    workers: dict[int, list[Spec]] = {}
    while workers or counts["kills"] < kills:
        if not workers:
            assert counts["seeds"] <= kills, "runs ended, and no worker was killed, again and again"
            planned = plan_runs(kills, counts["seeds"])
            counts["seeds"] += 1
            workers = {begin(specs, root): specs for specs in (planned, planned[::-1])}
        pid, now = rng.choice(list(workers)), time.monotonic()
        certain = counts["while writing a checkpoint"] < min(CERTAIN, kills)  # however fast or slow the machine is
        moment = now if certain else now + rng.uniform(0.05, 0.6)
        patience = math.inf if certain else 1.0 if rng.random() < 0.5 else 0.0
        what = CHECKPOINT if certain else ""
        while time.monotonic() < moment or (time.monotonic() < moment + patience and not writes(pid, root, what)):
            if ended_by_itself(pid):
                break
            time.sleep(0.002)
        ended, code = os.waitpid(pid, os.WNOHANG)
        if ended:
            assert code == 0, "a worker failed"
            del workers[pid]
        elif counts["kills"] < kills:
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)
            counts["kills"] += 1
            counts["while writing"] += writes(pid, root)
            counts["while writing a checkpoint"] += writes(pid, root, CHECKPOINT)
            specs = workers.pop(pid)
            workers[begin(specs, root)] = specs
    every = [spec for own in range(counts["seeds"]) for spec in plan_runs(kills, own)]
    assert all(entry.state == "done" for entry in status(every, root))
    return counts


def ended_by_itself(pid: int) -> bool:
    """Whether it has ended; who waits for it learns how."""
    return os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None


def writes(pid: int, root: Path, what: str = "") -> bool:
    """Whether there is a file, of that name if any, that the process has not finished."""
    return any(root.glob(f"*/.{pid}@*{what}"))


if __name__ == "__main__":
    print(json.dumps(main(Path(sys.argv[1]), int(sys.argv[2]))))
