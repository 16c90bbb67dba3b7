"""OUT OF REGIME: what is measured on networks outside a claim's conditions says nothing of it."""

import math
import re

import pytest

from focal_lib.metrics.intervals import Interval
from reproduction.ledger.evidence import Unchecked
from reproduction.ledger.judgement import Verdict
from reproduction.ledger.ledger import find, ledger
from reproduction.ledger.measurement import Measurement
from reproduction.ledger.regime import Condition, InRegime
from reproduction.ledger.weight import Weight, of_record

AGAINST, FOR = (
    Measurement.signed("ECE", "lower", Interval(s * 0.2, s * 0.2 - 0.1, s * 0.2 + 0.1, "t", 0.95, 3), -1)
    for s in (1, -1)
)


def temperature(found):
    return Condition("temperature of cross-entropy", found, (2.2, math.inf), "M20 Table 1")


@pytest.mark.parametrize(
    ("found", "evidence", "verdict"),
    [
        (2.2, AGAINST, Verdict.NOT_REPRODUCED),  # the ends belong to it
        (2.2, FOR, Verdict.REPRODUCED),
        (2.19, AGAINST, Verdict.OUT_OF_REGIME),
        (2.19, FOR, Verdict.OUT_OF_REGIME),  # neither for nor against
        (math.nan, FOR, Verdict.OUT_OF_REGIME),  # not known to hold
        (1.0, Unchecked("the formula is lost"), Verdict.UNCHECKABLE),
    ],
)
def test_outside_nothing_is_concluded_either_way(found, evidence, verdict):
    assert InRegime((temperature(found),), evidence).verdict == verdict


def test_which_condition_fails_is_said():
    holds = Condition("error in %", 8.7, (-math.inf, 10.0), "twice what M20 prints")
    found = InRegime((temperature(1.35), holds), AGAINST)
    unmet = "temperature of cross-entropy: 1.35 here, at least 2.2 by M20 Table 1"
    assert found.conclude() == f"neither for nor against: {unmet}"
    assert found.would_change() == "runs of which that holds"
    assert f"* {unmet}: outside" in found.describe()
    assert "* error in %: 8.7 here, at most 10 by twice what M20 prints\n" in found.describe()
    assert AGAINST.describe() in found.describe()
    assert InRegime((holds,), AGAINST).conclude() == AGAINST.conclude()


@pytest.mark.parametrize("id", ["m20.cifar10_before", "kk24.table1_gamma_ece", "l25.cifar10_focal", "kn24.fig3"])
def test_runs_that_are_less_overconfident_or_smaller_than_the_papers_are_outside(id):
    assert find(id).check().verdict == Verdict.OUT_OF_REGIME


OF_ANY_NETWORK = {  # what KK24 says of focal loss and cross-entropy in general
    "kk24.ce_overconfident",
    "kk24.ce_temperature_above_one",
    "kk24.focal_underconfident",
    "kk24.proper_part_calibrated",
    "kk24.raters_overfitted",
}


def of_papers_on(weight):
    """The papers' claims that rest on records of this weight."""
    return [
        claim
        for claim in ledger()
        if claim.of_paper
        and str(claim.needs).startswith("results/")
        and of_record(str(claim.needs).removeprefix("results/")) == weight
    ]


def test_toys_say_nothing_of_a_papers_networks_for_or_against():
    """A rule for claims that runs contradict alone would leave only those that they bear out."""
    assert {claim.id for claim in of_papers_on(Weight.TOY) if claim.regime is None} == OF_ANY_NETWORK


def test_runs_on_a_papers_data_have_its_regime_too():
    on_full_data = of_papers_on(Weight.FULL_DATA)
    assert len(on_full_data) > 20
    assert not {claim.id for claim in on_full_data if claim.regime is None}


@pytest.mark.parametrize(
    ("id", "verdict"),
    [("m20.fig2_after_perfect", Verdict.REPRODUCED), ("l25.fcl_lower_here", Verdict.NOT_REPRODUCED)],
)
def test_few_images_are_outside_whatever_they_show(id, verdict):
    found = find(id).check()
    assert (found.verdict, found.found.verdict) == (Verdict.OUT_OF_REGIME, verdict)
    assert re.match(r"training samples: [12],000 here, at least 22,500", found.conditions[0].describe())


def test_a_hundred_epochs_are_in_m20s_regime():
    found = find("m20.cifar10_before_long").check()
    assert all(condition.holds for condition in found.conditions)
    assert found.verdict == found.found.verdict == Verdict.REPRODUCED
