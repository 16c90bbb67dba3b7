import pytest

from reproduction.ledger.judgement import Verdict
from reproduction.theorems import symbols
from reproduction.theorems.kk24 import prop5, prop5_each_n


def test_a_point_whose_top_rises_is_no_counterexample():
    assert prop5.drop(("0.333", "0.333", "0.333", "0.001"), "1") > 0
    assert not prop5.drop(("0.6", "0.2", "0.1", "0.1"), "1") > 0


def test_the_lemma_on_concave_functions_needs_a_zero_at_0():
    assert prop5.sublemma_step().holds
    assert not prop5.sublemma_step(at_zero=1).holds


ON_THE_SIMPLEX = [
    prop5.prop5_threshold,
    prop5.prop5_threshold_sharp,
    prop5.prop5_near_uniform,
    prop5.fig5_lowest_falls,
    prop5_each_n.prop5_n_fails,
    prop5_each_n.prop5_n_holds,
    prop5_each_n.prop5_three_classes,
]


@pytest.mark.parametrize("check", ON_THE_SIMPLEX)
@pytest.mark.parametrize("name", ["weight", "gain", "focal_loss", "focal_loss_slope"])
def test_claims_on_the_map_hang_on_the_printed_one(monkeypatch, check, name):
    """With q^7 for the weight of Eq. (1), or for what it is made of, what is proved is about another map."""
    monkeypatch.setattr(symbols, name, lambda q=symbols.q, *_: q**7)
    assert check().verdict == Verdict.FAILED


@pytest.mark.parametrize("check", ON_THE_SIMPLEX)
def test_they_are_proved_of_the_printed_one(check):
    assert check().verdict == Verdict.PROVED
