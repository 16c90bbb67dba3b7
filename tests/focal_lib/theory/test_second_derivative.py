"""Second derivatives of the focal loss against finite differences in 50 digits."""

import mpmath
import numpy as np
import pytest

from focal_lib.theory.second_derivative import (
    convexity_limit,
    logit_curvature_ratio,
    probability_curvature_ratio,
    second_derivative,
)

POINTS = [(q, gamma) for q in (0.01, 0.27, 0.5, 0.9, 0.999) for gamma in (-0.5, 0.5, 1.0, 2.0, 5.0)]


def loss(q, gamma):
    return -((1 - q) ** gamma) * mpmath.log(q)


@pytest.mark.parametrize(("q", "gamma"), POINTS)
def test_ratio_in_the_probability(q, gamma):
    with mpmath.workdps(50):
        reference = mpmath.diff(lambda v: loss(v, gamma), mpmath.mpf(q), 2) * mpmath.mpf(q) ** 2
    assert float(probability_curvature_ratio(q, gamma)) == pytest.approx(float(reference), rel=1e-10)
    assert second_derivative([q], gamma)[0] == pytest.approx(float(reference) / q**2, rel=1e-10)


@pytest.mark.parametrize(("q", "gamma"), POINTS)
def test_ratio_in_the_logit(q, gamma):
    with mpmath.workdps(50):
        s = mpmath.log(mpmath.mpf(q) / (1 - mpmath.mpf(q)))
        second = mpmath.diff(lambda v: loss(1 / (1 + mpmath.exp(-v)), gamma), s, 2)
        reference = second / (mpmath.mpf(q) * (1 - mpmath.mpf(q)))
    assert float(logit_curvature_ratio(q, gamma)) == pytest.approx(float(reference), rel=1e-8, abs=1e-12)


def test_cross_entropy_is_one():
    q = np.linspace(0.01, 0.99, 50)
    np.testing.assert_allclose(probability_curvature_ratio(q, 0.0), 1)
    np.testing.assert_allclose(logit_curvature_ratio(q, 0.0), 1)


def test_convexity_limits():
    assert convexity_limit(-0.25) == pytest.approx(0.821553068560, abs=1e-11)
    assert convexity_limit(-0.5) == pytest.approx(0.735720605001, abs=1e-11)
    for gamma in (-1.5, -1.0, 0.0, 0.005, 0.5):
        with pytest.raises(ValueError, match=r"gamma must lie in \(-1, 0\)"):
            convexity_limit(gamma)


@pytest.mark.parametrize("gamma", [-0.999, -0.001])
def test_convexity_limits_next_to_the_ends_of_gamma(gamma):
    """Where L'' changes its sign, in 50 digits."""
    q = convexity_limit(gamma)
    with mpmath.workdps(50):
        signs = [mpmath.sign(mpmath.diff(lambda v: loss(v, mpmath.mpf(gamma)), q + h, 2)) for h in (-1e-10, 1e-10)]
    assert signs == [1, -1]
