"""Texts as numbers: words, a vocabulary, tokens."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence

import numpy as np

from reproduction.engine.data.dataset import Dataset, Split

UNKNOWN = 1  # 0 is padding
WORDS = 30_000  # of a vocabulary, at most


def tokenise(text: str) -> list[str]:
    """Words and single punctuation marks, in lower case: "It's fine." -> it's, fine, ."""
    return re.findall(r"\w+(?:'\w+)*|[^\w\s]", text.lower())


def vocabulary(texts: Iterable[Sequence[str]], size: int = WORDS) -> tuple[str, ...]:
    """Padding, unknown, then the most frequent words, ties in alphabetic order."""
    counts = Counter(word for text in texts for word in text)
    return ("", "<unknown>", *sorted(counts, key=lambda word: (-counts[word], word))[: size - 2])


def encode(texts: Sequence[Sequence[str]], words: Sequence[str], length: int) -> np.ndarray:
    """Tokens int32 (n, length): the first `length` of each text, 0 after its end."""
    number = {word: i for i, word in enumerate(words)}
    tokens = np.zeros((len(texts), length), dtype=np.int32)
    for row, text in zip(tokens, texts, strict=True):
        kept = [number.get(word, UNKNOWN) for word in text[:length]]
        row[: len(kept)] = kept
    return tokens


def share_unknown(inputs: np.ndarray) -> float:
    """The share of unknown words in tokens (n, L), or in the leaves of trees (n, M, 4); see `Split`."""
    numbers = inputs if inputs.ndim == 2 else inputs[..., 2]
    return float((numbers[numbers > 0] == UNKNOWN).mean())


def token_set(name: str, classes: int, parts: Sequence[tuple[list[list[str]], np.ndarray]], length: int) -> Dataset:
    """Data set of a training and a test part; the vocabulary is the training part's."""
    words = vocabulary(parts[0][0])
    train, test = (Split(encode(texts, words, length), labels) for texts, labels in parts)
    return Dataset(name, classes, train, test, kind="tokens", vocabulary=words)
