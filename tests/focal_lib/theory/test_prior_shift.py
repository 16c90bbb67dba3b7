"""The way back to probabilities against minimisers found otherwise, 50 digits, and printed formulas."""

import mpmath as mp
import numpy as np
import pytest
import scipy
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from focal_lib.theory import focal_log_probs, focal_logit, focal_minimiser
from focal_lib.theory.prior_shift import (
    estimate_priors,
    prior_shift,
    weighted_focal_log_probs,
    weighted_focal_logit,
    weighted_focal_minimiser,
)
from workflow import maps_reference


def draw(seed, classes):
    """A distribution and class weights."""
    rng = np.random.default_rng(seed)
    return rng.dirichlet(np.ones(classes)) * 0.98 + 0.02 / classes, rng.gamma(1, 1, classes) + 0.05


@pytest.mark.parametrize("classes", [2, 3, 4, 5])
@pytest.mark.parametrize("gamma", [0.0, 0.5, 1.0, 2.0, 5.0])
def test_it_leads_back_from_a_minimum_that_an_optimiser_found(classes, gamma):
    p, a = draw(10 * classes + int(gamma), classes)

    def risk(z):
        log_q = z - np.logaddexp.reduce(z)
        return -(a * p * (1 - np.exp(log_q)) ** gamma * log_q).sum()

    found = scipy.optimize.minimize(risk, np.zeros(classes), method="BFGS", options={"gtol": 1e-9})
    np.testing.assert_allclose(np.exp(weighted_focal_log_probs(found.x, gamma, a)), p, atol=2e-6)
    np.testing.assert_allclose(scipy.special.softmax(found.x), weighted_focal_minimiser(p, gamma, a), atol=2e-6)


@pytest.mark.parametrize(("p", "gamma", "alpha"), [("0.09", 2, "0.25"), ("0.6", 5, "0.9"), ("0.001", "0.5", "0.75")])
def test_the_binary_minimiser_in_50_digits(p, gamma, alpha):
    with mp.workdps(50):
        p, gamma, alpha = mp.mpf(p), mp.mpf(gamma), mp.mpf(alpha)

        def slope(q):  # of -(1-q)^gamma log q
            return gamma * (1 - q) ** (gamma - 1) * mp.log(q) - (1 - q) ** gamma / q

        def risk_slope(q):
            return alpha * p * slope(q) - (1 - alpha) * (1 - p) * slope(1 - q)

        q = mp.findroot(risk_slope, (mp.mpf("1e-4"), mp.mpf("0.999")), solver="anderson", tol=1e-60)
        s, expected = mp.log(q / (1 - q)), mp.log(p / (1 - p))
        found = weighted_focal_logit(float(s), float(gamma), float(alpha))
    assert found == pytest.approx(float(expected), rel=1e-14)
    q = weighted_focal_minimiser([1 - float(p), float(p)], float(gamma), float(alpha))
    assert q[1] == pytest.approx(1 / (1 + float(mp.exp(-s))), rel=1e-13)


@pytest.mark.parametrize("gamma", ["0", "0.5", "2", "5"])
@pytest.mark.parametrize("size", [1, 30, 700])
def test_many_classes_in_50_digits(gamma, size):
    rng = np.random.default_rng(size)
    z, a = size * rng.normal(size=4), 10 ** rng.uniform(-6, 6, 4)
    with mp.workdps(60):
        log_p = maps_reference.simplex([mp.mpf(float(v)) for v in z], mp.mpf(gamma))
        shifted = [value - mp.log(mp.mpf(float(weight))) for value, weight in zip(log_p, a, strict=True)]
        norm = mp.log(mp.fsum(mp.exp(v - max(shifted)) for v in shifted)) + max(shifted)
        expected = np.array([float(v - norm) for v in shifted])
    found = weighted_focal_log_probs(z, float(gamma), a)
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-12)


@settings(deadline=None, max_examples=50)
@given(st.integers(2, 6), st.floats(0, 10), st.integers(0, 2**32 - 1))
def test_what_theory_says_of_it(classes, gamma, seed):
    p, a = draw(seed, classes)
    q = weighted_focal_minimiser(p, gamma, a)
    back = weighted_focal_log_probs(np.log(q), gamma, a)
    np.testing.assert_allclose(np.exp(back), p, rtol=1e-7)
    order = np.random.default_rng(seed).permutation(classes)
    np.testing.assert_allclose(weighted_focal_log_probs(np.log(q)[order], gamma, a[order]), back[order], rtol=1e-12)
    np.testing.assert_allclose(weighted_focal_log_probs(np.log(q) + 3, gamma, 7 * a), back, atol=1e-12)
    equal = weighted_focal_log_probs(np.log(q), gamma, np.full(classes, 0.3))
    np.testing.assert_allclose(equal, focal_log_probs(np.log(q), gamma), atol=1e-12)
    shifted = prior_shift(np.exp(equal), a / a.sum(), np.full(classes, 1 / classes))
    np.testing.assert_allclose(shifted, p, rtol=1e-7)


@settings(deadline=None, max_examples=50)
@given(st.floats(-700, 700), st.floats(-0.9, 10), st.floats(1e-6, 1 - 1e-6))
def test_the_logit_is_that_of_two_classes(s, gamma, alpha):
    both = weighted_focal_log_probs(np.array([0.0, s]), gamma, alpha)
    assert weighted_focal_logit(s, gamma, alpha) == pytest.approx(both[1] - both[0], rel=1e-9, abs=1e-9)
    assert weighted_focal_logit(s, gamma, [1, 5]) == pytest.approx(focal_logit(s, gamma) - np.log(5), rel=1e-14)
    mirrored = weighted_focal_logit(-s, gamma, 1 - alpha)
    assert weighted_focal_logit(s, gamma, alpha) == pytest.approx(-mirrored, rel=1e-12, abs=1e-9)


def test_tied_classes_of_equal_weight_stay_tied():
    found = weighted_focal_log_probs(np.array([[3.0, 3.0, 1.0, 3.0]]), 2.0, [2, 2, 1, 5])
    assert found[0, 0] == found[0, 1] > found[0, 3]


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.bfloat16])
def test_tensors_stay_tensors(dtype):
    z, a = torch.tensor([[2.0, -1.0, 0.5], [90.0, 0.0, 0.0]], dtype=dtype), torch.tensor([1.0, 2.0, 4.0])
    found = weighted_focal_log_probs(z, 2.0, a)
    assert found.dtype == dtype
    wide = weighted_focal_log_probs(z.double().numpy(), 2.0, [1, 2, 4])
    eps = torch.finfo(dtype).eps
    np.testing.assert_allclose(found.double().numpy(), wide, rtol=16 * eps, atol=2 * eps)
    assert weighted_focal_log_probs(np.float32([1, 2]), 2.0, 0.25).dtype == np.float32
    shifted = prior_shift(found.float().exp(), [1 / 3] * 3, [0.2, 0.2, 0.6])
    assert isinstance(shifted, torch.Tensor)
    np.testing.assert_allclose(shifted.sum(-1), 1, rtol=1e-6)


def test_gradients():
    z = torch.randn(4, 3, dtype=torch.float64, generator=torch.Generator().manual_seed(0), requires_grad=True)
    assert torch.autograd.gradcheck(lambda z: weighted_focal_log_probs(z, 2.0, [1, 2, 4]), z)


def elkan(p, b, new):
    """Theorem 2, as it is printed."""
    return new * (p - p * b) / (b - p * b + new * p - b * new)


@settings(deadline=None, max_examples=100)
@given(st.floats(0, 1), st.floats(0.01, 0.99), st.floats(0.01, 0.99))
def test_a_new_prevalence_is_elkans(p, old, new):
    assert prior_shift(p, old, new) == pytest.approx(elkan(p, old, new), rel=1e-10, abs=1e-15)
    both = prior_shift([1 - p, p], [1 - old, old], [1 - new, new])
    assert prior_shift(p, old, new) == pytest.approx(both[1], rel=1e-12)
    np.testing.assert_array_equal(prior_shift([[1 - p, p]], old, new), [both])
    assert prior_shift(prior_shift(p, old, new), new, old) == pytest.approx(p, rel=1e-9, abs=1e-15)


def test_new_priors_are_those_of_the_data():
    """Two normal classes: the posterior under each prior is known, and the mean of posteriors is the prior."""
    x = np.linspace(-6, 7, 2001)

    def posterior(prevalence):
        return scipy.special.expit(x - 0.5 + np.log(prevalence / (1 - prevalence)))

    np.testing.assert_allclose(prior_shift(posterior(0.5), 0.5, 0.02), posterior(0.02), rtol=1e-12)
    assert prior_shift(np.ones((2, 3)) * 0.3, 0.5, 0.1).shape == (2, 3)
    np.testing.assert_allclose(prior_shift([[0.2, 0.3, 0.5]], [0.5, 0.25, 0.25], [0.5, 0.5, 0]), [[0.25, 0.75, 0]])


@pytest.mark.parametrize("classes", [2, 3, 6])
def test_estimated_priors_are_those_of_greatest_likelihood(classes):
    rng = np.random.default_rng(classes)
    old, new = rng.dirichlet(np.full(classes, 5)), rng.dirichlet(np.full(classes, 2))
    labels = rng.choice(classes, 4000, p=new)
    features = rng.normal(size=(4000, classes)) + 1.5 * np.eye(classes)[labels]
    probs = scipy.special.softmax(np.log(old) + 1.5 * features, axis=-1)
    found = estimate_priors(probs, old)
    np.testing.assert_allclose(found, new, atol=4 * np.sqrt(0.25 / 4000))
    plain = old
    for _ in range(3000):  # the steps of the paper
        plain = prior_shift(probs, old, plain).mean(0)
    np.testing.assert_allclose(found, plain, atol=1e-5)
    order = rng.permutation(classes)
    np.testing.assert_allclose(estimate_priors(probs[::-1, order], old[order]), found[order], atol=1e-6)


def test_an_estimated_prevalence_is_the_root_of_the_slope():
    rng = np.random.default_rng(0)
    p = scipy.special.expit(1.5 * rng.normal(size=3000) - 1)
    ratio = p / (1 - p) * 0.7 / 0.3

    def slope(new):
        return ((ratio - 1) / (1 + new * (ratio - 1))).mean()

    assert estimate_priors(p, 0.3) == pytest.approx(scipy.optimize.brentq(slope, 1e-9, 1 - 1e-9), abs=1e-6)
    assert estimate_priors(np.stack([1 - p, p], -1), 0.3) == estimate_priors(p, 0.3)
    assert estimate_priors(torch.from_numpy(p), 0.3) == estimate_priors(p, 0.3)
    assert estimate_priors(np.full(10, 0.3), 0.3) == pytest.approx(0.3)  # scores that say nothing
    assert estimate_priors(np.full(10, 0.01), 0.3) == pytest.approx(0, abs=1e-6)


def test_the_reference_of_lin_et_al_point():
    """alpha .25 at prevalence .09: the sigmoid of the minimiser is far off, the way back is exact."""
    q = weighted_focal_minimiser([0.91, 0.09], 2.0, 0.25)[1]
    assert q == pytest.approx(0.2191, abs=1e-4)
    assert scipy.special.expit(weighted_focal_logit(np.log(q / (1 - q)), 2.0, 0.25)) == pytest.approx(0.09, rel=1e-12)
    np.testing.assert_allclose(weighted_focal_minimiser([0.91, 0.09], 2.0, 0.5), focal_minimiser([0.91, 0.09], 2.0))


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: weighted_focal_logit(0.0, 2.0, 10), r"one in \(0, 1\).*Got 10: .*write \(1, 10\)"),
        (lambda: weighted_focal_logit(0.0, 2.0, [1, 2, 3]), r"must be 2 numbers, one a class. Got shape \(3,\)"),
        (lambda: weighted_focal_log_probs([0.0, 1, 2], 2.0, 0.25), "must be 3 numbers.*Got one number, 0.25"),
        (lambda: weighted_focal_log_probs([0.0, 1], 2.0, [1, 0]), r"positive and finite. Got \[1.0, 0.0\]"),
        (lambda: weighted_focal_log_probs([0.0, np.nan], 2.0, [1, 1]), "finite"),
        (lambda: weighted_focal_minimiser([0.8, 0.3], 2.0, [1, 1]), "sum to 1"),
        (lambda: prior_shift([0.2, 1.3], 0.5, 0.1), r"probs must lie in \[0, 1\]. Got values from 0.2 to 1.3"),
        (lambda: prior_shift([[0.2, 0.3]], 0.5, 0.1), "probs must sum to 1"),
        (lambda: prior_shift(0.2, 0, 0.1), r"old must be a prevalence, in \(0, 1\). Got 0"),
        (lambda: prior_shift(0.2, 0.5, 1.5), r"new must be a prevalence, in \[0, 1\]. Got 1.5"),
        (lambda: prior_shift([[0.2, 0.8]], [0.5, 0.5], [0.2, 0.2]), "new must sum to 1"),
        (lambda: prior_shift([[0.2, 0.8]], [1, 0], [0.5, 0.5]), "old must be positive"),
        (lambda: prior_shift([[0.2, 0.8]], [0.5, 0.5], [1 / 3] * 3), r"new must be 2 priors.*Got shape \(3,\)"),
        (lambda: prior_shift([[0.0, 1.0]], [0.5, 0.5], [1, 0]), "new must be positive for some class"),
        (lambda: estimate_priors([[[0.2, 0.8]]], [0.5, 0.5]), r"shape \(n, K\), or \(n,\)"),
    ],
)
def test_what_is_refused(call, said):
    with pytest.raises(ValueError, match=said):
        call()
