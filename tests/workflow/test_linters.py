"""Each linter of what is not Python finds a fault that is planted. `make lint` makes their environment."""

import shutil
from pathlib import Path

import pytest

from reproduction.checkout import ROOT
from workflow import linters
from workflow.crate import crate

FAULTS = {  # linter -> file, what stands there, what is put in its place, what the linter says
    "citation": ("CITATION.cff", "cff-version: 1.2.0", "cff-version: 9.9.9", "cff-version"),
    "container": ("Dockerfile", "FROM python:3.12-bookworm", "FROM python", "DL3006"),
    "workflows": (".github/workflows/pages.yml", "persist-credentials: false", "fetch-depth: 1", "artipacked"),
    "crate": ("results/ro-crate-metadata.json", '"license"', '"of its own"', "license"),
}

needs_linters = pytest.mark.skipif(not (linters.HOME / "made-of.lock").is_file(), reason="make lint has not run")


@needs_linters
@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[pytest.mark.slow] * (name == "crate")) for name in linters.LINTERS]
)
def test_a_planted_fault_is_found(name, tmp_path):
    """Without it nothing is found: make lint says so of the project itself."""
    path, stands, instead, said = FAULTS[name]
    top = ROOT / path.split("/")[0]
    if name == "crate":  # a small one
        shutil.copytree(top / "watch", tmp_path / top.name / "watch")
        (tmp_path / path).write_text(crate(tmp_path / top.name))
    else:
        (shutil.copytree if top.is_dir() else shutil.copy)(top, tmp_path / top.name)
    text = (tmp_path / path).read_text()
    assert stands in text
    (tmp_path / path).write_text(text.replace(stands, instead))
    assert said in linters.complaints([name], root=tmp_path)[name]


def test_the_environment_is_made_once_for_a_lock_file(tmp_path, monkeypatch):
    made = []
    monkeypatch.setattr(linters.venv, "create", lambda home, **_: (made.append(home), home.mkdir(exist_ok=True)))
    monkeypatch.setattr(linters.subprocess, "run", lambda command, check: made.append(Path(command[-1])))
    lock = tmp_path / "lint.lock"
    for content in ("one==1\n", "one==1\n", "one==2\n"):
        lock.write_text(content)
        linters.prepare(tmp_path / "home", lock)
    home = tmp_path / "home"
    assert made == [home, lock, home / "ro-crate"] * 2
