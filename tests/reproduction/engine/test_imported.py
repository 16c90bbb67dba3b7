"""Logits that were trained elsewhere, as runs of a folder."""

import json

import numpy as np
import pytest
from click.testing import CliRunner

from reproduction.cli.import_logits import import_logits
from reproduction.engine.imported import Imported, load_imported, parse_told
from reproduction.engine.store import RunDamaged

TOLD = "dataset=fashion-mnist model=mine loss=focal gamma=3 seed=0"


@pytest.fixture
def logits(small_data, tmp_path):
    """Writes logits of the small data set, the test labels its own; arrays can be replaced."""
    labels = np.load(tmp_path / "data" / "fashion-mnist" / "test.npz")["labels"]

    def write(name="logits.npz", seed=0, **arrays):
        rng = np.random.default_rng(seed)
        given = {"validation_logits": rng.normal(size=(20, 10)), "validation_labels": np.arange(20) % 10}
        given |= {"test_logits": rng.normal(size=(30, 10)), "test_labels": labels}
        np.savez(tmp_path / name, **given | arrays)
        return tmp_path / name

    return write


@pytest.fixture
def imported(tmp_path):
    def call(path, told=TOLD, *more):
        given = [str(path), "--as", told, "--root", str(tmp_path / "mine"), *more]
        result = CliRunner().invoke(import_logits, given)
        return result.exit_code, result.output

    return call


def test_logits_become_a_run(logits, imported, tmp_path):
    path = logits()
    code, output = imported(path, f'{TOLD} n_train=45000 recipe="my own" epochs=16')
    assert (code, output.count("\n")) == (0, 1), output
    assert output.endswith("not told: precision, threads\n")
    (folder,) = (tmp_path / "mine").iterdir()
    record = json.loads((folder / "spec.json").read_text())
    told, validation, test = load_imported(folder, record)
    assert (told.label, told.recipe, told.epochs, told.threads) == ("focal 3", "my own", 16, None)
    assert (record["source"], folder.name) == ("logits.npz", told.digest)
    with np.load(path) as given:
        for part, name in ((validation, "validation"), (test, "test")):
            np.testing.assert_array_equal(part.logits, given[f"{name}_logits"].astype(np.float32))
            np.testing.assert_array_equal(part.labels, given[f"{name}_labels"])


def test_the_same_logits_again_change_what_is_told(logits, imported, tmp_path):
    imported(logits())
    assert imported(logits(), f"{TOLD} epochs=4")[0] == 0
    (folder,) = (tmp_path / "mine").iterdir()
    assert load_imported(folder, json.loads((folder / "spec.json").read_text()))[0].epochs == 4


def test_one_seed_is_not_two(logits, imported):
    """Copies have no spread, and what has none is significant."""
    imported(logits())
    code, output = imported(logits(), TOLD.replace("seed=0", "seed=1"))
    assert code == 1
    assert "Got these logits as those of" in output
    code, output = imported(logits(seed=1))
    assert code == 1
    assert "Got other logits of it" in output


@pytest.mark.parametrize(
    ("told", "message"),
    [
        ("dataset=cifar10 loss=brier seed=0", "must tell dataset, model, loss and seed. Got no model."),
        (f"{TOLD} gama=2", "names in --as must be among dataset, model, loss"),
        (f"{TOLD} gamma=2", "Got gamma twice: 3 and 2"),
        (f"{TOLD} 16 epochs", "--as must be NAME=VALUE, with spaces between. Got '16'."),
        (f"{TOLD} epochs=1.5", "epochs must be a whole number >= 1. Got 1.5."),
        (f"{TOLD} recipe=3", "recipe must be a name. Got 3."),
        (TOLD.replace(" gamma=3", ""), "focal needs gamma: 0 is cross-entropy. Got none."),
        (TOLD.replace("focal", "flsd-53"), "flsd-53 has no gamma: leave it out. Got 3."),
        (TOLD + ' "', "No closing quotation"),
    ],
)
def test_what_is_told_is_checked(logits, imported, tmp_path, told, message):
    code, output = imported(logits(), told)
    assert code == 1
    assert message in output
    assert not (tmp_path / "mine").exists()


def test_a_loss_of_ones_own_has_its_name_and_numbers():
    assert parse_told(TOLD.replace("focal", "'poly loss'")).label == "poly loss 3"
    assert parse_told(TOLD.replace("=3", "=0")).label == "cross-entropy"


OTHERS = {
    "rows": ({"test_logits": np.zeros((29, 10)), "test_labels": np.arange(29) % 10}, "must have 30 rows"),
    "labels": ({"test_labels": np.zeros(30, int)}, "must be those of fashion-mnist, in its order. Got 2"),
    "classes": ({"test_logits": np.eye(30, 12), "validation_logits": np.eye(20, 12)}, "have 10 classes. Got 12"),
    "apart": ({"test_logits": np.zeros((30, 11))}, "Got"),
    "not finite": ({"test_logits": np.full((30, 10), np.nan)}, "finite"),
    "infinite": ({"validation_logits": np.full((20, 10), np.inf)}, "finite"),
}


@pytest.mark.parametrize("case", OTHERS)
def test_other_logits_than_of_the_test_set_are_refused(logits, imported, tmp_path, case):
    arrays, message = OTHERS[case]
    code, output = imported(logits(**arrays))
    assert code == 1
    assert message in output
    assert not (tmp_path / "mine").exists()


def test_another_order_is_named(logits, imported, tmp_path):
    labels = np.load(tmp_path / "data" / "fashion-mnist" / "test.npz")["labels"]
    assert "Got the same in another order." in imported(logits(test_labels=labels[::-1]))[1]


def test_rows_are_known_without_the_data(logits, imported, tmp_path, monkeypatch):
    monkeypatch.setenv("FOCAL_DATA", str(tmp_path))
    monkeypatch.setenv("FOCAL_CACHE", str(tmp_path / "empty"))
    assert "test logits of fashion-mnist must have 10,000 rows" in imported(logits())[1]
    whole = {"test_logits": np.zeros((10_000, 10)), "test_labels": np.arange(10_000) % 10}
    code, output = imported(logits(**whole))
    assert code == 0, output
    assert "Test labels were not compared with those of fashion-mnist: it is not in FOCAL_DATA." in output


def test_one_set_is_refused(imported, tmp_path):
    np.savez(tmp_path / "one.npz", logits=np.zeros((30, 10)), labels=np.arange(30) % 10)
    assert "must be of two sets, validation and test. Got one." in imported(tmp_path / "one.npz")[1]


def test_damage_is_noticed(logits, imported, tmp_path):
    imported(logits())
    (folder,) = (tmp_path / "mine").iterdir()
    record = json.loads((folder / "spec.json").read_text())
    np.savez(folder / "logits.npz", test_logits=np.zeros((30, 10)))
    with pytest.raises(RunDamaged, match="must match its checksum"):
        load_imported(folder, record)
    with pytest.raises(RunDamaged, match=r"as `focal import` wrote it\. Got seed must be a whole number"):
        load_imported(folder, record | {"imported": {**record["imported"], "seed": -1}})
    assert Imported(**record["imported"]).digest == folder.name
