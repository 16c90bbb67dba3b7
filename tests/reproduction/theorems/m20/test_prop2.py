from focal_lib.theory.gain import lambert_gamma, log_gain
from reproduction.theorems.m20 import prop2


def test_a_wrong_lambert_branch_is_not_the_root():
    assert all(s.holds for s in prop2.lambert_steps())
    assert abs(log_gain(0.3, lambert_gamma(0.3))) < 1e-14
    assert abs(log_gain(0.3, 1.01 * lambert_gamma(0.3))) > 1e-4
