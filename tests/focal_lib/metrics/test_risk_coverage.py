"""Risk-coverage curves against sums written out, exact bounds against SciPy's test, and that they hold."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy.stats import binomtest

from focal_lib.metrics.risk_coverage import (
    aurc,
    aurc_of,
    certified_threshold,
    certified_threshold_of,
    risk_coverage,
    risk_coverage_of,
)
from reproduction.studies.advice.coverage import simulate_sample

SAMPLES = st.integers(1, 40).flatmap(
    lambda n: st.tuples(
        hnp.arrays(np.float64, n, elements=st.sampled_from([0.2, 0.5, 0.9, 1.0])),
        hnp.arrays(np.float64, n, elements=st.sampled_from([0.0, 1.0])),
    )
)


def slow_aurc(confidence, correct):
    """Of the m surest the share that is wrong; of samples that tie, what is expected of drawing some of them."""
    risks = []
    for m in range(1, len(confidence) + 1):
        last = sorted(confidence, reverse=True)[m - 1]
        above, tied = confidence > last, confidence == last
        share = (m - above.sum()) / tied.sum()
        risks.append((np.sum(1 - correct[above]) + share * np.sum(1 - correct[tied])) / m)
    return np.mean(risks)


@given(SAMPLES)
def test_area_as_written_out(samples):
    assert aurc_of(*samples) == pytest.approx(slow_aurc(*samples))


@given(SAMPLES)
def test_a_threshold_answers_what_it_says(samples):
    confidence, correct = samples
    found = risk_coverage_of(confidence, correct)
    assert found.coverage[-1] == 1
    assert found.aurc_at_best <= found.aurc + 1e-12
    assert (np.diff(found.coverage) > 0).all()
    each = 1 - 0.05 / len({np.ceil(j * len(correct) / 50) for j in range(1, 51)})
    for threshold, coverage, risk, bound in zip(found.threshold, found.coverage, found.risk, found.bound, strict=True):
        answered = confidence > threshold
        assert answered.mean() == pytest.approx(coverage)
        assert 1 - correct[answered].mean() == pytest.approx(risk)
        wrong = int(np.sum(1 - correct[answered]))
        exact = binomtest(wrong, int(answered.sum()), alternative="less").proportion_ci(each).high
        assert bound == pytest.approx(exact)
        certified = found.certified(bound) if bound < 1 else None
        assert certified is None or certified.coverage >= coverage


def test_thresholds_can_be_said_in_full():
    """Rounded up, never down, to few digits, also where all are near 1; what they answer is what is bounded."""
    rng = np.random.default_rng(0)
    for confidence in (rng.uniform(0.2, 1, 2000), 1 - 10 ** -rng.uniform(1, 9, 2000)):
        correct = (rng.random(2000) < confidence).astype(float)
        found = risk_coverage_of(confidence, correct)
        exact = np.append(np.sort(confidence)[::-1], 0)[np.arange(40, 2001, 40)]
        assert len(found.threshold) > 45
        for threshold in found.threshold[:-1]:
            below = exact[exact <= threshold].max()
            assert 0 <= threshold - below <= max(1e-12, min(1e-4, 0.01 * (1 - below)))
            distance = 1 - threshold
            assert round(threshold, 4) == threshold or float(f"{distance:.3g}") == pytest.approx(distance, rel=1e-6)


def test_of_probabilities():
    rng = np.random.default_rng(0)
    p, y = rng.dirichlet([0.3] * 3, 300), rng.integers(0, 3, 300)
    confidence, correct = p.max(1), (p.argmax(1) == y).astype(float)
    assert aurc(p, y) == aurc_of(confidence, correct)
    np.testing.assert_array_equal(risk_coverage(p, y).bound, risk_coverage_of(confidence, correct).bound)
    assert certified_threshold(p, y, 0.9) == certified_threshold_of(confidence, correct, 0.9)
    assert certified_threshold(p, y, 0.01) is None


@pytest.mark.parametrize("digits", [15, 1])  # 1: many samples tie
def test_bounds_hold_together(digits):
    """Of 400 samples whose true risk is known in at most 5 % a bound is below it, with room for chance."""
    rng = np.random.default_rng(1)
    confidence, _, truth = simulate_sample(200_000, 0.1, 0)
    confidence = np.round(confidence, digits)
    order = np.argsort(-confidence, kind="stable")
    ordered, risks = confidence[order], np.cumsum(1 - truth[order]) / np.arange(1, len(order) + 1)
    failed = 0
    for _ in range(400):
        index = rng.integers(0, len(truth), 500)
        found = risk_coverage_of(confidence[index], (rng.random(500) < truth[index]).astype(float))
        last = np.searchsorted(-ordered, -found.threshold, side="left") - 1
        failed += bool((risks[last] > found.bound).any())
    assert failed <= 400 * 0.05 + 2.4 * (400 * 0.05 * 0.95) ** 0.5


def test_bad_arguments():
    p, y = np.full((4, 2), 0.5), np.zeros(4, dtype=int)
    for level in (0, 1):
        with pytest.raises(ValueError, match=r"level must lie in \(0, 1\)"):
            risk_coverage(p, y, level=level)
    for risk in (0, 1, np.nan):
        with pytest.raises(ValueError, match=r"risk must lie in \(0, 1\)"):
            certified_threshold(p, y, risk)
    for level in ("0.9", None):
        with pytest.raises(ValueError, match="level must be one real number"):
            risk_coverage(p, y, level=level)
    with pytest.raises(ValueError, match="must not be empty"):
        risk_coverage_of(np.empty(0), np.empty(0))
