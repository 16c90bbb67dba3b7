from fractions import Fraction

from focal_lib.claims.l25 import thm45


def test_moving_away_from_the_truth_gains_nothing():
    assert thm45.gap_of_focal_minimiser("0.63", "0.7", 2, Fraction(1)) > 0
    assert not thm45.gap_of_focal_minimiser("0.63", "0.5", 2, Fraction(1)) > 0
