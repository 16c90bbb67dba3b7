from focal_lib.claims.evidence import Verdict
from focal_lib.claims.m20 import app_h


def test_a_point_whose_entropy_rises_is_no_counterexample():
    assert app_h.entropy_change(("0.33", "0.33", "0.33", "0.01"), "1/2") > 0
    assert not app_h.entropy_change(("0.6", "0.3", "0.1"), "1") > 0


def test_bernoulli_is_asked_for_gamma_from_one_on():
    assert app_h.bernoulli().verdict == app_h.app_h_below_one().verdict == Verdict.PROVED
