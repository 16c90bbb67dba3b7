"""What a reader finds first: chapters before the code, by Sphinx's own search with the book's scorer, in node."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from reproduction.checkout import ROOT
from tests.book.current import HTML, needs_book
from tests.book.in_node import needs_node, run_node

SCORER = ROOT / "book" / "_static" / "search_scorer.js"
CHECK = Path(__file__).with_name("search.test.js")

pytestmark = needs_node

PAGES = {
    "index": "# A book\n\n```{toctree}\n:glob:\nnotebooks/*\nbook/*\n```\n",
    "notebooks/confidence": "# Confidence\n\n```{index} ! KK24 Prop. 5, ! kk24.prop5\n```\n\nOf prop5.\n",
    "notebooks/07_others": "# Others\n\nA prop, a temperature, its scaling, prop5.\n",
    "notebooks/09_scaling": "# Focal temperature scaling\n\nOf networks.\n",
    "notebooks/ledger": "# The ledger\n\nprop5, prop, temperature scaling of all.\n",
    "book/verdicts": "# Verdicts\n\nprop5, prop, temperature scaling.\n",
    "book/checks": "# Checks\n\n```{py:module} claims.prop5\n```\n\n```{py:function} temperature_scaling()\n```\n",
}


def first(folder: Path, *queries: str) -> list[list[str]]:
    """Pages in the order in which they are found, for each query."""
    done = run_node(CHECK, folder, *queries, check=True)
    return [[page for page, *_ in found] for found in json.loads(done.stdout)]


def build(folder: Path, scorer: str) -> Path:
    for name, text in PAGES.items():
        page = folder / f"{name}.md"
        page.parent.mkdir(exist_ok=True, parents=True)
        page.write_text(text)
    (kept := folder / "scorer.js").write_text(scorer)
    (folder / "conf.py").write_text(f'extensions = ["myst_parser"]\nhtml_search_scorer = "{kept}"\n')
    command = [sys.executable, "-m", "sphinx", "-q", "-b", "html", str(folder), str(folder / "html")]
    subprocess.run(command, check=True, capture_output=True)
    return folder / "html"


@pytest.fixture(scope="module")
def small(tmp_path_factory):
    return build(tmp_path_factory.mktemp("small"), SCORER.read_text())


def test_the_book_uses_the_scorer():
    config = yaml.safe_load((ROOT / "_config.yml").read_text())["sphinx"]["config"]
    assert ROOT / config["html_search_scorer"] == SCORER


def test_chapters_come_before_pages_before_the_ledger_before_code(small):
    (found,) = first(small, "prop5")
    order = ["notebooks/confidence", "notebooks/07_others", "book/verdicts", "notebooks/ledger", "book/checks"]
    assert list(dict.fromkeys(found)) == order


def test_a_chapter_about_it_comes_before_one_that_mentions_it(small):
    by_name, by_id, by_title = first(small, "Prop. 5", "kk24.prop5", "temperature scaling")
    assert by_name[0] == by_id[0] == "notebooks/confidence"
    assert by_title[0] == "notebooks/09_scaling"


def test_without_the_scorer_code_comes_before_a_chapter(tmp_path):
    (found,) = first(build(tmp_path, ""), "prop5")
    assert found.index("book/checks") < found.index("notebooks/07_others")


@needs_book
@pytest.mark.parametrize(
    ("query", "chapter"),
    [
        ("Prop. 5", "confidence"),
        ("prop5", "confidence"),
        ("KK24 Prop. 3", "temperature_bounds"),
        ("Prop 5", "confidence"),
        ("gamma", "focal_loss"),
        ("temperature", "temperature_fit"),
        ("temperature scaling", "overconfidence"),
        ("FLSD-53", "gradient_factor"),
    ],
)
def test_the_book_finds_the_chapter_first(query, chapter):
    assert first(HTML, query)[0][0] == f"notebooks/{chapter}"
