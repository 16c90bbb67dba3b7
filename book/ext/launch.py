"""Sphinx: of a book that GitHub builds, buttons to Binder and Colab, and a menu of the versions that are published.

    python -m book.ext.launch notebooks owner/name v1.0

writes the notebooks that they open beside their sources, each with a first cell that fetches the project on Colab.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

import jupytext
from nbformat.v4 import new_code_cell
from sphinx.application import Sphinx
from sphinx.config import Config

FIRST = """\
# On Colab: the project at {ref}, and its packages. Elsewhere they are there.
import sys

if "google.colab" in sys.modules:
    !git clone -q --depth 1 --branch {ref} https://github.com/{repository} project
    %cd -q project
    %pip install -q -e '.[reproduction]'"""


def write_notebooks(folder: Path, repository: str, ref: str) -> None:
    """NAME.ipynb beside each NAME.py of a folder: as it is, after a cell that fetches a tag or branch of a project."""
    for source in sorted(folder.glob("*.py")):
        notebook = jupytext.read(source)
        notebook.cells.insert(0, new_code_cell(FIRST.format(repository=repository, ref=ref)))
        jupytext.write(notebook, source.with_suffix(".ipynb"))


def _add_buttons(app: Sphinx, config: Config) -> None:
    """Of the theme; GitHub's own builds say for which repository, pages.yml also of which version."""
    repository, version = os.environ.get("GITHUB_REPOSITORY"), os.environ.get("BOOK_VERSION")
    if not repository:
        return
    buttons = {"binderhub_url": "https://mybinder.org", "colab_url": "https://colab.research.google.com"}
    options: dict[str, Any] = {
        "repository_url": f"https://github.com/{repository}",
        "repository_branch": f"launch-{version or 'latest'}",  # with its notebooks as .ipynb, which pages.yml makes
        "path_to_docs": "",
        "launch_buttons": {"notebook_interface": "jupyterlab", **buttons},
    }
    if version:
        owner, name = repository.split("/")
        options |= {
            "switcher": {"json_url": f"https://{owner}.github.io/{name}/versions.json", "version_match": version},
            "check_switcher": False,  # building needs no network
            "article_header_start": ["toggle-primary-sidebar.html", "version-switcher.html"],
        }
    config.html_theme_options |= options


def setup(app: Sphinx) -> dict[str, bool]:
    app.connect("config-inited", _add_buttons)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


if __name__ == "__main__":
    write_notebooks(Path(sys.argv[1]), *sys.argv[2:])
