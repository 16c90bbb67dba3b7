"""b, its derivatives and differences, of numbers, arrays and tensors alike, against 50 digits."""

import math

import mpmath as mp
import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from focal_lib.theory.entropy_ratio import (
    bernoulli,
    bernoulli_curvature,
    bernoulli_slope,
    mirror_gap,
    one_minus_bernoulli_over_x,
)


def b_reference(x):
    return x / mp.expm1(x) if x else mp.mpf(1)


REFERENCES = {
    bernoulli: b_reference,
    one_minus_bernoulli_over_x: lambda x: (1 - b_reference(x)) / x,
    bernoulli_slope: lambda x: mp.diff(b_reference, x),
    bernoulli_curvature: lambda x: mp.diff(b_reference, x, 2),
}
AT_ZERO = {bernoulli: 1, one_minus_bernoulli_over_x: 0.5, bernoulli_slope: -0.5, bernoulli_curvature: 1 / 6}
POINTS = (1e-6, 1e-3, 0.05, 0.0999, 0.1, 0.1001, 0.2, 0.2499, 0.25, 0.2501, 1.0, 7.0, 40.0, 300.0)


@pytest.mark.parametrize("function", REFERENCES)
@pytest.mark.parametrize("x", POINTS)
def test_to_1e_13(function, x):
    with mp.workdps(50):
        expected = float(REFERENCES[function](mp.mpf(x)))
    assert function(x) == pytest.approx(expected, rel=1e-13)


@pytest.mark.parametrize("function", REFERENCES)
def test_ends(function):
    assert function(0.0) == AT_ZERO[function]
    assert function(1e4) == pytest.approx(1e-4 if function is one_minus_bernoulli_over_x else 0, abs=1e-300)


@pytest.mark.parametrize("function", REFERENCES)
def test_numbers_arrays_and_tensors_agree(function):
    x = np.r_[0.0, POINTS, 1e4]
    numbers = [function(float(v)) for v in x]
    np.testing.assert_allclose(function(x), numbers, rtol=1e-15, atol=0)
    np.testing.assert_allclose(function(torch.from_numpy(x)).numpy(), numbers, rtol=1e-15, atol=0)
    single = function(torch.from_numpy(x).float())
    assert single.dtype == torch.float32
    np.testing.assert_allclose(single.numpy(), numbers, rtol=2e-4, atol=1e-37)


@pytest.mark.parametrize(("function", "slope"), [(bernoulli, bernoulli_slope), (bernoulli_slope, bernoulli_curvature)])
def test_torch_differentiates_to_the_derivative(function, slope):
    x = torch.tensor([0.0, *POINTS, 1e4], dtype=torch.float64, requires_grad=True)
    (found,) = torch.autograd.grad(function(x).sum(), x)
    np.testing.assert_allclose(found.numpy(), slope(x.detach()).numpy(), rtol=1e-7, atol=1e-15)


@given(st.floats(-1, 1).filter(lambda s: abs(s) > 1e-30))
def test_mirror_gap_is_relatively_exact(s):
    with mp.workdps(100):
        v = mp.mpf(s)
        expected = float(b_reference(mp.log1p(mp.exp(-v))) - b_reference(mp.log1p(mp.exp(v))))
    assert mirror_gap(s, math.log1p(math.exp(-s))) == pytest.approx(expected, rel=1e-14, abs=1e-300)
