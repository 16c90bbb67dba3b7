"""Scores of every layout: each becomes logits (m, K) with labels, groups, slices and weights; or is refused."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
import torch
from scipy.special import expit, log_expit, softmax

from focal_lib.calibration.logit_sets import MISSING, LogitSet, fit_and_test_sets, split
from focal_lib.tool.inputs.logits_file import read_logits

RNG = np.random.default_rng(0)
S = RNG.normal(size=60) * 3
Y = RNG.integers(0, 2, 60)
MANY = RNG.normal(size=(30, 4)) * 3
TRUE = RNG.integers(0, 2, (30, 4))
MAPS = RNG.normal(size=(5, 3, 6, 7)).astype(np.float32)
PIXELS = RNG.integers(0, 3, (5, 6, 7))
Z, LABELS, AT = RNG.normal(size=(30, 4)) * 3, RNG.integers(0, 4, 30), np.arange(30)
ROWS = [[1.0, 2.0, 0.5], [0.0, 3.0], [1.0, 1.5, 2.0, 2.5]]


def read(scores, labels, given="logits", **options):
    (found,) = read_logits((scores, labels), given, **options).values()
    return found


# --- binary ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("scores", "given"),
    [(S, "logits"), (S[:, None], "logits"), (expit(S), "probs"), (log_expit(S), "log-probs"), (S.tolist(), "logits")],
)
@pytest.mark.parametrize("labels", [Y, Y.astype(bool), Y.astype(float), Y[:, None]])
def test_a_score_of_the_positive_class_becomes_two_columns(scores, given, labels):
    if isinstance(scores, list) and labels.ndim == 2:
        pytest.skip("a list of numbers with a column of labels")
    found = read(scores, labels, given)
    assert found.layout == "binary"
    np.testing.assert_allclose(softmax(found.logits, -1)[:, 1], expit(S), rtol=1e-9)
    np.testing.assert_array_equal(found.labels, Y)


def test_narrow_scores_stay_narrow_and_certain_probabilities_finite():
    assert read(S.astype(np.float16), Y).logits.dtype == np.float32
    assert np.isfinite(read(np.r_[0.0, 1.0, S[2:] * 0 + 0.5], Y, "probs").logits).all()


def test_maps_of_one_class_are_binary():
    for scores in (MAPS[:, 0], MAPS[:, :1]):
        found = read(scores, PIXELS % 2)
        assert (found.layout, found.classes, len(found)) == ("binary", 2, 5 * 42)
        np.testing.assert_array_equal(found.logits[:, 1], MAPS[:, 0].ravel())
        np.testing.assert_array_equal(found.groups, np.repeat(np.arange(5), 42))


# --- multi-label ----------------------------------------------------------------------------


def test_every_label_is_a_problem_of_two_classes_and_rows_are_groups():
    found = read(MANY, TRUE)
    assert (found.layout, len(found), found.slice_names[2]) == ("multi-label", 120, "label 2")
    np.testing.assert_array_equal(found.logits[:, 1], MANY.ravel())
    np.testing.assert_array_equal(found.labels, TRUE.ravel())
    np.testing.assert_array_equal(found.groups, np.repeat(np.arange(30), 4))
    np.testing.assert_array_equal(found.slices, np.tile(np.arange(4), 30))
    assert "one calibrator for all labels" in found.notes[0]
    parts = split(found, 0.3)
    assert not set(parts["validation"].groups) & set(parts["test"].groups)
    assert len(parts["validation"]) == 36


def test_what_goes_with_rows_goes_with_their_labels():
    patients, weights = np.repeat(["b", "a", "c"], 10), RNG.random((30, 4))
    found = read(MANY, TRUE, groups=patients, slices=np.arange(30) % 2, weights=weights)
    np.testing.assert_array_equal(found.groups, np.repeat([1, 0, 2], 40))
    np.testing.assert_array_equal(found.slices, np.repeat(np.arange(30) % 2, 4))
    np.testing.assert_array_equal(found.weights, weights.ravel())
    np.testing.assert_array_equal(read(MANY, TRUE, weights=weights[:, 0]).weights, np.repeat(weights[:, 0], 4))
    named = read(pd.DataFrame(MANY, columns=list("wxyz")), pd.DataFrame(TRUE))
    assert (named.slice_names, named.class_names) == (("w", "x", "y", "z"), None)


def test_unknown_labels_are_left_out():
    labels = TRUE.copy()
    labels[3, 1] = -1
    found = read(MANY, labels, ignore_index=-1)
    assert len(found) == 119
    assert found.slices[12 + 1] == 2
    assert found.notes[1] == "1 of 120 labels have the label -1 and were left out."


def test_labels_that_look_one_hot_are_not_guessed():
    one_hot = np.eye(4, dtype=int)[RNG.integers(0, 4, 30)]
    with pytest.raises(ValueError, match=r"one-hot.*labels.argmax\(-1\).*say layout multi-label"):
        read(MANY, one_hot)
    assert len(read(MANY, one_hot, layout="multi-label")) == 120


# --- segmentation and tokens ----------------------------------------------------------------


@pytest.mark.parametrize("kind", [np.asarray, torch.from_numpy])
def test_pixels_are_samples_and_images_groups(kind):
    found = read(kind(MAPS), kind(PIXELS))
    assert (found.layout, found.logits.shape, found.notes) == ("segmentation", (210, 3), ())
    np.testing.assert_array_equal(found.logits, np.moveaxis(MAPS, 1, -1).reshape(-1, 3))
    np.testing.assert_array_equal(found.labels, PIXELS.ravel())
    np.testing.assert_array_equal(found.groups, np.repeat(np.arange(5), 42))


def test_classes_last_are_tokens():
    found = read(np.moveaxis(MAPS, 1, -1), PIXELS)
    assert found.layout == "tokens"
    np.testing.assert_array_equal(found.logits, read(MAPS, PIXELS).logits)
    texts = read(MAPS[:, :, :, 0].transpose(0, 2, 1), np.where(np.arange(6) < 4, PIXELS[:, :, 0], -100))
    assert (len(texts), texts.layout) == (20, "tokens")
    assert texts.notes == ("10 of 30 tokens have the label -100 or 255 and were left out.",)


def test_a_seeded_number_of_pixels_of_each_image_without_those_ignored():
    labels = PIXELS.copy()
    labels[0, :5] = 255
    one, same, other = (read(MAPS, labels, pixels=10, seed=seed) for seed in (1, 1, 2))
    np.testing.assert_array_equal(np.bincount(one.groups), [7, 10, 10, 10, 10])
    np.testing.assert_array_equal(one.logits, same.logits)
    assert not np.array_equal(one.logits, other.logits)
    assert one.notes[1] == "Of 175 pixels 47 were drawn at random, at most 10 of each of 5 images (seed 1)."
    assert len(read(MAPS, labels, pixels=0)) == 175
    assert len(read(MAPS, PIXELS, ignore_index=2)) == np.count_nonzero(PIXELS != 2)
    rows = {tuple(row) for row in np.moveaxis(MAPS, 1, -1).reshape(-1, 3)}
    assert all(tuple(row) in rows for row in one.logits)


def test_255_is_a_class_where_there_are_more():
    logits, labels = RNG.normal(size=(1, 300, 2, 2)), np.array([[[255, 1], [2, 3]]])
    assert len(read(logits, labels)) == 4
    assert len(read(logits, labels, ignore_index=255)) == 3


def test_what_goes_with_images_goes_with_their_pixels():
    weights = RNG.random((5, 6, 7))
    found = read(MAPS, PIXELS, pixels=10, groups=list("aabbb"), slices=list("vwvwv"), weights=weights)
    np.testing.assert_array_equal(found.groups, np.repeat([0, 0, 1, 1, 1], 10))
    np.testing.assert_array_equal(found.slices, np.repeat([0, 1, 0, 1, 0], 10))
    assert found.slice_names == ("v", "w")
    assert set(found.weights) <= set(weights.ravel())


def test_groups_that_layouts_make_differ_between_sets():
    sets = read_logits(((MANY, TRUE), (MANY[:9], TRUE[:9])))
    assert not set(sets["validation"].groups) & set(sets["test"].groups)


# --- options --------------------------------------------------------------------------------


def test_rows_of_different_lengths_are_options():
    found = read(ROWS, [0, 1, 3])
    assert (found.layout, found.classes) == ("options", 4)
    np.testing.assert_array_equal(found.logits[1], [0, 3, MISSING, MISSING])
    assert softmax(found.logits / 1e6, -1)[1, 2] == 0
    assert "3 samples with 2 to 4 options each" in found.notes[0]


@pytest.mark.parametrize("nothing", [np.nan, -np.inf])
def test_what_is_not_there_may_be_marked(nothing):
    z = np.array([[1, 2, nothing], [1, 2, 3]], dtype=np.float16)
    found = read(z, [1, 2], layout="options")
    assert (found.logits.dtype, found.logits[0, 2]) == (np.float32, np.float32(MISSING))
    p = np.array([[0.25, 0.75, nothing], [0.2, 0.3, 0.5]])
    np.testing.assert_allclose(softmax(read(p, [1, 2], "probs", layout="options").logits[0]), [0.25, 0.75, 0])


def test_two_sets_have_as_many_columns():
    sets = read_logits(((ROWS, [0, 1, 3]), (ROWS[:2], [0, 1])))
    fit_and_test_sets(sets)
    assert sets["test"].logits.shape == (2, 4)


# --- refused --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("scores", "labels", "options", "message"),
    [
        (S, Y + 1, {}, "must be 0 or 1, 1 for the positive class: give labels - 1. Got 2"),
        (S, 2 * Y - 1, {}, r"must be 0 or 1.*give \(labels \+ 1\) // 2. Got -1"),
        (S, Y[:9], {}, r"labels must have the shape of the scores, \(60,\). Got \(9,\)"),
        (S, Y, {"given": "probs"}, r"probabilities of the positive class: they must lie in \[0, 1\]"),
        (np.abs(S), Y, {"given": "log-probs"}, "log-probabilities: they must be at most 0"),
        (np.where(S > 2, np.nan, S), Y, {}, "scores must be finite"),
        (MANY, TRUE * 2, {}, "must be 0 or 1"),
        (MANY, TRUE[:9], {}, r"labels must have shape \(n,\) = \(30,\)"),
        (MANY, TRUE[:, 0], {"layout": "multi-label"}, r"must both have shape \(n, L\)"),
        (MAPS, PIXELS[:, :4], {}, r"numbers of shape \(n, K\).*Got \(5, 3, 6, 7\) and labels \(5, 4, 7\)"),
        (MAPS, PIXELS[:, :4], {"layout": "segmentation"}, r"must have shape \(N, K, H, W\)"),
        (MAPS, PIXELS, {"layout": "tokens"}, r"must have shape \(B, T, K\)"),
        (np.zeros((2, 4, 4, 4)), np.zeros((2, 4, 4), int), {}, "classes second or last: say layout segmentation"),
        (MAPS, PIXELS * 0 + 255, {}, "other than -100, the label of what is left out"),
        (MAPS, PIXELS + 3, {}, "must lie in 0 ... 2"),
        (MAPS, PIXELS, {"pixels": -1}, "pixels must be a finite number >= 0"),
        (MANY, TRUE[:, 0], {"layout": "rows"}, "layout must be one of classes, binary"),
        (ROWS, [0, 2, 3], {}, "must be options that there are. Got 2 in sample 1"),
        ([[1.0], [1.0, 2.0]], [0, 1], {}, "at least two options in every sample. Got fewer in 0"),
        (np.array([[1, np.inf], [1, 2]]), [0, 1], {"layout": "options"}, "logits must be finite"),
        (MANY, np.array([*"abc"] * 10), {}, "must be numbers where the columns have no names"),
        (np.array(["a", "b"]), [0, 1], {}, "logits must be numbers"),
        (np.zeros((0, 4)), np.zeros(0, int), {}, "logits must be numbers, of samples that there are"),
        # groups, slices, weights, names
        (Z, LABELS, {"groups": np.zeros(29)}, r"groups must have shape \(n,\) = \(30,\)"),
        (Z, LABELS, {"groups": np.zeros((30, 2))}, r"groups must have shape \(n,\)"),
        (Z, LABELS, {"slices": np.where(LABELS > 1, np.nan, 1.0)}, "slices must be there for every sample"),
        (Z, LABELS, {"weights": -np.ones(30)}, "weights must be finite, at least 0"),
        (Z, LABELS, {"weights": np.zeros(30)}, "weights must be finite, at least 0, and some above"),
        (Z, LABELS, {"weights": np.ones(29)}, r"weights must be numbers of shape \(30,\)"),
        (Z, LABELS, {"weights": ["1"] * 30}, "weights must be numbers of shape"),
        (Z, LABELS, {"class_names": ["a", "b"]}, "class_names must be 4. Got 2"),
        (Z, LABELS, {"label_column": "truth"}, "of a file are for a file of logits"),
        (Z, LABELS, {"test": Z}, r"test must be \(scores, labels\)"),
        # the likely cause
        (LABELS, Z, {}, r"Got float64 \(30, 4\), and whole numbers \(30,\) as scores: are the two swapped\?"),
        (Z.T, LABELS, {}, r"Got \(4, 30\) and 30 labels: are they transposed\? Then give logits\.T"),
        (Z, np.where(AT == 4, np.nan, LABELS), {}, r"Got 1 without \(NaN\), the first in place 4"),
        (Z, np.where(AT == 7, -1, LABELS), {}, "Got -1, first in sample 7: .*--ignore-index -1 leaves"),
        (Z[:, 0], np.where(AT == 7, -1, LABELS % 2), {}, "where -1 means none, --ignore-index -1 leaves"),
        (np.where(AT == 9, np.inf, Z[:, 0]), LABELS % 2, {}, "must be finite.* first in place 9"),
        (100 * expit(Z[:, 0]), LABELS % 2, {"given": "probs"}, "are they percentages"),
        (Z[:, 0], np.where(LABELS > 1, "good", "bad"), {}, r"--class-names \(class_names=\.\.\.\)"),
        (SimpleNamespace(logits=Z), LABELS, {}, "Got SimpleNamespace: give its logits, or predictions, alone"),
    ],
)
def test_what_is_refused_says_what_helps(scores, labels, options, message):
    with pytest.raises(ValueError, match=message):
        read(scores, labels, **options)


# --- groups, slices, weights, names ---------------------------------------------------------


def test_values_of_any_kind_are_numbers_that_mean_the_same_in_both_sets():
    one, two = np.repeat(["x", "y", "z"], 10), np.array(["z", "w"] * 15)
    sets = read_logits(((Z, LABELS), (Z, LABELS)), groups=(one, two), slices=(one, pd.Series(two)))
    assert sets["test"].slice_names == ("w", "x", "y", "z")
    np.testing.assert_array_equal(sets["validation"].groups, np.repeat([1, 2, 3], 10))
    np.testing.assert_array_equal(sets["test"].slices, [3, 0] * 15)
    assert read(Z, LABELS, slices=np.repeat([0.5, 2.0], 15)).slice_names == ("0.5", "2")


def test_class_names_are_places_of_columns():
    names = np.array(["ant", "bee", "cat", "dog"])
    found = read(Z, names[LABELS], class_names=names)
    np.testing.assert_array_equal(found.labels, LABELS)
    assert found.class_names == tuple(names)
    np.testing.assert_array_equal(read(pd.DataFrame(Z, columns=names), pd.Series(names[LABELS])).labels, LABELS)
    digits = read(pd.DataFrame(Z, columns=[3, 5, 7, 9]), np.array([3, 5, 7, 9])[LABELS])
    np.testing.assert_array_equal(digits.labels, LABELS)
    np.testing.assert_array_equal(read(S, np.array(["no", "yes"])[Y], class_names=["no", "yes"]).labels, Y)


@pytest.mark.parametrize(
    ("labels", "names", "message"),
    [
        (["ant", "wasp"], ["ant", "bee"], "must be names of columns, which are ant, bee. Got 'wasp'"),
        (["ant", "ant"], ["ant", "ant"], "class_names must differ"),
        (["ant", None], ["ant", "bee"], "must be there for every sample. Got 1"),
        ([1, 0], ["1", "0"], "may be names of columns, which are 1, 0, or their places"),
    ],
)
def test_names_that_may_mean_two_things_are_refused(labels, names, message):
    with pytest.raises(ValueError, match=message):
        read(np.zeros((2, 2)), np.array(labels, dtype=object if None in labels else None), class_names=names)


def test_groups_of_two_sets_are_pairs_and_of_both():
    for own, message in ((np.zeros(30), "must be a pair"), ((np.zeros(30), None), "or for neither")):
        with pytest.raises(ValueError, match=message):
            read_logits(((Z, LABELS), (Z, LABELS)), groups=own)
    with pytest.raises(ValueError, match="groups are part of a LogitSet"):
        read_logits(LogitSet(Z, LABELS), groups=np.zeros(30))


def test_groups_stay_whole_in_a_split_of_about_the_share():
    sizes = RNG.integers(1, 30, 40)
    groups = RNG.permutation(np.repeat(np.arange(40), sizes))
    whole = LogitSet(RNG.normal(size=(len(groups), 3)), RNG.integers(0, 3, len(groups)), groups=groups)
    for share, seed in ((0.2, 0), (0.5, 1), (0.8, 2)):
        parts = split(whole, share, seed)
        assert not set(parts["validation"].groups) & set(parts["test"].groups)
        assert abs(len(parts["validation"]) - share * len(whole)) <= 15
        np.testing.assert_array_equal(parts["test"].labels, split(whole, share, seed)["test"].labels)
    with pytest.raises(ValueError, match="groups must be at least two"):
        split(LogitSet(whole.logits, whole.labels, groups=groups * 0))


def test_sets_of_other_layouts_or_orders_of_classes_do_not_go_together():
    with pytest.raises(ValueError, match=r"must have one layout\. Got binary and classes"):
        fit_and_test_sets(read_logits(((S, Y), (np.stack([S, S], -1), Y))))
    one, two = pd.DataFrame(Z, columns=list("abcd")), pd.DataFrame(Z, columns=list("abdc"))
    with pytest.raises(ValueError, match=r"same classes in the same order\. Got c in one where the other has d"):
        fit_and_test_sets(read_logits(((one, LABELS), (two, LABELS))))


def test_ignored_samples_of_classes_are_left_out(tmp_path):
    labels = np.where(np.arange(30) % 5 == 0, -100, LABELS)
    found = read(Z, labels, ignore_index=-100, groups=np.arange(30))
    np.testing.assert_array_equal(found.logits, Z[labels >= 0])
    np.testing.assert_array_equal(found.groups, np.flatnonzero(labels >= 0))
    np.save(tmp_path / "z.npy", Z)
    np.save(tmp_path / "y.npy", labels)
    mapped = read_logits(tmp_path / "z.npy", labels=tmp_path / "y.npy", ignore_index=-100)["all"]
    np.testing.assert_array_equal(mapped.logits[0:30], Z[labels >= 0])


def test_what_looks_swapped_or_transposed_and_is_not():
    """Whole numbers as scores, with labels that are; as many samples as classes."""
    assert len(read_logits((np.round(Z), LABELS.astype(float)))["all"]) == 30
    assert len(read_logits((Z[:4], LABELS[:4]))["all"]) == 4
    assert read_logits((np.round(Z[:, 0]), LABELS % 2))["all"].layout == "binary"
    left = read_logits((Z, np.where(AT == 7, -1, LABELS)), ignore_index=-1)["all"]
    assert len(left) == 29


@pytest.mark.parametrize("kind", [str, object, list, "whole floats"])
def test_labels_may_be_numbers_as_text(kind):
    """As a file of text has them, or a DataFrame that was read from one."""
    labels = np.array([0, 1, 1, 0, 1])
    text = labels.astype(float if kind == "whole floats" else int).astype(str)
    given = text.tolist() if kind is list else text.astype(object) if kind is object else text
    found = read_logits((np.array([0.1, 0.7, 0.6, 0.3, 0.9]), given), "probs")["all"]
    assert (found.labels.dtype, found.labels.tolist()) == (np.int64, labels.tolist())
