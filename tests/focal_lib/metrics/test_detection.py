"""Unknown inputs: scores against their definitions, AUROC against all pairs, both against scikit-learn."""

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import roc_auc_score, roc_curve

from focal_lib.metrics.detection import (
    DETECTION_SCORES,
    auroc,
    energy_score,
    entropy_score,
    fpr_at_tpr,
    max_probability_score,
)

SIDES = st.lists(st.integers(-4, 4), min_size=1, max_size=12)  # with ties
LOGITS = np.random.default_rng(0).normal(scale=3, size=(200, 5))


def by_pairs(known, unknown):
    return np.mean([(a > b) + 0.5 * (a == b) for a in known for b in unknown])


def by_thresholds(known, unknown, tpr):
    """The highest threshold among the known scores that lets enough of them pass; all of it in whole numbers."""
    passing = [t for t in known if sum(a >= t for a in known) >= tpr * len(known) - 1e-9]
    return np.mean([b >= max(passing) for b in unknown])


def test_by_hand():
    assert auroc([3, 2], [1, 2]) == pytest.approx(3.5 / 4)
    assert auroc([1, 2], [3]) == 0
    assert fpr_at_tpr([1, 2, 3, 4], [0, 2, 5], tpr=0.75) == pytest.approx(2 / 3)
    assert fpr_at_tpr(np.arange(20), [0.5], tpr=0.95) == 0  # 19 of 20 is 95 %, and so the threshold is 1
    assert fpr_at_tpr(np.arange(20), [0.5], tpr=1) == 1
    assert fpr_at_tpr(np.arange(100), [44.5], tpr=0.55) == 0  # 55 of 100, though in floating point 0.55 * 100 is above


@given(SIDES, SIDES)
def test_auroc_is_the_share_of_pairs(known, unknown):
    assert auroc(known, unknown) == pytest.approx(by_pairs(known, unknown))
    assert auroc(known, unknown) + auroc(unknown, known) == pytest.approx(1)
    truth = [1] * len(known) + [0] * len(unknown)
    assert auroc(known, unknown) == pytest.approx(roc_auc_score(truth, known + unknown))


@given(SIDES, SIDES, st.sampled_from([0.05, 0.5, 0.9, 0.95, 1.0]))
def test_fpr_is_of_the_highest_threshold_that_will_do(known, unknown, tpr):
    assert fpr_at_tpr(known, unknown, tpr) == pytest.approx(by_thresholds(known, unknown, tpr))
    truth = [1] * len(known) + [0] * len(unknown)
    fpr, reached, _ = roc_curve(truth, known + unknown, drop_intermediate=False)
    assert fpr_at_tpr(known, unknown, tpr) == pytest.approx(fpr[reached >= tpr - 1e-9].min())


def test_scores_are_their_definitions():
    probs = np.exp(LOGITS) / np.exp(LOGITS).sum(-1, keepdims=True)
    top = probs.max(-1)
    np.testing.assert_allclose(max_probability_score(LOGITS), np.log(top / (1 - top)), rtol=1e-9)
    np.testing.assert_allclose(entropy_score(LOGITS), (probs * np.log(probs)).sum(-1), rtol=1e-12)
    np.testing.assert_allclose(energy_score(LOGITS), np.log(np.exp(LOGITS).sum(-1)), rtol=1e-12)


def test_sure_predictions_keep_their_order():
    """Where softmax says 1 to each of them, in float64 as well."""
    sure = np.array([[50.0, 0.0, -1.0], [60.0, 0.0, -1.0], [900.0, 0.0, -1.0]])
    assert (np.diff(max_probability_score(sure)) > 0).all()
    with mpmath.workdps(60):
        for row, found in zip(sure[:2], entropy_score(sure[:2]), strict=True):
            weights = [mpmath.e**z for z in row]
            probs = [w / sum(weights) for w in weights]
            assert found == pytest.approx(float(sum(p * mpmath.log(p) for p in probs)), rel=1e-12)


def test_energy_alone_knows_a_constant():
    for name, score in DETECTION_SCORES.items():
        moved = 2.0 if name == "energy" else 0.0
        np.testing.assert_allclose(score(LOGITS + 2), score(LOGITS) + moved, rtol=1e-9)


@pytest.mark.parametrize("bad", [[], [[1.0]], [np.nan]])
def test_scores_that_are_none(bad):
    for function in (auroc, fpr_at_tpr):
        with pytest.raises(ValueError, match="unknown must be finite scores of shape"):
            function([1.0], bad)
        with pytest.raises(ValueError, match="known must be finite scores of shape"):
            function(bad, [1.0])


@pytest.mark.parametrize("score", DETECTION_SCORES.values())
def test_logits_that_are_none(score):
    for bad, message in (
        (np.zeros((3, 1)), "K >= 2"),
        (np.zeros(3), r"must have shape \(n, K\)"),
        (np.full((2, 2), np.inf), "must be finite"),
    ):
        with pytest.raises(ValueError, match=message):
            score(bad)
    with pytest.raises(ValueError, match=r"tpr must be in \(0, 1\]. Got 0"):
        fpr_at_tpr([1.0], [1.0], tpr=0)
