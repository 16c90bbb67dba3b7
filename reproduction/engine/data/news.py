"""News articles: 20 Newsgroups in two splits, AG News and FinSen, from files in their published formats."""

from __future__ import annotations

import csv
import shutil
import tempfile
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from reproduction.engine.data import places
from reproduction.engine.data.dataset import Dataset
from reproduction.engine.data.tokens import token_set, tokenise

NEWSGROUPS_URL = "http://qwone.com/~jason/20Newsgroups/20news-19997.tar.gz"
AG_NEWS_URL = "https://raw.githubusercontent.com/mhjabreel/CharCnn_Keras/master/data/ag_news_csv/{side}.csv"
AG_NEWS_MD5 = {"train": "b1a00f826fdfbd249f79597b59e1dc12", "test": "d52ea96a97a2d943681189a97654912d"}
NEWSGROUPS_LENGTH, AG_NEWS_LENGTH, FINSEN_LENGTH = 1000, 200, 500  # tokens of a text that count
M20_TEST = 3_999  # articles of 20 Newsgroups that M20 appendix C tests on


# --- 20 Newsgroups ---------------------------------------------------------------------


def read_newsgroups_by_date(folder: Path) -> Dataset:
    """20news-bydate-{train,test}/<group>/<article>, the first 1,000 tokens of each."""
    parts = [_articles(folder / f"20news-bydate-{side}") for side in ("train", "test")]
    return token_set("20-newsgroups", 20, parts, length=NEWSGROUPS_LENGTH)


def fetch_newsgroups_by_date(folder: Path) -> None:
    from sklearn.datasets import fetch_20newsgroups

    for side in ("train", "test"):
        found = fetch_20newsgroups(subset=side, shuffle=False)
        for i, (text, label) in enumerate(zip(found.data, found.target, strict=True)):
            place = folder / f"20news-bydate-{side}" / found.target_names[label]
            place.mkdir(parents=True, exist_ok=True)
            (place / f"{i:05d}").write_text(text, encoding="latin1", errors="replace")


def read_newsgroups(folder: Path) -> Dataset:
    """20_newsgroups/<group>/<article>, all 19,997, drawn into 15,998 and 3,999 for test (M20 appendix C).

    M20's text tells neither the draw nor the length: the draw is one of ours, the same for every seed, and the first
    1,000 tokens count. Headers are left out, since in this edition they name the group.

    Raises:
        ValueError: too few articles for that split.
    """
    texts, labels = _articles(folder / "20_newsgroups", headers=False)
    if len(labels) <= M20_TEST:
        raise ValueError(
            f"20_newsgroups must hold more than {M20_TEST:,} articles, 19,997 as published. Got {len(labels):,}."
        )
    return token_set("20-newsgroups-m20", 20, _drawn(texts, labels, M20_TEST), length=NEWSGROUPS_LENGTH)


def fetch_newsgroups(folder: Path) -> None:
    from torchvision.datasets.utils import download_and_extract_archive

    with tempfile.TemporaryDirectory() as work:
        download_and_extract_archive(NEWSGROUPS_URL, work)
        shutil.move(Path(work, "20_newsgroups"), folder)  # which may lie on another file system


def _articles(folder: Path, headers: bool = True) -> tuple[list[list[str]], np.ndarray]:
    """Tokens of <group>/<article>, and the number of the group."""
    from sklearn.datasets import load_files

    with places.reading(folder):
        found = load_files(folder, encoding="latin1", shuffle=False)
    texts = found.data if headers else [text.partition("\n\n")[2] for text in found.data]
    return [tokenise(text) for text in texts], found.target.astype(np.int64)


def _drawn(
    texts: Sequence[list[str]], labels: np.ndarray, n_test: int
) -> tuple[tuple[list[list[str]], np.ndarray], tuple[list[list[str]], np.ndarray]]:
    """Texts without a published split, drawn for training and test, always the same way."""
    order = np.random.default_rng(0).permutation(len(labels))
    test, train = order[:n_test], order[n_test:]
    return ([texts[i] for i in train], labels[train]), ([texts[i] for i in test], labels[test])


# --- AG News and FinSen ----------------------------------------------------------------


def read_ag_news(folder: Path) -> Dataset:
    """{train,test}.csv of Zhang, Zhao and LeCun (2015): class 1 to 4, title, description; the first 200 tokens.

    Raises:
        ValueError: a row of another form, or another damage.
    """
    parts = []
    for side in ("train", "test"):
        texts, labels = [], []
        path = folder / f"{side}.csv"
        with places.reading(path), path.open(encoding="utf-8", newline="") as file:
            for number, row in enumerate(csv.reader(file), start=1):
                if len(row) != 3 or row[0] not in ("1", "2", "3", "4"):
                    raise ValueError(
                        f"{side}.csv must hold class 1 to 4, title, description. Got {row} as its row {number}."
                    )
                texts.append(tokenise(f"{row[1]} {row[2]}"))
                labels.append(int(row[0]) - 1)
        parts.append((texts, np.array(labels, dtype=np.int64)))
    return token_set("ag-news", 4, parts, length=AG_NEWS_LENGTH)


def fetch_ag_news(folder: Path) -> None:
    from torchvision.datasets.utils import download_url

    for side in ("train", "test"):
        download_url(AG_NEWS_URL.format(side=side), str(folder), f"{side}.csv", AG_NEWS_MD5[side])


def read_finsen(folder: Path) -> Dataset:
    """finsen.csv of Liang, Li and Chen (2024), columns Category and Content; the first 500 tokens.

    Neither its authors' text nor L25's tells a split: every seed has the same 15 % for test, drawn.

    Raises:
        ValueError: no such columns, a row that lacks one, no rows, or another damage.
    """
    path = folder / "finsen.csv"
    with places.reading(path), path.open(encoding="utf-8", newline="") as file:
        rows = csv.DictReader(file)
        if not {"Category", "Content"} <= set(rows.fieldnames or ()):
            raise ValueError(f"finsen.csv must have columns Category and Content. Got {rows.fieldnames}.")
        found = []
        for number, row in enumerate(rows, start=1):
            category, content = row["Category"], row["Content"]
            if category is None or content is None:
                raise ValueError(f"finsen.csv must have Category and Content in every row. Got row {number} without.")
            found.append((category.strip(), tokenise(content)))
        categories = sorted({category for category, _ in found})
        n_test = round(0.15 * len(found))
        if n_test < 1 or len(categories) < 2:
            raise ValueError(f"finsen.csv must have rows of two categories. Got {len(found)} of {len(categories)}.")
    labels = np.array([categories.index(category) for category, _ in found], dtype=np.int64)
    return token_set(
        "finsen", len(categories), _drawn([text for _, text in found], labels, n_test), length=FINSEN_LENGTH
    )
