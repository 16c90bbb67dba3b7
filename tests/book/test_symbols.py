"""The page of symbols is true: one row a symbol, names of the code that exist, none used before its chapter."""

import functools
import re
from collections import Counter

import jupytext
import pytest

from focal_lib import losses, theory
from reproduction.checkout import ROOT
from reproduction.theorems import symbols
from tests.book.chapters import CHAPTERS

ROWS = [
    [cell.strip() for cell in line.strip("|").split(" | ")]
    for line in (ROOT / "book" / "symbols.md").read_text().splitlines()
    if line.startswith("| $")
]
MODULES = {"theory": theory, "losses": losses, "symbols": symbols}

# as a row of the page has it, how a chapter writes it, the first to do so, which says what it is or links there
INTRODUCED = [
    (r"$\hat p(q)$", r"\\hat p", "binary"),
    (r"$L^*(p)$", r"L\^\*", "binary"),
    (r"$u(s)$", r"\bu\(s\)", "binary"),
    (r"$R(s)$", r"(?<!\\mathcal )\bR\(s\)", "binary"),
    (r"$\beta(s)$", r"\\beta", "temperature_bounds"),
    (r"$\gamma_c$", r"\\gamma_c", "temperature_bounds"),
    (r"$b(q)$", r"\bb\(q\)", "temperature_bounds"),
    (r"$w(q)$", r"\bw\(", "temperature_fit"),
    (r"$h(q)$", r"\bh\(", "confidence"),
    (r"$e(q)$", r"\be\(q\)", "temperature_bounds"),
    (r"$g(q)$", r"\bg\(", "simplex"),
    (r"$p^*(\gamma)$", r"p\^\*", "confidence"),
    (r"$\tau(\gamma)$", r"\\tau\(\\gamma\)", "confidence"),
    (r"$\gamma^*(p_0)$", r"\\gamma\^\*", "simplex"),
]


@functools.cache
def prose(path):
    return "\n".join(cell.source for cell in jupytext.read(path).cells if cell.cell_type == "markdown")


def test_each_symbol_has_one_row():
    assert len(ROWS) > 20
    assert all(len(row) == 3 for row in ROWS), [row for row in ROWS if len(row) != 3]
    assert max(Counter(row[0] for row in ROWS).values()) == 1


def test_names_of_the_code_exist():
    for row in ROWS:
        for module, name in re.findall(r"`(\w+)\.(\w+)`", row[2]):
            assert module == "logits" or hasattr(MODULES[module], name), f"{row[0]}: {module}.{name}"


@pytest.mark.parametrize(("row", "written", "chapter"), INTRODUCED, ids=[row for row, *_ in INTRODUCED])
def test_no_chapter_uses_a_symbol_before_it_is_introduced(row, written, chapter):
    assert row in [found for found, *_ in ROWS]
    uses = [path.stem for path in CHAPTERS if re.search(written, prose(path))]
    assert uses[0] == chapter, f"{row} first in {uses[0]}"
