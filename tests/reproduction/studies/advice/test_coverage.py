"""How often intervals hold the truth: ours do, the percentile bootstrap of an ECE does not."""

import numpy as np
import pytest

from focal_lib.metrics.bins import adaptive_ece_of
from focal_lib.metrics.bootstrap_ece import bootstrap_adaptive_ece
from focal_lib.metrics.ece_interval import ece_interval_of
from focal_lib.metrics.intervals import Interval
from reproduction.studies.advice.coverage import TopLabelModel, cover_top_label, estimate_coverage, simulate_sample


def test_percentile_bootstrap_does_not_cover():
    """The reason for `ece_interval`: of a calibrated model the ECE is 0, and percentile intervals never reach it."""
    found = estimate_coverage(2000, 0.0, {"percentile": bootstrap_adaptive_ece, "ours": ece_interval_of}, 30)
    assert found["true ECE (%)"] == 0
    assert found["percentile"] == 0
    assert found["ours"] >= 0.9
    assert found["samples"] == 2000


def test_an_interval_of_everything_covers_and_one_of_nothing_does_not():
    intervals = {
        "everything": lambda confidence, correct: Interval(0.5, 0, 1),
        "nothing": lambda confidence, correct: Interval(0.5, 1, 0),
    }
    found = estimate_coverage(100, 0.1, intervals, 3)
    assert (found["everything"], found["nothing"]) == (1, 0)


@pytest.mark.parametrize("gap", [0.0, 0.05])
def test_the_simulated_model_has_the_gap_it_says(gap):
    confidence, correct, truth = simulate_sample(200_000, gap, 0)
    np.testing.assert_allclose(confidence - truth, gap * np.sin(np.pi * confidence), atol=1e-12)
    assert np.mean(correct - truth) == pytest.approx(0, abs=4e-3)
    assert adaptive_ece_of(confidence, truth) == pytest.approx(np.mean(confidence - truth), abs=1e-12)


@pytest.mark.slow
def test_of_a_calibrated_model_intervals_cover_and_tests_have_their_size():
    found = {row["of"]: row for row in cover_top_label(TopLabelModel.of_clouds(10, 1.0, size=20_000), 500, 100)}
    for name in ("ece", "adaptive-ece", "mce"):
        assert found[name]["true"] == pytest.approx(0, abs=1e-12)
        assert found[name]["hits"] >= 90
        assert found[name]["low"] <= found[name]["debiased"] <= found[name]["high"]
    assert found["p <= 0.05"]["hits"] <= 12
    assert found["bands"]["hits"] <= 12


@pytest.mark.slow
def test_of_an_overconfident_model_intervals_cover_and_tests_reject():
    found = {row["of"]: row for row in cover_top_label(TopLabelModel.of_clouds(10, 2.0, size=50_000), 2000, 40)}
    for name in ("ece", "adaptive-ece"):
        assert found[name]["true"] > 5
        assert found[name]["hits"] >= 34
    assert found["p <= 0.05"]["hits"] == found["bands"]["hits"] == 40


def test_confidences_and_truth_of_clouds():
    model = TopLabelModel.of_clouds(3, 1.5, size=20_000)
    assert (model.confidence > model.truth - 1e-12).all()  # overconfident, everywhere
    assert model.truth.mean() == pytest.approx(0.8, abs=0.01)
    confidence, correct = model.draw(50_000, np.random.default_rng(0))
    assert correct.mean() == pytest.approx(model.truth.mean(), abs=0.01)
    assert confidence.mean() == pytest.approx(model.confidence.mean(), abs=0.01)
