from reproduction.ledger.judgement import Verdict
from reproduction.theorems.kk24 import prop1


def test_a_convex_point_is_no_counterexample():
    assert prop1.negative_gamma_point().verdict == Verdict.REFUTED
    assert prop1.negative_gamma_point("1/2").verdict == Verdict.FAILED
