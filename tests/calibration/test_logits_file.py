"""Logits of one's own: every format, and every mistake with its remedy."""

import numpy as np
import pandas as pd
import pytest
from scipy.special import log_softmax, softmax

from focal_lib.calibration import logits_file
from focal_lib.calibration.calibrators import TemperatureScaling

RNG = np.random.default_rng(0)
Z = RNG.normal(size=(40, 5)) * 3
Y = RNG.integers(0, 5, 40)


def write(path, **arrays):
    np.savez(path, **arrays)
    return path


def test_formats(tmp_path):
    frame = pd.DataFrame(Z, columns=list("abcde")).assign(label=Y)
    frame.to_csv(tmp_path / "x.csv", index=False)
    frame.to_parquet(tmp_path / "x.parquet")
    np.save(tmp_path / "z.npy", Z)
    np.save(tmp_path / "y.npy", Y)
    found = [
        logits_file.read(write(tmp_path / "x.npz", logits=Z, labels=Y))["all"],
        logits_file.read(tmp_path / "x.csv")["all"],
        logits_file.read(tmp_path / "x.parquet")["all"],
        logits_file.read(tmp_path / "z.npy", labels=tmp_path / "y.npy")["all"],
    ]
    for part in found:
        np.testing.assert_allclose(part.logits[0:40], Z, rtol=1e-12)
        np.testing.assert_array_equal(part.labels, Y)
    both = write(tmp_path / "both.npz", validation_logits=Z, validation_labels=Y, test_logits=Z[:9], test_labels=Y[:9])
    assert {name: len(part) for name, part in logits_file.read(both).items()} == {"validation": 40, "test": 9}


def test_probabilities_and_log_probabilities_become_logits(tmp_path):
    probs = logits_file.read(write(tmp_path / "p.npz", logits=softmax(Z, -1), labels=Y), "probs")["all"]
    logs = logits_file.read(write(tmp_path / "l.npz", logits=log_softmax(Z, -1), labels=Y), "log-probs")["all"]
    for part in (probs, logs):
        np.testing.assert_allclose(softmax(part.logits, -1), softmax(Z, -1), rtol=1e-12)
    sure = np.eye(5, dtype=np.float32)[Y]
    assert np.isfinite(logits_file.as_logits(sure, "probs")).all()


@pytest.mark.parametrize(
    ("arrays", "given", "message"),
    [
        ({"logits": softmax(Z, -1), "labels": Y}, "logits", r"look like probabilities.*--given probs"),
        ({"logits": softmax(Z, -1), "labels": Y}, "log-probs", r"look like probabilities.*--given probs"),
        ({"logits": Z, "labels": Y}, "probs", r"given as probabilities.*must lie in \[0, 1\]"),
        ({"logits": Z, "labels": Y}, "log-probs", r"given as log-probabilities.*--given logits"),
        ({"logits": Z, "labels": np.eye(5, dtype=int)[Y]}, "logits", r"one-hot: give the class numbers"),
        ({"logits": Z, "labels": np.where(Y == 0, 5, Y)}, "logits", r"count from 1 to 5: give labels - 1"),
        ({"logits": Z, "labels": Y[:, None]}, "logits", r"give labels\[:, 0\]"),
        ({"logits": Z, "labels": Y[:9]}, "logits", r"labels must have shape \(n,\) = \(40,\). Got \(9,\)"),
        ({"logits": Z, "labels": Y + 0.5}, "logits", "labels must be integers"),
        ({"logits": np.where(Z > 5, np.nan, Z) * np.inf, "labels": Y}, "logits", "logits must be finite"),
        ({"logits": Z[0], "labels": Y}, "logits", r"numbers of shape \(n, K\)"),
        (
            {"scores": Z, "labels": Y},
            "logits",
            r"must hold logits and labels, or validation_logits.*no validation_logits",
        ),
    ],
)
def test_mistakes_name_their_remedy(tmp_path, arrays, given, message):
    with pytest.raises(ValueError, match=message):
        logits_file.read(write(tmp_path / "x.npz", **arrays), given)


def test_files_that_are_none(tmp_path):
    with pytest.raises(ValueError, match=r"must be \.npz, \.npy, \.csv or \.parquet"):
        logits_file.read(tmp_path / "x.pkl")
    np.save(tmp_path / "z.npy", Z)
    with pytest.raises(ValueError, match="--labels"):
        logits_file.read(tmp_path / "z.npy")
    pd.DataFrame(Z).to_csv(tmp_path / "x.csv", index=False)
    with pytest.raises(ValueError, match="must have a column 'label'"):
        logits_file.read(tmp_path / "x.csv")


def test_split_is_a_partition_by_seed():
    whole = logits_file.LogitSet(Z, Y)
    parts = logits_file.split(whole, 0.25, seed=3)
    assert [len(parts[name]) for name in ("validation", "test")] == [10, 30]
    rows = np.concatenate([parts["validation"].logits, parts["test"].logits])
    np.testing.assert_array_equal(np.sort(rows[:, 0]), np.sort(Z[:, 0]))
    np.testing.assert_array_equal(parts["test"].labels, logits_file.split(whole, 0.25, seed=3)["test"].labels)
    with pytest.raises(ValueError, match="rows on both sides"):
        logits_file.split(whole, 0.001)


def test_rows_of_a_memory_map_stay_on_disk(tmp_path):
    np.save(tmp_path / "z.npy", Z.astype(np.float16))
    np.save(tmp_path / "y.npy", Y)
    parts = logits_file.split(logits_file.read(tmp_path / "z.npy", labels=tmp_path / "y.npy")["all"], 0.5, 3)
    assert all(isinstance(part.logits, logits_file.SelectedSamples) for part in parts.values())
    read = [np.asarray(part.logits[0 : len(part)]) for part in parts.values()]
    in_memory = logits_file.split(logits_file.LogitSet(Z.astype(np.float16), Y), 0.5, 3)
    for found, wanted in zip(read, in_memory.values(), strict=True):
        np.testing.assert_array_equal(found, wanted.logits)
    assert logits_file.read(tmp_path / "z.npy", labels=tmp_path / "y.npy")["all"].logits.given == "logits"
    again = parts["test"].take(np.array([4, 0]))
    np.testing.assert_array_equal(again.logits[0:2], in_memory["test"].logits[[0, 4]])
    fit, same = (TemperatureScaling().fit(p["test"].logits, p["test"].labels) for p in (parts, in_memory))
    assert fit.temperature_ == same.temperature_


def test_a_bad_number_far_inside_a_large_file_is_found(tmp_path, monkeypatch):
    monkeypatch.setattr("focal_lib.metrics.samples.CHUNK_SIZE", 10)
    z = Z.copy()
    z[37, 2] = np.nan
    with pytest.raises(ValueError, match="must be finite"):
        logits_file.read(write(tmp_path / "x.npz", logits=z, labels=Y))


@pytest.mark.parametrize("kind", [np.float16, np.float32, np.float64])
def test_probabilities_become_the_same_logits_wherever_they_are_read(kind, tmp_path):
    """At fit from a file in memory or mapped, and at apply in float64; zeros among them."""
    p = softmax(Z * 20, -1).astype(kind)
    assert (p == 0).any() or kind is np.float64
    np.save(tmp_path / "p.npy", p)
    np.save(tmp_path / "y.npy", Y)
    mapped = logits_file.read(tmp_path / "p.npy", "probs", tmp_path / "y.npy")["all"].logits
    kept = logits_file.read(write(tmp_path / "p.npz", logits=p, labels=Y), "probs")["all"].logits
    applied = logits_file.as_logits(p.astype(np.float64), "probs")
    np.testing.assert_array_equal(mapped[0:40], kept)
    np.testing.assert_allclose(kept, applied, rtol=1e-6)
    np.testing.assert_allclose(softmax(kept, -1), p / p.astype(np.float64).sum(-1, keepdims=True), atol=1e-6)


def test_a_log_probability_of_minus_infinity_has_a_remedy(tmp_path):
    logs = np.where(Z.min() == Z, -np.inf, log_softmax(Z, -1))
    with pytest.raises(ValueError, match="give the probabilities, --given probs"):
        logits_file.read(write(tmp_path / "l.npz", logits=logs, labels=Y), "log-probs")


def test_files_that_hold_no_numbers(tmp_path):
    (tmp_path / "junk.npz").write_text("no archive")
    (tmp_path / "junk.npy").write_text("")
    np.savez(tmp_path / "objects.npz", logits=Z.astype(object), labels=Y)
    for name, message in (
        ("junk.npz", "junk.npz must be an npz file of numbers"),
        ("junk.npy", "junk.npy must be an npy file of numbers"),
        ("objects.npz", r"objects.npz must hold numbers. It holds objects"),
    ):
        with pytest.raises(ValueError, match=message):
            logits_file.read(tmp_path / name, labels=tmp_path / "junk.npy")


def test_one_class_to_fit_on_is_refused_before_work_begins():
    one = logits_file.LogitSet(Z, np.zeros(40, dtype=np.int64))
    with pytest.raises(ValueError, match=r"at least two classes. Got only class 0"):
        logits_file.arrange({"all": one})
