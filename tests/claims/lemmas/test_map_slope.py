"""The slope of the map in logits: another map must not pass."""

import sympy as sp

from focal_lib.claims.evidence import step_of_several
from focal_lib.claims.lemmas.map_slope import gap_slope_steps, map_slope_steps
from focal_lib.theory import symbols


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
    assert not gap_slope_steps()[0].holds
