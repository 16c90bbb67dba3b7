"""Tables of runs: means against NumPy's, pairings against SciPy, metrics against their own functions."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from scipy.special import softmax

from focal_lib.calibration import M20_TEMPERATURES, PAPER_TEMPERATURES
from focal_lib.metrics.bins import adaptive_ece, ece
from focal_lib.metrics.by_name import METRICS
from reproduction.checkout import ROOT
from reproduction.engine.grids import read_grid
from reproduction.engine.spec import Spec
from reproduction.studies.shared import over_seeds
from reproduction.studies.shared.over_seeds import SCALINGS
from reproduction.studies.shared.two_way import IMAGES, LEFT_OUT

PRE = {"method": "none", "objective": ""}
BY_ADAPTIVE_ECE = {"method": "temperature", "objective": "adaptive-ece"}


@pytest.fixture(scope="module")
def measured(made_results):
    return over_seeds.measure(made_results)


def rows(frame, **where):
    return frame[np.logical_and.reduce([frame[name] == value for name, value in where.items()])]


def test_one_row_a_run_scaling_and_metric(made_results, measured):
    assert len(measured) == len(made_results) * len(SCALINGS) * len(METRICS)
    first, probs = made_results[0], softmax(made_results[0].test.logits.astype(float), -1)
    for metric, function in (("adaptive-ece", adaptive_ece), ("ece", ece)):
        value = rows(measured, **PRE, metric=metric)["value"].iloc[0]
        assert value == pytest.approx(100 * function(probs, first.test.labels))
    errors = rows(measured, metric="error").groupby(["loss", "seed"])["value"].nunique()
    assert (errors == 1).all()  # no scaling changes which class is on top


def test_each_scaling_is_chosen_by_its_objective(made_results, measured):
    """On the validation set the temperature chosen by an ECE is the best one by that ECE."""
    run = made_results[0]
    z, labels = run.validation.logits.astype(float), run.validation.labels
    chosen = rows(measured, loss="cross-entropy", seed=0, metric="nll", method="temperature").set_index("objective")
    values = {o: ece(softmax(z / t, -1), labels) for o, t in chosen["temperature"].items()}
    assert values["ece"] == min(values.values())
    values = {o: adaptive_ece(softmax(z / t, -1), labels) for o, t in chosen["temperature"].items()}
    assert values["adaptive-ece"] == min(values.values())


def test_the_temperature_chosen_by_ece_is_of_m20s_grid(made_results):
    """0.1 to 10 in steps of 0.1, also where KK24's grid ends before; by the other ECE it is of the calibrators' own."""
    run = made_results[0]
    sharp = replace(
        run, **{s: replace(getattr(run, s), logits=8 * getattr(run, s).logits) for s in ("validation", "test")}
    )
    chosen = over_seeds.measure([sharp], [("temperature", "ece")])["temperature"].unique()
    assert len(chosen) == 1
    assert chosen[0] in M20_TEMPERATURES
    assert chosen[0] > max(PAPER_TEMPERATURES)


def test_a_row_has_its_value_without_each_group_of_test_images(made_results, measured):
    run, other = made_results[0], made_results[-1]
    labels, kept = run.test.labels, np.arange(len(run.test.labels)) % 20 != 3
    same = [run, replace(other, test=replace(other.test, labels=labels))]
    table = rows(over_seeds.measure(same, (("none", ""),)), loss=run.spec.label, seed=run.spec.seed)
    values, probs = table.set_index("metric"), softmax(run.test.logits.astype(float), -1)
    assert (values[IMAGES] == len(labels)).all()
    for name in ("error", "nll", "ece", "adaptive-ece", "classwise-ece"):
        change = METRICS[name].shown(probs[kept], labels[kept]) - values.loc[name, "value"]
        assert values.loc[name, "left_out_3"] == pytest.approx(change, rel=2e-3, abs=1e-6)
    apart = [run, replace(other, test=replace(other.test, labels=np.roll(labels, 1)))]
    assert LEFT_OUT[0] not in over_seeds.measure(apart, (("none", ""),))  # nothing that seeds have in common


def test_some_scalings_only(made_results, measured):
    some = over_seeds.measure(made_results[:1], (("none", ""), ("temperature", "nll")))
    whole = measured.merge(some, on=[c for c in some if c not in ("value", IMAGES, *LEFT_OUT)], suffixes=("", "_again"))
    assert len(whole) == len(some) == 2 * len(METRICS)
    assert (whole["value"] == whole["value_again"]).all()


def planned(**seeds):
    """Specifications of cross-entropy and gamma 1, 2 with these seeds: ce=2 is seeds 0 and 1."""
    gammas = {"ce": 0, "one": 1, "two": 2}
    return [Spec(gamma=gammas[name], seed=seed) for name, many in seeds.items() for seed in range(many)]


def table_of(specs):
    rows = [(s.dataset, s.model, s.label, s.seed, metric) for s in specs for metric in ("ece", "nll")]
    return pd.DataFrame(rows, columns=["dataset", "model", "loss", "seed", "metric"])


def test_a_seed_counts_when_all_losses_planned_with_it_have_it():
    specs = planned(ce=3, one=3, two=2)
    pd.testing.assert_frame_equal(over_seeds.keep_whole_seeds(table_of(specs), specs), table_of(specs))
    lacking = [s for s in specs if (s.gamma, s.seed) != (1, 2)]  # cross-entropy alone has seed 2
    kept = over_seeds.keep_whole_seeds(table_of(lacking), specs)
    pd.testing.assert_frame_equal(kept, table_of([s for s in specs if s.seed < 2]))
    lacking = [s for s in specs if (s.gamma, s.seed) != (2, 1)]  # which is planned with other seeds than the two
    kept = over_seeds.keep_whole_seeds(table_of(lacking), specs)
    pd.testing.assert_frame_equal(kept, table_of(lacking))
    assert over_seeds.keep_whole_seeds(table_of(specs[:1]), specs).empty


def test_whole_seeds_are_kept_by_network():
    one = planned(ce=2, one=2)
    for apart in ({"model": "mlp"}, {"dataset": "cifar10"}):
        other = [replace(spec, **apart) for spec in one]
        mixed = [*reversed(other), *one[:-1]]  # rows stay in their order
        kept = over_seeds.keep_whole_seeds(table_of(mixed), one + other)
        pd.testing.assert_frame_equal(kept, table_of([*reversed(other), one[0], one[2]]))


RATES = (0.003, 0.01, 0.03)


@pytest.fixture(scope="module")
def by_rate(make_result):
    """Of one seed, two penalties at three learning rates, as KN24 Fig. 4 has them."""
    runs = [make_result("hessian-trace", 0, lam=lam, learning_rate=rate) for rate in RATES for lam in (0, 0.001)]
    return over_seeds.measure(runs, (("none", ""),))


def test_runs_that_differ_in_a_setting_are_no_seeds(by_rate):
    assert sorted(set(by_rate["learning_rate"])) == list(RATES)  # the column is there as the others are alike
    said = "Got 3 with fashion-mnist, small-cnn, hessian-trace 0, none, error, 0: keep .* one value of learning_rate"
    with pytest.raises(ValueError, match=said):
        over_seeds.summarise(by_rate)
    with pytest.raises(ValueError, match=said):
        over_seeds.contrast(by_rate, "loss", "hessian-trace 0")
    one = by_rate[by_rate["learning_rate"] == 0.01]
    assert (over_seeds.summarise(one)["seeds"] == 1).all()
    assert over_seeds.contrast(one, "loss", "hessian-trace 0")["low"].isna().all()


def test_settings_are_what_runs_are_trained_with(make_result):
    """Of runs that are alike in all else; a rate that the recipe has anyway is that rate."""
    alike = [make_result("focal", 0, gamma=1, recipe="cifar-cpu", learning_rate=rate) for rate in (0, 0.01)]
    found = over_seeds.measure(alike, (("none", ""),))
    assert sorted(set(found["learning_rate"])) == [0.01, alike[0].spec.training.learning_rate]
    columns = set(over_seeds.measure([alike[0], make_result("focal", 1, gamma=1, epochs=7)], (("none", ""),)))
    assert columns - {IMAGES, *LEFT_OUT} == set(found) - {"learning_rate", IMAGES, *LEFT_OUT}


def test_the_same_rows_twice_are_refused(by_rate):
    one = by_rate[by_rate["learning_rate"] == 0.01]
    with pytest.raises(ValueError, match=r"Got 2 with .*, 0, and no column tells them apart"):
        over_seeds.summarise(pd.concat([one, one]))
    with pytest.raises(ValueError, match=r"and no column tells them apart"):
        over_seeds.summarise(pd.concat([one, one]).drop(columns=["gamma", "learning_rate"]))


def test_seeds_are_whole_in_grids_whose_runs_tables_tell_apart(by_rate):
    planned = read_grid(ROOT / "workflow" / "grids" / "kn24-fig4.yaml")
    with pytest.raises(ValueError, match=r"Got 15 that do not, as hessian-trace 0, seed 0.* differ in learning_rate\."):
        over_seeds.keep_whole_seeds(by_rate, planned)


def test_summary_is_numpys(measured, tmp_path):
    over_seeds.write_table(measured, tmp_path / "t.parquet")
    found = over_seeds.summarise(pd.read_parquet(tmp_path / "t.parquet"))
    keys = ["loss", "method", "objective", "metric"]
    values: dict[tuple, list[float]] = {}
    for *key, value in measured[[*keys, "value"]].itertuples(index=False):
        values.setdefault(tuple(key), []).append(value)
    assert [tuple(key) for key in found[keys].itertuples(index=False)] == list(values)  # order of the grid
    np.testing.assert_allclose(found["mean"], [np.mean(own) for own in values.values()], rtol=1e-12)
    np.testing.assert_allclose(found["sd"], [np.std(own, ddof=1) for own in values.values()], rtol=1e-9)
    assert (found["seeds"] == 4).all()


def test_pairs_are_of_one_seed(measured):
    shuffled = measured.drop(columns=list(LEFT_OUT), errors="ignore").sample(frac=1, random_state=0)
    row = rows(over_seeds.contrast(shuffled, "loss", "cross-entropy"), **PRE, metric="nll").iloc[0]
    pre = rows(measured, **PRE, metric="nll").pivot(index="seed", columns="loss", values="value")
    interval = stats.ttest_rel(pre["focal 3"], pre["cross-entropy"]).confidence_interval(0.95)
    assert (row["loss"], row["seeds"]) == ("focal 3", 4)
    assert (row["difference"], row["low"], row["high"]) == pytest.approx(
        ((pre["focal 3"] - pre["cross-entropy"]).mean(), interval.low, interval.high)
    )


def test_methods_are_compared_at_one_objective(measured):
    found = over_seeds.contrast(measured, "method", "temperature")
    assert set(found["method"]) == {"focal-temperature"}  # 'none' has no objective to share
    assert set(found["objective"]) == {"nll", "adaptive-ece"}
    row = rows(found, loss="focal 3", objective="adaptive-ece", metric="ece").iloc[0]
    part = rows(measured, loss="focal 3", objective="adaptive-ece", metric="ece")
    wide = part.pivot(index="seed", columns="method", values="value")
    assert row["difference"] == pytest.approx((wide["focal-temperature"] - wide["temperature"]).mean())


def test_as_trained_is_a_baseline_for_every_objective(measured):
    found = over_seeds.contrast(measured, "method", "none")
    assert len(found) == 2 * (len(SCALINGS) - 1) * len(METRICS)


def test_objectives_are_compared_within_a_method(measured):
    found = over_seeds.contrast(measured, "objective", "nll")
    assert set(zip(found["method"], found["objective"], strict=True)) == {
        ("temperature", "ece"),
        ("temperature", "adaptive-ece"),
        ("focal-temperature", "adaptive-ece"),
    }


def test_one_seed_has_no_interval(measured):
    found = over_seeds.contrast(measured[measured["seed"] == 0], "loss", "cross-entropy")
    assert found["low"].isna().all()
    assert found["difference"].notna().all()


def test_a_baseline_that_is_not_there_is_refused(measured):
    with pytest.raises(ValueError, match=r"a loss of the table: cross-entropy, focal 3. Got 'mmce'"):
        over_seeds.contrast(measured, "loss", "mmce")


def test_form_of_table_1_is_by_kk24s_ece(measured):
    table = over_seeds.format_as_kk24(measured)
    assert table.columns.get_level_values(0).unique().tolist() == ["error (%)", "NLL", "adaptive ECE (%)"]
    part = rows(measured, loss="focal 3", **BY_ADAPTIVE_ECE, metric="adaptive-ece")
    wanted = f"{part['value'].mean():.2f} ± {part['value'].std():.2f} ({part['temperature'].mean():.2f})"
    assert table.loc["focal 3", ("adaptive ECE (%)", "temperature")] == wanted
    one = measured[(measured["seed"] == 0) | (measured["loss"] == "cross-entropy")]
    mixed = over_seeds.format_as_kk24(one).map(lambda text: "±" in text)
    assert mixed.loc["cross-entropy"].all()
    assert not mixed.loc["focal 3"].any()  # one run: no deviation, and no 'nan'
    alone = over_seeds.format_as_kk24(measured[measured["seed"] == 0])
    assert "±" not in alone.loc["focal 3", ("NLL", "as trained")]
    assert isinstance(table, pd.DataFrame)


def test_several_at_once_are_corrected_together():
    p = pd.Series([0.01, np.nan, 0.04, 0.03], index=[5, 1, 7, 2])
    found = over_seeds.correct_together(pd.DataFrame({"p": p}))
    np.testing.assert_allclose(found["p_adjusted"], [0.03, np.nan, 0.06, 0.06])  # of three
    assert found["significant"].tolist() == [True, False, False, False]
    assert not over_seeds.correct_together(pd.DataFrame({"p": p}), level=0.99)["significant"].any()


def test_p_values_are_scipys(measured):
    alone = measured.drop(columns=list(LEFT_OUT), errors="ignore")
    row = rows(over_seeds.contrast(alone, "loss", "cross-entropy"), **PRE, metric="nll").iloc[0]
    pre = rows(measured, **PRE, metric="nll").pivot(index="seed", columns="loss", values="value")
    assert row["p"] == pytest.approx(stats.ttest_rel(pre["focal 3"], pre["cross-entropy"]).pvalue)


def test_how_many_seeds_each_loss_has():
    rows = [
        (loss, seed)
        for loss, seeds in (("focal 1", 4), ("brier", 2), ("fcl 4 1.5", 2), ("mmce 2", 1))
        for seed in range(seeds)
    ]
    table = pd.DataFrame(rows, columns=["loss", "seed"])
    assert over_seeds.name_seeds(table) == "4 seeds (1 of MMCE (λ 2); 2 of Brier score, FCL (γ 4, λ 1.5))"
    assert over_seeds.name_seeds(table.query("loss == 'focal 1'")) == "4 seeds"
    assert over_seeds.name_seeds(table.query("loss == 'mmce 2'")) == "1 seed"


def test_seeds_are_counted_beside_those_that_are_planned():
    said = [over_seeds.say_seeds(*numbers) for numbers in ((1,), (4,), (4, 4), (2, 4), (0, 1))]
    assert said == ["1 seed", "4 seeds", "4 seeds", "2 of 4 planned seeds", "0 of 1 planned seed"]


def test_mean_and_sd_as_text():
    table = pd.DataFrame({"loss": ["a", "a", "b"], "nll": [0.25, 0.75, 1.0]})
    assert over_seeds.format_mean_sd(table.groupby("loss"))["nll"].tolist() == ["0.50 ± 0.35", "1.00"]
