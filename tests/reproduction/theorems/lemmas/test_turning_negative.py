"""R'' > 0 for negative gamma: faulty variants of the certificate must fail."""

from dataclasses import replace

import numpy as np
import pytest
import sympy as sp
from flint import arb

from focal_lib.theory.temperature_bounds import beta
from reproduction.ledger.judgement import Verdict
from reproduction.theorems import symbols
from reproduction.theorems.lemmas import turning_negative


@pytest.fixture(scope="module")
def certificate():
    return turning_negative.falling_certificate().parts[1]


@pytest.mark.slow
def test_it_holds_and_a_weaker_function_fails(certificate):
    assert certificate.verdict == Verdict.CERTIFIED
    for (name, function), slope in zip(certificate.functions.items(), ("1e-5", "1e-2"), strict=True):
        lower = {**certificate.functions, name: function - sp.Rational(slope) * symbols.s}
        assert not replace(certificate, functions=lower).holds


@pytest.mark.parametrize("name", list(turning_negative.falling_functions()))
def test_beyond_the_boxes_a_wrong_sign_fails(name, monkeypatch):
    assert turning_negative.beyond_enclosure(name) > 0
    opposite = {name: tuple(-w for w in turning_negative._WEIGHTS[name])}
    monkeypatch.setattr(turning_negative, "_WEIGHTS", opposite)
    assert not turning_negative.beyond_enclosure(name) > 0


def test_the_enclosure_holds_the_function():
    """Over its leading term: x^3 s for the first, x for the second."""
    for (name, function), power in zip(turning_negative.falling_functions().items(), (3, 1), strict=True):
        ball = turning_negative.beyond_enclosure(name)
        for point in (4, 6, 10):
            value = sp.N((function * sp.exp(power * symbols.s)).subs(symbols.s, point), 30)
            assert ball.contains(arb(str(value / point if power == 3 else value)))


def test_beta_falls_for_negative_gamma():
    for gamma in (-0.99, -0.5, -0.05):
        assert (np.diff([beta(s, gamma) for s in np.geomspace(0.01, 40, 60)]) < 0).all()
