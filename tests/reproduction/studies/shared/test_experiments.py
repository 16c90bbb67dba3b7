"""The table of experiments, and what is recorded: logits, labels, numbers, and nothing of the data themselves."""

import json
import re

import numpy as np
import pandas as pd
import pytest

from reproduction.checkout import ROOT
from reproduction.engine.grids import read_notes
from reproduction.studies.shared.experiments import experiment_table, list_experiments, recorded_data

RESULTS = ROOT / "results"
LONGEST = 100  # characters of a text in a table: names, no sentence


@pytest.fixture(scope="module")
def found():
    return list_experiments({})


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
    after = {one.name: one.status for one in list_experiments({})}
    assert (
        after[name]
        == "recorded in part, 1 runs; compute used: 10 images in 2.0 hours of one run at a time, on an abacus"
    )
    assert {words for other, words in after.items() if other != name} == {"not run"}
    table = pd.DataFrame({"dataset": "svhn", "model": "mlp", "loss": "focal 3", "seed": [0, 0]})
    table.to_parquet(run.with_name("table.parquet"))  # of one run, not of all
    assert {one.name: one.status for one in list_experiments({})} == after
    assert recorded_data() == {name: "svhn"}


def test_no_image_and_no_text_is_recorded():
    for path in RESULTS.rglob("*.npz"):
        with np.load(path) as arrays:
            on_the_way = {name for name in arrays if re.fullmatch(r"test_logits_\d{4}", name)}
            ends = {f"{part}_{what}" for part in ("validation", "test") for what in ("logits", "labels")}
            assert set(arrays) - on_the_way == ends
            assert all(arrays[name].ndim == (1 if name.endswith("labels") else 2) for name in arrays)
    tables = list(RESULTS.rglob("*.parquet"))
    assert tables
    for path in tables:
        for name, column in pd.read_parquet(path).items():
            if not pd.api.types.is_numeric_dtype(column):
                assert column.astype(str).str.len().max() <= LONGEST, (path, name)
    kinds = {path.suffix for path in RESULTS.rglob("*") if path.is_file()}
    assert kinds <= {".npz", ".parquet", ".json", ".md"}
