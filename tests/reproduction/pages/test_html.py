"""A page that opens without a network."""

import re

import nbformat
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

from reproduction.pages.html import as_html


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
