"""Cells of many words are marked; numbers, heads and tables of words are not."""

import pandas as pd
import pytest
from bs4 import BeautifulSoup

from reproduction.pages.tables import captioned
from workflow.long_cells import with_long_cells

LONG = "a contrast whose name is <i>a</i> sentence"


def test_cells_and_heads_of_rows():
    numbers = "-0.134 [-0.154, -0.115] * 1e-05"
    table = pd.DataFrame({LONG: [LONG, numbers, "short", "one-word-that-is-long-enough"]}, index=[LONG, *"abc"])
    shown = BeautifulSoup(with_long_cells(captioned(table, "x").to_html()), "html.parser")
    assert [span.get_text() for span in shown.select(".long")] == [LONG, LONG]
    assert {span.parent.name for span in shown.select(".long")} == {"th", "td"}
    assert [cell.get_text() for cell in shown.select("td")] == table[LONG].tolist()


@pytest.mark.parametrize("kind", ["words", "ledger"])
def test_tables_whose_cells_break_are_left(kind):
    text = f'<table id="x" class="dataframe {kind}"><td>{"word " * 9}</td></table>'
    assert with_long_cells(text) == text
