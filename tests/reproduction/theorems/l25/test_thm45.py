from fractions import Fraction

from reproduction.ledger.judgement import Verdict
from reproduction.theorems.l25 import thm45


def test_moving_away_from_the_truth_gains_nothing():
    assert thm45.gap_of_focal_minimiser("0.63", "0.7", 2, Fraction(1)) > 0
    assert not thm45.gap_of_focal_minimiser("0.63", "0.5", 2, Fraction(1)) > 0


def test_only_a_square_grows_like_the_square():
    assert thm45.square_growth_step().holds
    assert not thm45.square_growth_step(power=3).holds


def test_the_square_falls_where_the_prediction_comes_nearer():
    assert thm45.a14_square_gap().verdict == Verdict.PROVED
    assert all(step.holds for step in thm45.square_gap_steps())
    printed_as_negative = thm45.square_gap_steps(lambda move, off: 2 * move * off - move**2)
    assert [step.holds for step in printed_as_negative] == [False, False, False]
