"""Sharper with gamma: the proof against the map, and with faults."""

import numpy as np
import sympy as sp

from focal_lib.theory.maps import focal_log_probs
from reproduction.ledger.certificates import balls
from reproduction.ledger.judgement import Verdict
from reproduction.theorems import symbols
from reproduction.theorems.kk24 import sharpness
from reproduction.theorems.lemmas.sharpness import sharper_proof


def test_three_classes_grow_sharper_and_four_need_not():
    points = np.log(np.random.default_rng(0).dirichlet(np.ones(3), 2_000))
    gammas = (0.0, 0.2, 0.5, 1.0, 2.0, 4.0, 8.0)
    mapped = np.sort([focal_log_probs(points, g) for g in gammas], axis=-1)
    assert (np.diff(mapped[..., -1], axis=0) >= -1e-12).all()
    assert (np.diff(mapped[..., 0], axis=0) < 0).all()
    point = ("0.33", "0.33", "0.33", "0.01")
    assert sharpness.less_sharp(point, "0", "1/2")
    assert not sharpness.less_sharp(point, "1", "2")
    assert not sharpness.less_sharp(("0.6", "0.2", "0.2"), "0", "1/2")


def test_the_turning_gamma_is_where_the_growth_is_0():
    at = float(sharpness.turning_gamma("1/3").mid())
    growth = sp.lambdify((symbols.q, sp.Symbol("gamma", nonnegative=True)), sharpness.weight_growth())
    assert abs(growth(1 / 3, at)) < 1e-12
    assert growth(1 / 3, 0.99 * at) < 0 < growth(1 / 3, 1.01 * at)
    with balls.precision():
        assert abs(float(sharpness.turning_gamma("1/2").mid())) < 1e-12  # three classes: from 0 on


def test_another_gain_is_no_proof(monkeypatch):
    assert sharper_proof().verdict == Verdict.PROVED
    gain = symbols.gain
    monkeypatch.setattr(symbols, "gain", lambda q, gamma: gain(q, gamma) ** 2)
    assert sharper_proof().verdict == Verdict.FAILED
