"""What following the advice costs."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy import special

from focal_lib.calibration.methods import DEFAULT
from focal_lib.tool.evaluation.recommendation import Advice
from reproduction.studies.advice import regret
from reproduction.studies.advice.populations import made_up_population, rare_event_population
from reproduction.studies.advice.regret import (
    ADVICE,
    REFUSED,
    WITHOUT_PRIOR,
    judge_advice,
    judge_expectations,
    kind_of,
    mean_regrets,
    regrets_of,
)

FAST = DEFAULT[:1]


def test_a_decision_is_repeatable_and_right_where_much_is_to_gain():
    population = made_up_population("temperature", 3, size=2000)
    one, two = (judge_advice(population, 1000, 5, methods=FAST) for _ in range(2))
    assert one == two
    assert one["advised"] == "temperature"
    given = population.scores(special.log_softmax(population.logits, axis=1))
    assert (one["nll: as given"], one["brier: as given"]) == given
    best = population.scores(np.log(population.truth))[0]
    assert best < one["nll: temperature"] < best + 0.1 * (given[0] - best)
    assert one[f"nll: {WITHOUT_PRIOR}"] == pytest.approx(one["nll: temperature"], rel=1e-3)
    [found] = regrets_of(pd.DataFrame([one])).to_dict("records")
    assert found["kind"] == "made up, miscalibrated"
    assert found["as given"] > 5 > 0.1 > found[ADVICE]


def test_following_wrong_advice_costs(monkeypatch):
    """Leaving alone what has a temperature of 1.5 costs what the logits as given lose."""
    monkeypatch.setattr(regret, "advise", lambda *_: Advice(None, ""))
    decision = judge_advice(made_up_population("temperature", 3, size=1000), 500, 0, methods=FAST)
    [found] = regrets_of(pd.DataFrame([decision])).to_dict("records")
    assert found[ADVICE] == found["as given"] > 5
    assert not found["harms"]


def test_too_few_events_are_refused_and_do_not_count():
    decision = judge_advice(rare_event_population(0.001, "calibrated", size=500), 100, 0)
    assert decision == {
        "truth": "0.1 % events, calibrated",
        "classes": 2,
        "samples": 100,
        "seed": 0,
        "errors": 0,
        "advised": REFUSED,
    }
    assert len(regrets_of(pd.DataFrame([decision, row("temperature")]))) == 1


def row(advised, nll=(1.0, 0.8, 0.9), p=(0.5, 0.5, 0.5), truth="calibrated", samples=100):
    labels = ("as given", "temperature", "vector")
    found = {"truth": truth, "classes": 2, "samples": samples, "seed": 0, "errors": 20, "advised": advised}
    found |= {f"nll: {label}": value for label, value in zip(labels, nll, strict=True)}
    return found | {f"p: {label}": value for label, value in zip(labels, p, strict=True)} | {f"nll: {WITHOUT_PRIOR}": 2}


def test_regret_is_in_per_cent_of_the_best():
    [found] = regrets_of(pd.DataFrame([row("vector")])).to_dict("records")
    of_rules = [found[rule] for rule in ("as given", "always a temperature", WITHOUT_PRIOR, ADVICE)]
    assert of_rules == pytest.approx([25, 0, 150, 12.5])


@pytest.mark.parametrize(
    ("decision", "harms", "shown_off", "another_not", "costs"),
    [
        (row("temperature"), False, False, False, np.nan),
        (row("vector", nll=(1.0, 0.8, 1.004)), False, False, False, np.nan),
        (row("vector", nll=(1.0, 0.8, 1.006)), True, False, False, np.nan),
        (row("temperature", p=(0.01, 0.01, 0.01)), False, True, False, np.nan),
        (row("temperature", p=(0.01, 0.01, 0.2)), False, True, True, 12.5),
        (row("temperature", p=(0.2, 0.01, np.nan)), False, True, True, 25),
        (row("vector", p=(0.2, 0.2, 0.01)), False, True, True, 100 * (0.8 / 0.9 - 1)),
    ],
)
def test_errors_are_as_defined(decision, harms, shown_off, another_not, costs):
    [found] = regrets_of(pd.DataFrame([decision])).to_dict("records")
    assert (found["harms"], found["shown off"], found["another not"]) == (harms, shown_off, another_not)
    assert found["costs"] == pytest.approx(costs, nan_ok=True)


def test_means_and_expectations():
    bold = row("vector", truth="vector", samples=500)
    decisions = [row("temperature"), row("temperature"), bold, bold, row("as given", samples=900)]
    regrets = regrets_of(pd.DataFrame(decisions))
    means = mean_regrets(regrets, ["samples"]).set_index("samples")
    assert means["decisions"].to_dict() == {100: 2, 500: 2, 900: 1}
    assert means.loc[500, ["always a temperature", ADVICE, "more", "more high"]].tolist() == [
        0,
        *[pytest.approx(12.5)] * 3,
    ]
    came = judge_expectations(regrets).set_index(["expectation", "samples"])["came"].to_dict()
    more, calibrated = "above always a temperature", "on calibrated models"
    assert came == {
        (more, 100): "reached",
        (more, 500): "not reached",
        (more, 900): "open",  # one decision has no interval
        (calibrated, 100): "reached",
        (calibrated, 900): "open",
    }


def test_kinds():
    kinds = ["calibrated", "vector", "calibrated, rarely wrong", "1 % events, calibrated", "CIFAR-10, cross-entropy"]
    assert [kind_of(truth) for truth in kinds] == [
        "calibrated",
        "made up, miscalibrated",
        "calibrated, rarely wrong",
        "rare events, calibrated",
        "recorded networks",
    ]
