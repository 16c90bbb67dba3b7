"""Checks of the book: its sources always, what was built where it was built."""

import ast
import importlib
import inspect
import json
import pkgutil
import re
import shlex
from pathlib import Path

import jupytext
import pytest

from book.ext.contents import pages_in_order
from focal_lib.cli import main
from reproduction.ledger import ledger
from reproduction.pages import plots
from reproduction.pages.execute import describe_parameters
from reproduction.pages.footer import command
from reproduction.pages.tables import WORDS, in_words
from reproduction.parameters import parse_parameters
from tests.book.current import HTML, needs_book

ROOT = Path(__file__).resolve().parents[1]
SOURCES = sorted((ROOT / "notebooks").glob("*.py"))
EXECUTED = sorted((ROOT / "_build/notebooks").glob("[!.]*.ipynb"))
KINDS = [m.name for m in pkgutil.iter_modules(plots.__path__) if m.name != "front"]
DRAWING = (
    "focal_lib.plots.reliability",
    "reproduction.studies.calibrators.figures",
    "reproduction.studies.law.figures",
    "reproduction.studies.localisation.figures",
    "reproduction.studies.people.figures",
)
MODULES_OF_PLOTS = [
    importlib.import_module(name) for name in (*DRAWING, *(f"{plots.__name__}.{kind}" for kind in KINDS))
]
PLOTS = {
    name
    for module in MODULES_OF_PLOTS
    for name, value in vars(module).items()
    if inspect.isfunction(value) and value.__module__ == module.__name__ and not name.startswith("_")
}

# heads and labels of rows as records have them; a page on which names are typed has these in cells
RAW = "|".join(sorted(WORDS, key=len, reverse=True))
SHORT = re.compile(rf"^(?:pre|post|ts|fts)$|\w_\w|(?<![\w-])(?:{RAW})(?![\w-])")

on_sources = pytest.mark.parametrize("path", SOURCES, ids=lambda p: p.stem)


def _cells(path, kind):
    return [cell for cell in jupytext.read(path).cells if cell.cell_type == kind]


def test_every_page_is_in_the_contents_and_exists():
    pages = {f"notebooks/{p.stem}" for p in SOURCES}
    pages |= {f"book/{p.stem}" for p in (ROOT / "book").glob("*.md")}
    assert set(pages_in_order(ROOT / "_toc.yml")) == pages


def _documented(page):
    return re.findall(r"automodule:: (\S+)", (ROOT / "book" / page).read_text())


def test_every_module_of_claims_has_its_source_in_the_book():
    documented = _documented("checks.md")
    assert {claim.check.__module__ for claim in ledger()} <= set(documented)
    assert len(documented) == len(set(documented))
    for name in documented:
        importlib.import_module(name)


def test_the_api_page_documents_the_faces_and_nothing_else():
    inner = {  # faces inside: formulas, data sets, networks
        *("reproduction.theorems.symbols", "reproduction.engine.data", "reproduction.engine.models")
    }
    packages = {
        f"{package}.{m.name}"
        for package in ("focal_lib", "reproduction")
        for m in pkgutil.iter_modules([str(ROOT / package)])
    }
    faces = {name for name in packages if getattr(importlib.import_module(name), "__all__", None)}
    assert sorted(_documented("api.md")) == sorted(faces | inner)


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
def test_the_foots_command_gives_the_same_parameters(path):
    given = next(c for c in _cells(path, "code") if "parameters" in c.metadata.get("tags", []))
    values = {t.target.id: ast.literal_eval(t.value) for t in ast.parse(given.source).body if t.value is not None}
    words = shlex.split(command(path.stem, **values))
    context = main.get_command(None, "notebook").make_context("notebook", words[2:])
    assert parse_parameters(context.params["parameters"]) == values
    assert {name for name, _ in describe_parameters(path)} == set(values)


@on_sources
def test_cells_are_short(path):
    for cell in _cells(path, "code"):
        if cell.source.startswith("foot(") or "parameters" in cell.metadata.get("tags", []):  # a line a parameter
            continue
        imports = [node for node in ast.parse(cell.source).body if isinstance(node, ast.Import | ast.ImportFrom)]
        imported = {number for node in imports for number in range(node.lineno, node.end_lineno + 1)}
        lines = [line for number, line in enumerate(cell.source.splitlines(), 1) if line and number not in imported]
        assert len(lines) <= 15, f"a cell of over 15 lines wants to be a function:\n{cell.source}"


@on_sources
def test_pages_tell_what_was_trained(path):
    """Of a specification, epochs and the like are 0 where they are the recipe's: `spec.training` has them in full."""
    for cell in _cells(path, "code"):
        assert not re.search(r"\bspec\.(epochs|batch_size|learning_rate)\b", cell.source), cell.source


@on_sources
def test_no_line_of_prose_begins_with_a_per_cent_sign(path):
    """MyST takes such a line as a comment."""
    lost = [line for line in path.read_text().splitlines() if re.match(r"# %(?! ?%)", line)]
    assert not lost, "\n".join(lost)


@on_sources
def test_lines_fit_a_screen(path):
    """But for a figure's description, which jupytext keeps in one line."""
    lines = path.read_text().splitlines()
    long = [line for line in lines if len(line) > 120 and not (line.startswith("# %%") and "mystnb=" in line)]
    assert not long, "\n".join(long)


def _draws(cell):
    """Whether the cell ends in a call of a function that draws, or of a method named after one."""
    last = ast.parse(cell.source).body[-1]
    called = getattr(last.value, "func", None) if isinstance(last, ast.Expr) else None
    return getattr(called, "id", getattr(called, "attr", "")) in PLOTS


@on_sources
def test_figures_have_alt_text_and_caption(path):
    for cell in _cells(path, "code"):
        settings = cell.metadata.get("mystnb", {})
        assert bool(settings) == _draws(cell), cell.source
        if settings:
            assert {"hide-input", "remove-input"} & set(cell.metadata.get("tags", [])), f"hide this call: {cell.source}"
            assert len(settings["image"]["alt"]) > 30, cell.source
            assert settings["figure"]["caption"], cell.source
            assert settings["figure"]["name"].startswith("fig-"), cell.source


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


@pytest.mark.parametrize("path", EXECUTED, ids=lambda p: p.stem)
def test_every_table_has_a_caption_and_words_for_heads_and_rows(path):
    """`_` and the names of stages are of records."""
    for cell in json.loads(path.read_text())["cells"]:
        for output in cell.get("outputs", []):
            for table in re.findall(r"<table.*?</table>", "".join(output.get("data", {}).get("text/html", "")), re.S):
                assert re.search(r"<caption\b[^>]*>[^<]*\w", table), "".join(cell["source"])
                heads = [re.sub("<[^>]*>", "", head) for head in re.findall(r"<th\b[^>]*>(.*?)</th>", table, re.S)]
                short = [head for head in heads if SHORT.search(head)]
                assert not short, f"{short}: {''.join(cell['source'])}"


@pytest.mark.parametrize("label", ["fcl 4 3", "flsd-53", "brier", "ece, after", "small-cnn", "pre", "mean_ece"])
def test_names_of_records_are_known_from_words(label):
    assert SHORT.search(label)
    if "_" not in label and label != "pre":
        assert not SHORT.search(in_words(label))


@on_sources
def test_tables_are_shown_not_printed(path):
    assert not re.search(r"print\(.*to_string", path.read_text())


@needs_book
def test_downloaded_notebooks_hold_their_numbers():
    downloads = sorted((HTML / "_sources" / "notebooks").glob("*.ipynb"))
    assert [p.stem for p in downloads] == [p.stem for p in SOURCES]
    for path in downloads:
        assert "{glue:text}`" not in path.read_text(), path.name


@needs_book
def test_every_check_of_a_claim_has_its_source_page():
    for claim in ledger():
        page = HTML / "_modules" / f"{claim.check.__module__.replace('.', '/')}.html"
        assert f'id="{claim.function}"' * bool(claim.function) in page.read_text(), claim.id


@needs_book
def test_nothing_loads_from_the_network():
    loading = re.compile(r'<(?:script|link|img|iframe|source)\b[^>]*\b(?:src|href)="(?:https?:)?//[^"]+"')
    for page in HTML.rglob("*.html"):
        found = [tag for tag in loading.findall(page.read_text()) if 'rel="canonical"' not in tag]
        assert not found, f"{page.name}: {found[0] if found else ''}"
