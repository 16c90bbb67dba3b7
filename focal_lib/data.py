"""Image data sets, looked for in three places; nothing is ever unpickled.

1. `FOCAL_DATA`, a folder with <name>/train.npz and <name>/test.npz
   (`images` uint8 (n, H, W) or (n, H, W, C), `labels` int64 (n,));
2. for Fashion-MNIST, Debian's package dataset-fashion-mnist, installed or fetched without root;
3. torchvision's own download.

What is fetched is kept under `FOCAL_CACHE` (default: the user's cache folder).

    python -m focal_lib.data fashion-mnist     # fetch it, or say why not
"""

from __future__ import annotations

import gzip
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import platformdirs

from focal_lib.validation import check_labels

__all__ = ["Dataset", "Split", "load", "read_idx", "split"]

DEBIAN_FOLDER = Path("/usr/share/datasets/fashion-mnist")
_IDX_FILES = {
    "train": ("train-images-idx3-ubyte.gz", "train-labels-idx1-ubyte.gz"),
    "test": ("t10k-images-idx3-ubyte.gz", "t10k-labels-idx1-ubyte.gz"),
}
_TORCHVISION = {"fashion-mnist": "FashionMNIST", "cifar10": "CIFAR10", "cifar100": "CIFAR100"}
_CLASSES = {"fashion-mnist": 10, "cifar10": 10, "cifar100": 100}


@dataclass(frozen=True)
class Split:
    """Images uint8 (n, H, W, C) with labels int64 (n,)."""

    images: np.ndarray
    labels: np.ndarray

    def __len__(self) -> int:
        return len(self.labels)

    def take(self, index: np.ndarray) -> Split:
        return Split(self.images[index], self.labels[index])


@dataclass(frozen=True)
class Dataset:
    """A data set with its published train and test split."""

    name: str
    classes: int
    train: Split
    test: Split


def load(name: str) -> Dataset:
    """The data set of that name.

    Raises:
        ValueError: an unknown name, or files with the wrong content.
        FileNotFoundError: it is nowhere to be had; the message names the ways to provide it.
    """
    root = os.environ.get("FOCAL_DATA")
    own = Path(root, name) if root else None
    if own is not None and (own / "train.npz").is_file() and (own / "test.npz").is_file():
        return _checked(name, _read_npz(own / "train.npz"), _read_npz(own / "test.npz"))
    if name not in _CLASSES:
        raise ValueError(f"dataset must be one of {', '.join(_CLASSES)}, or a folder in FOCAL_DATA. Got {name!r}.")
    cached = _cache() / name
    if not cached.is_dir():
        _fetch(name, cached)
    return _checked(name, _read_npz(cached / "train.npz"), _read_npz(cached / "test.npz"))


def split(data: Dataset, n_train: int, n_validation: int, seed: int) -> tuple[Split, Split, Split]:
    """Random train subset and validation set from the published training split, and the test set.

    The validation set does not depend on n_train.

    Raises:
        ValueError: more images asked for than there are.
    """
    if n_train < 1 or n_validation < 1 or n_train + n_validation > len(data.train):
        raise ValueError(
            f"n_train + n_validation must be at most {len(data.train)}, each at least 1. "
            f"Got {n_train} + {n_validation}."
        )
    order = np.random.default_rng(seed).permutation(len(data.train))
    validation, rest = order[:n_validation], order[n_validation:]
    return data.train.take(rest[:n_train]), data.train.take(validation), data.test


def read_idx(path: Path) -> np.ndarray:
    """A gzipped IDX file of unsigned bytes (the MNIST format).

    Raises:
        ValueError: another format, or a file shorter than its header says.
    """
    raw = gzip.decompress(path.read_bytes())
    if len(raw) < 4 or raw[:3] != b"\x00\x00\x08":
        raise ValueError(f"{path.name} must be an IDX file of unsigned bytes. Got a header {raw[:4]!r}.")
    dims = raw[3]
    shape = tuple(np.frombuffer(raw, ">u4", count=dims, offset=4).tolist())
    body = np.frombuffer(raw, np.uint8, offset=4 + 4 * dims)
    if body.size != np.prod(shape):
        raise ValueError(f"{path.name} must hold {shape} bytes. Got {body.size}.")
    return body.reshape(shape)


def _read_npz(path: Path) -> Split:
    with np.load(path, allow_pickle=False) as file:
        if missing := {"images", "labels"} - set(file.files):
            raise ValueError(f"{path} must hold images and labels. Got no {', '.join(sorted(missing))}.")
        return Split(file["images"], file["labels"])


def _checked(name: str, train: Split, test: Split) -> Dataset:
    classes = _CLASSES.get(name, int(train.labels.max()) + 1)
    splits = []
    for part, side in ((train, "train"), (test, "test")):
        images = part.images[..., None] if part.images.ndim == 3 else part.images
        if images.dtype != np.uint8 or images.ndim != 4:
            raise ValueError(
                f"{name} {side} images must be uint8 of shape (n, H, W) or (n, H, W, C). "
                f"Got {part.images.dtype} {part.images.shape}."
            )
        check_labels(part.labels, len(images), classes, name=f"{name} {side} labels")
        splits.append(Split(images, part.labels.astype(np.int64)))
    return Dataset(name, classes, *splits)


def _cache() -> Path:
    return Path(os.environ.get("FOCAL_CACHE") or platformdirs.user_cache_dir("focal-lib"))


def _fetch(name: str, target: Path) -> None:
    """Fill target with train.npz and test.npz by the first way that works, all or nothing."""
    ways: list[tuple[str, Callable[[str], tuple[Split, Split]]]] = []
    if name == "fashion-mnist":
        ways.append(("Debian's package dataset-fashion-mnist", _from_debian))
    ways.append(("torchvision's download", _from_torchvision))
    reasons = []
    for label, way in ways:
        try:
            parts = way(name)
        except Exception as error:
            last = str(error).strip().splitlines()
            reasons.append(f"{label}: {last[-1] if last else type(error).__name__}")
            continue
        target.parent.mkdir(parents=True, exist_ok=True)
        part = Path(tempfile.mkdtemp(prefix=f".{name}-", dir=target.parent))
        for side, content in zip(("train", "test"), parts, strict=True):
            np.savez_compressed(part / f"{side}.npz", images=content.images, labels=content.labels)
        try:
            part.rename(target)
        except OSError:  # another process was faster
            shutil.rmtree(part)
        return
    raise FileNotFoundError(
        f"{name} was not found. Provide it in one of three ways: (1) set FOCAL_DATA to a folder with "
        f"{name}/train.npz and {name}/test.npz; (2) install Debian's package dataset-fashion-mnist "
        "(Fashion-MNIST only); (3) let torchvision download it. Tried: " + "; ".join(reasons)
    )


def _from_debian(name: str) -> tuple[Split, Split]:
    if DEBIAN_FOLDER.is_dir():
        return _read_idx_folder(DEBIAN_FOLDER)
    with tempfile.TemporaryDirectory() as work:
        _apt_download("dataset-fashion-mnist", Path(work))
        return _read_idx_folder(Path(work) / DEBIAN_FOLDER.relative_to("/"))


def _apt_download(package: str, work: Path) -> None:
    """Unpack a Debian package into work. Package lists of its own, so root is not needed."""
    state = work / "apt"
    (state / "lists/partial").mkdir(parents=True)
    own_lists = [f"-oDir::State::Lists={state / 'lists'}", f"-oDir::Cache={state}", "-oAPT::Sandbox::User="]
    run = {"cwd": work, "check": True, "capture_output": True, "text": True, "timeout": 600}
    try:
        try:
            subprocess.run(["apt-get", "-q", "download", package], **run)  # type: ignore[call-overload]
        except subprocess.CalledProcessError:  # no or old lists
            subprocess.run(["apt-get", "-q", *own_lists, "update"], **run)  # type: ignore[call-overload]
            subprocess.run(["apt-get", "-q", *own_lists, "download", package], **run)  # type: ignore[call-overload]
        (file,) = work.glob(f"{package}_*.deb")
        subprocess.run(["dpkg", "-x", file.name, "."], **run)  # type: ignore[call-overload]
    except subprocess.CalledProcessError as error:
        raise RuntimeError(error.stderr or str(error)) from None


def _read_idx_folder(folder: Path) -> tuple[Split, Split]:
    found = {p.name: p for p in folder.rglob("*.gz")}
    train, test = (
        Split(read_idx(found[images]), read_idx(found[labels]).astype(np.int64))
        for images, labels in _IDX_FILES.values()
    )
    return train, test


def _from_torchvision(name: str) -> tuple[Split, Split]:
    import torchvision  # slow to import

    dataset = getattr(torchvision.datasets, _TORCHVISION[name])
    with tempfile.TemporaryDirectory() as work:
        sides = [dataset(work, train=train, download=True) for train in (True, False)]
        train, test = (Split(np.asarray(s.data), np.asarray(s.targets, dtype=np.int64)) for s in sides)
    return train, test


if __name__ == "__main__":
    try:
        for wanted in sys.argv[1:] or ["fashion-mnist"]:
            found = load(wanted)
            print(f"{wanted}: {len(found.train):,} training and {len(found.test):,} test images")
    except (FileNotFoundError, ValueError) as problem:
        sys.exit(str(problem))
