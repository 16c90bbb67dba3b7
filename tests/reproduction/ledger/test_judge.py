"""The one rule for what is measured: REPRODUCED, UNDECIDED, NOT REPRODUCED."""

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from focal_lib.metrics.intervals import Interval, mean_and_range, t_interval
from focal_lib.metrics.significance import smallest_effect
from reproduction.ledger.evidence import All, Unchecked
from reproduction.ledger.judgement import NEGATIVE, POSITIVE, Verdict, judge
from reproduction.ledger.measurement import Measurement

REPRODUCED, UNDECIDED, NOT_REPRODUCED = Verdict.REPRODUCED, Verdict.UNDECIDED, Verdict.NOT_REPRODUCED
NUMBERS = st.floats(-10, 10)


def interval(low, high):
    return Interval((low + high) / 2, low, high, "t", 0.95, 3)


@pytest.mark.parametrize(
    ("low", "high", "size", "verdict"),
    [
        (-0.3, -0.1, None, REPRODUCED),
        (-0.3, -0.1, -5.0, REPRODUCED),  # a sign is claimed: the size need not be the printed one
        (-0.3, -0.1, -0.01, REPRODUCED),
        (-0.3, 0.1, None, UNDECIDED),
        (-0.3, 0.1, -0.2, UNDECIDED),  # holds 0 and the printed effect
        (-0.3, 0.1, -0.5, UNDECIDED),  # what is printed is not seen, yet an effect of that sign may be there
        (0.1, 0.3, None, NOT_REPRODUCED),
        (0.1, 0.3, -0.2, NOT_REPRODUCED),
        (0.0, 0.3, None, NOT_REPRODUCED),  # nothing below 0
        (-0.3, 0.0, None, UNDECIDED),  # 0 is no effect
        (-0.3, 0.0, -0.3, UNDECIDED),
    ],
)
def test_a_sign_and_its_printed_effect(low, high, size, verdict):
    """Also turned round."""
    assert judge(interval(low, high), NEGATIVE) == verdict
    assert judge(interval(-high, -low), POSITIVE) == verdict
    assert Measurement.signed("", "", interval(low, high), -1, size=size).verdict == verdict


@pytest.mark.parametrize(
    ("low", "high", "verdict"),
    [
        (-0.25, -0.15, REPRODUCED),
        (-0.35, -0.15, UNDECIDED),  # an effect, but of which size?
        (-0.15, 0.05, UNDECIDED),
        (-0.5, 0.5, UNDECIDED),
        (-0.05, 0.05, NOT_REPRODUCED),
        (-0.5, -0.4, NOT_REPRODUCED),
    ],
)
def test_a_size_within_a_tolerance(low, high, verdict):
    found = Measurement("", "-20 %", (low + high) / 2, -0.2, 0.1, interval=interval(low, high))
    assert found.verdict == verdict


def test_one_seed_decides_nothing():
    alone = Interval(-0.3, math.nan, math.nan)
    assert judge(alone, NEGATIVE) == UNDECIDED
    found = Measurement.signed("gain", "lower", alone, -1, "1 seeds", size=-0.2)
    assert found.verdict == UNDECIDED
    assert "no interval" in found.describe()


def test_numbers_without_chance_are_reproduced_or_not():
    assert judge(Interval(1, 1, 1), (0.9, 1.1)) == REPRODUCED
    assert judge(Interval(2, 2, 2), (0.9, 1.1)) == NOT_REPRODUCED
    ends = mean_and_range([0.5, 3.0])  # no confidence interval: it does not judge
    assert Measurement("", "", 1.0, 1.0, 0.1, interval=ends).verdict == REPRODUCED
    assert Measurement("", "", 3.0, 1.0, 0.1, interval=ends).verdict == NOT_REPRODUCED
    assert Measurement("", "", 1.0, holds=False).verdict == NOT_REPRODUCED


def test_of_several_parts_one_must_contradict_after_correction():
    """0.05 to 0.3 is above 0 by itself, and not at 1 - 0.05 / 20."""
    wrong, right = (Measurement.signed("", "lower", interval(s * 0.05, s * 0.3), -1) for s in (1, -1))
    assert wrong.verdict == All((wrong,)).verdict == NOT_REPRODUCED
    assert wrong.interval.at(1 - 0.05 / 20).low < 0
    assert All((wrong, *[right] * 19)).verdict == UNDECIDED
    clear = Measurement.signed("", "lower", interval(0.29, 0.3), -1)
    assert All((clear, *[right] * 19)).verdict == NOT_REPRODUCED
    assert All((right, right)).verdict == REPRODUCED  # all at once need no correction
    assert All((right, Measurement("", "", 1.0, holds=False))).verdict == NOT_REPRODUCED
    assert "one contradicts by its 97.5 % interval (Bonferroni)" in All((wrong, right)).describe()
    assert "Bonferroni" not in All((wrong, Measurement("", "", 1.0, holds=True))).describe()


def test_nothing_is_concluded_while_one_part_waits_for_its_runs():
    """Whatever the others show, and however deep it lies."""
    against = Measurement.signed("a", "lower", interval(0.1, 0.3), -1, "4 seeds")
    for_it = Measurement.signed("b", "lower", interval(-0.3, -0.1), -1, "4 seeds")
    waits = replace(for_it, complete=False, over="1 of 4 planned seeds")
    assert All((against, for_it)).verdict == NOT_REPRODUCED
    for parts in ((against, waits), (against, All((for_it, waits))), (waits, for_it)):
        found = All(parts)
        assert found.verdict == UNDECIDED
        assert "only 1 of 4 planned seeds are in" in found.conclude()
        assert found.would_change() == "the runs that are planned and not there yet"
    assert All((replace(waits, sign=0), against)).verdict == Verdict.FAILED
    lost = All((waits, Unchecked("the formula is lost")))
    assert lost.verdict == Verdict.UNCHECKABLE  # no run changes that
    assert "the formula is lost" in lost.would_change()


def test_what_two_seeds_would_show_is_called_a_guess():
    found = Measurement.signed("gain", "lower", t_interval([-1.0, 0.5]), -1, "2 seeds", size=-0.2)
    told = "with 2 seeds an effect of 12 or more would show (power 80 %; the spread of two values is a guess)"
    assert found.describe().endswith(f"UNDECIDED; {told}")
    assert found.would_change() == f"more data: {told}"


def test_several_intervals_must_be_t_intervals():
    drawn = Measurement("", "1", 1.0, 1.0, 0.1, interval=Interval(1.0, 0.95, 1.05, "percentile bootstrap"))
    assert All((drawn,)).verdict == REPRODUCED
    with pytest.raises(ValueError, match=r"must be t intervals. Got percentile bootstrap"):
        All((drawn, drawn))


def test_one_seed_is_undecided_alone_and_among_others():
    alone = Measurement.signed("", "lower", Interval(-0.2, math.nan, math.nan), -1)
    assert alone.verdict == UNDECIDED
    clear = Measurement.signed("", "lower", interval(-0.3, -0.1), -1)
    assert All((alone, clear)).verdict == UNDECIDED
    assert "Bonferroni" not in All((alone, clear)).describe()  # one interval, no correction


@pytest.mark.slow
def test_wrong_findings_are_rare_whatever_the_number_of_parts():
    """Of true claims at most 2.5 % are said not to be reproduced, of claims with no effect at most 2.5 % reproduced."""
    rng = np.random.default_rng(0)
    verdicts = {0.0: [], -1.0: []}
    for effect, found in verdicts.items():
        for draws in effect + rng.standard_normal((1000, 5, 4)):
            parts = [Measurement.signed("", "", t_interval(d), -1, size=-1.0) for d in draws]
            found.append((parts[0].verdict, All(tuple(parts)).verdict))
    one, several = zip(*verdicts[0.0], strict=True)
    assert one.count(REPRODUCED) < 0.04 * 1000
    assert several.count(REPRODUCED) == 0
    one, several = zip(*verdicts[-1.0], strict=True)
    assert one.count(NOT_REPRODUCED) < 0.04 * 1000
    assert several.count(NOT_REPRODUCED) < 0.05 * 1000
    assert several.count(UNDECIDED) > 500


@given(low=NUMBERS, width=st.floats(0, 10), size=st.floats(0.01, 10), cut=st.floats(0, 1))
def test_less_data_never_turns_a_verdict_round(low, width, size, cut):
    """A wider interval has the verdict of one within it, or UNDECIDED."""
    wide, narrow = interval(low, low + width), interval(low + cut * width / 2, low + width - cut * width / 4)
    for claimed in (POSITIVE, (-size, size)):
        assert judge(wide, claimed) in (judge(narrow, claimed), UNDECIDED)


@given(low=NUMBERS, width=st.floats(0, 10))
def test_undecided_is_what_holds_0_and_something_above(low, width):
    assert (judge(interval(low, low + width), POSITIVE) == UNDECIDED) == (low <= 0 < low + width)


def test_what_could_have_been_shown_is_said():
    found = Measurement.signed("gain", "lower, -0.2", t_interval([-1.0, 0.5, 0.2]), -1, "3 seeds", size=-0.2)
    assert found.verdict == UNDECIDED
    smallest = smallest_effect(t_interval([-1.0, 0.5, 0.2]))
    assert found.describe().endswith(
        f"t interval, 3 seeds): UNDECIDED; with 3 seeds an effect of {smallest:.2g} or more would show (power 80 %)"
    )
    shown = Measurement.signed("gain", "lower", t_interval([-1.0, -1.1, -1.2]), -1, "3 seeds")
    assert shown.describe().endswith("(95 % t interval, 3 seeds)")
    assert "(95 % t interval, 3 seeds): REPRODUCED\n" in All((shown, shown)).describe()
