"""Conclusions about L25's printed tables: a cell that is changed changes them."""

import pytest

from reproduction.ledger import find
from reproduction.ledger.judgement import Verdict
from reproduction.studies.localisation import claims_chexnet as chexnet
from reproduction.studies.printed_tables import claims_l25 as tables
from reproduction.studies.printed_tables import from_tables, l25_table9, printed_tables

WITH_ANOTHER_CELL = [  # claim; table, data set, network, loss, metric, stage, value
    ("fcl_rows", "Table 6", "CIFAR-100", "ResNet-50", "brier", "adaptive-ece", "post", 0.1),
    ("outperforms", "Table 4", "Tiny-ImageNet", "ResNet-50", "fcl", "ece", "pre", 20.0),
    ("tiny_imagenet", "Table 4", "Tiny-ImageNet", "ResNet-50", "fcl", "ece", "pre", 1.0),
    ("resnet110_four", "error", "CIFAR-10", "ResNet-110", "flsd-53", "error", "pre", 4.0),
    ("errors_rows", "error", "FinSen", "Global Pooling CNN", "fcl", "error", "pre", 1.0),
    ("errors_lowest", "error", "AG News", "Global Pooling CNN", "fcl", "error", "pre", 9.0),
    ("auroc_rows", "AUROC table", "CIFAR-10/SVHN", "DenseNet-121", "fcl", "auroc", "pre", 50.0),
    ("minimal_change_rows", "Table 4", "CIFAR-10", "DenseNet-121", "fcl", "ece", "pre", 20.0),
    ("l2_lower", "Table 8", "CIFAR-10", "DenseNet-121", "fcl", "ece", "pre", 4.01),
    ("l2_errors", "Table 8", "CIFAR-10", "DenseNet-121", "fcl", "error", "pre", 5.38),
    ("table5_row_twice", "Table 5", "CIFAR-10", "DenseNet-121", "fcl", "smooth-ece", "pre", 0.99),
    ("newsgroups_moved", "Table 4", "20 Newsgroups", "Global Pooling CNN", "brier", "ece", "pre", 13.58),
]


@pytest.mark.parametrize("changed", WITH_ANOTHER_CELL, ids=lambda changed: changed[0])
def test_a_changed_cell_changes_the_conclusion(monkeypatch, changed):
    claim, *place, value = changed
    check = find(f"l25.{claim}").check
    assert check().verdict == Verdict.REPRODUCED
    cells = printed_tables()
    keys = ["paper", "table", "dataset", "network", "loss", "metric", "stage"]
    row = (cells[keys] == ["L25", *place]).all(axis="columns")
    assert row.sum() == 1
    cells.loc[row, "value"] = value
    for module, name in ((from_tables, "printed_tables"), (tables, "printed_tables")):
        monkeypatch.setattr(module, name, lambda: cells)
    assert check().verdict == Verdict.NOT_REPRODUCED


def test_auroc_is_highest_for_most_networks_on_one_data_set_only(monkeypatch):
    assert find("l25.auroc_highest").check().verdict == Verdict.NOT_REPRODUCED
    cells = printed_tables()
    monkeypatch.setattr(from_tables, "printed_tables", lambda: cells)
    fcl = "table == 'AUROC table' and loss == 'fcl' and network == @network and dataset.str.endswith(@dataset)"

    def change(dataset, network, value):
        cells.loc[cells.query(fcl, local_dict={"dataset": dataset, "network": network}).index, "value"] = value

    change("SVHN", "ResNet-110", 99.9)
    assert find("l25.auroc_highest").check().verdict == Verdict.REPRODUCED
    change("CIFAR-10-C", "DenseNet-121", 50.0)
    assert find("l25.auroc_highest").check().verdict == Verdict.NOT_REPRODUCED


def test_errors_are_lowest_in_most_rows_of_fcl_alone():
    assert tables.errors_lowest().verdict == Verdict.REPRODUCED
    assert from_tables.rows_won("L25", "error", "pre", "dual-focal").verdict == Verdict.NOT_REPRODUCED


def test_fcl_changes_less_than_cross_entropy_in_every_row():
    assert find("l25.minimal_change").check().verdict == Verdict.REPRODUCED
    assert "Tiny-ImageNet, ResNet-50 (10.22 to 1.35)" in find("l25.minimal_change").check().describe()
    assert from_tables.rows_changed_no_more("L25", "Table 4", "fcl", "cross-entropy", 12).verdict == Verdict.REPRODUCED


def test_what_most_rows_contradict_is_not_reproduced():
    found = [
        from_tables.rows_changed_no_more("L25", "Table 4", "cross-entropy", "fcl"),
        from_tables.rows_near_temperature("L25", "Table 4", "cross-entropy", 0.9, 1.1),
        from_tables.most_rows_lowered("L25", "Table 4", "fcl"),
    ]
    assert [part.verdict for part in found] == [Verdict.NOT_REPRODUCED] * 3


def test_size_of_change_is_that_of_either_sign():
    assert from_tables.size_of_change("L25", "Table 4", "fcl", "mean", 2.17).verdict == Verdict.REPRODUCED
    assert from_tables.size_of_change("L25", "Table 4", "fcl", "median", 2.17).verdict == Verdict.NOT_REPRODUCED


def test_single_runs_are_said_to_be_such():
    claims = [
        tables.fcl_rows,
        tables.tiny_imagenet,
        tables.outperforms,
        find("l25.table9_average").check,
        find("l25.table9_rows").check,
    ]
    assert all("single runs as printed, without uncertainty" in claim().describe() for claim in claims)


def test_temperatures_are_those_printed():
    assert from_tables.rows_near_temperature("L25", "Table 4", "fcl", 1.0, 1.0, 6).verdict == Verdict.REPRODUCED
    assert from_tables.rows_near_temperature("L25", "Table 4", "fcl", 1.1, 1.1, 6).verdict == Verdict.NOT_REPRODUCED


def test_lambda_of_another_table(monkeypatch):
    assert tables.lambda_selected().verdict == Verdict.REPRODUCED
    monkeypatch.setitem(tables.FCL_OF_L25, ("cifar10", "resnet50"), (4.0, 0.5))
    assert tables.lambda_selected().verdict == Verdict.NOT_REPRODUCED


@pytest.mark.parametrize(
    ("claim", "pathology", "method", "column", "value"),
    [
        ("table9_average", "Average", "FCL", "mce", 0.7),
        ("table9_rows", "Hernia", "FCL", "auroc", 0.9),
        ("table9_means", "Average", "CheXNet (BCE)", "auroc", 0.8414),
        ("table9_means", "Hernia", "FCL", "auroc", 0.99),
    ],
)
def test_another_cell_of_table_9(monkeypatch, claim, pathology, method, column, value):
    check = find(f"l25.{claim}").check
    assert check().verdict == Verdict.REPRODUCED
    cells = l25_table9()
    cells.loc[(cells["pathology"] == pathology) & (cells["method"] == method), column] = value
    monkeypatch.setattr(chexnet, "l25_table9", lambda: cells)
    assert check().verdict == Verdict.NOT_REPRODUCED


def test_four_rows_of_table_9_are_lower():
    found = find("l25.table9_rows").check()
    assert found.verdict == Verdict.REPRODUCED
    assert found.remark == "Not in: Cardiomegaly, Infiltration, Pleural Thickening, Pneumothorax"


def test_temperatures_of_focal_loss_are_above_one_in_most_rows(monkeypatch):
    """In 7 of 12; one less and it is no more than half."""
    found = find("l25.overconfident_printed").check()
    assert (found.measured, found.verdict) == (7, Verdict.REPRODUCED)
    assert "CIFAR-10, DenseNet-121" in found.remark
    cells = printed_tables()
    row = (cells["loss"] == "flsd-53") & (cells["table"] == "Table 4") & (cells["paper"] == "L25")
    cells.loc[row & (cells["dataset"] == "AG News") & (cells["stage"] == "post"), "temperature"] = 1.0
    monkeypatch.setattr(from_tables, "printed_tables", lambda: cells)
    assert find("l25.overconfident_printed").check().verdict == Verdict.NOT_REPRODUCED
