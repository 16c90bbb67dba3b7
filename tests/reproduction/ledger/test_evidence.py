"""The rules by which evidence becomes a verdict, and that what does not hold fails."""

from dataclasses import replace

import flint
import pytest
import sympy as sp

from focal_lib.metrics.intervals import Interval, mean_and_range
from reproduction.ledger.evidence import (
    All,
    Conditional,
    Counterexample,
    Derivation,
    Disproof,
    Search,
    Step,
    Unchecked,
    outline,
    say_set,
    step,
    wording,
)
from reproduction.ledger.judgement import Verdict
from reproduction.ledger.measurement import Measurement
from reproduction.ledger.regime import Condition, InRegime
from reproduction.theorems.lemmas.curvature import convexity_proof

x = sp.Symbol("x")
PROVED = Derivation((step("", x, x),))


def test_evidence_that_holds():
    """What does not fails: test_would_change."""
    assert PROVED.verdict == Verdict.PROVED
    assert Counterexample("", flint.arb(1)).verdict == Disproof(PROVED).verdict == Verdict.REFUTED


def test_verdicts_combine_to_the_weakest():
    assert All((PROVED, Search("", 1, 1.0))).verdict == Verdict.NUMERIC
    assert All(()).verdict == Verdict.FAILED
    assert Unchecked("no data").verdict == Verdict.UNCHECKABLE
    undecided = Measurement.signed("", "> 0", Interval(0.1, -0.1, 0.3, "t", 0.95, 3), 1)
    assert All((PROVED, undecided)).verdict == Verdict.UNDECIDED
    assert All((undecided, Measurement("", "1", 2.0, 1.0))).verdict == Verdict.NOT_REPRODUCED


def proof(where, remark=""):
    return Derivation(PROVED.steps, remark, where)


CASES, INSIDE, OUTSIDE = sp.Interval(0, sp.oo), sp.Interval(7, sp.oo), sp.Interval.Ropen(0, 7)
POINT = Counterexample("gamma = 2", flint.arb(1), where=sp.FiniteSet(2))


def conditional(inside, outside):
    return Conditional(r"\gamma", CASES, inside, outside)


def test_a_condition_needs_two_sides_that_are_sound():
    assert conditional(proof(INSIDE), POINT).verdict == Verdict.CONDITIONAL
    assert conditional(proof(INSIDE), Disproof(proof(OUTSIDE))).verdict == Verdict.CONDITIONAL
    assert conditional(Derivation((), where=INSIDE), Disproof(proof(OUTSIDE))).verdict == Verdict.FAILED
    assert conditional(proof(INSIDE), Disproof(Derivation((), where=OUTSIDE))).verdict == Verdict.FAILED


def test_one_point_outside_is_no_if_and_only_if():
    """Every claim that is true somewhere could be 'conditional' on anything, with a point where it is false."""
    point = conditional(proof(INSIDE), POINT)
    assert "if and only if" not in point.describe()
    assert "Fails, for example, at" in point.describe()
    everywhere = conditional(proof(INSIDE), Disproof(proof(OUTSIDE)))
    assert r"Holds if and only if $\gamma \ge 7$ (PROVED)" in everywhere.describe()
    assert "Fails everywhere else" in everywhere.describe()
    only = conditional(proof(sp.Interval.open(0, sp.oo)), Counterexample("", flint.arb(1), where=sp.FiniteSet(0)))
    assert r"Holds if and only if $\gamma > 0$" in only.describe()


def test_any_proof_is_no_side_of_a_condition():
    """That of another claim, which says nothing of these cases, and 2 = 2."""
    for inside, outside in (
        (convexity_proof(), Disproof(proof(OUTSIDE))),
        (proof(INSIDE), Disproof(PROVED)),
        (proof(INSIDE), Counterexample("", flint.arb(1))),
        (All((proof(INSIDE), proof(INSIDE))), Disproof(proof(OUTSIDE))),
    ):
        with pytest.raises(ValueError, match="each side of a condition must say where"):
            conditional(inside, outside)


@pytest.mark.parametrize(
    ("within", "beyond"),
    [
        (INSIDE, sp.Interval(0, 7)),  # 7 on both
        (INSIDE, sp.Interval.Ropen(-1, 7)),  # -1 is no case
        (sp.Interval(-1, sp.oo), sp.S.EmptySet),
        (CASES, sp.S.EmptySet),
        (sp.S.EmptySet, CASES),
    ],
)
def test_the_sides_are_apart_and_within_the_cases(within, beyond):
    for outside in (Disproof(proof(beyond)), Counterexample("", flint.arb(1), where=beyond)):
        with pytest.raises(ValueError, match="must be apart"):
            conditional(proof(within), outside)


def test_a_disproof_leaves_no_case_out():
    with pytest.raises(ValueError, match="must be all cases"):
        conditional(proof(INSIDE), Disproof(proof(sp.Interval(0, 6))))
    with pytest.raises(ValueError, match="must be all cases"):
        conditional(proof(sp.Interval.open(7, sp.oo)), Disproof(proof(OUTSIDE)))


def test_sets_in_words():
    assert say_set("p_0", sp.Interval.Lopen(0, sp.Rational(1, 2))) == r"$0 < p_0 \le \frac{1}{2}$"
    assert say_set("q", sp.FiniteSet(0, 1)) == r"$q \in \{0, 1\}$"
    assert say_set("q", sp.FiniteSet(1)) == "$q = 1$"
    assert say_set("q", sp.Interval.open(-sp.oo, 1)) == "$q < 1$"
    assert say_set("q", sp.S.Reals - sp.FiniteSet(0)) == "$q < 0$ or $q > 0$"
    assert say_set("g", sp.Interval.open(sp.log(2), sp.oo), {sp.log(2): "c"}) == "$g > c$"
    with pytest.raises(NotImplementedError, match="must be intervals or finitely many"):
        say_set("q", sp.S.Integers)


def test_a_conditional_shows_its_weaker_side():
    disproof = Disproof(proof(OUTSIDE))
    searched = All((Search("", 1, 1.0),), INSIDE)
    assert conditional(proof(INSIDE), disproof).weaker == Verdict.PROVED
    assert conditional(proof(INSIDE), POINT).weaker == Verdict.CERTIFIED
    assert conditional(searched, disproof).weaker == Verdict.NUMERIC
    assert conditional(proof(INSIDE), replace(POINT, margin=flint.arb(-1))).weaker == Verdict.FAILED
    assert "(NUMERIC)" in conditional(searched, disproof).describe()


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


def test_an_outline_says_what_is_asked_for_and_not_what_was_found():
    near, sign = Measurement("", "1", 2.0, 1.0, 0.5), Measurement.signed("", "", Interval(2, 1, 3, "t", 0.95, 3), 1)
    assert outline(All((PROVED, PROVED, near))) == "All(2 Derivation(Step(1)), Measurement(0.5 to 1.5))"
    assert (
        outline(InRegime((Condition("", 1.0, (0, 2), ""),), sign))
        == "InRegime(Condition(0 to 2), Measurement(above 0))"
    )
    there = "Conditional($\\gamma \\ge 7$, of Interval(0, oo), Derivation(Step(1)), Counterexample)"
    assert outline(conditional(proof(INSIDE), POINT)) == there
    gutted = Derivation((step("", True), Step("", (0, 0, True))))
    assert outline(gutted) == "Derivation(Step(0 and 1 stated), Step(2 and 1 stated))"
    assert outline(Search("", 40, 0.1, 1e-9)) == "Search(points 40, tolerance 1e-09)"
    assert outline(replace(near, measured=5.0, quantity="x")) == outline(near) != outline(replace(near, tolerance=9.0))
    assert outline(Unchecked("lost")) == "Unchecked"


def test_wording_has_the_equations_of_a_step_though_both_sides_hold_another_constant():
    x = sp.Symbol("x")
    one, same, other = (wording(Derivation((step("so", (k * (x + 1), k * x + k)),))) for k in (1, 1, 2))
    assert one == same != other


def test_wording_is_all_that_is_said_and_of_numbers_only_those_of_steps():
    near = Measurement("gap of 3 runs", "0.1", 2.0, 1.0, 0.5, remark="by 1e-3 -4 worse")
    assert wording(All((near, Derivation((Step("$2x = 0$", 0),), remark="so 7")))) == [
        *("gap of # runs", "#", "printed", "by # # worse"),
        *("$2x = 0$", "so 7"),
    ]
    assert wording(Unchecked("formula 2 is lost"))[0] == "formula # is lost"
