"""Images of one's own as folders of files, or as Hugging Face's package saves them."""

import sys
from types import ModuleType

import numpy as np
import pytest
from PIL import Image

from reproduction.engine import data


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Two classes, two grey images of 6 x 9 pixels each, in train and test."""
    monkeypatch.setenv("FOCAL_DATA", str(tmp_path))
    for side in ("train", "test"):
        for value, name in ((10, "dog"), (20, "cat")):
            own = tmp_path / "pets" / side / name
            own.mkdir(parents=True)
            for number in range(2):
                Image.fromarray(np.full((9, 6), value + number, np.uint8)).save(own / f"{number}.png")
    return tmp_path / "pets"


def test_a_folder_a_class(folder):
    (folder / "train" / "cat" / ".DS_Store").write_text("")
    found = data.load("pets")
    assert found.train.inputs.shape == (4, 9, 6, 1)
    assert found.train.inputs[:, 0, 0, 0].tolist() == [20, 21, 10, 11]  # cat before dog
    assert found.test.labels.tolist() == [0, 0, 1, 1]
    for side in ("train", "test"):
        Image.new("RGB", (6, 9), (1, 2, 3)).save(folder / side / "dog" / "2.png")
    assert data.load("pets").train.inputs.shape == (5, 9, 6, 3)


def spoil_size(folder):
    Image.new("L", (6, 8)).save(folder / "train" / "dog" / "9.png")


def spoil_depth(folder):
    Image.fromarray(np.zeros((9, 6), np.uint16)).save(folder / "train" / "dog" / "9.png")


def spoil_file(folder):
    (folder / "test" / "dog" / "notes.txt").write_text("no image")


def spoil_class(folder):
    (folder / "test" / "bird").mkdir()


def spoil_test(folder):
    (folder / "test").rename(folder / "elsewhere")


def spoil_images(folder):
    for path in (folder / "train").rglob("*.png"):
        path.unlink()


@pytest.mark.parametrize(
    ("spoil", "told"),
    [
        (
            spoil_size,
            r"train/dog/9.png must be as large as .*cat/0.png, "
            r"\(height, width\) = \(9, 6\). Got \(8, 6\): resize them first",
        ),
        (spoil_depth, r"train/dog/9.png must have 8 bits a channel. Got Pillow's mode I"),
        (spoil_file, r"test/dog/notes.txt must be an image: provide it again. Got UnidentifiedImageError"),
        (spoil_class, r"pets/test must hold folders, one of cat, dog. Got bird, cat, dog"),
        (spoil_test, r"pets/test must hold folders, one of cat, dog. Got none"),
        (spoil_images, r"pets/train/cat must hold images of its class. Got none"),
    ],
)
def test_what_is_wrong_with_a_folder_is_told(folder, spoil, told):
    spoil(folder)
    with pytest.raises(ValueError, match=told):
        data.load("pets")


class Saved(list):
    """Rows as `datasets` gives them."""

    @property
    def column_names(self):
        return list(self[0]) if self else ["img", "label"]


def test_what_hugging_face_saved(tmp_path, monkeypatch):
    monkeypatch.setenv("FOCAL_DATA", str(tmp_path))
    (tmp_path / "saved").mkdir()
    (tmp_path / "saved" / "dataset_dict.json").write_text("{}")
    monkeypatch.setitem(sys.modules, "datasets", None)
    with pytest.raises(ValueError, match=r"saved was saved by Hugging Face's datasets: pip install datasets"):
        data.load("saved")
    rows = Saved({"img": Image.new("RGB", (4, 5), (n, 0, 0)), "label": n % 2} for n in range(4))
    module = ModuleType("datasets")
    module.load_from_disk = lambda path: {"train": rows, "test": rows}
    monkeypatch.setitem(sys.modules, "datasets", module)
    found = data.load("saved")
    assert found.train.inputs.shape == (4, 5, 4, 3)
    assert found.train.labels.tolist() == [0, 1, 0, 1]
    module.load_from_disk = lambda path: {"train": Saved(rows[:0]), "test": rows}
    with pytest.raises(ValueError, match=r"saved/train must hold images. Got none"):
        data.load("saved")
    module.load_from_disk = lambda path: {"train": rows}
    with pytest.raises(ValueError, match=r"must have splits train and test. Got no test"):
        data.load("saved")
    module.load_from_disk = lambda path: {"train": Saved([{"x": 1}]), "test": rows}
    with pytest.raises(ValueError, match=r"train must have a column image or img, .* Got x"):
        data.load("saved")
