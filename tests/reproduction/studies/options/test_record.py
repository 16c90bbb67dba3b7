"""Questions with lettered options, and a model's scores of them."""

import json

import numpy as np
import pytest

from reproduction.studies.options.record import OUT, read_questions, score_options

TASKS = {
    "colours": [
        ("Which?\nOptions:\n(A) red\n(B) blue", "(B)"),
        ("Which?\nOptions:\n(A) red\n(B) blue\n(C) green", "(A)"),
        ("Only one\nOptions:\n(A) red", "(A)"),
        ("A letter that is none\nOptions:\n(A) red\n(B) blue", "(C)"),
        ("Letters that do not begin at A\nOptions:\n(B) red\n(C) blue", "(C)"),
    ],
    "words": [("Is it?", "Yes")],
}


@pytest.fixture
def folder(tmp_path):
    for task, examples in TASKS.items():
        found = {"examples": [{"input": text, "target": target} for text, target in examples]}
        (tmp_path / f"{task}.json").write_text(json.dumps(found))
    return tmp_path


def test_questions_are_those_with_two_lettered_options_or_more(folder):
    found = list(read_questions(folder))
    assert [(q.task, q.options, q.label) for q in found] == [("colours", 2, 1), ("colours", 3, 0)]
    assert len(list(read_questions(folder, per_task=1))) == 1


def test_a_folder_without_tasks_is_refused(tmp_path):
    with pytest.raises(FileNotFoundError, match="must hold the tasks of BIG-Bench Hard"):
        list(read_questions(tmp_path))


def test_options_that_a_question_has_not_are_minus_infinity(folder):
    scores = score_options(list(read_questions(folder)), lambda text: np.arange(26.0) + len(text))
    first, second = scores
    assert first[1] - first[0] == second[1] - second[0] == 1
    assert np.isneginf(first[2])
    assert np.isfinite(second).all()


def test_what_is_recorded_is_whole():
    with np.load(OUT) as found:
        scores, labels, tasks = found["logits"], found["labels"], found["tasks"]
    assert len(scores) == len(labels) == len(tasks)
    assert np.isfinite(scores[np.arange(len(labels)), labels]).all()  # the right option is one of the question's
    offered = np.isfinite(scores)
    assert (offered.sum(-1) >= 2).all()
    assert (offered == (np.cumsum(~offered, -1) == 0)).all()
