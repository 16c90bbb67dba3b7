"""samples_*.jsonl of lm-evaluation-harness, as its versions write them."""

import json

import numpy as np
import pytest

from focal_lib.calibration.logit_sets import MISSING
from focal_lib.tool.inputs.logits_file import read_logits

RNG = np.random.default_rng(0)


def question(index, count, right, *, words=None, **own):
    """A line as evaluation_tracker.save_results_samples writes it: numbers as text."""
    scores = [float(value) for value in -10 * RNG.random(count)]
    words = words or [f" option {place}" for place in range(count)]
    return {
        "doc_id": index,
        "doc": {"question": "Which?", "subject": f"subject {index % 2}"},
        "target": str(right),
        "arguments": {f"gen_args_{i}": {"arg_0": "Which?", "arg_1": word} for i, word in enumerate(words)},
        "resps": [[[str(score), "False"]] for score in scores],
        "filtered_resps": [[str(score), "False"] for score in scores],
        "acc": float(int(np.argmax(scores)) == right) if isinstance(right, int) else None,
        "filter": "none",
    } | own


def write(path, lines):
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


def test_questions_with_different_numbers_of_options(tmp_path):
    lines = [question(i, 2 + i % 4, i % 2) for i in range(12)]
    found = read_logits(write(tmp_path / "samples_task_2026.jsonl", lines), slices="subject", groups="doc_id")["all"]
    assert (found.layout, found.logits.shape) == ("options", (12, 5))
    np.testing.assert_array_equal(found.labels, np.arange(12) % 2)
    np.testing.assert_array_equal(found.logits[0, 2:], MISSING)
    assert [float(pair[0]) for pair in lines[3]["filtered_resps"]] == found.logits[3].tolist()
    assert (found.slice_names, found.groups.tolist()) == (("subject 0", "subject 1"), list(range(12)))


def test_as_many_options_everywhere_are_options_all_the_same(tmp_path):
    lines = [question(i, 4, 2) for i in range(5)]
    assert read_logits(write(tmp_path / "x.jsonl", lines))["all"].layout == "options"


def test_older_forms_numbers_lists_and_targets_by_their_text(tmp_path):
    words = [" Paris", " Rome", " Bern"]
    line = question(0, 3, " Bern", words=words) | {"arguments": [["Where?", word] for word in words]}
    line["filtered_resps"] = [[-1.5, False], [-2.0, True], [-0.5, False]]
    found = read_logits(write(tmp_path / "x.jsonl", [line, question(1, 2, 1)]))["all"]
    assert found.labels.tolist() == [2, 1]
    np.testing.assert_array_equal(found.logits[0], [-1.5, -2.0, -0.5])


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        ([], "must hold a question in each line. Got none"),
        ([["no", "object"]], "line 1 of x.jsonl must be an object of JSON"),
        (
            [question(0, 3, 0), question(0, 3, 1)],
            "line 2 of x.jsonl must be a question of its own. Got doc_id 0 once more",
        ),
        ([question(0, 3, 0, filtered_resps=["18"])], r"must have \[log-likelihood, is_greedy\] of each option"),
        ([question(0, 1, 0)], "finite log-likelihoods of at least two options"),
        ([question(0, 2, 0, filtered_resps=[["nan", "False"]] * 2)], "finite log-likelihoods"),
        ([question(0, 2, 0, words=["a", "a "])], "options that differ. Got one twice, as for acc_mutual_info"),
        ([question(0, 3, "[0, 2]")], r"must have one right option. Got target '\[0, 2\]'"),
        ([question(0, 3, 7)], "must have the place of an option as target, or its text. Got '7'"),
        ([question(0, 3, 1, words=["1", "2", "3"], acc=None)], "target '1', which is a place and the text of option 0"),
        ([question(i, 3, 1) | {"target": "2"} for i in range(30)], r"own acc was computed with. Got \d+ of 30"),
    ],
)
def test_what_is_refused(tmp_path, lines, message):
    with pytest.raises(ValueError, match=message):
        read_logits(write(tmp_path / "x.jsonl", lines))


def test_keys_that_are_not_there_and_other_numbers_are_refused(tmp_path):
    path = write(tmp_path / "x.jsonl", [question(0, 2, 0), question(1, 3, 1)])
    with pytest.raises(ValueError, match="must have a text or number 'topic', or its doc"):
        read_logits(path, slices="topic")
    with pytest.raises(ValueError, match="given as probabilities"):
        read_logits(path, "probs")


def test_one_very_wide_question_is_refused_before_memory_is_taken(tmp_path, monkeypatch):
    lines = [question(index, 2, 0) for index in range(50)] + [question(50, 400, 0)]
    path = write(tmp_path / "wide.jsonl", lines)
    monkeypatch.setattr("focal_lib.calibration.memory.available_memory", lambda: 500_000)
    with pytest.raises(ValueError, match=r"options as wide as those of the longest sample, \(51, 400\), must fit"):
        read_logits(path)


def test_lines_of_other_programs(tmp_path):
    with pytest.raises(ValueError, match=r"tasks with options .* Got a, b, label: of other predictions, save a table"):
        read_logits(write(tmp_path / "x.jsonl", [{"a": 0.5, "b": 1.5, "label": 1}]))


@pytest.mark.parametrize(
    ("own", "message"),
    [
        ({"doc_id": [1]}, r"line 1 of x\.jsonl must have a number or text as doc_id\. Got list"),
        ({"doc_id": {}}, "as doc_id. Got dict"),
        ({"acc": "abc"}, r"line 1 of x\.jsonl must have a number as acc\. Got 'abc'"),
        ({"acc": 10**400}, "must have a number as acc. Got '10000"),
        ({"target": 10**30}, "must have the place of an option as target"),
    ],
)
def test_values_of_other_types(tmp_path, own, message):
    with pytest.raises(ValueError, match=message):
        read_logits(write(tmp_path / "x.jsonl", [question(0, 3, 1) | own, question(1, 3, 1)]))
