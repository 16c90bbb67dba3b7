"""Buttons to Binder and Colab, the notebooks behind them, and the menu of versions."""

import shutil
import subprocess
import sys
from pathlib import Path

import jupytext
import pytest
import yaml

from book.ext.launch import write_notebooks
from reproduction.checkout import ROOT


def test_a_notebook_begins_with_the_cell_that_fetches_the_project(tmp_path):
    shutil.copy(ROOT / "notebooks" / "binary.py", tmp_path)
    write_notebooks(tmp_path, "owner/name", "v1.0")
    first, *rest = jupytext.read(tmp_path / "binary.ipynb").cells
    assert "--branch v1.0 https://github.com/owner/name " in first.source
    source = jupytext.read(tmp_path / "binary.py").cells
    assert [(cell.cell_type, cell.source) for cell in rest] == [(cell.cell_type, cell.source) for cell in source]


@pytest.mark.parametrize("colab", [False, True])
def test_the_first_cell_fetches_on_colab_alone(colab, tmp_path, monkeypatch):
    """Commands are kept, not run."""
    from IPython.core.interactiveshell import InteractiveShell

    (tmp_path / "page.py").write_text("# %%\n1 + 1\n")
    write_notebooks(tmp_path, "owner/name", "v1.0")
    shell, ran = InteractiveShell(), []
    monkeypatch.setattr(shell, "system", ran.append)
    monkeypatch.setattr(shell, "run_line_magic", lambda name, line, **_: ran.append(f"{name} {line}"))
    if colab:
        monkeypatch.setitem(sys.modules, "google.colab", sys)
    shell.run_cell(jupytext.read(tmp_path / "page.ipynb").cells[0].source).raise_error()
    assert [command.split()[0] for command in ran] == (["git", "cd", "pip"] if colab else [])


@pytest.mark.slow
@pytest.mark.parametrize(("repository", "version"), [("owner/name", "1.0.0"), ("owner/name", ""), ("", "")])
def test_a_book_of_a_repository_has_buttons_and_versions(repository, version, tmp_path, monkeypatch):
    monkeypatch.setenv("GITHUB_REPOSITORY", repository)
    monkeypatch.setenv("BOOK_VERSION", version)
    extensions = ["myst_nb", "jupyter_book", "sphinx_external_toc", "sphinx_book_theme", "book.ext.launch"]
    config = {"extensions": extensions}
    sphinx = {"config": config, "local_extensions": {"book.ext.launch": str(ROOT)}}
    execute = {"execute_notebooks": "off"}
    (tmp_path / "_config.yml").write_text(yaml.safe_dump({"execute": execute, "sphinx": sphinx}))
    (tmp_path / "_toc.yml").write_text("format: jb-book\nroot: notebooks/page\n")
    (tmp_path / "notebooks").mkdir()
    jupytext.write(jupytext.reads("# %% [markdown]\n# # A page\n", "py:percent"), tmp_path / "notebooks" / "page.ipynb")
    subprocess.run([Path(sys.executable).with_name("jupyter-book"), "build", tmp_path, "-q"], check=True)
    page = (tmp_path / "_build" / "html" / "notebooks" / "page.html").read_text()
    branch = f"launch-{version or 'latest'}"
    path = f"{branch}?urlpath=lab/tree/notebooks/page.ipynb"
    assert (f"https://mybinder.org/v2/gh/owner/name/{path}" in page) == bool(repository)
    colab = f"https://colab.research.google.com/github/owner/name/blob/{branch}/notebooks/page.ipynb"
    assert (colab in page) == bool(repository)
    assert ("https://owner.github.io/name/versions.json" in page) == bool(version)
    assert ('class="version-switcher__container' in page) == bool(version)
