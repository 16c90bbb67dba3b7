"""Tests by their formulas: against slow ones, against each other, and what only one of them sees."""

import numpy as np
import pytest
from scipy import stats
from sklearn.linear_model import LogisticRegression

from reproduction.studies.intervals.methods import OWN, _debiased, cox_p_value, t_cal_p_value
from reproduction.studies.intervals.models import MODELS


def _of(name, n, classes=2, seed=0):
    (model,) = (m for m in MODELS if m.name == name and m.classes == classes)
    return model, model.draw(n, np.random.default_rng(seed))


def test_cox_is_the_likelihood_ratio():
    p, y = _of("overconfident", 500)[1].judged()
    logit = np.log(p / (1 - p))[:, None]
    fit = LogisticRegression(C=np.inf, tol=1e-10).fit(logit, y).predict_proba(logit)[:, 1]

    def log_likelihood(q):
        return stats.bernoulli.logpmf(y, q).sum()

    expected = stats.chi2.sf(2 * (log_likelihood(fit) - log_likelihood(p)), 2)
    assert cox_p_value(p, y) == pytest.approx(expected, rel=1e-3)
    assert np.isnan(cox_p_value(p, np.ones_like(y)))


def test_t_cal_sums_pairs_within_bins():
    rng = np.random.default_rng(1)
    cell, residual = rng.integers(0, 4, 20), rng.normal(size=20)
    pairs = sum(
        residual[i] * residual[j] / np.count_nonzero(cell == cell[i])
        for i in range(20)
        for j in range(20)
        if i != j and cell[i] == cell[j]
    )
    assert _debiased(cell[None], residual[None])[0] == pytest.approx(pairs / 20)


def test_only_t_cal_sees_what_cancels_within_bins():
    p, y = _of("saw-tooth within bins", 2_000)[1].judged()
    assert t_cal_p_value(p, y, np.random.default_rng(0), 999) <= 0.05
    assert cox_p_value(p, y) > 0.05


@pytest.mark.parametrize("method", OWN, ids=lambda method: method.name)
def test_each_finds_what_is_far_off_and_not_what_is_calibrated(method):
    for name, off in (("calibrated", False), ("overconfident", True)):
        model, sample = _of(name, 2_000, 10, seed=2)
        found = method.run(sample, model)
        if method.kind == "interval":
            assert (found[0] > 0) == off
        elif method.kind == "test":
            assert (found <= 0.05) == off
        else:
            assert (found == "fail") == off
