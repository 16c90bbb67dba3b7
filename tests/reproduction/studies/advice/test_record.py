"""Records go on where they stopped, and repeat what they have."""

from functools import partial

import pandas as pd
import pytest

from focal_lib.calibration.methods import DEFAULT
from reproduction.studies.advice import record
from reproduction.studies.shared import going_on


@pytest.fixture
def go_on(tmp_path):
    """What a record holds after so many rounds, of which those that are there are kept."""
    out = tmp_path / "results" / "table.parquet"

    def further(name, rounds, minutes=5):
        before = pd.read_parquet(out) if out.exists() else pd.DataFrame()
        record.main(name, minutes, rounds, out)
        after = pd.read_parquet(out)
        if len(before):
            pd.testing.assert_frame_equal(after.head(len(before)), before)
        return after

    return further


def test_regret_goes_on(go_on, monkeypatch):
    monkeypatch.setattr(record, "EVERY", {1: ((2, 60),), 2: ((3, 60),)})
    monkeypatch.setattr(record, "KNOWN_TRUTHS", ("calibrated",))
    monkeypatch.setattr(record, "EVENTS", {"rare": (0.2, "calibrated")})
    monkeypatch.setattr(record, "ONLY", {})
    monkeypatch.setattr(record, "judge_advice", partial(record.judge_advice, methods=DEFAULT[:1]))
    first = go_on("regret", 1)
    assert first[["truth", "classes", "samples", "seed"]].to_numpy().tolist() == [
        ["calibrated", 2, 60, 0],
        ["rare", 2, 60, 0],
    ]
    monkeypatch.setattr(record, "EVENTS", {})
    assert go_on("regret", 2)[["classes", "seed"]].to_numpy().tolist() == [[2, 0], [2, 0], [2, 1], [3, 1]]
    assert len(go_on("regret", 9, minutes=0)) == 4  # no time: what there is stays


def test_many_samples_are_drawn_of_few_truths():
    settings = [setting for setting, _ in record._regret(8)]
    assert len(set(settings)) == len(settings)
    assert {truth for truth, _, n, _ in settings if n == 50_000} == set(record.ONLY[50_000])
    assert {classes for truth, classes, _, _ in settings if truth in record.EVENTS} == {2}
    assert {classes for truth, classes, _, _ in settings if truth.startswith("CIFAR-100")} == {100}


def test_groups_go_on(go_on, monkeypatch):
    monkeypatch.setattr(record, "TRUTHS", ("calibrated", 0.1))
    monkeypatch.setattr(record, "CORRELATIONS", (0.2,))
    monkeypatch.setattr(record, "SIZES", ([5] * 12,))
    monkeypatch.setattr(record, "CLASSES", 3)
    monkeypatch.setattr(record, "GROUP_POPULATION", 300)
    quick = partial(record.judge_intervals_in_groups, methods=DEFAULT[:1])
    monkeypatch.setattr(record, "judge_intervals_in_groups", quick)
    first = go_on("groups", 1)
    told = first[["gain", "correlation", "sizes", "told"]].to_numpy().tolist()
    assert told == [[gain, 0.2, "12 of 5", told] for gain in (0.0, 0.1) for told in (True, False)]
    assert first["commit"].str.len().min() > 6
    assert go_on("groups", 2)["seed"].tolist() == [0] * 4 + [1] * 4
    assert len(go_on("groups", 9, minutes=0)) == 8  # no time: what there is stays


def test_rows_of_another_code_are_refused(tmp_path):
    out = tmp_path / "regret.parquet"
    rows = pd.DataFrame({"truth": ["calibrated"] * 3, "code": ["0123", "4567", "4567"]})
    rows.to_parquet(out)
    before = out.read_bytes()
    with pytest.raises(SystemExit, match=r"^regret\.parquet must hold rows of one code, .* Got 3 of 3 of another"):
        record.main("regret", 5, 1, out)
    assert out.read_bytes() == before
    assert len(going_on.rows_so_far(tmp_path / "none", "4567")) == 0
    with pytest.raises(SystemExit, match="Got 1 of 3 of another"):
        going_on.rows_so_far(out, "4567")
    rows.drop(columns="code").to_parquet(out)  # of a time when it was not noted
    with pytest.raises(SystemExit, match="Got 3 of 3"):
        going_on.rows_so_far(out, "4567")


def test_coverage_goes_on(go_on, monkeypatch):
    monkeypatch.setattr(record, "COVERED", ((50,), (2,), {"calibrated": 1.0}))
    monkeypatch.setattr(record, "COVERED_POPULATION", {2: 1000})
    first = go_on("coverage", 1)
    assert set(first["of"]) == {"ece", "adaptive-ece", "mce", "classwise-ece", "p <= 0.05", "bands"}
    assert (first["hits"] <= first["runs"]).all()
    second = go_on("coverage", 2)
    assert len(second) == 2 * len(first)
    assert set(second["round"]) == {0, 1}


def test_alarms_are_of_each_drift(go_on, monkeypatch):
    monkeypatch.setattr(record, "CALM", 200)
    monkeypatch.setattr(record, "AFTER", 100)
    monkeypatch.setattr(record, "CHANGES", (0, 50))
    monkeypatch.setattr(record, "DRIFTS", (2.0,))
    found = go_on("watch", 5)
    assert found[["temperature", "change", "horizon"]].drop_duplicates().to_numpy().tolist() == [
        [1.0, 200, 200],
        [2.0, 0, 100],
        [2.0, 50, 150],
    ]
    assert found.groupby("change").size().to_dict() == {0: 1, 50: 1, 200: 5}
