"""Very confident predictions and shared mistakes, against sample by sample."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import softmax

from reproduction.engine.store import Logits
from reproduction.studies.epochs import confident


@pytest.fixture(scope="module")
def alike(made_results):
    """Cross-entropy and gamma 3 of seeds 0 and 1, with the same test labels in a seed."""
    return [replace(r, test=Logits(r.test.logits, made_results[r.spec.seed].test.labels)) for r in made_results[:2]] + [
        replace(r, test=Logits(r.test.logits, made_results[r.spec.seed].test.labels)) for r in made_results[4:6]
    ]


@given(st.integers(0, 10_000), st.floats(0.1, 0.999), st.floats(0.2, 5))
def test_share_above_against_counting(seed, least, temperature):
    rng = np.random.default_rng(seed)
    part = Logits(rng.normal(0, 3, (20, 3)).astype(np.float32), rng.integers(0, 3, 20))
    above = right = 0
    for logits, label in zip(part.logits.astype(float), part.labels, strict=True):
        p = softmax(logits / temperature)
        above += p.max() >= least
        right += p.max() >= least and p.argmax() == label
    share, accuracy = confident.share_above(part, least, temperature)
    assert share == above / 20
    assert accuracy == pytest.approx(right / above) if above else np.isnan(accuracy)


def test_a_confidence_of_exactly_the_threshold_counts():
    assert confident.share_above(Logits(np.zeros((2, 2)), np.array([0, 1])), 0.5) == (1.0, 0.5)


def test_shares_have_both_stages_and_the_temperature_by_ece(alike):
    frame = confident.confident_shares(alike)
    assert frame["stage"].tolist() == ["before", "after"] * 4
    assert (frame[frame["stage"] == "before"]["temperature"] == 1).all()
    last = frame.iloc[-1]
    assert (last["share"], last["right"]) == pytest.approx(
        confident.share_above(alike[-1].test, confident.CONFIDENT, last["temperature"]), nan_ok=True
    )
    fitted = confident.compare_scaling(alike, [confident.AS_M20])["temperature"].iloc[-1]
    assert last["temperature"] == fitted


def test_the_table_ends_with_the_papers(alike):
    table = confident.beside_table6(confident.confident_shares(alike))
    assert list(table.index[:2]) == ["cross-entropy", "focal 3"]
    assert table.loc["focal, M20, ResNet-50"].tolist() == [46.31, 99.57, 14.27, 99.93]


def test_agreed_samples_are_those_that_all_have_right_or_wrong(alike):
    pair = [alike[0], alike[2]]
    right, wrong = confident.agreed(pair, True), confident.agreed(pair, False)
    for sample in range(300):
        verdicts = {bool(run.test.logits[sample].argmax() == run.test.labels[sample]) for run in pair}
        assert (sample in right) == (verdicts == {True})
        assert (sample in wrong) == (verdicts == {False})


def test_other_test_samples_are_refused(alike):
    with pytest.raises(ValueError, match="same test samples"):
        confident.agreed(alike, True)
    with pytest.raises(ValueError, match="Got none"):
        confident.agreed([], True)


def test_confidence_where_agreed_is_of_one_seed_at_a_time(alike):
    frame = confident.confidence_where_agreed(alike)
    assert len(frame) == 2 * 2 * 2 * 2
    where = confident.agreed([alike[1], alike[3]], False)
    row = frame[(frame["gamma"] == 3) & (frame["seed"] == 1) & (frame["kind"] == "wrong")].iloc[0]
    assert (row["stage"], row["samples"]) == ("before", len(where))
    assert row["confidence"] == pytest.approx(
        np.mean([softmax(alike[3].test.logits[i].astype(float)).max() for i in where])
    )
