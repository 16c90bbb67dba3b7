"""Loaders, on small files in the real formats; no network."""

import gzip
import io
import subprocess

import numpy as np
import pytest

from reproduction.engine import data
from reproduction.engine.data import images


@pytest.fixture(autouse=True)
def nowhere(tmp_path, monkeypatch):
    """No data set anywhere, unless a test puts one there."""
    monkeypatch.setenv("FOCAL_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("FOCAL_DATA", raising=False)
    monkeypatch.setattr(images, "DEBIAN_FOLDER", tmp_path / "no-debian")
    monkeypatch.setattr(images, "apt_download", _refuse)
    monkeypatch.setattr(images, "_torchvision", _refuse)


def _refuse(*_):
    raise RuntimeError("not here")


def write_idx(path, array):
    header = b"\x00\x00\x08" + bytes([array.ndim]) + b"".join(int(d).to_bytes(4, "big") for d in array.shape)
    path.write_bytes(gzip.compress(header + array.tobytes()))


def test_own_files_come_first(write_npz, tmp_path, monkeypatch):
    write_npz(tmp_path / "root" / "fashion-mnist")
    monkeypatch.setenv("FOCAL_DATA", str(tmp_path / "root"))
    found = data.load("fashion-mnist")
    assert found.train.inputs.shape == (20, 28, 28, 1)
    assert found.train.labels.dtype == np.int64
    assert found.classes == 10
    write_npz(tmp_path / "root" / "mine", n_train=200, shape=(8, 16, 3))  # any name
    assert data.load("mine").train.inputs.shape == (200, 8, 16, 3)


def test_debian_files_are_read_and_cached(tmp_path, monkeypatch):
    folder = tmp_path / "debian"
    folder.mkdir()
    rng = np.random.default_rng(0)
    for (pictures, labels), n in zip(images.IDX_FILES, (12, 6), strict=True):
        write_idx(folder / pictures, rng.integers(0, 256, (n, 28, 28), dtype=np.uint8))
        write_idx(folder / labels, rng.integers(0, 10, n, dtype=np.uint8))
    monkeypatch.setattr(images, "DEBIAN_FOLDER", folder)
    first = data.load("fashion-mnist")
    monkeypatch.setattr(images, "DEBIAN_FOLDER", tmp_path / "gone")
    second = data.load("fashion-mnist")
    np.testing.assert_array_equal(first.train.inputs, second.train.inputs)
    assert len(second.test) == 6


def test_what_cannot_be_had_says_how_it_could():
    with pytest.raises(FileNotFoundError, match=r"FOCAL_DATA.*dataset-fashion-mnist.*torchvision.*not here"):
        data.load("fashion-mnist")
    with pytest.raises(ValueError, match=r"dataset must be one of fashion-mnist.*Got 'mnst'"):
        data.load("mnst")


def test_apt_failure_is_a_reason_not_a_crash(monkeypatch, tmp_path):
    monkeypatch.undo()

    def fail(command, **_):
        raise subprocess.CalledProcessError(100, command, stderr="E: Unable to locate package")

    monkeypatch.setattr(images.subprocess, "run", fail)
    with pytest.raises(RuntimeError, match="Unable to locate"):
        images.apt_download("dataset-fashion-mnist", tmp_path)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (gzip.compress(b"\x00\x00\x0d\x01"), "must be an IDX file"),
        (gzip.compress(b"\x00\x00\x08\x01\x00\x00\x00\x05abc"), r"must hold \(5,\) bytes. Got 3"),
        (gzip.compress(b"abc" * 99, mtime=0)[:-9], r"x.gz must be a whole gzip file. Got "),
        (gzip.compress(b"abc" * 99, mtime=0)[:-8] + 8 * b"x", r"x.gz must be a whole gzip file. Got "),
        (b"no gzip", r"x.gz must be a whole gzip file. Got "),
    ],
    ids=["no IDX", "cut", "no end", "another checksum", "no gzip"],
)
def test_damaged_idx(tmp_path, content, message):
    (tmp_path / "x.gz").write_bytes(content)
    with pytest.raises(ValueError, match=message):
        images.read_idx(tmp_path / "x.gz")


def test_wrong_content(write_npz, tmp_path, monkeypatch):
    monkeypatch.setenv("FOCAL_DATA", str(tmp_path))
    write_npz(tmp_path / "fashion-mnist", labels=11)
    with pytest.raises(ValueError, match=r"train.npz labels must lie in 0 ... 9"):
        data.load("fashion-mnist")
    np.savez(tmp_path / "fashion-mnist" / "train.npz", images=np.zeros((2, 28, 28)), labels=np.zeros(2, int))
    with pytest.raises(ValueError, match="images must be uint8"):
        data.load("fashion-mnist")
    np.savez(tmp_path / "fashion-mnist" / "train.npz", labels=np.zeros(2, int))
    with pytest.raises(ValueError, match=r"must hold images and labels. Got no images"):
        data.load("fashion-mnist")


def cut(content):
    return content[: len(content) // 2]


def flip(content):
    damaged = bytearray(content)
    damaged[len(content) // 2] ^= 255
    return bytes(damaged)


def of_objects(content):
    """As np.savez makes it of a list of images of two sizes."""
    written = io.BytesIO()
    np.savez(written, images=np.array([np.zeros(2), np.zeros(3)], dtype=object), labels=np.arange(2))
    return written.getvalue()


@pytest.mark.parametrize("damage", [cut, flip, lambda content: b"", lambda content: b"no npz", of_objects])
@pytest.mark.parametrize(
    ("root", "cure"), [("own", "provide it again"), ("cache", r"move .* away, and it is fetched anew")]
)
def test_a_damaged_file_is_named_with_the_cure(write_npz, tmp_path, monkeypatch, damage, root, cure):
    folder = tmp_path / root / "fashion-mnist"
    write_npz(folder)
    if root == "own":
        monkeypatch.setenv("FOCAL_DATA", str(tmp_path / root))
    path = folder / "train.npz"
    path.write_bytes(damage(path.read_bytes()))
    with pytest.raises(
        ValueError, match=rf"{path} must be a whole npz file of numbers, its images all of one size: {cure}. Got \w+: "
    ):
        data.load("fashion-mnist")


@pytest.mark.parametrize("error", [MemoryError, PermissionError])
def test_what_is_no_damage_is_not_called_so(write_npz, tmp_path, monkeypatch, error):
    write_npz(tmp_path / "fashion-mnist")
    monkeypatch.setenv("FOCAL_DATA", str(tmp_path))

    def refuse(*args, **options):
        raise error("planted")

    monkeypatch.setattr(np, "load", refuse)
    with pytest.raises(error, match=r"^planted$"):
        data.load("fashion-mnist")


def test_nothing_is_unpickled(write_npz, tmp_path, monkeypatch):
    monkeypatch.setenv("FOCAL_DATA", str(tmp_path))
    write_npz(tmp_path / "fashion-mnist")
    np.savez(tmp_path / "fashion-mnist" / "train.npz", images=np.array([{}], dtype=object), labels=np.zeros(1, int))
    with pytest.raises(ValueError, match="allow_pickle=False"):
        data.load("fashion-mnist")


def test_splits(write_npz, tmp_path, monkeypatch):
    write_npz(tmp_path / "fashion-mnist", n_train=50)
    monkeypatch.setenv("FOCAL_DATA", str(tmp_path))
    found = data.load("fashion-mnist")
    train, validation, test = data.split(found, 30, 15, seed=1)
    assert (len(train), len(validation), len(test)) == (30, 15, 10)
    smaller, same, _ = data.split(found, 10, 15, seed=1)
    np.testing.assert_array_equal(validation.inputs, same.inputs)
    np.testing.assert_array_equal(smaller.inputs, train.inputs[:10])
    with pytest.raises(ValueError, match=r"at most 50, each at least 1. Got 40 \+ 15"):
        data.split(found, 40, 15, seed=1)


def test_a_folder_of_ones_own_is_whole(write_npz, tmp_path, monkeypatch):
    """Else other data of that name would be taken without a word."""
    monkeypatch.setenv("FOCAL_DATA", str(tmp_path))
    for name in ("mine", "fashion-mnist"):
        write_npz(tmp_path / name)
        (tmp_path / name / "test.npz").unlink()
        with pytest.raises(ValueError, match=rf"{name} must hold train.npz and test.npz.* Got no test.npz"):
            data.load(name)
        (tmp_path / name / "train.npz").unlink()
        with pytest.raises(ValueError, match=r"Got no train.npz, no test.npz"):
            data.load(name)


def test_the_folder_of_data_is_one(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    for wrong in (tmp_path / "none", tmp_path / "file"):
        monkeypatch.setenv("FOCAL_DATA", str(wrong))
        with pytest.raises(NotADirectoryError, match=r"FOCAL_DATA must be a folder. Got '.*', which is none"):
            data.load("fashion-mnist")


def test_images_of_two_shapes_or_of_one_class_are_refused(write_npz, tmp_path, monkeypatch):
    monkeypatch.setenv("FOCAL_DATA", str(tmp_path))
    folder = tmp_path / "mine"
    write_npz(folder, n_train=200, shape=(8, 8, 3))
    part = dict(np.load(folder / "test.npz"))
    np.savez(folder / "test.npz", images=part["images"][:, :3, :3], labels=part["labels"])
    with pytest.raises(ValueError, match=r"mine must hold .* of one shape. Got \(8, 8, 3\) and \(3, 3, 3\)"):
        data.load("mine")
    for name in ("train.npz", "test.npz"):
        np.savez(folder / name, images=part["images"], labels=0 * part["labels"])
    with pytest.raises(ValueError, match=r"train.npz must have labels of two classes or more"):
        data.load("mine")


IMAGES, LABELS = np.zeros((6, 8, 8, 3), np.uint8), np.arange(6) % 3


@pytest.mark.parametrize(
    ("pictures", "labels", "told"),
    [
        (IMAGES.transpose(0, 3, 1, 2), LABELS, r"Got uint8 \(6, 3, 8, 8\). Channels first, .*transpose\(0, 2, 3, 1\)"),
        (IMAGES / 255, LABELS, r"Got float64 \(6, 8, 8, 3\). Of values in \[0, 1\]: \(255 \* images\)"),
        (IMAGES, np.array(list("abcabc")), r"labels must be integers. Got dtype <U1: give their numbers, np.unique"),
        (IMAGES, 2 * LABELS, r"labels must be 0 ... K - 1, none left out: .* Got 3 different ones from 0 to 4"),
        (IMAGES, LABELS + 1, r"labels must be 0 ... K - 1, none left out: .* Got 3 different ones from 1 to 3"),
        (IMAGES, LABELS - 1, r"labels must lie in 0 ... .* Got values from -1 to 1"),
        (IMAGES, LABELS[:, None], r"labels must have shape \(n,\) = \(6,\). Got \(6, 1\)"),
    ],
)
def test_arrays_of_another_kind_are_refused_with_their_file(tmp_path, monkeypatch, pictures, labels, told):
    monkeypatch.setenv("FOCAL_DATA", str(tmp_path))
    (tmp_path / "mine").mkdir()
    for side in ("train", "test"):
        np.savez(tmp_path / "mine" / f"{side}.npz", images=pictures, labels=labels)
    with pytest.raises(ValueError, match=rf"{tmp_path}/mine/train.npz .*{told}"):
        data.load("mine")


def test_published_files_are_whole_too(tmp_path, monkeypatch):
    monkeypatch.setenv("FOCAL_DATA", str(tmp_path))
    (tmp_path / "svhn").mkdir()
    (tmp_path / "svhn" / "train_32x32.mat").write_bytes(b"")
    told = r"must hold train.npz and test.npz or train_32x32.mat and test_32x32.mat. Got no train.npz, no test.npz"
    with pytest.raises(ValueError, match=told):
        data.load("svhn")
    (tmp_path / "tiny-imagenet").mkdir()  # its published folder has another name
    with pytest.raises(ValueError, match=r"tiny-imagenet must hold train.npz and test.npz. Got"):
        data.load("tiny-imagenet")
