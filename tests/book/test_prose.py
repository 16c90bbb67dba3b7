"""No measured number is typed in a page's text: it comes from the data (glue), from a quotation or a formula."""

import re

import jupytext
import pytest

from reproduction.checkout import ROOT

PAGES = [*sorted((ROOT / "notebooks").glob("*.py")), *sorted((ROOT / "book").glob("*.md"))]
APART = re.compile(  # code, what a paper prints, glue and links, formulas, quotations, references, levels of tests
    r"^(`{3,}|:{3,}\{admonition\} As printed).*?^[`:]{3,}$|`[^`]*`|\]\([^)]*\)|\$[^$]*\$|(?<!\w)'[^']*'|"
    r"(?:[Ss]ections?|Theorem|Definition|Python|arXiv:)\s?[\d.]+(?:(?:,| and| to)\s[\d.]+)*|\b(?:5|80|95) %",
    re.MULTILINE | re.DOTALL,
)
MEASURED = re.compile(r"(?<![\w.-])\d+\.\d+(?!\w)|\d ?(?:%|per cent|(?:percentage )?points?\b)")


def typed_numbers(text):
    own = APART.sub("", text)
    return [own[max(0, at.start() - 30) : at.end() + 20] for at in MEASURED.finditer(own)]


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.stem)
def test_no_measured_number_is_typed(path):
    cells = (
        [path.read_text()]
        if path.suffix == ".md"
        else [cell.source for cell in jupytext.read(path).cells if cell.cell_type == "markdown"]
    )
    assert [found for text in cells for found in typed_numbers(text)] == []


def test_a_typed_number_is_found_and_a_quotation_is_not():
    assert len(typed_numbers("It falls by 12.5 points, an ECE of 3 %, to 0.83.")) == 3
    assert typed_numbers("By {glue:text}`x:.1f` points at $p = 0.8$, 'around 0.62', with 95 % intervals.") == []
    assert typed_numbers(":::{admonition} As printed: KK24\nAn ECE of 0.9 %.\n:::\n") == []
