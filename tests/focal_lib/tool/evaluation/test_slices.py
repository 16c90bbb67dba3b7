"""Errors slice by slice: the worst is found, and a small one is no proof."""

import numpy as np
import pytest

from focal_lib.calibration.logit_sets import LogitSet
from focal_lib.calibration.methods import AS_GIVEN, TEMPERATURE, build
from focal_lib.metrics.bins import ece
from focal_lib.metrics.ece_interval import ece_interval_of
from focal_lib.metrics.scores import nll
from focal_lib.tool.evaluation.comparison import Evaluation, hold_out
from focal_lib.tool.evaluation.slices import ALL, by_slice, describe_worst, slice_table


@pytest.fixture(scope="module")
def evaluated(draw_logits):
    """Evaluates sets of these temperatures and sizes as slices of one set tested on."""

    def run(temperatures, sizes, groups=None):
        parts = [draw_logits(n, t, seed=k) for k, (t, n) in enumerate(zip(temperatures, sizes, strict=True))]
        logits, labels = (np.concatenate([getattr(part, name) for part in parts]) for name in ("logits", "labels"))
        codes = np.repeat(np.arange(len(sizes)), sizes)
        test = LogitSet(logits, labels, groups=groups, slices=codes, slice_names=tuple("abcdefghij"[: len(sizes)]))
        return hold_out(draw_logits(300, 1.0, seed=99), test, {TEMPERATURE: build("temperature")}), test

    return run


def test_the_worst_slice_is_found_and_a_small_one_is_undecided(evaluated):
    evaluation, test = evaluated((1.0, 1.0, 3.0, 1.0), (1500, 1500, 600, 15))
    table = by_slice(evaluation)
    assert table["slice"].tolist()[:2] == [ALL, "c"]
    verdicts = table.set_index("slice")["verdict"]
    assert (verdicts["c"], verdicts["d"], verdicts[ALL]) == ("worse", "UNDECIDED", "")
    assert describe_worst(table).startswith("The worst slice is c: its ECE (equal width) is ")
    probs = np.exp(test.logits) / np.exp(test.logits).sum(1, keepdims=True)
    for name, inside in evaluation.slices.items():
        row = table.set_index("slice").loc[name]
        assert row["samples"] == inside.sum()
        assert row["ece"] == pytest.approx(100 * ece(probs[inside], test.labels[inside]))
        assert row["nll"] == pytest.approx(nll(probs[inside], test.labels[inside]))
        assert row["error"] == pytest.approx(100 * (probs.argmax(1) != test.labels)[inside].mean())
    shown = slice_table(table)
    assert shown.index.tolist() == table["slice"].tolist()
    assert shown.loc["c", "against all"] == "worse"


def test_slices_whose_interval_reaches_0_are_sorted_by_their_ece(evaluated):
    table = by_slice(evaluated((1.0,) * 4, (60, 90, 300, 500))[0]).iloc[1:]
    ties = table[(table["low"] == 0) & (table["debiased"] == 0)]
    assert len(ties) > 1
    assert ties["ece"].is_monotonic_decreasing
    assert ties["slice"].tolist() != sorted(ties["slice"])  # by name they were


def test_intervals_of_slices_hold_together(evaluated):
    evaluation, _ = evaluated((1.0, 2.0), (400, 400))
    scores, inside = evaluation.scores[AS_GIVEN], evaluation.slices["b"]
    row = by_slice(evaluation, level=0.9).set_index("slice").loc["b"]
    expected = ece_interval_of(scores.confidence[inside], scores.correct[inside], level=1 - 0.1 / 3)
    assert (row["low"], row["high"]) == pytest.approx((100 * expected.low, 100 * expected.high))


def test_of_calibrated_slices_none_is_worse(evaluated):
    """Ten slices of one model: uncorrected, one or another would stick out now and then."""
    table = by_slice(evaluated((1.0,) * 10, (100,) * 10)[0])
    assert not (table["verdict"] == "worse").any()
    assert describe_worst(table).startswith("No slice is shown to be worse calibrated than the whole")


def test_slices_over_groups(evaluated):
    table = by_slice(evaluated((1.0, 3.0), (400, 90), groups=np.arange(490) // 10)[0]).set_index("slice")
    assert table.loc["a", "interval"] == "inverted test over groups"
    assert table.loc["b", "interval"] == "no interval: too few groups"
    assert table.loc["b", "verdict"] == "UNDECIDED"
    with pytest.raises(ValueError, match="samples must have slices"):
        by_slice(Evaluation({}, {}, {}, {}, {}, n_fit=1, n_test=1, n_classes=2, unseen=()))
