"""Grids through Snakemake: two at once share the work, and what failed is told in a line."""

import json
import os
import subprocess
import sys

import pytest

from focal_lib.training.grids import read_grid
from focal_lib.training.status import status

GRID = """
dataset: fashion-mnist
model: mlp
n_train: 60
n_validation: 30
epochs: 2
batch_size: 10
evaluate_every: 1
gamma: 1
learning_rate: [1e-3, 1e30]
"""


def grid(path, root, *options):
    command = [sys.executable, "-m", "focal_lib.cli", "grid", str(path), "--root", str(root), "--cores", "1", *options]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=os.environ)


@pytest.mark.slow
def test_two_grids_at_once(small_data, tmp_path):
    (tmp_path / "grid.yaml").write_text(GRID)
    both = [grid(tmp_path / "grid.yaml", tmp_path / "my runs") for _ in range(2)]
    outputs = [process.communicate(timeout=300)[0] for process in both]
    assert [process.returncode for process in both] == [1, 1]
    specs = read_grid(tmp_path / "grid.yaml")
    for spec, entry in zip(specs, status(specs, tmp_path / "my runs"), strict=True):
        assert entry.state == ("failed" if spec.learning_rate > 1 else "done")
        log = (tmp_path / "my runs" / spec.digest / "log.jsonl").read_text().splitlines()
        events = [json.loads(line)["event"] for line in log]
        assert events[:2] == ["start", "failed"] if spec.learning_rate > 1 else events == ["start", "done"]
    for output in outputs:
        reason = "run focal 1, seed 0 FAILED: the training loss must stay finite. Got nan in epoch 1."
        assert reason in output.splitlines()
        assert "Traceback" not in output
    assert not list((tmp_path / "my runs").glob(".logs-*"))
