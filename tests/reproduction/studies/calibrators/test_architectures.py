"""The map on networks' predictions, against brute force and exact cases."""

import numpy as np
import pandas as pd
import pytest
from scipy.special import log_softmax

from focal_lib.metrics.significance import holm
from focal_lib.theory.maps import focal_log_probs
from reproduction.checkout import ROOT
from reproduction.engine.grids import read_grid
from reproduction.studies.calibrators.architectures import (
    ARCHITECTURE_CONTRASTS,
    contrasts_by_network,
    map_by_network,
    nearest_temperature,
    share_lowered,
)
from reproduction.studies.shared.over_seeds import measure
from reproduction.studies.shared.written_contrasts import evaluate_contrasts


@pytest.fixture
def logits():
    return 2 * np.random.default_rng(0).standard_normal((200, 5))


def test_the_nearest_temperature_is_that_of_a_fine_grid(logits):
    grid = np.linspace(0.2, 1.2, 2001)
    mapped = np.exp(focal_log_probs(logits, 2.0))
    cross = [-(mapped * log_softmax(logits / t, -1)).sum(-1).mean() for t in grid]
    assert nearest_temperature(logits, 2.0) == pytest.approx(grid[np.argmin(cross)], abs=5e-4)


def test_no_map_is_temperature_one(logits):
    assert nearest_temperature(logits, 0.0) == pytest.approx(1, abs=1e-5)
    assert share_lowered(logits, 0.0) == 0


def test_one_prediction_of_two_classes_has_its_temperature_exactly():
    """With two classes any map of one point is a temperature: the ratio of its log odds."""
    z = np.array([[1.3, 0.0]])
    mapped = focal_log_probs(z, 3.0)
    assert nearest_temperature(z, 3.0) == pytest.approx(1.3 / float(mapped[0, 0] - mapped[0, 1]), abs=1e-5)


def test_the_share_lowered(logits):
    """No prediction of two classes loses confidence, as KK24 Prop. 5 says; one of a hundred that is spread does."""
    assert share_lowered(logits[:, :2], 5.0) == 0
    spread = np.log([[0.05, *[0.95 / 99] * 99]])
    certain = 30 * np.eye(100)[:1]
    assert np.exp(focal_log_probs(spread, 5.0)).max() < 0.05
    assert share_lowered(np.concatenate([spread, certain, certain, certain]), 5.0) == 0.25


def test_a_row_a_network_with_its_interval(made_results):
    table = map_by_network(made_results, 3.0)
    [row] = table.to_dict("records")
    plain = [run for run in made_results if run.spec.label == "cross-entropy"]
    each = [nearest_temperature(run.test.logits, 3.0) for run in plain]
    assert row["networks"] == 4
    assert row["nearest"] == pytest.approx(np.mean(each))
    assert (row["high"] - row["low"]) / 2 == pytest.approx(3.182446305 * np.std(each, ddof=1) / 2, rel=1e-6)
    assert row["error"] == pytest.approx(np.mean([(r.test.logits.argmax(-1) != r.test.labels).mean() for r in plain]))
    one = map_by_network(plain[:1], 3.0).iloc[0]
    assert np.isnan([one["low"], one["high"]]).all()


@pytest.mark.slow
def test_contrasts_are_of_each_network_and_corrected_together(made_results):
    table = measure(made_results, [("temperature", "nll"), ("focal-temperature", "nll"),
                                   ("temperature", "adaptive-ece"), ("focal-temperature", "adaptive-ece")])  # fmt: skip
    rng = np.random.default_rng(0)
    other = table.assign(model="two", value=table["value"] + 0.01 * rng.standard_normal(len(table)))
    found = contrasts_by_network(pd.concat([table.assign(model="one"), other]), ARCHITECTURE_CONTRASTS)
    alone = [evaluate_contrasts(part, ARCHITECTURE_CONTRASTS) for part in (table, other)]
    p = np.concatenate([one["p"] for one in alone])
    assert found["model"].tolist() == ["one", "one", "two", "two"]
    np.testing.assert_allclose(found["p"], p)
    np.testing.assert_allclose(found["p_adjusted"], holm(p))
    assert found["significant"].tolist() == (holm(p) <= 0.05).tolist()
    assert not np.allclose(holm(p), 4 * p)  # Bonferroni would be another


def test_runs_that_are_no_replicates_are_refused(made_results):
    with pytest.raises(ValueError, match=r"one cross-entropy run a data set, network and seed. Got 5"):
        map_by_network([*made_results, made_results[0]], 3.0)


@pytest.mark.parametrize("gamma", [-0.9, -0.5, 1.0, 20.0, 100.0])
def test_the_nearest_temperature_has_room(logits, gamma):
    """It lies about where theory puts that of two classes, far from the ends of the search."""
    inverse = 1 / nearest_temperature(logits, gamma)
    assert min(1, gamma + 1) * 0.9 < inverse < max(1, gamma + 1) * 1.1


def test_predictions_that_any_temperature_leaves_alone_have_none():
    assert np.isnan(nearest_temperature(np.zeros((3, 4)), 2.0))
    assert np.isnan(nearest_temperature(np.array([[0.0, -1e6]]), 2.0))


def test_the_contrasts_are_of_what_the_grid_trains():
    trained = {spec.label for spec in read_grid(ROOT / "workflow/grids/fashion-mnist-architectures.yaml")}
    assert trained == set(ARCHITECTURE_CONTRASTS[0].ours.losses)
