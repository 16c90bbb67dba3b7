"""Sentences whose votes are known, where the film reviews are looked for."""

import numpy as np
import pytest

from reproduction.engine.data import snippets

WORDS = ("good", "bad", "fine", "dull", "long")


@pytest.fixture
def reviews(tmp_path, monkeypatch):
    """Two hundred sentences of five words; 'good' draws positive votes, 'bad' negative ones. Returns the votes."""
    folder = tmp_path / "data" / "movie-reviews"
    folder.mkdir(parents=True)
    rng = np.random.default_rng(0)
    truth, ratings, votes = [], [], []
    for i in range(200):
        words = rng.choice(WORDS, 5)
        lean = (words == "good").sum() - (words == "bad").sum()
        given = np.clip(rng.integers(-2, 3, 8) + 2 * lean, -4, 4)
        truth.append(f"{i}\t{given.mean()}\t{' '.join(words)}")
        ratings.append(f"{i}\t{given.mean()}\t1\t{given.tolist()}")
        votes.append(given)
    for name, lines in zip(snippets.REVIEWS, (truth, ratings), strict=True):
        (folder / name).write_text("\n".join(lines) + "\n")
    monkeypatch.setenv("FOCAL_DATA", str(tmp_path / "data"))
    return np.array(votes)
