"""Distances to the raters, and the record's contrasts."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize_scalar
from scipy.special import log_softmax

from focal_lib.theory.maps import inverse_focal_log_probs
from reproduction.engine.data import places
from reproduction.studies.human_labels.contrasts import (
    SETTINGS,
    contrast_of_raters,
    differences_from,
    evaluate_written,
    temperature_ratios,
)
from reproduction.studies.human_labels.measures import (
    RECORD,
    fit_temperature,
    measure_distances,
    measure_outcomes,
    measure_plans,
    name_settings,
    scalings,
    share_by_prediction,
)
from reproduction.studies.human_labels.plan import VALIDATED, Plan, written_contrasts
from reproduction.studies.human_labels.train import Outcome
from reproduction.studies.human_labels.votes import WORTH
from reproduction.studies.shared.recorded import read_table
from reproduction.studies.shared.votes import Votes, energy_to_raters
from reproduction.studies.shared.written_contrasts import evaluate_contrasts

GAMMA = 2.0


def _outcome(seed=1, loss="focal", gamma=GAMMA, n=400):
    """What a perfect focal network says of sentences with known posteriors, and votes on them."""
    rng = np.random.default_rng(seed)
    p = rng.beta(0.7, 0.7, n)
    truth = np.stack([1 - p, p], -1)
    said = inverse_focal_log_probs(np.log(truth), GAMMA)
    votes = rng.binomial(15, p)
    counts = np.stack([15 - votes, 0 * votes, votes], -1)
    plan = Plan("linear", loss, gamma, seed=seed)
    return Outcome(plan, VALIDATED, said, said, truth, Votes(counts, WORTH[2]), 1e-4, 1e-7)


def test_the_map_brings_a_perfect_focal_network_to_the_raters():
    table = measure_outcomes([_outcome()]).set_index(["method", "metric"])["value"]
    assert abs(table["map", "kl"]) < 0.005
    assert abs(table["map", "l2"]) < 0.003
    assert abs(table["map", "gap"]) < 0.02
    assert table["none", "gap"] < -0.1  # underconfident
    assert table["none", "kl"] > 0.05
    assert table["map-temperature", "temperature"] == pytest.approx(1, abs=1e-3)
    assert table["temperature", "temperature"] == pytest.approx(0.36, abs=0.04)
    assert table["none", "gradient"] == 1e-7


def test_losses_without_a_map_have_none():
    methods = [method for method, *_ in scalings(_outcome(loss="proper-focal"))]
    assert methods == ["none", "temperature"]
    assert [method for method, *_ in scalings(_outcome())] == ["none", "temperature", "map", "map-temperature"]


def test_the_temperature_is_the_one_a_search_finds():
    rng = np.random.default_rng(0)
    targets = rng.dirichlet(np.ones(3), 80)
    logits = 3 * np.log(targets) + rng.normal(size=(80, 3))

    def crossed(t):
        return -(targets * log_softmax(logits / t, -1)).sum()

    found = minimize_scalar(crossed, bounds=(0.1, 60), method="bounded", options={"xatol": 1e-7}).x
    assert fit_temperature(logits, targets) == pytest.approx(found, rel=1e-3)


@pytest.mark.parametrize("classes", [2, 3])
def test_the_energy_distance_is_measured_where_it_is_another_than_the_squared_one(classes):
    probs = np.random.default_rng(0).dirichlet(np.ones(classes), 5)
    votes = Votes(np.random.default_rng(1).integers(1, 9, (5, 3)), WORTH[classes])
    found = measure_distances(np.log(probs), votes)
    assert list(found) == ["kl", "l2", *["energy"] * (classes > 2), "accuracy", "gap"]
    if classes > 2:
        assert found["energy"] == pytest.approx(energy_to_raters(probs, votes).mean())


def test_the_record_has_the_energy_distance_of_every_model_of_three_classes():
    record = read_table(RECORD)
    three = record[record["classes"] == 3]
    by_metric = three.pivot(
        index=["model", "labels", "loss", "kept", "seed", "method"], columns="metric", values="value"
    )
    assert by_metric[["kl", "l2", "energy"]].notna().all(axis=None)
    assert "energy" not in set(record.loc[record["classes"] == 2, "metric"])
    assert (by_metric["energy"] != by_metric["l2"]).all()


def test_the_contrasts_find_their_settings():
    table = name_settings(measure_outcomes([_outcome(seed) for seed in (1, 2, 3)]), "linear")
    primary, *_ = written_contrasts("linear")
    found = evaluate_contrasts(table, [primary]).iloc[0]
    assert found["seeds"] == 3
    assert found["high"] < 0
    assert found["significant"]


def test_shares_by_prediction():
    shares = np.linspace(0, 1, 40)
    found = share_by_prediction(shares[::-1] ** 2, shares[::-1], bins=4)
    np.testing.assert_allclose(found["share"], shares.reshape(4, 10).mean(1))
    np.testing.assert_allclose(found["predicted"], (shares**2).reshape(4, 10).mean(1))
    assert (found["half"] > 0).all()
    with pytest.raises(ValueError, match=r"at least two sentences\. Got 7 for 4 bins"):
        share_by_prediction(shares[:7], shares[:7], bins=4)


def test_differences_are_paired_and_ordered():
    outcomes = [_outcome(seed, loss, gamma) for seed in (1, 2, 3) for loss, gamma in (("focal", 0.0), ("focal", GAMMA))]
    found = differences_from(measure_outcomes(outcomes), VALIDATED).set_index("label")
    assert found["difference"].is_monotonic_increasing
    assert found.index[-1] == "focal 2"
    assert found.loc["focal 2", "difference"] == 0  # the same logits under two names
    assert found.loc["focal 2, after its map", "high"] < 0


def test_the_record_has_every_written_contrast():
    found = evaluate_written()
    assert set(found["table"]) == set(SETTINGS)
    assert found.groupby("table")["primary"].sum().eq(1).all()
    for gamma in (1, 2, 3, 5):
        assert len(temperature_ratios("linear", 2, gamma, "map-temperature")) > 1
    with pytest.raises(ValueError, match=r"must have focal 7 of linear, 2 classes. Got none"):
        temperature_ratios("linear", 2, 7, "temperature")
    with pytest.raises(ValueError, match=r"contrast must be one of .*Got 'none'"):
        contrast_of_raters("linear", "none", 1)


@pytest.mark.slow
def test_the_record_is_what_the_code_gives():
    """One cheap model of the record again, where the data set is at hand."""
    if not (places.own_folder("movie-reviews") or places.cache("movie-reviews")).is_dir():
        pytest.skip("the film reviews are not on this machine")
    again = measure_plans([Plan("linear", "focal", 5.0, seed=2)])
    kept = read_table(RECORD)
    kept = kept[(kept["loss"] == "focal 5") & (kept["seed"] == 2)]
    keys = ["kept", "method", "metric"]
    both = again.merge(kept, on=keys, suffixes=("", "_kept"))
    both = both[both["metric"] != "gradient"]
    assert len(both) == len(kept) - 2
    np.testing.assert_allclose(both["value"], both["value_kept"], rtol=2e-2, atol=2e-3)
