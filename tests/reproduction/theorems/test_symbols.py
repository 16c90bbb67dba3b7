"""The papers' formulas against the definitions in 30 digits: derivatives are taken by mpmath, not by sympy."""

import pytest
import sympy as sp
from mpmath import mp

from reproduction.theorems import symbols

POINTS = [("0.3", "2.5"), ("0.07", "0.4"), ("0.85", "6")]


@pytest.fixture(autouse=True)
def digits():
    with mp.workdps(40):
        yield


def valued(expression, **values):
    """With these numbers in place of symbols, in mpmath."""
    names = {symbols.q: "q", symbols.s: "s", symbols.gamma: "gamma"}
    numbers = {symbol: sp.Float(values[name], 40) for symbol, name in names.items() if name in values}
    return mp.mpf(sp.N(expression.subs(numbers), 35))


def loss(q, gamma):
    return -((1 - q) ** gamma) * mp.log(q)


def slope(q, gamma):
    return mp.diff(lambda v: loss(v, gamma), q)


def logit_of_map(s, gamma):
    """From KK24 Eq. (1) of two classes: weights -1 / L'."""
    q = 1 / (1 + mp.exp(-s))
    return mp.log(slope(1 - q, gamma) / slope(q, gamma))


def close(found, wanted):
    assert abs(found - wanted) <= mp.mpf("1e-15") * max(1, abs(wanted))


@pytest.mark.parametrize(("q", "gamma"), POINTS)
def test_of_the_probability(q, gamma):
    of = {"q": q, "gamma": gamma}
    q, gamma = mp.mpf(q), mp.mpf(gamma)
    gain = -q * slope(q, gamma)
    gain_slope = mp.diff(lambda v: -v * slope(v, gamma), q)
    close(valued(symbols.focal_loss(), **of), loss(q, gamma))
    close(valued(symbols.focal_loss_slope(), **of), slope(q, gamma))
    close(valued(symbols.entropy_ratio(), **of), -q * mp.log(q) / (1 - q))
    close(valued(symbols.gain(), **of), gain)
    close(valued(symbols.weight(), **of), -1 / slope(q, gamma))
    close(valued(symbols.probability_curvature_ratio(), **of), gain - q * gain_slope)
    close(valued(symbols.logit_curvature_ratio(), **of), gain - (1 - q) * gain_slope)
    by_weights = slope(1 - q, gamma) / slope(q, gamma)  # w(q) / w(1 - q)
    close(valued(symbols.binary_map(), **of), by_weights / (1 + by_weights))


@pytest.mark.parametrize(("q", "gamma"), POINTS)
def test_the_sign_of_the_gains_slope(q, gamma):
    """g' = -gamma (1-q)^(gamma-2) log(q) k(q) up to a positive factor; k is as M20 Eq. (9) has it."""
    found = valued(symbols.gain_sign(), q=q, gamma=gamma)
    q, gamma = mp.mpf(q), mp.mpf(gamma)
    rate = mp.diff(lambda v: -v * slope(v, gamma), q)
    assert mp.sign(found) == mp.sign(rate)
    close(found, 2 * (1 - q) / mp.log(q) + 1 - gamma * q)


@pytest.mark.parametrize(("s", "gamma"), [("0.7", "2.5"), ("-1.9", "0.4"), ("3.1", "6")])
def test_of_the_logit(s, gamma):
    of = {"s": s, "gamma": gamma}
    s, gamma = mp.mpf(s), mp.mpf(gamma)
    q = 1 / (1 + mp.exp(-s))
    gap = (gamma + 1) * s - logit_of_map(s, gamma)
    close(valued(symbols.u(), **of), -q * mp.log(q) / (1 - q))
    close(valued(symbols.logit_gap(), **of), gap)
    close(valued(symbols.binary_map_of_logit(), **of), logit_of_map(s, gamma))


@pytest.mark.parametrize(("s", "gamma"), [("0.7", "2.5"), ("-1.9", "0.4")])
def test_the_cubic_is_the_gaps_curvature(s, gamma):
    cubic = [valued(c, s=s) for c in symbols.curvature_cubic()]
    assert len(cubic) == 4
    s, gamma = mp.mpf(s), mp.mpf(gamma)

    def u(v):
        return mp.exp(v) * mp.log1p(mp.exp(-v))

    def gap(v):
        return mp.log((1 + gamma * u(v)) / (1 + gamma * u(-v)))

    below = (1 + gamma * u(s)) ** 2 * (1 + gamma * u(-s)) ** 2
    close(gamma * sum(c * gamma**k for k, c in enumerate(cubic)) / below, mp.diff(gap, s, 2))


def test_symbols_are_of_their_domains():
    assert symbols.q.is_positive
    assert symbols.s.is_real
    assert symbols.gamma.is_nonnegative
