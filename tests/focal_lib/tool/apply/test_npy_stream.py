"""npy files in chunks: what numpy reads and writes, cut streams, other orders and kinds."""

import io
import sys
from pathlib import Path

import numpy as np
import pytest
from scipy.special import softmax

from focal_lib.calibration.calibrators.temperature import TemperatureScaling
from focal_lib.tool.apply.files import apply_calibrator, open_scores, write_npy

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
