"""The shape of g: a wrong factor must not be proved."""

import sympy as sp

from reproduction.ledger.evidence import step
from reproduction.theorems import symbols
from reproduction.theorems.lemmas.threshold import (
    gain_limit_steps,
    gain_positive_step,
    threshold_steps,
)


def test_steps_need_the_true_factor():
    assert all(s.holds for s in threshold_steps())
    b, gamma, q = symbols.entropy_ratio(), symbols.gamma, symbols.q
    log_g = gamma * sp.log(1 - q) + sp.log(1 + gamma * b)
    assert not step("", sp.diff(log_g, q), -gamma * sp.log(q) / (1 - q)).holds


def test_the_gain_is_that_of_the_loss(monkeypatch):
    ratio = symbols.entropy_ratio
    monkeypatch.setattr(symbols, "entropy_ratio", lambda *q: 2 * ratio(*q))
    assert not gain_positive_step().holds


def test_the_limits_need_the_ratio(monkeypatch):
    """1 - b has the two limits of b exchanged: each is asked apart."""
    assert all(s.holds for s in gain_limit_steps())
    ratio = symbols.entropy_ratio
    monkeypatch.setattr(symbols, "entropy_ratio", lambda *q: 1 - ratio(*q))
    assert not any(s.holds for s in gain_limit_steps())
