"""What a verdict means and what would change it, for each kind of evidence; and that such a change does change it."""

from dataclasses import replace
from fractions import Fraction

import flint
import numpy as np
import pytest
import sympy as sp

from focal_lib.metrics.intervals import Interval, t_interval
from reproduction.ledger import Claim, formal
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

x = sp.Symbol("x")
TRUE, OTHER, FALSE = step("x = x", x, x), step("2x = x + x", 2 * x, x + x), step("x = 2x", x, 2 * x)
PROVED, SEARCHED = Derivation((TRUE, OTHER)), Search("[0, 1]", 1000, 0.25)
POINT = Counterexample("x = 1", flint.arb(0.25))
BOXES = (Box(Fraction(0), Fraction(1, 2), 0), Box(Fraction(1, 2), Fraction(1), 0))
CERTIFIED = Certificate("1 + x > 0", {"f": 1 + x}, x, {"f": BOXES}, Fraction(0), Fraction(1))
ABOVE, BELOW = sp.Interval.open(0, sp.oo), sp.Interval(-sp.oo, 0)
EXACTLY = Conditional(
    "x", sp.S.Reals, Derivation((TRUE,), where=ABOVE), Disproof(Derivation((TRUE, OTHER), where=BELOW))
)
PARTLY = replace(EXACTLY, outside=replace(POINT, where=sp.FiniteSet(-1)))
ONLY = replace(EXACTLY, domain=sp.Interval(0, sp.oo), outside=replace(POINT, where=sp.FiniteSet(0)))
NEAR, EXACT = Measurement("T", "2", 2.05, 2.0, 0.1), Measurement("rows", "10", 10.0, 10.0)
ASKED = Measurement("error", "< 1", 1.2, holds=False, said="asked")


def signed(low, high, size=None, sign=-1):
    middle = Interval((low + high) / 2, low, high, "t", 0.95, 3)
    return Measurement.signed("gain", "lower" if sign < 0 else "higher", middle, sign, "4 seeds", size)


APART = Measurement.near("T", "2", Interval(3.0, 2.8, 3.2, "t", 0.95, 3), 2.0, 0.1)
ALONE = Measurement.signed("", "lower", Interval(-0.2, np.nan, np.nan), -1, "1 seeds")
OPEN = signed(-0.3, 0.1, -0.2)


@pytest.mark.parametrize(
    ("evidence", "means", "changes"),
    [
        (PROVED, "it holds: sympy reduced each of the 2 steps of a proof", "a step that sympy does not reduce"),
        (Disproof(Derivation((TRUE,))), "it is false: sympy reduced the one step of a proof of", "the opposite a step"),
        (CERTIFIED, "it holds: ball arithmetic proves a sign on each of the 2 boxes of", "a gap between boxes"),
        (POINT, "it is false: at one point it is violated by 0.25, proved by ball arithmetic", "nothing: one point"),
        (SEARCHED, "it holds at each of the 1,000 points tried, which is no proof", "(the smallest found: 0.25"),
        (Search("", 10, 0.0, 1e-9), "the 10 points", "below -1e-09"),
        (EXACTLY, "it holds if $x > 0$, and only then", "inside, a step"),
        (ONLY, "it holds if $x > 0$, and only then", "outside, nothing: one point where it is false suffices"),
        (PARTLY, "it holds if $x > 0$; elsewhere there is a point where it is false", "outside, nothing"),
        (Unchecked("the formula is lost"), "it is not judged", "what is missing: the formula is lost"),
        (NEAR, "it is so here: T: 2.05 is within our tolerance of what is printed, 1.9 to 2.1", "another number"),
        (replace(NEAR, measured=3.0), "it is not so here: T: 3 is not within our tolerance", "no chance is in it"),
        (replace(NEAR, said="claimed"), "2.05 is within what is claimed, 1.9 to 2.1", "computed or claimed"),
        (EXACT, "it is so here: rows: 10 is within what is printed, 10", "another number"),
        (Measurement("", "", 0.20550001, 0.2055, 1e-9), "0.20550001 is not within our tolerance of", "another number"),
        (ASKED, "it is not so here: error: 1.2 where < 1 is asked", "another number, computed or asked"),
        (signed(-0.3, -0.1), "[-0.3, -0.1] (95 % t interval, 4 seeds) is within what is claimed, below 0", "wholly"),
        (signed(0.1, 0.3, -0.5), "holds nothing of what is claimed, below 0", "holds some of what is claimed"),
        (APART, "holds nothing of our tolerance of what is printed, 1.9 to 2.1", "some of our tolerance of"),
        (OPEN, "it is open: gain: the interval", "80 %); the 0.2 that is printed would show with about 6 seeds"),
        (signed(-0.3, 0.1), "values that are claimed, below 0", "; the 0.1 that is found would show with about 15"),
        (ALONE, "it is open: -0.2 is one value, without an interval", "more data: of one value there is no interval"),
        (All((PROVED,)), PROVED.conclude(), PROVED.would_change()),
        (All((PROVED, All((PROVED,)))), "(the first of 2 parts, which all hold)", "in one of 2 parts a step"),
        (All((PROVED, SEARCHED)), "no proof (the weakest of 2 parts, which all hold)", SEARCHED.would_change()),
        (All((PROVED, SEARCHED, SEARCHED)), "(one of the 2 weakest of 3 parts, which all hold)", "in one of 2"),
        (All((POINT, PROVED)), POINT.conclude(), POINT.would_change()),
        (All((NEAR, ASKED)), f"{ASKED.conclude()} (the one such, of 2 parts)", ASKED.would_change()),
        (All((ASKED, ASKED)), "(the first of 2 such, of 2 parts)", f"in each of 2 parts {ASKED.would_change()}"),
        (All((signed(-0.3, -0.1), OPEN)), "the one such, of 2 parts", "one part, or that show all; of the first of 1"),
    ],
)  # fmt: skip
def test_what_a_verdict_means_and_what_would_change_it(evidence, means, changes):
    assert means in evidence.conclude()
    assert changes in evidence.would_change()


@pytest.mark.parametrize(
    "evidence",
    [
        Derivation((TRUE, FALSE)),
        Derivation(()),
        Disproof(Derivation((TRUE, FALSE))),
        replace(CERTIFIED, boxes={"f": BOXES[:1]}),
        replace(CERTIFIED, remainder=(FALSE,)),
        Counterexample("", flint.arb(0, 1)),
        Search("", 10, -1.0),
        Search("", 0, 1.0),
        Measurement("", "1", 1.0),
        All(()),
    ],
)
def test_what_fails_says_so(evidence):
    assert evidence.verdict == Verdict.FAILED
    assert evidence.conclude() == "it supports no verdict: the check fails"
    assert evidence.would_change() == "a check that does not fail"


def test_no_number_of_values_shows_an_effect_of_zero():
    assert "that is found" not in signed(-0.2, 0.2).would_change()


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


def test_what_is_open_is_decided_by_one_part_or_by_all():
    shown, open_, denied = signed(0.1, 0.3, sign=1), signed(-0.1, 0.3, sign=1), signed(-2.0, -1.9, sign=1)
    assert All((open_, open_, denied)).verdict == Verdict.NOT_REPRODUCED
    assert All((shown, open_, shown)).verdict == Verdict.UNDECIDED
    assert All((shown, shown, shown)).verdict == Verdict.REPRODUCED


def formal_claim(evidence, faithful="exact", **options):
    proof = Formal(Faithful(faithful), ("no_such_theorem",))
    return Claim("kk24.new", "It is said to be so", "KK24", "x", "convexity", lambda: evidence, formal=proof, **options)


def test_the_kernels_word_goes_first(monkeypatch):
    assert formal_claim(PROVED).verdict == Verdict.PROVED
    monkeypatch.setattr(formal, "kernel_checked", lambda: frozenset({"no_such_theorem"}))
    checked = formal_claim(PROVED, "equivalent")
    said = f"is checked with Coq {formal.coq_version()} (`no_such_theorem`)"
    assert checked.verdict == Verdict.FORMALLY_PROVED
    assert checked.conclude() == f"it holds: a proof of an equivalent statement {said}"
    assert checked.would_change().startswith("a formal statement that is not equivalent to this")
    assert checked.would_change().endswith(f"without Coq, {PROVED.would_change()}")
    assert formal_claim(POINT, fidelity="quoted").conclude() == f"it is false: a proof of the contrary {said}"
    assert formal_claim(EXACTLY).conclude().endswith(f"only then: a proof {said}")


def test_a_part_names_the_interval_that_it_was_judged_by():
    """One of three parts contradicts by its 98.3 % interval only, and agrees by that of 95 %."""
    values = [0.08, 0.20, 0.26, 0.41]
    wide = Measurement.signed("rise", "negative", t_interval(values), -1)
    assert wide.verdict == Verdict.NOT_REPRODUCED
    assert wide.among(3).verdict == Verdict.UNDECIDED
    low, high = t_interval(values, level=1 - 0.05 / 3).low, t_interval(values, level=1 - 0.05 / 3).high
    assert low < 0
    assert f"[{low:.4g}, {high:.4g}]" in wide.among(3).reason
    agrees = Measurement.signed("rise", "positive", t_interval(values), 1)
    assert agrees.among(3).verdict == Verdict.REPRODUCED
    assert f"[{t_interval(values).low:.4g}, " in agrees.among(3).reason
