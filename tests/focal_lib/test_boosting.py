"""The boosting objective against 50 digits, autograd, torchvision, and in LightGBM and XGBoost where they are."""

import pickle
from types import SimpleNamespace

import mpmath as mp
import numpy as np
import pytest
import torch
import torchvision
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import expit, softmax

from focal_lib.boosting import FocalObjective

try:
    import lightgbm
except (ImportError, OSError):  # its wheel takes OpenMP from the system
    lightgbm = None

GAMMAS = (0.0, 0.5, 2.0, 5.0)
needs_lightgbm = pytest.mark.skipif(lightgbm is None, reason="LightGBM is not there, or OpenMP")


def data_set(labels, weights=None):
    """As LightGBM's Dataset and XGBoost's DMatrix are to an objective."""
    return SimpleNamespace(get_label=lambda: np.float32(labels), get_weight=lambda: weights)


def loss(raw, labels, gamma, weights):
    """Focal loss with class weights of raw scores (n, K), by autograd; written from its definition."""
    log_q = torch.log_softmax(raw, -1)[range(len(labels)), labels]
    return -torch.as_tensor(weights, dtype=raw.dtype)[labels] * (1 - log_q.exp()) ** gamma * log_q


# --- derivatives -----------------------------------------------------------------------


@pytest.mark.parametrize("gamma", GAMMAS)
@pytest.mark.parametrize("s", [-700.0, -40.0, -3.0, -1e-9, 0.0, 0.7, 20.0, 90.0, 340.0, 700.0])
def test_the_gradient_in_50_digits(s, gamma):
    with mp.workdps(700):  # 1 - q of the other side, by subtraction
        expected = []
        for sign, weight in ((-1, mp.mpf("0.75")), (1, mp.mpf("0.25"))):
            q = 1 / (1 + mp.exp(-sign * mp.mpf(s)))
            expected.append(sign * weight * (1 - q) ** mp.mpf(gamma) * (gamma * q * mp.log(q) - (1 - q)))
        expected = [float(mp.nstr(value, 50)) for value in expected]
    found, curvature = FocalObjective(gamma, 0.25)(np.array([0, 1]), np.array([s, s]))
    np.testing.assert_allclose(found, expected, rtol=1e-12)
    assert (curvature > 0).all()


@pytest.mark.parametrize("gamma", GAMMAS)
def test_derivatives_of_many_classes_by_autograd(gamma):
    rng = np.random.default_rng(0)
    z, y, weights = 4 * rng.normal(size=(300, 4)), rng.integers(0, 4, 300), [0.2, 1.0, 3.0, 0.7]
    raw = torch.from_numpy(z).requires_grad_()
    (slope,) = torch.autograd.grad(loss(raw, y, gamma, weights).sum(), raw, create_graph=True)
    rows = [torch.autograd.grad(slope[:, k].sum(), raw, retain_graph=True)[0][:, k] for k in range(4)]
    curvature = torch.stack(rows, -1).numpy()
    found, bound = FocalObjective(gamma, weights)(y, z)
    np.testing.assert_allclose(found, slope.detach().numpy(), atol=1e-12)
    assert (bound >= 4 / 3 * curvature - 1e-12).all()
    q = softmax(z, -1)
    if gamma == 0:
        np.testing.assert_allclose(bound, 4 / 3 * np.array(weights)[y][:, None] * q * (1 - q), atol=1e-12)
    else:
        assert curvature.min() < 0 < bound.min()


def test_the_gradient_is_torchvisions():
    s = torch.linspace(-8, 8, 65, dtype=torch.float64, requires_grad=True)
    for y in (0, 1):
        labels = torch.full_like(s, y)
        theirs = torchvision.ops.sigmoid_focal_loss(s, labels, alpha=0.25, gamma=2.0, reduction="sum")
        (slope,) = torch.autograd.grad(theirs, s)
        found, _ = FocalObjective(2.0, 0.25)(labels.numpy(), s.detach().numpy())
        np.testing.assert_allclose(found, slope, atol=1e-14)


@settings(deadline=None, max_examples=100)
@given(st.floats(-12, 12), st.floats(0, 8), st.floats(0.01, 0.99))
def test_the_second_derivative_is_below_its_bound(s, gamma, alpha):
    raw = torch.tensor([s, s], dtype=torch.float64, requires_grad=True)
    t = raw * torch.tensor([-1.0, 1.0])
    value = -(torch.sigmoid(-t) ** gamma) * torch.nn.functional.logsigmoid(t)
    (slope,) = torch.autograd.grad(
        (value * torch.tensor([1 - alpha, alpha], dtype=torch.float64)).sum(), raw, create_graph=True
    )
    (curvature,) = torch.autograd.grad(slope.sum(), raw)
    found, bound = FocalObjective(gamma, alpha)(np.array([0, 1]), np.array([s, s]))
    np.testing.assert_allclose(found, slope.detach(), rtol=1e-7, atol=1e-14)
    assert (bound >= curvature.numpy() * (1 - 1e-7)).all()
    of_log_loss = np.array([1 / expit(-s), 1 / expit(s)])  # Newton's steps: of q by q (1-q), of 1-q
    assert (np.abs(found) / bound <= of_log_loss / (gamma + 1) * (1 + 1e-7)).all()


def test_the_bound_is_tight_where_the_label_is_certain():
    s, step = np.array([12.0]), 1e-4
    objective = FocalObjective(2.0)
    slopes = [objective(np.array([1]), s + d)[0] for d in (step, -step)]
    assert (slopes[0] - slopes[1]) / (2 * step) == pytest.approx(objective(np.array([1]), s)[1], rel=1e-3)


@pytest.mark.parametrize("gamma", GAMMAS)
def test_two_classes_are_one_logit(gamma):
    rng = np.random.default_rng(1)
    z, y = 5 * rng.normal(size=(50, 2)), rng.integers(0, 2, 50)
    both, one = FocalObjective(gamma, 0.3)(y, z), FocalObjective(gamma, 0.3)(y, z[:, 1] - z[:, 0])
    np.testing.assert_allclose(both[0], np.stack([-one[0], one[0]], -1), rtol=1e-9, atol=1e-15)
    np.testing.assert_allclose(both[1], 2 * np.stack([one[1], one[1]], -1), rtol=1e-9, atol=3e-16)


def test_without_gamma_it_is_log_loss():
    y, s = np.array([0, 1, 1]), np.array([0.3, -2.0, 5.0])
    gradient, curvature = FocalObjective(0.0)(y, s)
    np.testing.assert_allclose(gradient, expit(s) - y, rtol=1e-12)
    np.testing.assert_allclose(curvature, expit(s) * expit(-s), rtol=1e-12)


def test_scores_far_out_of_many_classes():
    z = np.array([[0.0, 700.0, -700.0], [0.0, 700.0, 700.0], [1e4, 0.0, -1e4]])
    gradient, curvature = FocalObjective(2.0)(np.array([0, 0, 0]), z)
    np.testing.assert_allclose(gradient, [[-1, 1, 0], [-1, 0.5, 0.5], [0, 0, 0]], atol=1e-12)
    assert np.isfinite(curvature).all()
    assert (curvature > 0).all()


# --- what boosting calls ---------------------------------------------------------------


def test_it_is_called_in_both_ways():
    y, s, w = np.array([0, 1, 1, 0]), np.array([0.5, -1.0, 2.0, 0.0]), np.array([1.0, 2.0, 0.0, 0.5])
    objective = FocalObjective(2.0, 0.25)
    plain = objective(y, s)
    for weights in (None, np.array([], np.float32)):
        np.testing.assert_array_equal(objective(np.float32(s), data_set(y, weights)), plain)
        np.testing.assert_array_equal(objective(y, s, weights), plain)
    np.testing.assert_allclose(objective(s, data_set(y, w)), np.array(plain) * w)
    np.testing.assert_allclose(objective(y, s, sample_weight=w), np.array(plain) * w)
    z = np.stack([np.zeros(4), s, -s], -1)
    np.testing.assert_allclose(FocalObjective(1.0)(z, data_set(y, w))[0], FocalObjective(1.0)(y, z)[0] * w[:, None])


def test_soft_labels_are_a_mixture():
    s, y = np.array([1.5, -0.3]), np.array([0.3, 0.9])
    objective = FocalObjective(2.0, 0.4)
    found = np.array(objective(y, s))
    np.testing.assert_allclose(found, y * objective(np.ones(2), s) + (1 - y) * objective(np.zeros(2), s))


@pytest.mark.parametrize("gamma", GAMMAS)
@pytest.mark.parametrize("class_weights", [None, 0.25, (1, 30)])
def test_at_the_initial_score_the_gradient_is_0(gamma, class_weights):
    rng = np.random.default_rng(0)
    y, w = (rng.random(500) < 0.09).astype(np.float32), rng.random(500)
    objective = FocalObjective(gamma, class_weights)
    for labels, weights in ((y, None), (y, w), (0.05 + 0.5 * y, w)):
        start = objective.initial_score(labels, weights)
        gradient, curvature = objective(labels, np.full(500, start), weights)
        assert abs(gradient.sum()) < 1e-10 * curvature.sum()
        assert objective.probabilities(start) == pytest.approx(np.average(labels, weights=weights), rel=1e-6)
    several = FocalObjective(gamma, [1, 2, 5])
    y = np.float32(rng.choice(3, 500, p=[0.7, 0.2, 0.1]))
    start = np.tile(several.initial_score(y, w), (500, 1))
    assert np.abs(several(y, start, w)[0].sum(0)).max() < 1e-10
    shares = [w[y == k].sum() / w.sum() for k in range(3)]
    np.testing.assert_allclose(several.probabilities(start[:1])[0], shares, rtol=1e-6)


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: FocalObjective(-1.0), "gamma must be a finite number >= 0. Got -1"),
        (lambda: FocalObjective(2.0)([-1, 1], [0.0, 0.0]), r"must lie in 0 ... 1. Got values from -1 to 1"),
        (lambda: FocalObjective(2.0)([0, 3], np.zeros((2, 3))), r"whole numbers in 0 ... 2. Got values from 0 to 3"),
        (lambda: FocalObjective(2.0)([0, 0.5], np.zeros((2, 3))), "whole numbers in 0 ... 2"),
        (lambda: FocalObjective(2.0)([0, 1], np.zeros(3)), r"Got \(3,\) and \(2,\)"),
        (lambda: FocalObjective(2.0)([0, 1], [np.inf, 0]), "raw scores must be finite"),
        (lambda: FocalObjective(2.0)([0, 1], [0.0, 0], [1, -1]), r"sample_weight must be \(2,\).*least -1"),
        (lambda: FocalObjective(2.0, [1, 2, 3])([0, 1], [0.0, 0]), "class_weights must be 2 numbers"),
        (lambda: FocalObjective(2.0).initial_score([0, 0]), r"every class, 0 ... 1. Got shares \[1.0, 0.0\]"),
        (lambda: FocalObjective(2.0).initial_score([]), r"labels must have shape \(n,\)"),
    ],
)
def test_what_is_refused(call, said):
    with pytest.raises(ValueError, match=said):
        call()


# --- in the libraries ------------------------------------------------------------------


@pytest.fixture(scope="module")
def rare():
    """Features, labels, true probabilities of a rare event, 9 %: to train on, then as many to try."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=(10_000, 5))
    p = expit(-4.3 + 1.4 * x[:, 0] + 1.2 * x[:, 1] * x[:, 2] + np.abs(x[:, 3]))
    return x, (rng.random(len(x)) < p).astype(int), p


OPTIONS = {"learning_rate": 0.1, "num_leaves": 15, "num_threads": 1, "verbose": -1}


def raw_scores(objective, rare, rounds=80, **options):
    """Of LightGBM trained on the first half, of the second half."""
    x, y, _ = rare
    half = len(x) // 2
    start = objective.initial_score(y[:half])
    data = lightgbm.Dataset(x[:half], y[:half], init_score=np.full(half, start))
    trees = lightgbm.train(OPTIONS | {"objective": objective} | options, data, rounds)
    return trees.predict(x[half:], raw_score=True) + start


class FrozenWeight(FocalObjective):
    """g (q_y) as a weight of log-loss that the step takes as fixed: without the factor gamma + 1."""

    def __call__(self, *given):
        gradient, bound = super().__call__(*given)
        return gradient, bound / (self.gamma + 1)


@needs_lightgbm
@pytest.mark.parametrize("gamma", [2.0, 5.0])
def test_it_converges_at_a_learning_rate_of_1_and_without_its_factor_it_does_not(rare, gamma):
    own, frozen = (
        raw_scores(kind(gamma), rare, rounds=15, learning_rate=1.0) for kind in (FocalObjective, FrozenWeight)
    )
    assert np.abs(own).max() < 10
    assert np.abs(frozen).max() > 100


@needs_lightgbm
@pytest.mark.parametrize(("class_weights", "as_it_is"), [(None, 0.14), (0.25, 0.09)])
def test_the_way_back_from_lightgbm(rare, class_weights, as_it_is):
    objective, truth = FocalObjective(2.0, class_weights), rare[2][5000:]
    raw = raw_scores(objective, rare)
    assert np.abs(expit(raw) - truth).mean() > as_it_is
    by_log_loss = np.abs(expit(raw_scores(FocalObjective(0.0), rare)) - truth).mean()
    assert np.abs(objective.probabilities(raw) - truth).mean() < 1.1 * by_log_loss < 0.045


@needs_lightgbm
def test_lightgbms_interfaces_agree_and_without_gamma_it_is_its_own(rare):
    x, y, _ = rare
    x, y, w = x[:2000], y[:2000], np.random.default_rng(0).random(2000)
    objective = FocalObjective(2.0, 0.25)
    data = lightgbm.Dataset(x, y, weight=w)
    plain = lightgbm.train(OPTIONS | {"objective": objective}, data, 10).predict(x, raw_score=True)
    model = lightgbm.LGBMClassifier(objective=objective, n_estimators=10, n_jobs=1, **OPTIONS).fit(
        x, y, sample_weight=w
    )
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(model)).predict(x, raw_score=True), plain)
    own = lightgbm.train(OPTIONS | {"objective": "binary", "boost_from_average": False}, data, 10)
    same = lightgbm.train(OPTIONS | {"objective": FocalObjective(0.0)}, data, 10)
    np.testing.assert_allclose(same.predict(x, raw_score=True), own.predict(x, raw_score=True), atol=1e-5)
    several = OPTIONS | {"num_class": 3}
    data = lightgbm.Dataset(x, y + (x[:, 0] > 0.5))
    own = lightgbm.train(several | {"objective": "multiclass", "boost_from_average": False}, data, 5)
    same = lightgbm.train(several | {"objective": FocalObjective(0.0)}, data, 5)
    np.testing.assert_allclose(same.predict(x, raw_score=True), own.predict(x, raw_score=True), atol=1e-5)


def test_xgboosts_interfaces_agree(rare):
    xgboost = pytest.importorskip("xgboost")
    x, y, _ = rare
    w, options = np.random.default_rng(0).random(len(x)), {"max_depth": 3, "learning_rate": 0.1}
    objective, start = FocalObjective(2.0, 0.25), np.zeros(len(x))
    data = xgboost.DMatrix(x, y, weight=w, base_margin=start)
    plain = xgboost.train(options | {"nthread": 1}, data, 10, obj=objective).predict(data, output_margin=True)
    model = xgboost.XGBClassifier(objective=objective, n_estimators=10, n_jobs=1, **options)
    model.fit(x, y, sample_weight=w, base_margin=start)
    np.testing.assert_allclose(model.predict(x, output_margin=True, base_margin=start), plain, atol=1e-6)
