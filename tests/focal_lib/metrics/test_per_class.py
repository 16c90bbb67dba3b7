"""Gaps of each class, with intervals that hold together, and confusion by confidence against scikit-learn's matrix."""

import numpy as np
import pytest
from scipy.stats import binomtest
from sklearn.metrics import confusion_matrix

from focal_lib.metrics.per_class import (
    ConfusedPair,
    Predictions,
    class_reliability,
    confusion_by_confidence,
    predictions,
)


def draw(n, classes, seed, wrong=()):
    """Calibrated, but of the classes in `wrong`, that are never right."""
    rng = np.random.default_rng(seed)
    p = rng.dirichlet([0.3] * classes, n)
    y = (p.cumsum(1) > rng.random((n, 1))).argmax(1)
    bad = np.isin(p.argmax(1), wrong) & (y == p.argmax(1))
    return p, np.where(bad, (y + 1) % classes, y)


def test_small_case():
    p = np.array([[0.9, 0.1, 0], [0.7, 0.3, 0], [0.2, 0.8, 0]])
    found = class_reliability(p, np.array([0, 1, 1]))
    assert found.classes.tolist() == [0, 1]  # 0.8 - 0.5 and 0.8 - 1; class 2 is never predicted
    np.testing.assert_allclose(found.gap, [0.3, -0.2])
    np.testing.assert_array_equal(found.count, [2, 1])
    ci = binomtest(1, 2).proportion_ci(1 - 0.05 / 2)
    np.testing.assert_allclose((found.low[0], found.high[0]), (0.8 - ci.high, 0.8 - ci.low))
    np.testing.assert_array_equal(found.certain, [0, 0])


def test_each_class_as_counted_and_the_worst_first():
    p, y = draw(3000, 6, 0, wrong=(4,))
    found = class_reliability(p, y)
    assert found.classes[0] == 4
    assert (np.diff(found.certain) <= 0).all()
    for i, k in enumerate(found.classes):
        own = p.argmax(1) == k
        assert found.count[i] == own.sum()
        assert found.confidence[i] == pytest.approx(p[own, k].mean())
        assert found.accuracy[i] == pytest.approx((y[own] == k).mean())
        ci = binomtest(int((y[own] == k).sum()), int(own.sum())).proportion_ci(1 - 0.05 / 6)
        assert (found.low[i], found.high[i]) == pytest.approx(
            (found.confidence[i] - ci.high, found.confidence[i] - ci.low)
        )


def test_all_intervals_hold_together():
    """Of 300 calibrated samples, at most 5 % are said to have a class that is off, with room for chance."""
    found = [class_reliability(*draw(400, 8, seed)).certain.max() > 0 for seed in range(300)]
    assert sum(found) <= 300 * 0.05 + 2.4 * (300 * 0.05 * 0.95) ** 0.5


def test_bad_level():
    with pytest.raises(ValueError, match=r"level must lie in \(0, 1\)"):
        class_reliability(*draw(10, 3, 0), level=1.0)


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
