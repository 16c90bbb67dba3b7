"""Each linter of what is not Python finds a fault that is planted. `make lint` makes their environment."""

import shutil

import pytest

from focal_lib.checkout import ROOT
from workflow import linters

FAULTS = {  # linter -> file, what stands there, what is put in its place, what the linter says
    "citation": ("CITATION.cff", "cff-version: 1.2.0", "cff-version: 9.9.9", "cff-version"),
    "container": ("Dockerfile", "FROM python:3.12-bookworm", "FROM python", "DL3006"),
    "workflows": (".github/workflows/pages.yml", "persist-credentials: false", "fetch-depth: 1", "artipacked"),
}

needs_linters = pytest.mark.skipif(not (linters.HOME / "made-of.lock").is_file(), reason="make lint has not run")


@needs_linters
@pytest.mark.parametrize("name", linters.LINTERS)
def test_a_planted_fault_is_found(name, tmp_path):
    path, stands, instead, said = FAULTS[name]
    top = ROOT / path.split("/")[0]
    (shutil.copytree if top.is_dir() else shutil.copy)(top, tmp_path / top.name)
    assert linters.complaints([name], root=tmp_path) == {}
    text = (tmp_path / path).read_text()
    assert stands in text
    (tmp_path / path).write_text(text.replace(stands, instead))
    assert said in linters.complaints([name], root=tmp_path)[name]


def test_the_environment_is_made_once_for_a_lock_file(tmp_path, monkeypatch):
    made = []
    monkeypatch.setattr(linters.venv, "create", lambda home, **_: (made.append(home), home.mkdir(exist_ok=True)))
    monkeypatch.setattr(linters.subprocess, "run", lambda command, check: made.append(command[-1]))
    lock = tmp_path / "lint.lock"
    for content in ("one==1\n", "one==1\n", "one==2\n"):
        lock.write_text(content)
        linters.prepare(tmp_path / "home", lock)
    assert made == [tmp_path / "home", lock] * 2
