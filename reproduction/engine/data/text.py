"""Text data sets: files in their published format, read into tokens or parse trees."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import NamedTuple

import numpy as np

from reproduction.engine.data import news, places, snippets
from reproduction.engine.data.dataset import Dataset, Kind, Split
from reproduction.engine.data.tokens import encode_trees, parse_tree, vocabulary, words_of

SST_URL = "https://nlp.stanford.edu/sentiment/trainDevTestTrees_PTB.zip"


class TextSet(NamedTuple):
    """How to read the published files in a folder, and how to fetch them into one."""

    classes: int | None  # None: as many as the files have
    files: str  # what the folder holds, for the error message
    read: Callable[[Path], Dataset]
    fetch: Callable[[Path], None]
    length: int | None  # tokens of a text; None: trees
    needed: tuple[str, ...]  # files or folders that must be in it
    home: str = ""  # the folder's name, where it is not the data set's

    @property
    def kind(self) -> Kind:
        return "trees" if self.length is None else "tokens"


def load_text(name: str, folder: str | Path | None = None) -> Dataset:
    """The text data set of that name, from a folder, by default FOCAL_DATA/<name>, or fetched.

    Raises:
        ValueError: no such data set; files with the wrong content.
        FileNotFoundError: it is nowhere to be had, or its folder lacks a file; the message names what is expected.
    """
    if name not in TEXT_SETS:
        raise ValueError(f"text data set must be one of {', '.join(TEXT_SETS)}. Got {name!r}.")
    source = TEXT_SETS[name]
    place = text_folder(name) if folder is None else Path(folder)
    if missing := [file for file in source.needed if not (place / file).exists()]:
        raise FileNotFoundError(
            f"the folder of {name} must hold {source.files}. Missing in {place}: {', '.join(missing)}."
        )
    found = source.read(place)
    if empty := [side for side, part in (("training", found.train), ("test", found.test)) if not len(part)]:
        raise ValueError(
            f"{place} must hold {source.files}, with texts: {places.cure_of(place)}. Got none for {empty[0]}."
        )
    return found


def text_folder(name: str) -> Path:
    """The folder with the files of a text data set: FOCAL_DATA/<name>, or the cache, filled where it is empty.

    Raises:
        FileNotFoundError: it is nowhere to be had.
    """
    source = TEXT_SETS[name]
    home = source.home or name
    folder = places.own_folder(home) or places.cache(home)
    advice = f"Set FOCAL_DATA to a folder with {home}/, which holds {source.files}."
    places.fill(folder, [("download", source.fetch)], advice)
    return folder


def load_elsewhere(dataset: Dataset, folder: str | Path | None = None) -> dict[str, Split]:
    """Name -> texts from other sources that are rated as a data set's are; none of most data sets.

    Args:
        folder: where the data set was loaded from; see `load_text`.

    Raises:
        FileNotFoundError, ValueError: as `load_text`.
    """
    if dataset.name not in snippets.SETS:
        return {}
    return snippets.read_other_sources(text_folder(dataset.name) if folder is None else Path(folder), dataset)


def _read_sst(folder: Path) -> Dataset:
    """{train,dev,test}.txt: SST-2, neutral sentences left out, labels of the whole sentence only.

    M20 appendix C trains on trees whose every node is labelled.

    Raises:
        ValueError: a file is damaged.
    """
    parts = {}
    for side in ("train", "dev", "test"):
        with places.reading(path := folder / f"{side}.txt"):
            trees = map(parse_tree, path.read_text(encoding="utf-8").splitlines())
            parts[side] = [tree for tree in trees if tree.label != 2]
            if not parts[side]:
                raise ValueError("a tree must be there that is not neutral. Got none.")
    words = vocabulary(map(words_of, parts["train"]))
    train, validation, test = (
        Split(encode_trees(trees, words), np.array([tree.label > 2 for tree in trees], dtype=np.int64))
        for trees in parts.values()
    )
    return Dataset("sst", 2, train, test, validation, kind="trees", vocabulary=words)


def _fetch_sst(folder: Path) -> None:
    from torchvision.datasets.utils import download_and_extract_archive

    with tempfile.TemporaryDirectory() as work:
        download_and_extract_archive(SST_URL, work)
        for side in ("train", "dev", "test"):
            (folder / f"{side}.txt").write_bytes(Path(work, "trees", f"{side}.txt").read_bytes())


def _not_fetched(folder: Path) -> None:
    raise FileNotFoundError("no address of it is known here")


_BY_DATE = ("20news-bydate-train", "20news-bydate-test")
_RATED = tuple(snippets.SOURCES.values())
TEXT_SETS: dict[str, TextSet] = {
    "20-newsgroups": TextSet(
        20,
        " and ".join(_BY_DATE),
        news.read_newsgroups_by_date,
        news.fetch_newsgroups_by_date,
        news.NEWSGROUPS_LENGTH,
        _BY_DATE,
    ),
    "20-newsgroups-m20": TextSet(
        20,
        "20_newsgroups, 19,997 articles",
        news.read_newsgroups,
        news.fetch_newsgroups,
        news.NEWSGROUPS_LENGTH,
        ("20_newsgroups",),
    ),
    "ag-news": TextSet(
        4,
        "train.csv and test.csv",
        news.read_ag_news,
        news.fetch_ag_news,
        news.AG_NEWS_LENGTH,
        ("train.csv", "test.csv"),
    ),
    "finsen": TextSet(
        None,
        "finsen.csv with columns Category and Content",
        news.read_finsen,
        _not_fetched,
        news.FINSEN_LENGTH,
        ("finsen.csv",),
    ),
    "movie-reviews": TextSet(
        2,
        " and ".join(snippets.REVIEWS),
        snippets.read_reviews,
        partial(snippets.fetch, names=snippets.REVIEWS),
        snippets.REVIEWS_LENGTH,
        snippets.REVIEWS,
    ),
    "sst": TextSet(
        2,
        "train.txt, dev.txt and test.txt of parse trees",
        _read_sst,
        _fetch_sst,
        None,
        ("train.txt", "dev.txt", "test.txt"),
    ),
    **{
        name: TextSet(
            kind.classes,
            ", ".join(_RATED),
            partial(snippets.read_films, name=name),
            partial(snippets.fetch, names=_RATED),
            None if kind.balanced else snippets.LENGTH,
            _RATED,
            snippets.HOME,
        )
        for name, kind in snippets.SETS.items()
    },
}
