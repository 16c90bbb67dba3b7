"""Environments: conda's file, the lock file, and an activated environment that `make` takes as it is."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import os
import shutil
import subprocess
import sys
import sysconfig
import tomllib
import venv
from importlib.machinery import ModuleSpec
from pathlib import Path

import pytest
import yaml
from packaging.requirements import Requirement

from workflow.environment import EXTRAS, missing

ROOT = Path(__file__).resolve().parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
CONDA_NAMES = {"python", "make", "pip"}  # all are packages of conda-forge


def locked(python: str) -> dict[str, str]:
    """The versions of requirements.lock for one version of Python on Linux."""
    here = {"python_version": python, "python_full_version": f"{python}.9"}
    pins = [Requirement(line) for line in (ROOT / "requirements.lock").read_text().splitlines()]
    return {pin.name: str(pin.specifier)[2:] for pin in pins if pin.marker is None or pin.marker.evaluate(here)}


@pytest.mark.parametrize("python", ["3.11", "3.12", "3.13"])
def test_the_lock_satisfies_every_requirement(python):
    pins = locked(python)
    texts = [*PROJECT["dependencies"], *(text for extra in PROJECT["optional-dependencies"].values() for text in extra)]
    for wanted in map(Requirement, texts):
        assert wanted.specifier.contains(pins[wanted.name.lower()]), wanted


def test_conda_names_are_known_and_python_is_one_the_project_supports():
    environment = yaml.safe_load((ROOT / "environment.yml").read_text())
    *names, pip = environment["dependencies"]
    assert environment["channels"] == ["conda-forge"]
    assert {name.split("=")[0] for name in names} == CONDA_NAMES
    assert set(pip) == {"pip"}
    [python] = [name.split("=")[1] for name in names if name.startswith("python=")]
    assert locked(python)
    assert Requirement(f"python{PROJECT['requires-python']}").specifier.contains(python)


@pytest.mark.slow
def test_pip_accepts_the_pip_section_of_conda(tmp_path):
    """As conda does it: the section as a requirements file beside environment.yml. All is installed, so no network."""
    here = f"{sys.version_info.major}.{sys.version_info.minor}"
    if any(importlib.metadata.version(name) != version for name, version in installed_pins(here).items()):
        pytest.skip("the environment holds other versions than requirements.lock")
    for name in ("requirements.lock", "pyproject.toml", "README.md", "LICENSE", "focal_lib"):
        copy = shutil.copytree if (ROOT / name).is_dir() else shutil.copy
        copy(ROOT / name, tmp_path / name)
    section = yaml.safe_load((ROOT / "environment.yml").read_text())["dependencies"][-1]["pip"]
    (tmp_path / "condaenv.requirements.txt").write_text("\n".join(section) + "\n")
    command = [sys.executable, "-m", "pip", "install", "--dry-run", "--no-build-isolation", "--no-index"]
    done = subprocess.run([*command, "-r", "condaenv.requirements.txt"], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1] == f"Would install focal-lib-{PROJECT['version']}"


def installed_pins(python: str) -> dict[str, str]:
    """Those pins that are installed at all; what is missing, pip itself will say."""
    there = {dist.name.lower().replace("_", "-") for dist in importlib.metadata.distributions() if dist.name}
    return {name: version for name, version in locked(python).items() if name in there}


def test_nothing_is_missing_here():
    assert missing() == []


def test_what_is_missing_is_named(monkeypatch):
    real = importlib.metadata.version

    def version(name):
        if name == "relplot":  # not asked for
            raise AssertionError
        if name == "torch":
            raise importlib.metadata.PackageNotFoundError
        return {"sphinx-proof": "0.1", "toolz": "0.1"}.get(name) or real(name)

    monkeypatch.setattr(importlib.metadata, "version", version)
    [torch] = [text for text in PROJECT["dependencies"] if text.startswith("torch>")]
    assert missing() == [torch, "sphinx-proof>=0.2"]


def test_needs_of_an_extra_of_a_package_count(monkeypatch):
    real = importlib.metadata.version
    monkeypatch.setattr(importlib.metadata, "version", lambda name: "0.1" if name == "distributed" else real(name))
    assert missing(extras=EXTRAS) == PROJECT["optional-dependencies"]["dask"]
    assert missing(extras=("book",)) == []


def test_focal_lib_of_another_folder_does_not_serve(monkeypatch, tmp_path):
    other = ModuleSpec("focal_lib", None, origin=str(tmp_path / "focal_lib" / "__init__.py"))
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: other)
    [text] = missing()
    assert text.startswith("focal-lib of this folder")


def make(target: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """What make would do, told without doing it."""
    kept = {
        name: value for name, value in os.environ.items() if name not in ("VIRTUAL_ENV", "CONDA_PREFIX", "MAKEFLAGS")
    }
    return subprocess.run(["make", "-n", target], cwd=ROOT, env=kept | environment, capture_output=True, text=True)


@pytest.mark.parametrize("variable", ["VIRTUAL_ENV", "CONDA_PREFIX"])
@pytest.mark.parametrize("target", ["book", "test"])
def test_make_takes_an_activated_environment_that_holds_everything(tmp_path, variable, target):
    venv.create(tmp_path / "kept", symlinks=True)
    there = sysconfig.get_path("purelib", vars={"base": str(tmp_path / "kept")})
    Path(there, "all.pth").write_text(f"import site; site.addsitedir({sysconfig.get_path('purelib')!r})\n")
    done = make(target, **{variable: str(tmp_path / "kept")})
    assert done.returncode == 0, done.stderr
    assert done.stderr == f"Using the activated environment {tmp_path / 'kept'}.\n"
    assert f"{tmp_path}/kept/bin/python -m workflow.call_snakemake" in done.stdout
    assert ".venv" not in done.stdout


def test_make_leaves_an_environment_alone_that_lacks_something(tmp_path):
    venv.create(tmp_path / "empty", symlinks=True)
    done = make("book", VIRTUAL_ENV=str(tmp_path / "empty"))
    assert done.returncode == 0, done.stderr
    assert f"Using .venv: the activated environment {tmp_path / 'empty'} lacks packaging." in done.stderr
    assert ".venv/bin/python -m workflow.call_snakemake" in done.stdout


def test_make_without_an_activated_environment_says_nothing():
    done = make("book")
    assert done.stderr == ""
    assert ".venv/bin/python -m workflow.call_snakemake" in done.stdout
