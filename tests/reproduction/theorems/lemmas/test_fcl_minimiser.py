"""How far a candidate can be from the minimiser of FCL."""

from fractions import Fraction

from reproduction.theorems.lemmas import fcl_minimiser


def test_slack_tells_a_minimiser_from_a_point_beside_it():
    p = ("0.5", "0.3", "0.2")
    good = fcl_minimiser.candidate(p, 1.0, 1.0)
    moved = [good[0] + Fraction(1, 1000), good[1] - Fraction(1, 1000), good[2]]
    assert fcl_minimiser.slack(good, p, Fraction(1)) < 1e-12
    assert fcl_minimiser.slack(moved, p, Fraction(1)) > 1e-4
