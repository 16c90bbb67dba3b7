"""The truth behind the noisy clusters, against samples of them."""

import numpy as np
import pytest

from reproduction.studies.shared.known_truth import against_truth
from reproduction.studies.simple_models.clusters import cluster_truth, mistakes_above
from reproduction.studies.simple_models.linear_model import noisy_clusters

SETTINGS = [(0.1, 1.0, 0.5), (0.25, 2.0, 1.5), (0.0, 1.0, 1.0)]


@pytest.mark.parametrize(("flip", "separation", "spread"), SETTINGS)
def test_the_posterior_is_the_share_of_labels(flip, separation, spread):
    """Binned by the posterior, as many labels are 1 as it says."""
    x, labels = noisy_clusters(200_000, 0, flip=flip, separation=separation, spread=spread)
    clean = 1 / (1 + np.exp(-2 * separation * x[:, 0] / spread**2))
    said = flip + (1 - 2 * flip) * clean
    for low in np.arange(flip, 1 - flip, 0.1):
        inside = (said >= low) & (said < low + 0.1)
        if inside.sum() > 500:
            assert labels[inside].mean() == pytest.approx(said[inside].mean(), abs=4 * 0.5 / inside.sum() ** 0.5)


@pytest.mark.parametrize(("flip", "separation", "spread"), SETTINGS)
def test_expectations_are_those_of_a_sample(flip, separation, spread):
    truth = cluster_truth(flip=flip, separation=separation, spread=spread)
    x, labels = noisy_clusters(400_000, 1, flip=flip, separation=separation, spread=spread)
    weights = np.array([1.3, -0.4])
    found = against_truth(truth.points @ weights, truth)
    q = 1 / (1 + np.exp(-(x @ weights)))
    p = flip + (1 - 2 * flip) / (1 + np.exp(-2 * separation * x[:, 0] / spread**2))
    assert found.confidence == pytest.approx(np.maximum(q, 1 - q).mean(), abs=2e-3)
    assert found.distance == pytest.approx(np.sqrt(((q - p) ** 2).mean()), abs=2e-3)
    assert truth.shares @ truth.posterior == pytest.approx(labels.mean(), abs=3e-3)
    for level in (0.5, 0.7, 0.9):
        wrong = ((q > 0.5) != (labels == 1)) & (np.maximum(q, 1 - q) > level)
        exact = mistakes_above(weights, level, flip=flip, separation=separation, spread=spread)
        assert exact == pytest.approx(wrong.mean(), abs=3e-3)


@pytest.mark.parametrize("spread", [0.05, 0.25, 0.5, 1.0, 1.5])
def test_more_nodes_change_little(spread):
    few, many = (cluster_truth(spread=spread, nodes=n) for n in (66, 300))
    first, second = (against_truth(t.points @ np.array([2.0, 0.1]), t) for t in (few, many))
    assert first.distance == pytest.approx(second.distance, abs=1e-6)
    assert first.excess == pytest.approx(second.excess, abs=1e-6)
    assert first.confidence == pytest.approx(second.confidence, abs=1e-3)  # it has a kink


def test_mistakes_take_many_levels():
    levels = np.array([0.5, 0.9])
    found = mistakes_above(np.array([2.0, 0.0]), levels)
    assert found.tolist() == [mistakes_above(np.array([2.0, 0.0]), level) for level in levels]
    assert found[0] > found[1] > 0


@pytest.mark.parametrize("bad", [{"flip": 0.5}, {"flip": -0.1}, {"separation": 0.0}, {"spread": 0.0}, {"nodes": 1}])
def test_what_is_no_cluster(bad):
    with pytest.raises(ValueError, match=next(iter(bad))):
        cluster_truth(**bad)


@pytest.mark.parametrize("level", [0.4, 1.0])
def test_confidences_are_at_least_a_half(level):
    with pytest.raises(ValueError, match="confidence"):
        mistakes_above(np.ones(2), level)
