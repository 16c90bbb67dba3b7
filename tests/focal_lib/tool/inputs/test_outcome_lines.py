"""Lines of csv and JSON, in each of the ways they may say whether a prediction was right."""

import gzip
import io

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import expit

from focal_lib.tool.inputs.outcome_lines import OutcomeLines, lines_of


def outcomes(chunks):
    found = list(OutcomeLines("in").read(chunks))
    return [value for p, _, _ in found for value in p.tolist()], [value for _, y, _ in found for value in y.tolist()]


WAYS = {
    "confidence and correct": "confidence,correct\n0.5,1\n0.75,False\n",
    "other columns": "when,correct,confidence\n1,true,.5\n2,0,0.75\n",
    "predicted and label": 'confidence,predicted,label\n0.5,cat,cat\n0.75,"a, b",cat\n',
    "every class": "a,b,c,label\n0.5,0.3,0.2,0\n0.1,0.75,0.15,2\n",
    "spaces and a mark": "\ufeffconfidence , correct\r\n\r\n 0.5, 1\r\n0.75, 0\r\n",
    "numbers as pandas writes them": "confidence,predicted,label\n0.5,1,1.0\n0.75,1,2.0\n",
    "truth values": "confidence,predicted,label\n0.5,1,True\n0.75,True,0\n",
    "every class by name": "cat,dog,owl,label\n0.5,0.3,0.2,cat\n0.1,0.75,0.15,owl\n",
    "every class by numbers": "3,7,8,label\n0.5,0.3,0.2,3.0\n0.1,0.75,0.15,8\n",
    "columns in the order of their numbers": "label,0,1,2\n0.0,0.5,0.3,0.2\n2,0.1,0.75,0.15\n",
    "objects with numbers": '{"confidence": 0.5, "predicted": 1, "label": 1.0}\n'
    '{"confidence": 0.75, "predicted": "7", "label": "007"}\n',
    "objects": '{"confidence": 0.5, "correct": true}\n\n{"confidence": 0.75, "correct": 0}\n',
    "objects with labels": '{"confidence": 0.5, "predicted": 3, "label": 3}\n{"confidence": 0.75, "predicted": 1, '
    '"label": 2}\n',
    "objects with probabilities": '{"probs": [0.5, 0.3, 0.2], "label": 0}\n{"probs": [0.1, 0.75, 0.15], "label": 2}',
}


@pytest.mark.parametrize("text", WAYS.values(), ids=WAYS)
def test_each_way(text):
    lines = text.encode().splitlines()
    for chunks in ([lines], [[line] for line in lines], lines_of(io.BytesIO(text.encode()))):
        assert outcomes(chunks) == (pytest.approx([0.5, 0.75]), [1, 0])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("confidence,correct\n0.5,1\n1.5,1\n", r"in, line 3: confidence must lie in \[0, 1\]. Got 1.5\.$"),
        ("confidence,correct\n69.3,1\n", r"Got 69.3: if these are percentages, divide by 100"),
        ("confidence;correct\n0.5;1\n", "must have commas between columns, and decimal points. Got ';'"),
        ("confidence\tcorrect\n0.5\t1\n", "must have commas between columns"),
        ("confidence,correct\n\nx,1\n", "in, line 3: confidence must be a number. Got 'x'"),
        ("confidence,correct\nnan,1\n", "confidence must be a number"),
        ("confidence,correct,confidence\n0.5,1,.5\n", "must have each column once. Got 'confidence'"),
        ("confidence,correct\n0.5,1,2\n", "in, line 2: .* for 3 cells in the next"),
        ("site,cat,label\nx,cat,1\n", "in, line 2: cat must be a number. Got 'cat'"),
        ("confidence,label\n0.5,1\n", "must have confidence and correct; .* Got confidence, label"),
        ("a,b,label\n0.5,0.4,1\n", "and sum to 1. Got .* off by 0.1"),
        ("a,b,label\n0.5,0.5,2\n", "labels count from 1 to 2"),
        ("a,b,label\n0.5,0.5,3\n", "labels must lie in 0 ... 1"),
        ("a,b,label\n0.5,0.5,0.5\n", "labels must be integers"),
        ("cat,dog,label\n0.5,0.5,cow\n", "labels must be names of columns, which are cat, dog. Got 'cow'"),
        ("1,2,label\n0.5,0.5,1\n", "labels may be names of columns, which are 1, 2, or their places from 0"),
        ('{"confidence": 0.5, "predicted": null, "label": 1}', "predicted must be there where label is"),
        ('confidence,correct\n"0.5,1\n', "in, line 2"),
        ('{"confidence": true, "correct": 1}', "confidence must be a number"),
        ('{"confidence": NaN, "correct": 1}', "confidence must be a number"),
        ('{"confidence": 0.5, "correct": 1}\n0.5,1', "in, line 2: must be an object of JSON"),
        ('{"confidence": 0.5, "correct": 1}\n[1]', "in, line 2: must be an object of JSON. It is not"),
        ('{"probs": {}, "label": 1}', "must hold numbers or text. Got dict"),
        ('{"probs": [], "label": 0}', "in, line 1: probs must be lists of as many numbers"),
        ('{"probs": [[0.5], 0.5], "label": 0}', "must hold numbers or text. Got list"),
        (
            '{"probs": [0.5, 0.5], "label": 1}\n{"probs": [0.5, 0.3, 0.2], "label": 1}',
            "in, line 2: probs must be lists of as many numbers, 2. Got 3",
        ),
        ('{"probs": [0.5, 0.5], "label": 1}\n{"probs": 5, "label": 1}', "in, line 2: must have 0, 1. Got probs"),
        ('{"confidence": 0.5, "correct": []}', "must hold numbers or text. Got list in column correct"),
        ("ts,label\n1,1\n", "must have a column of probabilities. Got ts, label: say --scores NAME"),
        ("cat,dog,label,country\n.5,.5,cat,de\n", "country must be a number. Got 'de': say with --scores which"),
        ("{}", "Got none"),
        ('{"a":' + "[" * 100_000, "in, line 1"),
    ],
)
def test_a_bad_line_is_named(text, message):
    with pytest.raises(ValueError, match=message):
        outcomes([text.encode().splitlines()])


@given(st.text())
def test_any_text_gives_outcomes_or_says_what_is_wrong(text):
    try:
        confidence, correct = outcomes([text.encode().splitlines()])
    except ValueError as error:
        (confidence, correct), message = ([], []), str(error)
        assert message.startswith("in, line ")
    assert all(0 <= value <= 1 for value in confidence)
    assert {*correct} <= {0, 1}


@pytest.mark.parametrize(
    "content",
    [b"confidence,correct\n0.5,1\n\xff\xfe\n", gzip.compress(b"confidence,correct\n0.5,1\n", mtime=0), b"PK\xff\xfe"],
)
def test_bytes_that_are_no_text(content):
    with pytest.raises(ValueError, match=r"in, line [13]: must be text"):
        outcomes(lines_of(io.BytesIO(content)))


# --- probabilities of the positive class, late outcomes, other columns ----------------------

LOG = "ts,id,p_pos,label\n1,7,0.9,1\n2,8,0.2,\n3,9,0.25,0\n"


@pytest.mark.parametrize("text", [LOG, LOG.replace("p_pos", "score"), LOG.replace(",\n", ",NA\n")])
def test_a_log_of_a_binary_model(text):
    read = OutcomeLines("in", key="id")
    ((p, y, ids),) = read.read([text.encode().splitlines()])
    np.testing.assert_allclose(p, [0.9, 0.25])
    assert (y.tolist(), ids.tolist(), read.of, read.late, read.unused) == ([1, 0], ["7", "9"], "probability", 1, ["ts"])


def test_two_classes_are_an_event_and_a_column_of_times_is_none():
    read = OutcomeLines("in")
    ((p, y, _),) = read.read([b"0,1,label,ts\n.3,.7,1,0\n.6,.4,0,1\n".splitlines()])
    np.testing.assert_allclose(p, [0.7, 0.4])
    assert (y.tolist(), read.of, read.unused) == ([1, 0], "probability", ["ts"])


@pytest.mark.parametrize(
    ("scores", "given", "values", "wanted"),
    [
        ("z", "logits", "2.1972245773362196,9,9", [0.9]),
        ("z", "log-probs", "-0.6931471805599453,9,9", [0.5]),
        (["a", "z"], "logits", "0,9,1.0986122886681098", None),
        ("z,a", "probs", ".3,9,.7", None),
    ],
)
def test_named_columns_of_scores(scores, given, values, wanted):
    read = OutcomeLines("in", scores, given, "y")
    z, _, a = map(float, values.split(","))
    ((p, y, _),) = read.read([f"z,other,a,y\n{values},1".encode().splitlines()])
    np.testing.assert_allclose(p, wanted or [expit(z - a) if given == "logits" else a])
    assert (y.tolist(), read.of) == ([1], "probability")


def test_named_columns_that_are_not_there():
    with pytest.raises(ValueError, match=r"in, line 1: must have zz\. Got zz1, label: is it 'zz1'"):
        list(OutcomeLines("in", "zz").read([b"zz1,label\n.5,1".splitlines()]))


class Endless(io.RawIOBase):
    """As /dev/zero: no line ends."""

    given = 0

    def readable(self):
        return True

    def readinto(self, place):
        self.given += len(place)
        place[:] = bytes(len(place))
        return len(place)


def test_what_has_no_line_ends_is_refused_soon():
    source = Endless()
    with pytest.raises(ValueError, match="a line must end within 1 MB"):
        list(OutcomeLines("in").read(lines_of(io.BufferedReader(source))))
    assert source.given < 2**21


@pytest.mark.parametrize("row", ["", "x,1,abc,1\n", "x,1,0.5,1\ny,2,abc,0\n"])
def test_ignored_columns_before_a_header_without_rows_or_a_bad_cell(row):
    """pandas took the place of a column for one among those that are read."""
    lines = OutcomeLines("in", scores="p", label="outcome")
    chunks = [text.encode().split(b"\n") for text in (("when,req,p,outcome\n" + row).strip(),)]
    if not row:
        assert [len(p) for p, _, _ in lines.read(chunks)] == [0]
        return
    with pytest.raises(ValueError, match=rf"in, line {2 + row.count('0.5')}: p must be a number. Got 'abc'"):
        list(lines.read(chunks))


@pytest.mark.parametrize("size", [1, 2, 7, 2**16])
def test_lines_are_the_same_however_they_come(size, monkeypatch):
    monkeypatch.setattr("focal_lib.tool.inputs.outcome_lines._AT_ONCE", size)
    text, seen = b"confidence,correct\r\n0.5,1\r\n\n0.75,0", []
    assert outcomes(lines_of(io.BytesIO(text), seen.append)) == ([0.5, 0.75], [1, 0])
    assert b"".join(seen) == text
