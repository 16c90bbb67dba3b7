"""The version of the training code: whoever changes the code decides whether its numbers change."""

import json

import pytest

from reproduction.engine.store import VERSION
from workflow import training_version
from workflow.training_version import fingerprint, fingerprints, undecided

DECIDE = """the code that training runs depend on has changed since its version was last decided on: {files}.
If the numbers of a run change, raise VERSION in reproduction/engine/store.py: finished runs are then made anew.
In either case write the decision down: python -m workflow.training_version"""


def test_somebody_decided():
    changed = undecided()
    assert not changed, DECIDE.format(files=", ".join(changed))
    decided = json.loads(training_version.FILE.read_text())["version"]
    assert decided == VERSION, f"VERSION is {VERSION}, decided on is {decided}: python -m workflow.training_version"


def test_all_that_decides_numbers_counts_and_nothing_else():
    files = fingerprints()
    for name in ("fit", "trainer", "step", "monitor", "recipes", "spec", "data/dataset", "models/images"):
        assert f"reproduction/engine/{name}.py" in files
    assert {"focal_lib/losses/focal.py", "focal_lib/theory/maps.py", "focal_lib/metrics/bins.py"} <= set(files)
    for name in (
        "reproduction/engine/store",
        "reproduction/engine/run",
        "reproduction/engine/__init__",
        "focal_lib/losses/__init__",
    ):
        assert f"{name}.py" not in files


def test_a_change_is_noticed(tmp_path, monkeypatch):
    before = json.loads(training_version.FILE.read_text())
    before["files"]["reproduction/engine/step.py"] = "0"
    del before["files"]["focal_lib/losses/mmce.py"]
    monkeypatch.setattr(training_version, "FILE", tmp_path / "decided.json")
    training_version.FILE.write_text(json.dumps(before))
    assert {"reproduction/engine/step.py", "focal_lib/losses/mmce.py"} <= set(undecided())
    training_version.main()
    assert undecided() == []


CODE = '''
"""A module."""

def double(x: float, y=None) -> float:
    """Twice x."""
    return f"{2 * x:.3f}"
'''


@pytest.mark.parametrize(
    "same",
    [
        CODE.replace('"""Twice x."""', '"""Two times x.\n\n    Args: x."""'),
        CODE.replace("return", "# why\n\n    return"),
        CODE.replace("x: float, y=None", "\n    x: float,\n    y = None,\n"),
        CODE.replace('"""A module."""', ""),
        CODE.replace('f"{2 * x:.3f}"', "(f'{2*x:.3f}')"),
    ],
    ids=["docstring", "comment", "line breaks", "no docstring", "quotes"],
)
def test_what_python_does_not_see_does_not_count(same):
    assert fingerprint(same) == fingerprint(CODE)


@pytest.mark.parametrize(
    "other",
    [
        CODE.replace("2 *", "3 *"),
        CODE.replace(".3f", ".4f"),
        CODE.replace("y=None", "y=()"),
        CODE + "double = abs\n",
        CODE.replace("return", "x = x + 1\n    return"),
    ],
)
def test_what_python_sees_counts(other):
    assert fingerprint(other) != fingerprint(CODE)


def test_a_face_holds_no_code():
    assert fingerprint('"""A face."""\nfrom math import pi\n__all__ = ["pi"]\n') == ""
    tried = "try:\n    {}\nexcept ImportError:\n    raise ImportError('install it') from None\n"
    assert fingerprint(tried.format("import torch")) == ""
    assert fingerprint(tried.format("tau = 6.28")) != ""
    assert fingerprint("from math import pi\ntau = 2 * pi\n") != ""


def test_the_fingerprint_is_the_same_for_every_python():
    """Taken by Python 3.11; with 3.12 and 3.13 the syntax tree has other fields."""
    assert fingerprint(CODE) == "4bcad6597b4be809"
