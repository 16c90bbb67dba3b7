"""Other libraries' calls beside ours, and the record of them."""

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

from benchmarks import libraries
from reproduction.studies.shared import speed


def _match(library, call):
    return libraries.Match("ECE", library, "its call", lambda data: call, lambda data: 0.5, "rounding")


@pytest.fixture
def tiny(monkeypatch):
    """One size of a few samples; a library that answers, one that raises, one that is not there."""

    def fails():
        raise ValueError("no such call")

    def matches(size):
        data = libraries.Data(np.eye(3), np.arange(3))
        for found in (_match("numpy", lambda: 0.25), _match("scipy", fails), _match("not-there", fails)):
            yield found, data

    monkeypatch.setattr(libraries, "matches", matches)
    monkeypatch.setattr(libraries, "_SECONDS", 1e-9)
    monkeypatch.setattr(libraries.logging, "disable", lambda level: None)  # of the whole process


def test_record_of_calls_that_answer_and_of_others(tmp_path, tiny):
    out = tmp_path / "libraries.parquet"
    result = CliRunner().invoke(libraries.main, ["--size", "small", "--out", str(out)], catch_exceptions=False)
    assert result.exit_code == 0
    assert "other processes had" in result.output
    found = pd.read_parquet(out).set_index("library")
    answered = found.loc["numpy"]
    assert (answered["theirs"], answered["ours"], answered["difference"]) == (0.25, 0.5, -0.25)
    assert answered["ratio"] == pytest.approx(answered["theirs_ms"] / answered["ours_ms"])
    assert (answered["n"], answered["classes"]) == (3, 3)
    assert found.loc["scipy", "note"] == "ValueError: no such call"
    assert found["ratio"].isna().tolist() == [False, True, True]
    table = pd.read_parquet(out)
    assert len(speed.compare_ratios(table)) == 3


def test_every_call_of_both_sizes_is_one_row_of_the_page():
    """No two matches of a size have one name."""
    keys = [
        (match.what, match.library, match.form)
        for found in (
            libraries.temperature_matches(),
            libraries.metric_matches(),
            libraries.smooth_matches("smooth ECE", ""),
        )
        for match in found
    ]
    assert len(keys) == len(set(keys)) > 20
