"""Claims on FCL's networks follow the record: with its numbers turned round they turn."""

import pandas as pd
import pytest
from scipy.stats import ttest_rel

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


def test_networks_that_have_not_overfitted_are_told(monkeypatch):
    """With as many errors on the training images as on the test images."""
    assert _found("thm45_overfitted_here") == Verdict.REPRODUCED

    def read(name):
        table = read_fcl(name)
        as_many = table[(table["metric"] == "error") & (table["objective"] == "")].assign(metric="train-error")
        return pd.concat([table[table["metric"] != "train-error"], as_many])

    monkeypatch.setattr(networks, "read_fcl", read)
    assert _found("thm45_overfitted_here") == Verdict.NOT_REPRODUCED


@pytest.mark.parametrize(
    ("name", "objective", "ending"), [("lambda_scaled", "ece", ""), ("minimal_change_here", "", "-change")]
)
def test_eces_that_say_otherwise_are_named(name, objective, ending):
    """Of FCL (3, 0.5) minus focal 3, not significant by the ECE claimed: those by which it is."""
    evidence = find(f"l25.{name}").check()
    parts = evidence.found.parts if isinstance(evidence, InRegime) else (evidence,)
    (part,) = (p for p in parts if p.quantity.startswith(f"ece{ending} of fcl 3 0.5"))
    table = read_fcl("images").query(f"objective == {objective!r}")
    wide = table.pivot(index="seed", columns=["metric", "loss"], values="value")

    def apart(ece):
        return bool(ttest_rel(wide[ece + ending, "fcl 3 0.5"], wide[ece + ending, "focal 3"]).pvalue < 0.05)

    others = {ece: apart(ece) for ece in ("adaptive-ece", "classwise-ece", "smooth-ece")}
    assert {True, False} == set(others.values())
    assert not apart("ece")
    assert {ece: ece in part.remark for ece in others} == others


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
