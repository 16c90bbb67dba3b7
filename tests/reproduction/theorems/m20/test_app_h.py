from reproduction.ledger.judgement import Verdict
from reproduction.theorems.m20 import app_h


def test_a_point_whose_entropy_rises_is_no_counterexample():
    assert app_h.entropy_change(("0.33", "0.33", "0.33", "0.01"), "1/2") > 0
    assert not app_h.entropy_change(("0.6", "0.3", "0.1"), "1") > 0


def test_bernoulli_is_asked_for_gamma_from_one_on():
    assert app_h.bernoulli().verdict == app_h.app_h_below_one().verdict == Verdict.PROVED


def test_hoelders_step_needs_the_largest_probability_and_bars(monkeypatch):
    assert app_h.app_h_hoelder().verdict == Verdict.PROVED
    terms = app_h.bound_terms

    def without_largest(p, largest, part):
        first, _, last = terms(p, largest, part)
        return first, 2 * last, last

    def without_bars(p, largest, part):
        first, second, last = terms(p, largest, part)
        return -first, second, last

    for wrong in (without_largest, without_bars):
        monkeypatch.setattr(app_h, "bound_terms", wrong)
        assert app_h.app_h_hoelder().verdict == Verdict.FAILED


def test_the_sign_of_the_second_step_is_asked_of_gamma(monkeypatch):
    assert app_h.app_h_sign().verdict == Verdict.PROVED
    monkeypatch.setattr(app_h, "g", -app_h.g)
    assert app_h.app_h_sign().verdict == Verdict.FAILED
