"""npy files in chunks, cut streams, other orders and kinds; tables by the columns of fit, which keep the others."""

import io
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy.special import expit, softmax

from focal_lib.calibration.calibrators.focal_probabilities import FocalProbabilities
from focal_lib.calibration.calibrators.temperature import TemperatureScaling
from focal_lib.tool.apply.files import apply_calibrator, apply_to_table, open_scores, write_npy
from focal_lib.tool.apply.new_scores import apply_to_scores
from focal_lib.tool.report.report import calibrate

Z = np.random.default_rng(0).normal(size=(70, 5)) * 3


@pytest.fixture(scope="module")
def fit():
    return TemperatureScaling().fit(Z, Z.argmax(1) * (np.arange(70) % 3 > 0))


@pytest.mark.parametrize("kind", [np.float16, np.float32, np.float64, np.int8, ">f4"])
def test_chunks_are_numpys_array(tmp_path, kind):
    np.save(tmp_path / "z.npy", Z.astype(kind))
    with open_scores(tmp_path / "z.npy") as source:
        assert (source.shape, source.dtype) == ((70, 5), np.dtype(kind))
        parts = list(source.chunks(33))
    assert [len(part) for part in parts] == [33, 33, 4]
    np.testing.assert_array_equal(np.concatenate(parts), Z.astype(kind))


def test_a_header_of_version_2(tmp_path):
    with (tmp_path / "z.npy").open("wb") as stream:
        np.lib.format.write_array(stream, Z, version=(2, 0))
    with open_scores(tmp_path / "z.npy") as source:
        np.testing.assert_array_equal(*source.chunks(100), Z)


@pytest.mark.parametrize(("read", "written"), [("f2", "f4"), ("f4", "f4"), ("i1", "f4"), ("f8", "f8"), ("i8", "f8")])
def test_numpy_reads_what_is_written(tmp_path, read, written):
    write_npy(tmp_path / "p.npy", Z.shape, [Z[:40], Z[40:]], np.dtype(read))
    found = np.load(tmp_path / "p.npy")
    assert found.dtype == np.dtype(written)
    np.testing.assert_array_equal(found, Z.astype(written))


@pytest.mark.parametrize(
    ("given", "arrays"),
    [
        ("logits", {"logits": Z, "labels": Z[:, 0]}),
        ("logits", {"scores": Z}),
        ("probs", {"probs": softmax(Z, axis=-1), "labels": Z[:, 0]}),
    ],
)
def test_npz(tmp_path, fit, given, arrays):
    np.savez(tmp_path / "z.npz", **arrays)
    apply_calibrator(fit, tmp_path / "z.npz", tmp_path / "p.npy", chunk=9, given=given)
    np.testing.assert_allclose(np.load(tmp_path / "p.npy"), softmax(Z / fit.temperature_, axis=-1))


def test_npz_of_several_arrays_without_logits(tmp_path, fit):
    np.savez(tmp_path / "z.npz", a=Z, b=Z)
    with pytest.raises(ValueError, match=r"must hold logits, or one array alone\. Got a, b"):
        apply_calibrator(fit, tmp_path / "z.npz", tmp_path / "p.npy")


@pytest.mark.parametrize("shape", [(70, 5), (7, 10, 5)])
def test_a_file_that_is_stored_class_by_class(tmp_path, shape):
    """As np.save writes what pandas' to_numpy gives."""
    by_column = np.asfortranarray(Z.reshape(shape).astype(">f4"))
    np.save(tmp_path / "z.npy", by_column)
    with open_scores(tmp_path / "z.npy") as source:
        assert (source.shape, source.dtype) == (shape, np.dtype(">f4"))
        np.testing.assert_array_equal(np.concatenate(list(source.chunks(33))), by_column)


def test_a_pipe_that_is_stored_class_by_class(monkeypatch):
    given = io.BytesIO()
    np.save(given, np.asfortranarray(Z))
    given.seek(0)
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(given))
    with pytest.raises(ValueError, match="row by row"), open_scores(Path("-")):
        pass


def test_a_failure_leaves_the_old_file(tmp_path):
    np.save(tmp_path / "p.npy", Z)
    before = (tmp_path / "p.npy").read_bytes()

    def chunks():
        yield Z[:40]
        raise ValueError("planted")

    with pytest.raises(ValueError, match="planted"):
        write_npy(tmp_path / "p.npy", Z.shape, chunks(), Z.dtype)
    assert (tmp_path / "p.npy").read_bytes() == before
    assert [path.name for path in tmp_path.iterdir()] == ["p.npy"]


def test_standard_input_and_output(monkeypatch, fit):
    given, taken = io.BytesIO(), io.BytesIO()
    np.save(given, Z)
    given.seek(0)
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(given))
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(taken))
    apply_calibrator(fit, Path("-"), Path("-"), chunk=9)
    taken.seek(0)
    np.testing.assert_allclose(np.load(taken), fit.predict_proba(Z), atol=1e-15)


def test_applied_in_chunks_or_at_once(tmp_path, fit):
    np.save(tmp_path / "p.npy", softmax(Z, -1).astype(np.float32))
    for chunk in (7, 1000):
        n = apply_calibrator(fit, tmp_path / "p.npy", tmp_path / f"{chunk}.npy", given="probs", chunk=chunk)
        assert n == 70
    np.testing.assert_array_equal(np.load(tmp_path / "7.npy"), np.load(tmp_path / "1000.npy"))
    np.testing.assert_allclose(np.load(tmp_path / "7.npy"), fit.predict_proba(Z), atol=1e-6)


def write_cut(path):
    np.save(path, Z)
    path.write_bytes(path.read_bytes()[:-100])


@pytest.mark.parametrize(
    ("write", "message"),
    [
        (write_cut, r"x\.npy must hold 70 samples, 2,800 bytes\. It has 2,700"),
        (lambda path: path.write_text("no npy"), "x.npy must be an npy file"),
        (lambda path: np.save(path, Z[0]), r"of classes must have the 5 classes of fit, shape \(n, 5\)\. Got \(5,\)"),
        (lambda path: np.save(path, Z.astype(str)), r"must hold scores of samples, \(n, K\) say"),
        (lambda path: np.save(path, softmax(Z, -1)), "--given probs"),
        (lambda path: np.save(path, Z[:, :3]), "must have the 5 classes of fit"),
    ],
)
def test_what_is_refused_leaves_nothing(tmp_path, fit, write, message):
    write(tmp_path / "x.npy")
    with pytest.raises(ValueError, match=message):
        apply_calibrator(fit, tmp_path / "x.npy", tmp_path / "p.npy", chunk=33)
    assert [path.name for path in tmp_path.iterdir()] == ["x.npy"]


def test_the_logits_are_not_replaced(tmp_path, fit):
    np.save(tmp_path / "z.npy", Z)
    with pytest.raises(ValueError, match="the result must go into another file than the input"):
        apply_calibrator(fit, tmp_path / "z.npy", tmp_path / "z.npy")
    np.testing.assert_array_equal(np.load(tmp_path / "z.npy"), Z)


def test_a_stream_that_ends_early(monkeypatch, tmp_path, fit):
    write_cut(tmp_path / "x.npy")
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO((tmp_path / "x.npy").read_bytes())))
    with pytest.raises(ValueError, match=r"must hold 70 samples\. It ends after 66"):
        apply_calibrator(fit, Path("-"), tmp_path / "p.npy", chunk=33)
    assert [path.name for path in tmp_path.iterdir()] == ["x.npy"]


@pytest.mark.parametrize("stream", ["stdin", "stdout"])
def test_closed_streams(monkeypatch, tmp_path, fit, stream):
    np.save(tmp_path / "x.npy", Z)
    monkeypatch.setattr(sys, stream, None)
    ends = {"stdin": (Path("-"), tmp_path / "p.npy"), "stdout": (tmp_path / "x.npy", Path("-"))}[stream]
    with pytest.raises(ValueError, match=r"^standard (in|out)put must be .* It is closed"):
        apply_calibrator(fit, *ends)


def test_headers_that_lie_take_no_memory(tmp_path, fit):
    """Rows, bytes of the header itself, and a chunk that is larger than memory."""
    for shape in ((10**12, 5), (70, 10**12), (-70, 5)):
        with (tmp_path / "x.npy").open("wb") as stream:
            np.lib.format.write_array_header_1_0(stream, {"descr": "<f8", "fortran_order": False, "shape": shape})
            stream.write(Z.tobytes())
        with pytest.raises(ValueError, match=r"x\.npy must "):
            apply_calibrator(fit, tmp_path / "x.npy", tmp_path / "p.npy")
    (tmp_path / "x.npy").write_bytes(b"\x93NUMPY\x02\x00" + (2**32 - 1).to_bytes(4, "little") + b"{" * 100)
    with pytest.raises(ValueError, match=r"x\.npy must be an npy file"):
        apply_calibrator(fit, tmp_path / "x.npy", tmp_path / "p.npy")
    np.save(tmp_path / "x.npy", Z)
    assert apply_calibrator(fit, tmp_path / "x.npy", tmp_path / "p.npy", chunk=10**15) == 70


# --- tables ---------------------------------------------------------------------------------

NAMES = ("cat", "dog", "a bird")


@pytest.fixture(scope="module")
def logits():
    return np.random.default_rng(0).normal(size=(300, 3)) * 3


@pytest.fixture(scope="module")
def named(logits):
    """Fitted where columns had names."""
    labels = (softmax(logits / 2, axis=-1).cumsum(1) > np.random.default_rng(1).random((300, 1))).argmax(1)
    frame = pd.DataFrame(logits, columns=list(NAMES))
    return calibrate((frame, labels), "temperature", resamples=2, keep="temperature", force=True).calibrator


@pytest.fixture
def table(logits):
    """Columns in another order, and others among them."""
    frame = pd.DataFrame(logits, columns=list(NAMES))[["dog", "a bird", "cat"]]
    frame.insert(0, "id", [f"{i:03}" for i in range(300)])
    return frame.assign(label="cat", note="yes, and no")


@pytest.mark.parametrize("read_as", [".csv", ".parquet"])
@pytest.mark.parametrize("written_as", [".csv", ".parquet"])
def test_probabilities_stand_in_place_of_the_scores(named, logits, table, tmp_path, read_as, written_as):
    source, out = tmp_path / f"new{read_as}", tmp_path / f"probs{written_as}"
    table.to_csv(source, index=False) if read_as == ".csv" else table.to_parquet(source)
    assert apply_to_table(named, source, out) == 300
    found = pd.read_csv(out, dtype={"id": str}) if written_as == ".csv" else pd.read_parquet(out)
    assert list(found.columns) == list(table.columns)
    np.testing.assert_allclose(found[list(NAMES)], softmax(logits / named.temperature_, axis=-1), rtol=1e-12)
    for name in ("id", "label", "note"):
        assert found[name].tolist() == table[name].tolist()


def test_probabilities_alone_in_the_order_of_fit(named, logits, table, tmp_path):
    table.to_csv(tmp_path / "new.csv", index=False)
    apply_to_table(named, tmp_path / "new.csv", tmp_path / "probs.npy")
    found = np.load(tmp_path / "probs.npy")
    np.testing.assert_allclose(found, softmax(logits / named.temperature_, axis=-1), rtol=1e-12)


def test_without_names_all_columns_but_the_label(logits, tmp_path):
    fit = TemperatureScaling().fit(logits, np.arange(300) % 3)
    pd.DataFrame(logits).assign(label=0).to_csv(tmp_path / "new.csv", index=False)
    apply_to_table(fit, tmp_path / "new.csv", tmp_path / "probs.npy")
    np.testing.assert_allclose(np.load(tmp_path / "probs.npy"), fit.predict_proba(logits), rtol=1e-12)


def test_one_column_by_its_name_whatever_stands_beside_it(tmp_path):
    """An age is no logit, and a label of another name no score."""
    scores = np.linspace(-4, 4, 200)
    y = (np.random.default_rng(0).random(200) < expit(scores / 2)).astype(int)
    pd.DataFrame({"score": scores, "y": y}).to_csv(tmp_path / "fit.csv", index=False)
    options = {"label_column": "y", "class_names": ("no", "yes"), "keep": "temperature", "force": True}
    fit = calibrate(tmp_path / "fit.csv", "temperature", resamples=2, **options).calibrator
    new = pd.DataFrame({"age": range(30, 230), "score": scores, "y": y})
    new.to_csv(tmp_path / "new.csv", index=False)
    apply_to_table(fit, tmp_path / "new.csv", tmp_path / "out.csv")
    found = pd.read_csv(tmp_path / "out.csv")
    np.testing.assert_allclose(found["score"], expit(scores / fit.temperature_), rtol=1e-12)
    pd.testing.assert_frame_equal(found[["age", "y"]], new[["age", "y"]])


def test_labels_of_a_multi_label_table_stay(tmp_path):
    rng = np.random.default_rng(0)
    z = rng.normal(size=(300, 2)) * 3
    table = pd.DataFrame(z, columns=["a", "b"]).assign(y0=rng.random(300) < expit(z[:, 0]), y1=rng.random(300) < 0.5)
    table = table.astype({"y0": int, "y1": int})
    table.to_csv(tmp_path / "ml.csv", index=False)
    options = {"label_column": "y0,y1", "keep": "temperature", "force": True}
    fit = calibrate(tmp_path / "ml.csv", "temperature", resamples=2, **options).calibrator
    apply_to_table(fit, tmp_path / "ml.csv", tmp_path / "out.csv")
    found = pd.read_csv(tmp_path / "out.csv")
    pd.testing.assert_frame_equal(found[["y0", "y1"]], table[["y0", "y1"]])
    np.testing.assert_allclose(found[["a", "b"]], expit(z / fit.temperature_), rtol=1e-12)


def test_an_index_of_pandas_is_a_column(named, table, tmp_path):
    table.set_index("id").to_parquet(tmp_path / "new.parquet")
    apply_to_table(named, tmp_path / "new.parquet", tmp_path / "out.csv")
    assert pd.read_csv(tmp_path / "out.csv", dtype=str)["id"].tolist() == table["id"].tolist()


def test_other_columns_than_can_be_meant_are_refused(logits, tmp_path):
    fit = TemperatureScaling().fit(logits, np.arange(300) % 3)
    pd.DataFrame(logits).assign(more=1.5).to_csv(tmp_path / "new.csv", index=False)
    with pytest.raises(ValueError, match=r"all columns but 'label', 3 columns\. Got 0, 1, 2, more"):
        apply_to_table(fit, tmp_path / "new.csv", tmp_path / "out.npy")


def test_one_column_of_a_positive_class(tmp_path):
    scores = np.linspace(-4, 4, 200)
    labels = (np.random.default_rng(0).random(200) < expit(scores / 2)).astype(int)
    fit = calibrate((scores, labels), "temperature", resamples=2, keep="temperature", force=True).calibrator
    pd.DataFrame({"score": scores, "label": labels}).to_csv(tmp_path / "new.csv", index=False)
    apply_to_table(fit, tmp_path / "new.csv", tmp_path / "out.csv")
    found = pd.read_csv(tmp_path / "out.csv")
    np.testing.assert_allclose(found["score"], expit(scores / fit.temperature_), rtol=1e-12)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda t: t.drop(columns="dog"), "cat, dog, a bird. Got id, a bird, cat, label, note; no 'dog'"),
        (lambda t: t.set_axis(["id", "dog", "dog", "cat", "label", "note"], axis=1), "no 'a bird'"),
        (lambda t: t.set_axis(["dog", "dog", "a bird", "cat", "label", "note"], axis=1), "Got 'dog' more than once"),
        (lambda t: t.assign(dog="much"), "must hold numbers. Got str|must hold numbers. Got object"),
        (lambda t: t.assign(dog=[np.nan, *t["dog"][1:]]), "Got none in column dog of sample 0"),
    ],
)
def test_what_is_refused_leaves_nothing_but_the_table(named, table, tmp_path, change, message):
    change(table).to_csv(tmp_path / "new.csv", index=False)
    with pytest.raises(ValueError, match=message):
        apply_to_table(named, tmp_path / "new.csv", tmp_path / "out.csv")
    assert not (tmp_path / "out.csv").exists()


def test_a_column_that_counts_is_no_class(logits, tmp_path):
    fit = TemperatureScaling().fit(logits[:, :2], np.arange(300) % 2)
    (tmp_path / "new.csv").write_text("id,score\n" + "\n".join(f"{i},{z}" for i, z in enumerate(logits[:, 0])))
    with pytest.raises(ValueError, match="Leave out 'id'"):
        apply_to_table(fit, tmp_path / "new.csv", tmp_path / "out.npy")


def test_to_standard_output(named, logits, table, tmp_path, monkeypatch):
    table.to_csv(tmp_path / "new.csv", index=False)
    stream = io.TextIOWrapper(io.BytesIO())
    monkeypatch.setattr("sys.stdout", stream)
    apply_to_table(named, tmp_path / "new.csv", type(tmp_path)("-"))
    stream.seek(0)
    assert np.load(stream.buffer).shape == (300, 3)


@pytest.mark.parametrize("read_as", [".csv", ".parquet"])
@pytest.mark.parametrize("written_as", [".csv", ".parquet", ".npy"])
def test_a_table_without_samples_stays_one(named, table, tmp_path, read_as, written_as):
    """As of a day on which nothing came."""
    source, out, none = tmp_path / f"new{read_as}", tmp_path / f"probs{written_as}", table[:0]
    none.to_csv(source, index=False) if read_as == ".csv" else none.to_parquet(source)
    assert apply_to_table(named, source, out) == 0
    if written_as == ".npy":
        assert np.load(out).shape == (0, 3)
        return
    found = pd.read_csv(out) if written_as == ".csv" else pd.read_parquet(out)
    assert list(found.columns) == list(table.columns)
    assert len(found) == 0


def test_a_column_twice_is_no_option_more(tmp_path):
    """A calibrator of options takes any number of columns; it gave five probabilities of three names."""
    fit = TemperatureScaling().fit(np.array([[0.0, 1.0, 0.5], [2.0, 0.0, 1.0], [1.0, 3.0, 2.0]] * 40), [1, 0, 2] * 40)
    fit.layout_ = "options"
    (tmp_path / "new.csv").write_text("a,a,c\n1,2,3\n0,1,5\n")
    with pytest.raises(ValueError, match=r"each column once\. Got 'a' more than once"):
        apply_to_table(fit, tmp_path / "new.csv", tmp_path / "out.npy")


@pytest.mark.parametrize("read_as", [".csv", ".parquet", ".jsonl"])
def test_scores_by_other_names_than_those_of_fit(named, logits, table, tmp_path, read_as):
    new = table.rename(columns={"cat": "p0", "dog": "p1", "a bird": "p2"})
    source, out = tmp_path / f"new{read_as}", tmp_path / "out.parquet"
    {
        ".csv": lambda: new.to_csv(source, index=False),
        ".parquet": lambda: new.to_parquet(source),
        ".jsonl": lambda: new.to_json(source, orient="records", lines=True, double_precision=15),
    }[read_as]()
    with pytest.raises(
        ValueError, match=r"that the calibrator was fitted on, .* no 'cat': if they have other names, say"
    ):
        apply_to_table(named, source, out)
    assert apply_to_table(named, source, out, scores="p0,p1,p2") == 300
    found = pd.read_parquet(out)
    np.testing.assert_allclose(found[["p0", "p1", "p2"]], softmax(logits / named.temperature_, axis=-1), rtol=1e-9)
    assert found["id"].tolist() == table["id"].tolist()
    with pytest.raises(ValueError, match=r"those that --scores names, else .* 3 columns\. Got p0, p1"):
        apply_to_table(named, source, out, scores=["p0", "p1"])


def test_one_column_of_scores_is_of_the_event_of_two_classes(tmp_path):
    (tmp_path / "s.csv").write_text("p\n-3\n0\n2\n")
    fit = FocalProbabilities(2.0, 0.25).fit()
    apply_to_table(fit, tmp_path / "s.csv", tmp_path / "o.csv", scores="p")
    found = pd.read_csv(tmp_path / "o.csv")["p"]
    np.testing.assert_allclose(found, apply_to_scores(fit, np.array([-3.0, 0.0, 2.0])))
