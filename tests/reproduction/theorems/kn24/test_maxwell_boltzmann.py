"""What is known of a Maxwell-Boltzmann posterior: another loss in its place, and a point beyond the minimum."""

from reproduction.ledger import Verdict
from reproduction.theorems.kn24 import maxwell_boltzmann as page


def test_the_bounds_slope_is_that_of_the_entropy(monkeypatch):
    assert page.entropy_constrained().verdict == Verdict.PROVED
    slope = page.bound_slope()
    monkeypatch.setattr(page, "bound_slope", lambda: slope.subs(page.g, -page.g))
    assert page.entropy_constrained().verdict == Verdict.FAILED


def test_a_point_below_one_half_is_no_example(monkeypatch):
    monkeypatch.setattr(page, "SOLUTION", "0.3")
    assert page.entropy_constrained().verdict == Verdict.FAILED


def test_gibbs_principle_needs_the_logarithm(monkeypatch):
    assert page.gibbs().verdict == Verdict.PROVED
    log = page.sp.log
    monkeypatch.setattr(page.sp, "log", lambda value: 2 * log(value))
    assert page.gibbs().verdict == Verdict.FAILED
