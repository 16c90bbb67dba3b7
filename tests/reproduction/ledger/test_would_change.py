"""What a verdict means and what would change it, for each kind of evidence; and that such a change does change it."""

from dataclasses import replace
from fractions import Fraction

import flint
import numpy as np
import pytest
import sympy as sp

from focal_lib.metrics.intervals import Interval, t_interval
from reproduction.ledger import Claim, find, formal
from reproduction.ledger import verdicts as record
from reproduction.ledger.certificates.checker import Box
from reproduction.ledger.evidence import (
    All,
    Certificate,
    Conditional,
    Counterexample,
    Derivation,
    Disproof,
    Search,
    Unchecked,
    step,
)
from reproduction.ledger.formal import Faithful, Formal
from reproduction.ledger.judgement import Verdict
from reproduction.ledger.measurement import Measurement
from reproduction.ledger.page import without_coq
from reproduction.ledger.tally import say_without_coq

x = sp.Symbol("x")
TRUE, OTHER, FALSE = step("x = x", x, x), step("2x = x + x", 2 * x, x + x), step("x = 2x", x, 2 * x)
POINT = Counterexample("x = 1", flint.arb(0.25))


def formal_claim(evidence, faithful="exact", name="no_such_theorem", **options):
    proof = Formal(Faithful(faithful), (name,))
    return Claim("kk24.new", "KK24", "x", "02_convexity", lambda: evidence, formal=proof, **options)


def test_a_derivation_falls_with_a_step():
    sound, broken = Derivation((TRUE, OTHER)), Derivation((TRUE, FALSE))
    assert sound.conclude() == "it holds: sympy reduced each of the 2 steps of a proof"
    assert sound.would_change().startswith("a step that sympy does not reduce")
    assert (broken.verdict, broken.conclude()) == (Verdict.FAILED, "it supports no verdict: the check fails")
    assert broken.would_change() == "a proof of step 2, which sympy does not reduce"
    assert "there is no step" in Derivation(()).would_change()
    assert "the one step" in Disproof(Derivation((TRUE,))).conclude()
    assert "in the proof of the opposite a step" in Disproof(sound).would_change()
    assert "step 2" in Disproof(broken).would_change()


def test_a_certificate_falls_with_a_box():
    def certificate(*boxes, **more):
        return Certificate("1 + x > 0", {"f": 1 + x}, x, {"f": boxes}, Fraction(0), Fraction(1), **more)

    halves = (Box(Fraction(0), Fraction(1, 2), 0), Box(Fraction(1, 2), Fraction(1), 0))
    sound, gap = certificate(*halves), certificate(halves[0])
    assert (sound.verdict, gap.verdict) == (Verdict.CERTIFIED, Verdict.FAILED)
    assert "each of the 2 boxes of a cover" in sound.conclude()
    assert sound.would_change() == "a box on which the sign is not proved, or a gap between boxes"
    assert "step outside the cover" in certificate(*halves, remainder=(TRUE,)).would_change()
    assert gap.conclude() == "it supports no verdict: the check fails"


def test_nothing_changes_a_counterexample():
    assert POINT.conclude() == "it is false: at one point it is violated by 0.25, proved by ball arithmetic"
    assert POINT.would_change() == "nothing: one point where it is false suffices"
    assert Counterexample("", flint.arb(0, 1)).would_change() == "a margin proved to be above 0"


def test_a_search_falls_with_a_point():
    found = Search("[0, 1]", 1000, 0.25)
    assert found.conclude() == "it holds at each of the 1,000 points tried, which is no proof"
    assert "one point with a margin below 0 (the smallest found: 0.25)" in found.would_change()
    assert "below -1e-09" in Search("[0, 1]", 10, 0.0, 1e-9).would_change()
    assert "no point with a margin below 0; the smallest found is -1" in Search("", 10, -1.0).would_change()


def test_a_number_without_chance_falls_with_another():
    near = Measurement("T", "2", 2.05, 2.0, 0.1)
    assert near.conclude() == "it is so here: T: 2.05 lies within our tolerance of what is printed, 1.9 to 2.1"
    assert near.would_change() == "a value outside 1.9 to 2.1; no chance is in it"
    far = Measurement("T", "2", 3.0, 2.0, 0.1)
    assert far.conclude() == "it is not so here: T: 3 lies outside our tolerance of what is printed, 1.9 to 2.1"
    assert far.would_change() == "a value within 1.9 to 2.1; no chance is in it"
    assert (
        Measurement("T", "2", 2.05, 2.0, 0.1, said="claimed").conclude().endswith("lies in what is claimed, 1.9 to 2.1")
    )
    one = Measurement("rows", "10", 10.0, 10.0)
    assert one.conclude() == "it is so here: rows: 10 is what is printed"
    assert one.would_change() == "a value other than 10; no chance is in it"
    other = Measurement("rows", "0.2055", 0.3, 0.2055, 1e-9)
    assert other.conclude() == "it is not so here: rows: 0.3 is not the 0.2055 that is printed"
    assert other.would_change() == "the value 0.2055; no chance is in it"
    alike = Measurement("rows", "0.2055", 0.20550001, 0.2055, 1e-9)
    assert alike.conclude() == "it is not so here: rows: 0.20550001 is not the 0.2055 that is printed"
    asked = Measurement("error", "< 1", 1.2, holds=False, said="asked")
    assert asked.conclude() == "it is not so here: error: 1.2 where < 1 is asked"
    assert asked.would_change() == "other numbers, computed or asked; no chance is in them"
    assert Measurement("", "1", 1.0).conclude() == "it supports no verdict: the check fails"
    assert Measurement("", "1", 1.0).would_change() == "a number, or a sign, that is claimed"


def test_a_measured_sign_says_which_interval_or_how_many_seeds():
    def signed(low, high, size=None):
        return Measurement.signed(
            "gain", "lower", Interval((low + high) / 2, low, high, "t", 0.95, 3), -1, "4 seeds", size
        )

    shown = signed(-0.3, -0.1)
    assert shown.conclude().endswith("[-0.3, -0.1] (95 % t interval, 4 seeds) lies in what is claimed, below 0")
    assert shown.would_change() == "data whose interval is not wholly in what is claimed, below 0"
    denied = signed(-0.3, 0.1, -0.5)
    assert denied.would_change() == "data whose interval holds what is printed, -0.5"
    assert "holds nothing of what is printed, -0.5" in denied.conclude()
    apart = Measurement.near("T", "2", Interval(3.0, 2.8, 3.2, "t", 0.95, 3), 2.0, 0.1)
    assert apart.conclude().endswith("holds nothing within our tolerance of what is printed, 1.9 to 2.1")
    assert (
        apart.would_change() == "data whose interval holds a value within our tolerance of what is printed, 1.9 to 2.1"
    )
    open_ = signed(-0.3, 0.1, -0.2)
    assert open_.conclude().startswith("it is open: the interval [-0.3, 0.1]")
    assert "with 4 seeds an effect of" in open_.would_change()
    assert open_.would_change().endswith("(power 80 %); the 0.2 that is printed would show with about 6 seeds")
    assert signed(-0.3, 0.1).would_change().endswith("; the 0.1 that is found would show with about 15 seeds")
    assert "that is found" not in signed(-0.2, 0.2).would_change()  # no number of them shows an effect of 0


def test_so_many_seeds_do_decide():
    """Values as scattered as those at hand, of the mean printed: the number named shows it in four of five cases."""
    rng = np.random.default_rng(0)
    few = t_interval([-0.5, 0.3, -0.2])
    open_ = Measurement.signed("", "lower", few, -1, "3 seeds", few.estimate)
    needed = int(open_.would_change().split("about ")[1].split(" ")[0])
    scatter = few.standard_error * 3**0.5
    drawn = rng.normal(few.estimate, scatter, (4000, needed))
    shown = [Measurement.signed("", "lower", t_interval(row), -1).verdict == Verdict.REPRODUCED for row in drawn]
    assert np.mean(shown) == pytest.approx(0.8, abs=0.03)


def test_one_seed_needs_a_second():
    alone = Measurement.signed("", "lower", Interval(-0.2, np.nan, np.nan), -1, "1 seeds")
    assert alone.conclude() == "it is open: -0.2 is one value, without an interval"
    assert alone.would_change() == "more data: of one value there is no interval"


ABOVE, BELOW = sp.Interval.open(0, sp.oo), sp.Interval(-sp.oo, 0)


def condition(inside, outside):
    return Conditional("x", sp.S.Reals, inside, outside)


def test_a_condition_falls_with_either_side():
    proved, denied = Derivation((TRUE,), where=ABOVE), Disproof(Derivation((TRUE,), where=BELOW))
    exactly = condition(proved, Disproof(Derivation((TRUE, OTHER), where=BELOW)))
    assert exactly.conclude() == "it holds if $x > 0$, and only then"
    assert exactly.would_change().endswith("on either side")
    searched = condition(All((Search("", 5, 1.0),), ABOVE), denied)
    assert searched.would_change().startswith("inside, one point")
    assert "; outside, a step" in searched.would_change()
    partly = condition(proved, replace(POINT, where=sp.FiniteSet(-1)))
    assert partly.conclude() == "it holds if $x > 0$; elsewhere there is a point where it is false"
    others = "$x < -1$ or $-1 < x \\le 0$"
    assert partly.would_change().endswith(f"or, for the better, a proof for some of the other cases, {others}")


def test_of_one_case_left_a_point_says_all():
    sides = Derivation((TRUE,), where=ABOVE), replace(POINT, where=sp.FiniteSet(0))
    only = Conditional("x", sp.Interval(0, sp.oo), *sides)
    assert only.conclude() == "it holds if $x > 0$, and only then"
    assert only.would_change().endswith("outside, nothing: one point where it is false suffices")


def test_what_is_open_is_decided_by_one_part_or_by_all():
    def rise(low, high):
        return Measurement.signed("rise", "> 0", Interval((low + high) / 2, low, high, "t", 0.95, 3), 1, "4 seeds")

    shown, open_, denied = rise(0.1, 0.3), rise(-0.1, 0.3), rise(-2.0, -1.9)
    assert All((open_, open_, denied)).verdict == Verdict.NOT_REPRODUCED
    assert All((shown, open_, shown)).verdict == Verdict.UNDECIDED
    assert All((shown, shown, shown)).verdict == Verdict.REPRODUCED
    said = All((shown, open_, open_)).would_change()
    assert said.startswith(
        "data that contradict one of the 3 parts, and it is not so here; or data that show each of the 2 open ones, "
        "and it is so here. For the one named: more data"
    )
    assert "or data that show the open one, and" in All((shown, open_, shown)).would_change()
    assert All((open_,)).would_change() == open_.would_change()


def test_of_several_parts_the_weakest_speaks():
    proved, searched = Derivation((TRUE, OTHER)), Search("", 5, 1.0)
    another = Derivation((TRUE, step("3x = x + 2x", 3 * x, x + 2 * x)))
    assert All((proved, All((another,)))).conclude() == "it holds: sympy reduced each of the 3 steps of a proof"
    assert All((proved, searched)).conclude().endswith("no proof; of 2 parts this is the weakest")
    assert All((proved, searched)).would_change() == searched.would_change()
    assert All((POINT, proved)).would_change() == POINT.would_change()
    good, bad = Measurement("T", "2", 2.0, 2.0, 0.1), Measurement("S", "2", 3.0, 2.0, 0.1)
    assert All((good, bad)).conclude() == "it is not so here in 1 of 2 parts, namely S: " + bad.reason_among(1)
    assert All((bad, bad)).would_change() == f"a change in each of 2 parts; for the one named: {bad.would_change()}"
    assert All((good, good)).would_change().startswith("a change in one of 2 parts; for the one named: a value outside")
    assert All(()).would_change() == Derivation(()).would_change()


def test_what_is_unchecked_says_what_is_missing():
    lost = Unchecked("the formula is lost")
    assert lost.conclude().startswith("it is not judged")
    assert lost.would_change() == "what is missing: the formula is lost"


def test_the_kernels_word_goes_first(monkeypatch):
    proved = Derivation((TRUE,))
    without = formal_claim(proved)
    assert without.awaits_kernel
    assert without.conclude().endswith("Coq has not checked the formal proof on this machine (`make proofs`)")
    monkeypatch.setattr(formal, "kernel_checked", lambda: frozenset({"no_such_theorem"}))
    checked = formal_claim(proved, "equivalent")
    assert checked.verdict == Verdict.FORMALLY_PROVED
    assert not checked.awaits_kernel
    assert checked.conclude() == "it holds: Coq's kernel has checked a proof, of an equivalent statement"
    assert checked.would_change().startswith("a formal statement that is not equivalent to this")
    assert checked.would_change().endswith(f"without Coq, {proved.would_change()}")
    assert formal_claim(POINT, fidelity="quoted").conclude() == (
        "it is false: Coq's kernel has checked a proof of the contrary"
    )
    sides = replace(proved, where=ABOVE), Disproof(replace(proved, where=BELOW))
    assert formal_claim(condition(*sides)).conclude().endswith("only then: Coq's kernel has checked a proof")


def test_a_related_theorem_and_a_failed_check_wait_for_no_kernel():
    assert not formal_claim(Derivation((TRUE,)), "related").awaits_kernel
    assert not formal_claim(Derivation((FALSE,))).awaits_kernel
    assert not find("kk24.fig5_lowest_falls").awaits_kernel  # none is formalised


def test_verdicts_without_coq_are_counted_in_words():
    waiting = [formal_claim(Derivation((TRUE,))) for _ in range(2)]
    assert without_coq(waiting).startswith("2 verdicts have formal proofs in Coq, too; Coq was not run when these")
    assert without_coq([]) == ""
    assert say_without_coq(1).startswith("1 verdict has a formal proof in Coq, too;")
    assert say_without_coq(1).endswith("here it rests on sympy and ball arithmetic.")


def test_without_the_kernel_checks_that_wait_for_it_are_those_on_record(monkeypatch):
    ours = find("kk24.prop1")
    monkeypatch.setattr(formal, "kernel_checked", frozenset)
    (check,) = record._check([ours.id])
    assert check.awaits_kernel
    assert not check.now.formal


def test_a_part_names_the_interval_that_it_was_judged_by():
    """One of three parts contradicts by its 98.3 % interval only, and agrees by that of 95 %."""
    values = [0.08, 0.20, 0.26, 0.41]
    wide = Measurement.signed("rise", "negative", t_interval(values), -1)
    assert wide.verdict_among(1) == Verdict.NOT_REPRODUCED
    assert wide.verdict_among(3) == Verdict.UNDECIDED
    low, high = t_interval(values, level=1 - 0.05 / 3).low, t_interval(values, level=1 - 0.05 / 3).high
    assert low < 0
    assert f"[{low:.4g}, {high:.4g}]" in wide.reason_among(3)
    agrees = Measurement.signed("rise", "positive", t_interval(values), 1)
    assert agrees.verdict_among(3) == Verdict.REPRODUCED
    assert f"[{t_interval(values).low:.4g}, " in agrees.reason_among(3)
