"""The same losses and seeds, trained in two ways."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.special import softmax

from focal_lib.metrics.bins import ece
from focal_lib.results import over_seeds
from focal_lib.results.other_training import compare_training


@pytest.fixture(scope="module")
def halved(made_results):
    """The same runs with logits half as large, without one of them."""

    def half(part):
        return replace(part, logits=part.logits / 2)

    return [replace(run, test=half(run.test), validation=half(run.validation)) for run in made_results[1:]]


@pytest.fixture(scope="module")
def compared(made_results, halved):
    runs = {"as they were": made_results, "halved": halved}
    return compare_training({way: over_seeds.measure(own) for way, own in runs.items()}, runs)


def test_means_are_over_the_seeds_that_both_have(made_results, halved, compared):
    dropped = made_results[0].spec
    for loss in {run.spec.label for run in made_results}:
        kept = [run for run in made_results if run.spec.label == loss and run.spec != dropped]
        row = compared.loc[loss, "as they were"]
        assert row["seeds"] == len(kept) == compared.loc[loss, "halved"]["seeds"]
        values = [100 * ece(softmax(run.test.logits.astype(float), -1), run.test.labels) for run in kept]
        assert row["ECE (%)"] == pytest.approx(np.mean(values))


def test_half_the_logits_have_half_the_temperature_and_the_same_error(compared):
    for loss in compared.index.get_level_values("loss").unique():
        one, two = compared.loc[loss, "as they were"], compared.loc[loss, "halved"]
        assert two["T by ECE"] == pytest.approx(one["T by ECE"] / 2, abs=0.11)  # in steps of 0.1
        assert two["error (%)"] == one["error (%)"]
        assert two["confidence - accuracy (points)"] < one["confidence - accuracy (points)"]


def test_nothing_in_common_is_refused(made_results):
    tables = {"a": over_seeds.measure(made_results[:1]), "b": over_seeds.measure(made_results[1:2])}
    with pytest.raises(ValueError, match=r"must have a loss and seed in common. Got none in a, b"):
        compare_training(tables, {"a": made_results[:1], "b": made_results[1:2]})
