"""Every public class and function has an example, and it gives what it says."""

import doctest
import importlib
import inspect
from pathlib import Path

import numpy as np
import pytest

FACES = [
    importlib.import_module(f"focal_lib.{name}")
    for name in ("theory", "losses", "boosting", "metrics", "calibration", "tool")
]
PUBLIC = {
    f"{face.__name__}.{name}": getattr(face, name)
    for face in FACES
    for name in face.__all__
    if callable(getattr(face, name))
}


@pytest.mark.parametrize("name", PUBLIC)
def test_it_has_an_example_that_holds(name, monkeypatch, tmp_path):
    found = PUBLIC[name]
    home = importlib.import_module(found.__module__)
    assert ">>> " in (inspect.getdoc(found) or ""), f"{name} has no example"
    monkeypatch.chdir(tmp_path)
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE)
    with np.printoptions(precision=4, suppress=True):
        examples = doctest.DocTestFinder(recurse=False).find(found, name, module=home, globs=dict(vars(home)))
        for example in examples:
            runner.run(example)
    assert runner.tries
    assert not runner.failures


def test_examples_of_other_modules_hold(monkeypatch, tmp_path):
    """Of functions that no face has."""
    monkeypatch.chdir(tmp_path)
    for path in sorted(Path(FACES[0].__file__).parents[1].rglob("*.py")):
        if ">>> " in path.read_text():
            parts = path.relative_to(Path(FACES[0].__file__).parents[2]).with_suffix("").parts
            module = importlib.import_module(".".join(parts).removesuffix(".__init__"))
            assert doctest.testmod(module, optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE).failed == 0
