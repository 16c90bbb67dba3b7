from fractions import Fraction
from math import comb

import numpy as np
import pytest

from focal_lib.theory import critical_gamma, focal_minimiser
from reproduction.ledger.judgement import Verdict
from reproduction.theorems.kk24 import later_work


def rest_of_a_rare_class(gamma, others, rare=1e-9):
    """Minimiser over truth of a class that is nearly impossible."""
    p = np.append((1 - rare) * np.asarray(others), rare)
    return focal_minimiser(p, gamma)[-1] / rare


@pytest.mark.parametrize("m", [3, 4, 9, 99])
def test_a_rare_class_among_many_is_diminished_below_the_critical_gamma(m):
    alike = np.full(m, 1 / m)
    assert rest_of_a_rare_class(0.95 * critical_gamma(m + 1), alike) < 1
    assert rest_of_a_rare_class(1.05 * critical_gamma(m + 1), alike) > 1


@pytest.mark.parametrize("gamma", [0.1, 1.0, 3.0, 10.0])
def test_among_one_or_two_others_it_never_is(gamma):
    for share in np.linspace(0.01, 0.5, 50):
        assert rest_of_a_rare_class(gamma, [share, 1 - share]) > 1
    assert rest_of_a_rare_class(gamma, [1.0]) > 1


def test_a_scaler_that_is_no_temperature_moves_a_predicted_class():
    """And one that is, with a number added to every logit, moves none."""
    rng = np.random.default_rng(0)
    z, added = rng.normal(size=(4000, 4)), rng.normal(size=4)
    kept = z @ (0.4 * np.eye(4) + added[:, None]) + 2.0
    assert (kept.argmax(axis=1) == z.argmax(axis=1)).all()
    for _ in range(20):
        other = np.eye(4) + 0.2 * rng.normal(size=(4, 4))
        assert ((z @ other.T).argmax(axis=1) != z.argmax(axis=1)).any()
    assert ((z + np.eye(4)[0] / 10).argmax(axis=1) != z.argmax(axis=1)).any()


@pytest.mark.parametrize("n", [1, 2, 5, 10])
def test_the_least_expected_error_is_at_a_median_of_the_share(n):
    def expected(q, p):
        return sum(comb(n, k) * p**k * (1 - p) ** (n - k) * abs(q - Fraction(k, n)) for k in range(n + 1))

    for p in (Fraction(i, 20) for i in range(1, 20)):
        below = sum(comb(n, k) * p**k * (1 - p) ** (n - k) for k in range(n + 1) if Fraction(k, n) < p)
        above = sum(comb(n, k) * p**k * (1 - p) ** (n - k) for k in range(n + 1) if Fraction(k, n) > p)
        median = max(below, above) <= Fraction(1, 2)
        lies = min(expected(Fraction(i, 40), p) for i in range(41))
        assert (lies >= expected(p, p)) == median


def test_no_lie_of_the_example_pays_where_p_is_the_median(monkeypatch):
    monkeypatch.setattr(later_work, "ECE_RATE", Fraction(4, 5))  # 4 of 5
    assert later_work.ece_of_the_truth().verdict != Verdict.PROVED
