"""What a change makes again, asked of Snakemake in a copy of the project in which everything is finished."""

from __future__ import annotations

import os
import platform
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
COPIED = (
    "focal_lib",
    "reproduction",
    "workflow",
    "notebooks",
    "book",
    "proofs",
    "_config.yml",
    "_toc.yml",
    "CITATION.cff",
)
pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    """A copy in which every page is younger than what it is made of."""
    project = tmp_path_factory.mktemp("project")
    for name in COPIED:
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, project / name, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(ROOT / name, project)
    snakemake(project, "-n", "book")  # keeps digests of the sources
    build = project / "_build"
    built = [build / "notebooks" / f"{page.stem}.ipynb" for page in project.glob("notebooks/*.py")]
    built += [build / "html" / "index.html"]
    for age, file in enumerate(reversed(built)):
        file.parent.mkdir(parents=True, exist_ok=True)
        file.touch()
        os.utime(file, (time.time() - age,) * 2)
    for file in project.rglob("*"):
        if "_build" not in file.parts or "digests" in file.parts:
            os.utime(file, (time.time() - 3600,) * 2)
    return project


def snakemake(project: Path, *arguments: str) -> list[str]:
    """What Snakemake says."""
    command = [sys.executable, "-m", "snakemake", "--snakefile", "workflow/Snakefile", "--cores", "1", *arguments]
    done = subprocess.run(command, cwd=project, env=os.environ, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return (done.stdout + done.stderr).splitlines()


def named(said: list[str]) -> set[str]:
    """The jobs that a dry run would do, as 'page convexity', 'book'."""
    return {job for line in said for job in re.findall(r"^Job \d+: (.*)", line)}


def to_make(project: Path, *changed: str) -> set[str]:
    """What `make book` would make, after the files are changed."""
    before = {name: (project / name).read_text() for name in changed}
    digests = {file: file.read_text() for file in (project / "_build" / "digests").iterdir()}
    for name in changed:
        (project / name).write_text(before[name] + "\n")
    said = snakemake(project, "-n", "book")
    for name, text in before.items():
        (project / name).write_text(text)
    for file, text in digests.items():
        if file.read_text() != text:
            file.write_text(text)
            os.utime(file, (time.time() - 3600,) * 2)
    return named(said)


def test_pages_without_parameters_are_tried_as_the_book_has_them(finished):
    said = snakemake(finished, "-n", "notebooks", "--configfile", "workflow/smoke.yaml")
    again = named(said)
    assert {"page experiment", "page own_model"} <= again
    assert not {"page convexity", "page training"} & again


def test_long_pages_are_pages():
    (named,) = re.findall(
        r"^LONG = \((.*?)^\)", (ROOT / "workflow" / "Snakefile").read_text(), re.DOTALL | re.MULTILINE
    )
    long = re.findall(r'"(\w+)"', named)
    assert len(long) == len(set(long)) > 1
    assert set(long) <= {page.stem for page in ROOT.glob("notebooks/*.py")}


def test_finished_is_finished(finished):
    assert to_make(finished) == set()


def test_times_of_sources_do_not_count(finished):
    """Another branch and back makes no page again."""
    os.utime(finished / "focal_lib" / "theory" / "maps.py")
    assert to_make(finished) == set()


def test_a_change_in_calibration_makes_the_pages_that_calibrate(finished):
    again = to_make(finished, "focal_lib/calibration/saved.py")
    assert {"page calibrate", "book"} <= again
    assert "page convexity" not in again


def test_a_changed_source_no_page_runs_makes_the_book_that_shows_it(finished):
    assert to_make(finished, "focal_lib/cli/__main__.py") == {"book"}


def test_a_page_that_fails_shows_why_and_one_that_does_not_is_told_in_a_line(finished):
    """A copy of the project, where `focal` stands for a program that ends as the page says."""
    programs = finished / "programs"
    programs.mkdir()
    (programs / "focal").write_text("""#!/bin/sh
case "$*" in *convexity*) seq 90; echo "cell 3: no such name"; exit 1 ;; esac
while [ "$1" != --out ]; do shift; done; touch "$2"
""")
    (programs / "focal").chmod(0o755)
    pages = [f"_build/notebooks/{name}.ipynb" for name in ("convexity", "published_tables")]
    for page in pages:
        (finished / page).unlink()
    command = [sys.executable, "-m", "snakemake", *pages, "--snakefile", "workflow/Snakefile", "--cores", "1"]
    command += ["--keep-going", "--quiet", "rules", "progress", "reason", "host"]
    path = os.pathsep.join([str(programs), str(Path(sys.executable).parent), os.environ["PATH"]])
    done = subprocess.run(command, cwd=finished, env=os.environ | {"PATH": path}, capture_output=True, text=True)
    assert done.returncode == 1
    said = done.stderr.splitlines()
    assert "page convexity FAILED, status 1. The end of _build/logs/convexity.txt:" in said
    assert "    cell 3: no such name" in said
    assert [line for line in said if re.fullmatch(r"page published_tables +\d+ s", line)]
    for page in pages:
        (finished / page).touch()
        os.utime(finished / page, (time.time() - 60,) * 2)


def test_what_killed_builds_left_is_removed(finished):
    killed = subprocess.Popen([sys.executable, "-c", ""])
    killed.wait()
    left = finished / "_build" / "notebooks" / f".{killed.pid}@{platform.node()}@convexity.ipynb"
    left.touch()
    os.utime(finished / "_build" / "html" / "index.html", (time.time() - 7200,) * 2)  # something is to be made
    snakemake(finished, "--touch", "book")  # runs nothing
    assert not left.exists()
