"""Executed notebooks without roles: what a reader sees in JupyterLab."""

import re
from pathlib import Path

import jupytext
import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

from reproduction.checkout import ROOT
from reproduction.pages import resolve as module
from reproduction.pages.references import labels
from reproduction.pages.resolve import as_html, plain_markdown, resolve, resolved

SOURCES = sorted((ROOT / "notebooks").glob("*.py"))
RAW = re.compile(r"\{(?!glue)[\w:-]+\}`|^[`:]{3,}\{|\]\(#|^\([\w-]+\)=$", re.MULTILINE)
GLUED = {"page-x": "0.12345", "page-n": "1200", "page-name": "'two words'"}
LABELS = {"ch-a": "chapter 1, *A*", "eq-a": "equation (1.2)", "ex-a": "Exercise 1.1"}


@pytest.mark.parametrize(
    ("myst", "plain"),
    [
        ("x = {glue:text}`page-x:.2f`", "x = 0.12"),
        ("{glue:text}`page-n:,d` of {glue:text}`page-name`", "1,200 of two words"),
        ("see [](#ch-a) and [there](#ch-a)", "see chapter 1, *A* and there"),
        ("{eq}`eq-a`, {ref}`ch-a`, {ref}`this\none <ch-a>`", "Equation (1.2), chapter 1, *A*, this\none"),
        ("Of it. [](#ch-a) says so. {ref}`ch-a`, too", "Of it. Chapter 1, *A* says so. Chapter 1, *A*, too"),
        ("by {eq}`eq-a` and, see\n\n{ref}`ch-a`", "by equation (1.2) and, see\n\nChapter 1, *A*"),
        ("{cite:t}`kk24` {cite:p}`guo17`", "Komisarenko & Kull (2024) (Guo et al., 2017)"),
        ("{term}`ECE`, {term}`calibrated <calibrate>`", "ECE, calibrated"),
        ("(ch-a)=\n# A", "# A"),
        ("{glue:text}`page-y:.2f` [](#elsewhere)", "{glue:text}`page-y:.2f` [](#elsewhere)"),
        ("<a href='02.html'>two</a> <a href='#here'>three</a>", "two <a href='#here'>three</a>"),
        ("```\n{eq}`eq-a`\n```", "```\n{eq}`eq-a`\n```"),
    ],
)
def test_roles_become_what_they_stand_for(myst, plain):
    assert plain_markdown(myst, GLUED, LABELS) == plain


def test_an_equation_keeps_its_number():
    plain = plain_markdown("```{math}\n:label: eq-a\nx = y\n```\nso", GLUED, LABELS)
    assert plain == "$$\nx = y\n\\tag{1.2}$$\nso"


def test_a_box_becomes_a_quotation_and_a_folded_one_a_detail():
    box = ":::{admonition} As printed: A\nSee {eq}`eq-a`.\n\nMore.\n:::"
    assert plain_markdown(box, GLUED, LABELS) == "> **As printed: A**\n>\n> See equation (1.2).\n>\n> More."
    folded = plain_markdown("```{admonition} How\n:class: tip dropdown\n* x\n```", GLUED, LABELS)
    assert folded == "<details>\n<summary>How</summary>\n\n* x\n\n</details>"


def test_exercises_and_solutions():
    text = "```{exercise}\n:label: ex-a\nShow it.\n```\n\n```{solution} ex-a\n:class: dropdown\nDone.\n```"
    plain = plain_markdown(text, GLUED, LABELS)
    assert plain == "**Exercise 1.1.** Show it.\n\n<details>\n<summary>Solution</summary>\n\nDone.\n\n</details>"


def test_boxes_within_boxes():
    box = "::::{note}\n:::{tip}\n**id**\n\n```{dropdown} Evidence\n1. x\n```\n:::\n::::"
    plain = plain_markdown(box, GLUED, LABELS)
    assert plain == "**id**\n\n<details>\n<summary>Evidence</summary>\n\n1. x\n\n</details>"


def executed():
    """A page with a kept number, a figure with its caption, a hidden cell."""
    kept = new_output(
        "display_data",
        {"application/papermill.record/text/plain": "0.5"},
        metadata={"scrapbook": {"name": "p-x", "mime_prefix": "application/papermill.record/"}},
    )
    settings = {"image": {"alt": "a line"}, "figure": {"name": "fig-p", "caption": "Half: {glue:text}`p-x:.1f`."}}
    return new_notebook(
        cells=[
            new_markdown_cell("It is {glue:text}`p-x:.2f`, as {cite:t}`kk24` say."),
            new_code_cell("note()", outputs=[kept], metadata={"tags": ["remove-input"]}),
            new_code_cell("draw()", outputs=[new_output("stream", text="x")], metadata={"mystnb": settings}),
        ],
        metadata={"papermill": {"output_path": "/home/someone/page.ipynb"}},
    )


def test_a_notebook_holds_its_numbers_captions_and_works():
    page = resolved(executed())
    nbformat.validate(page)
    text, hidden, figure, caption, works = page.cells
    assert text.source == "It is 0.50, as Komisarenko & Kull (2024) say."
    assert hidden.outputs == []
    assert hidden.metadata["jupyter"] == {"source_hidden": True}
    assert figure.metadata["alt"] == "a line"
    assert caption.source == "**Figure.** Half: 0.5."
    assert "Viacheslav Komisarenko" in works.source
    assert "someone" not in nbformat.writes(page)


def test_a_file_is_rewritten_in_place(tmp_path):
    nbformat.write(executed(), tmp_path / "page.ipynb")
    resolve(tmp_path / "page.ipynb", tmp_path / "page.ipynb")
    assert nbformat.read(tmp_path / "page.ipynb", as_version=4).cells[0].source.startswith("It is 0.50")
    assert [path.name for path in tmp_path.iterdir()] == ["page.ipynb"]


@pytest.mark.parametrize("path", SOURCES, ids=lambda p: p.stem)
def test_no_role_of_a_page_is_left(path):
    """But for the numbers, which only an executed page has."""
    known = labels(ROOT)
    for cell in jupytext.read(path).cells:
        if cell.cell_type == "markdown":
            assert not RAW.search(plain_markdown(cell.source, {}, known)), cell.source


EXECUTED = sorted(Path(ROOT, "_build", "notebooks").glob("[!.]*.ipynb"))


@pytest.mark.parametrize("path", EXECUTED, ids=lambda p: p.stem)
def test_no_number_of_an_executed_page_is_left(path):
    text = nbformat.writes(resolved(nbformat.read(path, as_version=4)))
    assert "{glue:text}`" not in text


def test_without_a_book_what_is_not_known_is_left_as_it_is(tmp_path, monkeypatch):
    """A notebook of one's own beside an installed package; and in a checkout, what cites other works."""
    monkeypatch.setattr(module, "ROOT", tmp_path)
    monkeypatch.setattr(module, "_REFERENCES", tmp_path / "book" / "references.bib")
    text = "See {ref}`ch-a`, {cite:t}`kk24` and [](#eq-b)."
    page = resolved(new_notebook(cells=[new_markdown_cell(text)]))
    assert [cell.source for cell in page.cells] == [text]
    monkeypatch.undo()
    (cell, *_) = resolved(new_notebook(cells=[new_markdown_cell("{cite:t}`kk24`, {cite:p}`nobody99`")])).cells
    assert cell.source == "Komisarenko & Kull (2024), {cite:p}`nobody99`"


def test_page_is_one_file_with_formulas_and_without_hidden_code(tmp_path):
    shown = new_code_cell("visible = 1", outputs=[new_output("stream", text="an output")])
    hidden = new_code_cell(
        "secret = 2", outputs=[new_output("stream", text="another")], metadata={"tags": ["hide-input"]}
    )
    cells = [new_markdown_cell("# A page\n\n$$\nx^2 \\tag{1.1}\n$$\n\nand $y$."), shown, hidden]
    nbformat.write(new_notebook(cells=cells), tmp_path / "page.ipynb")
    as_html(tmp_path / "page.ipynb", tmp_path / "page.html")
    text = (tmp_path / "page.html").read_text()
    assert not re.search(r"""<(?:script|link|img)\b[^>]*\b(?:src|href)=["'](?:https?:)?//""", text)
    assert "MathJax = {" in text
    assert len(text) > 1_500_000  # MathJax itself is in it
    assert "$$" in text
    body = text.split("<body", 1)[1]
    assert "visible" in body
    assert "an output" in body
    assert "another" in body
    assert "secret" not in body
