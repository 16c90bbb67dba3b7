"""The rules by which evidence becomes a verdict, and that what does not hold fails."""

import flint
import sympy as sp

from focal_lib.claims.evidence import All, Conditional, Counterexample, Derivation, Disproof, Search, Unchecked, step
from focal_lib.claims.judgement import Verdict
from focal_lib.claims.measurement import Measurement
from focal_lib.metrics.intervals import Interval, mean_and_range

x = sp.Symbol("x")
PROVED = Derivation((step("", x, x),))


def test_evidence_that_does_not_hold_fails():
    assert Derivation((step("x = x", x, x),)).verdict == Verdict.PROVED
    assert Derivation((step("x = 2x", x, 2 * x),)).verdict == Verdict.FAILED
    assert Derivation(()).verdict == Verdict.FAILED
    assert Counterexample("", flint.arb(1)).verdict == Verdict.REFUTED
    assert Counterexample("", flint.arb(0, 1)).verdict == Verdict.FAILED
    assert Search("", 10, -1e-3).verdict == Verdict.FAILED
    assert Search("", 0, 1.0).verdict == Verdict.FAILED
    assert Disproof(PROVED).verdict == Verdict.REFUTED
    assert Disproof(Derivation((step("", x, 2 * x),))).verdict == Verdict.FAILED


def test_verdicts_combine_to_the_weakest():
    refuted = Counterexample("", flint.arb(1))
    assert All((PROVED, Search("", 1, 1.0))).verdict == Verdict.NUMERIC
    assert All(()).verdict == Verdict.FAILED
    assert Conditional("", PROVED, refuted).verdict == Verdict.CONDITIONAL
    assert Conditional("", PROVED, PROVED).verdict == Verdict.FAILED
    assert Conditional("", Derivation(()), Disproof(PROVED)).verdict == Verdict.FAILED
    assert Unchecked("no data").verdict == Verdict.UNCHECKABLE
    undecided = Measurement.signed("", "> 0", Interval(0.1, -0.1, 0.3, "t", 0.95, 3), 1)
    assert All((PROVED, undecided)).verdict == Verdict.UNDECIDED
    assert All((undecided, Measurement("", "1", 2.0, 1.0))).verdict == Verdict.NOT_REPRODUCED


def test_one_point_outside_is_no_if_and_only_if():
    """Every claim that is true somewhere could be 'conditional' on anything, with a point where it is false."""
    point = Conditional("gamma >= 7", PROVED, Counterexample("gamma = -2", flint.arb(1)))
    assert "if and only if" not in point.describe()
    assert "Fails, for example, at" in point.describe()
    everywhere = Conditional("gamma >= 0", PROVED, Disproof(PROVED))
    assert "Holds if and only if gamma >= 0 (PROVED)" in everywhere.describe()


def test_a_conditional_shows_its_weaker_side():
    point, disproof = Counterexample("", flint.arb(1)), Disproof(PROVED)
    searched = Search("", 1, 1.0)
    assert Conditional("", PROVED, disproof).weaker == Verdict.PROVED
    assert Conditional("", PROVED, point).weaker == Verdict.CERTIFIED
    assert Conditional("", searched, disproof).weaker == Verdict.NUMERIC
    assert Conditional("", PROVED, Counterexample("", flint.arb(-1))).weaker == Verdict.FAILED
    assert "(NUMERIC)" in Conditional("c", searched, disproof).describe()


def test_a_number_is_reproduced_within_its_tolerance():
    assert Measurement("", "1", 1.2, 1.0, 0.1).verdict == Verdict.NOT_REPRODUCED
    assert Measurement("", "1", 1.05, 1.0, 0.1).verdict == Verdict.REPRODUCED
    assert Measurement("", "1", 1.05).verdict == Verdict.FAILED  # nothing to judge by


def test_an_interval_says_what_it_is():
    t = Measurement.signed("gap", "> 0", Interval(0.2, 0.1, 0.3, "t"), 1, "4 seeds").describe()
    assert t == "gap: printed > 0, recomputed 0.2 [0.1, 0.3] (95 % t interval, 4 seeds)"
    drawn = Measurement("gap", "0", 0.2, holds=True, interval=Interval(0.2, 0, 1, "percentile bootstrap", 0.9))
    assert drawn.describe().endswith("[0, 1] (90 % percentile bootstrap interval)")
    ends = Measurement("T", "2", 3.0, 2.0, 0.1, interval=mean_and_range([2.5, 3.5]), over="2 seeds", said="asked")
    assert ends.describe() == "T: asked 2, recomputed 3 [2.5, 3.5] (min to max, 2 seeds)"
