"""Each check lets through what it promises, and says what was expected and what came of anything else."""

import math
import subprocess
import sys
from fractions import Fraction

import numpy as np
import pytest
import torch

from focal_lib.validation import check_gamma, check_labels, check_log_probs, check_logits, check_number, check_probs


@pytest.mark.parametrize(
    "value",
    [2, 2.0, np.float32(2), np.int64(2), np.array(2.0), np.array([2.0]), Fraction(2), torch.tensor(2.0)],
    ids=lambda v: type(v).__name__,
)
def test_numbers_of_every_kind(value):
    found = check_number(value, "x")
    assert type(found) is float
    assert found == 2


@pytest.mark.parametrize(
    "value",
    [True, np.True_, torch.tensor(True), "2", b"2", None, 2j, [2.0], np.array([1.0, 2.0]), torch.zeros(2), {}],
    ids=lambda v: f"{type(v).__name__}-{v}",
)
def test_what_is_no_number(value):
    with pytest.raises(ValueError, match=r"x must be one real number. Got "):
        check_number(value, "x")


@pytest.mark.parametrize(
    ("value", "limits", "message"),
    [
        (math.nan, {}, "x must be a finite number. Got nan"),
        (math.inf, {}, "x must be a finite number. Got inf"),
        (-1, {"minimum": 0}, "x must be a finite number >= 0. Got -1"),
        (0, {"above": 0}, "x must be a finite number > 0. Got 0"),
        (math.nan, {"above": 0}, "x must be a finite number > 0. Got nan"),
    ],
)
def test_bounds(value, limits, message):
    with pytest.raises(ValueError, match=message):
        check_number(value, "x", **limits)
    if limits:
        with pytest.raises(ValueError, match=message.replace("x", "gamma", 1)):
            check_gamma(value, **limits)


def test_bounds_that_are_kept():
    assert check_number(0, "x", minimum=0) == 0
    assert check_number(5e-324, "x", above=0) == 5e-324
    assert check_number(torch.tensor([2.0], requires_grad=True), "x") == 2
    assert check_gamma(-1) == -1


@pytest.mark.parametrize("kind", [np.asarray, torch.tensor], ids=["numpy", "torch"])
def test_good_arrays(kind):
    check_logits(kind([[1.0, -2.0]]))
    check_logits(kind(3.0), classes=False)
    check_probs(kind([[0.25, 0.75], [1.0, 0.0]]))
    check_log_probs(kind(np.log([[0.25, 0.75], [0.5, 0.5]])))
    check_labels(kind([0, 2, 1]), 3, 3)


@pytest.mark.parametrize("kind", [np.asarray, torch.tensor], ids=["numpy", "torch"])
@pytest.mark.parametrize(
    ("check", "values", "message"),
    [
        (check_logits, 3.0, r"logits must have shape \(..., K\) with K >= 2. Got \(\)"),
        (check_logits, [[1.0], [2.0]], r"logits must have shape \(..., K\) with K >= 2. Got \(2, 1\)"),
        (check_logits, [[1.0, math.nan], [math.inf, 0.0]], "logits must be finite. Got 2 NaN or infinite of 4"),
        (check_logits, np.empty((0, 3)), r"logits must not be empty. Got shape \(0, 3\)"),
        (check_probs, [1.5, -0.5], r"probs must lie in \[0, 1\]. Got values from -0.5 to 1.5"),
        (check_probs, [[0.5, 0.5], [0.5, 0.25]], "probs must sum to 1 over the classes. Got a sum that is off by 0.25"),
        (check_log_probs, [[0.0, 0.0]], r"log_probs must be log-probabilities, with logsumexp 0 .* Got 0.693"),
        (check_labels, [0, 1], r"labels must have shape \(n,\) = \(3,\). Got \(2,\)"),
        (check_labels, [[0, 1, 2]], r"labels must have shape \(n,\) = \(3,\). Got \(1, 3\)"),
        (check_labels, [0.0, 1.0, 2.0], "labels must be integers. Got dtype .*float"),
        (check_labels, [True, False, True], "labels must be integers. Got dtype .*bool"),
        (check_labels, [0, 1, 3], "labels must lie in 0 ... 2. Got values from 0 to 3"),
        (check_labels, [-1, 1, 2], "labels must lie in 0 ... 2. Got values from -1 to 2"),
    ],
)
def test_bad_arrays(kind, check, values, message):
    with pytest.raises(ValueError, match=message):
        check(kind(values), *((3, 3) if check is check_labels else ()))


def test_no_labels():
    with pytest.raises(ValueError, match="labels must not be empty"):
        check_labels(np.empty(0, int), 0, 3)


def test_single_precision_has_more_room():
    probs = np.array([0.5, 0.5001])
    check_probs(probs.astype(np.float32))
    with pytest.raises(ValueError, match=r"off by 0.0001"):
        check_probs(probs)


def test_checks_do_not_load_torch():
    code = "import sys, focal_lib.validation; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
