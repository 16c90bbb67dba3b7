"""The factor of the gradients: another loss has another one."""

from focal_lib.claims.judgement import Verdict
from focal_lib.claims.m20 import prop1
from focal_lib.theory import symbols


def test_norms_need_the_factor_of_the_loss(monkeypatch):
    assert prop1.prop1_iff().verdict == Verdict.CONDITIONAL
    loss = symbols.focal_loss
    monkeypatch.setattr(symbols, "focal_loss", lambda *values: 2 * loss(*values))
    assert prop1.prop1_iff().verdict == Verdict.FAILED
