"""Each hook of what is not Python finds a fault that is planted. pre-commit makes their environments, from PyPI."""

import shutil
import subprocess
import sys

import pytest

from reproduction.checkout import ROOT

FAULTS = {  # hook -> file, what stands there, what is put in its place, what the hook says
    "citation": ("CITATION.cff", "cff-version: 1.2.0", "cff-version: 9.9.9", "cff-version"),
    "container": ("Dockerfile", "RUN useradd", "RUN sudo useradd", "DL3004"),
    "workflows": (".github/workflows/pages.yml", "persist-credentials: false", "fetch-depth: 1", "artipacked"),
}


@pytest.mark.slow
@pytest.mark.parametrize("hook", FAULTS)
def test_a_planted_fault_is_found(hook, tmp_path):
    """Without it nothing is found: make lint says so of the project itself."""
    path, stands, instead, said = FAULTS[hook]
    text = (ROOT / path).read_text()
    assert stands in text
    (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
    (tmp_path / path).write_text(text.replace(stands, instead))
    shutil.copy(ROOT / ".pre-commit-config.yaml", tmp_path)
    for command in (["init", "-q"], ["add", "."]):
        subprocess.run(["git", *command], cwd=tmp_path, check=True)
    command = [sys.executable, "-m", "pre_commit", "run", "--all-files", "--color", "never", hook]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 1
    assert said in done.stdout
