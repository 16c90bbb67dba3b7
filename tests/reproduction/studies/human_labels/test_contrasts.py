"""Evidence from the record of raters' labels, planted faults."""

from __future__ import annotations

from functools import partial

import pandas as pd
import pytest

from reproduction.ledger.judgement import Verdict
from reproduction.studies.human_labels import contrasts
from reproduction.studies.human_labels.measures import RECORD
from reproduction.studies.human_labels.plan import END, VALIDATED

PRIMARY = "focal: after its map minus as it is"


@pytest.fixture
def changed(change_record):
    return partial(change_record, contrasts, RECORD)


def _opposite(table):
    return table.assign(value=table["value"].where(table["metric"] != "kl", -table["value"]))


def test_a_record_turned_round_contradicts(changed):
    before = contrasts.contrast_of_raters("linear", PRIMARY, -1)
    changed(_opposite)
    after = contrasts.contrast_of_raters("linear", PRIMARY, -1)
    assert (before.verdict, after.verdict) == (Verdict.REPRODUCED, Verdict.NOT_REPRODUCED)
    assert after.measured == -before.measured


def test_the_temperature_left_is_a_ratio_to_cross_entropys(changed):
    before = contrasts.temperature_left("GP-CNN", 0.1)
    of_ce = ("cross-entropy", "temperature")

    def doubled(table):
        rows = (table["loss"] == of_ce[0]) & (table["metric"] == of_ce[1])
        return table.assign(value=table["value"].where(~rows, 2 * table["value"]))

    changed(doubled)
    assert contrasts.temperature_left("GP-CNN", 0.1).measured == pytest.approx(before.measured / 2)


def test_one_seed_decides_nothing(changed):
    changed(lambda table: table[table["seed"] == 1])
    assert contrasts.contrast_of_raters("linear", PRIMARY, -1).verdict == Verdict.UNDECIDED
    with pytest.raises(ValueError, match="values must be at least two"):
        contrasts.temperature_left("linear", 0.1)


def test_seeds_are_paired(changed):
    """Seeds moved away from each other in the rows of the map leave no pair."""
    changed(lambda table: pd.DataFrame(table).assign(seed=table["seed"] + 100 * (table["method"] == "map")))
    with pytest.raises(ValueError, match="paired by seed"):
        contrasts.contrast_of_raters("linear", PRIMARY, -1)


def test_the_gap_is_judged_by_its_size(changed):
    """Underconfidence is no better calibration; and what is right at the end is not with validated weights."""
    assert contrasts.size_of_gap("linear", END, -1).verdict == Verdict.REPRODUCED
    assert contrasts.size_of_gap("linear", VALIDATED, 1).verdict == Verdict.REPRODUCED
    before = contrasts.size_of_gap("averaged embedding", END, -1).measured
    changed(lambda table: table.assign(value=table["value"].where(table["metric"] != "gap", -table["value"])))
    assert contrasts.size_of_gap("averaged embedding", END, -1).measured == pytest.approx(before)
    changed(lambda table: table.assign(value=table["value"].where(table["metric"] != "gap", 1 / table["value"])))
    assert contrasts.size_of_gap("linear", END, -1).verdict == Verdict.NOT_REPRODUCED


def test_a_comparison_that_was_seen_afterwards_is_read_from_the_record(changed):
    found = contrasts.evaluate_seen_afterwards()
    assert (found["p_adjusted"] >= found["p"]).all()
    assert contrasts.contrast_seen_afterwards("linear", 1).verdict == Verdict.REPRODUCED
    changed(_opposite)
    assert contrasts.contrast_seen_afterwards("linear", 1).verdict == Verdict.NOT_REPRODUCED
