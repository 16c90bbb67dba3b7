"""Intervals of differences where samples come in groups."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy import special

from focal_lib.calibration.logit_sets import LogitSet
from focal_lib.calibration.methods import DEFAULT, Method, build
from focal_lib.tool.evaluation.comparison import differences, hold_out
from reproduction.studies.advice.groups import (
    _as_independent,
    count_outside,
    group_population,
    held_intervals,
    judge_intervals_in_groups,
    sizes_in_words,
)
from reproduction.studies.advice.populations import made_up_population, population_with_gain

FAST = (DEFAULT[0], Method("vector", "nll"))
SEVERAL = ("calibrated", "temperature, unequal classes", "vector")


def losses_of(data):
    log_probs = special.log_softmax(data.logits, axis=1)
    return -log_probs[np.arange(len(data)), data.labels]


@pytest.mark.parametrize("correlation", [0.0, 0.05, 0.2, 0.5])
@pytest.mark.parametrize("truth", SEVERAL)
def test_the_correlation_within_groups_is_what_it_says(truth, correlation):
    grouped = group_population(made_up_population(truth, 3, size=2000), correlation)
    first, second = losses_of(grouped.draw([2] * 100_000, np.random.default_rng(0))).reshape(-1, 2).T
    assert np.corrcoef(first, second)[0, 1] == pytest.approx(correlation, abs=0.015)


def test_nothing_is_common_to_two_groups():
    grouped = group_population(made_up_population("calibrated", 3, size=2000), 0.5)
    losses = losses_of(grouped.draw([1] * 50_000, np.random.default_rng(0)))
    assert np.corrcoef(losses[::2], losses[1::2])[0, 1] == pytest.approx(0, abs=0.02)


@pytest.mark.parametrize("truth", SEVERAL)
def test_samples_of_groups_have_the_truth_of_the_population(truth):
    """Losses of any other probabilities than its own are in the mean those that the population says."""
    population = made_up_population(truth, 3, size=2000)
    grouped = group_population(population, 0.5)
    data = grouped.draw([5] * 40_000, np.random.default_rng(1))
    expected = population.scores(special.log_softmax(population.logits, axis=1))[0]
    assert losses_of(data).mean() == pytest.approx(expected, rel=0.02)
    np.testing.assert_allclose(np.bincount(data.labels) / len(data), population.truth.mean(0), atol=0.01)


def test_calibrated_logits_are_calibrated_over_groups_and_not_within_one():
    grouped = group_population(made_up_population("calibrated", 3, size=2000), 0.5)
    data = grouped.draw([500] * 400, np.random.default_rng(0))
    probs = special.softmax(data.logits, axis=1)
    wrong, doubt = data.labels != probs.argmax(1), 1 - probs.max(1)
    for low, high in ((0.0, 0.05), (0.05, 0.3), (0.3, 0.7)):
        within = (low <= doubt) & (doubt < high)
        assert wrong[within].mean() == pytest.approx(doubt[within].mean(), abs=0.03)
    gaps = np.bincount(data.groups, wrong - doubt) / 500
    assert gaps.std() > 0.1  # of independent labels at most 0.5 / sqrt(500)
    assert gaps.mean() == pytest.approx(0, abs=0.02)


def test_a_draw_without_correlation_is_of_independent_samples():
    population = made_up_population("calibrated", 3, size=100)
    grouped = group_population(population, 0.0)
    assert grouped.alike == 0
    assert sorted(grouped.population.logits[:, 0]) == sorted(population.logits[:, 0])
    data = grouped.draw([3, 1, 2], np.random.default_rng(0))
    assert data.groups.tolist() == [0, 0, 0, 1, 2, 2]


def test_sizes_in_words():
    assert sizes_in_words([150] * 5 + [5] * 150) == "5 of 150, 150 of 5"
    assert sizes_in_words([10] * 150) == "150 of 10"


def test_told_and_not_told():
    """On one draw: each is what `hold_out` of samples with or without groups gives."""
    grouped = group_population(population_with_gain(0.1, 3, size=1000), 0.3)
    told, not_told = judge_intervals_in_groups(grouped, [10] * 30, 0, methods=FAST)
    assert [told, not_told] == judge_intervals_in_groups(grouped, [10] * 30, 0, methods=FAST)
    assert (told["told"], not_told["told"]) == (True, False)
    assert (told["samples"], told["sizes"], told["correlation"]) == (300, "30 of 10", 0.3)
    assert told["intervals"] == not_told["intervals"] == 6
    one, two = (grouped.draw([10] * 30, np.random.default_rng(seed)) for seed in range(2))
    fits = {method: build(*method) for method in FAST}
    with_groups = hold_out(one, two, fits)
    without = hold_out(LogitSet(one.logits, one.labels), LogitSet(two.logits, two.labels), fits)
    pd.testing.assert_frame_equal(differences(_as_independent(with_groups)), differences(without))
    wide, narrow = (differences(each)[["low", "high"]].diff(axis=1)["high"] for each in (with_groups, without))
    assert (wide.dropna() >= narrow.dropna()).mean() > 0.5


@pytest.mark.parametrize(
    ("low", "high", "intervals", "holds", "wrong_side"),
    [
        ([-0.2, -0.2], [0.1, 0.1], 2, True, False),
        ([-0.2, -0.05], [0.1, 0.1], 2, False, False),
        ([0.01, np.nan], [0.1, np.nan], 1, False, True),
    ],
)
def test_intervals_are_held_against_the_truth(low, high, intervals, holds, wrong_side):
    rows = {"method": "temperature", "objective": "nll", "reference": "as given", "metric": ["nll", "brier"]}
    scores = {"as given": (1.0, 0.5), "temperature": (0.9, 0.4)}
    found = held_intervals(pd.DataFrame(rows | {"low": low, "high": high}), scores)
    assert found == {"intervals": intervals, "all hold": holds, "wrong side": wrong_side}


def test_what_leaves_out_the_truth_is_counted_where_there_are_intervals():
    judged = pd.DataFrame(
        {"told": [True] * 10 + [False], "intervals": [2] * 9 + [0, 0], "all hold": [False] + [True] * 10}
    )
    [found] = count_outside(judged, ["told"]).to_dict("records")
    assert (found["runs"], found["wrong"], found["rate"]) == (9, 1, pytest.approx(1 / 9))
    assert found["low"] == pytest.approx(0.00281, abs=1e-5)
    assert found["high"] == pytest.approx(0.48250, abs=1e-5)


def test_bad_input():
    population = made_up_population("calibrated", 3, size=100)
    for correlation in (-0.1, 0.9):
        with pytest.raises(ValueError, match=r"correlation must be .* Got (-0.1|0.9)"):
            group_population(population, correlation)
