"""The slope of the map in logits: another map must not pass."""

import pytest
import sympy as sp

from reproduction.ledger.evidence import Derivation, step_of_several
from reproduction.ledger.judgement import Verdict
from reproduction.theorems import symbols
from reproduction.theorems.kk24 import prop2, prop3
from reproduction.theorems.lemmas.binary_map import logit_form_steps
from reproduction.theorems.lemmas.logit_gap import logit_gap_steps
from reproduction.theorems.lemmas.map_slope import gap_slope_steps, map_slope_steps, slope_of_u_steps
from reproduction.theorems.lemmas.turning import turning_certificate
from tests.quick import first_is_quick


def test_steps_need_the_true_map(monkeypatch):
    assert all(s.holds for s in map_slope_steps())
    gap = symbols.logit_gap
    monkeypatch.setattr(symbols, "logit_gap", lambda *values: 2 * gap(*values))
    assert not all(s.holds for s in gap_slope_steps())


def test_errors_of_one_step_do_not_cancel():
    x = sp.Symbol("x")
    assert step_of_several("both", (x, x), (1, 1)).holds
    assert not step_of_several("0 for 1 and 1 for 0: the sum is right", (0, 1), (1, 0)).holds
    assert not step_of_several("none").holds


def test_steps_need_the_true_u(monkeypatch):
    u = symbols.u
    monkeypatch.setattr(symbols, "u", lambda s: u(s) + 1)
    assert not slope_of_u_steps()[0].holds


@pytest.mark.parametrize(
    "check", first_is_quick([prop2.prop2_slope, prop2.prop2_proper_part_sides, prop3.prop3, prop3.prop3_log])
)
@pytest.mark.parametrize("name", ["binary_map", "binary_map_of_logit"])
def test_claims_on_the_map_hang_on_the_printed_one(monkeypatch, check, name):
    """Twice the gamma in one of its forms, and the slope and the bounds are those of another map."""
    assert check().verdict == Verdict.PROVED
    printed = getattr(symbols, name)
    monkeypatch.setattr(symbols, name, lambda *values: printed(*values).subs(symbols.gamma, 2 * symbols.gamma))
    assert check().verdict == Verdict.FAILED


@pytest.mark.slow
def test_the_turning_certificate_hangs_on_the_printed_map():
    assert set(logit_form_steps()) <= set(turning_certificate().remainder)


def test_a_step_of_two_lemmas_stands_once():
    steps = gap_slope_steps()
    assert Derivation((*steps, *logit_gap_steps(), *steps)).steps[: len(steps)] == steps
    assert len(set(Derivation((*steps, *steps)).steps)) == len(steps)
