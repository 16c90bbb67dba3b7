"""The test of the law: what a record says is judged as planned, on records made up to be right or wrong."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy.special import log_softmax

from focal_lib.calibration.focal_training import SHARPENING, focal_trained_log_probs
from focal_lib.metrics.bins import ece
from focal_lib.tool.focal_training import WITHIN
from reproduction.ledger.judgement import Verdict
from reproduction.studies.law import claims_kk24, judged
from reproduction.studies.law.earlier import OUT, errors
from reproduction.studies.law.plan import CELLS, GAMMAS, SEEDS
from reproduction.studies.shared.recorded import load_recorded, read_written


def made_up(missed=0.0, slope=1.0, cells=CELLS, seeds=SEEDS):
    """A record in which a network of overconfidence G loses 4 points a unit of gamma, and ECE is the absolute gap.

    missed: points by which the predictions fall short; slope: of the truth on the prediction.
    """
    rng = np.random.default_rng(0)
    rows = []
    for cell in cells:
        g = rng.uniform(0, 20)
        for seed in seeds:
            for gamma in (0.0, *GAMMAS):
                own = g - 4 * gamma
                true = slope * own + missed if gamma else own
                row = dict(zip((*judged.CELL, "seed", "gamma"), (*cell.key, seed, gamma), strict=True))
                for part in ("test", "validation"):
                    row |= {f"{part}_error": 20.0, f"{part}_confidence": 80 + true, f"{part}_ece": abs(true)}
                row |= {"added": 4 * gamma, "temperature_ece": 0.1, "deviation": 1.0}
                row |= {"test_n": 1000, "validation_n": 1000}
                row |= {f"{name}_confidence": 80 + own for name in ("plain", "sharper")}
                rows.append(row | {f"{name}_ece": abs(own) for name in ("plain", "sharper")})
    return pd.DataFrame(rows)


@pytest.fixture
def recorded(monkeypatch):
    def put(record):
        runs = judged.judge_runs(record)
        monkeypatch.setattr(claims_kk24, "read_law", lambda: runs)

    return put


CHECKS = {
    name: getattr(claims_kk24, name)
    for name in ("helps_sign", "helps_half", "helps_size", "helps_slope", "helps_choice", "helps_choice_all")
}


@pytest.mark.parametrize("check", CHECKS.values(), ids=CHECKS)
def test_a_record_that_follows_the_law_is_seen_to(check, recorded):
    recorded(made_up())
    assert check().verdict == Verdict.REPRODUCED


@pytest.mark.parametrize("check", [CHECKS["helps_sign"], CHECKS["helps_half"], CHECKS["helps_choice_all"]])
def test_a_record_with_the_opposite_sign_contradicts(check, recorded):
    recorded(made_up(slope=-1.0, missed=20.0))
    assert check().verdict == Verdict.NOT_REPRODUCED


def test_predictions_that_miss_by_more_than_was_expected_contradict(recorded):
    recorded(made_up(missed=4.0))
    assert CHECKS["helps_size"]().verdict == Verdict.NOT_REPRODUCED
    assert claims_kk24.helps_own_gap().verdict == Verdict.REPRODUCED


def test_a_slope_other_than_expected_contradicts(recorded):
    recorded(made_up(slope=0.5))
    assert CHECKS["helps_slope"]().verdict == Verdict.NOT_REPRODUCED


def test_nothing_is_concluded_before_all_networks_are_there(recorded):
    recorded(made_up(seeds=SEEDS[:1]))
    assert {check().verdict for check in CHECKS.values()} == {Verdict.UNDECIDED}


def test_cross_entropy_is_chosen_where_every_gamma_is_predicted_to_harm():
    chosen = judged.choices(judged.judge_runs(made_up()))
    gap = judged.judge_runs(made_up()).groupby([*judged.CELL, "seed"])["cross_entropy"].first().to_numpy()
    np.testing.assert_array_equal(chosen["gamma_law"] == 0, gap < 1)  # gamma .5 takes 2 points


def test_seeds_of_a_cell_count_as_one_value():
    runs = judged.judge_runs(made_up())
    twice = pd.concat([runs, runs.assign(seed=99)])
    once, more = (judged.over_cells(r, "cross_entropy") for r in (runs, twice))
    assert (once.low, once.high) == pytest.approx((more.low, more.high))


def test_cells_of_a_data_set_that_differ_together_widen_the_interval():
    runs = judged.judge_runs(made_up())
    runs["cross_entropy"] += 30 * (runs["dataset"] == "fashion-mnist")
    cells, sets = judged.over_cells(runs, "cross_entropy"), judged.over_data_sets(runs, "cross_entropy")
    assert cells.estimate == pytest.approx(sets.estimate)
    assert sets.high - sets.low > 1.5 * (cells.high - cells.low)


def test_leaving_out_sources_of_one_cell_each_is_the_t_interval_over_cells():
    runs = judged.judge_runs(made_up())
    runs = runs[~judged.sources(runs).duplicated()]
    cells, sets = judged.over_cells(runs, "cross_entropy"), judged.over_data_sets(runs, "cross_entropy")
    assert (sets.low, sets.high) == pytest.approx((cells.low, cells.high))


def test_the_wider_interval_decides_and_the_planned_one_is_told():
    found = claims_kk24.helps_temperature()
    assert found.verdict == Verdict.UNDECIDED
    assert found.over == "5 sources of data"
    assert found.interval.low < -2
    assert "over 30 cells, is [2.437, 9.657]" in found.remark
    assert claims_kk24.helps_own_gap().over == "30 cells"


def test_film_reviews_alone_leave_the_size_of_the_error_open():
    """As kk24.helps_size says: of the other sources every interval is within what is claimed."""
    runs = judged.read_law()
    others = runs[judged.sources(runs) != "film reviews"]
    for of in (judged.over_cells, judged.over_data_sets):
        spans = [of(rows, lambda own: (own["own"] - own["sharper_own"]) ** 2 - 9) for rows in (runs, others)]
        assert spans[0].high > 0 > spans[1].high


def test_the_sharpening_is_the_one_that_fits_the_earlier_runs_best():
    assert errors(pd.read_parquet(OUT)).idxmin() == SHARPENING


def test_the_interval_of_the_tool_holds_in_the_record_as_often_as_it_says():
    runs = judged.read_law()
    taken = runs["cross_entropy_validation_confidence"] - runs["sharper_confidence"]
    of_samples = 196 * np.sqrt(runs["error"] / 100 * (1 - runs["error"] / 100) / runs["validation_n"])
    missed = (runs["test_ece"] - runs["sharper_ece"]).abs()
    assert round((missed <= np.hypot(of_samples, WITHIN * taken)).mean(), 2) == 0.95


def test_the_usual_drop_of_a_gamma_leaves_out_the_cell_itself():
    runs = judged.judge_runs(made_up())
    runs.loc[runs["dataset"] == "cifar100", "own"] += 50
    found = judged.forecasts(runs)["the usual drop of this gamma"] - runs["cross_entropy_validation"]
    others = runs["dataset"] == "mnist-5k"
    assert found[others].mean() > (runs["own"] - runs["cross_entropy_validation"])[others].mean() + 1
    assert np.ptp(found[others & (runs["gamma"] == 3)]) < 2


def test_the_slope_of_the_change_is_not_that_of_what_both_contain():
    runs = judged.judge_runs(made_up())
    nothing = runs.assign(own=runs["cross_entropy"])  # focal loss changes nothing
    assert judged.slope(nothing).estimate > 0.4
    assert judged.slope(nothing, of_change=True).estimate == pytest.approx(0, abs=1e-9)


def test_the_signs_written_before_the_longer_runs_are_those_of_the_law():
    """Of cifar10-long-losses, from the cross-entropy runs of that length that are on record, all of other seeds."""
    changes = {gamma: [] for gamma in (1.0, 2.0, 3.0, 5.0, 7.0)}
    for run in load_recorded("cifar10-long-fresh"):
        if run.spec.is_cross_entropy:
            labels = run.validation.labels
            before = log_softmax(run.validation.logits.astype(np.float64), axis=-1)
            for gamma, found in changes.items():
                after = focal_trained_log_probs(before, gamma)
                found.append(100 * (ece(np.exp(after), labels) - ece(np.exp(before), labels)))
    expected = {"cross-entropy": 0.0} | {f"focal {gamma:g}": np.mean(found) for gamma, found in changes.items()}
    written = [contrast for contrast in read_written("cifar10-long-losses") if contrast.table == "The law"]
    assert len(written) == 6
    for contrast in written:
        ((ours,), (theirs,)) = contrast.ours.losses, contrast.theirs.losses
        assert np.sign(expected[ours] - expected[theirs]) == contrast.claimed
        assert contrast.metric == "ece"
        assert contrast.ours.method == contrast.theirs.method == "none"
