"""The determinant of the map along the simplex."""

import numpy as np
import pytest
import sympy as sp

from focal_lib.theory.gain import weight_inflection
from reproduction.ledger.judgement import Verdict
from reproduction.theorems import symbols
from reproduction.theorems.kk24 import prop4


def test_determinant_for_five_classes():
    rng = np.random.default_rng(0)
    q, e = rng.dirichlet(np.ones(5)), rng.normal(size=5)
    rows = np.diag(e[:4] / q[:4]) + e[4] / q[4]
    assert np.linalg.det(rows) == pytest.approx(np.prod(e / q) * (q / e).sum())


def test_a_wrong_recurrence_is_no_step(monkeypatch):
    assert all(s.holds for s in prop4.jacobian_steps())
    monkeypatch.setattr(sp.Matrix, "det", lambda self: self.trace())
    assert not all(s.holds for s in prop4.jacobian_steps())


def test_one_inflection_needs_the_true_b(monkeypatch):
    assert prop4.prop4_inflection_corrected().verdict == Verdict.PROVED
    assert all(0 < weight_inflection(gamma) < 1 / 6 for gamma in (0.01, 0.1, 1.0, 10.0))
    ratio = symbols.entropy_ratio
    with monkeypatch.context() as planted:
        planted.setattr(symbols, "entropy_ratio", lambda q=symbols.q: 2 * ratio(q))
        assert prop4.prop4_inflection_corrected().verdict == Verdict.FAILED
    monkeypatch.setattr(symbols, "weight", lambda q=symbols.q, gamma=symbols.gamma: q**7)
    assert prop4.prop4_inflection_corrected().verdict == Verdict.FAILED
