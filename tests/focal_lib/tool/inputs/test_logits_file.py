"""Logits from files: every format, and files that are none."""

import numpy as np
import pandas as pd
import pytest
from scipy.special import log_softmax, softmax

from focal_lib.calibration.logit_sets import as_logits
from focal_lib.tool.inputs.logits_file import read_logits

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
        read_logits(write(tmp_path / "x.npz", logits=Z, labels=Y))["all"],
        read_logits(tmp_path / "x.csv")["all"],
        read_logits(str(tmp_path / "x.parquet"))["all"],
        read_logits(tmp_path / "z.npy", labels=tmp_path / "y.npy")["all"],
    ]
    for part in found:
        np.testing.assert_allclose(part.logits[0:40], Z, rtol=1e-12)
        np.testing.assert_array_equal(part.labels, Y)
    both = write(tmp_path / "both.npz", validation_logits=Z, validation_labels=Y, test_logits=Z[:9], test_labels=Y[:9])
    assert {name: len(part) for name, part in read_logits(both).items()} == {"validation": 40, "test": 9}


def test_probabilities_and_log_probabilities_become_logits(tmp_path):
    probs = read_logits(write(tmp_path / "p.npz", logits=softmax(Z, -1), labels=Y), "probs")["all"]
    logs = read_logits(write(tmp_path / "l.npz", logits=log_softmax(Z, -1), labels=Y), "log-probs")["all"]
    for part in (probs, logs):
        np.testing.assert_allclose(softmax(part.logits, -1), softmax(Z, -1), rtol=1e-12)


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        ("x.pkl", {}, r"must be \.npz, \.npy, \.csv, \.parquet or \.jsonl"),
        ("x.pt", {}, r"or \.jsonl\. Got x\.pt: load it in Python and save np\.savez"),
        ("x.csv.gz", {}, r"Got x\.csv\.gz: unpack it first"),
        ("x.TSV", {}, r"Got x\.TSV: save it as csv, with commas"),
        ("z.npy", {}, "--labels"),
        ("z.npy", {"labels": "y.npz"}, r"file of the labels must be \.npy. Got y\.npz"),
        ("x.csv", {}, "must have a column 'label'"),
        ("s.npz", {}, "must hold logits and labels, or validation_logits.*no validation_logits"),
    ],
)
def test_files_of_another_kind(tmp_path, name, options, message):
    np.save(tmp_path / "z.npy", Z)
    pd.DataFrame(Z).to_csv(tmp_path / "x.csv", index=False)
    write(tmp_path / "s.npz", embedding=Z, labels=Y)
    with pytest.raises(ValueError, match=message):
        read_logits(tmp_path / name, **options)


def test_probabilities_by_their_own_names(tmp_path):
    p, both = softmax(Z, -1), {}
    for part in ("validation", "test"):
        both |= {f"{part}_probs": p, f"{part}_labels": Y}
    wanted = read_logits(write(tmp_path / "a.npz", logits=p, labels=Y), "probs")["all"].logits
    for arrays, given in (({"probs": p}, "probs"), ({"probs": p, "logits": Z}, "probs")):
        found = read_logits(write(tmp_path / "x.npz", labels=Y, **arrays), given)["all"].logits
        np.testing.assert_array_equal(found, wanted)
    np.testing.assert_array_equal(read_logits(write(tmp_path / "x.npz", **both), "probs")["test"].logits, wanted)
    logs = read_logits(write(tmp_path / "x.npz", log_probs=log_softmax(Z, -1), labels=Y), "log-probs")["all"].logits
    np.testing.assert_array_equal(logs, log_softmax(Z, -1))
    np.testing.assert_array_equal(read_logits(write(tmp_path / "x.npz", probs=p, logits=Z, labels=Y))["all"].logits, Z)


@pytest.mark.parametrize(
    ("arrays", "remedy"),
    [
        ({"predictions": Z, "label_ids": Y}, "rename label_ids -> labels, predictions -> logits"),
        ({"X": Z, "y": Y}, "if they are that, rename X -> logits, y -> labels"),
        (
            {"val_logits": Z, "val_labels": Y, "test_logits": Z, "test_labels": Y},
            "rename val_labels -> validation_labels, val_logits -> validation_logits",
        ),
        ({"probs": Z, "labels": Y}, r"Got labels, probs: say --given probs\."),
        ({"probabilities": Z, "y": Y}, "rename probabilities -> probs, y -> labels and say --given probs"),
        ({"predictions": Z, "outputs": Z, "labels": Y}, "no validation_logits"),  # which of them?
    ],
)
def test_arrays_of_other_names_are_not_guessed_but_told(tmp_path, arrays, remedy):
    with pytest.raises(ValueError, match=remedy):
        read_logits(write(tmp_path / "x.npz", **arrays))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a,b,label\n", r"must have a line for each sample after the names of its columns\. Got none"),
        ("", r"must have a header and lines\. Got none"),
    ],
)
def test_a_table_without_samples(tmp_path, text, message):
    (tmp_path / "x.csv").write_text(text)
    with pytest.raises(ValueError, match=message):
        read_logits(tmp_path / "x.csv")


def test_files_that_hold_no_numbers(tmp_path):
    (tmp_path / "junk.npz").write_text("no archive")
    (tmp_path / "junk.npy").write_text("")
    np.savez(tmp_path / "objects.npz", logits=Z.astype(object), labels=Y)
    whole = write(tmp_path / "whole.npz", logits=Z, labels=Y).read_bytes()
    middle = whole.index(Z.tobytes()) + 100
    (tmp_path / "flipped.npz").write_bytes(whole[:middle] + bytes([whole[middle] ^ 1]) + whole[middle + 1 :])
    for name, message in (
        ("junk.npz", "junk.npz must be an npz file of numbers"),
        ("junk.npy", "junk.npy must be an npy file of numbers"),
        ("objects.npz", "logits in objects.npz must be an array of numbers. It holds objects or records"),
        ("flipped.npz", "logits in flipped.npz must be an array of numbers. It holds objects, or is damaged"),
    ):
        with pytest.raises(ValueError, match=message):
            read_logits(tmp_path / name, labels=tmp_path / "junk.npy" if name.endswith("npy") else None)


@pytest.mark.parametrize("kind", [np.float16, np.float32, np.float64])
def test_probabilities_become_the_same_logits_wherever_they_are_read(kind, tmp_path):
    """At fit from a file in memory or mapped, and at apply in float64; zeros among them."""
    p = softmax(Z * 20, -1).astype(kind)
    assert (p == 0).any() or kind is np.float64
    np.save(tmp_path / "p.npy", p)
    np.save(tmp_path / "y.npy", Y)
    mapped = read_logits(tmp_path / "p.npy", "probs", tmp_path / "y.npy")["all"].logits
    kept = read_logits(write(tmp_path / "p.npz", logits=p, labels=Y), "probs")["all"].logits
    applied = as_logits(p.astype(np.float64), "probs")
    np.testing.assert_array_equal(mapped[0:40], kept)
    np.testing.assert_allclose(kept, applied, rtol=1e-6)
    np.testing.assert_allclose(softmax(kept, -1), p / p.astype(np.float64).sum(-1, keepdims=True), atol=1e-6)


def test_one_set_and_two_in_one_file_are_not_chosen_from(tmp_path):
    for own in (
        {"test_logits": Z},
        {f"{p}_{w}": a for p in ("validation", "test") for w, a in (("logits", Z), ("labels", Y))},
    ):
        with pytest.raises(ValueError, match=r"one set of logits and labels, or two. Got .*test_logits.*, too"):
            read_logits(write(tmp_path / "x.npz", logits=Z, labels=Y, **own))
    assert set(read_logits(write(tmp_path / "x.npz", logits=Z, labels=Y, ids=Y))) == {"all"}


FRAME = pd.DataFrame(Z, columns=list("abcde")).assign(label=Y)


@pytest.mark.parametrize(
    ("frame", "message"),
    [
        (FRAME.assign(id=range(40, 0, -1)), "Leave out 'id': its name is no class'"),
        (FRAME.assign(number=range(100, 140)), "Leave out 'number': it counts the samples"),
        (FRAME.reset_index(), "Leave out 'index': it counts the samples"),
        (FRAME.assign(name=[f"image {i}" for i in range(40)]), r"must hold numbers. Got \w+ in column name, 'image 0'"),
        (FRAME.assign(a=FRAME["a"].where(FRAME.index != 3)), "Got none in column a of sample 3"),
        (FRAME.set_axis([*"aacde", "label"], axis=1), "must have each column once. Got .a. more than once"),
        (FRAME.assign(x=Y).set_axis([*"abcde", "label", "label"], axis=1), "Got .label. more than once"),
    ],
)
@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_tables_with_more_than_classes_and_a_label(tmp_path, frame, message, kind):
    path = tmp_path / f"x.{kind}"
    if kind == "csv":
        frame.to_csv(path, index=False)
    elif frame.columns.is_unique:
        frame.to_parquet(path)
    else:
        pytest.skip("parquet has no such tables")
    with pytest.raises(ValueError, match=message):
        read_logits(path)


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("x.csv", b"a,b,label\n1,2,0\n1,2,3,4\n"),
        ("x.csv", b"\xff\xfe\x00,label\n1,0\n"),
        ("x.parquet", b""),
        ("x.parquet", b"PAR1 and then something else PAR1"),
    ],
)
def test_what_is_no_table_is_said_in_a_line(tmp_path, name, content):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(
        ValueError, match=rf"{name} must be (a table of numbers, \w+. It is not:|text. Got a NUL byte at) [^\n]+$"
    ):
        read_logits(tmp_path / name)


def test_tables_of_spreadsheets(tmp_path):
    """With the mark that they put before UTF-8, and the label wherever it is."""
    frame = FRAME[["a", "label", "b", "c", "d", "e"]]
    (tmp_path / "x.csv").write_text(frame.to_csv(index=False), encoding="utf-8-sig")
    found = read_logits(tmp_path / "x.csv")["all"]
    np.testing.assert_allclose(found.logits, Z)
    np.testing.assert_array_equal(found.labels, Y)
