"""The table of experiments, what they cost, and what is recorded: logits, labels, numbers, nothing of the data."""

import json
import re

import numpy as np
import pandas as pd
import pytest

from reproduction.checkout import ROOT
from reproduction.engine.grids import read_notes
from reproduction.studies.shared import experiments
from reproduction.studies.shared.experiments import compute_table, experiment_table, list_experiments, recorded_data

RESULTS = ROOT / "results"
LONGEST = 100  # characters of a text in a table: names, no sentence


@pytest.fixture(scope="module")
def found():
    return list_experiments()


def test_every_grid_that_stands_for_something_has_a_row(found):
    stems = {path.stem for path in (ROOT / "workflow/grids").glob("*.yaml") if read_notes(path).reproduces}
    assert {one.name for one in found} == stems
    table = experiment_table(found)
    assert len(table) == len(stems)
    for one in found:
        [row] = table[table["experiment"].str.startswith(f"{one.name}:")].to_numpy()
        said = "\n".join(row)
        missing = [line.replace("`", "") for line in one.notes.missing]
        assert all(line in said for line in (*one.notes.differs, *missing, one.status))


def test_what_became_of_them_is_read_from_the_records(found, tmp_path, monkeypatch):
    status = {one.name: one.status for one in found}
    recorded = set(recorded_data())
    assert recorded
    assert status["cifar10-resnet8"].startswith("recorded, a table of all runs and the logits of 6; compute used:")
    assert recorded == {name for name, words in status.items() if words.startswith("recorded")}
    monkeypatch.setattr("reproduction.studies.shared.experiments.ROOT", tmp_path)
    (tmp_path / "workflow").mkdir()
    (tmp_path / "workflow" / "grids").symlink_to(ROOT / "workflow" / "grids")
    name = min(recorded)
    run = tmp_path / "results" / name / "one"
    run.mkdir(parents=True)
    text = {"spec": {"dataset": "svhn"}, "images": 10, "seconds": 7200, "device": "an abacus"}
    (run / "spec.json").write_text(json.dumps(text))
    after = {one.name: one.status for one in list_experiments()}
    assert (
        after[name]
        == "recorded in part, 1 runs; compute used: 10 images in 2.0 hours of one run at a time, on an abacus"
    )
    assert {words for other, words in after.items() if other != name} == {"not run"}
    table = pd.DataFrame({"dataset": "svhn", "model": "mlp", "loss": "focal 3", "seed": [0, 0]})
    table.to_parquet(run.with_name("table.parquet"))  # of one run, not of all
    assert {one.name: one.status for one in list_experiments()} == after
    assert recorded_data() == {name: "svhn"}


def test_no_image_and_no_text_is_recorded():
    for path in RESULTS.rglob("*logits.npz"):
        with np.load(path) as arrays:
            on_the_way = {name for name in arrays if re.fullmatch(r"test_logits_\d{4}", name)}
            ends = {f"{part}_{what}" for part in ("validation", "test") for what in ("logits", "labels")}
            assert set(arrays) - on_the_way - {"train_logits", "train_labels"} == ends
            assert all(arrays[name].ndim == (1 if name.endswith("labels") else 2) for name in arrays)
    tables = list(RESULTS.rglob("*.parquet"))
    assert tables
    for path in tables:
        for name, column in pd.read_parquet(path).items():
            if not pd.api.types.is_numeric_dtype(column):
                assert column.astype(str).str.len().max() <= LONGEST, (path, name)
    kinds = {path.suffix for path in RESULTS.rglob("*") if path.is_file()}
    assert kinds <= {".npz", ".parquet", ".json", ".md"}


def record_run(folder, record):
    folder.mkdir(parents=True)
    (folder / "spec.json").write_text(json.dumps(record))


@pytest.fixture
def kept(tmp_path):
    """Folders of recorded runs: one with what they cost, one from before that was on record, one with both."""
    costs = {"images": 9000, "seconds": 1800, "machines": ["AMD EPYC"], "device": "x86_64"}
    for name, records in {"a": [costs, costs], "b": [{"device": "x86_64"}], "c": [costs, {}]}.items():
        for i, record in enumerate(records):
            record_run(tmp_path / name / str(i), record)
    (tmp_path / "empty").mkdir()
    return tmp_path


def test_a_row_a_folder(kept):
    record_run(
        kept / "d" / "0", {"images": 9, "seconds": 90, "machines": ["A, 1 cores, x86_64", "B, 11 cores, x86_64"]}
    )
    used = "9,000 images in 0.5 hours of one run at a time, on AMD EPYC"
    assert compute_table(kept).splitlines()[2:] == [
        "| `a` | 2 | 18,000 images in 1.0 hours of one run at a time, on AMD EPYC |",
        "| `b` | 1 | not on record |",
        f"| `c` | 2 | {used}, for 1 of 2: of the others it is not on record |",
        "| `d` | 1 | 9 images in 2 minutes of one run at a time, on A, 1 core, x86_64; B, 11 cores, x86_64 |",
    ]


def test_the_readme_of_the_results_has_todays_table():
    text = (RESULTS / "README.md").read_text()
    assert f"{experiments.START}\n{compute_table(RESULTS)}\n{experiments.END}" in text


def test_the_readme_has_it_between_its_marks(kept):
    readme = kept / "README.md"
    assert not experiments.update_readme(readme)
    readme.write_text("no marks")
    assert not experiments.update_readme(readme)
    assert readme.read_text() == "no marks"
    readme.write_text(f"before\n{experiments.START}\nold\n{experiments.END}\nafter\n")
    assert experiments.update_readme(readme)
    assert readme.read_text() == f"before\n{experiments.START}\n{compute_table(kept)}\n{experiments.END}\nafter\n"


def test_a_record_that_cannot_be_read_is_named(kept):
    (kept / "a" / "0" / "spec.json").write_text("{")
    with pytest.raises(ValueError, match=r"a.0.spec\.json must be a run's record\. Got "):
        compute_table(kept)
