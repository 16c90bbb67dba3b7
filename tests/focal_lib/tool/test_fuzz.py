"""Files that are damaged or lie: each ends in a result or in one line, and takes no more memory than it is worth."""

from __future__ import annotations

import copy
import io
import json
import subprocess
import sys
import zipfile
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from focal_lib.calibration import saved
from focal_lib.calibration.calibrators.focal_temperature import FocalTemperatureScaling
from focal_lib.calibration.calibrators.linear import MatrixScaling, VectorScaling
from focal_lib.calibration.calibrators.one_vs_rest import HistogramBinning
from focal_lib.calibration.calibrators.temperature import TemperatureScaling
from focal_lib.calibration.saved import load_calibrator, save_calibrator
from focal_lib.tool.apply.files import apply_calibrator
from focal_lib.tool.inputs.logits_file import read_logits

RNG = np.random.default_rng(0)
Z = RNG.normal(size=(30, 3)).astype(np.float32)
Y = RNG.integers(3, size=30)
FIT = VectorScaling(1e-3).fit(Z, Y)
EXPECTED = (ValueError, OSError)  # what read_logits, load_calibrator and apply_calibrator say that they raise


def npy(array, version=None):
    stream = io.BytesIO()
    np.lib.format.write_array(stream, array, version)
    return stream.getvalue()


def npz(save):
    stream = io.BytesIO()
    save(stream, logits=Z, labels=Y)
    return stream.getvalue()


def parquet(frame, **options):
    stream = io.BytesIO()
    frame.to_parquet(stream, **options)
    return stream.getvalue()


FRAME = pd.DataFrame(Z, columns=list("abc")).assign(label=Y)
QUESTIONS = [  # of lm-evaluation-harness
    {"doc_id": i, "doc": {}, "arguments": {"gen_args_0": {"arg_0": "Which?", "arg_1": "a"}}, "target": str(y)}
    | {"resps": [[[str(v), "False"]] for v in z], "filtered_resps": [[str(v), "False"] for v in z], "filter": "none"}
    for i, (z, y) in enumerate(zip(Z[:6], Y, strict=False))
]
CONTENTS = {
    "stored.npz": npz(np.savez),
    "deflated.npz": npz(np.savez_compressed),
    "one.npy": npy(Z),
    "two.npy": npy(Z, (2, 0)),
    "comma.csv": FRAME.head(8).to_csv(index=False).encode(),
    "plain.parquet": parquet(FRAME),
    "samples_x.jsonl": "\n".join(map(json.dumps, QUESTIONS)).encode(),
    "nullable.parquet": parquet(FRAME.convert_dtypes(), compression="zstd"),
}


def damaged(content):
    """A few bytes changed, put in, taken out; or the end cut off."""
    place = st.integers(0, len(content) - 1)
    value = st.sampled_from([0, 1, 0x7F, 0x80, 0xFF, *b'",\n\r[{-9eE'])
    change = st.tuples(st.sampled_from(["flip", "set", "insert", "delete", "cut", "double"]), place, value)
    return st.lists(change, min_size=1, max_size=4).map(lambda changes: apply(content, changes))


def apply(content, changes):
    found = bytearray(content)
    for kind, place, value in changes:
        if kind == "cut":
            del found[place:]
        elif kind == "insert":
            found.insert(place, value)
        elif kind == "delete":
            del found[place : place + 1 + value % 9]
        elif kind == "double":
            found[place:place] = found[place : place + 64]
        elif place < len(found):
            found[place] = value if kind == "set" else found[place] ^ (value or 1)
    return bytes(found)


def fuzz(count):
    health = [HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
    return settings(derandomize=True, max_examples=count, deadline=None, database=None, suppress_health_check=health)


def is_said(call, *arguments):
    """A result, or one of the errors that are expected, in one line that says something."""
    try:
        call(*arguments)
    except EXPECTED as error:
        text = str(error)
    else:
        return
    assert len(text) > 10
    assert "\n" not in text


@pytest.mark.parametrize("name", CONTENTS)
def test_damaged_predictions(tmp_path, name):
    path = tmp_path / name
    np.save(tmp_path / "y.npy", Y)
    labels = tmp_path / "y.npy" if name.endswith("npy") else None

    @fuzz(80)
    @given(damaged(CONTENTS[name]))
    def one(content):
        path.write_bytes(content)
        is_said(read_logits, path, "logits", labels)
        if labels is not None:
            is_said(apply_calibrator, FIT, path, tmp_path / "p.npy")
            is_said(read_logits, labels, "logits", path)

    one()
    assert not list(tmp_path.glob(".*"))


def test_undamaged_ones_are_read(tmp_path):
    for name in ("samples_x.jsonl", "comma.csv", "plain.parquet", "stored.npz"):
        (tmp_path / name).write_bytes(CONTENTS[name])
        assert len(read_logits(tmp_path / name)) in (1, 2)


def test_damaged_calibrators(tmp_path):
    save_calibrator(FIT, tmp_path / "c.json")
    content = (tmp_path / "c.json").read_bytes()

    @fuzz(80)
    @given(damaged(content))
    def one(content):
        (tmp_path / "c.json").write_bytes(content)
        is_said(load_calibrator, tmp_path / "c.json")

    one()


WRONG_NUMBERS = [None, True, -1, 0, 2, 1e30, -1e-300, 10**400]
WRONG = st.sampled_from([*WRONG_NUMBERS, "", "nll", "3", [], [1.0], [[1.0]], [[1.0], []], [None], {}, {"a": 1}])
SAVED = {  # a fit of each kind of parameters
    "numbers": TemperatureScaling().fit(Z, Y),
    "numbers of the map": FocalTemperatureScaling("nll", "newton").fit(Z, Y),
    "a number a class": FIT,
    "a matrix": MatrixScaling(1e-3).fit(Z, Y),
    "steps": HistogramBinning(5).fit(Z, Y),
}


@pytest.mark.parametrize("name", SAVED)
def test_calibrators_with_a_checksum_that_fits_and_contents_that_do_not(tmp_path, name):
    """As another program, or somebody on purpose, would write them; what loads gives probabilities."""
    path = tmp_path / "c.json"
    save_calibrator(SAVED[name], path)
    whole = json.loads(path.read_text())
    places = [("method",), ("format",), ("parameters",), ("fitted",)]
    places += [(part, key) for part in ("parameters", "fitted") for key in whole[part]]
    places += [("fitted", key, 0) for key, value in whole["fitted"].items() if isinstance(value, list) and value]

    @fuzz(150)
    @given(st.lists(st.tuples(st.sampled_from(places), WRONG, st.booleans()), min_size=1, max_size=2))
    def one(changes):
        content = json.loads(json.dumps(whole))
        del content["checksum"]
        for place, value, taken_out in changes:
            put(content, place, copy.deepcopy(value), taken_out)
        path.write_text(json.dumps(content | {"checksum": saved.json_checksum(content)}))
        is_said(probabilities_after, path)

    one()


def put(content, place, value, taken_out):
    """Another value there, or none; nothing where an earlier change left no such place."""
    *way, last = place
    for step in way:
        content = content[step] if isinstance(content, dict) and step in content else None
    if isinstance(content, dict) and last != 0:
        content.pop(last, None) if taken_out else content.update({last: value})
    elif isinstance(content, list) and content and last == 0:
        content[last] = value


def probabilities_after(path):
    p = load_calibrator(path).predict_proba(Z)
    np.testing.assert_allclose(p.sum(1), 1, atol=1e-6)


NUMBERS = st.one_of(st.integers(), st.floats(), st.sampled_from(["", "NaN", "1e999", "0x1", "1_0", "true", "-", "é"]))


@fuzz(60)
@given(st.lists(st.lists(NUMBERS, max_size=4), max_size=6), st.sampled_from([",", ";", "\t"]))
def test_tables_of_anything(tmp_path_factory, rows, comma):
    path = tmp_path_factory.getbasetemp() / "any.csv"
    lines = [f"a{comma}b{comma}label", *(comma.join(map(str, row)) for row in rows)]
    path.write_text("\n".join(lines), encoding="utf-8")
    is_said(read_logits, path)


# --- memory -------------------------------------------------------------------------------------


def header(shape, kind="<f8"):
    stream = io.BytesIO()
    np.lib.format.write_array_header_1_0(stream, {"descr": kind, "fortran_order": False, "shape": shape})
    return stream.getvalue()


def archive(path, method=zipfile.ZIP_DEFLATED, **members):
    with zipfile.ZipFile(path, "w", method) as file:
        for name, parts in members.items():
            with file.open(f"{name}.npy", "w", force_zip64=True) as stream:
                for part in parts:
                    stream.write(part)


def write_liars(folder: Path) -> None:
    """Files of a few MB at most that say they hold, or blow up to, 290 MB and more."""
    labels, zeros = [npy(Y)], [bytes(10_000_000)] * 30
    archive(folder / "rows.npz", logits=[header((10**9, 4)), b"0" * 100], labels=labels)
    archive(folder / "bomb.npz", logits=[header((37_500_000, 1)), *zeros], labels=labels)
    archive(folder / "bomb2.npz", zipfile.ZIP_BZIP2, logits=[header((37_500_000, 1)), *zeros], labels=labels)
    archive(folder / "text.npz", logits=[header((2,), "<U999999999")], labels=labels)
    archive(folder / "header.npz", logits=[b"\x93NUMPY\x02\x00\xff\xff\xff\xff", *zeros], labels=labels)
    archive(folder / "labels.npz", logits=[npy(Z)], labels=[header((10**12,), "<i8")])
    (folder / "rows.npy").write_bytes(header((10**9, 4)) + bytes(100))
    (folder / "wide.csv").write_bytes(b",".join([b"1"] * 100_000) + b"\n" + b"1\n" * 1_000_000)
    (folder / "columns.csv").write_bytes(b",".join([b"1"] * 1_000_000))
    constant = pd.DataFrame({"a": np.zeros(12_000_000), "b": np.zeros(12_000_000), "label": 0})
    constant.to_parquet(folder / "constant.parquet", compression="zstd")
    (folder / "deep.json").write_bytes(b"[" * 5_000_000)


READ_ALL = """
import resource, sys
from pathlib import Path
import psutil
from focal_lib.tool.inputs.logits_file import read_logits
from focal_lib.calibration.saved import load_calibrator

limit = int(sys.argv[2])
resource.setrlimit(resource.RLIMIT_AS, (psutil.Process().memory_info().vms + limit,) * 2)
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
for path in sorted(Path(sys.argv[1]).iterdir()):
    try:
        if path.suffix == ".json":
            load_calibrator(path)
        else:
            read_logits(path, "logits", path if path.suffix == ".npy" else None)
    except ValueError as error:
        print(path.name, "refused:", error)
    else:
        print(path.name, "read")
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="memory is limited as Linux does")
def test_files_that_lie_are_refused_before_memory_is_taken(tmp_path):
    """In a process that may take 300 MB more than it has; it takes 100, for text that is read before it is parsed."""
    write_liars(tmp_path)
    command = [sys.executable, "-c", READ_ALL, str(tmp_path), str(300_000_000)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    *said, grown = done.stdout.splitlines()
    assert len(said) == len(list(tmp_path.iterdir()))
    assert all(" refused: " in line for line in said), done.stdout
    assert int(grown) * 1024 < 100_000_000
