"""Models of known truth: what is called calibrated is, and the others are off by what they should be."""

import numpy as np
import pytest

from reproduction.studies.intervals.models import MODELS, Sample, true_errors

by_name = pytest.mark.parametrize("model", MODELS, ids=lambda model: f"{model.name} {model.classes}")


@by_name
def test_probabilities_and_labels_are_of_the_truth(model):
    sample = model.draw(20_000, np.random.default_rng(0))
    assert sample.probs.shape == sample.truth.shape == (20_000, model.classes)
    np.testing.assert_allclose([sample.probs.sum(1), sample.truth.sum(1)], 1)
    shares = np.bincount(sample.labels, minlength=model.classes) / 20_000
    np.testing.assert_allclose(shares, sample.truth.mean(0), atol=4 * 0.5 / np.sqrt(20_000))


@by_name
def test_only_the_calibrated_have_no_error(model):
    errors = {name: value for name, (value, _) in true_errors(model, 2_000).items()}
    assert (max(errors.values()) == 0) == model.calibrated
    assert ("classwise" in errors) == (model.classes > 2)
    assert errors["mean"] >= errors["ece"] - 1e-12


def test_the_saw_tooth_cancels_within_bins_alone():
    (model,) = (m for m in MODELS if m.name.startswith("saw-tooth"))
    errors = true_errors(model)
    assert errors["mean"][0] == pytest.approx(0.15)
    assert errors["ece"][0] < 0.001
    assert errors["smooth"][0] > 0.02


def test_one_in_a_hundred_is_an_event():
    for model in (m for m in MODELS if m.name.startswith("rare")):
        assert model.draw(200_000, np.random.default_rng(0)).truth[:, 1].mean() == pytest.approx(0.01, rel=0.1)


def test_what_is_judged():
    two = Sample(np.array([[0.2, 0.8], [0.7, 0.3]]), np.array([1, 1]), np.array([[0.1, 0.9], [0.6, 0.4]]))
    assert [part.tolist() for part in two.judged()] == [[0.8, 0.3], [1, 1]]
    assert two.judged_truth().tolist() == [0.9, 0.4]
    three = Sample(np.array([[0.2, 0.5, 0.3]]), np.array([2]), np.array([[0.1, 0.3, 0.6]]))
    assert [part.tolist() for part in three.judged()] == [[0.5], [0]]
    assert three.judged_truth().tolist() == [0.3]
