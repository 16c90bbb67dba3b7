"""The cases of each conditional claim are those in which it holds, by numbers that know nothing of its proof."""

from __future__ import annotations

import itertools
from collections.abc import Callable

import mpmath as mp
import pytest
import sympy as sp

from reproduction.ledger import find, verdicts
from reproduction.ledger.evidence import Conditional
from tests.quick import quick_but_for

INNER = [mp.mpf(k) / 40 for k in range(1, 40)]


@pytest.fixture(autouse=True)
def _digits():
    with mp.workdps(60):
        yield


def focal_loss(q, gamma):
    return mp.inf if q == 0 else -((1 - q) ** gamma) * mp.log(q)


def gain(p, gamma):
    """M20's g, the factor of the gradient."""
    return (1 - p) ** gamma - gamma * p * (1 - p) ** (gamma - 1) * mp.log(p)


def inverse_temperature(s, gamma):
    """Of KK24's binary map at a logit."""
    q = 1 / (1 + mp.exp(-s))
    slopes = [mp.diff(lambda x: focal_loss(x, gamma), x) for x in (1 - q, q)]
    return mp.log(slopes[0] / slopes[1]) / s


def lambert(p, branch):
    """M20's gamma for a threshold, by a branch of Lambert's W."""
    a, b = 1 - p, p * mp.log(p)
    return a / b + mp.lambertw(-(a ** (1 - a / b)) / b * mp.log(a), branch).real / mp.log(a)


def both_losses_finite(q):
    return all(mp.isfinite(focal_loss(x, gamma)) for x in (q, 1 - q) for gamma in (0.5, 2))


def least_at_zero(gamma):
    limit = gamma + 1 - gamma * (2 * mp.log(2) - 1) / (1 + gamma * mp.log(2))
    return all(inverse_temperature(s, gamma) > limit for s in map(mp.mpf, ("0.01", "0.1", "1", "10")))


def smaller_exactly_where_g_is_at_most_1(norm):
    pairs = [(p, mp.mpf(gamma)) for p in INNER for gamma in (0, 0.5, 1, 3)]
    return all((gain(p, gamma) * norm <= norm) == (gain(p, gamma) <= 1) for p, gamma in pairs)


def gradient_decreases(gamma):
    """The slopes of chords do, up to both ends."""
    ends = [mp.mpf(10) ** -k for k in range(2, 30)]
    probs = sorted({*ends, *INNER, *(1 - end for end in ends)})
    chords = [(gain(q, gamma) - gain(p, gamma)) / (q - p) for p, q in itertools.pairwise(probs)]
    return all(after < before for before, after in itertools.pairwise(chords))


def equal_only_there(p0):
    least = max(lambert(p0, -1), mp.mpf(0))
    beyond = [(p0 + (1 - p0) * p, least + more) for p in INNER for more in (0, 0.5)] + [(p0, least + 0.5)]
    return all(abs(gain(p, gamma) - 1) > mp.mpf(10) ** -30 for p, gamma in beyond)


def negative_by_the_principal_branch(p0):
    return lambert(p0, 0) < -(mp.mpf(10) ** -30)


CASES: dict[str, tuple[Callable[[mp.mpf], bool], list[str]]] = {
    "kk24.prop2_differentiable": (both_losses_finite, ["0", "1e-9", "0.5", "0.999", "1"]),
    "kk24.prop3_sharp": (least_at_zero, ["0.01", "1", "5.6", "5.635", "5.636", "5.7", "20"]),
    "m20.prop1_iff": (smaller_exactly_where_g_is_at_most_1, ["0", "1e-9", "1", "7"]),
    "m20.g_slope_decreasing": (gradient_decreases, ["0.05", "0.5", "0.99", "1", "1.05", "2", "5"]),
    "m20.prop2_equality": (equal_only_there, ["0.01", "0.25", "0.49", "0.5", "0.51", "0.9"]),
    "m20.principal_branch": (negative_by_the_principal_branch, ["0.1", "0.49", "0.5", "0.51", "0.9"]),
}


def test_every_condition_is_tried():
    assert set(CASES) == {id for id, verdict in verdicts.recorded().items() if verdict == "CONDITIONAL"}


@pytest.mark.parametrize("id", quick_but_for(["kk24.prop3_sharp"], CASES))
def test_a_claim_holds_in_the_cases_of_its_condition_and_in_no_other(id):
    evidence, (holds, points) = find(id).evidence, CASES[id]
    assert isinstance(evidence, Conditional)
    inside = [bool(evidence.inside.where.contains(sp.Rational(point))) for point in points]
    assert inside == [holds(mp.mpf(point)) for point in points]
    assert set(inside) == {True, False}
    outside = [bool(evidence.outside.where.contains(sp.Rational(point))) for point in points]
    assert outside == [not within for within in inside]
