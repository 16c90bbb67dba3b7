"""Decision curves against the definition, sample by sample."""

import functools

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy.stats import binomtest

from focal_lib.metrics.net_benefit import THRESHOLDS, net_benefit, net_benefit_of

SAMPLES = st.integers(3, 30).flatmap(
    lambda n: st.tuples(
        hnp.arrays(np.float64, n, elements=st.sampled_from([0.0, 0.1, 0.3, 0.5, 0.77, 1.0])),
        hnp.arrays(np.float64, n, elements=st.sampled_from([0.0, 1.0])),
    )
)


def benefits(acts, event, t):
    """Of each sample: 1 for acting where it was needed, -t / (1 - t) for acting where it was not."""
    return np.array([0 if not a else 1 if e else -t / (1 - t) for a, e in zip(acts, event, strict=True)])


@functools.cache  # a root search each
def exact_interval(count, n, level):
    return binomtest(count, n).proportion_ci(level)


def interval(gains, up, down, level):
    """MOVER of the shares of samples that gain `up` and that lose `down`, by exact intervals of each."""
    n, above, below = len(gains), int((gains > 0).sum()), int((gains < 0).sum())
    a, b = above / n, below / n
    of_a, of_b = (exact_interval(count, n, level) for count in (above, below))
    corr = 1.0 if 1 in (a, b) else np.sqrt(a * b / ((1 - a) * (1 - b)))
    ends = []
    for sign, one, two in ((-1, a - of_a.low, of_b.high - b), (1, of_a.high - a, b - of_b.low)):
        one, two = up * one, down * two
        ends.append(up * a - down * b + sign * np.sqrt(one**2 + two**2 + 2 * corr * one * two))
    return tuple(ends)


@example((np.zeros(8), np.array([1.0, 1, 0, 0, 0, 0, 0, 0])))  # acting always is worth as much as never
@given(SAMPLES)
def test_as_defined(samples):
    probability, event = samples
    found = net_benefit_of(probability, event)
    for i, t in enumerate(THRESHOLDS):
        model, always = (benefits(acts, event, t) for acts in (probability >= t, probability >= 0))
        assert (found.model[i], found.treat_all[i]) == pytest.approx((model.mean(), always.mean()))
        assert found.gain[i] == pytest.approx(model.mean() - max(always.mean(), 0))
        odds = t / (1 - t)  # acting gains 1 or loses the odds; who always acts is spared the odds, or misses 1
        (low, _), (_, high) = (
            np.min([interval(model - always, odds, 1, level), interval(model, 1, odds, level)], axis=0)
            for level in (0.95, 0.975)
        )
        assert (found.low[i], found.high[i]) == pytest.approx((low, high))


def test_who_acts_always_gains_nothing():
    event = np.array([1.0, 0, 0, 1, 1])
    found = net_benefit_of(np.full(5, 0.97), event)
    np.testing.assert_allclose(found.model, found.treat_all)
    assert found.prevalence == pytest.approx(0.6)
    np.testing.assert_allclose(net_benefit_of(event, event).model, 0.6)  # who knows acts where it is needed


def test_few_actions_make_nothing_sure():
    """Of 200 samples ten are acted on, each a tenth as often needlessly as would pay; all needed by chance."""
    rng, sure, held = np.random.default_rng(0), 0, 0
    for _ in range(200):
        acts = rng.random(200) < 0.05
        event = (rng.random(200) < np.where(acts, 0.9, 0.3)).astype(float)
        found = net_benefit_of(np.where(acts, 0.97, 0.01), event, thresholds=[0.95])
        truth = 0.05 * (0.9 - 0.1 * 19)
        sure += found.low[0] > 0
        held += found.low[0] <= truth <= found.high[0]
    assert sure <= 5
    assert held >= 185


def test_one_class_against_the_others():
    rng = np.random.default_rng(0)
    p, y = rng.dirichlet([1, 1, 1], 200), rng.integers(0, 3, 200)
    found = net_benefit(p, y, 2, thresholds=[0.2, 0.4])
    np.testing.assert_array_equal(found.gain, net_benefit_of(p[:, 2], y == 2, thresholds=[0.2, 0.4]).gain)
    assert found.samples == 200


def test_bad_arguments():
    p, y = np.full((4, 2), 0.5), np.zeros(4, dtype=int)
    with pytest.raises(ValueError, match=r"positive must be one of the classes 0 \.\.\. 1. Got 2"):
        net_benefit(p, y, 2)
    for options in ({"thresholds": [0.5, 1]}, {"thresholds": 0}, {"level": 1}):
        with pytest.raises(ValueError, match=r"thresholds and level must lie in \(0, 1\)"):
            net_benefit(p, y, **options)
    with pytest.raises(ValueError, match="samples must be at least 2"):
        net_benefit(p[:1], y[:1])
