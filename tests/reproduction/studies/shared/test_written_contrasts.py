"""Contrasts on tables made up: differences by hand, what is corrected, other ECEs, another data set."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from focal_lib.metrics.intervals import Interval, t_interval
from focal_lib.metrics.significance import smallest_effect
from reproduction.checkout import ROOT
from reproduction.engine.contrasts import Contrast, Setting
from reproduction.engine.grids import read_contrasts
from reproduction.studies.shared.over_seeds import SCALINGS
from reproduction.studies.shared.two_way import BySeed
from reproduction.studies.shared.written_contrasts import (
    ECES,
    FINDINGS,
    compare_data_sets,
    compare_eces,
    compare_small_with_large,
    difference_by_seed,
    evaluate_contrasts,
    format_contrasts,
    format_small_with_large,
    interval_of,
    keep_evaluable,
    primary_contrast,
    say_what_is_compared,
    significant_signs,
    subtract_means,
    tabulate_contrasts,
)

AFTER = {"focal": ("focal-temperature", "adaptive-ece"), "plain": ("temperature", "adaptive-ece")}
GAINS = {"focal 1": (-3.2, -1.0, -2.0, -1.8), "focal 3": (1.0, 1.0, 0.0, 2.0), "flsd-53": (-0.1, 0.1, -0.2, 0.2)}


def made(gains=GAINS, metric="adaptive-ece"):
    """Values after temperature scaling are 10 + seed, after focal temperature scaling with these gains."""
    rows = []
    for loss, by_seed in gains.items():
        for seed, gain in enumerate(by_seed):
            for name, (method, objective) in AFTER.items():
                value = 10 + seed + (gain if name == "focal" else 0)
                rows.append((loss, seed, method, objective, metric, value))
    frame = pd.DataFrame(rows, columns=["loss", "seed", "method", "objective", "metric", "value"])
    return frame.assign(dataset="cifar10", model="m")


def contrast(*losses, primary=False):
    ours, theirs = (Setting(losses, *AFTER[name]) for name in ("focal", "plain"))
    return Contrast("KK24 Table 1", " and ".join(losses), "adaptive-ece", ours, theirs, -1, primary)


FAMILY = (contrast(*GAINS, primary=True), *(contrast(loss) for loss in GAINS))


def test_difference_is_the_mean_over_losses_of_a_seed():
    both = contrast("focal 1", "focal 3")
    shuffled = made().sample(frac=1, random_state=0)
    found = difference_by_seed(shuffled, both.metric, both.ours, both.theirs)
    assert found.index.tolist() == [0, 1, 2, 3]
    np.testing.assert_allclose(found, [-1.1, 0, -1, 0.1], atol=1e-12)


def test_seeds_that_one_side_lacks_are_left_out():
    fewer = made()[lambda f: (f["seed"] < 2) | (f["method"] == "temperature")]
    row = evaluate_contrasts(fewer, [contrast("focal 1")]).iloc[0]
    assert (row["difference"], row["seeds"]) == (pytest.approx(-2.1), 2)


def test_a_row_is_scipys_test():
    row = evaluate_contrasts(made(), FAMILY).iloc[1]
    interval = stats.ttest_1samp(GAINS["focal 1"], 0).confidence_interval(0.95)
    assert (row["difference"], row["low"], row["high"], row["seeds"]) == pytest.approx((-2, *interval, 4))
    assert row["p"] == pytest.approx(stats.ttest_1samp(GAINS["focal 1"], 0).pvalue)
    assert row["smallest"] == pytest.approx(smallest_effect(t_interval(GAINS["focal 1"])))


def test_the_primary_contrast_stands_for_itself_and_the_others_are_corrected_together():
    found = evaluate_contrasts(made(), FAMILY)
    assert found["p_adjusted"][0] == found["p"][0]
    p = found["p"][1:].to_numpy()  # 0.02, 0.09, 1
    np.testing.assert_allclose(found["p_adjusted"][1:], [3 * p[0], 2 * p[1], 1], rtol=1e-12)
    assert found["p"][1] < 0.05 < found["p_adjusted"][1] < 0.1
    assert found["significant"].tolist() == [False] * 4
    nearer = made(GAINS | {"focal 1": (-2.2, -1.9, -2.0, -1.8)})
    assert evaluate_contrasts(nearer, FAMILY)["significant"].tolist() == [False, True, False, False]


def test_each_table_is_a_family_of_its_own():
    apart = [replace(c, table=f"Table {i}") for i, c in enumerate(FAMILY)]
    found = evaluate_contrasts(made(), apart)
    np.testing.assert_array_equal(found["p_adjusted"], found["p"])


def test_one_seed_shows_nothing():
    row = evaluate_contrasts(made({"focal 1": (-2.0,)}), [contrast("focal 1")]).iloc[0]
    assert (row["difference"], row["seeds"], row["significant"]) == (-2, 1, False)
    assert np.isnan([row["low"], row["high"], row["p"], row["p_adjusted"], row["smallest"]]).all()


def test_other_eces_that_say_something_else_are_named():
    table = pd.concat([made(), made({k: tuple(-g for g in v) for k, v in GAINS.items()}, "ece")])
    table = pd.concat([table, made(GAINS, "smooth-ece"), made({"focal 1": (-9.0, 1.0, -2.0, -2.0)}, "classwise-ece")])
    found = compare_eces(table, [contrast("focal 1")]).set_index("metric")
    assert found.loc[found["own"]].index.tolist() == ["adaptive-ece"]
    # another sign, the contrast's own, not significant, the same
    expected = {"ece": True, "adaptive-ece": False, "classwise-ece": True, "smooth-ece": False}
    assert found["apart"].to_dict() == expected
    assert compare_eces(table, [replace(contrast("focal 1"), metric="nll")]).empty
    assert set(ECES) == set(found.index)


def test_a_table_of_a_paper_waits_for_all_of_its_losses():
    other = replace(contrast("fcl 4 1.5"), table="L25 Table 4")
    assert keep_evaluable([*FAMILY, other], made()) == FAMILY
    assert keep_evaluable([*FAMILY, replace(other, table="KK24 Table 1")], made()) == ()
    two_seeds = made()[lambda f: f["seed"] < 2]
    assert keep_evaluable(FAMILY, two_seeds) == FAMILY
    for lacking in (two_seeds["seed"] == 0, two_seeds["loss"] != "focal 3"):
        assert keep_evaluable(FAMILY, two_seeds[lacking]) == ()
    apart = made()[lambda f: (f["loss"] == "focal 3") == (f["seed"] < 2)]  # two seeds each, none in common
    assert keep_evaluable([contrast("focal 1"), replace(contrast("focal 3"), table="other")], apart) == (
        contrast("focal 1"),
        replace(contrast("focal 3"), table="other"),
    )
    against = replace(contrast("focal 1"), theirs=contrast("focal 3").theirs)
    assert keep_evaluable([against], apart) == ()
    assert keep_evaluable([against], made()) == (against,)


@pytest.mark.parametrize("sign", [-1, 1])
def test_small_runs_beside_large_ones(sign):
    """Each finding, planted: on one side of 0 or about 0 in small runs, on either side or about 0 in large ones."""
    shown, other, about, wide = (2.0, 2.1, 1.9), (-2.0, -2.1, -1.9), (-0.5, 0.5, 0.1), (-1.0, 4.0, 0.1)
    planted = {
        "borne out": (shown, shown),
        "contradicted": (shown, other),
        "not borne out": (shown, about),
        "too few seeds to tell": (shown, wide),
        "new": (about, other),
        "open": (about, wide),
    }
    assert tuple(planted) == FINDINGS
    small, large = ({name: [sign * value for value in pair[k]] for name, pair in planted.items()} for k in (0, 1))
    contrasts = [*map(contrast, planted), contrast("fcl 4 1.5")]  # the last is in neither
    found = compare_small_with_large(contrasts, made(small), made(large | {"fcl 4 1.5": shown}))
    assert found["found"].tolist() == found["name"].tolist() == list(planted)
    one = evaluate_contrasts(made(small), [contrast("borne out")]).iloc[0]
    columns = ["difference", "low", "high"]
    assert found.loc[0, [f"small_{column}" for column in columns]].tolist() == one[columns].tolist()
    assert found["large_difference"].tolist() == pytest.approx(sign * np.array([2, -2, 0.1 / 3, 3.1 / 3, -2, 3.1 / 3]))
    own = replace(contrast("new"), name="borne out")
    found = compare_small_with_large(contrasts, made(small), made(large), [own])
    assert found.loc[0, "small_difference"] == pytest.approx(sign * 0.1 / 3)
    assert found.loc[0, "found"] == "new"
    found = compare_small_with_large(contrasts, made(small), made(large), [replace(own, table="other")])
    assert found.loc[0, "found"] == "borne out"
    lacking = made({name: gains for name, gains in small.items() if name != "borne out"})
    found = compare_small_with_large(contrasts, lacking, made(large), [own])  # has the losses of its own contrast
    assert found.loc[0, ["name", "found"]].tolist() == ["borne out", "new"]
    assert len(compare_small_with_large(contrasts, lacking, made(large))) == len(planted) - 1


@pytest.mark.parametrize(
    ("sample", "found"), [((-0.3, 1.0, 0.2), "not borne out"), ((-0.3, 1.9, 0.5), "too few seeds to tell")]
)
def test_two_differences_are_told_apart_by_welch(sample, found):
    """Both samples of large runs overlap with the small ones' interval, which is no test."""
    ours = (2.0, 2.6, 1.4)
    row = compare_small_with_large([contrast("focal 1")], made({"focal 1": ours}), made({"focal 1": sample})).iloc[0]
    assert row["large_low"] < 0 < row["small_low"] < row["large_high"]
    p = stats.ttest_ind(ours, sample, equal_var=False).pvalue
    assert (p < 0.05) == (found == "not borne out")
    assert row["found"] == found


def test_of_two_seeds_the_smallest_effect_is_not_told():
    two, three = (
        evaluate_contrasts(made({"focal 1": v}), [contrast("focal 1")]).iloc[0] for v in ((1.0, 1.2), (1.0, 1.2, 1.1))
    )
    assert np.isnan(two["smallest"])
    assert two["p"] < 1
    assert three["smallest"] > 0
    assert (
        "nan"
        not in format_contrasts(evaluate_contrasts(made({"focal 1": (1.0, 1.2)}), [contrast("focal 1")]), "a").to_html()
    )


def test_seeds_that_agree_on_an_error_have_an_interval():
    """Shares of 10,000 images: two differences that are the same do not make certainty."""
    found = interval_of(BySeed((0, 1), np.array([0.3, 0.3])), "error")
    assert found.low < 0.29 < 0.31 < found.high
    assert interval_of(BySeed((0, 1), np.array([0.3, 0.3])), "ece").low == 0.3


def test_of_one_seed_nothing_is_told():
    small, large = made({"focal 1": (2.0, 2.1, 1.9)}), made({"focal 1": (2.0,)})
    found = compare_small_with_large([contrast("focal 1")], small, large)
    assert found.loc[0, "found"] == "too few seeds to tell"
    assert format_small_with_large(found)["large runs, 1 seed"].tolist() == ["+2.00"]


def test_small_and_large_runs_in_words():
    table = pd.concat([made({"focal 1": (2.0, 2.1, 1.9)}), made({"focal 1": (0.02, 0.021, 0.019)}, "nll")])
    both = [contrast("focal 1"), replace(contrast("focal 1"), metric="nll")]
    what = "KK24 Table 1: focal 1, focal temperature"
    shown = format_small_with_large(compare_small_with_large(both, table, table))
    assert shown.to_numpy().tolist() == [
        [f"{what} minus temperature, adaptive ECE", "borne out", *["+2.00 [+1.75, +2.25]"] * 2],
        [
            f"{what} by adaptive ECE minus temperature by adaptive ECE, NLL",
            "borne out",
            *["+0.0200 [+0.0175, +0.0225]"] * 2,
        ],
    ]
    assert list(shown) == ["contrast", "found", "small runs, 3 seeds", "large runs, 3 seeds"]
    fewer = pd.concat([table, made({"focal 3": (1.0, 2.0)})])
    heads = list(format_small_with_large(compare_small_with_large([*both, contrast("focal 3")], fewer, fewer)))
    assert heads[2:4] == ["small runs, 2 to 3 seeds", "large runs, 2 to 3 seeds"]
    assert format_small_with_large(compare_small_with_large([], table, table)).empty


def test_a_table_that_lacks_runs_is_refused():
    lacking = made()[lambda f: ~((f["loss"] == "focal 1") & (f["seed"] == 3))]
    with pytest.raises(ValueError, match=r"every loss must have a run of each seed. Got 11 of focal 1, focal 3"):
        evaluate_contrasts(lacking, FAMILY[:1])
    apart = made()[lambda f: (f["seed"] < 1) == (f["method"] == "temperature")]
    with pytest.raises(ValueError, match=r"paired by seed: one must be of both. Got \[1, 2, 3\] and \[0\]"):
        evaluate_contrasts(apart, FAMILY[:1])
    with pytest.raises(ValueError, match=r"one row a loss and seed of adaptive-ece, focal 7 after.*Got 0"):
        evaluate_contrasts(made(), [contrast("focal 7")])
    with pytest.raises(ValueError, match=r"one row a loss and seed.*Got 8"):
        evaluate_contrasts(pd.concat([made(), made()]), [contrast("focal 1")])
    with pytest.raises(ValueError, match=r"one data set and network. Got 2"):
        evaluate_contrasts(pd.concat([made(), made().assign(dataset="cifar100")]), FAMILY)


@pytest.mark.parametrize("path", sorted((ROOT / "workflow/grids").glob("*.yaml")), ids=lambda p: p.stem)
def test_scalings_of_written_contrasts_are_measured(path):
    sides = [side for c in read_contrasts(path) for side in (c.ours, c.theirs)]
    assert {(side.method, side.objective) for side in sides} <= set(SCALINGS)


def test_primary_contrast_of_recorded_runs():
    found, written = primary_contrast("cifar10-record")
    assert written
    assert found.primary
    assert found in read_contrasts("workflow/grids/cifar10-record.yaml")
    found, written = primary_contrast("cifar10-resnet8")  # made before contrasts were written down
    assert not written
    assert found.ours.losses == ("focal 1", "focal 3", "focal 5", "focal 7", "flsd-53")
    with pytest.raises(ValueError, match=r"table must be one of KK24 Table 1, .*Got 'KK24 Table 2'"):
        primary_contrast("cifar10-record", "KK24 Table 2")


def test_without_contrasts_the_tables_are_empty():
    some, none = (evaluate_contrasts(made(), family) for family in (FAMILY, ()))
    assert none.empty
    assert none.columns.tolist() == some.columns.tolist()
    assert compare_eces(made(), ()).empty


def test_contrasts_on_a_page_say_interval_sign_and_which_is_primary():
    found = pd.DataFrame({"name": ["a", "b"], "difference": [-0.12345, 2.0], "low": [-0.5, 1.0], "high": [0.25, 3.0]})
    found = found.assign(seeds=3, p=[0.5, 0.001], p_adjusted=[0.5, 0.002], significant=[False, True], smallest=0.4)
    shown = format_contrasts(found.assign(primary=[True, False]), "Two").data
    assert list(shown["contrast"]) == ["a (primary)", "b"]
    assert list(shown["difference"]) == ["-0.123", "+2.000"]
    assert list(shown["95 % t interval"]) == ["-0.500 to +0.250", "+1.000 to +3.000"]
    assert list(shown["significant"]) == ["no", "yes"]
    assert list(format_contrasts(found, "Two", precision=1).data["contrast"]) == ["a", "b"]
    claimed = found.assign(significant=True, claimed=-1, smallest=np.nan, metric=["ece", "nll"])
    shown = format_contrasts(claimed, "Two", precision=None).data
    assert list(shown["significant"]) == ["yes, as claimed", "yes, the other way"]
    assert list(shown["difference"]) == ["-0.12", "+2.0000"]
    assert "smallest that would show" not in shown
    asked = format_contrasts(claimed.assign(claimed=0), "Two", precision=None).data
    assert list(asked["significant"]) == ["yes", "yes"]  # nothing was claimed


def test_a_contrast_says_what_is_subtracted_from_what():
    """By losses, by scalings, by what a temperature is chosen by, and by both."""
    trained = {loss: Setting((loss,)) for loss in ("flsd-53", "cross-entropy")}
    by_ece, by_nll = (Setting(("focal 1", "focal 3"), "temperature", metric) for metric in ("ece", "nll"))
    made_of = {
        "FLSD-53 minus cross-entropy, as trained": (*trained.values(),),
        "mean over 2 losses, temperature by ECE minus temperature by NLL": (by_ece, by_nll),
        "mean over 2 losses, temperature minus as trained": (by_ece, Setting(by_ece.losses)),
        "mean over 2 losses after a temperature minus cross-entropy as trained": (by_ece, trained["cross-entropy"]),
    }
    for said, (ours, theirs) in made_of.items():
        assert say_what_is_compared(Contrast("t", "n", "ece", ours, theirs, -1)) == said
    ours, theirs = (replace(setting, method="temperature", objective="nll") for setting in trained.values())
    said = say_what_is_compared(Contrast("t", "n", "ece", ours, theirs, -1))
    assert said == "FLSD-53 minus cross-entropy, after a temperature by NLL"


FIRST = {"cross-entropy": [2.6, 2.5, 2.9, 2.7], "focal 3": [7.9, 7.1, 7.4, 7.0], "focal 1": [1.9, 2.2, 2.0, 2.1]}
SECOND = {"focal 3": [2.7, 2.5], "cross-entropy": [6.7, 7.7]}


def _table(values, dataset):
    rows = [(loss, seed, value) for loss, own in values.items() for seed, value in enumerate(own)]
    table = pd.DataFrame(rows, columns=["loss", "seed", "value"])
    return table.assign(dataset=dataset, model="mlp", method="none", objective="", metric="ece")


def test_each_data_set_has_its_t_interval_and_the_change_has_welchs():
    found = compare_data_sets({"ten": _table(FIRST, "cifar10"), "hundred": _table(SECOND, "cifar100")})
    assert list(found.index) == [("focal 3", "ten"), ("focal 3", "hundred")]  # focal 1 is on one of them
    one, two = (np.subtract(values["focal 3"], values["cross-entropy"]) for values in (FIRST, SECOND))
    for title, values in (("ten", one), ("hundred", two)):
        row, wanted = found.loc["focal 3", title], stats.ttest_1samp(values, 0).confidence_interval()
        assert row["difference"] == pytest.approx(values.mean())
        assert (row["low"], row["high"]) == pytest.approx((wanted.low, wanted.high))
        assert row["seeds"] == len(values)
    row, wanted = found.loc["focal 3", "hundred"], stats.ttest_ind(two, one, equal_var=False).confidence_interval()
    assert row["change"] == pytest.approx(two.mean() - one.mean())
    assert (row["change_low"], row["change_high"]) == pytest.approx((wanted.low, wanted.high))
    assert tuple(found.loc["focal 3", "ten"][["change", "change_low", "change_high"]]) == (0, 0, 0)


def test_of_one_seed_there_is_no_interval():
    second = {loss: values[:1] for loss, values in SECOND.items()}
    found = compare_data_sets({"ten": _table(FIRST, "cifar10"), "hundred": _table(second, "cifar100")})
    row = found.loc["focal 3", "hundred"]
    assert row["change"] == pytest.approx(2.7 - 6.7 - np.mean(np.subtract(FIRST["focal 3"], FIRST["cross-entropy"])))
    assert np.isnan([row["low"], row["high"], row["change_low"], row["change_high"]]).all()


def test_means_without_spread_differ_by_what_they_are_apart():
    assert subtract_means(t_interval([1.5, 1.5]), t_interval([1.0, 1.0])) == Interval(0.5, 0.5, 0.5, "t")


def test_no_loss_in_common_is_refused():
    tables = {"ten": _table(FIRST, "cifar10"), "hundred": _table({"cross-entropy": [1, 2], "mmce": [1, 2]}, "cifar100")}
    with pytest.raises(ValueError, match=r"a loss beside cross-entropy in common\. Got none in ten, hundred"):
        compare_data_sets(tables)


def test_significant_contrasts_are_marked_and_signed():
    columns = ["name", "table", "difference", "significant"]
    rows = [("a", "x", -11.24, True), ("a", "y", 0.6, False), ("b", "x", 2.0, True)]
    evaluated = pd.DataFrame(rows, columns=columns)
    shown = tabulate_contrasts(evaluated, {"b": "second", "a": "first"}, digits=1)
    assert shown.to_dict("index") == {
        "second": {"x": "+2.0\u00a0*", "y": ""},
        "first": {"x": "-11.2\u00a0*", "y": "+0.6"},
    }
    signs = significant_signs(evaluated)
    assert (signs["a", "x"], signs["a", "y"], signs["b", "x"]) == (-1, 0, 1)
