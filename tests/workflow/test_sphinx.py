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


@pytest.mark.slow
@pytest.mark.parametrize(("added", "times"), [([], 0), (["sphinx_thebe"], 2)])
def test_a_page_has_no_script_of_thebe(tmp_path, added, times):
    config = {"extensions": [*extensions(), *added], "bibtex_bibfiles": []}
    sphinx = {"config": config, "local_extensions": {"workflow.page_head": str(ROOT)}}
    (tmp_path / "_config.yml").write_text(yaml.safe_dump({"sphinx": sphinx}))
    (tmp_path / "_toc.yml").write_text("format: jb-book\nroot: page\n")
    (tmp_path / "page.md").write_text("# A page\n")
    subprocess.run([Path(sys.executable).with_name("jupyter-book"), "build", tmp_path, "-q"], check=True)
    page = (tmp_path / "_build" / "html" / "page.html").read_text()
    assert page.count("const THEBE_JS_URL") == times
