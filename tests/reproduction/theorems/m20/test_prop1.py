"""The factor of the gradients: another loss has another one."""

from reproduction.ledger.judgement import Verdict
from reproduction.theorems import symbols
from reproduction.theorems.m20 import prop1


def test_norms_need_the_factor_of_the_loss(monkeypatch):
    assert prop1.prop1_iff().verdict == Verdict.CONDITIONAL
    loss = symbols.focal_loss
    monkeypatch.setattr(symbols, "focal_loss", lambda *values: 2 * loss(*values))
    assert prop1.prop1_iff().verdict == Verdict.FAILED
