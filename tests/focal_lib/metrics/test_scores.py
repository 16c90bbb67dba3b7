"""Accuracy, NLL and Brier score against their definitions."""

import numpy as np
import pytest
import torch

from focal_lib.metrics.bins import ece, ece_of
from focal_lib.metrics.scores import SampleScores, accuracy, brier, nll, sample_scores, top_label


def test_scores(probs_and_labels):
    p, y = probs_and_labels()
    picked = p[np.arange(len(y)), y]
    assert nll(p, y) == pytest.approx(float(-np.log(picked).mean()))
    assert brier(p, y) == pytest.approx(float(((p - np.eye(5)[y]) ** 2).sum(1).mean()))
    assert accuracy(p, y) == pytest.approx(float((p.argmax(1) == y).mean()))
    tensors = torch.from_numpy(p), torch.from_numpy(y)
    assert (nll(*tensors), brier(*tensors), accuracy(*tensors)) == (nll(p, y), brier(p, y), accuracy(p, y))


def test_of_tied_classes_the_first_counts():
    p = np.array([[0.4, 0.4, 0.2], [0.4, 0.4, 0.2], [0.2, 0.4, 0.4], [0.1, 0.8, 0.1]])
    confidence, correct = top_label(p, np.array([0, 1, 1, 1]))
    assert confidence.tolist() == [0.4, 0.4, 0.4, 0.8]
    assert correct.tolist() == [1, 0, 1, 1]


def test_saturated_float32_probabilities():
    z = torch.tensor([[200.0, 0.0, -300.0], [90.0, 0.0, 0.0], [0.0, 0.0, 0.0]])
    p = torch.softmax(z, -1)  # exact 1 and 0 among them
    assert ece(p, torch.tensor([0, 0, 0])) == pytest.approx((1 - 1 / 3) / 3, abs=1e-6)
    assert nll(p, torch.tensor([2, 0, 0])) == np.inf
    assert brier(p, torch.tensor([2, 0, 0])) == pytest.approx((2 + 0 + 2 / 3) / 3, abs=1e-6)


def test_scores_of_parts_are_the_scores_of_the_whole(probs_and_labels):
    p, y = probs_and_labels()
    whole = sample_scores(p, y)
    assert whole.log_loss.mean() == pytest.approx(nll(p, y))
    assert whole.brier.mean() == pytest.approx(brier(p, y))
    assert ece_of(whole.confidence, whole.correct) == pytest.approx(ece(p, y))
    assert whole.correct.mean() == accuracy(p, y)
    parts = SampleScores.concatenate([sample_scores(p[:150], y[:150]), sample_scores(p[150:], y[150:])])
    for name in ("confidence", "correct", "log_loss", "brier"):
        np.testing.assert_array_equal(getattr(parts, name), getattr(whole, name))
