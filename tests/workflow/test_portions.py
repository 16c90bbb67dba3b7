"""Images that travel in portions come back bit for bit, or it is said what is wrong."""

import shutil

import numpy as np
import pytest
from click.testing import CliRunner

from reproduction.engine import data
from workflow import portions
from workflow.portions import main, pack_images, unpack_images


@pytest.fixture
def colours(tmp_path, monkeypatch, write_npz):
    """2,600 colour images to train on: a full picture, and one with a hundred."""
    write_npz(tmp_path / "from" / "colours", n_train=2600, n_test=30, shape=(8, 8, 3))
    monkeypatch.setenv("FOCAL_DATA", str(tmp_path / "from"))
    return tmp_path


def assert_same_images(given, found):
    for one, two in ((given.train, found.train), (given.test, found.test)):
        np.testing.assert_array_equal(one.inputs, two.inputs)
        np.testing.assert_array_equal(one.labels, two.labels)


def test_what_is_packed_is_unpacked(colours, monkeypatch):
    given = data.load("colours")
    run = CliRunner().invoke(main, ["pack", "colours", "--out", str(colours / "all")], catch_exceptions=False)
    assert run.output.startswith("colours: 6 files")
    run = CliRunner().invoke(main, ["unpack", str(colours / "all"), "--data", str(colours / "to")])
    assert run.output == f"colours: whole -> {colours / 'to' / 'colours'}\n"
    monkeypatch.setenv("FOCAL_DATA", str(colours / "to"))
    assert_same_images(given, data.load("colours"))


def test_more_than_a_hundred_pictures_keep_their_labels(tmp_path, monkeypatch, write_npz):
    """Names of three digits come before others when sorted as text."""
    write_npz(tmp_path / "from" / "many", n_train=102, n_test=30, shape=(8, 8, 3))
    monkeypatch.setenv("FOCAL_DATA", str(tmp_path / "from"))
    monkeypatch.setattr(portions, "COLUMNS", 1)
    monkeypatch.setattr(portions, "TILE", 1)
    given = data.load("many")
    assert (tmp_path / "all" / "many" / "train-101.webp") in pack_images("many", tmp_path / "all")
    unpack_images(tmp_path / "all", tmp_path / "to")
    monkeypatch.setenv("FOCAL_DATA", str(tmp_path / "to"))
    assert_same_images(given, data.load("many"))


def test_a_portion_of_what_is_whole_changes_nothing(colours):
    _, *others = pack_images("colours", colours / "all")
    unpack_images(colours / "all", colours / "to")
    again = colours / "again" / "colours"
    again.mkdir(parents=True)
    shutil.copy(others[0], again)
    for portion in (colours / "again", colours / "all"):
        assert unpack_images(portion, colours / "to") == {"colours": []}
        assert [path.name for path in (colours / "to").iterdir()] == ["colours"]


def test_a_portion_of_other_images_of_that_name_is_taken(colours, monkeypatch, write_npz):
    pack_images("colours", colours / "all")
    unpack_images(colours / "all", colours / "to")
    write_npz(colours / "other" / "colours", n_train=40, n_test=30, shape=(8, 8, 3))
    monkeypatch.setenv("FOCAL_DATA", str(colours / "other"))
    given = data.load("colours")
    contents, *_ = pack_images("colours", colours / "new")
    contents.rename(colours / "contents.json")
    assert unpack_images(colours / "new", colours / "to") == {"colours": ["contents.json"]}
    (colours / "last" / "colours").mkdir(parents=True)
    (colours / "contents.json").rename(colours / "last" / "colours" / "contents.json")
    assert unpack_images(colours / "last", colours / "to") == {"colours": []}
    monkeypatch.setenv("FOCAL_DATA", str(colours / "to"))
    assert_same_images(given, data.load("colours"))


def test_arrays_that_came_in_no_portion_are_not_written_over(colours, write_npz):
    CliRunner().invoke(main, ["pack", "colours", "--out", str(colours / "all")], catch_exceptions=False)
    write_npz(colours / "to" / "colours", n_train=5, n_test=5, shape=(8, 8, 3))
    before = (colours / "to" / "colours" / "train.npz").read_bytes()
    run = CliRunner().invoke(main, ["unpack", str(colours / "all"), "--data", str(colours / "to")])
    assert run.exit_code == 1
    assert "must have come in portions, or not be there. Got train.npz and test.npz of another source" in run.output
    assert (colours / "to" / "colours" / "train.npz").read_bytes() == before
    run = CliRunner().invoke(main, ["unpack", str(colours / "all" / "colours"), "--data", str(colours / "new")])
    assert run.exit_code == 1
    assert "a portion must hold a folder for each data set. Got none" in run.output


def test_the_last_portion_completes_it(colours):
    first, *others = pack_images("colours", colours / "all")
    parts = []
    for number, files in enumerate((others[:2], [first, *others[2:4]], others[4:])):
        parts.append(colours / f"portion-{number}")
        (parts[-1] / "colours").mkdir(parents=True)
        for path in files:
            shutil.copy(path, parts[-1] / "colours")
    missing = [unpack_images(portion, colours / "to")["colours"] for portion in parts]
    assert missing == [["contents.json"], [path.name for path in others[4:]], []]
    assert sorted(path.name for path in (colours / "to").iterdir()) == ["colours"]


def test_a_damaged_file_is_named(colours):
    path = pack_images("colours", colours / "all")[-1]
    path.write_bytes(path.read_bytes()[:-5] + b"12345")
    with pytest.raises(ValueError, match=rf"{path.name} must match its checksum. It does not: bring it again"):
        unpack_images(colours / "all", colours / "to")


def test_grey_images_are_refused(tmp_path, monkeypatch, write_npz):
    write_npz(tmp_path / "grey", n_train=30, n_test=30)
    monkeypatch.setenv("FOCAL_DATA", str(tmp_path))
    with pytest.raises(ValueError, match=r"grey must hold colour images \(n, H, W, 3\). Got \(30, "):
        pack_images("grey", tmp_path / "out")
