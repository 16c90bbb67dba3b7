"""Calls beside processes that never rest, and the record of them."""

import os

import pandas as pd
import pytest
from click.testing import CliRunner

from benchmarks import busy
from reproduction.studies.shared import speed


@pytest.mark.slow
def test_record_of_a_tiny_size(tmp_path, monkeypatch):
    monkeypatch.setattr(busy, "_SECONDS", 1e-9)
    monkeypatch.setitem(busy.SIZES, "small", (300, 3))
    out = tmp_path / "busy.parquet"
    result = CliRunner().invoke(busy.main, ["--size", "small", "--out", str(out)], catch_exceptions=False)
    assert result.exit_code == 0
    found = pd.read_parquet(out)
    assert set(zip(found["n"], found["classes"], strict=True)) == {(300, 3)}
    assert {"ece", "all_metrics", "focal temperature, nll", "vector, nll"} < set(found["what"])
    assert (found["ratio"] == found["busy_ms"] / found["quiet_ms"]).all()
    assert found["cores"].iloc[0] == os.cpu_count()
    assert "busy / quiet" in result.output
    assert len(speed.tabulate_busy(found)) == len(found)


def test_processes_that_never_rest_end_with_the_block():
    with busy.busy_processes(2) as ids:
        assert all(os.path.exists(f"/proc/{one}") for one in ids) or not os.path.isdir("/proc")
    assert not any(os.path.exists(f"/proc/{one}") for one in ids)
