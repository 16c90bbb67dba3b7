"""Methods and metrics of samples in a file: which there are, what a row says, how a record goes on."""

import dataclasses

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

from benchmarks import large, large_rows
from focal_lib.calibration.calibrators.seen_classes import SeenClassesCalibrator
from focal_lib.calibration.methods import METHODS
from focal_lib.metrics import samples
from focal_lib.metrics.by_name import METRICS
from reproduction.studies.shared import speed


@pytest.fixture
def folder(tmp_path):
    large_rows.write(tmp_path, 600, 4)
    return tmp_path


def test_every_method_objective_and_metric_is_a_row():
    names = large_rows.names()
    assert len(names) == len(set(names))
    assert {f"{name}:{objective}" for name, kind in METHODS.items() for objective in kind.options} < set(names)
    assert {*METRICS, large_rows.ALL_METRICS, large_rows.ON_DASK} < set(names)


def test_the_file_repeats_its_block(tmp_path, monkeypatch):
    monkeypatch.setattr(large_rows, "BLOCK", 40)
    large_rows.write(tmp_path, 100, 3)
    z, y = large_rows.load(tmp_path)
    assert (z.dtype, z.shape, len(y)) == (np.float16, (100, 3), 100)
    np.testing.assert_array_equal(z[40:80], z[:40])
    np.testing.assert_array_equal(z[80:], z[:20])
    np.testing.assert_array_equal(y[80:], y[:20])


@pytest.mark.parametrize(
    "name", ["temperature:nll", "vector:nll", "matrix:nll", "focal-temperature:nll", "classwise-ece"]
)
def test_a_row_is_what_the_samples_in_memory_give(folder, name):
    line = large_rows.measure(name, folder, limit=1e9)
    assert (line.samples, line.classes, line.dtype, line.estimate) == (600, 4, "float16", False)
    assert line.value == pytest.approx(line.in_memory, rel=1e-9)
    assert line.seconds > 0
    assert line.memory_gb >= line.before_gb or np.isnan(line.memory_gb)
    assert line.file_gb == pytest.approx(600 * 4 * 2 / 2**30)


def test_a_method_that_does_not_stream_says_why_and_one_that_does_is_fitted():
    """What holds all log-probabilities calls gather on them; the others have nothing of (n, K) after a chunk."""
    for name, kind in METHODS.items():
        why = large_rows._why_not(f"{name}:{kind.first}", 10_000_000, 100)
        assert bool(why) == issubclass(kind.calibrator, SeenClassesCalibrator), name
        assert not why or "7.45 GiB" in why


def test_what_would_take_too_long_is_an_estimate_from_a_part(folder, monkeypatch):
    monkeypatch.setattr(large_rows, "_LEAST", 10)
    line = large_rows.measure("temperature:nll", folder, limit=0.0)
    assert line.estimate
    assert "estimate: 20 times the" in line.note
    assert "of 30 samples" in line.note
    assert np.isnan(line.memory_gb)
    assert line.value == pytest.approx(line.in_memory, rel=1e-9)  # both of the part


def test_what_is_raised_is_the_note(folder, monkeypatch):
    def fails(name, z, y):
        raise MemoryError("too many")

    monkeypatch.setattr(large_rows, "_fit", fails)
    line = large_rows.measure("vector:nll", folder, limit=1e9)
    assert (line.note, np.isnan(line.value)) == ("MemoryError: too many", True)


def test_a_part_of_a_block_beside_whole_ones_is_compared_with_nothing(folder, monkeypatch):
    monkeypatch.setattr(large_rows, "BLOCK", 250)
    assert np.isnan(large_rows.measure("ece", folder, limit=1e9).in_memory)
    monkeypatch.setattr(large_rows, "BLOCK", 300)
    assert large_rows.measure("nll", folder, limit=1e9).in_memory > 0


# --- the record -------------------------------------------------------------------------


@pytest.fixture
def calls(monkeypatch):
    """Rows measured in this process; those that were."""
    done = []

    def here(name, folder, limit):
        line = large_rows.measure(name, folder, limit)
        done.append(name)
        if len(done) == 3:
            raise KeyboardInterrupt
        return dataclasses.replace(line, note=line.note or f"call {len(done)}")

    monkeypatch.setattr(large, "_in_own_process", here)
    monkeypatch.setattr(large_rows, "names", lambda: ["temperature:nll", "isotonic:brier", "ece", "nll"])
    return done


def _run(out, *more):
    flags = ["--samples", "300", "--classes", "3", "--out", str(out), *more]
    return CliRunner().invoke(large.main, flags, catch_exceptions=False)


def test_a_record_that_was_stopped_goes_on_with_what_is_missing(tmp_path, calls):
    out = tmp_path / "large.parquet"
    assert _run(out).exit_code != 0
    assert pd.read_parquet(out)["what"].tolist() == ["temperature:nll", "isotonic:brier"]
    assert _run(out).exit_code == 0
    assert calls == ["temperature:nll", "isotonic:brier", "ece", "ece", "nll"]
    found = pd.read_parquet(out)
    assert found["what"].tolist() == large_rows.names()
    assert {"commit", "code", "machine", "torch_version"} < set(found)
    assert [path.name for path in tmp_path.iterdir()] == ["large.parquet"]
    assert "4 rows are there" in _run(out).output
    assert len(speed.tabulate_large(found)) == 4


def test_a_row_that_is_named_is_measured_again(tmp_path, calls):
    out = tmp_path / "large.parquet"
    _run(out, "--only", "ece", "--only", "temperature:nll")
    _run(out, "--only", "isotonic:brier")  # stopped
    _run(out, "--only", "ece")
    found = pd.read_parquet(out)
    assert found["what"].tolist() == ["temperature:nll", "ece"]
    assert found["note"].tolist() == ["call 1", "call 4"]
    assert "must be among temperature:nll" in _run(out, "--only", "cosine").output


def test_rows_of_another_size_are_not_mixed(tmp_path, calls):
    out = tmp_path / "large.parquet"
    _run(out, "--only", "ece")
    before = out.read_bytes()
    result = CliRunner().invoke(large.main, ["--samples", "400", "--classes", "3", "--out", str(out)])
    assert "must hold rows of {'samples': 400" in str(result.exception)
    assert out.read_bytes() == before


@pytest.mark.slow
def test_a_row_has_a_process_of_its_own_and_one_that_is_killed_says_so(folder, monkeypatch):
    line = large._in_own_process("temperature:nll", folder, 1e9)
    assert line.value == pytest.approx(line.in_memory, rel=1e-9)
    monkeypatch.setattr(large_rows, "measure", _killed)
    assert "its process was killed" in large._in_own_process("ece", folder, 1e9).note


def _killed(name, folder, limit):
    import os
    import signal

    os.kill(os.getpid(), signal.SIGKILL)


def test_chunks_of_the_metrics_are_smaller_than_the_file(folder, monkeypatch):
    """The number does not depend on them."""
    once = large_rows.measure("all-metrics", folder, limit=1e9).value
    monkeypatch.setattr(samples, "CHUNK_SIZE", 4 * 37)
    assert large_rows.measure("all-metrics", folder, limit=1e9).value == pytest.approx(once, rel=1e-12)
