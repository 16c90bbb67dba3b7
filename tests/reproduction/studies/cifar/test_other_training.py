"""The same losses and seeds, trained in two ways, together and by seed; one run beside seeds of another way."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from scipy.special import softmax

from focal_lib.metrics.bins import ece
from reproduction.studies.cifar.other_training import compare_by_seed, compare_run_with_seeds, compare_training
from reproduction.studies.shared import over_seeds


@pytest.fixture(scope="module")
def table_of():
    """`over_seeds.measure`, of each run once: it fits six scalings."""
    measured = {}

    def look_up(runs):
        for run in runs:
            if id(run) not in measured:
                measured[id(run)] = run, over_seeds.measure([run])  # the run, so that no other gets its id
        return pd.concat([measured[id(run)][1] for run in runs], ignore_index=True)

    return look_up


@pytest.fixture(scope="module")
def halved(made_results):
    """The same runs with logits half as large, without one of them."""

    def half(part):
        return replace(part, logits=part.logits / 2)

    return [replace(run, test=half(run.test), validation=half(run.validation)) for run in made_results[1:]]


@pytest.fixture(scope="module")
def compared(table_of, made_results, halved):
    runs = {"as they were": made_results, "halved": halved}
    return compare_training({way: table_of(own) for way, own in runs.items()}, runs)


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


def test_nothing_in_common_is_refused(table_of, made_results):
    tables = {"a": table_of(made_results[:1]), "b": table_of(made_results[1:2])}
    with pytest.raises(ValueError, match=r"must have a loss and seed in common. Got none in a, b"):
        compare_training(tables, {"a": made_results[:1], "b": made_results[1:2]})


@pytest.fixture(scope="module")
def measured(table_of, made_results, halved):
    """Seeds of cross-entropy, and seed 1 with halved logits."""
    return table_of(made_results[:4]), table_of(halved[:1])


def test_a_run_has_its_seed_beside_it_and_where_a_further_seed_would_be(made_results, measured):
    seeds, run = measured
    found = compare_run_with_seeds(run, seeds)
    probs = [softmax(own.test.logits.astype(float), -1) for own in made_results[:4]]
    values = [100 * ece(p, own.test.labels) for p, own in zip(probs, made_results, strict=False)]
    row = found.loc["ECE, equal width (%)"]
    half = stats.t.ppf(0.975, 3) * np.std(values, ddof=1) * np.sqrt(1 + 1 / 4)
    assert (row["low"], row["high"]) == pytest.approx((np.mean(values) - half, np.mean(values) + half))
    assert row["there"] == pytest.approx(values[1])
    assert row["change"] == row["here"] - row["there"]
    assert found.loc["error (%)", "change"] == 0
    assert (found["seeds"] == 4).all()
    assert found.loc["T by NLL", "here"] == pytest.approx(found.loc["T by NLL", "there"] / 2, rel=1e-3)
    assert found["inside"]["error (%)"]
    assert not found["inside"]["T by NLL"]
    assert found["beyond"]["T by NLL"]
    assert not found["beyond"]["error (%)"]


def test_a_seed_of_the_same_way_has_no_change_and_lies_inside(table_of, made_results):
    seeds = table_of(made_results[:4])
    found = compare_run_with_seeds(seeds[seeds["seed"] == 2], seeds)
    assert (found["change"] == 0).all()
    assert found["inside"].all()  # of four values none is so far from their mean
    assert not found["beyond"].any()


@pytest.mark.parametrize(
    ("run", "seeds", "told"), [(slice(2), slice(4), "one run. Got 2"), (slice(5, 6), slice(5), "")]
)
def test_a_run_without_its_seeds_is_refused(table_of, made_results, run, seeds, told):
    told = told or r"two runs of focal 3 or more, seed 1 among them\. Got 0"
    with pytest.raises(ValueError, match=told):
        compare_run_with_seeds(table_of(made_results[run]), table_of(made_results[seeds]))


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (lambda t: pd.concat([t, t]), "seeds must have a loss and seed once. Got"),
        (lambda t: pd.concat([t, t.assign(dataset="other")]), "seeds must be of one data set and network. Got 2"),
        (lambda t: t.assign(value=np.nan), "seeds must have every number, finite. Got none for error"),
        (lambda t: t[t["metric"] != "nll"], "seeds must have every number, finite. Got none for NLL"),
    ],
)
def test_seeds_that_are_not_whole_are_refused(table_of, made_results, change, told):
    table = table_of(made_results[:4])
    with pytest.raises(ValueError, match=told):
        compare_run_with_seeds(table[table["seed"] == 1], change(table))


def test_changes_are_paired_by_seed(table_of, made_results, halved):
    """Whatever the order of the rows."""
    there, here = table_of(made_results[1:4]), table_of(halved[:3])
    found = compare_by_seed(here.iloc[::-1], there)
    eces = {}
    for way, runs in (("there", made_results[1:4]), ("here", halved[:3])):
        probs = [softmax(run.test.logits.astype(float), -1) for run in runs]
        eces[way] = [100 * ece(p, run.test.labels) for p, run in zip(probs, runs, strict=True)]
    row = found.loc["ECE, equal width (%)"]
    expected = stats.ttest_rel(eces["here"], eces["there"]).confidence_interval(0.95)
    assert (row["low"], row["high"]) == pytest.approx((expected.low, expected.high))
    assert (row["there"], row["here"]) == pytest.approx(tuple(map(np.mean, eces.values())))
    assert row["change"] == pytest.approx(row["here"] - row["there"])
    assert tuple(found.loc["error (%)", ["change", "low", "high"]]) == (0, 0, 0)
    assert (found["seeds"] == 3).all()


@pytest.mark.parametrize(
    ("here", "there", "told"),
    [
        (slice(0, 2), slice(1, 3), "cross-entropy, seed 0, cross-entropy, seed 1 and cross-entropy, seed 1, cross"),
        (slice(1), slice(1), "the same two seeds or more. Got cross-entropy, seed 0 and cross-entropy, seed 0"),
        (slice(8), slice(8), "must have one loss"),
    ],
    ids=["other seeds", "one seed", "two losses"],
)
def test_runs_without_their_pairs_are_refused(table_of, made_results, here, there, told):
    with pytest.raises(ValueError, match=told):
        compare_by_seed(table_of(made_results[here]), table_of(made_results[there]))
    table = table_of(made_results[:2])
    for other in ({"dataset": "other"}, {"model": "other"}):
        with pytest.raises(
            ValueError, match=r"here and there must be of one data set and network\. Got .* and .*other"
        ):
            compare_by_seed(table, table.assign(**other))
    for name, given in {
        "here": (table.assign(value=np.nan), table),
        "there": (table, table.assign(value=np.nan)),
    }.items():
        with pytest.raises(ValueError, match=f"{name} must have every number, finite"):
            compare_by_seed(*given)
    with pytest.raises(ValueError, match="there must have a loss and seed once"):
        compare_by_seed(table, pd.concat([table, table]))
