"""The records of decisions and of coverage go on where they stopped, and repeat what they have."""

from functools import partial

import pandas as pd
import pytest

from focal_lib.calibration.methods import DEFAULT
from reproduction.studies.advice import (
    record_coverage as coverage,
)
from reproduction.studies.advice import (
    record_groups as advice_groups,
)
from reproduction.studies.advice import (
    record_power as advice_power,
)
from reproduction.studies.advice import (
    record_rates as advice_rates,
)
from reproduction.studies.shared import going_on


@pytest.mark.slow
def test_decisions_go_on(tmp_path, monkeypatch):
    monkeypatch.setattr(advice_rates, "EVERY", {(2, 60): 1, (3, 60): 2})
    monkeypatch.setattr(advice_rates, "KNOWN_TRUTHS", ("calibrated",))
    out = tmp_path / "advice" / "decisions.parquet"
    advice_rates.main(5, 1, out)
    first = pd.read_parquet(out)
    assert first[["truth", "classes", "samples", "seed"]].to_numpy().tolist() == [["calibrated", 2, 60, 0]]
    advice_rates.main(5, 2, out)
    second = pd.read_parquet(out)
    assert second[["classes", "seed"]].to_numpy().tolist() == [[2, 0], [2, 1], [3, 1]]
    pd.testing.assert_frame_equal(second.head(1), first)
    advice_rates.main(0, 9, out)  # no time: what there is stays
    pd.testing.assert_frame_equal(pd.read_parquet(out), second)


@pytest.mark.slow
def test_power_goes_on(tmp_path, monkeypatch):
    monkeypatch.setattr(advice_power, "SAMPLES", (60,))
    monkeypatch.setattr(advice_power, "GAINS", (0.1,))
    monkeypatch.setattr(advice_power, "CLASSES", 3)
    out = tmp_path / "power.parquet"
    advice_power.main(5, 1, out)
    first = pd.read_parquet(out)
    assert first[["gaining", "gain"]].to_numpy().tolist() == [["temperature", 0.1], ["vector", 0.1]]
    advice_power.main(5, 2, out)
    second = pd.read_parquet(out)
    assert second["seed"].tolist() == [0, 0, 1, 1]
    pd.testing.assert_frame_equal(second.head(2), first)


def test_groups_go_on(tmp_path, monkeypatch):
    monkeypatch.setattr(advice_groups, "TRUTHS", ("calibrated", 0.1))
    monkeypatch.setattr(advice_groups, "CORRELATIONS", (0.2,))
    monkeypatch.setattr(advice_groups, "SIZES", ([5] * 12,))
    monkeypatch.setattr(advice_groups, "CLASSES", 3)
    monkeypatch.setattr(advice_groups, "_POPULATION", 300)
    quick = partial(advice_groups.judge_advice_in_groups, methods=DEFAULT[:1])
    monkeypatch.setattr(advice_groups, "judge_advice_in_groups", quick)
    out = tmp_path / "advice" / "groups.parquet"
    advice_groups.main(5, 1, out)
    first = pd.read_parquet(out)
    told = first[["gain", "correlation", "sizes", "told"]].to_numpy().tolist()
    assert told == [[gain, 0.2, "12 of 5", told] for gain in (0.0, 0.1) for told in (True, False)]
    assert first["commit"].str.len().min() > 6
    advice_groups.main(5, 2, out)
    second = pd.read_parquet(out)
    assert second["seed"].tolist() == [0] * 4 + [1] * 4
    pd.testing.assert_frame_equal(second.head(4), first)
    advice_groups.main(0, 9, out)  # no time: what there is stays
    pd.testing.assert_frame_equal(pd.read_parquet(out), second)


def test_rows_of_another_code_are_refused(tmp_path, monkeypatch):
    out = tmp_path / "decisions.parquet"
    rows = pd.DataFrame({"truth": ["calibrated"] * 3, "code": ["0123", "4567", "4567"]})
    rows.to_parquet(out)
    before = out.read_bytes()
    with pytest.raises(SystemExit, match=r"^decisions\.parquet must hold rows of one code, .* Got 3 of 3 of another"):
        advice_rates.main(5, 1, out)
    assert out.read_bytes() == before
    assert len(going_on.rows_so_far(tmp_path / "none", "4567")) == 0
    with pytest.raises(SystemExit, match="Got 1 of 3 of another"):
        going_on.rows_so_far(out, "4567")
    rows.drop(columns="code").to_parquet(out)  # of a time when it was not noted
    with pytest.raises(SystemExit, match="Got 3 of 3"):
        going_on.rows_so_far(out, "4567")


def test_coverage_goes_on(tmp_path, monkeypatch):
    monkeypatch.setattr(coverage, "SAMPLES", (50,))
    monkeypatch.setattr(coverage, "CLASSES", (2,))
    monkeypatch.setattr(coverage, "TEMPERATURES", {"calibrated": 1.0})
    monkeypatch.setattr(coverage, "_POPULATION", {2: 1000})
    out = tmp_path / "coverage.parquet"
    coverage.main(5, 1, out)
    first = pd.read_parquet(out)
    assert set(first["of"]) == {"ece", "adaptive-ece", "mce", "classwise-ece", "p <= 0.05", "bands"}
    assert (first["hits"] <= first["runs"]).all()
    coverage.main(5, 2, out)
    second = pd.read_parquet(out)
    assert len(second) == 2 * len(first)
    assert set(second["round"]) == {0, 1}
