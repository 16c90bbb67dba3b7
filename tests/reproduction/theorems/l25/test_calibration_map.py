"""The map after which FCL is proper: another loss, or a distribution that does not sum to 1, must not pass."""

import pytest
import sympy as sp

from reproduction.ledger.judgement import Verdict
from reproduction.theorems import symbols
from reproduction.theorems.l25 import calibration_map
from reproduction.theorems.l25.calibration_map import multiplier_step, proper_after_map
from reproduction.theorems.lemmas import squared_distance


@pytest.mark.parametrize("name", ["gain", "focal_loss", "focal_loss_slope", "entropy_ratio"])
def test_the_map_needs_focal_loss(monkeypatch, name):
    assert proper_after_map().verdict == Verdict.PROVED
    true = getattr(symbols, name)
    monkeypatch.setattr(symbols, name, lambda *values: 2 * true(*values))
    assert proper_after_map().verdict == Verdict.FAILED


def test_the_multiplier_needs_sums_of_1():
    c = sp.Symbol("c")
    assert multiplier_step(c).holds
    assert not multiplier_step(c, excess=1).holds


def test_the_map_of_fcl_needs_its_squared_distance(monkeypatch):
    for module in (calibration_map, squared_distance):
        monkeypatch.setattr(module, "class_share", lambda q, p: p * (q - 1) ** 2)
    assert proper_after_map().verdict == Verdict.FAILED
