"""Metrics by name, and all of them from one reading."""

import dask.array
import numpy as np
import pytest
import torch

from focal_lib.metrics import adaptive_ece_of, all_metrics, classwise_ece, ece, ece_of, samples, scores
from focal_lib.metrics.by_name import METRICS


def test_all_but_nll_and_brier_are_shown_in_per_cent(probs_and_labels):
    probs, labels = probs_and_labels()
    for name, metric in METRICS.items():
        factor = 1 if name in ("nll", "brier") else 100
        assert metric.shown(probs, labels) == pytest.approx(factor * metric.function(probs, labels))


def test_bins_are_those_that_the_name_says():
    assert {name: metric.bins for name, metric in METRICS.items() if metric.bins} == {
        "ece": "equal width",
        "adaptive-ece": "equal mass",
        "classwise-ece": "equal width",
        "mce": "equal width",
    }


@pytest.mark.parametrize(("n", "k"), [(1, 2), (300, 2), (5000, 10), (700, 1000)])
@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_each_is_what_its_function_gives(probs_and_labels, n, k, kind, monkeypatch):
    monkeypatch.setattr(samples, "CHUNK_SIZE", 20_000)
    probs, labels = probs_and_labels(n, k)
    probs = probs.astype(kind)
    found = all_metrics(probs, labels)
    assert list(found) == list(METRICS)
    for name, metric in METRICS.items():
        assert found[name] == pytest.approx(metric.function(probs, labels), rel=1e-10, abs=1e-13), name


@pytest.mark.parametrize(("n", "k"), [(5000, 2), (5000, 10), (700, 1000)])
def test_float32_is_read_as_float32_and_moves_no_metric(probs_and_labels, n, k, monkeypatch):
    """As of the same numbers in float64, whose rows sum to 1 but for the rounding of float32."""
    probs, labels = probs_and_labels(n, k)
    probs = probs.astype(np.float32)
    wide = probs.astype(np.float64)
    seen, check = set(), scores._check
    monkeypatch.setattr(scores, "_check", lambda tolerance, p: seen.add(p.dtype) or check(tolerance, p))
    found = all_metrics(probs, labels)
    assert seen == {np.dtype(np.float32)}
    confidence, correct = wide.max(1), (wide.argmax(1) == labels).astype(float)
    of_label = wide[np.arange(n), labels]
    by_class = [ece_of(wide[:, c], (labels == c).astype(float)) for c in range(k)]
    wanted = {
        "error": (wide.argmax(1) != labels).mean(),
        "nll": -np.log(of_label).mean(),
        "brier": ((wide - np.eye(k)[labels]) ** 2).sum(1).mean(),
        "ece": ece_of(confidence, correct),
        "adaptive-ece": adaptive_ece_of(confidence, correct),
        "classwise-ece": np.mean(by_class),
    }
    for name, value in wanted.items():
        assert found[name] == pytest.approx(value, rel=1e-8, abs=1e-12), name


def test_any_number_of_bins_and_any_array(probs_and_labels):
    probs, labels = probs_and_labels()
    found = all_metrics(torch.from_numpy(probs), labels, 7)
    assert (found["ece"], found["classwise-ece"]) == pytest.approx(
        (ece(probs, labels, 7), classwise_ece(probs, labels, 7))
    )
    assert all_metrics(dask.array.from_array(probs, chunks=(130, -1)), labels, 7) == pytest.approx(found)


@pytest.mark.parametrize(
    ("change", "message"), [(0.1, "probs must"), (0.0, "n_bins must be at least 1. Got 0")], ids=["probs", "bins"]
)
def test_refused(probs_and_labels, change, message):
    probs, labels = probs_and_labels()
    with pytest.raises(ValueError, match=message):
        all_metrics(probs + change, labels, 15 if change else 0)
