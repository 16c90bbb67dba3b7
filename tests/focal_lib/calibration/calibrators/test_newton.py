"""Newton fits: derivatives, recovery of what made the labels, scale, subsets."""

import numpy as np
import pytest
import torch
from hypothesis import Phase, example, given, settings
from hypothesis import strategies as st
from sklearn.base import clone

from focal_lib.calibration.calibrators import newton
from focal_lib.calibration.calibrators.focal_temperature import FocalTemperatureScaling
from focal_lib.calibration.calibrators.temperature import TemperatureScaling
from focal_lib.calibration.logit_sets import MISSING
from focal_lib.metrics.scores import nll
from focal_lib.theory.maps import focal_log_probs


@pytest.mark.parametrize("classes", [2, 5, 30])
@pytest.mark.parametrize("gamma", [-0.9, -0.3, 0.0, 0.7, 20.0])
def test_derivatives_of_the_nll(classes, gamma):
    """Against automatic differentiation; rows with ties and large logits among them."""
    rng = np.random.default_rng(classes)
    z = torch.from_numpy(rng.normal(size=(40, classes)) * 3)
    z[0] *= 30
    z[1] = 0
    y = torch.from_numpy(rng.integers(0, classes, 40))

    def total(theta):
        return -focal_log_probs(z * theta[0], theta[1]).gather(-1, y[:, None]).sum()

    theta = torch.tensor([0.7, gamma], dtype=torch.float64)
    slope = torch.autograd.functional.jacobian(total, theta)
    found = newton.focal_sums(0.7, gamma, z.numpy(), y.numpy())
    np.testing.assert_allclose(found[:3], [float(total(theta)), *slope], rtol=1e-10)
    ends = [newton.focal_sums(0.7 + h, gamma, z.numpy(), y.numpy())[1:3] for h in (-1e-5, 1e-5)]
    across = [newton.focal_sums(0.7, gamma + h, z.numpy(), y.numpy())[1:3] for h in (-1e-5, 1e-5)]
    np.testing.assert_allclose(found[[3, 4]], (ends[1] - ends[0]) / 2e-5, rtol=1e-6, atol=1e-5)
    np.testing.assert_allclose(found[[4, 5]], (across[1] - across[0]) / 2e-5, rtol=1e-6, atol=1e-5)


def test_large_logits_have_finite_derivatives():
    z = np.array([[1e4, 0.0, -1e4], [0.0, 0.0, -1e4], [3e3, 3e3, 3e3]])
    for gamma in (-0.9, 0.0, 20.0):
        assert np.isfinite(newton.focal_sums(1.0, gamma, z, np.arange(3))).all()


@pytest.mark.parametrize("gamma", [-0.9, 0.0, 20.0])
def test_options_that_are_not_there_add_nothing(gamma):
    """Columns of samples with fewer options, and a sample with one option alone, which is certain."""
    z, y = np.random.default_rng(0).normal(size=(40, 3)) * 3, np.arange(40) % 3
    wide = np.pad(z, ((0, 1), (0, 2)), constant_values=MISSING)
    wide[-1, 0] = 2.0
    np.testing.assert_allclose(
        newton.focal_sums(0.7, gamma, wide, np.r_[y, 0]), newton.focal_sums(0.7, gamma, z, y), rtol=1e-8
    )


@pytest.mark.parametrize("offset", [0.0, 99.0, 5e3])
@pytest.mark.parametrize("classes", [2, 30])
def test_derivatives_by_the_temperature(offset, classes):
    """Against automatic differentiation, of small logits and of those whose exponentials are no numbers."""
    rng = np.random.default_rng(classes)
    z = torch.from_numpy(rng.normal(size=(40, classes)) * 3 + offset)
    y = torch.from_numpy(rng.integers(0, classes, 40))

    def total(beta):
        return torch.nn.functional.cross_entropy(beta * z, y, reduction="sum")

    beta = torch.tensor(0.7, dtype=torch.float64)
    slope = torch.autograd.functional.jacobian(total, beta)
    curve = torch.autograd.functional.hessian(total, beta)
    found = newton.temperature_sums(0.7, z.numpy(), y.numpy())
    np.testing.assert_allclose(found, [total(beta), slope, curve], rtol=1e-9)


@pytest.mark.parametrize(("wrong_within", "wrong_outside"), [(0, 400), (300, 0)])
def test_a_subset_without_a_minimum_does_no_harm(monkeypatch, wrong_within, wrong_outside):
    """The subset that gives larger fits their start has all labels right, or is worse than chance."""
    z, y = np.tile([[2.0, 0.0]], (4_000, 1)), np.zeros(4_000, dtype=int)
    subset = np.sort(np.random.default_rng(0).choice(4_000, 500, replace=False))
    y[subset[:wrong_within]] = 1
    y[np.setdiff1d(np.arange(4_000), subset)[:wrong_outside]] = 1
    monkeypatch.setattr(newton, "_FEW", 1)
    wrong = y.sum()
    assert TemperatureScaling("nll").fit(z, y).temperature_ == pytest.approx(2 / np.log(4_000 / wrong - 1), rel=1e-12)


def test_one_sample_out_of_all_proportion_does_not_move_the_minimum(synthetic_logits):
    z, y = synthetic_logits(2_000, 3, temperature=2.0)
    wanted = TemperatureScaling("nll").fit(z[1:], y[1:]).temperature_
    z[0] *= 1e10
    y[0] = z[0].argmax()
    assert TemperatureScaling("nll").fit(z, y).temperature_ == pytest.approx(wanted, rel=1e-3)


@settings(deadline=None, max_examples=3, phases=(Phase.explicit, Phase.generate))
@example(-0.84375, 3.0, 0)  # a second minimum lies at gamma -0.41
@given(st.floats(-0.85, 6.0), st.floats(0.5, 3.0), st.integers(0, 10**6))
@pytest.mark.slow
def test_newton_recovers_what_made_the_labels(synthetic_logits, gamma, temperature, seed):
    """Along the ridge where gamma and T trade off, so the probabilities are compared."""
    z, y = synthetic_logits(60_000, 4, seed, temperature, gamma)
    found = FocalTemperatureScaling("nll", "newton").fit(z, y)
    truth = np.exp(focal_log_probs(z / temperature, gamma))
    assert np.abs(found.predict_proba(z) - truth).max() < 0.05
    assert found.objective_ <= nll(truth, y) + 1e-12


@pytest.mark.parametrize("factor", [1e-90, 1e-7, 1e7, 1e20])
@pytest.mark.parametrize("method", [TemperatureScaling(), FocalTemperatureScaling("nll", "newton")])
def test_the_scale_of_the_logits_does_not_matter(synthetic_logits, factor, method):
    z, y = synthetic_logits(500, 5)
    one = clone(method).fit(z, y)
    other = clone(method).fit(z * factor, y)
    assert other.temperature_ / factor == pytest.approx(one.temperature_, rel=1e-5)
    assert other.objective_ == pytest.approx(one.objective_, abs=1e-12)


def test_a_sample_that_misleads_does_no_harm(synthetic_logits, monkeypatch):
    """Every fourth row is wrong, and so are most rows of the sample."""
    monkeypatch.setattr("focal_lib.calibration.calibrators.newton._SAMPLE", 200)
    z, y = synthetic_logits(2000, 5)
    rows = np.sort(np.random.default_rng(0).choice(2000, 200, replace=False))
    y[rows] = z[rows].argmin(1)
    fit = FocalTemperatureScaling("nll", "newton").fit(z, y)
    order = np.random.default_rng(1).permutation(2000)
    again = FocalTemperatureScaling("nll", "newton").fit(z[order], y[order])
    assert fit.objective_ == pytest.approx(again.objective_, abs=1e-9)
