"""A small CIFAR-10H with votes drawn from what a network says, where FOCAL_DATA is looked for."""

import numpy as np
import pytest
from scipy.special import softmax

from reproduction.studies.people.cifar10h import FILE, NAME

N, CLASSES = 1_000, 4


@pytest.fixture
def network():
    """Logits (n, K) and labels of a network that is surer the more people agree, and the votes of fifty people."""
    rng = np.random.default_rng(0)
    labels = rng.integers(CLASSES, size=N)
    mistaken = rng.choice(N, N // 100, replace=False)  # so that a temperature for labels exists
    logits = rng.normal(size=(N, CLASSES))
    logits[np.arange(N), labels] += 5 + rng.exponential(3, N)
    votes = rng.multinomial(50, softmax(logits / 1.5, -1))
    labels[mistaken] = (labels[mistaken] + 1) % CLASSES
    return logits, labels, votes


@pytest.fixture
def write_votes(tmp_path, monkeypatch):
    """Writes votes as CIFAR-10H has them: in another order, and where each image stands among ours."""

    def write(votes, places=None):
        order = np.random.default_rng(1).permutation(len(votes))
        folder = tmp_path / NAME
        folder.mkdir(exist_ok=True)
        np.savez(
            folder / FILE, counts=votes[order].astype(np.uint8), original_to_mosaic=order if places is None else places
        )
        monkeypatch.setenv("FOCAL_DATA", str(tmp_path))

    return write
