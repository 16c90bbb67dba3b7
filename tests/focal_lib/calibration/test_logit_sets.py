"""Logits of one's own: every mistake with its remedy, what may be given, what is fitted and tested on."""

import re

import numpy as np
import pandas as pd
import pytest
import torch
from scipy.special import log_softmax, softmax

from focal_lib.calibration.calibrators.temperature import TemperatureScaling
from focal_lib.calibration.logit_sets import (
    MISSING,
    LogitSet,
    SelectedSamples,
    as_logits,
    fit_and_test_sets,
    floor_of_zeros,
    raise_zeros,
    split,
)
from focal_lib.tool.inputs.logits_file import read_logits

RNG = np.random.default_rng(0)
Z = RNG.normal(size=(40, 5)) * 3
Y = RNG.integers(0, 5, 40)


@pytest.mark.parametrize(
    ("logits", "labels", "given", "message"),
    [
        (softmax(Z, -1), Y, "logits", r"look like probabilities.*--given probs"),
        (softmax(Z, -1), Y, "log-probs", r"look like probabilities.*--given probs"),
        (Z, Y, "probs", r"given as probabilities.*must lie in \[0, 1\]"),
        (Z, Y, "log-probs", r"given as log-probabilities.*--given logits"),
        (Z, Y, "odds", r"given must be one of logits, log-probs, probs\. Got 'odds'"),
        (Z, np.eye(5, dtype=int)[Y], "logits", r"one-hot: give the class numbers"),
        (Z, np.where(Y == 0, 5, Y), "logits", r"count from 1 to 5: give labels - 1"),
        (Z, Y[:, None], "logits", r"give labels\[:, 0\]"),
        (Z, Y[:9], "logits", r"labels must have shape \(n,\) = \(40,\). Got \(9,\)"),
        (Z, Y + 0.5, "logits", "labels must be integers"),
        (np.where(Z > 5, np.nan, Z) * np.inf, Y, "logits", "logits must be finite"),
        (np.where(Z.min() == Z, -np.inf, log_softmax(Z, -1)), Y, "log-probs", "give the probabilities, --given probs"),
        (Z[None], Y, "logits", r"numbers of shape \(n, K\).*Got \(1, 40, 5\) and labels \(40,\)"),
        (Z[0], Y, "logits", r"labels must have the shape of the scores, \(5,\). Got \(40,\)"),
    ],
)
def test_mistakes_name_their_remedy(logits, labels, given, message):
    with pytest.raises(ValueError, match=message):
        read_logits((logits, labels), given)


def test_certain_probabilities_have_finite_logits():
    assert np.isfinite(as_logits(np.eye(5, dtype=np.float32)[Y], "probs")).all()


def test_what_may_be_given():
    pair, tensors = (Z, Y), (torch.from_numpy(Z).requires_grad_(), torch.from_numpy(Y))
    for data in (
        pair,
        tensors,
        [Z.tolist(), Y.tolist()],
        (pd.DataFrame(Z), pd.Series(Y)),
        LogitSet(Z, Y),
        {"all": pair},
    ):
        (found,) = read_logits(data).values()
        np.testing.assert_array_equal(found.logits, Z)
        np.testing.assert_array_equal(found.labels, Y)
    half = read_logits((torch.from_numpy(Z).bfloat16(), Y))["all"]
    np.testing.assert_allclose(half.logits, Z, rtol=0.01)
    assert {name: len(part) for name, part in read_logits((pair, (Z[:9], Y[:9]))).items()} == {
        "validation": 40,
        "test": 9,
    }
    read = read_logits((pair, pair))
    assert all(read_logits(read)[name] is part for name, part in read.items())
    probs = read_logits((softmax(Z, -1), Y), "probs")["all"]
    np.testing.assert_allclose(softmax(probs.logits, -1), softmax(Z, -1))
    with pytest.raises(ValueError, match="test labels must have shape"):
        read_logits((pair, (Z, Y[:9])))
    for data in (Z, {"train": pair}, None):
        with pytest.raises(TypeError, match=r"must be the path of a file, \(logits, labels\)"):
            read_logits(data)


def test_split_is_a_partition_by_seed():
    whole = LogitSet(Z, Y)
    parts = split(whole, 0.25, seed=3)
    assert [len(parts[name]) for name in ("validation", "test")] == [10, 30]
    logits = np.concatenate([parts["validation"].logits, parts["test"].logits])
    np.testing.assert_array_equal(np.sort(logits[:, 0]), np.sort(Z[:, 0]))
    np.testing.assert_array_equal(parts["test"].labels, split(whole, 0.25, seed=3)["test"].labels)
    for share in (0.001, 1.0, float("nan")):
        with pytest.raises(ValueError, match="leave samples on both sides"):
            split(whole, share)


def test_samples_of_a_memory_map_stay_on_disk(tmp_path):
    np.save(tmp_path / "z.npy", Z.astype(np.float16))
    np.save(tmp_path / "y.npy", Y)
    parts = split(read_logits(tmp_path / "z.npy", labels=tmp_path / "y.npy")["all"], 0.5, 3)
    assert all(isinstance(part.logits, SelectedSamples) for part in parts.values())
    read = [np.asarray(part.logits[0 : len(part)]) for part in parts.values()]
    in_memory = split(LogitSet(Z.astype(np.float16), Y), 0.5, 3)
    for found, wanted in zip(read, in_memory.values(), strict=True):
        np.testing.assert_array_equal(found, wanted.logits)
    again = parts["test"].take(np.array([4, 0]))
    np.testing.assert_array_equal(again.logits[0:2], in_memory["test"].logits[[0, 4]])
    fit, same = (TemperatureScaling().fit(p["test"].logits, p["test"].labels) for p in (parts, in_memory))
    assert fit.temperature_ == same.temperature_


def test_a_bad_number_far_inside_a_large_set_is_found(monkeypatch):
    monkeypatch.setattr("focal_lib.metrics.samples.CHUNK_SIZE", 10)
    z = Z.copy()
    z[37, 2] = np.nan
    with pytest.raises(ValueError, match=r"must be finite\. Got NaN or infinite numbers, first in sample 37"):
        read_logits((z, Y))


@pytest.mark.parametrize(
    ("scores", "remedy"),
    [
        (100 * softmax(Z, -1), "are they percentages? Then divide by 100"),
        (Z, "for logits say --given logits"),
        (0.98 * softmax(Z, -1), "every sample has the sum 0.98: divide by it, if every column is a class"),
        (np.c_[softmax(Z, -1), Y == 0], "is every column a class?"),
        (np.round(softmax(Z, -1), 2), "are they rounded, to 2 decimals? Then give more digits, or the logits."),
        (np.round(np.c_[softmax(Z, -1), Y == 0], 2), "is every column a class?"),
    ],
)
def test_what_numbers_may_be_that_are_no_probabilities(scores, remedy):
    with pytest.raises(ValueError, match=rf"whose sum is off by [\d.]+: {re.escape(remedy)}[^?.]*\.?$"):
        read_logits((scores, Y), "probs")
    assert len(read_logits((softmax(Z, -1), Y), "probs")["all"]) == 40


def test_what_cannot_be_fitted_and_tested_on_is_refused_before_work_begins():
    one_class = LogitSet(Z, np.zeros(40, dtype=np.int64))
    with pytest.raises(ValueError, match=r"at least two classes. Got only class 0"):
        fit_and_test_sets({"all": one_class})
    with pytest.raises(ValueError, match=r"the same classes\. Got 5 and 4"):
        fit_and_test_sets(read_logits(((Z, Y), (Z[:, :4], Y % 4))))


def test_an_ensemble_is_the_mean_of_its_probabilities():
    members = np.random.default_rng(0).normal(size=(4, 30, 3)) * 3
    p = np.exp(members) / np.exp(members).sum(-1, keepdims=True)
    for given in (
        as_logits(members),
        as_logits(list(members)),
        as_logits(p, "probs"),
        as_logits(np.log(p), "log-probs"),
    ):
        np.testing.assert_allclose(np.exp(given), p.mean(0), atol=1e-12)
    with pytest.raises(ValueError, match=r"members' logits must have one shape, .* Got \[\(5, 3\), \(6, 3\)\]"):
        as_logits([members[0, :5], members[1, :6]])
    with pytest.raises(ValueError, match="look like probabilities"):
        as_logits(p)
    for scores, call in ((members, r"as_logits\(scores\)"), (members.swapaxes(0, 1), r"np.moveaxis\(scores, 1, 0\)")):
        with pytest.raises(ValueError, match=rf"an ensemble of 4\? Then give the mean .*{call}"):
            read_logits((scores, np.zeros(30, int)))
    with pytest.raises(ValueError, match=r"ensemble's members, \(M, n, K\), give as_logits\(logits\)"):
        TemperatureScaling().fit(members, np.zeros(30, int))


def test_log_odds_of_one_probability():
    p = np.array([0.0, 0.25, 1.0])
    expected = [-87.3365, -1.0986, 87.3365]
    np.testing.assert_allclose(as_logits(p, "probs"), expected, atol=1e-4)
    np.testing.assert_allclose(as_logits(np.log(p[1:]), "log-probs"), expected[1:], atol=1e-4)
    np.testing.assert_array_equal(as_logits(np.array([-3.0, 2.0])), [-3.0, 2.0])
    with pytest.raises(ValueError, match="were given as probabilities"):
        as_logits(np.array([0.5, 1.5]), "probs")
    with pytest.raises(ValueError, match=r"must be finite\. Got 1 NaN"):
        as_logits(np.array([np.nan, 1.5]))


def test_a_probability_of_zero_is_read_as_half_of_the_smallest_other(tmp_path):
    p = np.array([[0.0, 0.2, 0.8], [0.1, 0.9, 0.0], [0.3, 0.3, 0.4]])
    assert floor_of_zeros(as_logits(p, "probs")) == (pytest.approx(0.05), 2)
    assert floor_of_zeros(as_logits(p[2:], "probs")) == (None, 0)
    assert floor_of_zeros(as_logits(np.eye(3), "probs")) == (pytest.approx(1 / 6), 3)  # any top is larger
    raised = raise_zeros(as_logits(p, "probs"), 0.05)
    np.testing.assert_allclose(np.exp(raised), np.maximum(p, 0.05), rtol=1e-12)
    np.testing.assert_allclose(raise_zeros(as_logits(p, "probs") + 7, 0.05), raised, rtol=1e-12)
    np.testing.assert_allclose(raise_zeros(torch.tensor(as_logits(p, "probs")), 0.05), raised, rtol=1e-12)
    np.save(tmp_path / "p.npy", p)
    np.testing.assert_allclose(
        raise_zeros(SelectedSamples(np.load(tmp_path / "p.npy", "r"), np.arange(3), "probs"), 0.05)[0:3], raised
    )
    missing = np.array([[0.0, np.log(0.2), np.log(0.8), MISSING]])  # which is no probability of 0
    assert floor_of_zeros(missing)[1] == 0
    assert raise_zeros(missing, 0.3)[0, 3] == MISSING
