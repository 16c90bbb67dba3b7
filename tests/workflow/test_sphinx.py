"""Jupyter Book's extensions but one, and pages without its script."""

import subprocess
import sys
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[2]


def extensions() -> list[str]:
    return yaml.safe_load((ROOT / "_config.yml").read_text())["sphinx"]["config"]["extensions"]


def test_no_extension_of_jupyter_book_is_missing_but_thebe():
    from jupyter_book.config import get_default_sphinx_config

    assert set(get_default_sphinx_config()["extensions"]) - set(extensions()) == {"sphinx_thebe"}


def test_our_own_extensions_run():
    """Jupyter Book adds local ones to its own list, which ours replaces."""
    local = yaml.safe_load((ROOT / "_config.yml").read_text())["sphinx"]["local_extensions"]
    assert set(local) == {name for name in extensions() if name.startswith(("workflow.", "book."))}


@pytest.mark.slow
@pytest.mark.parametrize(("added", "times"), [([], 0), (["sphinx_thebe"], 2)])
def test_a_page_has_no_script_of_thebe_and_lists_its_references(tmp_path, added, times):
    config = {"extensions": [*extensions(), *added], "bibtex_bibfiles": ["books.bib"]}
    sphinx = {"config": config, "local_extensions": {"book.ext.page_head": str(ROOT)}}
    (tmp_path / "_config.yml").write_text(yaml.safe_dump({"sphinx": sphinx}))
    (tmp_path / "_toc.yml").write_text("format: jb-book\nroot: page\n")
    (tmp_path / "page.md").write_text("# A page\n\n{cite:p}`one`\n\n```{bibliography}\n```\n")
    (tmp_path / "books.bib").write_text("@book{one, title={A book}, author={A. Writer}, publisher={P}, year={1990}}")
    subprocess.run([Path(sys.executable).with_name("jupyter-book"), "build", tmp_path, "-q"], check=True)
    page = (tmp_path / "_build" / "html" / "page.html").read_text()
    assert page.count("const THEBE_JS_URL") == times
    assert 'role="list" class="citation-list"' in page
    assert page.count('role="listitem"') == page.count('class="citation"') == 1
    assert "doc-biblioentry" not in page
