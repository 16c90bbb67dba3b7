"""Texts with sentiment ratings, -4 to 4, of Hutto and Gilbert (2014), as vaderSentiment's source distribution has them.

`movie-reviews` are sentences of film reviews with every rater's vote. `film-snippets-...` are the same sentences by the
mean of their votes, in two or three classes, with other texts for test: tweets, sentences of newspaper editorials and
of product reviews. The middle fifth of the scale is neutral, as it is in the Stanford Sentiment Treebank; with two
classes neutral texts are left out, as its binary version does.
"""

from __future__ import annotations

import ast
import html
import tarfile
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from reproduction.engine.data import places
from reproduction.engine.data.dataset import Dataset, Split
from reproduction.engine.data.tokens import balanced_tree, encode, encode_trees, tokenise, vocabulary

PACKAGE = "vaderSentiment==3.3.2"


def fetch(folder: Path, names: Sequence[str]) -> None:
    """Those files of the archive hutto_ICWSM_2014 into a folder, by pip.

    Raises:
        RuntimeError: pip could not download it.
        KeyError: no such file in the archive.
    """
    with places.downloaded(PACKAGE, "source") as archive, tarfile.open(archive) as outer:
        (member,) = (m for m in outer.getmembers() if m.name.endswith("hutto_ICWSM_2014.tar.gz"))
        with tarfile.open(fileobj=outer.extractfile(member)) as inner:
            for name in names:
                content = inner.extractfile(f"hutto_ICWSM_2014/{name}")
                assert content is not None
                (folder / name).write_bytes(content.read())


# --- with every rater's vote -----------------------------------------------------------

REVIEWS_LENGTH = 50  # tokens of a text that count
REVIEWS = ("movieReviewSnippets_GroundTruth.txt", "movieReviewSnippets_anonDataRatings.txt")


def read_reviews(folder: Path) -> Dataset:
    """Label 1 is a positive mean. The posterior is the raters' own: the share of positive and of negative votes, a
    zero counting half for each. A tenth of the sentences, every tenth, is the test split.

    Raises:
        ValueError: a file is damaged, or the two name different sentences.
    """
    truth, ratings = (folder / name for name in REVIEWS)
    with places.reading(truth):
        sentences = [(row[0], row[2]) for row in _rows(truth)]
    with places.reading(ratings):
        votes = [(row[0], np.array(ast.literal_eval(row[3]))) for row in _rows(ratings)]
        if [number for number, _ in sentences] != [number for number, _ in votes]:
            raise ValueError(f"{REVIEWS[0]} and {REVIEWS[1]} must list the same sentences in the same order.")
    positive = np.array([np.mean((own > 0) + 0.5 * (own == 0)) for _, own in votes])
    labels = np.array([own.mean() > 0 for _, own in votes], dtype=np.int64)
    posterior = np.stack([1 - positive, positive], axis=-1)  # (n, 2)
    texts = [tokenise(sentence) for _, sentence in sentences]
    test = np.arange(len(texts)) % 10 == 9
    words = vocabulary(t for t, held in zip(texts, test, strict=True) if not held)
    whole = Split(encode(texts, words, length=REVIEWS_LENGTH), labels, posterior)
    train, held = whole.take(np.flatnonzero(~test)), whole.take(np.flatnonzero(test))
    return Dataset("movie-reviews", 2, train, held, kind="tokens", vocabulary=words)


def _rows(path: Path) -> list[list[str]]:
    """The cells of a file whose lines are apart by tabs."""
    lines = path.read_text(encoding="utf-8", errors="replace").splitlines()
    return [line.split("\t") for line in lines if line.strip()]


# --- by the mean of their votes --------------------------------------------------------

FILMS = "films"
SOURCES = {
    FILMS: REVIEWS[0],
    "product reviews": "amazonReviewSnippets_GroundTruth.txt",
    "tweets": "tweets_GroundTruth.txt",
    "news": "nytEditorialSnippets_GroundTruth.txt",
}
HOME = "film-snippets"  # the folder that holds them
LENGTH = 40  # tokens of a text that count; 95 of 100 texts are shorter
NEUTRAL = 0.8  # the largest mean, either way, of the middle fifth
_TEST = 4  # every fourth sentence is for test


class Kind(NamedTuple):
    """Which data set: its classes, and whether its texts are trees or rows of tokens."""

    classes: int
    balanced: bool = False  # binary trees whose leaves are the words, halved; these texts have no parses


SETS = {"film-snippets-2": Kind(2), "film-snippets-3": Kind(3), "film-snippets-2-trees": Kind(2, balanced=True)}


def read_films(folder: Path, name: str) -> Dataset:
    """The film reviews of one of SETS; every fourth sentence is for test, and the vocabulary that of the others.

    Raises:
        ValueError: a line of another form, or too few of them for a class.
    """
    kind = SETS[name]
    texts, labels = _labelled(folder, FILMS, kind.classes)
    test = np.arange(len(texts)) % _TEST == _TEST - 1
    if any(set(part.tolist()) != set(range(kind.classes)) for part in (labels[test], labels[~test])):
        raise ValueError(f"{SOURCES[FILMS]} must have texts of {kind.classes} classes. Got {len(texts)} of some.")
    parts = [[text for text, held in zip(texts, test, strict=True) if held == which] for which in (False, True)]
    words = vocabulary(parts[0])
    train, held = (_split(part, labels[test == which], words, kind) for which, part in enumerate(parts))
    return Dataset(name, kind.classes, train, held, kind="trees" if kind.balanced else "tokens", vocabulary=words)


def read_other_sources(folder: Path, dataset: Dataset) -> dict[str, Split]:
    """Source -> its texts in the words of a data set of SETS, with the same classes; for test alone.

    Raises:
        ValueError: a line of another form.
    """
    kind = SETS[dataset.name]
    found = {name: _labelled(folder, name, kind.classes) for name in SOURCES if name != FILMS}
    return {name: _split(*part, dataset.vocabulary, kind) for name, part in found.items()}


def label_ratings(ratings: np.ndarray, classes: int) -> np.ndarray:
    """Labels (n,) of mean ratings: 0 negative, then neutral of three classes, then positive; -1: neutral of two."""
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


def _split(texts: list[list[str]], labels: np.ndarray, words: tuple[str, ...], kind: Kind) -> Split:
    if kind.balanced:
        return Split(encode_trees([balanced_tree(text) for text in texts], words), labels)
    return Split(encode(texts, words, LENGTH), labels)
