"""Environments: conda's file, the lock file, and how `make` installs it."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import os
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
import yaml
from packaging.requirements import Requirement

ROOT = Path(__file__).resolve().parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
CONDA_NAMES = {"python", "make", "pip"}  # all are packages of conda-forge


def locked(python: str) -> dict[str, str]:
    """The versions of requirements.lock for one version of Python on Linux."""
    here = {"python_version": python, "python_full_version": f"{python}.9"}
    lines = (ROOT / "requirements.lock").read_text().splitlines()
    pins = [Requirement(line.removesuffix("\\")) for line in lines if not line.startswith("    --hash=sha256:")]
    return {pin.name: str(pin.specifier)[2:] for pin in pins if pin.marker is None or pin.marker.evaluate(here)}


@pytest.mark.parametrize("python", ["3.11", "3.12", "3.13"])
def test_the_lock_satisfies_every_requirement(python):
    pins = locked(python)
    texts = [*PROJECT["dependencies"], *(text for extra in PROJECT["optional-dependencies"].values() for text in extra)]
    for wanted in map(Requirement, texts):
        assert wanted.name == PROJECT["name"] or wanted.specifier.contains(pins[wanted.name.lower()]), wanted


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
    shutil.copy(ROOT / "requirements.lock", tmp_path)
    section = yaml.safe_load((ROOT / "environment.yml").read_text())["dependencies"][-1]["pip"]
    (tmp_path / "condaenv.requirements.txt").write_text("\n".join(section) + "\n")
    command = [sys.executable, "-m", "pip", "install", "--dry-run", "--no-build-isolation", "--no-index"]
    done = subprocess.run([*command, "-r", "condaenv.requirements.txt"], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "Would install" not in done.stdout


def installed_pins(python: str) -> dict[str, str]:
    """Those pins that are installed at all; what is missing, pip itself will say."""
    there = {dist.name.lower().replace("_", "-") for dist in importlib.metadata.distributions() if dist.name}
    return {name: version for name, version in locked(python).items() if name in there}


PIP = """#!/bin/sh
echo "$*" >> calls
case "$*" in
*"config get :env:.index-url") echo of the variable ;;
*"config get global.index-url") echo of the file ;;
*"config get global.find-links") echo "{secret}" ;;
*"config get"*) exit 1 ;;
*"pip install -qq uv=="*) exit {uv} ;;
esac
"""
UV = """#!/bin/sh
env | grep ^UV_ | sort > environment
echo "uv $*" >> calls
exit {uv}
"""
RULE = "include Makefile\ntry:\n\t$(call install,made,some.lock)\n"


@pytest.fixture
def install(tmp_path):
    """What make does to install some.lock into an environment whose pip and uv write down what they are asked."""
    shutil.copy(ROOT / "Makefile", tmp_path)
    (tmp_path / "try.mk").write_text(RULE)
    (tmp_path / "made" / "bin").mkdir(parents=True)

    def run(uv=0, *options):
        for name, text in (("python", PIP), ("uv", UV)):
            program = tmp_path / "made" / "bin" / name
            program.write_text(text.format(uv=uv, secret="an-address"))
            program.chmod(0o755)
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("MAKE", "UV_", "MFLAGS"))}
        command = ["make", "-f", "try.mk", "--no-print-directory", "try", *options]
        return subprocess.run(command, cwd=tmp_path, env=kept, capture_output=True, text=True)

    return run


def test_uv_installs_with_pips_settings_that_nobody_sees(install, tmp_path):
    done = install()
    assert (done.returncode, done.stdout, done.stderr) == (
        *(0, "Installing the packages of some.lock into made ...\n"),
        "",
    )
    settings = dict(line.split("=", 1) for line in (tmp_path / "environment").read_text().splitlines())
    assert settings == {
        "UV_DEFAULT_INDEX": "of the variable",  # before the file's
        "UV_FIND_LINKS": "an-address",
        "UV_INDEX_STRATEGY": "unsafe-best-match",
    }
    *_, last = (tmp_path / "calls").read_text().splitlines()
    assert last.startswith("uv pip install ")
    assert last.endswith(" --no-deps --python made/bin/python -r some.lock")
    assert not (tmp_path / "made" / "installing").exists()
    assert "an-address" not in install(0, "-n").stdout


def test_pip_installs_where_uv_cannot(install, tmp_path):
    done = install(uv=1)
    assert (done.returncode, done.stderr) == (0, "uv could not: pip does, more slowly.\n")
    assert (tmp_path / "calls").read_text().splitlines()[-1] == "-m pip install -qq --no-deps -r some.lock"


def test_where_an_installation_was_killed_the_environment_is_made_anew(install, tmp_path):
    assert "venv --clear made" not in made_by(install, tmp_path)
    (tmp_path / "made" / "installing").touch()
    assert "venv --clear made" in made_by(install, tmp_path)


def made_by(install, tmp_path) -> str:
    """The calls of the Python that makes environments, played by `sh`."""
    (tmp_path / "python").write_text('#!/bin/sh\necho "$*" >> calls\n')
    (tmp_path / "python").chmod(0o755)
    (tmp_path / "calls").unlink(missing_ok=True)
    assert install(0, f"PYTHON={tmp_path / 'python'}").returncode == 0
    return (tmp_path / "calls").read_text()
