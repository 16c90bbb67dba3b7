"""A study of one's own from the template, made and run as its README says."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from reproduction.checkout import ROOT
from reproduction.cli.new import new


@pytest.fixture
def study(tmp_path):
    folder = tmp_path / "mine"
    made = CliRunner().invoke(new, ["study", str(folder)], catch_exceptions=False)
    assert made.exit_code == 0, made.output
    return folder


def call(folder, *command):
    """Its standard output; a process of its own, in that folder, with the data there."""
    search = os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])
    given = os.environ | {"FOCAL_DATA": str(folder / "data"), "PYTHONPATH": search}
    done = subprocess.run([sys.executable, *command], cwd=folder, env=given, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_a_folder_that_exists_is_left_alone(study):
    (study / "my_loss.py").write_text("mine")
    again = CliRunner().invoke(new, ["study", str(study)])
    assert again.exit_code == 1
    assert "mine must be a new folder. Got one that exists." in again.output
    assert (study / "my_loss.py").read_text() == "mine"


def test_the_readme_names_what_is_there(study):
    text = (study / "README.md").read_text()
    named = set(re.findall(r"`(\w+\.(?:py|yaml))`", text))
    assert named == {path.name for path in study.iterdir()} - {"README.md"}


@pytest.mark.slow
def test_it_runs_as_it_stands(study):
    focal = ("-m", "focal_lib.cli")
    call(study, "make_data.py")
    call(study, "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_study.py")
    grid = study / "grid.yaml"
    grid.write_text(grid.read_text().replace("epochs: 20", "epochs: 1").replace("[0, 1]", "[0]"))
    call(study, *focal, "grid", "grid.yaml", "--root", "runs", "--cores", "2")
    assert call(study, *focal, "grid", "grid.yaml", "--root", "runs", "--status").count("done ") == 2
    call(study, *focal, "notebook", "page.py", "--html", "page.html")
    page = Path(study / "page.html").read_text()
    assert "my_loss:poly_focal 2 1" in page
    assert "cross-entropy" in page
