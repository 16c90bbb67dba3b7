"""CalibratedClassifier against scikit-learn's CalibratedClassifierCV and against the same steps by hand."""

import pickle

import numpy as np
import pandas as pd
import pytest
from scipy.special import log_softmax
from sklearn import config_context
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import make_classification
from sklearn.ensemble import RandomForestClassifier
from sklearn.exceptions import NotFittedError
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss
from sklearn.model_selection import GridSearchCV, GroupKFold, cross_val_predict
from sklearn.naive_bayes import GaussianNB
from sklearn.svm import LinearSVC
from sklearn.utils.estimator_checks import parametrize_with_checks

from focal_lib.calibration import CalibratedClassifier
from focal_lib.calibration.calibrators.linear import VectorScaling
from focal_lib.calibration.calibrators.platt import PlattScaling
from focal_lib.calibration.calibrators.temperature import TemperatureScaling


@pytest.fixture(scope="module")
def data():
    X, y = make_classification(1200, 10, n_informative=6, n_classes=3, flip_y=0.1, random_state=0)
    return X, np.array(["ant", "bee", "cat"])[y]


@pytest.fixture(scope="module")
def two():
    return make_classification(600, 8, n_informative=4, flip_y=0.2, random_state=1)


def test_by_hand(data):
    """Out-of-fold scores, one calibrator, the estimator fitted on all."""
    X, y = data
    fit = CalibratedClassifier(GaussianNB(), VectorScaling(), cv=4).fit(X, y)
    p = cross_val_predict(GaussianNB(), X, y, cv=4, method="predict_proba")
    p = np.maximum(p, p[p > 0].min() / 2)
    expected = VectorScaling().fit(np.log(p / p.sum(1, keepdims=True)), np.unique(y, return_inverse=True)[1])
    np.testing.assert_allclose(fit.calibrator_.weight_, expected.weight_, rtol=1e-9)
    np.testing.assert_array_equal(fit.estimator_.predict_proba(X), GaussianNB().fit(X, y).predict_proba(X))
    assert fit.classes_.tolist() == ["ant", "bee", "cat"]
    np.testing.assert_array_equal(fit.predict(X), fit.classes_[fit.predict_proba(X).argmax(1)])


@pytest.mark.parametrize("estimator", [LogisticRegression(), LinearSVC()], ids=lambda e: type(e).__name__)
def test_platt_is_scikit_learns_sigmoid(two, estimator):
    X, y = two
    theirs = CalibratedClassifierCV(estimator, method="sigmoid", cv=3, ensemble=False).fit(X, y)
    ours = CalibratedClassifier(estimator, "platt", cv=3).fit(X, y)
    np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), atol=1e-4)
    weights = np.arange(600) % 3 + 1.0
    theirs, ours = theirs.fit(X, y, weights), ours.fit(X, y, weights)
    np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), atol=1e-4)


def test_a_forest_is_better_calibrated(data):
    """Zeros of its votes do not spoil the temperature."""
    X, y = data
    forest = RandomForestClassifier(40, random_state=0, n_jobs=1)
    fit = CalibratedClassifier(forest, cv=3).fit(X[:800], y[:800])
    raw = forest.fit(X[:800], y[:800]).predict_proba(X[800:])
    assert log_loss(y[800:], fit.predict_proba(X[800:])) < log_loss(y[800:], raw)


def test_fitted_already(two):
    X, y = two
    known = LogisticRegression().fit(X[:300], y[:300])
    slope = TemperatureScaling().fit(known.decision_function(X[300:]), y[300:]).temperature_
    for fit in (
        CalibratedClassifier(FrozenEstimator(known), "temperature"),
        CalibratedClassifier(known, "temperature", cv="prefit"),
    ):
        assert fit.fit(X[300:], y[300:]).calibrator_.temperature_ == pytest.approx(slope, rel=1e-12)
    with pytest.raises(ValueError, match=r"y must hold the classes of the fitted estimator, .* Got \[5, 7\]"):
        CalibratedClassifier(known, cv="prefit").fit(X[300:], y[300:] * 2 + 5)


def test_groups_are_in_one_fold(two):
    """Rows eight times over: without groups an estimator has seen the rows that it scores."""
    X, y = (np.tile(part[:80], (8,) + (1,) * (part.ndim - 1)) for part in two)
    groups = np.tile(np.arange(80), 8)
    forest = RandomForestClassifier(20, random_state=0)
    seen = CalibratedClassifier(forest, "temperature").fit(X, y).calibrator_.temperature_
    for cv in (5, GroupKFold(5)):
        assert (
            CalibratedClassifier(forest, "temperature", cv=cv).fit(X, y, groups=groups).calibrator_.temperature_
            > 2 * seen
        )


def test_metadata_routing(two):
    X, y = two
    weights = np.arange(600) % 2 / 1.0
    with config_context(enable_metadata_routing=True):
        estimator = LogisticRegression().set_fit_request(sample_weight=True)
        asked = CalibratedClassifier(estimator, "platt").set_fit_request(sample_weight=True)
        asked.set_score_request(sample_weight=False)
        fit = asked.fit(X, y, sample_weight=weights)
        search = GridSearchCV(asked, {"method": ["platt"]}, cv=2).fit(X, y, sample_weight=weights)
    plain = CalibratedClassifier(LogisticRegression(), "platt").fit(X, y, sample_weight=weights)
    np.testing.assert_allclose(fit.predict_proba(X), plain.predict_proba(X), atol=1e-9)
    np.testing.assert_allclose(search.predict_proba(X), plain.predict_proba(X), atol=1e-9)


def test_in_a_search_a_pickle_and_a_frame(two):
    X, y = two
    grid = {"method": ["temperature", "platt", "ensemble-temperature"], "estimator__C": [0.1, 1.0]}
    search = GridSearchCV(CalibratedClassifier(LogisticRegression(), cv=2), grid, scoring="neg_log_loss", cv=2)
    search.fit(pd.DataFrame(X).rename(columns=str), y)
    again = pickle.loads(pickle.dumps(clone(search.best_estimator_).fit(X, y)))
    assert again.n_features_in_ == 8
    assert search.best_estimator_.feature_names_in_.tolist() == [str(i) for i in range(8)]


def test_what_the_tool_advises(data):
    X, y = data
    fit = CalibratedClassifier(LogisticRegression(), "advised", cv=3).fit(X, y)
    scores = LogisticRegression().fit(X, y).decision_function(X)
    expected = fit.calibrator_.predict_log_proba(scores)
    np.testing.assert_allclose(np.log(fit.predict_proba(X)), expected)
    assert np.abs(expected - log_softmax(scores, -1)).mean() < 0.3  # it is calibrated nearly as it is


def test_what_is_refused(two):
    X, y = two
    with pytest.raises(ValueError, match=r"methods must be among .* Got splines"):
        CalibratedClassifier(LogisticRegression(), "splines").fit(X, y)
    with pytest.raises(ValueError, match=r"at least two classes\. Got 1 class, 0"):
        CalibratedClassifier(LogisticRegression()).fit(X, y * 0)
    with pytest.raises(ValueError, match="Platt scaling is for two classes"):
        CalibratedClassifier(GaussianNB(), PlattScaling()).fit(X, y + (X[:, 0] > 0))
    with pytest.raises(NotFittedError):
        CalibratedClassifier(LogisticRegression()).predict_proba(X)


@pytest.mark.filterwarnings("ignore")
@parametrize_with_checks([CalibratedClassifier(LogisticRegression(C=1.0), cv=2)])
def test_checks_of_scikit_learn(estimator, check):
    check(estimator)


def test_by_default_two_classes_get_platts_and_more_a_temperature(two, data):
    """Weights of classes shift the share of events, which a temperature does not."""
    weighted = LogisticRegression(class_weight={0: 1.0, 1: 20.0})
    fit = CalibratedClassifier(weighted).fit(*two)
    assert fit.predict_proba(two[0])[:, 1].mean() == pytest.approx(two[1].mean(), rel=0.1)
    assert isinstance(CalibratedClassifier(LogisticRegression()).fit(*data).calibrator_, TemperatureScaling)
