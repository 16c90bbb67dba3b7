"""The searches of recorded networks: what the table has is not searched again."""

import dataclasses

import pandas as pd
import pytest

from reproduction.studies.calibrators import record as open_questions


@dataclasses.dataclass(frozen=True)
class Spec:
    digest: str
    model: str = "cnn"
    label: str = "focal 3"
    seed: int = 0


@dataclasses.dataclass(frozen=True)
class Run:
    spec: Spec


@pytest.fixture
def searched(tmp_path, monkeypatch):
    """Digests of the runs that are searched, of two records."""
    digests = []

    def search_valley(runs):
        digests.extend(run.spec.digest for run in runs)
        return pd.DataFrame({"search": ["full", "valley"], "nll": [0.5, 0.75]})

    records = {"first": ["a", "b"], "second": ["c"]}
    monkeypatch.setattr(open_questions, "OUT", tmp_path)
    monkeypatch.setattr(open_questions, "commit", lambda written: f"all but {written}")
    monkeypatch.setattr(open_questions, "SEARCHED", tuple(records))
    monkeypatch.setattr(open_questions, "search_valley", search_valley)
    monkeypatch.setattr(open_questions, "load_recorded", lambda record, part: [Run(Spec(d)) for d in records[record]])
    monkeypatch.setattr(open_questions.search, "__defaults__", (tuple(records), None))
    return digests


def test_runs_that_the_table_lacks_are_added_in_the_order_of_all(searched, tmp_path):
    open_questions.main(["searches"])
    assert searched == ["a", "b", "c"]
    whole = pd.read_parquet(tmp_path / "searches.parquet")
    assert list(whole["run"]) == ["a", "a", "b", "b", "c", "c"]
    whole[whole["run"] != "b"].assign(commit="before").to_parquet(tmp_path / "searches.parquet")
    searched.clear()
    open_questions.main(["searches", "--add"])
    assert searched == ["b"]
    again = pd.read_parquet(tmp_path / "searches.parquet")
    pd.testing.assert_frame_equal(again.drop(columns="commit"), whole.drop(columns="commit"))
    assert set(again.loc[again["run"] != "b", "commit"]) == {"before"}
    assert set(again.loc[again["run"] == "b", "commit"]) == set(whole["commit"])


def test_a_run_of_two_records_is_searched_for_each(searched, monkeypatch):
    monkeypatch.setattr(open_questions, "load_recorded", lambda record, part: [Run(Spec("a"))])
    found = open_questions.search()
    assert searched == ["a", "a"]
    assert list(open_questions.search(found=found)["record"]) == ["first", "first", "second", "second"]
    assert searched == ["a", "a"]
    assert set(found["commit"]) == {"all but results/open-questions"}


def test_only_searches_can_be_added_to(searched, capsys):
    with pytest.raises(SystemExit):
        open_questions.main(["--add"])
    assert "--add must stand with searches alone. Got searches, table." in capsys.readouterr().err
    assert not searched


def test_calibrators_are_compared_on_the_losses_that_the_contrasts_name(monkeypatch):
    runs = [Run(Spec(label, label=label)) for label in ("focal 3", "brier", "flsd-53", "fcl 4 1.5")]
    monkeypatch.setattr(open_questions, "load_recorded", lambda record, part: runs)
    monkeypatch.setattr(open_questions, "commit", lambda written: "abc")
    monkeypatch.setattr(
        open_questions, "compare_calibrators", lambda one: pd.DataFrame({"loss": [run.spec.label for run in one]})
    )
    found = open_questions.compare(["first"])
    assert found["loss"].tolist() == ["focal 3", "flsd-53"]
    assert set(found["commit"]) == {"abc"}
