from focal_lib.claims.kk24 import prop5


def test_a_point_whose_top_rises_is_no_counterexample():
    assert prop5.drop(("0.333", "0.333", "0.333", "0.001"), "1") > 0
    assert not prop5.drop(("0.6", "0.2", "0.1", "0.1"), "1") > 0


def test_the_lemma_on_concave_functions_needs_a_zero_at_0():
    assert prop5.sublemma_step().holds
    assert not prop5.sublemma_step(at_zero=1).holds
