"""scikit-learn's own checks of an estimator, over every calibrator; labels that are names; DataFrames; refusals."""

import numpy as np
import pandas as pd
import pytest
import torch
from scipy import sparse
from sklearn.linear_model import LogisticRegression
from sklearn.utils.estimator_checks import parametrize_with_checks

from focal_lib.calibration.calibrators.focal_temperature import FocalTemperatureScaling
from focal_lib.calibration.calibrators.linear import MatrixScaling, VectorScaling
from focal_lib.calibration.calibrators.seen_classes import DirichletCalibration
from focal_lib.calibration.calibrators.temperature import TemperatureScaling
from focal_lib.calibration.saved import load_calibrator, save_calibrator
from tests.focal_lib.calibration.calibrators.conftest import METHODS, NEEDS

CALIBRATORS = [
    FocalTemperatureScaling("adaptive-ece", gammas=(-0.5, 0.0, 1.0), temperatures=(0.5, 1.0, 2.0)),
    *(
        METHODS[name]
        for name in (
            "as given",
            "temperature",
            "ensemble temperature",
            "focal, newton",
            "vector",
            "matrix",
            "histogram",
            "isotonic",
        )
    ),
    *(METHODS[name] for name in ("beta", "dirichlet", "venn-abers", "structured-matrix")),
]
# these fit three classes on two columns; the columns of a calibrator are the scores of the classes, one each
OTHER_COLUMNS = dict.fromkeys(
    (
        "check_classifiers_classes",
        "check_classifiers_train",
        "check_estimators_fit_returns_self",
        "check_estimators_overwrite_params",
        "check_readonly_memmap_input",
    ),
    "three classes and two columns: the columns of a calibrator are the scores of the classes",
)

INEXACT = {"check_sample_weight_equivalence_on_dense_data": "L-BFGS stops short of 1e-7"}


def known_failures(estimator):
    return OTHER_COLUMNS | (INEXACT if isinstance(estimator, DirichletCalibration | MatrixScaling) else {})


@pytest.mark.filterwarnings("ignore")
@parametrize_with_checks(CALIBRATORS, expected_failed_checks=known_failures)
def test_checks_of_scikit_learn(estimator, check):
    for name, package in NEEDS.items():
        if type(estimator) is type(METHODS[name]):
            pytest.importorskip(package)
    check(estimator)


def test_labels_that_are_names(synthetic_logits, tmp_path):
    z, y = synthetic_logits(200, 3)
    names = np.array(["ant", "bee", "cat"])[y]
    plain, named = TemperatureScaling().fit(z, y), TemperatureScaling().fit(z, list(names))
    assert named.temperature_ == plain.temperature_
    assert named.classes_.tolist() == ["ant", "bee", "cat"]
    np.testing.assert_array_equal(named.predict(z), np.array(["ant", "bee", "cat"])[plain.predict(z)])
    np.testing.assert_array_equal(named.predict(torch.from_numpy(z)), named.predict(z))
    assert named.score(z, names) == plain.score(z, y)
    save_calibrator(named, tmp_path / "c.json")
    again = load_calibrator(tmp_path / "c.json")
    np.testing.assert_array_equal(again.predict(z), named.predict(z))
    assert again.n_features_in_ == named.n_features_in_ == 3


def test_labels_that_are_other_numbers(synthetic_logits):
    z, y = synthetic_logits(200, 3)
    plain = VectorScaling(1e-3).fit(z, y)
    for labels in (y + 1, y * 2 - 2, y.astype(float) + 1, torch.from_numpy(y + 1), pd.Series(y + 1)):
        fit = VectorScaling(1e-3).fit(z, labels)
        np.testing.assert_array_equal(fit.weight_, plain.weight_)
        assert fit.classes_.tolist() == np.unique(labels).tolist()
        np.testing.assert_array_equal(fit.predict(z), fit.classes_[plain.predict(z)])
    tensor = VectorScaling(1e-3).fit(z, y + 1).predict(torch.from_numpy(z))
    np.testing.assert_array_equal(tensor, plain.predict(z) + 1)
    lazy = pytest.importorskip("dask.array").from_array(z, chunks=(70, 3))
    np.testing.assert_array_equal(VectorScaling(1e-3).fit(z, y + 1).predict(lazy).compute(), plain.predict(z) + 1)


def test_a_class_without_samples_keeps_its_column(synthetic_logits):
    z, y = synthetic_logits(200, 4)
    kept = y != 1
    fit = TemperatureScaling().fit(z[kept], y[kept])
    assert fit.classes_.tolist() == [0, 1, 2, 3]


def test_columns_named_in_another_order_than_the_labels(synthetic_logits):
    z, y = synthetic_logits(200, 3)
    names = np.array(["bee", "ant", "cat"])[y]
    with pytest.raises(ValueError, match=r"sorted order of the labels: give X\[\['ant', 'bee', 'cat'\]\]. Got \['bee'"):
        TemperatureScaling().fit(pd.DataFrame(z, columns=["bee", "ant", "cat"]), names)
    frame = pd.DataFrame(z, columns=["bee", "ant", "cat"])[["ant", "bee", "cat"]]
    fit = TemperatureScaling().fit(frame, names)
    assert fit.temperature_ == pytest.approx(TemperatureScaling().fit(z, y).temperature_, rel=1e-12)
    assert fit.feature_names_in_.tolist() == ["ant", "bee", "cat"]
    with pytest.raises(ValueError, match="feature names should match"):
        fit.predict(frame[["cat", "bee", "ant"]])


@pytest.mark.parametrize(
    ("z", "error", "message"),
    [
        (sparse.csr_array(np.eye(2)), TypeError, "Sparse data was passed"),
        (np.array([["a", "b"], ["c", "d"]]), ValueError, "bytes/strings"),
        (np.array([[{}, 1], [1, 2]], dtype=object), TypeError, "float"),
        (np.eye(2) + 1j, ValueError, "Complex data not supported"),
        (np.array(["a", "b"]), ValueError, "Reshape your data"),
        (np.eye(2) * 1e300, ValueError, r"size between 1e-100 and 1e\+25: scale them. Got 1e\+300"),
        (np.eye(2) * 1e-300, ValueError, r"size between 1e-100 and 1e\+25: scale them. Got 1e-300"),
    ],
)
def test_logits_that_are_refused(z, error, message):
    with pytest.raises(error, match=message):
        TemperatureScaling().fit(z, np.array([0, 1]))


def test_scores_of_one_class_are_its_log_odds(synthetic_logits):
    """(n,) of every kind is the two columns 0 and the score; its temperature is logistic regression's slope."""
    z, y = synthetic_logits(2000, 2)
    d = z[:, 1] - z[:, 0]
    fit = TemperatureScaling().fit(d, y)
    slope = LogisticRegression(C=np.inf, fit_intercept=False, tol=1e-10).fit(d[:, None], y).coef_[0, 0]
    assert 1 / fit.temperature_ == pytest.approx(slope, rel=1e-5)
    expected = fit.predict_proba(np.stack([0 * d, d], 1))
    lazy = pytest.importorskip("dask.array").from_array(d, chunks=700)
    for kind in (d, list(d), pd.Series(d), torch.from_numpy(d), lazy):
        other = TemperatureScaling().fit(kind, y)
        assert other.temperature_ == pytest.approx(fit.temperature_, rel=1e-12)
        np.testing.assert_allclose(np.asarray(other.predict_proba(kind)), expected, atol=1e-12)
    half = TemperatureScaling().fit(torch.from_numpy(d).bfloat16(), y)
    assert half.temperature_ == pytest.approx(fit.temperature_, rel=0.02)
    named = TemperatureScaling().fit(d, np.array(["no", "yes"])[y])
    assert named.predict(d[:5]).tolist() == np.array(["no", "yes"])[(d[:5] > 0).astype(int)].tolist()
    three = TemperatureScaling().fit(*synthetic_logits(50, 3))
    with pytest.raises(ValueError, match="Expected 2D array"):
        three.predict_proba(d)
    with pytest.raises(ValueError, match=r"labels must lie in 0 \.\.\. 1"):
        TemperatureScaling().fit(d, np.arange(len(d)) % 3)
    with pytest.warns(UserWarning, match="looks like probabilities"):
        TemperatureScaling().fit(1 / (1 + np.exp(-d)), y)
