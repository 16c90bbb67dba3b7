"""Records of benchmarks: what they say of themselves, and what they do not."""

import platform
import time

import click
import pandas as pd
import pytest
from click.testing import CliRunner

from benchmarks import record
from benchmarks.neighbours import Neighbours
from reproduction.checkout import ROOT


def test_rows_say_what_made_them_and_name_no_machine(tmp_path):
    out = tmp_path / "speed" / "rows.parquet"
    record.write(pd.DataFrame({"ratio": [2.0, 3.0]}).assign(**record.about()), out)
    found = pd.read_parquet(out)
    assert found["ratio"].tolist() == [2.0, 3.0]
    assert {"commit", "machine", "torch_threads", "focal-lib_version", "python_version"} < set(found)
    assert "cores" in found["machine"].iloc[0]
    texts = " ".join(found.astype(str).to_numpy().ravel())
    assert platform.node() not in texts.split()
    assert str(ROOT) not in texts


def test_what_a_library_raised_is_kept_without_files():
    error = OSError("no such file: /home/someone/.venv/lib/a.so\n in ece/mce")
    assert record.in_short(error) == "OSError: no such file: ... in ece/mce"
    assert record.in_short(ValueError()) == "ValueError"


@pytest.mark.parametrize(
    ("name", "said"), [("rows.txt", "must end in .parquet"), ("a-file/rows.parquet", "must be a folder")]
)
def test_where_nothing_can_be_written_nothing_is_measured(tmp_path, name, said):
    (tmp_path / "a-file").touch()

    @click.command()
    @record.out_option(".parquet")
    def command(out):
        raise AssertionError

    result = CliRunner().invoke(command, ["--out", str(tmp_path / name)])
    assert result.exit_code == 2
    assert said in " ".join(result.output.split())


def test_own_work_is_not_that_of_neighbours(monkeypatch):
    """Of 10 s, in which all processes had 15 s and this one 8 s: 0.7 cores."""
    times = iter([(100.0, 1000.0, 5.0), (110.0, 1015.0, 13.0)])
    now = {}

    def turn():
        now["wall"], now["all"], now["own"] = next(times)

    turn()
    monkeypatch.setattr(time, "perf_counter", lambda: now["wall"])
    monkeypatch.setattr(time, "process_time", lambda: now["own"])
    monkeypatch.setattr("benchmarks.neighbours._of_all", lambda: now["all"])
    neighbours = Neighbours()
    turn()
    assert neighbours.cores() == pytest.approx(0.7)
