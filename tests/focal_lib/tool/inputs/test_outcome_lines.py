"""Lines of csv and JSON, in each of the ways they may say whether a prediction was right."""

import gzip

import pytest
from hypothesis import given
from hypothesis import strategies as st

from focal_lib.tool.inputs.outcome_lines import read_outcomes

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
    assert list(read_outcomes(text.splitlines(keepends=True), "in")) == [(0.5, 1.0), (0.75, 0.0)]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("confidence,correct\n0.5,1\n1.5,1\n", r"in, line 3: confidence must lie in \[0, 1\]. Got 1.5"),
        ("confidence,correct\n69.3,1\n", r"Got 69.3: if these are percentages, divide by 100"),
        ("proba,label\n0.7,1\n", r"both of two classes, a column each, 1 - p and p; .* Got proba and label"),
        ('{"probs": [0.7], "label": 0}', "both of two classes, .* Got one"),
        ("confidence;correct\n0.5;1\n", "must have commas between columns, and decimal points. Got ';'"),
        ("confidence\tcorrect\n0.5\t1\n", "must have commas between columns"),
        ("confidence,correct\n\nx,1\n", "in, line 3: confidence must be a number. Got 'x'"),
        ("confidence,correct\nnan,1\n", "confidence must be a number"),
        ("confidence,correct\n0.5\n", "must have 2 cells, as the header has. Got 1"),
        ("confidence,confidence\n0.5,1\n", "columns must have names of their own"),
        ("confidence,label\n0.5,1\n", "must have confidence and correct; .* Got confidence, label"),
        ("a,b,label\n0.5,0.4,1\n", "must sum to 1"),
        ("a,b,label\n0.5,0.5,2\n", "labels must lie in 0 ... 1"),
        ("a,b,label\n0.5,0.5,0.5\n", "label must be a whole number"),
        ("cat,dog,label\n0.5,0.5,cow\n", r"label must be a number or the name of a column, cat, dog\. Got 'cow'"),
        ("1,2,label\n0.5,0.5,1\n", "label may be the name of a column or its place from 0. Got '1', .* column 0"),
        ("id,cat,dog,label\n0,0.5,0.5,1\n", "columns must be label and one for each class. Got 'id': leave it out"),
        ("Weight,cat,dog,label\n0,0.5,0.5,1\n", "Got 'Weight': leave it out"),
        ("confidence,predicted,label\n0.5,1,\n", "predicted and label must be there. Got ''"),
        ('{"confidence": 0.5, "predicted": null, "label": 1}', "predicted and label must be there. Got 'None'"),
        ('{"confidence": 0.5, "predicted": NaN, "label": NaN}', "predicted and label must be there"),
        ('confidence,correct\n"0.5,1\n', "in, line 2"),
        ('{"confidence": true, "correct": 1}', "confidence must be a number"),
        ('{"confidence": NaN, "correct": 1}', "confidence must be a number"),
        ('{"confidence": 0.5, "correct": 1}\n0.5,1', "in, line 2: must be an object of JSON"),
        ('{"confidence": 0.5, "correct": 1}\n[1]', "must be an object of JSON. Got list"),
        ('{"probs": {}, "label": 1}', "must have"),
        ('{"probs": [], "label": 0}', "in, line 1"),
        ('{"probs": [[0.5], 0.5], "label": 0}', "a probability must be a number"),
        ("{}", "Got nothing"),
        ('{"a":' + "[" * 100_000, "in, line 1"),
    ],
)
def test_a_bad_line_is_named(text, message):
    with pytest.raises(ValueError, match=message):
        list(read_outcomes(text.splitlines(keepends=True), "in"))


@given(st.text())
def test_any_text_gives_outcomes_or_says_what_is_wrong(text):
    try:
        found = list(read_outcomes(text.splitlines(keepends=True), "in"))
    except ValueError as error:
        found, message = [], str(error)
        assert message.startswith("in, line ")
    assert all(0 <= confidence <= 1 and correct in (0, 1) for confidence, correct in found)


def test_bytes_that_are_no_text(tmp_path):
    (tmp_path / "in").write_bytes(b"confidence,correct\n0.5,1\n\xff\xfe\n")
    with (
        (tmp_path / "in").open(encoding="utf-8") as lines,
        pytest.raises(ValueError, match="in: must be text in UTF-8"),
    ):
        list(read_outcomes(lines, "in"))


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        (
            "x.csv.gz",
            gzip.compress(b"confidence,correct\n0.5,1\n", mtime=0),
            r"^x\.csv\.gz: must be text .*: unpack it first",
        ),
        ("x.npz", b"PK\x03\x04\xff\xfe", r"^x\.npz: must be text in UTF-8, csv or lines of JSON\. .*: save it as csv"),
    ],
    ids=["gzip", "npz"],
)
def test_files_of_another_kind_are_told_what_helps(tmp_path, name, content, message):
    (tmp_path / name).write_bytes(content)
    with (tmp_path / name).open(encoding="utf-8") as lines, pytest.raises(ValueError, match=message):
        list(read_outcomes(lines, name))
