"""Temperatures that papers print for cross-entropy: another number in a table must count."""

import pytest

from reproduction.ledger import Verdict
from reproduction.ledger.ledger import find
from reproduction.studies.printed_tables import claims_temperatures as printed_temperatures
from reproduction.studies.printed_tables import from_tables, kk24_table1, printed_tables


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
