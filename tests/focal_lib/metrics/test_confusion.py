"""Confusion by confidence, against scikit-learn's matrix of each band."""

import numpy as np
import pytest
from sklearn.metrics import confusion_matrix

from focal_lib.metrics.per_class import ConfusedPair, Predictions, confusion_by_confidence, predictions


def test_each_band_as_counted():
    rng = np.random.default_rng(0)
    p, y = rng.dirichlet([0.3] * 5, 2000), rng.integers(0, 5, 2000)
    bands = confusion_by_confidence(p, y, (0.4, 0.6, 0.9), pairs=4)
    assert [(b.low, b.high) for b in bands] == [(0, 0.4), (0.4, 0.6), (0.6, 0.9), (0.9, 1)]
    assert sum(b.right + b.wrong for b in bands) == 2000
    for band in bands:
        own = (p.max(1) > band.low) & (p.max(1) <= band.high)
        matrix = confusion_matrix(y[own], p.argmax(1)[own], labels=range(5))
        assert band.right == np.trace(matrix)
        assert band.wrong == matrix.sum() - np.trace(matrix)
        np.fill_diagonal(matrix, 0)
        assert [pair.count for pair in band.pairs] == sorted(matrix.ravel())[:-5:-1]
        assert all(matrix[pair.label, pair.predicted] == pair.count for pair in band.pairs)


def test_the_first_of_tied_classes_is_predicted():
    p, y = np.array([[0.4, 0.4, 0.2], [0.2, 0.4, 0.4], [0.5, 0.5, 0.0]]), np.array([0, 2, 1])
    found = predictions(p, y)
    assert found.predicted.tolist() == [0, 1, 0]
    assert found.correct.tolist() == [1, 0, 0]
    assert predictions(p.astype(np.float32), y).predicted.tolist() == [0, 1, 0]
    first, *_ = confusion_by_confidence(p, y)
    assert first.pairs == (ConfusedPair(1, 0, 1), ConfusedPair(2, 1, 1))


def test_sets_one_after_the_other():
    rng = np.random.default_rng(0)
    p, y = rng.dirichlet([1] * 4, 50), rng.integers(0, 4, 50)
    parts = Predictions.concatenate([predictions(p[:20], y[:20]), predictions(p[20:], y[20:])])
    whole = predictions(p, y)
    for name in ("predicted", "confidence", "label", "correct"):
        np.testing.assert_array_equal(getattr(parts, name), getattr(whole, name))
    assert parts.classes == 4


def test_bad_arguments():
    p, y = np.full((4, 2), 0.5), np.zeros(4, dtype=int)
    for edges in ((0.5, 0.4), (0.0,), (1.0,), (0.5, 0.5)):
        with pytest.raises(ValueError, match="edges must rise"):
            confusion_by_confidence(p, y, edges)
    with pytest.raises(ValueError, match="pairs must be at least 0"):
        confusion_by_confidence(p, y, pairs=-1)
