"""Rated texts whose class their words tell, where the film reviews are looked for."""

import numpy as np
import pytest

from reproduction.engine.data import snippets

WORDS = ("good", "bad", "fine", "dull", "long")


@pytest.fixture
def rated(tmp_path, monkeypatch):
    """200 texts of each source: 'good' raises the rating, 'bad' lowers it. Returns the folder."""
    folder = tmp_path / "data" / snippets.HOME
    folder.mkdir(parents=True)
    rng = np.random.default_rng(0)
    for source, name in snippets.SOURCES.items():
        lines = []
        for i in range(200):
            words = list(rng.choice(WORDS, 5))
            rating = np.clip(words.count("good") - words.count("bad"), -4, 4) + 0.1
            lines.append(
                f"{i}_1\t{rating}\t{' '.join(words)}" + (" &amp; elsewhere" if source != snippets.FILMS else "")
            )
        (folder / name).write_text("\n".join(lines) + "\n", encoding="utf-8-sig")
    monkeypatch.setenv("FOCAL_DATA", str(tmp_path / "data"))
    return folder
