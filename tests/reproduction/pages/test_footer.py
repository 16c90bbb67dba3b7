"""The foot of a page says where it comes from, and its command works as printed."""

import os
import re
import shlex
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

import nbformat
import pytest

from focal_lib.cli import main
from reproduction import checkout
from reproduction.pages import footer
from reproduction.parameters import parse_parameters

VALUES = {"gammas": "-0.5, 0, 2", "runs": "", "gamma": 0.5, "seed": 3, "search": True, "root": None, "one": "a b"}


def commands(text):
    """The indented lines: for `focal`, and for papermill alone."""
    return [line.strip() for line in text.splitlines() if line.startswith(" " * 6)]


def test_foot_gives_commit_date_parameters_versions_and_time(monkeypatch):
    monkeypatch.setattr(footer, "commit", lambda: "0123456789ab")
    text = footer.foot("convexity", gammas="1, 2").data
    assert f"commit `0123456789ab`, {datetime.now(UTC):%Y-%m-%d}" in text
    assert "`gammas = '1, 2'`" in text
    assert f"numpy {footer.versions()['numpy']}" in text
    assert re.search(r"Run time: \d+\.\d s", text)


def test_foot_of_an_installed_package_knows_no_commit(monkeypatch):
    monkeypatch.setattr(checkout, "ROOT", Path("/nowhere"))
    assert checkout.commit() == ""
    monkeypatch.setattr(footer, "commit", checkout.commit)
    assert "commit `unknown`" in footer.foot("page").data


def test_values_come_back_from_the_printed_command():
    words = shlex.split(commands(footer.foot("page", **VALUES).data)[0])
    context = main.get_command(None, "notebook").make_context("notebook", words[2:])
    assert parse_parameters(context.params["parameters"]) == VALUES
    assert (context.params["name"], context.params["out"]) == ("page", Path("page.ipynb"))


def test_paths_are_those_of_a_reader():
    text = footer.foot("page", runs=str(checkout.ROOT / "_build" / "runs"), data="/data/set").data
    assert str(checkout.ROOT) not in text
    assert "-p runs _build/runs -p data /data/set" in text


def small_page(name):
    """A page that is its foot alone."""
    header = (checkout.ROOT / "notebooks" / "convexity.py").read_text().partition("# %%")[0]  # names the kernel
    cells = ('# %% tags=["parameters"]\ngammas: str = "1, 2"', "# %%\nfrom reproduction.pages.footer import foot")
    return "\n".join([header, *cells, f'foot("{name}", gammas=gammas)\n'])


@pytest.mark.slow
@pytest.mark.parametrize(("which", "page"), [(0, "convexity"), (1, "page")], ids=["focal", "papermill"])
def test_the_printed_command_makes_the_page(tmp_path, which, page):
    (tmp_path / "notebooks").mkdir()
    (tmp_path / "notebooks" / "page.py").write_text(small_page("page"))
    command = commands(footer.foot(page, gammas="0, 3").data)[which]
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(command, shell=True, cwd=tmp_path, env=os.environ | {"PATH": path}, capture_output=True)
    assert done.returncode == 0, done.stderr.decode()
    notebook = nbformat.read(tmp_path / f"{page}.ipynb", as_version=4)
    foot = notebook.cells[-1 if which else -2].outputs[-1]["data"]["text/markdown"]  # the cited works come last
    assert "`gammas = '0, 3'`" in foot
    assert commands(foot)[0] in footer.foot(page, gammas="0, 3").data
