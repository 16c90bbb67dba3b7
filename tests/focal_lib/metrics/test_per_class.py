"""Each class' gap by hand, its interval against SciPy's, and that all hold together."""

import numpy as np
import pytest
from scipy.stats import binomtest

from focal_lib.metrics.per_class import class_reliability


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
