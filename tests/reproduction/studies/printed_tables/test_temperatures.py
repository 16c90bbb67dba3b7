"""Temperatures of the map and of Table 1, with faults."""

from dataclasses import replace

import numpy as np
import sympy as sp

from focal_lib.theory.closest_temperature import ClosestTemperature
from reproduction.ledger.judgement import Verdict
from reproduction.studies.cifar import claims_training as claims_fts
from reproduction.studies.printed_tables import kk24_table1
from reproduction.theorems import symbols
from reproduction.theorems.kk24 import temperature_fit


def test_a_temperature_that_rises_is_seen(monkeypatch):
    found = {g: ClosestTemperature(1 + g, 0.0, 0.0) for g in (0.0, 1.0, 2.0, 3.0)}
    monkeypatch.setattr(temperature_fit, "fits", lambda *_: found)
    monkeypatch.setattr(temperature_fit, "closest_temperature", lambda *_: ClosestTemperature(1.01, 0.0, 0.0))
    assert temperature_fit.temperature_below_one().verdict == Verdict.REPRODUCED
    assert temperature_fit.typical_temperature().verdict == Verdict.NOT_REPRODUCED  # 1/3 and 1/4
    found[2.0] = replace(found[2.0], inverse_temperature=1.9)
    assert temperature_fit.temperature_below_one().verdict == Verdict.NOT_REPRODUCED


def test_printed_temperatures_are_in_the_order_of_gamma(monkeypatch):
    printed = claims_fts._printed_temperatures()
    assert any(np.allclose(row, [1.59, 1.05, 0.49]) for row in printed)
    assert claims_fts.temperature_decreases_printed().verdict == Verdict.REPRODUCED
    table = kk24_table1()
    columns = ["nll_temperature", "adaptive_ece_temperature"]
    table[columns] = -table[columns]
    monkeypatch.setattr(claims_fts, "kk24_table1", lambda: table)
    assert claims_fts.temperature_decreases_printed().verdict == Verdict.NOT_REPRODUCED


def test_a_weight_that_is_not_the_maps_keeps_no_order(monkeypatch):
    assert temperature_fit.accuracy_unchanged().verdict == Verdict.PROVED
    weight = symbols.weight
    monkeypatch.setattr(symbols, "weight", lambda q=symbols.q: weight(q) * sp.exp(q))
    assert temperature_fit.accuracy_unchanged().verdict == Verdict.FAILED


def test_of_two_hills_as_high_the_one_nearer_to_a_corner_is_judged(monkeypatch):
    beta = temperature_fit.fits(3, temperature_fit.PAPER_CUBE)[0.5].inverse_temperature
    tops = temperature_fit.tops_where_largest(0.5, beta)
    assert np.allclose(tops, [0.444, 0.780], atol=1e-3)
    assert len(temperature_fit.tops_where_largest(0.5, 1.01 * beta)) == 1, "at no other temperature are they as high"
    monkeypatch.setattr(temperature_fit, "tops_where_largest", lambda *_: [0.444, 0.9])
    assert temperature_fit.fig7_corners().verdict == Verdict.REPRODUCED
    monkeypatch.setattr(temperature_fit, "tops_where_largest", lambda *_: [0.444, 0.7])
    assert temperature_fit.fig7_corners().verdict == Verdict.NOT_REPRODUCED
