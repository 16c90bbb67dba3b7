"""Tables say what they are, in words."""

import pandas as pd
import pytest
from bs4 import BeautifulSoup

from focal_lib.metrics.by_name import METRICS
from focal_lib.pages.tables import WORDS, captioned, in_words


def test_short_names_are_spelt_out_and_words_are_not_touched():
    assert in_words("adaptive-ece (%)") == "adaptive ECE (%)"
    assert in_words("ece, after") == "ECE, after"
    assert in_words("auroc max-probability") == "AUROC by largest probability"
    assert in_words("fpr95 energy") == "FPR at 95 % by energy"
    assert in_words("auroc") == "AUROC"
    assert in_words("recent pre-ece") == "recent pre-ece"
    assert in_words(0.5) == "0.5"
    assert in_words("fcl 4 1.5, auroc energy") == "FCL (gamma 4, lambda 1.5), AUROC by energy"
    assert in_words("fcl-l1 3 0.5") == "FCL-L1 (gamma 3, lambda 0.5)"
    assert in_words("flsd-53: temperature minus none, nll") == "FLSD-53: temperature minus as trained, NLL"


def test_every_metric_of_the_tables_has_words():
    assert set(METRICS) - {"error"} <= set(WORDS)


def test_caption_heads_numbers_and_gaps():
    table = pd.DataFrame({"nll": [0.12345, None], "words": ["a", "b"]}, index=pd.Index([0.5, 2.0], name="gamma"))
    shown = BeautifulSoup(captioned(table, "What it is").to_html(), "html.parser")
    assert shown.caption.get_text() == "What it is"
    assert [head.get_text().strip() for head in shown.select("thead .col_heading")] == ["NLL", "words"]
    assert [head.get_text() for head in shown.select("tbody th")] == ["0.5", "2"]
    assert [cell.get_text() for cell in shown.select("td")] == ["0.123", "a", "", "b"]
    assert not BeautifulSoup(captioned(table, "x", index=False).to_html(), "html.parser").select("tbody th")


def test_what_looks_like_markup_is_shown_as_it_is():
    table = pd.DataFrame({"<b>x</b>": ["<i>cell</i>"]}, index=["<script>1</script>"])
    shown = BeautifulSoup(captioned(table, "Where p < q & q > 0").to_html(), "html.parser")
    assert shown.caption.get_text() == "Where p < q & q > 0"
    assert [cell.get_text() for cell in shown.select("th.col_heading, th.row_heading, td")] == [
        *("<b>x</b>", "<script>1</script>", "<i>cell</i>")
    ]


def test_without_a_caption_it_is_refused():
    with pytest.raises(ValueError, match="must have a caption"):
        captioned(pd.DataFrame(), " ")


def test_a_formula_in_a_caption_is_refused():
    with pytest.raises(ValueError, match="a caption without formulas"):
        captioned(pd.DataFrame(), "over $\\gamma$")
