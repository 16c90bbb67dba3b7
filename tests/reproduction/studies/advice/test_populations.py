"""Populations: what is right calibrates them, and labels come with their probabilities."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy import special
from scipy.optimize import minimize

from focal_lib.calibration.methods import build
from reproduction.studies.advice.populations import (
    EVENT_MODELS,
    KNOWN_TRUTHS,
    Population,
    made_up_population,
    population_with_gain,
    rare_event_population,
    recorded_population,
    rng_of,
)

NAMES = {
    "temperature": "temperature",
    "temperature, unequal classes": "temperature",
    "overconfident, rarely wrong": "temperature",
    "focal temperature": "focal-temperature",
    "vector": "vector",
}


def given(population):
    return population.scores(special.log_softmax(population.logits, axis=1))


@pytest.mark.parametrize("truth", NAMES)
def test_the_right_method_calibrates(truth):
    """Fitted on many samples it comes near the truth's own scores, which the logits as given do not."""
    population = made_up_population(truth, 3, size=4000)
    best = population.scores(np.log(population.truth))
    data = population.draw(20_000, np.random.default_rng(0))
    fit = build(NAMES[truth]).fit(data.logits, data.labels)
    found = population.scores(fit.predict_log_proba(population.logits))
    assert found[0] - best[0] < 0.1 * (given(population)[0] - best[0])
    assert best[0] < found[0]  # both scores are proper
    assert best[1] < found[1]


def test_a_calibrated_population_is():
    population = made_up_population("calibrated", 5, size=500)
    np.testing.assert_allclose(special.softmax(population.logits, axis=1), population.truth)


def test_labels_are_drawn_with_their_probabilities():
    population = Population("two", np.zeros((2, 3)), np.array([[0.2, 0.3, 0.5], [0.0, 1.0, 0.0]]))
    data = population.draw(40_000, np.random.default_rng(0))
    np.testing.assert_allclose(np.bincount(data.labels) / 40_000, [0.1, 0.65, 0.25], atol=0.01)


@pytest.mark.parametrize("prevalence", [0.01, 0.001])
def test_events_are_as_rare_as_asked_and_the_models_as_far_off(prevalence):
    for model, ratio in zip(EVENT_MODELS, (lambda p: p, lambda p: np.minimum(2.5 * p, 0.999), None), strict=True):
        population = rare_event_population(prevalence, model, size=3000)
        p, said = population.truth[:, 1], special.softmax(population.logits, axis=1)[:, 1]
        assert p.mean() == pytest.approx(prevalence)
        np.testing.assert_allclose(population.truth.sum(1), 1)
        if ratio:
            np.testing.assert_allclose(said, ratio(p))
        else:
            np.testing.assert_allclose(said / (1 - said), 5 * p / (1 - p))


@pytest.mark.parametrize("classes", [2, 5])
@pytest.mark.parametrize("gain", [0.0, 0.0025, 0.2])
def test_a_temperature_gains_what_it_says(gain, classes):
    population = population_with_gain(gain, classes, seed=3, size=1000)
    right = population.scores(np.log(population.truth))[0]
    assert 1 - right / given(population)[0] == pytest.approx(gain, abs=1e-6)

    def nll(inverse):
        return population.scores(special.log_softmax(inverse[0] * population.logits, axis=1))[0]

    least = minimize(nll, [1.0], method="Nelder-Mead", options={"xatol": 1e-8, "fatol": 1e-12}).fun
    assert least == pytest.approx(right, rel=1e-9)


def test_a_recorded_population_is_the_whole_file(tmp_path):
    rng = np.random.default_rng(0)
    parts = {"validation": (rng.normal(size=(30, 3)), rng.integers(0, 3, 30))}
    parts["test"] = (rng.normal(size=(20, 3)), rng.integers(0, 3, 20))
    arrays = {f"{n}_{k}": v for n, (z, y) in parts.items() for k, v in (("logits", z), ("labels", y))}
    np.savez(tmp_path / "logits.npz", **arrays)
    population = recorded_population(tmp_path / "logits.npz", "mine")
    np.testing.assert_array_equal(population.logits, np.concatenate([z for z, _ in parts.values()]))
    np.testing.assert_array_equal(population.truth.argmax(1), np.concatenate([y for _, y in parts.values()]))
    log_probs = special.log_softmax(population.logits, axis=1)
    assert given(population)[0] == pytest.approx(-log_probs[np.arange(50), population.truth.argmax(1)].mean())


def test_two_truths_are_drawn_apart():
    """Decisions of different truths are no pairs: neither populations nor samples are shared."""
    one, other = (made_up_population(truth, 3, size=100) for truth in ("calibrated", "temperature"))
    assert not np.isclose(one.truth, other.truth).any(axis=1).all()
    drawn = [p.draw(50, rng_of(p.name, 3, 50, 0)).logits[:] for p in (one, replace(one, name="two"))]
    assert not np.isclose(*drawn).any(axis=1).all()


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: made_up_population("matrix", 3), f"truth must be one of {', '.join(KNOWN_TRUTHS)}. Got matrix."),
        (lambda: made_up_population("vector", 1), "classes must be at least 2. Got 1"),
        (lambda: population_with_gain(0.3, 3), "gain must be at most 0.2, a share of the NLL. Got 0.3"),
        (lambda: population_with_gain(-0.1, 3), "gain must be a finite number >= 0"),
        (lambda: rare_event_population(0.01, "bold"), f"model must be one of {', '.join(EVENT_MODELS)}. Got bold."),
        (lambda: rare_event_population(1.0, "calibrated"), r"prevalence must lie in \(0, 1\). Got 1.0."),
    ],
)
def test_bad_input(make, said):
    with pytest.raises(ValueError, match=said):
        make()
