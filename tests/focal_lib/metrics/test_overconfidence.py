"""Overconfidence and underconfidence are the parts of the ECE, and their intervals cover."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from focal_lib.metrics.bins import adaptive_ece, ece
from focal_lib.metrics.design import Design
from focal_lib.metrics.ece_interval import ece_interval_of
from focal_lib.metrics.overconfidence import (
    overconfidence,
    overconfidence_interval,
    overconfidence_interval_of,
    overconfidence_of,
    underconfidence,
    underconfidence_interval,
    underconfidence_interval_of,
    underconfidence_of,
)


@pytest.mark.parametrize(("binning", "error"), [("width", ece), ("mass", adaptive_ece)])
@given(seed=st.integers(0, 2**32 - 1), weighted=st.booleans())
def test_the_parts_add_up_to_the_error(binning, error, seed, weighted):
    rng = np.random.default_rng(seed)
    probs = rng.dirichlet([0.5] * 3, 40).round(1) @ np.eye(3)
    probs /= probs.sum(1, keepdims=True)
    labels, weights = rng.integers(0, 3, 40), rng.integers(0, 3, 40) + 0.5 if weighted else None
    parts = [f(probs, labels, 5, binning=binning, weights=weights) for f in (overconfidence, underconfidence)]
    assert sum(parts) == pytest.approx(error(probs, labels, 5, weights=weights), abs=1e-14)
    assert min(parts) >= 0
    order = rng.permutation(40)
    mixed = None if weights is None else weights[order]
    again = overconfidence(probs[order], labels[order], 5, binning=binning, weights=mixed)
    assert again == pytest.approx(parts[0], abs=1e-14)


def test_by_hand():
    probs, labels = [[0.9, 0.1]] * 4 + [[0.6, 0.4]] * 4, [0, 0, 1, 1, 0, 0, 0, 0]
    assert overconfidence(probs, labels) == pytest.approx((0.9 - 0.5) / 2)
    assert underconfidence(probs, labels) == pytest.approx((1 - 0.6) / 2)
    assert overconfidence_interval(probs, labels).estimate == pytest.approx(0.2)
    assert underconfidence_interval(probs, labels).estimate == pytest.approx(0.2)
    for function in (overconfidence, underconfidence):
        with pytest.raises(ValueError, match=r"binning must be 'width' or 'mass'. Got 'size'"):
            function(probs, labels, binning="size")


def draw(kind, n, seed):
    """Confidences, correctness and true accuracies."""
    rng = np.random.default_rng(seed)
    c = np.full(n, 0.8) if kind == "one value" else rng.uniform(0.4, 0.93, n)
    c = np.exp(rng.normal(size=n) - 5).clip(max=0.6) if kind == "rare" else c
    true = {"calibrated": c, "over": c - 0.05, "both": 0.7 + 0.6 * (c - 0.7), "one value": c - 0.02, "rare": 1.6 * c}
    return c, (rng.random(n) < true[kind]).astype(float), true[kind]


@pytest.mark.parametrize("binning", ["width", "mass"])
@pytest.mark.parametrize("kind", ["calibrated", "over", "both", "one value", "rare"])
def test_intervals_cover(kind, binning):
    c, _, true = draw(kind, 300_000, 10**6)
    for value, interval in (
        (overconfidence_of, overconfidence_interval_of),
        (underconfidence_of, underconfidence_interval_of),
    ):
        asked = value(c, true, 10, binning=binning)
        found = [interval(*draw(kind, 300, seed)[:2], 10, binning=binning) for seed in range(60)]
        assert np.mean([f.low <= asked + 1e-9 and asked - 1e-9 <= f.high for f in found]) >= 0.88
        assert all(f.low <= f.debiased <= f.high for f in found)


def test_the_other_sign_is_narrowed_by_the_data():
    """Overconfident everywhere: no bin may be underconfident by much, and overconfidence has the ECE's interval."""
    c, y, _ = draw("over", 20_000, 0)
    over, under, both = overconfidence_interval_of(c, y), underconfidence_interval_of(c, y), ece_interval_of(c, y)
    assert under.high < 0.1 * over.low
    assert over.low == pytest.approx(both.low, abs=0.002)
    assert over.high == pytest.approx(both.high, abs=0.002)


def test_signs_mirror_and_groups_widen():
    c, y, _ = draw("both", 600, 0)
    over, mirrored = overconfidence_interval_of(c, y), underconfidence_interval_of(1 - c, 1 - y)
    assert overconfidence_of(c, y) == pytest.approx(underconfidence_of(1 - c, 1 - y))
    assert (mirrored.low, mirrored.high) == pytest.approx((over.low, over.high), abs=0.01)  # other draws of the noise
    copies = np.repeat(np.arange(600), 8)
    grouped = overconfidence_interval_of(c[copies], y[copies], design=Design(groups=copies))
    assert grouped.high == pytest.approx(over.high, abs=0.02)
    assert overconfidence_interval_of(c[copies], y[copies]).high < grouped.high - 0.01
    few = overconfidence_interval_of(c, y, design=Design(groups=np.arange(600) % 5))
    assert np.isnan([few.low, few.high]).all()
    sure = overconfidence_interval_of(np.ones(20), np.ones(20))
    assert (sure.estimate, sure.low) == (0, 0)
    assert 0.1 < sure.high < 0.2  # twenty of twenty right
    with pytest.raises(ValueError, match="level must lie in"):
        overconfidence_interval_of(c, y, level=1.5)
