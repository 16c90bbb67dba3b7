"""Harmonics of outlines whose shape is known."""

import numpy as np
import pytest

from reproduction.ledger.judgement import Verdict
from reproduction.theorems.kk24 import fig4

ANGLES = np.linspace(0, 2 * np.pi, 180, endpoint=False)


@pytest.mark.parametrize(("which", "harmonic"), [(0, 2), (1, 3)])
def test_a_harmonic_is_found_about_any_centre(which, harmonic):
    outline = (1 + 0.1 * np.cos(harmonic * ANGLES)) * np.exp(1j * ANGLES) + 0.3 - 0.2j
    found = fig4._harmonics_of(outline, ANGLES)
    assert found[which] == pytest.approx(0.1, abs=2e-3)
    assert found[1 - which] < 2e-3


def test_the_same_shapes_for_every_gamma_are_no_trend(monkeypatch):
    found = {"brier": [(0.0, 0.0)] * 3, 0.0: [(0.2, 0.1)] * 3, 1.0: [(0.2, 0.12)] * 3, 3.0: [(0.2, 0.14)] * 3}
    monkeypatch.setattr(fig4, "_harmonics", found.__getitem__)
    assert fig4.fig4_shapes().verdict == fig4.fig4_triangle().verdict == Verdict.REPRODUCED
    found[3.0] = found[1.0]
    assert fig4.fig4_triangle().verdict == Verdict.NOT_REPRODUCED
    found[0.0] = [(0.1, 0.2)] * 3
    assert fig4.fig4_shapes().verdict == Verdict.NOT_REPRODUCED


def test_a_loss_that_is_not_focal_has_another_minimum(monkeypatch):
    assert fig4.fig4_minimum().verdict == Verdict.PROVED
    weight = fig4.symbols.weight
    monkeypatch.setattr(fig4.symbols, "weight", lambda q=fig4.symbols.q, gamma=0: weight(q, gamma) ** 2)
    assert fig4.fig4_minimum().verdict == Verdict.FAILED
