"""Evidence from the record of texts, planted faults."""

from __future__ import annotations

from functools import partial

import pytest

from reproduction.ledger.judgement import Verdict
from reproduction.studies.texts import contrasts
from reproduction.studies.texts.measures import RECORD
from reproduction.studies.texts.plan import CHIEF, SETTINGS

PRIMARY = "FLSD-53 minus cross-entropy"


@pytest.fixture
def changed(change_record):
    return partial(change_record, contrasts, RECORD)


@pytest.fixture
def few_planned(monkeypatch):
    """As if no more seeds than these were planned."""

    def plan(seeds):
        few = {name: setting._replace(seeds=seeds) for name, setting in SETTINGS.items()}
        monkeypatch.setattr(contrasts, "SETTINGS", few)

    return plan


def _opposite(table):
    return table.assign(value=-table["value"], temperature=-table["temperature"])


def test_a_record_turned_round_contradicts(changed, few_planned):
    few_planned(3)
    before = contrasts.contrast_of_texts(CHIEF, PRIMARY, -1)
    cooler = contrasts.temperature_of_texts(CHIEF, "cross-entropy", "flsd-53", 1)
    changed(_opposite)
    after = contrasts.contrast_of_texts(CHIEF, PRIMARY, -1)
    assert (before.verdict, after.verdict) == (Verdict.REPRODUCED, Verdict.NOT_REPRODUCED)
    assert after.measured == -before.measured
    turned = contrasts.temperature_of_texts(CHIEF, "cross-entropy", "flsd-53", 1)
    assert (cooler.verdict, turned.verdict) == (Verdict.REPRODUCED, Verdict.NOT_REPRODUCED)


def test_a_similar_error_is_one_within_the_tolerance(changed, few_planned):
    few_planned(3)
    name = "FLSD-53 minus cross-entropy, error"
    changed(lambda table: table.assign(value=table["value"].where(table["metric"] != "error", 25.0)))
    assert contrasts.similar_by(CHIEF, name, 0.5).verdict == Verdict.REPRODUCED
    apart = {"flsd-53": 27.0, "cross-entropy": 25.0}
    changed(
        lambda table: table.assign(value=table["value"].where(table["metric"] != "error", table["loss"].map(apart)))
    )
    assert contrasts.similar_by(CHIEF, name, 0.5).verdict == Verdict.NOT_REPRODUCED


@pytest.mark.parametrize(
    "measure",
    [
        lambda: contrasts.contrast_of_texts(CHIEF, PRIMARY, -1),
        lambda: contrasts.temperature_of_texts(CHIEF, "cross-entropy", "flsd-53", 1),
        lambda: contrasts.error_of_texts(CHIEF, "mmce 8", 50.0, 5.0),
        lambda: contrasts.similar_by(CHIEF, f"{PRIMARY}, error", 100.0),
    ],
)
def test_nothing_is_concluded_before_all_planned_seeds_are_there(measure, changed, few_planned):
    """Whatever those that are there show, by whichever of the measures."""
    first = sorted(contrasts.record_of(CHIEF)["seed"].unique())[:5]
    changed(lambda table: table[table["seed"].isin(first)])
    few_planned(5)
    assert measure().verdict == Verdict.REPRODUCED
    few_planned(6)
    found = measure()
    assert (found.complete, found.over, found.verdict) == (False, "5 of 6 planned seeds", Verdict.UNDECIDED)


def test_one_seed_decides_nothing(changed, few_planned):
    few_planned(1)
    changed(lambda table: table[table["seed"] == 2])
    assert contrasts.contrast_of_texts(CHIEF, PRIMARY, -1).verdict == Verdict.UNDECIDED


def test_contrasts_are_asked_where_they_were_written_down():
    assert contrasts.settings_with(PRIMARY) == tuple(SETTINGS)
    assert contrasts.settings_with("FLSD-53 minus MMCE") == (CHIEF,)
    assert contrasts.settings_with("FLSD-53 minus all") == ()
