"""Snippets of film reviews for sentiment in two and in three classes, and other texts rated in the same way.

From Hutto and Gilbert (2014): sentences of film reviews, tweets, sentences of newspaper editorials and of product
reviews, each with the mean of its raters' votes, -4 to 4. The middle fifth of that scale is neutral, as it is in the
Stanford Sentiment Treebank; with two classes neutral texts are left out, as its binary version does.
"""

from __future__ import annotations

import html
from pathlib import Path
from typing import NamedTuple

import numpy as np

from reproduction.engine.data import places
from reproduction.engine.data.dataset import Dataset, Split
from reproduction.engine.data.hutto import fetch_hutto
from reproduction.engine.data.tokens import encode, tokenise, vocabulary
from reproduction.engine.data.trees import balanced_tree, encode_trees

FILMS = "films"
SOURCES = {
    FILMS: "movieReviewSnippets_GroundTruth.txt",
    "product reviews": "amazonReviewSnippets_GroundTruth.txt",
    "tweets": "tweets_GroundTruth.txt",
    "news": "nytEditorialSnippets_GroundTruth.txt",
}
FILES = tuple(SOURCES.values())
HOME = "film-snippets"  # the folder that holds them
LENGTH = 40  # tokens of a text that count; 95 of 100 texts are shorter
NEUTRAL = 0.8  # the largest mean, either way, of the middle fifth
_TEST = 4  # every fourth sentence is for test


class Kind(NamedTuple):
    """Which data set: its classes, and whether its texts are trees or rows of tokens."""

    classes: int
    balanced: bool = False  # binary trees whose leaves are the words, halved; these texts have no parses


SETS = {"film-snippets-2": Kind(2), "film-snippets-3": Kind(3), "film-snippets-2-trees": Kind(2, balanced=True)}


def fetch(folder: Path) -> None:
    """The files of all sources."""
    fetch_hutto(folder, FILES)


def read_films(folder: Path, name: str) -> Dataset:
    """The film reviews of one of SETS; every fourth sentence is for test, and the vocabulary that of the others.

    Raises:
        ValueError: a line of another form, or too few of them for a class.
    """
    kind = SETS[name]
    texts, labels = _labelled(folder, FILMS, kind.classes)
    test = np.arange(len(texts)) % _TEST == _TEST - 1
    if not (_complete(labels[test], kind.classes) and _complete(labels[~test], kind.classes)):
        raise ValueError(f"{SOURCES[FILMS]} must have texts of {kind.classes} classes. Got {len(texts)} of some.")
    parts = [[text for text, held in zip(texts, test, strict=True) if held == which] for which in (False, True)]
    words = vocabulary(parts[0])
    train, held = (_split(part, labels[test == which], words, kind) for which, part in enumerate(parts))
    return Dataset(name, kind.classes, train, held, kind="trees" if kind.balanced else "tokens", vocabulary=words)


def read_other_sources(folder: Path, dataset: Dataset) -> dict[str, Split]:
    """Source -> its texts in the words of a data set of SETS, with the same classes; for test alone.

    Raises:
        ValueError: a data set that is none of SETS; a line of another form.
    """
    if dataset.name not in SETS:
        raise ValueError(f"data set must be one of {', '.join(SETS)}. Got {dataset.name!r}.")
    kind = SETS[dataset.name]
    found = {name: _labelled(folder, name, kind.classes) for name in SOURCES if name != FILMS}
    return {name: _split(*part, dataset.vocabulary, kind) for name, part in found.items()}


def label_ratings(ratings: np.ndarray, classes: int) -> np.ndarray:
    """Labels (n,) of mean ratings: 0 negative, then neutral of three classes, then positive; -1: neutral of two.

    Raises:
        ValueError: neither two nor three classes.
    """
    if classes not in (2, 3):
        raise ValueError(f"classes must be 2 or 3. Got {classes}.")
    neutral = np.abs(ratings) <= NEUTRAL
    return np.where(neutral, 1 if classes == 3 else -1, (ratings > 0) * (classes - 1))


def _labelled(folder: Path, source: str, classes: int) -> tuple[list[list[str]], np.ndarray]:
    """Tokens and labels of the texts that have a class and a word."""
    texts, ratings = [], []
    path = folder / SOURCES[source]
    with places.reading(path):
        lines = path.read_text(encoding="utf-8-sig", errors="replace").splitlines()
        for number, line in enumerate(filter(str.strip, lines), start=1):
            row = line.split("\t")
            try:
                _, rating, text = row
                ratings.append(float(rating))
            except ValueError:
                raise ValueError(
                    f"{path.name} must hold a number, a mean rating, a text, apart by tabs. Got line {number}: "
                    f"{line[:60]!r}."
                ) from None
            texts.append(tokenise(html.unescape(text))[:LENGTH])
    labels = label_ratings(np.array(ratings), classes)
    kept = [i for i, text in enumerate(texts) if text and labels[i] >= 0]
    return [texts[i] for i in kept], labels[kept].astype(np.int64)


def _complete(labels: np.ndarray, classes: int) -> bool:
    return set(labels.tolist()) == set(range(classes))


def _split(texts: list[list[str]], labels: np.ndarray, words: tuple[str, ...], kind: Kind) -> Split:
    if kind.balanced:
        return Split(encode_trees([balanced_tree(text) for text in texts], words), labels)
    return Split(encode(texts, words, LENGTH), labels)
