"""Calibrators: recovery, agreement with plain loops and with scikit-learn."""

import pickle

import numpy as np
import pandas as pd
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.calibration import _TemperatureScaling
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

from focal_lib.calibration import calibrators
from focal_lib.calibration.calibrators import (
    DirichletCalibration,
    FocalTemperatureScaling,
    MatrixScaling,
    TemperatureScaling,
    VectorScaling,
    newton,
)
from focal_lib.metrics.bins import adaptive_ece, adaptive_ece_of
from focal_lib.metrics.scores import nll
from focal_lib.theory.confidence import sample_simplex, top_probability_bounds
from focal_lib.theory.maps import focal_log_probs


def plain_loop(z, y, gammas, temperatures):
    """Every pair by torch operations: the reference for argmin and for speed."""
    best = (np.inf, None, None)
    for gamma in gammas:
        for t in temperatures:
            probs = np.exp(focal_log_probs(z / t, gamma))
            correct = (z.argmax(1) == y).astype(float)
            value = adaptive_ece_of(probs.max(1), correct)
            if value < best[0] - 1e-13:
                best = (value, gamma, t)
    return best


@settings(deadline=None, max_examples=12)
@given(
    st.integers(0, 10**6),
    st.sampled_from([2, 3, 10, 40]),
    st.sampled_from([0.5, 1.0, 2.5]),
    st.sampled_from([-0.5, 0.0, 2.0]),
)
def test_grid_search_finds_the_plain_loops_optimum(synthetic_logits, seed, classes, temperature, gamma):
    z, y = synthetic_logits(120, classes, seed, temperature, gamma)
    gammas, temperatures = (-0.9, -0.5, 0.0, 0.25, 1.0, 5.0), np.arange(0.1, 5, 0.1)
    if len(np.unique(y)) < 2:
        return
    found = FocalTemperatureScaling("adaptive-ece", gammas=gammas, temperatures=temperatures).fit(z, y)
    value, _, _ = plain_loop(z, y, gammas, temperatures)
    assert found.objective_ == pytest.approx(value, abs=1e-12)
    probs = found.predict_proba(z)
    assert adaptive_ece(probs, y) == pytest.approx(value, abs=1e-12)


@settings(deadline=None, max_examples=60)
@given(
    st.integers(0, 10**6), st.one_of(st.floats(-0.95, -0.01), st.floats(0.01, 20)), st.sampled_from([2, 3, 10, 1000])
)
def test_confidence_stays_within_its_bounds_at_other_temperatures(seed, gamma, classes):
    """What the grid search rests on: the bounds at one T hold at all warmer and colder ones."""
    z = np.log(sample_simplex(classes, seed, 40))
    path = calibrators.EceSurface(z, np.zeros(len(z), int))
    values = [path._evaluate(gamma, t) for t in np.geomspace(0.05, 10, 16)]
    for here, (confidence, logit_top) in enumerate(values):
        low, high = top_probability_bounds(logit_top, confidence, gamma, classes)
        assert all((colder >= low - 1e-12).all() for colder, _ in values[: here + 1])
        assert all((warmer <= high + 1e-12).all() for warmer, _ in values[here:])


@pytest.mark.parametrize("gamma", [-0.9, -0.25, 0.0, 0.5, 5.0])
def test_confidence_path_is_the_map(synthetic_logits, gamma):
    z, y = synthetic_logits(300, 12)
    z[0] *= 1e3  # a saturated row
    path = calibrators.EceSurface(z, y)
    for t in (0.01, 0.3, 1.0, 5.0):
        expected = np.exp(focal_log_probs(z / t, gamma)).max(1)
        np.testing.assert_allclose(path.confidence(gamma, t), expected, atol=1e-12)


def test_line_search_is_near_the_grid(synthetic_logits):
    for seed in range(3):
        z, y = synthetic_logits(3000, 10, seed)
        grid = FocalTemperatureScaling("adaptive-ece", "grid").fit(z, y)
        line = FocalTemperatureScaling("adaptive-ece", "line").fit(z, y)
        assert line.objective_ <= grid.objective_ + 2e-3


def test_temperature_agrees_with_scikit_learn(synthetic_logits):
    z, y = synthetic_logits(3000, 4)
    theirs = _TemperatureScaling().fit(z, y)  # the estimator behind method="temperature"
    ours = TemperatureScaling("nll").fit(z, y)
    assert ours.temperature_ == pytest.approx(1 / theirs.beta_, rel=1e-4)


def test_known_parameters_are_recovered(synthetic_logits):
    z, y = synthetic_logits(200_000, 5, temperature=1.7)
    assert TemperatureScaling("nll").fit(z, y).temperature_ == pytest.approx(1.7, rel=0.02)
    z, y = synthetic_logits(200_000, 5, temperature=1.5, gamma=1.0)
    found = FocalTemperatureScaling("nll", "newton").fit(z, y)
    assert found.gamma_ == pytest.approx(1.0, abs=0.15)
    assert found.temperature_ == pytest.approx(1.5, rel=0.08)


def test_newton_is_at_least_as_good_as_the_grid(synthetic_logits):
    z, y = synthetic_logits(1500, 6, gamma=0.5)
    newton = FocalTemperatureScaling("nll", "newton").fit(z, y)
    grid = FocalTemperatureScaling("nll", "grid").fit(z, y)
    line = FocalTemperatureScaling("nll", "line").fit(z, y)
    assert newton.objective_ <= grid.objective_ + 1e-9
    assert grid.objective_ <= line.objective_ + 1e-9


@settings(deadline=None, max_examples=8)
@given(st.floats(-0.85, 6.0), st.floats(0.5, 3.0), st.integers(0, 10**6))
def test_newton_recovers_what_made_the_labels(synthetic_logits, gamma, temperature, seed):
    """Along the ridge where gamma and T trade off, so the probabilities are compared."""
    z, y = synthetic_logits(60_000, 4, seed, temperature, gamma)
    found = FocalTemperatureScaling("nll", "newton").fit(z, y)
    truth = np.exp(focal_log_probs(z / temperature, gamma))
    assert np.abs(found.predict_proba(z) - truth).max() < 0.05
    assert found.objective_ <= nll(truth, y) + 1e-12


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
    found = newton.focal_sums(0.7, gamma, z, y)
    np.testing.assert_allclose(found[:3], [float(total(theta)), *slope], rtol=1e-10)
    ends = [newton.focal_sums(0.7 + h, gamma, z, y)[1:3] for h in (-1e-5, 1e-5)]
    across = [newton.focal_sums(0.7, gamma + h, z, y)[1:3] for h in (-1e-5, 1e-5)]
    np.testing.assert_allclose(found[[3, 4]], (ends[1] - ends[0]) / 2e-5, rtol=1e-6, atol=1e-5)
    np.testing.assert_allclose(found[[4, 5]], (across[1] - across[0]) / 2e-5, rtol=1e-6, atol=1e-5)


def test_large_logits_have_finite_derivatives():
    z = torch.tensor([[1e4, 0.0, -1e4], [0.0, 0.0, -1e4], [3e3, 3e3, 3e3]], dtype=torch.float64)
    for gamma in (-0.9, 0.0, 20.0):
        assert np.isfinite(newton.focal_sums(1.0, gamma, z, torch.tensor([0, 1, 2]))).all()


@pytest.mark.parametrize("factor", [1e-7, 1e5, 1e7])
@pytest.mark.parametrize("method", [TemperatureScaling(), FocalTemperatureScaling("nll", "newton")])
def test_the_scale_of_the_logits_does_not_matter(synthetic_logits, factor, method):
    z, y = synthetic_logits(500, 5)
    one = clone(method).fit(z, y)
    other = clone(method).fit(z * factor, y)
    assert other.temperature_ / factor == pytest.approx(one.temperature_, rel=1e-5)
    assert other.objective_ == pytest.approx(one.objective_, abs=1e-12)


def test_a_sample_that_misleads_does_no_harm(synthetic_logits, monkeypatch):
    """Every fourth row is wrong, and so are most rows of the sample."""
    monkeypatch.setattr("focal_lib.calibration.calibrators.newton._SAMPLE", 500)
    z, y = synthetic_logits(8000, 5)
    rows = np.sort(np.random.default_rng(0).choice(8000, 500, replace=False))
    y[rows] = z[rows].argmin(1)
    fit = FocalTemperatureScaling("nll", "newton").fit(z, y)
    order = np.random.default_rng(1).permutation(8000)
    again = FocalTemperatureScaling("nll", "newton").fit(z[order], y[order])
    assert fit.objective_ == pytest.approx(again.objective_, abs=1e-9)


def test_no_minimum_is_said():
    z = np.where(np.arange(40)[:, None] % 3 == np.arange(3), 5.0, 0.0)
    with pytest.warns(ConvergenceWarning, match="T tends to 0: no label is below another class"):
        TemperatureScaling().fit(z, np.arange(40) % 3)
    with pytest.warns(ConvergenceWarning, match="T tends to infinity: labels are not above chance"):
        TemperatureScaling().fit(z, (np.arange(40) + 1) % 3)


def test_kinds_of_numbers(synthetic_logits):
    z, y = synthetic_logits(300, 3)
    for method in (TemperatureScaling(), VectorScaling(1e-3), DirichletCalibration()):
        fit = clone(method).fit(z, y)
        expected = fit.predict_proba(z)
        for kind, tolerance in ((np.float16, 2e-3), (np.float32, 1e-6)):
            found = fit.predict_proba(z.astype(kind))
            np.testing.assert_allclose(found, expected, atol=tolerance)
            assert found.dtype == (np.float32 if kind is np.float32 else np.float64)
        whole = np.round(z).astype(np.int64)
        np.testing.assert_allclose(fit.predict_proba(torch.from_numpy(whole)), fit.predict_proba(whole), atol=1e-6)
        np.testing.assert_allclose(fit.predict_proba(pd.DataFrame(z)), expected)
        half = clone(method).fit(torch.from_numpy(z).bfloat16(), torch.from_numpy(y.astype(np.int8)))
        np.testing.assert_allclose(half.predict_proba(z), expected, atol=0.05)
    large = (z * 3000).astype(np.float16)
    finite = large[np.isfinite(large).all(1)]
    fit = TemperatureScaling().fit(z, y)
    fit.temperature_ = 0.3
    assert np.isfinite(fit.predict_proba(finite)).all()


# --- ties, shrinkage, what is proved ---------------------------------------------------


def test_ties_go_to_the_simpler_pair():
    z = np.where(np.arange(40)[:, None] % 2 == np.arange(2), 1e7, 0.0)  # confidence 1 at every pair
    y = np.r_[np.arange(36) % 2, [1, 0, 1, 0]]
    found = FocalTemperatureScaling("adaptive-ece", gammas=(-0.5, 1.0, 0.25, 0.0)).fit(z, y)
    assert (found.gamma_, found.temperature_) == (0.0, 1.0)
    without_zero = FocalTemperatureScaling("adaptive-ece", gammas=(-0.5, 1.0, 0.25)).fit(z, y)
    assert (without_zero.gamma_, without_zero.temperature_) == (0.25, 1.0)


def test_a_plateau_of_the_nll_is_plain_temperature_scaling():
    z = np.where(np.arange(40)[:, None] % 2 == np.arange(2), 1e7, 0.0)
    found = FocalTemperatureScaling("nll", "newton").fit(z, np.arange(40) % 2)
    assert found.gamma_ == 0


def test_shrinkage_draws_gamma_to_zero(synthetic_logits):
    z, y = synthetic_logits(4000, 4, gamma=3.0)
    gammas = [
        FocalTemperatureScaling("nll", "newton", shrinkage=s).fit(z, y).gamma_ for s in (0.0, 1.0, 10.0, 100.0, 1e6)
    ]
    assert gammas == sorted(gammas, reverse=True)
    assert gammas[0] > 0.1
    assert abs(gammas[-1]) < 1e-2
    plain = TemperatureScaling().fit(z, y)
    strong = FocalTemperatureScaling("nll", "newton", shrinkage=1e6).fit(z, y)
    assert strong.temperature_ == pytest.approx(plain.temperature_, rel=1e-3)
    by_ece = FocalTemperatureScaling("adaptive-ece", gammas=calibrators.WIDE_GAMMAS, shrinkage=1e6).fit(z, y)
    assert by_ece.gamma_ == 0


def test_shrinkage_helps_where_rows_are_few(synthetic_logits):
    test, labels = synthetic_logits(20_000, 4, 10**6)
    worse = []
    for seed in range(25):
        z, y = synthetic_logits(60, 4, seed)
        losses = [
            nll(FocalTemperatureScaling("nll", "newton", shrinkage=s).fit(z, y).predict_proba(test), labels)
            for s in (0.0, 5.0)
        ]
        worse.append(losses[0] - losses[1])
    assert np.mean(worse) > 2 * np.std(worse) / np.sqrt(len(worse))


def test_what_is_proved_is_said(synthetic_logits):
    z, y = synthetic_logits(300, 3)
    small = {"gammas": (-0.9, 0.0, 1.0), "temperatures": np.arange(0.5, 3, 0.25)}
    assert FocalTemperatureScaling("adaptive-ece", "grid", **small).fit(z, y).optimal_
    assert not FocalTemperatureScaling("adaptive-ece", "line", **small).fit(z, y).optimal_
    assert not FocalTemperatureScaling("nll", "grid", **small).fit(z, y).optimal_
    assert not FocalTemperatureScaling("nll", "newton").fit(z, y).optimal_
    assert TemperatureScaling().fit(z, y).optimal_


def test_in_a_pipeline_and_a_search(synthetic_logits):
    z, y = synthetic_logits(400, 4)
    halved = make_pipeline(FunctionTransformer(lambda rows: rows / 2), TemperatureScaling()).fit(z, y)
    assert halved[-1].temperature_ == pytest.approx(TemperatureScaling().fit(z, y).temperature_ / 2)
    search = GridSearchCV(VectorScaling(), {"l2": [1e-4, 1e2]}, scoring="neg_log_loss", cv=3).fit(z, y)
    assert search.best_estimator_.l2 in (1e-4, 1e2)
    assert search.predict_proba(z).shape == z.shape


def test_vector_and_matrix_scaling(synthetic_logits):
    z, y = synthetic_logits(2000, 4)
    plain = nll(TemperatureScaling().fit(z, y).predict_proba(z), y)
    vector = nll(VectorScaling().fit(z, y).predict_proba(z), y)
    matrix = nll(MatrixScaling().fit(z, y).predict_proba(z), y)
    assert matrix <= vector + 1e-6 <= plain + 2e-6
    theirs = LogisticRegression(C=np.inf, max_iter=1000, tol=1e-8).fit(z, y)  # the same model
    np.testing.assert_allclose(MatrixScaling().fit(z, y).predict_proba(z), theirs.predict_proba(z), atol=2e-3)


@pytest.mark.parametrize("method", [TemperatureScaling(), FocalTemperatureScaling(), VectorScaling(), MatrixScaling()])
def test_conventions(synthetic_logits, method):
    z, y = synthetic_logits(300, 3)
    with pytest.raises(NotFittedError):
        clone(method).predict_proba(z)
    fitted = clone(method).fit(z, y)
    assert fitted.get_params() == method.get_params()
    p = fitted.predict_proba(z)
    np.testing.assert_allclose(p.sum(1), 1)
    assert fitted.score(z, y) == pytest.approx((p.argmax(1) == y).mean())
    tensor = fitted.predict_proba(torch.from_numpy(z))
    assert isinstance(tensor, torch.Tensor)
    np.testing.assert_allclose(tensor.numpy(), p, atol=1e-12)
    with pytest.raises(ValueError, match="the 3 classes of fit"):
        fitted.predict_proba(np.zeros((2, 4)))
    assert pickle.loads(pickle.dumps(fitted)).predict(z[:2]).shape == (2,)


def test_the_class_never_changes(synthetic_logits):
    z, y = synthetic_logits(500, 7)
    for fitted in (FocalTemperatureScaling().fit(z, y), TemperatureScaling("adaptive-ece").fit(z, y)):
        np.testing.assert_array_equal(fitted.predict(z), z.argmax(1))


@pytest.mark.parametrize(
    ("method", "message"),
    [
        (TemperatureScaling("adaptive-ece", temperatures=()), "temperatures must be positive numbers, at least one"),
        (TemperatureScaling(temperatures=(0.0, 1.0)), "temperatures must be positive"),
        (FocalTemperatureScaling(gammas=()), "gammas must hold at least one"),
        (FocalTemperatureScaling(gammas=(-1.5,)), "gamma must be a finite number"),
        (FocalTemperatureScaling("brier"), "objective must be 'nll', 'ece' or 'adaptive-ece'"),
        (FocalTemperatureScaling("adaptive-ece", "newton"), "an ECE has no derivatives"),
        (FocalTemperatureScaling(search="random"), "search must be"),
        (MatrixScaling(l2=-1), "l2 must be >= 0"),
        (FocalTemperatureScaling(shrinkage=-1), "shrinkage must be >= 0"),
    ],
)
def test_bad_options(synthetic_logits, method, message):
    with pytest.raises(ValueError, match=message):
        method.fit(*synthetic_logits(50, 3))


@pytest.mark.parametrize(
    ("z", "y", "message"),
    [
        (np.zeros((3, 2)), np.zeros(3, int), "at least two classes. Got only class 0"),
        (np.full((2, 2), np.nan), np.array([0, 1]), "must be finite"),
        (np.zeros((2, 2)), np.array([0, 5]), "labels must lie in 0 ... 1"),
        (np.zeros((2, 2)), np.array([0.0, 1.0]), "labels must be integers"),
        (np.zeros((2, 2, 2)), np.array([0, 1]), r"logits must have shape \(n, K\)"),
        (np.zeros((0, 2)), np.zeros(0, int), "must not be empty"),
        (np.zeros((2, 2)), np.array([0, 1, 1]), r"labels must have shape \(n,\)"),
    ],
)
def test_bad_data(z, y, message):
    for method in (TemperatureScaling(), FocalTemperatureScaling(), VectorScaling()):
        with pytest.raises(ValueError, match=message):
            method.fit(z, y)
