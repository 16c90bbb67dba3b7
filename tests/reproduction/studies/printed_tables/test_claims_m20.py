"""Conclusions about the numbers that M20 and KK24 print: another number, and they are other conclusions."""

import pandas as pd
import pytest

from reproduction.ledger import Verdict, find
from reproduction.studies.printed_tables import claims_confident as confident_predictions
from reproduction.studies.printed_tables import claims_temperatures as printed_temperatures
from reproduction.studies.printed_tables import from_tables, kk24_table1, m20_fig8, m20_table6, printed_tables
from reproduction.studies.printed_tables.from_tables import lower_mean, m20_cells, rows_where, rows_won


@pytest.fixture
def change(monkeypatch):
    """Cells of M20 set to another value, wherever they are printed."""
    cells = printed_tables()

    def put(where, value, column="value"):
        chosen = cells.query("paper == 'M20'").query(where).index
        assert len(chosen)
        cells.loc[chosen, column] = value
        monkeypatch.setattr(from_tables, "printed_tables", lambda: cells)

    return put


def test_cells_come_from_every_table():
    wide = m20_cells("ece", "pre")
    assert wide.shape == (10, 10)
    assert not wide.isna().any(axis=None)
    assert wide.loc[("CIFAR-10", "ResNet-50"), "cross-entropy"] == 4.35  # Table 1
    assert wide.loc[("CIFAR-10", "ResNet-50"), "focal 1"] == 3.42  # Table 7
    assert (
        m20_cells("adaptive-ece", "post", ("focal 3",), "temperature").loc[("CIFAR-10", "ResNet-110"), "focal 3"] == 1.1
    )


def test_a_cell_that_two_tables_print_differently_is_refused(change):
    change("table == 'Table 7' and dataset == 'CIFAR-10' and network == 'ResNet-50' and loss == 'focal 3'", 2.0)
    with pytest.raises(ValueError, match="duplicate"):
        m20_cells("ece", "pre")


def test_most_is_more_than_half():
    half = pd.Series([True, False], index=[("a",), ("b",)])
    assert rows_where("rows", half).verdict == Verdict.NOT_REPRODUCED
    assert rows_where("rows", half, 1).verdict == Verdict.REPRODUCED
    assert rows_where("rows", half).remark == "Not in: b"


OTHER_NUMBERS = [
    ("temperatures_sample_dependent", "loss == 'flsd-53' and stage == 'post'", 1.5, "temperature"),
    ("temperatures_higher", "loss == 'mmce' and dataset == 'SST Binary' and stage == 'post'", 0.6, "temperature"),
    ("temperatures_baselines", "loss == 'mmce' and stage == 'post'", 1.9, "temperature"),
    ("near_one_calibrated", "metric == 'ece' and loss == 'flsd-53' and stage == 'post'", 0.1, "value"),
    ("almost_all_cases", "metric == 'ece' and loss == 'flsd-53' and dataset == 'CIFAR-10'", 9.0, "value"),
    ("gamma_order", "loss == 'focal 2' and dataset == 'CIFAR-10' and metric == 'ece' and stage == 'pre'", 1.0, "value"),
    ("schedule_532_before", "loss == 'focal 5-3-1' and dataset == 'CIFAR-100' and stage == 'pre'", 3.0, "value"),
    ("sample_wise_53_better", "loss == 'flsd-532' and metric == 'ece' and stage == 'post'", 0.1, "value"),
    ("best_of_all", "loss == 'focal 3' and metric == 'ece' and stage == 'post'", 1.6, "value"),
    ("other_focal_competitive", "loss == 'focal 3' and metric == 'ece' and stage == 'post'", 5.0, "value"),
    ("fig3_errors", "loss == 'focal 1' and metric == 'error' and dataset == 'CIFAR-10'", 6.0, "value"),
    ("similar_accuracy", "loss == 'flsd-53' and metric == 'error' and dataset == 'CIFAR-100'", 30.0, "value"),
    ("table6_temperatures", "loss == 'mmce' and dataset == 'CIFAR-10' and stage == 'post'", 2.0, "temperature"),
    # counts of ours
    ("temperatures_printed", "loss == 'mmce' and dataset == 'SST Binary' and stage == 'post'", 3.5, "temperature"),
    ("near_one_still_falls", "metric == 'ece' and loss == 'flsd-53' and stage == 'post'", 1.5, "value"),
    ("adaptive_counted", "metric == 'adaptive-ece' and loss == 'brier' and stage == 'pre'", 0.0, "value"),
    ("gamma_order_counted", "metric == 'ece' and loss == 'focal 2' and stage == 'pre'", 0.5, "value"),
    ("schedule_532_counted", "metric == 'ece' and loss == 'focal 5-3-1' and stage == 'post'", 9.0, "value"),
    ("best_of_all_counted", "metric == 'ece' and loss == 'focal 1' and stage == 'post'", 0.1, "value"),
    ("other_focal_before", "metric == 'ece' and loss == 'focal 5-3-2' and stage == 'pre'", 1.0, "value"),
    ("least_error", "metric == 'error' and loss == 'mmce' and dataset == 'CIFAR-10'", 3.0, "value"),
    # with the numbers printed they are not reproduced
    ("temperatures_other_focal", "stage == 'post'", 1.0, "temperature"),
    ("schedule_532_after", "loss == 'focal 5-3-2' and stage == 'post'", 0.1, "value"),
]


@pytest.mark.parametrize(("claim", "where", "value", "column"), OTHER_NUMBERS, ids=[row[0] for row in OTHER_NUMBERS])
def test_another_number_is_another_conclusion(claim, where, value, column, change):
    check, both = find(f"m20.{claim}").check, [Verdict.REPRODUCED, Verdict.NOT_REPRODUCED]
    expected = both[::-1] if claim in ("temperatures_other_focal", "schedule_532_after") else both
    before = check().verdict
    change(where, value, column)
    assert [before, check().verdict] == expected


def test_the_example_of_adaptive_ece_is_not_all(change):
    assert printed_temperatures.adaptive_brings_out().verdict == Verdict.REPRODUCED
    cells = "metric == 'adaptive-ece' and stage == 'post' and dataset == 'CIFAR-10'"
    change(cells, 0.1)
    change(f"{cells} and network == 'Wide-ResNet-26-10' and loss == 'cross-entropy'", 1.69)  # the example, as printed
    assert printed_temperatures.adaptive_brings_out().verdict == Verdict.NOT_REPRODUCED


def test_evidence_from_print_says_that_it_has_no_uncertainty():
    said = find("m20.almost_all_cases").check().describe()
    assert said.endswith("of single runs, as far as it says, without uncertainty.")


def test_table_6_and_figure_8_are_whole():
    table, figure = m20_table6(), m20_fig8()
    assert table.groupby(["network", "loss"])["stage"].nunique().tolist() == [2] * 6
    assert table.query("network == 'ResNet-50' and loss == 'mmce' and stage == 'post'")["share"].tolist() == [4.21]
    assert figure.groupby("image").size().tolist() == [8] * 8
    assert figure.query("image == 8 and loss == 'brier' and stage == 'pre'")["confidence"].tolist() == [0.3753]
    assert len(confident_predictions.confidences(True)) == len(confident_predictions.confidences(False)) == 8


def test_figure_8_is_assigned_as_the_temperatures_are():
    """T is 2.5 and 2.6 for cross-entropy and MMCE in Table 1, 1.1 for Brier and FLSD-53, which changes less."""
    for right in (True, False):
        wide = confident_predictions.confidences(right)
        fall = wide.loc["pre"] - wide.loc["post"]
        assert (
            fall[["cross-entropy", "mmce"]].min(axis="columns") > fall[["brier", "flsd-53"]].max(axis="columns")
        ).all()


@pytest.mark.parametrize(
    ("claim", "loss", "value"),
    [
        (confident_predictions.fig8_right, "flsd-53", 0.9),
        (confident_predictions.fig8_wrong, "flsd-53", 0.99),
        (confident_predictions.fig8_wrong_counted, "brier", 0.3),
        (confident_predictions.fig8_cross_entropy, "cross-entropy", 0.7),
        (confident_predictions.fig8_brier, "brier", 0.99),
    ],
)
def test_another_confidence_is_noticed(claim, loss, value, monkeypatch):
    assert claim().verdict == Verdict.REPRODUCED
    figure = m20_fig8()
    figure.loc[figure["loss"] == loss, "confidence"] = value
    monkeypatch.setattr(confident_predictions, "m20_fig8", lambda: figure)
    assert claim().verdict == Verdict.NOT_REPRODUCED


@pytest.mark.parametrize(("stage", "share"), [("pre", 99.0), ("post", 4.0)])
def test_another_share_is_noticed(stage, share, monkeypatch):
    assert find("m20.table6_printed").check().verdict == Verdict.REPRODUCED
    table = m20_table6()
    table.loc[(table["loss"] == "focal") & (table["stage"] == stage), "share"] = share
    monkeypatch.setattr(confident_predictions, "m20_table6", lambda: table)
    assert find("m20.table6_printed").check().verdict == Verdict.NOT_REPRODUCED


def test_a_confidence_that_falls_as_far_is_noticed(monkeypatch):
    assert confident_predictions.table6_temperatures().verdict == Verdict.REPRODUCED
    table = m20_table6()
    focal = (table["loss"] == "focal") & (table["network"] == "ResNet-110")
    table.loc[focal, "share"] = [99.0, 4.0]
    monkeypatch.setattr(confident_predictions, "m20_table6", lambda: table)
    assert confident_predictions.table6_temperatures().verdict == Verdict.NOT_REPRODUCED


def test_most_rows_are_more_than_half():
    assert rows_won("M20", "Table 1", "pre", "flsd-53").verdict == Verdict.REPRODUCED
    assert rows_won("M20", "Table 1", "pre", "cross-entropy").verdict == Verdict.NOT_REPRODUCED
    half = rows_won("M20", "Table 7", "post", "focal 3", losses=("focal 1", "focal 2", "focal 3"))
    assert (half.measured, half.verdict) == (5, Verdict.NOT_REPRODUCED)


def test_among_the_lowest_is_by_rank():
    assert rows_won("L25", "Table 4", "post", "fcl", among=2).verdict == Verdict.REPRODUCED
    assert rows_won("L25", "Table 4", "post", "mmce", among=2).verdict == Verdict.NOT_REPRODUCED


def test_a_higher_mean_is_not_lower():
    assert lower_mean("M20", "Table 7", "pre", "focal 3", "focal 1").verdict == Verdict.REPRODUCED
    assert lower_mean("M20", "Table 7", "pre", "focal 1", "focal 3").verdict == Verdict.NOT_REPRODUCED


def test_rows_that_are_not_won_are_named():
    assert "SST Binary, Tree-LSTM" in rows_won("M20", "Table 1", "pre", "flsd-53", 7).remark


@pytest.mark.parametrize(("paper", "table"), [("M20", "Table 1"), ("L25", "Table 4"), ("KK24", "Table 1")])
def test_another_printed_temperature_of_cross_entropy(monkeypatch, paper, table):
    assert printed_temperatures.ce_temperature_printed().verdict == Verdict.REPRODUCED
    assert find("kk24.ce_temperature_printed").verdict == Verdict.CONFIRMED  # it is the book's own
    cells, own = printed_tables(), kk24_table1()
    here = (cells["paper"] == paper) & (cells["table"] == table) & (cells["loss"] == "cross-entropy")
    cells.loc[here & (cells["dataset"] == "CIFAR-10") & (cells["network"] == "ResNet-50"), "temperature"] = 2.6
    if paper == "KK24":
        own.loc[(own["loss"] == "cross-entropy") & (own["dataset"] == "CIFAR-10"), "adaptive_ece_temperature"] = 2.0
    monkeypatch.setattr(from_tables, "printed_tables", lambda: cells)
    monkeypatch.setattr(printed_temperatures, "kk24_table1", lambda: own)
    assert printed_temperatures.ce_temperature_printed().verdict == Verdict.NOT_REPRODUCED
