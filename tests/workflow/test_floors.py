"""The floors of both packages: planted imports are refused, and names come from the modules that define them."""

from __future__ import annotations

import ast
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from workflow.dependencies import face

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = ("focal_lib", "reproduction")


@pytest.fixture(scope="module")
def copied(tmp_path_factory):
    folder = tmp_path_factory.mktemp("floors")
    for package in PACKAGES:
        shutil.copytree(ROOT / package, folder / package, ignore=shutil.ignore_patterns("__pycache__", "*.csv"))
    shutil.copy(ROOT / "pyproject.toml", folder)
    return folder


def lint(folder: Path) -> subprocess.CompletedProcess[str]:
    command = [Path(sys.executable).with_name("lint-imports"), "--no-logo", "--no-cache"]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True)


def test_the_floors_hold(copied):
    done = lint(copied)
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize(
    ("module", "imported"),
    [
        ("focal_lib.validation", "focal_lib.theory.maps"),
        ("focal_lib.theory.maps", "focal_lib.metrics.bins"),
        ("focal_lib.metrics.bins", "focal_lib.theory.maps"),
        ("focal_lib.calibration.saved", "focal_lib.tool.gate"),
        ("focal_lib.tool.gate", "focal_lib.cli.check"),
        ("focal_lib.losses.focal", "reproduction.engine.spec"),
        ("reproduction.engine.spec", "reproduction.ledger.ledger"),
        ("reproduction.ledger.ledger", "reproduction.theorems.symbols"),
        ("reproduction.theorems.symbols", "reproduction.studies.texts.plan"),
        ("reproduction.theorems.symbols", "reproduction.cli.run"),
        ("reproduction.studies.shared.recorded", "reproduction.studies.texts.plan"),
        ("reproduction.studies.texts.plan", "reproduction.studies.ood.measures"),
    ],
)
def test_an_import_upwards_or_sideways_is_refused(copied, module, imported):
    file = copied.joinpath(*module.split(".")).with_suffix(".py")
    before = file.read_text()
    file.write_text(before + f"\n\ndef planted():\n    import {imported}\n")
    try:
        done = lint(copied)
    finally:
        file.write_text(before)
    assert done.returncode == 1
    assert f"{module} -> {imported}" in " ".join(done.stdout.split())


@pytest.mark.parametrize("package", PACKAGES)
def test_a_package_without_a_floor_is_refused(copied, package):
    planted = copied / package / "helpers.py"
    planted.touch()
    try:
        done = lint(copied)
    finally:
        planted.unlink()
    assert done.returncode == 1
    assert "helpers" in done.stdout


def from_faces(file: Path) -> list[str]:
    """Imports of names that another module defines."""
    nodes = [node for node in ast.walk(ast.parse(file.read_text())) if isinstance(node, ast.ImportFrom)]
    return [
        f"{file.name}:{node.lineno} from {node.module} import {alias.name}"
        for node in nodes
        for alias in node.names
        if alias.name in face(str(node.module))
    ]


def test_inside_the_package_names_come_from_the_modules_that_define_them():
    template = ROOT / "reproduction" / "cli" / "study"  # of users, for whom the faces are
    files = [path for package in PACKAGES for path in (ROOT / package).rglob("*.py") if path.parent != template]
    files = [path for path in files if path.name != "__init__.py"]  # faces
    assert [found for file in files for found in from_faces(file)] == []


def test_an_import_from_a_face_is_found(tmp_path):
    planted = tmp_path / "planted.py"
    planted.write_text(
        "from focal_lib.theory import maps\n"
        "from focal_lib.theory.maps import focal_log_probs\n"
        "from focal_lib.theory import focal_log_probs, temperature_bounds\n"  # the second is a module, too
    )
    assert from_faces(planted) == [
        "planted.py:3 from focal_lib.theory import focal_log_probs",
        "planted.py:3 from focal_lib.theory import temperature_bounds",
    ]
