"""All metrics of one reading are those of each function."""

import dask.array
import numpy as np
import pytest
import torch

from focal_lib.metrics import all_metrics, classwise_ece, ece, samples
from focal_lib.metrics.by_name import METRICS


@pytest.mark.parametrize(("n", "k"), [(1, 2), (300, 2), (5000, 10), (700, 1000)])
@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_each_is_what_its_function_gives(probs_and_labels, n, k, kind, monkeypatch):
    monkeypatch.setattr(samples, "CHUNK_SIZE", 20_000)
    probs, labels = probs_and_labels(n, k)
    probs = probs.astype(kind)
    found = all_metrics(probs, labels)
    assert list(found) == list(METRICS)
    for name, metric in METRICS.items():
        single = name == "brier" and kind == np.float32  # its own function squares in float32
        allowed = 2e-7 if single else 1e-10
        assert found[name] == pytest.approx(metric.function(probs, labels), rel=allowed, abs=1e-13), name


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
