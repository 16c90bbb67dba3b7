"""Made-up models: Bayes' rule is as accurate as asked, and its logits are calibrated."""

import numpy as np
import pytest
from scipy import special

from reproduction.studies.advice.clouds import bayes_logits


@pytest.mark.parametrize("classes", [2, 10, 300])
@pytest.mark.parametrize("accuracy", [0.6, 0.9])
def test_the_top_label_is_right_as_often_as_asked(classes, accuracy):
    logits = bayes_logits(6000, classes, np.random.default_rng(0), accuracy=accuracy)
    assert special.softmax(logits, axis=1).max(1).mean() == pytest.approx(accuracy, abs=0.01)


def test_the_softmax_is_the_truth():
    """Labels are those of the clouds: the classes whose axes were moved. Of two, the odds are those of two normals."""
    rng = np.random.default_rng(1)
    logits = bayes_logits(200_000, 2, rng)
    labels = np.random.default_rng(1)
    labels.standard_normal((200_000, 2))
    y = labels.integers(0, 2, 200_000)
    p = special.softmax(logits, axis=1)[:, 1]
    for low in np.arange(0, 1, 0.1):
        inside = (p >= low) & (p < low + 0.1)
        assert y[inside].mean() == pytest.approx(p[inside].mean(), abs=5 * np.sqrt(0.25 / inside.sum()))


def test_classes_are_as_frequent_as_asked():
    frequencies = np.array([0.6, 0.3, 0.1])
    probs = special.softmax(bayes_logits(100_000, 3, np.random.default_rng(2), frequencies=frequencies), axis=1)
    np.testing.assert_allclose(probs.mean(0), frequencies, atol=0.005)  # the mean of the posterior is the prior


def test_bad_input():
    rng = np.random.default_rng(0)
    with pytest.raises(ValueError, match=r"classes must be at least 2. Got 1"):
        bayes_logits(5, 1, rng)
    with pytest.raises(ValueError, match=r"accuracy must lie between 0.1 and 1. Got 0.05"):
        bayes_logits(5, 10, rng, accuracy=0.05)
    for frequencies in (np.array([0.5, 0.5, 0.0]), np.array([0.5, 0.5]), np.array([0.5, 0.5, 0.5])):
        with pytest.raises(ValueError, match=r"frequencies must be 3 positive numbers with sum 1. Got"):
            bayes_logits(5, 3, rng, frequencies=frequencies)
