"""How often the advice finds what there is to gain."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy import special
from scipy.optimize import minimize

from focal_lib.metrics.intervals import exact_binomial_ends
from reproduction.studies.advice.power import GAINING, count_advised, population_with_gain


def least_nll(population):
    """After the best temperature, by another way: a minimiser without bounds, in 1 / T."""

    def nll(inverse):
        return population.scores(special.log_softmax(inverse[0] * population.logits, axis=1))[0]

    return minimize(nll, [1.0], method="Nelder-Mead", options={"xatol": 1e-8, "fatol": 1e-12}).fun


@pytest.mark.parametrize("classes", [2, 5])
@pytest.mark.parametrize("gain", [0.0, 0.0025, 0.2])
@pytest.mark.parametrize("gaining", GAINING)
def test_it_gains_what_it_says(gaining, gain, classes):
    population = population_with_gain(gaining, gain, classes, seed=3, size=1000)
    given = population.scores(special.log_softmax(population.logits, axis=1))[0]
    right = population.scores(np.log(population.truth))[0]
    before = given if gaining == "temperature" else least_nll(population)
    assert 1 - right / before == pytest.approx(gain, abs=1e-6)
    if gaining == "temperature":
        assert least_nll(population) == pytest.approx(right, rel=1e-9)


def test_each_is_drawn_apart():
    one, two, three = (
        population_with_gain(*of, 3, seed=0, size=50).truth
        for of in (("temperature", 0.1), ("vector", 0.1), ("vector", 0.2))
    )
    assert not np.isclose(one, two).any()
    np.testing.assert_array_equal(two, three)  # of one seed the truth stays, what is distorted differs


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (("isotonic", 0.1, 3), "gaining must be one of temperature, vector. Got isotonic"),
        (("vector", 0.3, 3), "gain must be at most 0.2, a share of the NLL. Got 0.3"),
        (("vector", -0.1, 3), "gain must be a finite number >= 0"),
        (("vector", 0.1, 1), "classes must be at least 2"),
    ],
)
def test_bad_input(given, said):
    with pytest.raises(ValueError, match=said):
        population_with_gain(*given)


def test_what_was_advised_is_counted():
    advised = ["as given", "temperature", "vector", "focal-temperature by adaptive-ece"]
    scores = {"nll: as given": 1.0, "brier: as given": 0.5, "relevant": 0.005, "gain": 0.01, "samples": 500}
    scores |= {"nll: temperature": [0.99, 0.996, 1.1, 1.1], "brier: temperature": [0.6, 0.49, 0.6, 0.6]}
    scores |= {"nll: vector": [0.99, 0.99, 1.1, 1.1], "brier: vector": [0.6, 0.49, 0.6, 0.5]}
    rows = pd.concat([pd.DataFrame({"gaining": kind, "advised": advised, **scores}) for kind in GAINING])
    found = count_advised(rows).set_index("gaining")
    assert found["advised"].to_dict() == {"temperature": 3, "vector": 1}
    assert found["worth it"].to_dict() == {"temperature": 0.5, "vector": 0.5}
    low, high = exact_binomial_ends(1, 4, 0.025)
    values = found.loc["vector", ["runs", "rate", "low", "high"]].tolist()
    assert values == [4, 0.25, pytest.approx(low), pytest.approx(high)]
