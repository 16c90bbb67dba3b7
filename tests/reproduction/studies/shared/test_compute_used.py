"""What recorded runs cost."""

import json

import pytest

from reproduction.checkout import ROOT
from reproduction.studies.shared import compute_used


@pytest.fixture
def kept(tmp_path):
    """Folders of recorded runs: one with what they cost, one from before that was on record, one with both."""
    costs = {"images": 9000, "seconds": 1800, "machines": ["AMD EPYC"], "device": "x86_64"}
    for name, records in {"a": [costs, costs], "b": [{"device": "x86_64"}], "c": [costs, {}], "empty": []}.items():
        (tmp_path / name).mkdir()
        for i, record in enumerate(records):
            (tmp_path / name / str(i)).mkdir()
            (tmp_path / name / str(i) / "spec.json").write_text(json.dumps(record))
    return tmp_path


def test_a_row_a_folder(kept):
    used = "9,000 images in 0.5 hours of one run at a time, on AMD EPYC"
    assert compute_used.table(kept).splitlines()[2:] == [
        "| `a` | 2 | 18,000 images in 1.0 hours of one run at a time, on AMD EPYC |",
        "| `b` | 1 | not on record |",
        f"| `c` | 2 | {used}, for 1 of 2: of the others it is not on record |",
    ]


def test_less_than_half_an_hour_is_in_minutes(tmp_path):
    (tmp_path / "a" / "0").mkdir(parents=True)
    (tmp_path / "a" / "0" / "spec.json").write_text(json.dumps({"images": 9, "seconds": 90, "machines": ["A"]}))
    assert "| 9 images in 2 minutes of one run at a time, on A |" in compute_used.table(tmp_path)


def test_the_readme_of_the_records_has_todays_table():
    assert compute_used.table(ROOT / "results") in (ROOT / "results" / "README.md").read_text()


def test_one_core_is_no_plural(tmp_path):
    (tmp_path / "a" / "0").mkdir(parents=True)
    record = {"images": 9, "seconds": 3600, "machines": ["A, 1 cores, x86_64", "B, 11 cores, x86_64"]}
    (tmp_path / "a" / "0" / "spec.json").write_text(json.dumps(record))
    assert "on A, 1 core, x86_64; B, 11 cores, x86_64" in compute_used.table(tmp_path)


def test_how_runs_were_made_names_each_machine_and_commit_once(tmp_path, make_result):
    runs = [make_result("focal", seed) for seed in range(4)]
    steps = (("plain", "c1"), ("plain", "c1"), ("plain", "c2"), ("graph", "c2"))
    for run, (step, commit) in zip(runs, steps, strict=True):
        (tmp_path / run.spec.digest).mkdir()
        record = {"machines": ["A, 1 cores, x86_64"], "step": step, "commit": commit, "versions": {"torch": "2.9"}}
        (tmp_path / run.spec.digest / "spec.json").write_text(json.dumps(record))
    said = "A, 1 core, x86_64 (PyTorch 2.9, plain steps, commits c1, c2; PyTorch 2.9, graph steps, commit c2)"
    assert compute_used.say_how_made(tmp_path, runs) == said
    assert compute_used.say_how_made(tmp_path, runs[:1]) == "A, 1 core, x86_64 (PyTorch 2.9, plain steps, commit c1)"


def test_the_readme_has_it_between_its_marks(kept):
    readme = kept / "README.md"
    assert not compute_used.update_readme(readme)
    readme.write_text("no marks")
    assert not compute_used.update_readme(readme)
    assert readme.read_text() == "no marks"
    readme.write_text(f"before\n{compute_used.START}\nold\n{compute_used.END}\nafter\n")
    assert compute_used.update_readme(readme)
    block = compute_used.table(kept)
    assert readme.read_text() == f"before\n{compute_used.START}\n{block}\n{compute_used.END}\nafter\n"


def test_the_readme_of_the_results_is_as_their_records_say():
    text = (ROOT / "results" / "README.md").read_text()
    assert f"{compute_used.START}\n{compute_used.table(ROOT / 'results')}\n{compute_used.END}" in text


def test_a_record_that_cannot_be_read_is_named(kept):
    (kept / "a" / "0" / "spec.json").write_text("{")
    with pytest.raises(ValueError, match=r"a.0.spec\.json must be a run's record\. Got "):
        compute_used.table(kept)
