"""Conclusions about printed tables: another loss does not win them."""

from reproduction.ledger.judgement import Verdict
from reproduction.studies.printed_tables.from_tables import (
    lower_mean,
    rows_won,
)


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
