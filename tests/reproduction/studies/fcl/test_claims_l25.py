"""Claims on FCL's networks follow the record: with its numbers turned round they turn."""

import pytest

from reproduction.ledger.judgement import Verdict
from reproduction.ledger.ledger import find
from reproduction.ledger.regime import InRegime
from reproduction.studies.fcl import claims_l25 as networks
from reproduction.studies.fcl.measures import read_fcl
from reproduction.theorems import symbols
from reproduction.theorems.l25 import after_map

SIGNED = ["l2_lower_here", "lambda_nll", "lambda_nll_scaled", "thm45_here", "map_here"]


@pytest.fixture
def turned(monkeypatch):
    """Every number of the record times -1."""

    def read(name):
        table = read_fcl(name).copy()
        for column in {"value", "lean", "distance", "mapped_distance", "focal_gap", "fcl_gap"} & set(table):
            table[column] *= -1
        return table

    monkeypatch.setattr(networks, "read_fcl", read)


def _found(name):
    """The verdict of what was measured, whatever the networks."""
    evidence = find(f"l25.{name}").check()
    return (evidence.found if isinstance(evidence, InRegime) else evidence).verdict


@pytest.mark.parametrize("name", SIGNED)
def test_turned_round_it_is_not_so(name, turned, monkeypatch):
    after = _found(name)
    monkeypatch.setattr(networks, "read_fcl", read_fcl)
    before = _found(name)
    assert before != after
    assert Verdict.NOT_REPRODUCED in (before, after)


def test_twice_the_lean_is_not_what_is_asked_for(monkeypatch):
    assert networks.bias_as_asked_here().verdict == Verdict.REPRODUCED
    monkeypatch.setattr(networks, "read_fcl", lambda name: read_fcl(name).assign(lean=lambda t: 2 * t["lean"]))
    assert networks.bias_as_asked_here().verdict == Verdict.NOT_REPRODUCED


def test_one_seed_decides_nothing(monkeypatch):
    monkeypatch.setattr(networks, "read_fcl", lambda name: read_fcl(name).query("seed == 1"))
    assert _found("l2_lower_here") == Verdict.UNDECIDED


def test_the_map_needs_the_gain(monkeypatch):
    assert all(step.holds for step in after_map.l1_after_map().steps)
    gain = symbols.gain
    monkeypatch.setattr(symbols, "gain", lambda *values: 2 * gain(*values))
    assert not after_map.l1_after_map().steps[0].holds


def test_the_square_does_not_fall_to_the_vertex(monkeypatch):
    monkeypatch.setattr(after_map, "absolute_distance", lambda q: 2 * (1 - q) ** 2)
    assert not after_map.vertex_step().holds
