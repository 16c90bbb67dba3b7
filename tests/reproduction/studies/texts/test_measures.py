"""Measures of texts and views of their record."""

from __future__ import annotations

import itertools

import numpy as np
import pandas as pd
import pytest
from scipy.stats import kendalltau

from focal_lib.metrics.significance import holm
from reproduction.studies.printed_tables import printed_tables
from reproduction.studies.shared.recorded import read_table
from reproduction.studies.shared.written_contrasts import find_contrast
from reproduction.studies.texts import contrasts
from reproduction.studies.texts.measures import RECORD
from reproduction.studies.texts.plan import BEST, FIRST_SEED, LAST, SETTINGS, written_contrasts
from reproduction.studies.texts.train import IN

LOSSES = ("cross-entropy", "brier", "mmce 8", "focal 3", "flsd-53")


def _table(eces, seeds=(1, 2, 3), scaled=0.5, late=4.0, chance=()):
    """ECE of each loss as given, the half of it after a temperature, 4 more at the last epoch; error 20, or 49."""
    rows = []
    noise = dict(zip(seeds, (-0.1, 0.0, 0.1), strict=False))
    for (loss, ece), seed, kept in itertools.product(eces.items(), seeds, (BEST, LAST)):
        about = {"dataset": "film-snippets-2", "model": "gp-cnn-glove", "loss": loss, "gamma": 0.0, "seed": seed}
        for source in (IN, "tweets") if kept == BEST else (IN,):
            value = (ece + late * (kept == LAST) + 10 * (source != IN)) * (1 + noise[seed])
            found = {("none", "", 1.0): value, ("temperature", "ece", 2.0): scaled * value}
            for (method, objective, t), now in found.items():
                where = about | {"kept": kept, "epoch": 1, "source": source, "method": method, "objective": objective}
                error = 49.0 if loss in chance else 20.0
                for metric, shown in (("ece", now), ("error", error), ("nll", now / 10), ("adaptive-ece", now)):
                    rows.append(where | {"temperature": t, "metric": metric, "value": shown})
    return pd.DataFrame(rows)


def _printed_order(paper, dataset, turned=False):
    """ECEs in the order of a printed row, or in the opposite one."""
    cells = printed_tables().query("paper == @paper and dataset == @dataset and metric == 'ece' and stage == 'pre'")
    values = cells.drop_duplicates("loss").set_index("loss")["value"]
    return {loss: (-1 if turned else 1) * values[loss.removesuffix(" 8")] + 20 * turned for loss in LOSSES}


@pytest.mark.parametrize(("turned", "expected"), [(False, 1.0), (True, -1.0)])
def test_the_printed_order_correlates_with_itself(turned, expected):
    table = _table(_printed_order("M20", "SST Binary", turned))
    taus = contrasts.order_with_printed(table, "M20", "SST Binary", "pre")
    assert taus.tolist() == pytest.approx([expected] * 3)
    rows = contrasts.rank_correlations(table).set_index(["label", "stage"])
    row = rows.loc[("M20 SST Binary", "pre")]
    assert (row["losses"], row["seeds"]) == (5, 3)
    assert row["tau"] == pytest.approx(expected)
    assert -1 <= row["low"] <= row["tau"] <= row["high"] <= 1
    assert row["high"] - row["low"] == pytest.approx(4 / 20 / np.sqrt(18) * 4.302653)  # one of the ends is cut
    assert rows.loc[("L25 AG News", "pre"), "losses"] == 4  # which has no focal 3


def test_the_correlation_is_scipys_of_the_losses_in_common():
    table = _table(dict(zip(LOSSES, (5.0, 1.0, 4.0, 2.0, 3.0), strict=True)), seeds=(1,))
    (tau,) = contrasts.order_with_printed(table, "L25", "20 Newsgroups", "pre")
    assert tau == pytest.approx(kendalltau([5, 1, 4, 3], [17.92, 15.48, 15.38, 6.92]).statistic)  # as printed


def test_the_share_of_orders_is_that_of_all_of_them():
    """Of the five losses in the printed order one of 120 orders has tau 1, and one -1."""
    table = _table(_printed_order("M20", "SST Binary"))
    assert contrasts.p_of_no_relation(table, "M20", "SST Binary", "pre") == pytest.approx(2 / 120)
    values = dict(zip(LOSSES, (5.0, 1.0, 4.0, 2.0, 3.0), strict=True))
    printed = [17.92, 13.58, 15.48, 8.67, 6.92]  # M20's row on 20 Newsgroups, in the order of LOSSES
    tau = abs(kendalltau(list(values.values()), printed).statistic)
    every = [abs(kendalltau(list(values.values()), order).statistic) for order in itertools.permutations(printed)]
    expected = np.mean([other >= tau - 1e-9 for other in every])
    assert contrasts.p_of_no_relation(_table(values), "M20", "20 Newsgroups", "pre") == pytest.approx(expected)


def test_losses_at_chance_are_found_and_left_out():
    table = _table(_printed_order("M20", "SST Binary"), chance=("mmce 8",))
    assert contrasts.near_chance(table) == ("mmce 8",)
    assert contrasts.near_chance(table[table["loss"] != "mmce 8"]) == ()
    rows = contrasts.rank_correlations(table, ("mmce 8",)).set_index(["label", "stage"])
    assert rows.loc[("M20 SST Binary", "pre"), "losses"] == 4


def test_printed_orders_of_rows_on_texts():
    found = contrasts.printed_orders().set_index(["rows", "stage"])
    assert len(found) == 12
    assert found.loc[("M20 20 Newsgroups, L25 20 Newsgroups", "pre"), "losses"] == 4
    assert found["tau"].between(-1, 1).all()
    assert found.loc[("M20 20 Newsgroups, M20 SST Binary", "pre"), "losses"] == 10


def test_a_printed_row_is_the_papers():
    row = contrasts.printed_text_row("M20", "SST Binary").loc["flsd-53"]
    assert row[["error", "ece", "ece, after", "nll, after", "T"]].tolist() == [12.80, 9.19, 1.83, 49.69, 0.7]
    assert contrasts.printed_text_row("L25", "AG News").loc["fcl", "ece"] == 0.99
    assert contrasts.printed_row("ag-news") == "AG News"
    assert contrasts.printed_row("film-snippets-3") == "SST Binary"


def test_means_and_differences():
    table = _table({"cross-entropy": 8.0, "flsd-53": 3.0})
    means = contrasts.summarise_texts(table)
    assert means.loc["flsd-53", ["ece", "ece, after", "error", "T"]].tolist() == pytest.approx([3, 1.5, 20, 2])
    gaps = contrasts.minus_cross_entropy_in_ece(table, "").iloc[0]
    assert (gaps["loss"], gaps["difference"]) == ("flsd-53", pytest.approx(-5))
    assert contrasts.minus_cross_entropy_in_ece(table, "ece")["difference"].item() == pytest.approx(-2.5)
    assert contrasts.spread_over_seeds(table, LAST) == pytest.approx(0.1 * (12 + 7) / 2)
    x, mean, half = contrasts.points_by_source(table, "ece", "")["cross-entropy"]
    assert (x.tolist(), mean.tolist()) == ([0, 1], pytest.approx([8, 18]))
    assert half == pytest.approx(np.array([0.8, 1.8]) / np.sqrt(3) * 4.302653)
    beside = contrasts.beside_printed(table, "ece", "SST Binary")
    assert beside.loc["flsd-53", ("as trained", "M20")] == 9.19
    assert beside.loc["flsd-53", ("as trained", "here")] == pytest.approx(3)


def test_the_change_of_a_gap_is_the_difference_of_two_contrasts():
    evaluated, found = contrasts.evaluate_written_texts(), contrasts.gap_last_minus_best()
    assert found["table"].tolist() == list(SETTINGS)
    for setting, change in found.set_index("table")["difference"].items():
        own = evaluated[evaluated["table"] == setting].set_index("name")["difference"]
        expected = own["last epoch: FLSD-53 minus cross-entropy"] - own["FLSD-53 minus cross-entropy"]
        assert change == pytest.approx(expected)
    assert found["low"].lt(found["difference"]).all()
    np.testing.assert_allclose(found["p_adjusted"], holm(found["p"]))
    assert "FLSD-53 minus cross-entropy: last epoch minus best" not in set(evaluated["name"])


def test_seeds_of_one_tau_say_no_more_than_its_steps():
    table = _table(_printed_order("M20", "SST Binary"))
    taus = contrasts.order_with_printed(table, "M20", "SST Binary", "pre")
    found = contrasts.tau_interval(table, taus, "M20", "SST Binary", "pre")
    step = 4 / (5 * 4)  # two of five losses that change places
    assert found.low == pytest.approx(1 - step / np.sqrt(6) / np.sqrt(3) * 4.302653)
    assert found.high == 1


def test_the_record_is_whole():
    table = read_table(RECORD)
    for name, setting in SETTINGS.items():
        runs = contrasts.record_of(name)[["loss", "seed"]].drop_duplicates()
        seeds = range(FIRST_SEED, FIRST_SEED + setting.seeds)
        assert set(runs.itertuples(index=False, name=None)) == set(itertools.product(setting.losses, seeds))
    assert not table.duplicated(["dataset", "loss", "seed", "kept", "source", "method", "objective", "metric"]).any()
    assert table["value"].ge(0).all()
    evaluated = contrasts.evaluate_written_texts()
    assert evaluated.groupby("table")["primary"].sum().eq(1).all()


def test_what_is_not_written_down_is_refused():
    with pytest.raises(ValueError, match=r"setting must be one of GP-CNN, two classes"):
        contrasts.record_of("GP-CNN")
    with pytest.raises(ValueError, match=r"contrast must be one of FLSD-53 minus cross-entropy"):
        find_contrast(written_contrasts("GP-CNN, two classes"), "focal 7 minus all")
