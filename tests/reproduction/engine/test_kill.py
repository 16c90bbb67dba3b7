"""Killed with -9 at random moments, also while a file is written, two processes at once end bitwise as one alone."""

import json
import math
import os
import random
import signal
import subprocess
import sys
import time
from contextlib import suppress
from itertools import cycle, islice

import psutil
import pytest

from reproduction.checkout import ROOT
from reproduction.engine.grids import read_grid
from reproduction.engine.run import run
from reproduction.engine.status import status
from tests.reproduction.engine.kill_runs import CERTAIN, plan_runs


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="workers are forked")
def test_kills_change_nothing(small_data, tmp_path):
    kills = int(os.environ.get("KILLS", "4"))
    command = [sys.executable, "-m", "tests.reproduction.engine.kill_runs", str(tmp_path / "killed"), str(kills)]
    done = subprocess.run(
        command, cwd=ROOT, env=os.environ | {"OMP_NUM_THREADS": "1"}, capture_output=True, text=True, timeout=1200
    )
    assert done.returncode == 0, done.stderr
    counts = json.loads(done.stdout)
    print(counts)
    assert counts["kills"] == kills
    assert counts["while writing"] >= counts["while writing a checkpoint"] >= CERTAIN
    planned = [spec for seed in range(counts["seeds"]) for spec in plan_runs(kills, seed)]
    require_as_undisturbed(planned, tmp_path / "killed", tmp_path / "whole")


def require_as_undisturbed(planned, root, undisturbed):
    """The runs in `root` are those that this process makes, each done once, with nothing beside them."""
    for spec in planned:
        whole, killed = run(spec, undisturbed), root / spec.digest
        again = run(spec, root)
        for name in ("validation", "test", "train"):
            assert (getattr(whole, name).logits == getattr(again, name).logits).all()
        assert whole.history.equals(again.history)
        for name in ("weights.pt", "history.parquet"):
            assert (killed / name).read_bytes() == (undisturbed / spec.digest / name).read_bytes()
        events = [line["event"] for line in log_of(killed)]
        assert events.count("done") <= 1  # done once, though two had it to do
        assert set(events) <= {"start", "done"}  # nothing damaged, nothing moved aside
        assert not list(killed.glob(".*"))
    assert sorted(p.name for p in root.glob("[!.]*")) == sorted(spec.digest for spec in planned)


def log_of(folder):
    """What each try of a run did; of one that is writing only whole lines."""
    log = folder / "log.jsonl"
    return [json.loads(line) for line in log.read_text().split("\n")[:-1]] if log.is_file() else []


# --- two calls of `focal grid`, through Snakemake --------------------------------------------

GRID = """
dataset: fashion-mnist
model: mlp
n_train: 48
n_validation: 30
epochs: {epochs}
batch_size: 8
evaluate_every: 25
gamma: [0, 2]
"""
# to be repeated: what is killed, and whether it trains or is still at its imports
TIMES = (("job", True), ("grid", False), ("job", True))


class Grids:
    """Two `focal grid` at once on one folder; one that has ended is begun again, while there is something to kill."""

    def __init__(self, path, root, said):
        self.path, self.root, self.said = path, root, said
        self.both = [self.begin(), self.begin()]

    def begin(self):
        command = [sys.executable, "-m", "focal_lib.cli", "grid", self.path, "--root", self.root, "--cores", "1"]
        with self.said.open("a") as said:  # in a group of its own, for all of it to be killed at once
            return subprocess.Popen(
                command, stdout=said, stderr=said, env=os.environ | {"OMP_NUM_THREADS": "1"}, start_new_session=True
            )

    def jobs(self, which):
        """Its processes that do a run."""
        if self.both[which].poll() is not None:
            assert self.both[which].returncode, "the runs must take longer. All were done before the last kill."
            self.both[which] = self.begin()
        try:
            below = psutil.Process(self.both[which].pid).children(recursive=True)
            return [process for process in below if "--digest" in process.cmdline()]
        except psutil.Error:  # gone meanwhile
            return []

    def trains(self, job):
        """Whether it has begun a run, and a checkpoint is there."""
        folders = [path.parent for path in self.root.glob("*/checkpoint")]
        return any(line["pid"] == job.pid for folder in folders for line in log_of(folder))

    def kill(self, what, trains, rng):
        """Kill a job, or a grid with all its processes, up to half a second after its job began to load or to train."""
        order, moments = rng.sample((0, 1), 2), {}
        while True:
            for which in order:
                for job in self.jobs(which):
                    if not trains or self.trains(job):
                        moments.setdefault(job.pid, time.monotonic() + rng.uniform(0.0, 0.5))
                    if time.monotonic() < moments.get(job.pid, math.inf):
                        continue
                    with suppress(psutil.NoSuchProcess):  # it has just ended by itself: another one, then
                        return job.kill() if what == "job" else self.kill_all(which)
            time.sleep(0.01)

    def kill_all(self, which):
        os.killpg(self.both[which].pid, signal.SIGKILL)
        self.both[which].wait()

    def finish(self):
        """Until both say that all is done; a call whose job was killed ends with 1."""
        for _ in range(4):
            if [process.wait(300) for process in self.both] == [0, 0]:
                return
            self.both = [self.begin(), self.begin()]
        raise AssertionError(f"both grids must end. {self.said.read_text()}")


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "killpg"), reason="a grid and its jobs are a process group")
def test_kills_over_two_grids_change_nothing(small_data, tmp_path):
    """Of jobs, while they train, and of one grid with all it began; each kill waits for a process to be begun anew."""
    path, root, rng = tmp_path / "grid.yaml", tmp_path / "killed", random.Random(0)
    kills = int(os.environ.get("GRID_KILLS", str(len(TIMES))))
    path.write_text(GRID.format(epochs=max(1000, 250 * kills)))  # there must be something to kill to the end
    grids = Grids(path, root, tmp_path / "said.txt")
    try:
        for what, trains in islice(cycle(TIMES), kills):
            grids.kill(what, trains, rng)
        grids.finish()
    finally:
        for which, process in enumerate(grids.both):
            if process.poll() is None:
                grids.kill_all(which)
    planned = read_grid(path)
    assert all(entry.state == "done" for entry in status(planned, root))
    starts = [line["epoch"] for spec in planned for line in log_of(root / spec.digest) if line["event"] == "start"]
    assert any(epoch > 0 for epoch in starts)  # went on from a checkpoint
    require_as_undisturbed(planned, root, tmp_path / "whole")
