"""SVHN and Tiny-ImageNet from small files in their published formats."""

import numpy as np
import pytest
from PIL import Image
from scipy.io import savemat

from reproduction.engine import data
from reproduction.engine.data import images

RNG = np.random.default_rng(0)


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
