"""Every step of the proof of convexity, and a wrong derivative that must not pass."""

import sympy as sp

from reproduction.ledger.evidence import Derivation, step
from reproduction.ledger.judgement import Verdict
from reproduction.theorems import symbols
from reproduction.theorems.lemmas.curvature import convexity_proof


def test_a_wrong_derivative_is_not_proved():
    assert convexity_proof().verdict == Verdict.PROVED
    q = symbols.q
    wrong = step("", sp.diff(symbols.focal_loss(), q), symbols.focal_loss_slope() + 1)
    assert Derivation((wrong,)).verdict == Verdict.FAILED
