"""Evidence from the record of distances to people, and faults planted in it."""

from functools import partial

import pytest

from reproduction.ledger.judgement import Verdict
from reproduction.studies.people import contrasts
from reproduction.studies.people.measures import RECORD
from reproduction.studies.people.plan import CLIPPED, LONG, RATIO, RESNET18, UNSEEN, written_contrasts


@pytest.fixture
def changed(change_record):
    return partial(change_record, contrasts, RECORD)


def test_each_set_has_one_primary_contrast_and_names_that_tell_apart():
    for record in UNSEEN:
        written = written_contrasts(record)
        assert [c.primary for c in written] == [True] + [False] * (len(written) - 1)
        assert len({c.name for c in written}) == len(written)
    with pytest.raises(ValueError, match="record must be one of ResNet-18"):
        written_contrasts("published ResNets")


def test_a_record_turned_round_contradicts(changed):
    assert contrasts.judge_primary(LONG).verdict == Verdict.REPRODUCED

    def swapped(table):
        after = table["method"].eq("temperature") & table["loss"].eq("cross-entropy")
        return table.assign(value=table["value"] + after * table["metric"].eq("kl") * 0.2)

    changed(swapped)
    assert contrasts.judge_primary(LONG).verdict == Verdict.NOT_REPRODUCED


def test_a_corrected_interval_excludes_zero_where_the_corrected_p_does():
    for record in (CLIPPED, LONG):
        for row in contrasts.evaluate(record).itertuples():
            interval = contrasts.measure_contrast(record, row.name).interval
            assert (interval.low > 0 or interval.high < 0) == row.significant


def test_the_family_leaves_the_primary_contrast_alone():
    found = contrasts.evaluate(RESNET18)
    assert (found["p_adjusted"] == found["p"])[found["primary"]].all()
    assert (found["p_adjusted"] >= found["p"]).all()
    assert (found["p_adjusted"] > found["p"]).any()


def test_the_ratio_is_of_the_recorded_temperatures(changed):
    before = contrasts.measure_ratio(CLIPPED)
    assert before.verdict == Verdict.REPRODUCED

    def doubled(table):
        rows = table["metric"].eq("temperature") & table["method"].eq("people")
        return table.assign(value=table["value"].where(~rows, 2 * table["value"]))

    changed(doubled)
    after = contrasts.measure_ratio(CLIPPED)
    assert after.measured == pytest.approx(2 * before.measured)
    assert after.verdict == Verdict.NOT_REPRODUCED


def test_the_rule_is_asked_of_every_run_and_can_fail(changed):
    found = contrasts.temperature_hurts()
    assert (found["predicted"] == ((found["labels"] > RATIO**-2) & (found["labels"] < 1))).all()
    assert contrasts.measure_hurts().verdict == Verdict.REPRODUCED
    plainer = int((found["hurts"] == (found["labels"] < 1)).sum())
    assert contrasts.measure_hurts().remark.endswith(f"right of {plainer}")
    changed(lambda table: table.assign(value=table["value"].where(table["metric"] != "kl", -table["value"])))
    assert contrasts.measure_hurts().verdict == Verdict.NOT_REPRODUCED


def test_shares_of_rare_classes_are_judged_from_their_own_side(changed):
    assert contrasts.measure_rare("kl").verdict == contrasts.measure_rare("l2").verdict == Verdict.REPRODUCED
    changed(lambda table: table.assign(value=table["value"].where(table["metric"] != "kl_rare", 0)))
    assert contrasts.measure_rare("kl").verdict == Verdict.NOT_REPRODUCED


def test_contrasts_are_found_by_how_they_end():
    with pytest.raises(ValueError, match="ending must be that of a contrast"):
        contrasts.judge_contrasts("nothing ends so")
    assert len(contrasts.judge_contrasts("squared distance").parts) == len(UNSEEN)


def test_what_came_is_said_by_sign_and_significance():
    evaluated = contrasts.evaluate(LONG)
    found = contrasts.found_table(evaluated)["found"]
    assert found[evaluated["primary"]].tolist() == ["as expected"]
    assert set(contrasts.found_table(evaluated.assign(claimed=-evaluated["claimed"]))["found"]) == {
        "the other way",
        "not significant",
    }


def test_focal_loss_against_cross_entropy_has_a_row_a_set_and_a_column_a_distance():
    found = contrasts.focal_against_cross_entropy({"kl": "KL"})
    kl = contrasts.mean_by_method(LONG, "kl")
    assert found.loc[f"{LONG}, focal 3", "KL"] == kl.loc["focal 3", "none"] - kl.loc["cross-entropy", "temperature"]
