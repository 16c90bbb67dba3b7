"""The way back to probabilities as a calibrator: without data, saved, as a module and ONNX, as scikit-learn asks."""

import numpy as np
import pandas as pd
import pytest
import torch
from sklearn.base import clone
from sklearn.utils.estimator_checks import parametrize_with_checks

from focal_lib.calibration.calibrators.focal_probabilities import FocalProbabilities
from focal_lib.calibration.saved import load_calibrator, save_calibrator, write_onnx
from focal_lib.theory import weighted_focal_log_probs, weighted_focal_minimiser
from focal_lib.tool import apply_to_scores
from tests.focal_lib.calibration.calibrators.test_scikit_learn import OTHER_COLUMNS
from tests.focal_lib.calibration.calibrators.test_torch_module import hard_logits

WEIGHTS = (1.0, 2.0, 0.5, 30.0, 1.0, 1e-3)


@pytest.mark.filterwarnings("ignore")
@parametrize_with_checks([FocalProbabilities(2.0)], expected_failed_checks=lambda estimator: OTHER_COLUMNS)
def test_checks_of_scikit_learn(estimator, check):
    check(estimator)


@pytest.mark.parametrize(("gamma", "weights"), [(2.0, WEIGHTS), (0.0, WEIGHTS), (5.0, None)])
def test_it_gives_the_truth_saved_and_exported(gamma, weights, tmp_path):
    runtime = pytest.importorskip("onnxruntime")
    truth = np.random.default_rng(0).dirichlet(np.ones(6), 50)
    q = weighted_focal_minimiser(truth, gamma, np.ones(6) if weights is None else weights)
    fit = clone(FocalProbabilities(gamma, weights)).fit(*(() if weights else (np.log(q),)))
    np.testing.assert_allclose(fit.predict_proba(np.log(q)), truth, atol=1e-9)
    save_calibrator(fit, tmp_path / "c.json")
    again = load_calibrator(tmp_path / "c.json")
    np.testing.assert_array_equal(again.predict_proba(np.log(q)), fit.predict_proba(np.log(q)))
    assert again.get_params() == fit.get_params()
    module, z = fit.to_module(), hard_logits()
    expected = fit.predict_proba(z.double().numpy())
    np.testing.assert_allclose(module(z.double()).numpy(), expected, atol=1e-10)
    write_onnx(module, 6, tmp_path / "c.onnx")
    (found,) = runtime.InferenceSession(tmp_path / "c.onnx").run(None, {"logits": z.numpy()})
    np.testing.assert_allclose(found, expected, atol=3e-5)  # of float32, times a ratio of weights


def test_alpha_and_scores_of_the_positive_class():
    fit, scores = FocalProbabilities(2.0, 0.25).fit(), np.array([-3.0, 0.0, 2.0])
    both = np.stack([0 * scores, scores], -1)
    expected = np.exp(weighted_focal_log_probs(both, 2.0, [0.75, 0.25]))
    np.testing.assert_allclose(fit.predict_proba(both), expected, rtol=1e-12)
    np.testing.assert_allclose(apply_to_scores(fit, scores), expected[:, 1], rtol=1e-12)
    np.testing.assert_allclose(FocalProbabilities(2.0, 0.25).fit(scores).predict_proba(both), expected, rtol=1e-12)
    assert isinstance(fit.predict_proba(torch.from_numpy(both)), torch.Tensor)


def test_fit_reads_classes_and_estimates_nothing(synthetic_logits):
    z, y = synthetic_logits(100, 3)
    names = np.array(["ant", "bee", "cat"])[y]
    plain, named = FocalProbabilities(2.0, [1, 2, 3]).fit(), FocalProbabilities(2.0, [1, 2, 3]).fit(z, names)
    np.testing.assert_array_equal(plain.predict_proba(z), named.predict_proba(z))
    assert named.classes_.tolist() == ["ant", "bee", "cat"]
    frame = pd.DataFrame(z, columns=["x", "y", "z"])
    np.testing.assert_array_equal(FocalProbabilities(2.0).fit(frame).predict_proba(z).shape, z.shape)


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda z: FocalProbabilities(2.0).fit(), "needs class_weights, or logits.*Got neither"),
        (lambda z: FocalProbabilities(-2.0, 0.25).fit(), "gamma must be a finite number >= -1. Got -2"),
        (lambda z: FocalProbabilities(2.0, [1, -1, 1]).fit(), r"positive and finite. Got \[1.0, -1.0, 1.0\]"),
        (lambda z: FocalProbabilities(2.0, [1, 2]).fit(z), r"must be 3 numbers, one a class. Got shape \(2,\)"),
        (lambda z: FocalProbabilities(2.0, 0.25).fit(z, [0, 1, 2, 0]), "must be 3 numbers.*Got one number, 0.25"),
        (lambda z: FocalProbabilities(2.0, [1, 2]).fit().predict_proba(z), "expecting 2 features"),
    ],
)
def test_what_is_refused(call, said):
    with pytest.raises(ValueError, match=said):
        call(np.zeros((4, 3)) + np.arange(3))


@pytest.mark.parametrize("planted", [("class_weights", [1.0, -1.0]), ("class_weights", [1.0]), ("gamma", -2.0)])
def test_a_file_with_other_parameters_is_refused(planted, tmp_path):
    fit = FocalProbabilities(2.0, [1.0, 2.0]).fit()
    setattr(fit, *planted)
    save_calibrator(fit, tmp_path / "c.json")
    with pytest.raises(ValueError, match=r"c.json must have the parameters and the fit of focal-probabilities"):
        load_calibrator(tmp_path / "c.json")
