"""Conclusions about M20's printed numbers: another number, and they are other conclusions."""

import pandas as pd
import pytest

from reproduction.ledger import Verdict, find
from reproduction.studies.printed_tables import (
    claims_confident as confident_predictions,
)
from reproduction.studies.printed_tables import (
    claims_m20 as accuracy,
)
from reproduction.studies.printed_tables import (
    claims_policies as policies,
)
from reproduction.studies.printed_tables import (
    claims_temperatures as printed_temperatures,
)
from reproduction.studies.printed_tables import from_tables, m20_fig8, m20_table6, printed_tables
from reproduction.studies.printed_tables.from_tables import m20_cells, rows_where


@pytest.fixture
def change(monkeypatch):
    """Cells of M20 set to another value, wherever they are printed."""
    cells = printed_tables()

    def put(value, column="value", **where):
        chosen = cells["paper"] == "M20"
        for name, wanted in where.items():
            chosen &= cells[name] == wanted
        assert chosen.any()
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
    change(2.0, table="Table 7", dataset="CIFAR-10", network="ResNet-50", loss="focal 3", stage="pre")
    with pytest.raises(ValueError, match="duplicate"):
        m20_cells("ece", "pre")


def test_most_is_more_than_half():
    half = pd.Series([True, False], index=[("a",), ("b",)])
    assert rows_where("rows", half).verdict == Verdict.NOT_REPRODUCED
    assert rows_where("rows", half, 1).verdict == Verdict.REPRODUCED
    assert rows_where("rows", half).remark == "Not in: b"


@pytest.mark.parametrize(
    ("claim", "value", "column", "where"),
    [
        (find("m20.temperatures_sample_dependent").check, 1.5, "temperature", {"loss": "flsd-53", "stage": "post"}),
        (
            printed_temperatures.temperatures_higher,
            0.6,
            "temperature",
            {"loss": "mmce", "dataset": "SST Binary", "stage": "post"},
        ),
        (printed_temperatures.temperatures_baselines, 1.9, "temperature", {"loss": "mmce", "stage": "post"}),
        (printed_temperatures.near_one_calibrated, 0.1, "value", {"metric": "ece", "loss": "flsd-53", "stage": "post"}),
        (find("m20.almost_all_cases").check, 9.0, "value", {"metric": "ece", "loss": "flsd-53", "dataset": "CIFAR-10"}),
        (
            policies.gamma_order,
            1.0,
            "value",
            {"loss": "focal 2", "dataset": "CIFAR-10", "metric": "ece", "stage": "pre"},
        ),
        (
            find("m20.schedule_532_before").check,
            3.0,
            "value",
            {"loss": "focal 5-3-1", "dataset": "CIFAR-100", "stage": "pre"},
        ),
        (find("m20.sample_wise_53_better").check, 0.1, "value", {"loss": "flsd-532", "metric": "ece", "stage": "post"}),
        (policies.best_of_all, 1.6, "value", {"loss": "focal 3", "metric": "ece", "stage": "post"}),
        (
            find("m20.other_focal_competitive").check,
            5.0,
            "value",
            {"loss": "focal 3", "metric": "ece", "stage": "post"},
        ),
        (accuracy.fig3_errors, 6.0, "value", {"loss": "focal 1", "metric": "error", "dataset": "CIFAR-10"}),
        (accuracy.similar_accuracy, 30.0, "value", {"loss": "flsd-53", "metric": "error", "dataset": "CIFAR-100"}),
        (
            confident_predictions.table6_temperatures,
            2.0,
            "temperature",
            {"loss": "mmce", "dataset": "CIFAR-10", "stage": "post"},
        ),
    ],
)
def test_another_number_is_noticed(claim, value, column, where, change):
    assert claim().verdict == Verdict.REPRODUCED
    change(value, column, **where)
    assert claim().verdict == Verdict.NOT_REPRODUCED


def test_the_example_of_adaptive_ece_is_not_all(change):
    assert printed_temperatures.adaptive_brings_out().verdict == Verdict.REPRODUCED
    cells = {"metric": "adaptive-ece", "stage": "post", "dataset": "CIFAR-10"}
    change(0.1, **cells)
    change(1.69, **cells, network="Wide-ResNet-26-10", loss="cross-entropy")  # the example, as printed
    assert printed_temperatures.adaptive_brings_out().verdict == Verdict.NOT_REPRODUCED


def test_evidence_from_print_says_that_it_has_no_uncertainty():
    assert (
        find("m20.almost_all_cases")
        .check()
        .describe()
        .endswith("of single runs, as far as it says, without uncertainty.")
    )


@pytest.mark.parametrize(
    ("claim", "value", "column", "where"),
    [
        (printed_temperatures.temperatures_other_focal, 1.0, "temperature", {"stage": "post"}),
        (find("m20.schedule_532_after").check, 0.1, "value", {"loss": "focal 5-3-2", "stage": "post"}),
    ],
)
def test_what_is_not_reproduced_could_be(claim, value, column, where, change):
    assert claim().verdict == Verdict.NOT_REPRODUCED
    change(value, column, **where)
    assert claim().verdict == Verdict.REPRODUCED


@pytest.mark.parametrize(
    ("claim", "value", "column", "where"),
    [
        (
            printed_temperatures.temperatures_printed,
            3.5,
            "temperature",
            {"loss": "mmce", "dataset": "SST Binary", "stage": "post"},
        ),
        (
            printed_temperatures.near_one_still_falls,
            1.5,
            "value",
            {"metric": "ece", "loss": "flsd-53", "stage": "post"},
        ),
        (
            printed_temperatures.adaptive_counted,
            0.0,
            "value",
            {"metric": "adaptive-ece", "loss": "brier", "stage": "pre"},
        ),
        (policies.gamma_order_counted, 0.5, "value", {"metric": "ece", "loss": "focal 2", "stage": "pre"}),
        (policies.schedule_532_counted, 9.0, "value", {"metric": "ece", "loss": "focal 5-3-1", "stage": "post"}),
        (policies.best_of_all_counted, 0.1, "value", {"metric": "ece", "loss": "focal 1", "stage": "post"}),
        (policies.other_focal_before, 1.0, "value", {"metric": "ece", "loss": "focal 5-3-2", "stage": "pre"}),
        (accuracy.least_error, 3.0, "value", {"metric": "error", "loss": "mmce", "dataset": "CIFAR-10"}),
    ],
)
def test_a_count_of_ours_is_of_these_numbers(claim, value, column, where, change):
    assert claim().verdict == Verdict.REPRODUCED
    change(value, column, **where)
    assert claim().verdict == Verdict.NOT_REPRODUCED


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
