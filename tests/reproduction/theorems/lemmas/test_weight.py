"""The weight of the map comes from the loss: another loss must not pass."""

import sympy as sp

from reproduction.theorems import symbols
from reproduction.theorems.lemmas.threshold import gain_positive_step
from reproduction.theorems.lemmas.weight import lagrange_steps, weight_steps


def test_steps_need_focal_loss(monkeypatch):
    assert all(s.holds for s in (*lagrange_steps(), *weight_steps(), gain_positive_step()))
    other = -((1 - symbols.q) ** symbols.gamma) * sp.log(symbols.q) * symbols.q
    monkeypatch.setattr(symbols, "focal_loss", lambda q=symbols.q, gamma=symbols.gamma: other.subs(symbols.q, q))
    assert not gain_positive_step().holds
    assert not all(s.holds for s in weight_steps())
