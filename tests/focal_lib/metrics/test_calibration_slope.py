"""Calibration slope and intercept against other fits, where events are rare, and where they are separated."""

import mpmath
import numpy as np
import pytest
import scipy
from sklearn.linear_model import LogisticRegression

from focal_lib.metrics.calibration_slope import (
    calibration_intercept,
    calibration_intercept_of,
    calibration_slope,
    calibration_slope_of,
)
from focal_lib.metrics.design import Design
from focal_lib.metrics.positive import event_logits, observed_expected_of


def sample(n, seed, slope=1.0, prevalence=0.05):
    """Probabilities whose true calibration has this slope, and outcomes."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=n)
    y = rng.random(n) < scipy.special.expit(slope * x + scipy.special.logit(prevalence) - 0.4)
    return scipy.special.expit(x + scipy.special.logit(prevalence) - 0.4), y.astype(float)


def likelihood(p, y, slope, weights=1.0):
    """Log likelihood at a slope, maximal in the intercept, by another search."""
    x = scipy.special.logit(p)

    def loss(a):
        return -np.sum(weights * (y * (a + slope * x) - np.logaddexp(0, a + slope * x)))

    return -scipy.optimize.minimize_scalar(loss, bracket=(-5, 5), options={"xtol": 1e-12}).fun


def test_slope_and_intercept_to_fifty_digits():
    p, y = sample(60, 3, prevalence=0.3)
    mpmath.mp.dps = 50
    x = [mpmath.log(mpmath.mpf(v)) - mpmath.log1p(-mpmath.mpf(v)) for v in p.tolist()]

    def scores(a, b):
        rest = [int(t) - 1 / (1 + mpmath.exp(-(a + b * v))) for v, t in zip(x, y, strict=True)]
        return mpmath.fsum(rest), mpmath.fsum(r * v for r, v in zip(rest, x, strict=True))

    _, slope = mpmath.findroot(scores, (0, 1))
    shift = mpmath.findroot(lambda a: scores(a, 1)[0], 0)
    assert calibration_slope_of(p, y).estimate == pytest.approx(float(slope), rel=1e-12)
    assert calibration_intercept_of(p, y).estimate == pytest.approx(float(shift), rel=1e-12)


@pytest.mark.parametrize("slope", [0.4, 1.0, 2.5])
def test_it_is_the_logistic_regression(slope):
    p, y = sample(3000, 0, slope)
    weights = np.random.default_rng(1).uniform(0.1, 3, 3000)
    x = event_logits(p)[:, None]
    for design, w in ((Design(), None), (Design(weights), weights)):
        fit = LogisticRegression(C=np.inf, tol=1e-10, max_iter=1000).fit(x, y, sample_weight=w)
        assert calibration_slope_of(p, y, design=design).estimate == pytest.approx(fit.coef_.item(), rel=1e-5)


def test_ends_have_the_likelihood_ratio_of_the_level():
    """Unless the curve's shape adds to the variance, which it did not here."""
    p, y = sample(800, 0)
    found = calibration_slope_of(p, y, level=0.9)
    best = likelihood(p, y, found.estimate)
    for end in (found.low, found.high):
        ratio = 2 * (best - likelihood(p, y, end))
        assert scipy.stats.chi2.ppf(0.9, 1) - 1e-6 <= ratio < 1.2 * scipy.stats.chi2.ppf(0.9, 1)
    assert 2 * (best - likelihood(p, y, found.low)) == pytest.approx(2 * (best - likelihood(p, y, found.high)))


def test_the_ends_of_the_intercept_expect_the_ends_of_the_ratio():
    p, y = sample(2000, 0)
    found, ratio = calibration_intercept_of(p, y), observed_expected_of(p, y)
    for name in ("low", "estimate", "high"):
        shift, end = getattr(found, name), getattr(ratio, name)
        assert scipy.special.expit(event_logits(p) + shift).mean() == pytest.approx(end * p.mean())


@pytest.mark.parametrize(("prevalence", "slope"), [(0.01, 0.6), (0.001, 1.0)])
def test_intervals_cover_rare_events(prevalence, slope):
    found = [calibration_slope_of(*sample(3000, seed, slope, prevalence)) for seed in range(100, 200)]
    assert np.mean([f.low <= slope <= f.high for f in found]) >= 0.9
    if slope == 1:
        found = [calibration_intercept_of(*sample(3000, seed, slope, prevalence)) for seed in range(100, 200)]
        assert np.mean([f.low <= 0 <= f.high for f in found]) >= 0.9


def test_intervals_cover_over_groups_where_plain_ones_do_not():
    def draw(seed):
        rng = np.random.default_rng(seed)
        x, groups = rng.normal(size=60)[np.repeat(np.arange(60), 20)], np.repeat(np.arange(60), 20)
        own = 1.5 * rng.normal(size=60)[groups]
        return scipy.special.expit(x - 2), (rng.random(1200) < scipy.special.expit(x - 2 + own)).astype(float), groups

    p, y, _ = (np.concatenate(parts) for parts in zip(*(draw(1000 + seed) for seed in range(300)), strict=True))
    true = calibration_slope_of(p, y).estimate, calibration_intercept_of(p, y).estimate
    plain, clustered = [], []
    for seed in range(60):
        p, y, groups = draw(seed)
        for design, hits in ((Design(), plain), (Design(groups=groups), clustered)):
            found = calibration_slope_of(p, y, design=design), calibration_intercept_of(p, y, design=design)
            hits.append([f.low <= t <= f.high for f, t in zip(found, true, strict=True)])
    assert (np.mean(clustered, 0) >= 0.88).all()
    assert (np.mean(plain, 0) < 0.8).all()
    assert found[0].kind == "profile likelihood over groups"


def test_events_all_above_the_others_have_an_infinite_slope():
    p, y = np.array([0.1, 0.2, 0.3, 0.4]), np.array([0, 0, 1, 1])
    found = calibration_slope(p, y)
    assert (found.estimate, found.high) == (np.inf, np.inf)
    assert -2 * likelihood(p, y, found.low) == pytest.approx(scipy.stats.chi2.ppf(0.95, 1), rel=1e-6)
    below = calibration_slope(p, 1 - y)
    assert (below.estimate, below.low) == (-np.inf, -np.inf)
    assert below.high == pytest.approx(-found.low)
    tied = calibration_slope([0.1, 0.2, 0.2, 0.4], y)  # the likelihood is that of the two that tie
    assert tied.estimate == np.inf
    ratio = 2 * (2 * np.log(0.5) - likelihood(np.array([0.1, 0.2, 0.2, 0.4]), y, tied.low))
    assert ratio == pytest.approx(scipy.stats.chi2.ppf(0.95, 1), rel=1e-6)


def test_without_events_or_with_one_probability():
    p = np.array([0.1, 0.2, 0.3, 0.4])
    none, every = calibration_intercept(p, [0] * 4), calibration_intercept(p, [1] * 4)
    assert (none.estimate, none.low, every.estimate, every.high) == (-np.inf, -np.inf, np.inf, np.inf)
    assert np.isfinite([none.high, every.low]).all()
    for found in (calibration_slope(p, [0] * 4), calibration_slope([0.3] * 4, [0, 1, 0, 1])):
        assert np.isnan([found.estimate, found.low, found.high]).all()
        assert found.kind == ""


def test_probabilities_of_0_and_1_count_as_clipped():
    p, y = np.array([0, 1, 0, 0.4, 0.5, 1]), np.array([0, 1, 1, 0, 1, 0])
    clipped = np.clip(p, 1e-8, 1 - 1e-8)
    assert calibration_slope(p, y) == calibration_slope(clipped, y)
    assert np.isfinite(calibration_slope(p, y).estimate)
    assert calibration_intercept(p, y).estimate == calibration_intercept(clipped, y).estimate


def test_copies_scales_and_the_other_outcome():
    p, y = sample(1000, 5, 0.8, 0.3)
    slope, shift = calibration_slope_of(p, y), calibration_intercept_of(p, y)
    other, moved = calibration_slope_of(1 - p, 1 - y), calibration_intercept_of(1 - p, 1 - y)
    assert (other.estimate, other.low, other.high) == pytest.approx((slope.estimate, slope.low, slope.high))
    assert (moved.estimate, moved.low, moved.high) == pytest.approx((-shift.estimate, -shift.high, -shift.low))
    sharper = scipy.special.expit(2 * event_logits(p) + 1)
    halved = calibration_slope_of(sharper, y)
    assert (2 * halved.low, 2 * halved.high) == pytest.approx((slope.low, slope.high))
    raised = calibration_intercept_of(scipy.special.expit(event_logits(p) + 1), y)
    assert (raised.low + 1, raised.high + 1) == pytest.approx((shift.low, shift.high))
    copies = np.tile(np.arange(1000), 3)
    grouped = calibration_slope_of(p[copies], y[copies], design=Design(groups=copies))
    assert grouped.estimate == pytest.approx(slope.estimate)
    assert grouped.high - grouped.low == pytest.approx(slope.high - slope.low, rel=0.02)
    weights = np.r_[np.ones(500), np.zeros(500)]
    zero = calibration_slope_of(p, y, design=Design(weights))
    assert zero == calibration_slope_of(p[:500], y[:500])
    one = calibration_slope(p, y.astype(int), groups=np.zeros(1000, int))
    assert np.isnan([one.low, one.high]).all()


@pytest.mark.parametrize("function", [calibration_slope, calibration_intercept])
def test_bad_input_is_refused(function):
    with pytest.raises(ValueError, match="of two classes; classwise_ece"):
        function([[0.2, 0.3, 0.5]], [1])
    with pytest.raises(ValueError, match="level must lie in"):
        function([0.2, 0.3], [0, 1], level=0)
