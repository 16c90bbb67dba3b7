"""Sums and maxima over classes of every kind of array: SciPy's and NumPy's values."""

import array_api_strict
import numpy as np
import pytest
import torch
from scipy.special import expit, log_expit, log_softmax, logsumexp

from focal_lib import arrays

KINDS = {"numpy": np.asarray, "torch": torch.as_tensor, "strict": array_api_strict.asarray}
EXPECTED = {
    "largest": lambda x: x.max(-1, keepdims=True),
    "total": lambda x: x.sum(-1, keepdims=True),
    "logsumexp": lambda x: logsumexp(x, axis=-1, keepdims=True),
    "log_softmax": lambda x: log_softmax(x, axis=-1),
    "log_sigmoid": log_expit,
    "sigmoid": expit,
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("shape", [(1, 2), (5000, 3), (7, 24), (7, 25), (3, 65), (4,), (2, 3, 4)])
@pytest.mark.parametrize("name", EXPECTED)
def test_values(name, shape, kind):
    x = np.random.default_rng(0).normal(size=shape) * 100
    found = getattr(arrays, name)(KINDS[kind](x))
    assert type(found) is type(KINDS[kind](x))
    np.testing.assert_allclose(np.asarray(found), EXPECTED[name](x), rtol=1e-13, atol=1e-15)


@pytest.mark.parametrize("name", EXPECTED)
def test_float32_stays(name):
    assert getattr(arrays, name)(np.ones((3, 4), np.float32)).dtype == np.float32


def test_what_is_not_a_number_is_not_lost():
    x = np.array([[0.0, np.nan], [np.nan, 1.0]])
    assert np.isnan(arrays.largest(x)).all()
    assert np.isnan(arrays.largest(np.tile(x, 20))).all()


def test_logsumexp_of_nothing_possible():
    assert arrays.logsumexp(np.full((1, 3), -np.inf)) == -np.inf


def test_tensors_become_arrays():
    for dtype in (torch.bfloat16, torch.float16, torch.float32, torch.float64):
        tensor = torch.tensor([1.5, -2.0], dtype=dtype, requires_grad=True)
        np.testing.assert_array_equal(arrays.to_numpy(tensor), [1.5, -2.0])
    assert arrays.to_numpy("as it is") == "as it is"
