"""Files with more than logits and labels: named columns and arrays, label columns, separate files for testing."""

import time
import tracemalloc

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from scipy.special import expit

from focal_lib.tool.inputs.logits_file import read_logits

RNG = np.random.default_rng(0)
Z = RNG.normal(size=(40, 3)) * 3
Y = RNG.integers(0, 3, 40)
NAMES = np.array(["ant", "bee", "None"])
FRAME = pd.DataFrame(Z, columns=NAMES).assign(label=Y)
PATIENT = np.array([f"{i:03d}" for i in range(8)]).repeat(5)


def save(frame, path):
    if path.suffix.lower() == ".csv":
        frame.to_csv(path, index=False)
    elif path.suffix == ".jsonl":
        frame.to_json(path, orient="records", lines=True, double_precision=15)
    else:
        frame.to_parquet(path)
    return path


@pytest.fixture(params=["CSV", "parquet"])
def write(tmp_path, request):
    return lambda frame, name="x": save(frame, tmp_path / f"{name}.{request.param}")


@pytest.fixture(params=["csv", "parquet", "jsonl"])
def log(tmp_path, request):
    """A prediction log as it is exported, with columns that are no scores."""
    more = {"customer_id": np.arange(40) * 7 + 77_000, "date": "2024-01-01", "segment": np.tile(["a", "b"], 20)}
    frame = pd.DataFrame(
        more | {"y_score": expit(Z[:, 0]), "target": (Y > 0).astype(int), "ant": Z[:, 1], "bee": Z[:, 2]}
    )
    return save(frame, tmp_path / f"log.{request.param}")


# --- columns of scores that are named -------------------------------------------------------


def test_one_named_column_is_the_positive_class(log):
    found = read_logits(log, "probs", scores="y_score", label_column="target", slices="segment")["all"]
    assert (found.layout, found.score_columns, found.slice_names) == ("binary", ("y_score",), ("a", "b"))
    np.testing.assert_allclose(found.logits[:, 1] - found.logits[:, 0], Z[:, 0], rtol=1e-9)
    np.testing.assert_array_equal(found.labels, Y > 0)
    as_logit = read_logits(log, scores=["ant"], label_column="target", groups="customer_id")["all"]
    np.testing.assert_allclose(as_logit.logits[:, 1], Z[:, 1])
    np.testing.assert_array_equal(as_logit.groups, np.arange(40))


@pytest.mark.parametrize("scores", ["bee,ant", ("bee", "ant"), [" bee , ant"]])
def test_named_columns_are_classes_in_the_order_of_their_names(log, scores):
    found = read_logits(log, scores=scores, label_column="target")["all"]
    np.testing.assert_allclose(found.logits, Z[:, [2, 1]])
    assert found.class_names == ("bee", "ant")


def test_a_column_with_a_comma_in_its_name(write):
    frame = pd.DataFrame({"a,b": Z[:, 0], "a": Z[:, 1], "b": Z[:, 2], "label": Y > 0})
    assert read_logits(write(frame), scores="a,b")["all"].score_columns == ("a,b",)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"scores": "score"}, "must have a column 'score', of the scores. Got customer_id, .* is it 'y_score'"),
        ({"scores": "date"}, r"must hold numbers\. Got .* in column date, '2024-01-01', sample 0.*--scores"),
        ({"scores": "target"}, "the label must be a column of its own. Got 'target'"),
        ({"scores": "ant", "weights": "ant"}, "the scores must be a column of its own. Got 'ant'"),
        ({"scores": ["ant", "ant"]}, "each column once. Got 'ant' more than once"),
    ],
)
def test_names_of_scores_that_do_not_fit(log, options, message):
    with pytest.raises(ValueError, match=message):
        read_logits(log, label_column="target", **options)


def test_scores_are_named_in_tables_alone(tmp_path):
    np.savez(tmp_path / "x.npz", logits=Z, labels=Y)
    with pytest.raises(ValueError, match=r"--scores goes with csv and parquet files, and jsonl\. Got 'a' and x\.npz"):
        read_logits(tmp_path / "x.npz", scores="a")
    with pytest.raises(ValueError, match="scores names columns of a file"):
        read_logits((Z, Y), scores="a")


def test_without_their_names_the_message_says_how_to_name_them(write):
    frame = FRAME.assign(date="2024-01-01")
    with pytest.raises(ValueError, match=r"in column date, '2024-01-01', sample 0.*: say with --scores which"):
        read_logits(write(frame))
    with pytest.raises(ValueError, match=r"Leave out 'id': .*; or say with --scores which columns are scores"):
        read_logits(write(FRAME.assign(id=Y)))


# --- sizes ----------------------------------------------------------------------------------


def test_text_in_parquet_counts_as_often_as_it_is_there(tmp_path):
    """100 kB that would be 600 MB of labels; a column that is not read does no harm."""
    long = pa.array(["x" * 2_000_000] * 300)
    z = {"a": RNG.normal(size=300), "b": RNG.normal(size=300)}
    for name, text in (("plain", long), ("dictionary", long.dictionary_encode())):
        pq.write_table(pa.table(z | {"label": text}), tmp_path / f"{name}.parquet")
        with pytest.raises(ValueError, match=r"and not 600 MB out of 0\.1"):
            read_logits(tmp_path / f"{name}.parquet")
    pq.write_table(pa.table(z | {"label": [0, 1] * 150, "note": long}), tmp_path / "x.parquet")
    assert len(read_logits(tmp_path / "x.parquet", scores="a,b")["all"]) == 300


def test_one_long_label_does_not_widen_the_others(tmp_path):
    """As an array of text, 20,000 labels would take 8 GB."""
    labels = ["x" * 100_000, *["b"] * 20_000]
    pd.DataFrame({"a": RNG.normal(size=20_001), "b": 0.0, "label": labels}).to_csv(tmp_path / "x.csv", index=False)
    tracemalloc.start()
    with pytest.raises(ValueError, match="labels must be names of columns"):
        read_logits(tmp_path / "x.csv")
    assert tracemalloc.get_traced_memory()[1] < 10**8
    tracemalloc.stop()


def test_many_columns_are_refused_before_they_are_read(tmp_path):
    (tmp_path / "x.csv").write_text(f"{','.join(map(str, range(99_999)))}\n{'0,' * 99_998}0\n")
    started = time.process_time()
    with pytest.raises(ValueError, match=r"at most 20,000 columns: else save npz\. Got 99,999"):
        read_logits(tmp_path / "x.csv")
    assert time.process_time() - started < 2


def test_text_in_parquet_that_is_no_utf_8(tmp_path):
    broken = pa.array([b"\xff\xfe"] * 40)
    text = pa.Array.from_buffers(pa.string(), 40, broken.buffers())
    pq.write_table(pa.table({"a": Z[:, 0], "b": Z[:, 1], "label": Y % 2, "g": text}), tmp_path / "x.parquet")
    for options in ({"groups": "g"}, {"slices": "g"}, {}):
        with pytest.raises(
            ValueError, match=r"x\.parquet must be a table of numbers, parquet\. It is not: Invalid UTF8"
        ):
            read_logits(tmp_path / "x.parquet", **options)


# --- where a table is wrong -----------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("cat,dog,label\n1.5,0.2,0\n0.1,0.9,1\n0.3,abc,1\n", r"column dog, 'abc', sample 2 \(line 4\)\.$"),
        ('cat,dog,label\n\n"1.5",0.2,0\n\n0.3,0.1,1\n"0,3",1,1\n', r"column cat, '0,3', sample 2 \(line 6\)\.$"),
        ('"c\nat",dog,label\n1,2,0\n3,,1\n', r"none in column dog of sample 1 \(line 4\)"),
        ("cat,dog,label\n1,2,0\n3,4,x\n", r"or numbers\. Got 'x' in column label, sample 1 \(line 3\), of x\.csv"),
        ("cat,dog,label\n1,2,cat\n3,4,dgo\n", r"which are cat, dog, .* Got 'dgo' in column label, sample 1 \(line 3\)"),
        ("cat,dog,label,w\n1,2,0,1\n3,4,1,much\n", r"column w, 'much', sample 1 \(line 3\)"),
        ("cat,dog,label\n1,2,0\n3,inf,1\n", r"finite numbers\. Got inf in column dog, sample 1 \(line 3\)"),
        ('cat,dog,label\n1,2,0\n3,"4,1\n', r"It is not: a quotation mark is not closed\."),
        ("cat,dog,label\n1,2,0\n3,4,1,5\n", r"sample 1 \(line 3\) has more cells than the header, 3"),
        (
            "# of model 3\ncat,dog,label\n1,2,0\n",
            r"names of its columns .* Got 1, # of model 3, for 3 cells in the next",
        ),
        ("cat,dog\n1,2,0\n", "Got 2, cat, dog, for 3 cells in the next: leave out lines before the header"),
    ],
)
def test_the_cell_that_is_wrong_is_named(tmp_path, text, message):
    (tmp_path / "x.csv").write_text(text)
    with pytest.raises(ValueError, match=message):
        read_logits(tmp_path / "x.csv", weights="w" if ",w" in text else None)


def test_a_blank_first_line_and_commas_at_the_end_of_lines_are_no_harm(tmp_path):
    (tmp_path / "x.csv").write_text("\n\ncat,dog,label\n1,2,0,\n3,4,1,\n")
    np.testing.assert_array_equal(read_logits(tmp_path / "x.csv")["all"].logits, [[1, 2], [3, 4]])


def test_other_encodings_are_named(tmp_path):
    (tmp_path / "x.csv").write_bytes("cat,dög,label\n1,2,0\n".encode("latin-1"))
    with pytest.raises(ValueError, match=r"must be text in UTF-8: save it so\. Got byte 0xf6 in line 1"):
        read_logits(tmp_path / "x.csv")


def test_columns_by_name(write):
    frame = FRAME.assign(patient=PATIENT, site=np.tile(["b", "a"], 20), count=np.arange(40) % 3 + 0.5)
    options = {"groups": "patient", "slices": "site", "weights": "count"}
    found = read_logits(write(frame), **options)["all"]
    np.testing.assert_allclose(found.logits, Z)
    np.testing.assert_array_equal(found.groups, np.arange(8).repeat(5))
    np.testing.assert_array_equal(found.slices, np.tile([1, 0], 20))
    assert (found.slice_names, found.class_names) == (("a", "b"), tuple(NAMES))
    np.testing.assert_array_equal(found.weights, frame["count"])
    by_patient = read_logits(write(frame.drop(columns=["site", "count"])), groups="patient", slices="patient")["all"]
    assert by_patient.slice_names[:2] == ("000", "001")
    with pytest.raises(ValueError, match=r"column 'patient' of .* or say --groups patient"):  # not said what they are
        read_logits(write(frame))


def test_labels_by_another_name_and_as_names_of_classes(write):
    frame = pd.DataFrame(Z, columns=NAMES).assign(truth=NAMES[Y])
    found = read_logits(write(frame), label_column="truth")["all"]
    np.testing.assert_array_equal(found.labels, Y)
    with pytest.raises(
        ValueError, match=r"must have a column 'label', or one that --label-column names\. Got .*: is it 'truth'"
    ):
        read_logits(write(frame))
    with pytest.raises(ValueError, match=r"must have a column 'answer', of the label\. Got ant, bee"):
        read_logits(write(frame), label_column="answer")


def test_the_column_that_was_meant_is_shown(write):
    """Of many columns the last ones, too: what is no class' seldom stands among the first."""
    many = pd.DataFrame(RNG.normal(size=(40, 12)), columns=[f"class_{k}" for k in range(12)])
    with pytest.raises(ValueError, match=r"Got class_0, .*, \.\.\., .*, target \(13\): is it 'target'\?$"):
        read_logits(write(many.assign(target=Y)))
    with pytest.raises(ValueError, match=r"column 'Target', of the label\. Got .*: is it 'target'\?$"):
        read_logits(write(many.assign(target=Y)), label_column="Target")
    with pytest.raises(ValueError, match=r"column 'patients', of the groups\. Got .*: is it 'patient'\?$"):
        read_logits(write(FRAME.assign(patient=PATIENT)), groups="patients")
    with pytest.raises(ValueError, match=r"column 'label', or one that --label-column names\. Got ant, bee, None\.$"):
        read_logits(write(FRAME[NAMES]))


def test_a_table_without_header(tmp_path):
    FRAME.to_csv(tmp_path / "x.csv", index=False, header=False)
    with pytest.raises(
        ValueError, match=r"names of columns in its first line\. Got numbers, .*: is the header missing"
    ):
        read_logits(tmp_path / "x.csv")
    numbered = FRAME.set_axis(["0", "1", "2", "3"], axis=1)  # names of classes
    numbered.to_csv(tmp_path / "x.csv", index=False)
    with pytest.raises(ValueError, match=r"must have a column 'label'.* Got 0, 1, 2, 3\.$"):
        read_logits(tmp_path / "x.csv")
    assert len(read_logits(tmp_path / "x.csv", label_column="3")["all"]) == 40


def test_names_of_classes_that_were_said(write, tmp_path):
    words = np.array(["bad", "good"])
    frame = pd.DataFrame({"p": expit(Z[:, 0]), "label": words[(Y > 0).astype(int)]})
    found = read_logits(write(frame), "probs", class_names=("bad", "good"))["all"]
    np.testing.assert_array_equal(found.labels, Y > 0)
    with pytest.raises(
        ValueError, match=r"class_names must be in the order of the columns, ant, bee, None\. Got bee, ant"
    ):
        read_logits(write(FRAME), class_names=("bee", "ant", "None"))
    assert read_logits(write(FRAME), class_names=("x", "y", "z"))["all"].class_names == ("x", "y", "z")


def test_nullable_types_of_pandas(tmp_path):
    frame = FRAME.astype({"ant": "Float32", "bee": "Float64", "label": "Int64"})
    frame.to_parquet(tmp_path / "x.parquet")
    found = read_logits(tmp_path / "x.parquet")["all"]
    assert found.logits.dtype == np.float64
    np.testing.assert_allclose(found.logits, Z, rtol=1e-6)
    np.testing.assert_array_equal(found.labels, Y)
    frame.loc[3, "bee"] = pd.NA
    frame.to_parquet(tmp_path / "x.parquet")
    with pytest.raises(ValueError, match="Got none in column bee of sample 3"):
        read_logits(tmp_path / "x.parquet")


def test_one_column_of_scores_is_binary_and_several_labels_are_multi_label(write):
    found = read_logits(write(pd.DataFrame({"p": expit(Z[:, 0]), "label": Y > 0})), "probs")["all"]
    assert (found.layout, found.classes, found.labels.sum()) == ("binary", 2, (Y > 0).sum())
    frame = pd.DataFrame(Z, columns=["rain", "snow", "hail"]).assign(y1=Y > 0, y2=Y > 1, y3=Y == 0).astype(float)
    many = read_logits(write(frame), label_column="y1, y2,y3")["all"]
    assert (many.layout, len(many), many.slice_names) == ("multi-label", 120, ("rain", "snow", "hail"))
    np.testing.assert_array_equal(many.labels.reshape(40, 3)[:, 1], Y > 1)
    with pytest.raises(ValueError, match=r"2 label columns need as many columns of scores\. Got 4"):
        read_logits(write(frame), label_column="y1,y2")


@pytest.mark.parametrize(
    ("frame", "options", "message"),
    [
        (FRAME.assign(groups=Y), {}, "column 'groups' of .* is no class': leave it out, or say --groups groups"),
        (FRAME.assign(Weight=1.0), {}, "column 'Weight' of .* is no class': leave it out, or say --weights Weight"),
        (FRAME.assign(w=1.5), {}, "say --weights w. If it is one, name it otherwise"),
        (FRAME.assign(site=Y), {}, "say --slices site"),
        (FRAME, {"groups": "patient"}, "must have a column 'patient', of the groups"),
        (FRAME, {"groups": "label"}, "the label must be a column of its own. Got 'label' for another purpose"),
        (FRAME.assign(p=[None, *PATIENT[1:]]), {"groups": "p"}, "Got none in column p of sample 0"),
        (FRAME[["label"]], {}, "must have a column of scores for each class. Got none"),
        (FRAME.assign(label=NAMES[Y]).rename(columns={"bee": "wasp"}), {}, "labels must be names of columns"),
        (FRAME.assign(label=[None, *Y[1:]]), {}, "Got none in column label of sample 0"),
        (
            pd.DataFrame({"p": expit(Z[:, 0]), "label": np.where(Y > 0, "yes", "no")}),
            {"given": "probs"},
            r"of one column, 1 where it is the class, 0 where not\. Got (yes|no): or say .* with --class-names",
        ),
        (FRAME, {"groups": 7}, "groups of a file must be the name of a column or array. Got int"),
        (FRAME, {"test_labels": "y.npy"}, "--test-labels goes with --test"),
        (FRAME, {"test": (Z, Y)}, "test must be a file where the data are one. Got tuple"),
    ],
)
def test_tables_whose_columns_do_not_fit(write, frame, options, message):
    with pytest.raises(ValueError, match=message):
        read_logits(write(frame), **options)


def test_a_column_that_labels_name_is_a_class_whatever_its_name(write):
    names = np.array(["site", "w", "id"])
    found = read_logits(write(pd.DataFrame(Z, columns=names).assign(label=names[Y])))["all"]
    assert found.class_names == tuple(names)


def test_two_files(write):
    sets = read_logits(write(FRAME, "val"), test=write(FRAME[:9], "test"))
    assert {name: len(part) for name, part in sets.items()} == {"validation": 40, "test": 9}


def test_two_pairs_of_npy_and_files_beside_them(tmp_path):
    for name, array in {"z": Z, "y": Y, "z2": Z[:9], "y2": Y[:9], "g": PATIENT.astype(int)}.items():
        np.save(tmp_path / f"{name}.npy", array)
    both = {"labels": tmp_path / "y.npy", "test": tmp_path / "z2.npy", "test_labels": tmp_path / "y2.npy"}
    assert len(read_logits(tmp_path / "z.npy", **both)["test"]) == 9
    found = read_logits(tmp_path / "z.npy", labels=tmp_path / "y.npy", groups=tmp_path / "g.npy")["all"]
    np.testing.assert_array_equal(found.groups, np.arange(8).repeat(5))
    with pytest.raises(ValueError, match=r"z2\.npy holds logits alone"):
        read_logits(tmp_path / "z.npy", labels=tmp_path / "y.npy", test=tmp_path / "z2.npy")
    with pytest.raises(ValueError, match=r"beside an npy file, groups must be the path of another\. Got patient"):
        read_logits(tmp_path / "z.npy", labels=tmp_path / "y.npy", groups="patient")
    with pytest.raises(ValueError, match="--label-column goes with csv and parquet"):
        read_logits(tmp_path / "z.npy", labels=tmp_path / "y.npy", label_column="y")


def test_arrays_of_an_archive(tmp_path):
    own = {"groups": PATIENT, "slices": Y % 2, "weights": Y + 1.0, "class_names": NAMES}
    np.savez(tmp_path / "x.npz", logits=Z, labels=NAMES[Y], **own, hospital=PATIENT[::-1])
    found = read_logits(tmp_path / "x.npz")["all"]
    np.testing.assert_array_equal(found.labels, Y)
    np.testing.assert_array_equal(found.groups, np.arange(8).repeat(5))
    assert (found.class_names, found.slice_names) == (tuple(NAMES), ("0", "1"))
    np.testing.assert_array_equal(found.weights, Y + 1.0)
    other = read_logits(tmp_path / "x.npz", groups="hospital")["all"]
    np.testing.assert_array_equal(other.groups, np.arange(8)[::-1].repeat(5))
    with pytest.raises(ValueError, match=r"must hold patient, for groups. Got class_names, groups, hospital"):
        read_logits(tmp_path / "x.npz", groups="patient")
    arrays = {
        f"{part}_{name}": array for part in ("validation", "test") for name, array in (("logits", Z), ("labels", Y))
    }
    np.savez(tmp_path / "two.npz", **arrays, validation_groups=PATIENT, test_groups=PATIENT)
    assert (read_logits(tmp_path / "two.npz")["test"].groups == np.arange(8).repeat(5)).all()
    np.savez(tmp_path / "half.npz", **arrays, test_groups=PATIENT)
    with pytest.raises(ValueError, match="groups must be there for validation and test, or for neither"):
        read_logits(tmp_path / "half.npz")
    with pytest.raises(ValueError, match=r"two.npz holds validation and test sets: --test goes with files of one set"):
        read_logits(tmp_path / "x.npz", test=tmp_path / "two.npz")


def test_other_shapes_in_archives(tmp_path):
    np.savez(tmp_path / "b.npz", logits=Z[:, 0], labels=Y > 0)
    np.savez(tmp_path / "s.npz", logits=RNG.normal(size=(4, 3, 5, 5)), labels=RNG.integers(0, 3, (4, 5, 5)))
    assert read_logits(tmp_path / "b.npz")["all"].layout == "binary"
    assert len(read_logits(tmp_path / "s.npz", pixels=10)["all"]) == 40
