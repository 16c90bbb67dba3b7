"""The focal calibration map against 50-digit references, and its properties."""

import json
import warnings
from pathlib import Path

import array_api_strict
import mpmath as mp
import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from focal_lib.theory import maps
from workflow import maps_reference

REFERENCE = json.loads((Path(__file__).with_name("maps_reference.json")).read_text())
gammas = st.floats(-0.9, 100)
positive_gammas = st.floats(0, 100)
logits = st.floats(-1e4, 1e4)
vectors = st.integers(2, 12).flatmap(lambda k: st.lists(st.floats(-1e3, 1e3), min_size=k, max_size=k)).map(np.array)


def error(found, expected):
    """Relative where the reference exceeds 1, absolute below."""
    with mp.workdps(50):
        expected = mp.mpf(expected)
        return float(abs(mp.mpf(float(found)) - expected) / max(1, abs(expected)))


@pytest.mark.parametrize(("s", "gamma", "expected"), REFERENCE["binary"])
def test_binary_to_1e_12(s, gamma, expected):
    assert error(maps.focal_logit(np.float64(s), gamma), expected) < 1e-12


def test_binary_is_relatively_exact_near_zero():
    s, gamma, expected = next(r for r in REFERENCE["binary"] if r[0] == 1e-8 and r[1] == 2)
    assert maps.focal_logit(np.float64(s), gamma) == pytest.approx(float(expected), rel=1e-14)


@pytest.mark.parametrize(("z", "gamma", "expected"), REFERENCE["simplex"])
def test_simplex_to_1e_12(z, gamma, expected):
    found = maps.focal_log_probs(np.array(z), gamma)
    assert max(map(error, found, expected)) < 1e-12


def test_the_reference_is_what_the_workflow_writes():
    with mp.workdps(60):
        for s, gamma, expected in REFERENCE["binary"][::17]:
            assert mp.nstr(maps_reference.binary(mp.mpf(s), mp.mpf(gamma)), 50) == expected
        z, gamma, expected = REFERENCE["simplex"][-1]
        found = maps_reference.simplex([mp.mpf(v) for v in z], mp.mpf(gamma))
        assert [mp.nstr(v, 50) for v in found] == expected


def test_a_thousand_classes():
    z = np.random.default_rng(0).normal(size=(20, 1000)) * 8
    p = np.exp(maps.focal_log_probs(z, 3.0))
    q = np.exp(z - z.max(-1, keepdims=True))
    q /= q.sum(-1, keepdims=True)
    w = q / ((1 - q) ** 3 * (1 - 3 * q * np.log(q) / (1 - q)))
    np.testing.assert_allclose(p, w / w.sum(-1, keepdims=True), rtol=1e-9)


@given(logits, gammas)
def test_binary_round_trip(s, gamma):
    back = maps.inverse_focal_logit(maps.focal_logit(np.float64(s), gamma), gamma)
    assert abs(back - s) <= 1e-9 * max(1, abs(s))


@settings(deadline=None, max_examples=60)
@given(vectors, positive_gammas)
def test_simplex_round_trip(z, gamma):
    log_q = torch.log_softmax(torch.from_numpy(z), -1).numpy()
    back = maps.inverse_focal_log_probs(maps.focal_log_probs(z, gamma), gamma)
    assert np.all(np.abs(back - log_q) <= 1e-9 * np.maximum(1, np.abs(log_q)))


@pytest.mark.parametrize("classes", [3, 50, 1000])
@pytest.mark.parametrize("gamma", [30.0, 70.0, 100.0])
def test_round_trip_of_many_classes_with_large_gamma(classes, gamma):
    """Newton's steps alone go to and fro here, and ended off by a third in probability."""
    z = np.random.default_rng(0).normal(size=(40, classes)) * np.repeat([0.3, 1, 3, 8], 10)[:, None]
    log_q = torch.log_softmax(torch.from_numpy(z), -1).numpy()
    back = maps.inverse_focal_log_probs(maps.focal_log_probs(z, gamma), gamma)
    np.testing.assert_allclose(back, log_q, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("classes", [3, 10, 1000])
@pytest.mark.parametrize("gamma", [0.5, 3.0, 100.0])
def test_round_trip_at_the_uniform_distribution(classes, gamma):
    """There the top logit is at the lower end of what it can be."""
    log_q = np.full(classes, -np.log(classes))
    np.testing.assert_allclose(maps.inverse_focal_log_probs(log_q, gamma), log_q, rtol=1e-13)


@given(logits, st.floats(0, 1000), gammas)
def test_binary_is_odd_and_increasing(s, step, gamma):
    low, high = maps.focal_logit(np.array([s, s + step]), gamma)
    assert low <= high + 1e-9 * abs(high)
    assert maps.focal_logit(np.float64(-s), gamma) == pytest.approx(-low, rel=1e-12, abs=1e-12)


@given(st.floats(-50, 50), st.floats(1e-3, 100))
def test_slope_bounds(s, gamma):
    slope = maps.focal_logit_slope(np.float64(s), gamma)
    assert max(1, gamma) - 1e-12 * gamma <= slope <= (gamma + 1) * (1 + 1e-12)


@given(vectors, gammas, st.floats(-1e3, 1e3), st.randoms())
def test_shift_and_permutation(z, gamma, shift, random):
    order = list(range(len(z)))
    random.shuffle(order)
    base = maps.focal_log_probs(z, gamma)
    np.testing.assert_allclose(maps.focal_log_probs(z[order], gamma), base[order], rtol=1e-9, atol=1e-12)
    shifted = maps.focal_log_probs(z + shift, gamma)
    np.testing.assert_allclose(shifted, base, rtol=1e-7, atol=1e-7 * (1 + abs(gamma)))


@given(st.floats(-500, 500), gammas)
def test_two_classes_agree_with_binary(s, gamma):
    log_p = maps.focal_log_probs(np.array([s, 0.0]), gamma)
    assert log_p[0] - log_p[1] == pytest.approx(maps.focal_logit(np.float64(s), gamma), rel=1e-9, abs=1e-11)


@pytest.mark.parametrize("gamma", [-0.9, 0.0, 0.5, 2.0, 100.0])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_saturated_logits_stay_finite_with_gradients(gamma, dtype):
    z = torch.tensor([[1e4, -1e4, 0], [1e4, 1e4, 1e4], [50, -50, 0], [0, 0, 0]], dtype=dtype, requires_grad=True)
    log_p = maps.focal_log_probs(z, gamma)
    log_p.sum().backward()
    assert torch.isfinite(log_p).all()
    assert torch.isfinite(z.grad).all()
    assert log_p.dtype == dtype
    torch.testing.assert_close(log_p.exp().sum(-1), torch.ones(4, dtype=dtype), atol=1e-6, rtol=0)


@pytest.mark.parametrize("gamma", [-0.5, 0.0, 0.5, 3.0])
def test_gradients(gamma):
    torch.manual_seed(0)
    z = torch.randn(4, 5, dtype=torch.float64, requires_grad=True)
    s = torch.tensor([-30.0, -1e-3, 0.0, 0.5, 7.0], dtype=torch.float64, requires_grad=True)
    g = torch.tensor(gamma, dtype=torch.float64, requires_grad=gamma != 0)
    assert torch.autograd.gradcheck(maps.focal_log_probs, (z, g))
    assert torch.autograd.gradcheck(maps.focal_logit, (s, g))
    assert torch.autograd.gradcheck(maps.inverse_focal_logit, (s, g))
    if gamma > 0:
        assert torch.autograd.gradcheck(lambda z, g: maps.inverse_focal_log_probs(z.log_softmax(-1), g), (z, g))


def test_gamma_minus_one_is_the_last_bijection():
    s = np.array([0.0, 1e-3, 1.0, 30.0, 800.0, 1e4])
    mapped = maps.focal_logit(s, -1.0)
    assert np.all(np.diff(mapped) > 0)
    np.testing.assert_allclose(maps.inverse_focal_logit(mapped, -1.0), s, rtol=1e-12)
    with pytest.raises(ValueError, match=r"gamma must be a finite number >= -1. Got -1.01"):
        maps.focal_logit(s, -1.01)


def test_kinds_and_types_are_kept():
    z = np.zeros((2, 3), dtype=np.float32)
    assert maps.focal_log_probs(z, 1.0).dtype == np.float32
    assert maps.focal_log_probs(z.astype(np.int64), 1.0).dtype == np.float64
    assert isinstance(maps.focal_log_probs(torch.zeros(3), 1.0), torch.Tensor)
    assert maps.focal_log_probs(torch.zeros(3, dtype=torch.bfloat16), 1.0).dtype == torch.bfloat16


@pytest.mark.parametrize(
    ("function", "values", "gamma", "message"),
    [
        (maps.focal_log_probs, [1.0, np.nan], 1, "must be finite. Got 1"),
        (maps.focal_log_probs, [1.0, np.inf], 1, "must be finite"),
        (maps.focal_log_probs, np.ones((3, 1)), 1, r"K >= 2. Got \(3, 1\)"),
        (maps.focal_log_probs, np.ones((0, 3)), 1, "must not be empty"),
        (maps.focal_log_probs, [1.0, 2.0], np.nan, "gamma must be a finite number"),
        (maps.focal_log_probs, [1.0, 2.0], "x", "gamma must be one real number"),
        (maps.focal_logit, "a", 1, "takes real numbers"),
        (maps.inverse_focal_log_probs, [1.0, 2.0, 3.0], 1, "must be log-probabilities, with logsumexp 0"),
        (maps.inverse_focal_log_probs, np.log([0.2, 0.3, 0.5]), -0.5, "gamma must be a finite number >= 0"),
    ],
)
def test_bad_input(function, values, gamma, message):
    with pytest.raises(ValueError, match=message):
        function(values, gamma)


@pytest.mark.parametrize("gamma", [-1.0, -0.4, 0.0, 2.0])
def test_weights_and_slopes_in_fifty_digits(gamma):
    """w = q / ((1-q)^gamma (1 + gamma b)), b = -q log q / (1-q); of two classes the map's slope is that of both."""
    probs = ["0.6", "0.3", "0.0999", "0.0001"]
    with mp.workdps(50):
        q, g = [mp.mpf(p) for p in probs], mp.mpf(gamma)

        def log_w(v):
            return mp.log(v) - g * mp.log(1 - v) - mp.log(1 + g * (-v * mp.log(v) / (1 - v)))

        def of_logit(s):
            return log_w(1 / (1 + mp.exp(-s))) - log_w(1 / (1 + mp.exp(s)))

        logits = np.array([float(mp.log(v)) for v in q])
        wanted = [float(log_w(v)) for v in q]
        slopes = {s: float(mp.diff(of_logit, mp.mpf(s))) for s in (-2.5, 0.3, 8.0, 40.0)}
    np.testing.assert_allclose(maps.log_weight(logits, gamma), wanted, rtol=1e-11, atol=1e-12)
    for s, slope in slopes.items():
        assert maps.focal_logit_slope(np.float64(s), gamma) == pytest.approx(slope, rel=1e-9)


@pytest.mark.parametrize("at", [-1.0, 0.0])
def test_the_derivative_by_gamma_is_finite_where_a_branch_ends(at):
    z = torch.tensor([[2.0, 0.5, -1.0]], dtype=torch.float64)
    gamma = torch.tensor(at, dtype=torch.float64, requires_grad=True)
    (slope,) = torch.autograd.grad(maps.focal_log_probs(z, gamma)[0, 0], gamma)
    near = [float(maps.focal_log_probs(z.numpy(), at + step)[0, 0]) for step in (0.0, 1e-7)]
    assert torch.isfinite(slope)
    if at == 0:
        assert float(slope) == pytest.approx((near[1] - near[0]) / 1e-7, rel=1e-5)


@pytest.mark.parametrize("gamma", [-0.9, 0.5, 2.0, 30.0])
@pytest.mark.parametrize("tied", [[3.7, 3.7], [1.3, 5.9, 5.9, -2.0], [0.1] * 7, [4.2, -1.0, 4.2, 4.2]])
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32, torch.float64])
def test_ties_at_the_top_stay_ties(tied, gamma, dtype):
    z = torch.tensor(tied, dtype=dtype)
    for values in (z, z.double().numpy().astype(np.float32), z.double().numpy()):
        found = torch.as_tensor(maps.focal_log_probs(values, gamma)).double().numpy()
        assert len(set(found[np.array(tied) == max(tied)])) == 1
        assert found.max() == found[np.argmax(tied)]


@pytest.mark.parametrize("gamma", [-1.0, -0.5, 0.0, 2.0])
@pytest.mark.parametrize("function", [maps.focal_log_probs, maps.log_weight, maps.focal_logit, maps.focal_logit_slope])
def test_compiled_and_exported_in_one_graph(function, gamma):
    z = torch.randn(8, 5, dtype=torch.float64, generator=torch.Generator().manual_seed(0)) * 5

    class Module(torch.nn.Module):
        def forward(self, z):
            return function(z, gamma)

    torch._dynamo.reset()
    compiled = torch.compile(Module(), fullgraph=True, backend="eager")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        exported = torch.export.export(Module(), (z,)).module()
    for found in (compiled(z), exported(z)):
        torch.testing.assert_close(found, function(z, gamma), rtol=1e-14, atol=1e-14)


@pytest.mark.parametrize("gamma", [-1.0, -0.5, 0.0, 2.0])
def test_nothing_beyond_the_array_api_standard(gamma):
    z = np.random.default_rng(0).normal(size=(5, 4)) * 4
    maps_of_logits = maps.focal_log_probs, maps.log_weight, maps.focal_logit, maps.inverse_focal_logit
    for function in (*maps_of_logits, maps.focal_logit_slope):
        found = function(array_api_strict.asarray(z), gamma)
        assert isinstance(found, type(array_api_strict.asarray(z)))
        np.testing.assert_allclose(np.asarray(found), function(z, gamma), rtol=1e-13, atol=1e-13)
    if gamma >= 0:
        log_p = maps.focal_log_probs(z, 1.5)
        found = maps.inverse_focal_log_probs(array_api_strict.asarray(log_p), gamma)
        np.testing.assert_allclose(np.asarray(found), maps.inverse_focal_log_probs(log_p, gamma), rtol=1e-12)


# --- order ---------------------------------------------------------------------------

DTYPES = (np.float32, np.float64, torch.float16, torch.bfloat16, torch.float32, torch.float64)


def tied_logits(dtype, k, rng):
    """Rows whose top is tied with others, or with classes a unit in the last place below; some of them saturated."""
    z = (rng.normal(size=(400, k)) * np.repeat([0.1, 1, 3, 30], 100)[:, None]).astype(np.float32)
    rows, top = np.arange(400), z.argmax(1)
    other = (top + 1 + rng.integers(0, k - 1, 400)) % k
    z[rows, other] = z.max(1)
    z[::2][rows[:200], other[::2]] = np.nextafter(z[::2].max(1), np.float32(-np.inf))
    return torch.from_numpy(z).to(dtype) if isinstance(dtype, torch.dtype) else z.astype(dtype)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("gamma", [-0.9, 0.5, 2.0, 20.0, 100.0])
def test_the_top_classes_stay_on_top(dtype, gamma):
    """Exactly: tied ones stay tied, and one just below never passes them, in the map and in its inverse."""
    rng = np.random.default_rng(0)
    for k in (2, 3, 10, 37):
        z = tied_logits(dtype, k, rng)
        maps_of = [maps.focal_log_probs] + [maps.inverse_focal_log_probs] * (k == 2 or gamma >= 0)
        for function in maps_of:
            given = z
            if function is maps.inverse_focal_log_probs:
                if dtype in (torch.float16, torch.bfloat16):
                    continue  # their logarithms are no distributions
                given = maps.focal_log_probs(z, 0.0)
            p = np.asarray(torch.as_tensor(function(given, gamma)).double())
            x = np.asarray(torch.as_tensor(given).double())
            top = x == x.max(1, keepdims=True)
            assert (p == p.max(1, keepdims=True))[top].all()
            spread = np.sort(np.where(top, p, np.inf), 1)[:, 0] == np.where(top, p, -np.inf).max(1)
            assert spread.all()


@pytest.mark.parametrize("dtype", DTYPES[:2] + DTYPES[4:], ids=str)
def test_equal_logits_stay_equal_and_others_in_order(dtype):
    """Of classes below the top, too; more than a few units in the last place apart they keep their order."""
    z = np.round(np.random.default_rng(0).normal(size=(500, 12)) * 8) / 4
    z = torch.from_numpy(z).to(dtype) if isinstance(dtype, torch.dtype) else z.astype(dtype)
    for gamma in (0.5, 5.0, 100.0):
        p = np.asarray(maps.focal_log_probs(z, gamma))
        order = np.argsort(np.asarray(z), 1, kind="stable")
        before, after = np.take_along_axis(np.asarray(z), order, 1), np.take_along_axis(p, order, 1)
        same = np.diff(before) == 0
        assert (np.diff(after)[same] == 0).all()
        assert (np.diff(after)[~same] > 0).all()
