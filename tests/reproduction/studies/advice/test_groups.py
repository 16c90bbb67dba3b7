"""Advice on samples in groups."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy import special

from focal_lib.calibration.logit_sets import LogitSet
from focal_lib.calibration.methods import DEFAULT, build
from focal_lib.tool.evaluation.comparison import differences, hold_out
from focal_lib.tool.evaluation.recommendation import advise
from reproduction.studies.advice.groups import (
    GROUP_ERRORS,
    _as_independent,
    count_group_errors,
    group_population,
    judge_advice_in_groups,
    mark_group_errors,
    sizes_in_words,
)
from reproduction.studies.advice.power import population_with_gain
from reproduction.studies.advice.rates import made_up_population

FAST = (DEFAULT[0], DEFAULT[-1])
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


def test_decisions_told_and_not_told():
    """On one draw: the scores are the same, and each is what `hold_out` of samples with or without groups gives."""
    grouped = group_population(population_with_gain("temperature", 0.1, 3, size=1000), 0.3)
    told, not_told = judge_advice_in_groups(grouped, [10] * 30, 0, methods=FAST)
    again = judge_advice_in_groups(grouped, [10] * 30, 0, methods=FAST)
    assert [told, not_told] == again
    assert (told["told"], not_told["told"]) == (True, False)
    same = [name for name in told if name.startswith(("nll", "brier")) or name in ("truth", "samples", "sizes")]
    assert [told[name] for name in same] == [not_told[name] for name in same]
    assert (told["samples"], told["sizes"], told["correlation"]) == (300, "30 of 10", 0.3)
    one, two = (grouped.draw([10] * 30, np.random.default_rng(seed)) for seed in range(2))
    fits = {method: build(*method) for method in FAST}
    with_groups = hold_out(one, two, fits)
    without = hold_out(LogitSet(one.logits, one.labels), LogitSet(two.logits, two.labels), fits)
    forgotten = _as_independent(with_groups)
    pd.testing.assert_frame_equal(differences(forgotten), differences(without))
    assert advise(forgotten, differences(forgotten)) == advise(without, differences(without))
    wide, narrow = (differences(each)[["low", "high"]].diff(axis=1)["high"] for each in (with_groups, without))
    assert (wide.dropna() >= narrow.dropna()).mean() > 0.5


def row(advised, *, intervals=2, holds=True, **nll):
    scores = {"as given": 1.0, "temperature": 0.9, "vector": 0.9} | {
        name.replace("_", " "): v for name, v in nll.items()
    }
    values = {f"{kind}: {name}": v for kind in ("nll", "brier") for name, v in scores.items()}
    decided = {"correlation": 0.2, "told": True, "relevant": 0.01, "advised": advised}
    return decided | {"intervals": intervals, "all hold": holds} | values


@pytest.mark.parametrize(
    ("decision", "errors"),
    [
        (row("temperature"), {}),
        (row("as given"), {"better left"}),
        (row("temperature", temperature=1.001), {"worse at all", "better left"}),
        (row("temperature", temperature=1.02, vector=1.0), {"worse at all", "worse", "better left"}),
        (row("vector", vector=0.92), {"worse", "better left"}),
        (row("temperature", holds=False), {"truth outside"}),
        (row("as given", temperature=1.1, vector=1.1), {}),
    ],
)
def test_errors_are_as_defined(decision, errors):
    [marks] = mark_group_errors(pd.DataFrame([decision])).to_dict("records")
    assert {name for name, made in marks.items() if made == 1} == set(errors)


def test_errors_are_counted_where_they_can_be_made():
    decisions = pd.DataFrame(
        [row("as given"), row("temperature", intervals=0), row("as given", temperature=1.1, vector=1.1, holds=False)]
    )
    counted = count_group_errors(decisions).set_index("error")
    assert list(counted.index) == list(GROUP_ERRORS)
    assert counted["runs"].tolist() == [3, 3, 2, 2]
    assert counted["wrong"].tolist() == [0, 0, 1, 1]
    assert counted.loc["better left", "low"] == pytest.approx(0.01258, abs=1e-5)


def test_bad_input():
    population = made_up_population("calibrated", 3, size=100)
    for correlation in (-0.1, 0.9):
        with pytest.raises(ValueError, match=r"correlation must be .* Got (-0.1|0.9)"):
            group_population(population, correlation)
