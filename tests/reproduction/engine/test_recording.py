"""Copies of runs to keep: whole, of one version."""

import json
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from reproduction.engine.recording import copy_runs
from reproduction.engine.run import run, trained
from reproduction.engine.status import status
from reproduction.engine.store import Logits, RunDamaged, RunMissing, load, load_runs
from tests.reproduction.conftest import SMALL


def test_copies_keep_what_a_table_needs(record_runs, small, tmp_path):
    spec = small(keep_every=2)
    whole = run(spec, tmp_path)
    record_runs([spec], tmp_path / "kept", tmp_path)
    kept = load(spec, tmp_path / "kept")
    assert kept.train is None
    np.testing.assert_array_equal(kept.test.logits, whole.test.logits)
    np.testing.assert_array_equal(kept.test_by_epoch[2].logits, whole.test_by_epoch[2].logits)
    pd.testing.assert_frame_equal(kept.history, whole.history)
    names = sorted(p.name for p in (tmp_path / "kept" / spec.digest).iterdir())
    assert names == ["history.parquet", "logits.npz", "spec.json"]
    with pytest.raises(RunMissing, match=r"has no weights here. They are made by: focal run"):
        trained(spec, tmp_path / "kept")


def test_training_logits_of_no_more_samples_than_the_test_are_kept(finished, tmp_path):
    spec, folder, whole = finished
    few = Logits(*(values[: len(whole.test.labels)] for values in (whole.train.logits, whole.train.labels)))
    copy_runs([replace(whole, train=few)], tmp_path / "kept", folder.parent)
    np.testing.assert_array_equal(load(spec, tmp_path / "kept").train.logits, few.logits)


def test_a_copy_in_half_precision_loads_as_float32_and_is_a_copy_still(finished, record_runs, tmp_path):
    spec, folder, whole = finished
    copy_runs([whole], tmp_path / "kept", folder.parent, half=True)
    content = (tmp_path / "kept" / spec.digest / "logits.npz").read_bytes()
    kept = load(spec, tmp_path / "kept").test.logits
    assert kept.dtype == np.float32
    np.testing.assert_array_equal(kept, whole.test.logits.astype(np.float16))
    record_runs([spec], tmp_path / "kept", tmp_path)
    assert (tmp_path / "kept" / spec.digest / "logits.npz").read_bytes() == content
    assert status([spec], tmp_path / "kept")[0][1:] == ("done", "")


def test_the_record_of_a_copy_fits_its_files(finished, record_runs, tmp_path):
    spec, folder, _ = finished
    record_runs([spec], tmp_path / "kept", tmp_path)
    kept = tmp_path / "kept" / spec.digest
    record = json.loads((kept / "spec.json").read_text())
    assert {name: entry["bytes"] for name, entry in record["files"].items()} == {
        name: (kept / name).stat().st_size for name in ("history.parquet", "logits.npz")
    }
    of_run = json.loads((folder / "spec.json").read_text())
    assert {name for name in record if record[name] != of_run[name]} == {"checksum", "files"}


def test_a_copy_of_another_attempt_is_not_taken_for_this_one(finished, record_runs, change_record, tmp_path):
    spec = finished[0]
    record_runs([spec], tmp_path / "kept", tmp_path)
    change_record(tmp_path / "kept" / spec.digest, training_version=0)
    with pytest.raises(FileExistsError, match="must be a copy of this run, or nothing yet"):
        record_runs([spec], tmp_path / "kept", tmp_path)
    logits = tmp_path / "kept" / spec.digest / "logits.npz"
    logits.write_bytes(logits.read_bytes()[:-50])
    with pytest.raises(RunDamaged):
        record_runs([spec], tmp_path / "kept", tmp_path)


def test_who_finds_a_damaged_copy_is_not_told_to_train_among_the_copies(finished, record_runs, tmp_path):
    spec, _, _ = finished
    record_runs([spec], tmp_path / "kept", tmp_path)
    (tmp_path / "kept" / spec.digest / "logits.npz").write_bytes(b"PK")
    with pytest.raises(RunDamaged, match=r"It is a copy: move it away, and record the run again\.$"):
        record_runs([spec], tmp_path / "kept", tmp_path)
    (tmp_path / "one.yaml").write_text(
        "\n".join(f"{name}: {json.dumps(value)}" for name, value in {**SMALL, "gamma": 2}.items())
    )
    with pytest.raises(RunDamaged, match=r"It is a copy: move it away, and record the run again\.$"):
        load_runs(tmp_path / "one.yaml", tmp_path / "kept")
