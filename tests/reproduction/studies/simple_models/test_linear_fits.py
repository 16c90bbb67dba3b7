"""Exact fits over draws, and to the whole distribution."""

import numpy as np
import pytest

from reproduction.studies.simple_models.clusters import cluster_truth
from reproduction.studies.simple_models.linear_fits import fit_truth, linear_fits, norm_ratios
from reproduction.studies.simple_models.linear_model import fit_linear_model, noisy_clusters


def test_without_flipped_labels_cross_entropy_finds_the_truth():
    """The true logit is 2 d x_1 / sigma^2: the model holds it."""
    weights = fit_truth(0.0, cluster_truth(flip=0.0, spread=1.0)).weights
    np.testing.assert_allclose(weights, [2.0, 0.0], atol=1e-6)


@pytest.mark.slow
def test_the_whole_distribution_is_the_limit_of_samples():
    x, labels = noisy_clusters(200_000, 0)
    sample = fit_linear_model(x, labels, 1.0).weights
    np.testing.assert_allclose(fit_truth(1.0, cluster_truth()).weights, sample, atol=0.02)


def test_columns_say_what_was_fitted():
    table = linear_fits((0.0, 1.0), 3, 300)
    assert len(table) == 6
    x, labels = noisy_clusters(300, 2)
    weights = [fit_linear_model(x, labels, gamma).weights for gamma in (0.0, 1.0)]
    row = table[(table["seed"] == 2) & (table["gamma"] == 1)].iloc[0]
    assert row["norm"] == pytest.approx(np.linalg.norm(weights[1]))
    assert row["logits"] == pytest.approx(np.sqrt(((x @ weights[1]) ** 2).mean()))
    angles = [np.degrees(np.arctan2(*w[::-1])) for w in weights]
    assert row["angle"] == pytest.approx(abs(angles[0] - angles[1]), abs=1e-4)
    assert 0 < row["high"] < 1
    assert 0.8 < row["accuracy"] < 0.9
    plain = table[table["gamma"] == 0]
    np.testing.assert_allclose(plain["mapped_distance"], plain["distance"])
    assert (table["gradient"] < 1e-6).all()


def test_the_map_undoes_the_shrinking():
    table = linear_fits((0.0, 3.0), 2, 500).pivot(index="seed", columns="gamma")
    assert (table["distance"][3.0] > table["distance"][0.0] + 0.1).all()
    np.testing.assert_allclose(table["mapped_distance"][3.0], table["distance"][0.0], atol=0.01)


def test_ratios_lie_near_the_temperature():
    table = norm_ratios([1.0], [0.5, 1.0], [0.1])
    assert list(table["spread"]) == [0.5, 1.0]
    np.testing.assert_allclose(table["ratio"] / table["temperature"], 1, atol=0.03)


@pytest.mark.parametrize("bad", [((1.0,), 2), ((0.0,), 0)])
def test_bad_input(bad):
    with pytest.raises(ValueError, match="gammas must hold 0"):
        linear_fits(*bad)
