"""Platt scaling against scikit-learn, with and without Platt's targets."""

import numpy as np
import pytest
from scipy.special import expit, logit
from sklearn.base import clone
from sklearn.calibration import _SigmoidCalibration
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression

from focal_lib.calibration.calibrators.platt import PlattScaling


def scores(n=3000, seed=0, prevalence=0.1):
    rng = np.random.default_rng(seed)
    d = rng.normal(size=n) * 2
    return d, (rng.random(n) < expit(0.6 * d + logit(prevalence))).astype(int)


@pytest.mark.parametrize("prevalence", [0.5, 0.1, 0.01])
def test_platts_targets_are_scikit_learns(prevalence):
    d, y = scores(prevalence=prevalence)
    theirs = _SigmoidCalibration().fit(d, y)
    fit = PlattScaling().fit(d, y)
    assert fit.slope_ == pytest.approx(-theirs.a_, rel=2e-4)
    assert fit.intercept_ == pytest.approx(-theirs.b_, rel=2e-4)


def test_without_them_it_is_logistic_regression():
    d, y = scores()
    theirs = LogisticRegression(C=np.inf, tol=1e-12, max_iter=1000).fit(d[:, None], y)
    fit = PlattScaling(smoothing=False).fit(d, y)
    assert (fit.slope_, fit.intercept_) == pytest.approx((theirs.coef_[0, 0], theirs.intercept_[0]), rel=1e-6)
    assert fit.predict_proba(d)[:, 1].mean() == pytest.approx(y.mean(), rel=1e-9)


def test_rare_events_keep_their_share():
    d, y = scores(200_000, prevalence=0.001)
    assert PlattScaling().fit(d, y).predict_proba(d)[:, 1].mean() == pytest.approx(y.mean(), rel=1e-3)


def test_what_does_not_change_the_fit():
    d, y = scores()
    p = PlattScaling().fit(d, y).predict_proba(d)
    for z in (np.stack([0 * d, d], 1), np.stack([-d, d], 1) / 2, np.stack([7 - d, 7 + 0 * d], 1)):
        np.testing.assert_allclose(PlattScaling().fit(z, y).predict_proba(z), p, atol=1e-9)
    np.testing.assert_allclose(PlattScaling().fit(1e6 * d - 3e6, y).predict_proba(1e6 * d - 3e6), p, atol=1e-9)
    np.testing.assert_allclose(PlattScaling().fit(-d, 1 - y).predict_proba(-d)[:, ::-1], p, atol=1e-9)
    twice = PlattScaling().fit(np.r_[d, d], np.r_[y, y]).predict_proba(d)
    np.testing.assert_allclose(PlattScaling().fit(d, y, np.full(len(d), 2.0)).predict_proba(d), twice, atol=1e-9)


def test_scores_that_separate_the_classes():
    d = np.arange(10.0)
    assert PlattScaling().fit(d, d > 4.5).predict_proba(d)[0, 1] > 1e-3
    with pytest.warns(ConvergenceWarning, match="the scores separate the classes"):
        fit = PlattScaling(smoothing=False).fit(d, d > 4.5)
    assert np.isfinite(fit.predict_log_proba(d)).all()


def test_scores_that_tell_nothing():
    """The intercept alone, which is the share of the labels."""
    y = np.arange(40) % 4 == 0
    fit = clone(PlattScaling(smoothing=False)).fit(np.full(40, 2.0), y)
    np.testing.assert_allclose(fit.predict_proba([2.0]), [[0.75, 0.25]])
    d, _ = scores()
    backwards = (np.random.default_rng(1).random(len(d)) < expit(-d)).astype(int)
    assert PlattScaling().fit(d, backwards).slope_ == pytest.approx(-1, abs=0.1)


def test_three_classes_are_refused(synthetic_logits):
    with pytest.raises(ValueError, match=r"Platt scaling is for two classes\. Got 3: take vector scaling"):
        PlattScaling().fit(*synthetic_logits(50, 3))
