"""Killed with -9 at random moments, also while a file is written, two processes at once end bitwise as one alone."""

import json
import os
import subprocess
import sys

import pytest

from focal_lib.checkout import ROOT
from focal_lib.training.run import run
from tests.training.kill_runs import CERTAIN, plan_runs


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="workers are forked")
def test_kills_change_nothing(small_data, tmp_path):
    kills = int(os.environ.get("KILLS", "8"))
    planned = plan_runs(kills)
    command = [sys.executable, "-m", "tests.training.kill_runs", str(tmp_path / "killed"), str(kills)]
    done = subprocess.run(
        command, cwd=ROOT, env=os.environ | {"OMP_NUM_THREADS": "1"}, capture_output=True, text=True, timeout=1200
    )
    assert done.returncode == 0, done.stderr
    counts = json.loads(done.stdout)
    print(counts)
    assert counts["kills"] == kills
    assert counts["while writing"] >= CERTAIN
    for spec in planned:
        whole, killed = run(spec, tmp_path / "whole"), tmp_path / "killed" / spec.digest
        again = run(spec, tmp_path / "killed")
        for name in ("validation", "test", "train"):
            assert (getattr(whole, name).logits == getattr(again, name).logits).all()
        assert whole.history.equals(again.history)
        for name in ("weights.pt", "history.parquet"):
            assert (killed / name).read_bytes() == (tmp_path / "whole" / spec.digest / name).read_bytes()
        events = [json.loads(line)["event"] for line in (killed / "log.jsonl").read_text().splitlines()]
        assert events.count("done") <= 1  # done once, though two had it to do
        assert set(events) <= {"start", "done"}  # nothing damaged, nothing moved aside
        assert not list(killed.glob(".*"))
    assert sorted(p.name for p in (tmp_path / "killed").glob("[!.]*")) == sorted(spec.digest for spec in planned)
