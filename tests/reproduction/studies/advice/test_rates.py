"""How often the advice is wrong."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy import special

from focal_lib.calibration.methods import DEFAULT, build
from focal_lib.tool.evaluation.recommendation import Advice
from reproduction.studies.advice import rates
from reproduction.studies.advice.rates import (
    ADVICE_ERRORS,
    KNOWN_TRUTHS,
    Population,
    count_advice_errors,
    judge_advice,
    made_up_population,
    recorded_population,
)

NAMES = {
    "temperature": "temperature",
    "temperature, unequal classes": "temperature",
    "overconfident, rarely wrong": "temperature",
    "focal temperature": "focal-temperature",
    "vector": "vector",
}
FAST = (DEFAULT[0], DEFAULT[-1])


@pytest.mark.parametrize("truth", NAMES)
def test_the_right_method_calibrates(truth):
    """Fitted on many samples it comes near the truth's own scores, which the logits as given do not."""
    population = made_up_population(truth, 3, size=4000)
    best = population.scores(np.log(population.truth))
    data = population.draw(20_000, np.random.default_rng(0))
    fit = build(NAMES[truth]).fit(data.logits, data.labels)
    found = population.scores(fit.predict_log_proba(population.logits))
    given = population.scores(special.log_softmax(population.logits, axis=1))
    assert found[0] - best[0] < 0.1 * (given[0] - best[0])
    assert best[0] < found[0]  # both scores are proper
    assert best[1] < found[1]


def test_a_calibrated_population_is():
    population = made_up_population("calibrated", 5, size=500)
    np.testing.assert_allclose(special.softmax(population.logits, axis=1), population.truth)


def test_labels_are_drawn_with_their_probabilities():
    population = Population("two", np.zeros((2, 3)), np.array([[0.2, 0.3, 0.5], [0.0, 1.0, 0.0]]))
    data = population.draw(40_000, np.random.default_rng(0))
    np.testing.assert_allclose(np.bincount(data.labels) / 40_000, [0.1, 0.65, 0.25], atol=0.01)


def test_a_recorded_population_is_the_whole_file(tmp_path):
    rng = np.random.default_rng(0)
    parts = {"validation": (rng.normal(size=(30, 3)), rng.integers(0, 3, 30))}
    parts["test"] = (rng.normal(size=(20, 3)), rng.integers(0, 3, 20))
    np.savez(
        tmp_path / "logits.npz",
        **{f"{n}_{k}": v for n, (z, y) in parts.items() for k, v in (("logits", z), ("labels", y))},
    )
    population = recorded_population(tmp_path / "logits.npz", "mine")
    np.testing.assert_array_equal(population.logits, np.concatenate([z for z, _ in parts.values()]))
    np.testing.assert_array_equal(population.truth.argmax(1), np.concatenate([y for _, y in parts.values()]))
    log_probs = special.log_softmax(population.logits, axis=1)
    expected = -log_probs[np.arange(50), population.truth.argmax(1)].mean()
    assert population.scores(log_probs)[0] == pytest.approx(expected)


def test_a_decision_is_repeatable_and_right_where_much_is_to_gain():
    population = made_up_population("temperature", 3, size=2000)
    one, two = (judge_advice(population, 2000, 5, methods=FAST) for _ in range(2))
    assert one == two
    assert one["advised"] == "temperature"
    assert one["nll: temperature"] < one["nll: as given"]
    counted = count_advice_errors(pd.DataFrame([one]))
    assert not counted["wrong"].any()
    assert set(counted["error"]) == set(ADVICE_ERRORS)


def test_intervals_are_held_against_the_truth():
    scores = {"as given": (1.0, 0.5), "temperature": (0.9, 0.4)}
    rows = {"method": "temperature", "objective": "nll", "reference": "as given", "metric": ["nll", "brier"]}

    def found(low, high):
        return rates._coverage(pd.DataFrame(rows | {"low": low, "high": high}), scores)

    assert found([-0.2, -0.2], [0.1, 0.1]) == {"intervals": 2, "all hold": True, "wrong side": False}
    assert found([-0.2, -0.05], [0.1, 0.1]) == {"intervals": 2, "all hold": False, "wrong side": False}
    assert found([0.01, np.nan], [0.1, np.nan]) == {"intervals": 1, "all hold": False, "wrong side": True}
    real = judge_advice(made_up_population("temperature", 3, size=1000), 500, 0, methods=FAST)
    assert real["intervals"] == 6
    by_ece = judge_advice(made_up_population("temperature", 3, size=500), 200, 0, methods=DEFAULT[2:])
    assert by_ece["intervals"] == 6  # of a first method whose label is not its name


def test_two_truths_are_drawn_apart():
    """Decisions of different truths are no pairs: neither populations nor samples are shared."""
    one, other = (made_up_population(truth, 3, size=100) for truth in ("calibrated", "temperature"))
    assert not np.isclose(one.truth, other.truth).any(axis=1).all()
    two = replace(one, name="two")
    scores = [judge_advice(p, 50, 0, methods=FAST[:1])["nll: temperature"] for p in (one, two)]
    assert abs(scores[0] - scores[1]) > 1e-6


def test_wrong_advice_is_counted(monkeypatch):
    """Leaving alone what has a temperature of 1.5 is an error."""
    monkeypatch.setattr(rates, "advise", lambda *_, **__: Advice(None, ""))
    decision = judge_advice(made_up_population("temperature", 3, size=1000), 1000, 0, methods=FAST)
    counted = count_advice_errors(pd.DataFrame([decision])).set_index("error")["wrong"]
    assert counted.to_dict() == {"worse": 0, "worse at all": 0, "harms": 0, "misses": 0, "leaves alone": 1}


def row(advised, **nll):
    scores = {"as given": 1.0, "temperature": 0.9, "vector": 0.9} | {
        name.replace("_", " "): v for name, v in nll.items()
    }
    values = {f"{kind}: {name}": v for kind in ("nll", "brier") for name, v in scores.items()}
    return {"truth": "t", "classes": 2, "samples": 9, "relevant": 0.01, "advised": advised} | values


@pytest.mark.parametrize(
    ("decision", "errors"),
    [
        (row("temperature"), set()),
        (row("vector"), set()),
        (row("vector", vector=0.905), {"worse at all"}),
        (row("vector", vector=0.92), {"worse", "worse at all", "misses"}),
        (row("vector", vector=1.02), {"worse", "worse at all", "harms", "misses"}),
        (row("temperature", vector=0.895), set()),
        (row("temperature", vector=0.88), {"misses"}),
        (row("temperature", temperature=1.02, vector=1.0), {"harms", "misses"}),
        (row("as given"), {"leaves alone"}),
        (row("as given", as_given=0.9), set()),
        (row("temperature", vector=0.5) | {"brier: vector": 0.91}, set()),
    ],
)
def test_errors_are_as_defined(decision, errors):
    counted = count_advice_errors(pd.DataFrame([decision]))
    assert set(counted.loc[counted["wrong"] == 1, "error"]) == errors


def test_intervals_are_binomial():
    decisions = pd.DataFrame([row("as given"), *[row("temperature")] * 9])
    found = count_advice_errors(decisions, by=["truth"]).set_index("error").loc["leaves alone"]
    assert (found["runs"], found["wrong"], found["rate"]) == (10, 1, 0.1)
    assert found["low"] == pytest.approx(0.00253, abs=1e-5)
    assert found["high"] == pytest.approx(0.44502, abs=1e-5)


def test_bad_input():
    with pytest.raises(ValueError, match=f"truth must be one of {', '.join(KNOWN_TRUTHS)}. Got matrix."):
        made_up_population("matrix", 3)
    with pytest.raises(ValueError, match=r"classes must be at least 2. Got 1"):
        made_up_population("vector", 1)
