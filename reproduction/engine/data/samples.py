"""Samples such as a data set has, without its files: to time a step on, or to count the weights of a network for it."""

from __future__ import annotations

import numpy as np

from reproduction.engine.data.dataset import Dataset, Split
from reproduction.engine.data.images import find_image_set
from reproduction.engine.data.text import TEXT_SETS
from reproduction.engine.data.tokens import WORDS
from reproduction.engine.data.trees import balanced_tree, encode_trees

_LEAVES = 19  # of a sentence of SST on the average (Socher et al. 2013)


def random_samples(name: str, n: int) -> Dataset | None:
    """n random samples to train on, of the shape that a published data set has; None of another."""
    rng = np.random.default_rng(0)
    if (images := find_image_set(name)) is not None:
        channels, side = images.shape
        pixels = rng.integers(256, size=(n, side, side, channels), dtype=np.uint8)
        part = Split(pixels, rng.integers(images.classes, size=n))
        return Dataset(name, images.classes, part, part)
    if (texts := TEXT_SETS.get(name)) is None:
        return None
    words, classes = tuple(map(str, range(WORDS))), texts.classes or 10
    drawn = rng.integers(1, WORDS, (n, texts.length or _LEAVES), dtype=np.int32)
    if texts.kind == "trees":
        drawn = encode_trees([balanced_tree([words[i] for i in row]) for row in drawn], words)
    part = Split(drawn, rng.integers(classes, size=n))
    return Dataset(name, classes, part, part, kind=texts.kind, vocabulary=words)
