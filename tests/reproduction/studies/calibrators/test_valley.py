"""Searches along the valley, against brute force and each other; what the page shows of them."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy.special import log_softmax

from focal_lib.theory.closest_temperature import closest_temperature
from focal_lib.theory.maps import focal_log_probs
from reproduction.checkout import ROOT
from reproduction.engine.grids import read_grid
from reproduction.engine.store import Logits
from reproduction.studies.calibrators import valley
from reproduction.studies.calibrators.valley import (
    cheap_searches,
    count_searched,
    negative_by_loss,
    nll_surface,
    over_training_gamma,
    score_test,
    score_tests,
    search_valley,
    valley_factor,
)
from reproduction.studies.shared.recorded import SEARCHED, load_recorded, read_searches


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


def made_table():
    keys = [("cifar10", "mlp", *loss, seed) for loss in (("cross-entropy", 0.0), ("focal 3", 3.0)) for seed in (0, 1)]
    full = [(-0.9, 1.0, 0.50, 0.52), (0.5, 1.2, 0.50, 0.50), (2.0, 1.0, 0.4, 0.4), (4.0, 1.2, 0.4, 0.4)]
    other = [(0.0, 1.3, 0.51, 0.51), (0.5, 1.2, 0.50, 0.50), (2.0, 1.0, 0.4, 0.4), (4.0, 1.2, 0.4, 0.4)]
    columns = ["dataset", "model", "loss", "gamma", "seed", "search"]
    columns += ["calibration_gamma", "temperature", "value", "nll"]
    rows = [(*k, n, *v) for n, vs in (("full", full), ("not negative", other)) for k, v in zip(keys, vs, strict=True)]
    table = pd.DataFrame(rows, columns=columns)
    return table.assign(seconds=np.where(table["search"] == "full", 6.0, 2.0))


def test_negative_gammas_are_counted_by_loss():
    found = negative_by_loss(made_table()).set_index("loss")
    assert list(found.loc["cross-entropy", ["networks", "negative", "at_end"]]) == [2, 1, 1]
    assert list(found.loc["focal 3", ["networks", "negative", "at_end"]]) == [2, 0, 0]
    assert found.loc["cross-entropy", "validation"] == pytest.approx(-0.005)
    assert found.loc["cross-entropy", "test"] == pytest.approx(0.005)  # worse on test


def test_what_a_cheap_search_gives_up():
    (found,) = cheap_searches(made_table(), ["not negative"]).itertuples()
    assert (found.runs, found.losses, found.seeds, found.faster) == (4, 2, 2, 3)
    assert found.validation == pytest.approx(0.0025)
    assert found.test == pytest.approx(-0.0025)
    assert found.worst == 0
    assert found.low < found.test < found.high


def test_calibration_gamma_over_that_of_training():
    extra = made_table().assign(loss=lambda t: t["loss"].replace("focal 3", "fcl 3 0.5"))
    assert list(over_training_gamma(extra)["gamma"]) == [0.0]  # no loss of another kind
    found = over_training_gamma(made_table()).set_index("gamma")
    assert found.loc[3.0, "mean"] == 3
    assert found.loc[3.0, "high"] == pytest.approx(3 + 12.706204736)  # t of one degree, standard error 1
    assert found.loc[3.0, "low"] == valley.GAMMAS[0]  # that of Student would be below it
    assert found.loc[3.0, "temperature"] == pytest.approx(1.1)
    assert list(found["seeds"]) == [2, 2]
    one = over_training_gamma(made_table().query("seed == 0"))
    assert one["low"].isna().all()


def test_networks_are_not_mixed():
    two = pd.concat([made_table(), made_table().assign(model="resnet8", nll=lambda t: t["nll"] + t["value"])])
    found = cheap_searches(two, ["not negative"]).set_index("model")
    assert list(found.index) == ["mlp", "resnet8"]
    assert found.loc["mlp", "test"] == pytest.approx(-0.0025)
    assert found.loc["resnet8", "test"] == pytest.approx(0)  # 0.0025 more of validation
    assert list(negative_by_loss(two)["networks"]) == [2, 2, 2, 2]


def test_where_runs_are_missing_seeds_have_the_losses_that_all_have():
    table = made_table()
    (found,) = cheap_searches(table[(table["seed"] == 0) | (table["gamma"] == 0)], ["not negative"]).itertuples()
    assert (found.runs, found.losses, found.seeds) == (3, 1, 2)
    assert found.test == pytest.approx(-0.005)
    other = table[(table["seed"] == 0) == (table["gamma"] == 0)]  # each seed a loss of its own
    (found,) = cheap_searches(other, ["not negative"]).itertuples()
    assert (found.losses, found.worst) == (0, 0)
    assert np.isnan([found.test, found.low, found.high]).all()


def test_runs_are_counted_by_record_and_network():
    specs = read_grid(ROOT / "workflow" / "grids" / "fashion-mnist-architectures.yaml")
    table = pd.DataFrame(
        {
            "record": "fashion-mnist-architectures",
            "run": [spec.digest for spec in specs[:2]],
            "loss": [spec.label for spec in specs[:2]],
            "seed": [spec.seed for spec in specs[:2]],
        }
    )
    counts = count_searched(table, ["fashion-mnist-architectures"])
    assert (counts[["losses", "seeds", "planned", "recorded"]] == [2, 4, 8, 8]).all().all()
    assert counts["searched"].sum() == 2


def test_searched_are_recorded_runs_and_all_of_records_that_are_whole():
    found = read_searches()
    assert set(found["record"]) == set(SEARCHED)
    counts = count_searched(found, SEARCHED)
    assert counts["searched"].sum() == found["run"].nunique()
    assert (counts["searched"] <= counts["recorded"]).all()
    whole = counts[counts["recorded"] == counts["planned"]]
    assert (whole["searched"] == whole["planned"]).all()
    assert (counts["searched"] > 0).all()


@pytest.mark.parametrize("gamma", [-0.2, 0.0, 0.3])
def test_the_score_finds_the_gamma_that_drew_the_labels(make_result, gamma):
    run = drawn_from_map(make_result, gamma, 1.0, n=20_000)
    full, plain = (search_valley([run], [name]).iloc[0] for name in ("full", "temperature"))
    said = score_test(run, plain["temperature"])
    assert said["step"] == pytest.approx(full["calibration_gamma"], abs=0.1)
    assert said["gain"] == pytest.approx(plain["value"] - full["value"], abs=2e-4)
    assert (abs(said["z"]) > 3) == (gamma != 0)


def test_the_slope_of_the_score_is_that_of_the_valley(make_result):
    run = drawn_from_map(make_result, 0.0, 1.0)
    t_zero, t_step = (valley.nll_temperature(run, gamma) for gamma in (0.0, 0.05))
    assert score_test(run, t_zero)["slope"] == pytest.approx((t_step / t_zero - 1) / 0.05, abs=0.02)


def test_the_scores_stand_at_the_recorded_temperatures(made_results, searched):
    runs = made_results[3:5]
    found = searched.assign(run=[run.spec.digest for run in runs for _ in range(searched["search"].nunique())])
    tests = score_tests(runs, found)
    assert tests["seed"].tolist() == [run.spec.seed for run in runs]
    for run, row in zip(runs, tests.itertuples(), strict=True):
        assert row.temperature == valley._plain(run)[2]
        assert row.z == score_test(run, row.temperature)["z"]
