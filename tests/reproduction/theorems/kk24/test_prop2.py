"""Negative gamma: a map from -1 on, and where the formulas are changed, no proof."""

import pytest
import sympy as sp

from reproduction.ledger.judgement import Verdict
from reproduction.theorems import symbols
from reproduction.theorems.kk24 import prop2
from reproduction.theorems.lemmas.map_slope import limits_of_u


def test_a_gap_that_stays_bounded_is_not_onto(monkeypatch):
    assert prop2.prop2_negative().verdict == Verdict.PROVED
    u = symbols.u
    monkeypatch.setattr(symbols, "u", lambda s: u(s) / 2)  # 1 + gamma u stays positive at gamma = -1
    assert prop2.prop2_negative().verdict == Verdict.FAILED
    assert prop2.prop2_below().verdict == Verdict.FAILED


def test_limits_exchanged_do_not_cancel(monkeypatch):
    u = symbols.u
    monkeypatch.setattr(symbols, "u", lambda s: u(-s))  # u -> 0 and its mirror image -> 1: the same sum
    assert not any(sp.simplify(left - right) == 0 for left, right in limits_of_u())
    assert prop2.prop2_negative().verdict == Verdict.FAILED


def test_a_loss_that_is_differentiable_at_0_is_no_counterexample(monkeypatch):
    assert prop2.prop2_differentiable().verdict == Verdict.CONDITIONAL
    monkeypatch.setattr(symbols, "focal_loss", lambda q, gamma: (1 - q) ** 2)
    assert prop2.prop2_differentiable().verdict == Verdict.FAILED


def test_the_weight_needs_focal_loss(monkeypatch):
    assert prop2.prop2_weight_reading().verdict == Verdict.PROVED
    slope = symbols.focal_loss_slope
    monkeypatch.setattr(symbols, "focal_loss_slope", lambda *values: -slope(*values) if values else -slope())
    assert prop2.prop2_weight_reading().verdict == Verdict.FAILED


@pytest.mark.parametrize("name", ["focal_loss", "focal_loss_slope", "binary_map"])
def test_the_sign_needs_focal_loss_and_its_map(monkeypatch, name):
    assert prop2.prop2_sign().verdict == Verdict.PROVED
    true = getattr(symbols, name)
    monkeypatch.setattr(symbols, name, lambda q=symbols.q, *values: q * true(q, *values))
    assert prop2.prop2_sign().verdict == Verdict.FAILED


@pytest.mark.parametrize("fault", [lambda loss: loss + 1, lambda loss: -loss, lambda loss: loss**2])
def test_the_reason_needs_a_convex_loss_that_is_least_at_1(monkeypatch, fault):
    assert prop2.prop2_sign_reason().verdict == Verdict.PROVED
    loss = symbols.focal_loss
    monkeypatch.setattr(symbols, "focal_loss", lambda *values: fault(loss(*values)))
    assert prop2.prop2_sign_reason().verdict == Verdict.FAILED
