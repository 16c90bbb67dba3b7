"""Fashion-MNIST from Debian's package dataset-fashion-mnist, installed or fetched without root."""

from __future__ import annotations

import gzip
import subprocess
import tempfile
import zlib
from pathlib import Path

import numpy as np

from reproduction.engine.data.dataset import Split

CLASSES = ("T-shirt", "trouser", "pullover", "dress", "coat", "sandal", "shirt", "sneaker", "bag", "ankle boot")

DEBIAN_FOLDER = Path("/usr/share/datasets/fashion-mnist")
FILES = {
    "train": ("train-images-idx3-ubyte.gz", "train-labels-idx1-ubyte.gz"),
    "test": ("t10k-images-idx3-ubyte.gz", "t10k-labels-idx1-ubyte.gz"),
}


def from_debian() -> tuple[Split, Split]:
    """Training and test split.

    Raises:
        RuntimeError: the package is not installed and cannot be fetched.
    """
    if DEBIAN_FOLDER.is_dir():
        return _read_folder(DEBIAN_FOLDER)
    with tempfile.TemporaryDirectory() as work:
        apt_download("dataset-fashion-mnist", Path(work))
        return _read_folder(Path(work) / DEBIAN_FOLDER.relative_to("/"))


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


def _read_folder(folder: Path) -> tuple[Split, Split]:
    found = {p.name: p for p in folder.rglob("*.gz")}
    train, test = (
        Split(read_idx(found[images]), read_idx(found[labels]).astype(np.int64)) for images, labels in FILES.values()
    )
    return train, test


def apt_download(package: str, work: Path) -> None:
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
