"""Searches along the valley, against brute force and against each other, on runs made up."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy.special import log_softmax

from focal_lib.theory.closest_temperature import closest_temperature
from focal_lib.theory.maps import focal_log_probs
from reproduction.engine.store import Logits
from reproduction.studies.calibrators import valley
from reproduction.studies.calibrators.valley import nll_surface, search_valley, valley_factor
from reproduction.studies.shared.recorded import load_recorded, read_searches


@pytest.fixture(scope="module")
def searched(made_results):
    return search_valley(made_results[3:5])  # cross-entropy and gamma 3


def drawn_from_map(make_result, gamma, temperature, n=2000):
    """A run whose labels are drawn from the map after a temperature, on both parts."""
    rng, run = np.random.default_rng(0), make_result("focal", 0, gamma=max(gamma, 0))
    parts = []
    for _ in range(2):
        logits = 2 * rng.standard_normal((n, 4))
        p = np.exp(focal_log_probs(logits / temperature, gamma))
        parts.append(Logits(logits, (p.cumsum(-1) < rng.random((n, 1))).sum(-1)))
    return replace(run, validation=parts[0], test=parts[1])


def test_the_factor_is_the_closest_temperature_of_theory():
    np.testing.assert_allclose(valley_factor(2.0, 4), closest_temperature(2.0, 4).inverse_temperature)
    assert valley_factor(0.0, 4) == 1
    between = np.array([-0.9, -0.4, 0.0, 0.25, 0.5, 1.0, 7.0, 20.0])
    assert (np.diff(valley_factor(between, 4)) > 0).all()
    low, high = valley_factor([-0.5, 0.5], 4)
    assert low + high == pytest.approx(2)  # one line on both sides of 0


@pytest.mark.parametrize("gamma", [-1.0, 20.1, np.nan])
def test_a_gamma_outside_the_search_is_refused(gamma):
    with pytest.raises(ValueError, match="gamma must be between"):
        valley_factor(gamma, 4)


def test_the_surface_is_the_nll_of_the_validation_data(made_results):
    part = made_results[0].validation
    surface = nll_surface(made_results[0], [0.0, 2.0], [0.5, 1.0, 3.0])
    rows = np.arange(len(part.labels))
    assert surface.shape == (3, 2)
    assert surface[2, 0] == pytest.approx(-log_softmax(part.logits.astype(float) / 3, -1)[rows, part.labels].mean())
    mapped = focal_log_probs(part.logits.astype(float) / 0.5, 2.0)
    assert surface[0, 1] == pytest.approx(-mapped[rows, part.labels].mean())


def test_every_search_is_within_what_it_may_do(searched):
    for _, part in searched.groupby("gamma"):
        own = part.set_index("search")
        assert own["value"].idxmin() in ("full", "not negative")
        assert own.loc["full", "value"] <= own["value"].min() + 1e-9
        assert own.loc["not negative", "calibration_gamma"] >= 0
        assert own.loc["temperature", "calibration_gamma"] == 0
        assert own.loc["map alone", "temperature"] == 1
        assert (
            own.loc[["valley", "own line", "not negative"], "value"] <= own.loc["temperature", "value"] + 1e-9
        ).all()
        factor = valley_factor(own.loc["valley", "calibration_gamma"], 4)
        assert own.loc["valley", "temperature"] == pytest.approx(own.loc["temperature", "temperature"] * factor)


def test_gamma_is_found_where_labels_are_drawn_from_the_map(make_result):
    found = search_valley([drawn_from_map(make_result, 3.0, 1.0, n=8000)]).set_index("search")
    assert found.loc["map alone", "calibration_gamma"] == pytest.approx(3.0, abs=0.4)
    assert found.loc["own line", "value"] == pytest.approx(found.loc["full", "value"], abs=2e-3)


@pytest.mark.slow
def test_without_negative_gamma_the_best_is_that_of_brute_force(make_result):
    run = drawn_from_map(make_result, -0.7, 1.0)
    found = search_valley([run], ("full", "not negative")).set_index("search")
    assert found.loc["full", "calibration_gamma"] < 0
    grid = nll_surface(run, np.linspace(0, 3, 16), np.geomspace(0.5, 4, 40)).min()
    assert found.loc["full", "value"] <= found.loc["not negative", "value"] <= grid
    assert found.loc["not negative", "value"] == pytest.approx(grid, abs=1e-3)


def test_another_search_is_refused(made_results):
    with pytest.raises(ValueError, match="searches must be among"):
        search_valley(made_results[:1], ("newton",))


def test_the_record_is_what_the_searches_give_today():
    kept = read_searches()
    runs = load_recorded("cifar10-record")
    assert not kept.duplicated(["run", "search"]).any()
    assert set(kept["search"]) == set(valley.SEARCHES)
    assert (kept.groupby("run")["commit"].nunique() == 1).all()  # runs are added later, each searched at once
    assert not kept["commit"].str.endswith("-dirty").any()
    again = search_valley(runs[:1], ("temperature", "valley", "own line"))
    again["run"] = runs[0].spec.digest
    both = kept.merge(again, on=["run", "search"], suffixes=("", "_again"))
    assert len(both) == 3
    for column in ("calibration_gamma", "temperature", "value", "nll"):
        pd.testing.assert_series_equal(both[column], both[f"{column}_again"], rtol=1e-3, atol=1e-4, check_names=False)
