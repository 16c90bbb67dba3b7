"""The votes on film reviews."""

from __future__ import annotations

import ast

import numpy as np

from reproduction.engine.data import places
from reproduction.engine.data.dataset import Dataset
from reproduction.engine.data.snippets import REVIEWS
from reproduction.engine.data.text import load_text
from reproduction.studies.shared.votes import Votes

NAME = "movie-reviews"
WORTH = {  # classes -> what a negative, a neutral and a positive vote count for each
    2: np.array([[1.0, 0.0], [0.5, 0.5], [0.0, 1.0]]),
    3: np.eye(3),
}


def load_reviews_with_votes(classes: int = 2) -> tuple[Dataset, Votes, Votes]:
    """The data set 'movie-reviews', and the votes on its training and its test sentences, in their order.

    With two classes a vote of 0 counts half for each, as in the data set's own posterior; with three it is a class.

    Raises:
        ValueError: neither two nor three classes.
        FileNotFoundError: the data set is nowhere to be had.
    """
    if classes not in WORTH:
        raise ValueError(f"classes must be 2 or 3. Got {classes}.")
    dataset = load_text(NAME)
    folder = places.own_folder(NAME) or places.cache(NAME)
    lines = (folder / REVIEWS[1]).read_text(encoding="utf-8", errors="replace").splitlines()
    votes = [np.array(ast.literal_eval(line.split("\t")[3])) for line in lines if line.strip()]
    counts = np.array([((v < 0).sum(), (v == 0).sum(), (v > 0).sum()) for v in votes])  # (n, 3)
    test = np.arange(len(counts)) % 10 == 9  # as the data set
    return dataset, Votes(counts[~test], WORTH[classes]), Votes(counts[test], WORTH[classes])
