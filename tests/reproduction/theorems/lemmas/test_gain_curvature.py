"""The second derivative of g: another gain is not concave by these steps."""

from reproduction.theorems import symbols
from reproduction.theorems.lemmas.gain_curvature import gain_concave_steps, gain_slope_end_steps


def test_steps_need_the_true_gain(monkeypatch):
    assert all(s.holds for s in (*gain_concave_steps(), *gain_slope_end_steps()))
    gain = symbols.gain
    monkeypatch.setattr(symbols, "gain", lambda *values: gain(*values) * (1 - values[0]))
    assert not gain_concave_steps()[-1].holds
    assert not gain_slope_end_steps()[-1].holds
