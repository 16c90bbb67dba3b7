"""Grids through Snakemake: two at once share the work, and what failed is told in a line."""

import json
import os
import subprocess
import sys

import pytest

from focal_lib.training import jobs
from focal_lib.training.grids import read_grid
from focal_lib.training.status import status
from focal_lib.training.version import VERSION
from tests.training.conftest import SMALL

MARKER = f"finished-{VERSION}"

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


def test_a_damaged_run_of_a_grid_is_asked_for_again(finished, tmp_path, monkeypatch):
    """Its marker stood for it."""
    spec, folder, _ = finished
    path = tmp_path / "grid.yaml"
    path.write_text("\n".join(f"{name}: {value}" for name, value in {**SMALL, "gamma": 2}.items()))
    asked = []
    monkeypatch.setattr(jobs, "_wait", lambda process, minutes: asked.append((folder / MARKER).is_file()) or 0)
    monkeypatch.setattr(jobs.subprocess, "Popen", lambda *args, **options: None)
    for cut in (0, 100):
        (folder / MARKER).touch()
        content = (folder / "logits.npz").read_bytes()
        (folder / "logits.npz").write_bytes(content[: len(content) - cut])
        jobs.do_grid(path, tmp_path)
    assert asked == [True, False]
    assert read_grid(path) == [spec]
