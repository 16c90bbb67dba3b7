"""Checks of the book: its sources always, what was built where it was built."""

import ast
import json
import re
from pathlib import Path

import jupytext
import pytest
import yaml

from focal_lib.claims import ledger
from focal_lib.pages.plots import curves, reliability, simplex

ROOT = Path(__file__).resolve().parents[1]
SOURCES = sorted((ROOT / "notebooks").glob("*.py"))
EXECUTED = sorted((ROOT / "_build/notebooks").glob("[!.]*.ipynb"))
HTML = ROOT / "_build/html"
PLOTS = {name for module in (curves, reliability, simplex) for name in module.__all__}
CHAPTERS = [path for path in SOURCES if path.stem[0].isdigit()]

on_sources = pytest.mark.parametrize("path", SOURCES, ids=lambda p: p.stem)


def _book_is_current():
    """Whether make book has run since the last change: links into an older book would mislead."""
    index = HTML / "index.html"
    inputs = [p for folder in ("book", "notebooks", "focal_lib") for p in (ROOT / folder).rglob("*.*") if p.is_file()]
    newest = max(p.stat().st_mtime for p in inputs if p.suffix in (".py", ".md", ".css", ".bib"))
    return index.exists() and index.stat().st_mtime > newest


needs_book = pytest.mark.skipif(not _book_is_current(), reason="make book has not run since the last change")


def _toc_files():
    toc = yaml.safe_load((ROOT / "_toc.yml").read_text())
    return [toc["root"], *(c["file"] for part in toc["parts"] for c in part["chapters"])]


def _cells(path, kind):
    return [cell for cell in jupytext.read(path).cells if cell.cell_type == kind]


def test_every_page_is_in_the_contents_and_exists():
    pages = {f"notebooks/{p.stem}" for p in SOURCES}
    pages |= {f"book/{p.stem}" for p in (ROOT / "book").glob("*.md")}
    assert set(_toc_files()) == pages


def test_every_module_of_claims_has_its_source_in_the_book():
    documented = set(re.findall(r"automodule:: (\S+)", (ROOT / "book/api.md").read_text()))
    assert {claim.check.__module__ for claim in ledger()} <= documented


@on_sources
def test_page_has_parameters_and_ends_with_its_foot(path):
    cells = jupytext.read(path).cells
    assert any("parameters" in cell.metadata.get("tags", []) for cell in cells)
    assert re.match(rf'foot\(\s*"{path.stem}"', cells[-1].source)


@on_sources
def test_foot_names_every_parameter(path):
    cells = _cells(path, "code")
    given = next(cell for cell in cells if "parameters" in cell.metadata.get("tags", []))
    names = {t.target.id for t in ast.parse(given.source).body if isinstance(t, ast.AnnAssign)}
    call = ast.parse(cells[-1].source).body[-1].value
    assert names, "parameters must be annotated assignments"
    assert {keyword.arg for keyword in call.keywords} == names


@on_sources
def test_cells_are_short(path):
    long = [c.source for c in _cells(path, "code") if len(c.source.splitlines()) > 18]
    assert not long, f"a cell of over 18 lines wants to be a function:\n{long[0] if long else ''}"


def _draws(cell):
    """Whether the cell ends in a call of a function of focal_lib.plots."""
    last = ast.parse(cell.source).body[-1]
    return isinstance(last, ast.Expr) and getattr(getattr(last.value, "func", None), "id", "") in PLOTS


@on_sources
def test_figures_have_alt_text_and_caption(path):
    for cell in _cells(path, "code"):
        settings = cell.metadata.get("mystnb", {})
        assert bool(settings) == _draws(cell), cell.source
        if settings:
            assert len(settings["image"]["alt"]) > 30, cell.source
            assert settings["figure"]["caption"], cell.source
            assert settings["figure"]["name"].startswith("fig-"), cell.source


@pytest.mark.parametrize("path", CHAPTERS, ids=lambda p: p.stem)
def test_chapter_asks_and_concludes(path):
    text = "\n".join(cell.source for cell in _cells(path, "markdown"))
    assert "question" in text.lower()
    assert "verdict" in text.lower()
    assert re.search(r"\b(show|find)\(", path.read_text()), "a chapter shows the claims it settles"


def test_no_executed_notebook_is_tracked_beside_the_sources():
    assert not list((ROOT / "notebooks").glob("*.ipynb"))


def test_every_figure_of_the_paper_has_a_counterpart():
    text = "\n".join(path.read_text() for path in SOURCES)
    missing = [n for n in range(1, 9) if not re.search(rf"[Cc]ounterparts? (of|to) KK24 Figs?\. [^.]*\b{n}\b", text)]
    assert not missing, f"figures of KK24 without a counterpart: {missing}"


@pytest.mark.parametrize("path", EXECUTED, ids=lambda p: p.stem)
def test_executed_notebook_holds_no_error_or_warning(path):
    for cell in json.loads(path.read_text())["cells"]:
        for output in cell.get("outputs", []):
            assert output["output_type"] != "error", output.get("ename")
            assert output.get("name") != "stderr", "".join(output.get("text", ""))


@needs_book
def test_nothing_loads_from_the_network():
    loading = re.compile(r'<(?:script|link|img|iframe|source)\b[^>]*\b(?:src|href)="(?:https?:)?//[^"]+"')
    for page in HTML.rglob("*.html"):
        found = [tag for tag in loading.findall(page.read_text()) if 'rel="canonical"' not in tag]
        assert not found, f"{page.name}: {found[0] if found else ''}"


@needs_book
def test_links_within_the_book_lead_somewhere():
    pages = {p: p.read_text() for p in HTML.rglob("*.html")}
    ids = {p: set(re.findall(r'\bid="([^"]+)"', t)) | set(re.findall(r"\bid='([^']+)'", t)) for p, t in pages.items()}
    broken = []
    for page, text in pages.items():
        for link in re.findall(r"""<a\b[^>]*\bhref=["']([^"']+)["']""", text):
            if re.match(r"[a-z]+:", link):
                continue
            name, _, anchor = link.partition("#")
            target = (page.parent / name).resolve() if name else page
            if not target.exists() or (anchor and target in ids and anchor not in ids[target]):
                broken.append(f"{page.relative_to(HTML)} -> {link}")
    assert not broken, "\n".join(broken[:20])


@needs_book
def test_every_image_has_alt_text():
    for page in (HTML / "notebooks").glob("*.html"):
        for tag in re.findall(r"<img\b[^>]*>", page.read_text()):
            alt = re.search(r'alt="([^"]*)"', tag)
            assert alt, f"{page.name}: {tag}"
            assert "_images/" not in alt[1], f"{page.name}: {tag}"
