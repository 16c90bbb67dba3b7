from fractions import Fraction

from focal_lib.claims.l25 import thm45


def test_moving_away_from_the_truth_gains_nothing():
    assert thm45.gap_of_focal_minimiser("0.63", "0.7", 2, Fraction(1)) > 0
    assert not thm45.gap_of_focal_minimiser("0.63", "0.5", 2, Fraction(1)) > 0


def test_only_a_square_grows_like_the_square():
    assert thm45.square_growth_step().holds
    assert not thm45.square_growth_step(power=3).holds
