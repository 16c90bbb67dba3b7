"""Tables say what they are, in words."""

import numpy as np
import pandas as pd
import pytest
from bs4 import BeautifulSoup

from focal_lib.metrics.by_name import METRICS
from focal_lib.plots.colours import colour_of
from reproduction.engine.data.corruptions import CORRUPTIONS
from reproduction.engine.data.images import IMAGE_SETS
from reproduction.engine.spec import LOSSES
from reproduction.pages.tables import WORDS, as_html, captioned, in_words
from reproduction.studies.shared.over_seeds import format_as_kk24
from reproduction.studies.shared.recorded import read_table

ECE_OF_TWO = "ECE: FCL (γ 3, λ 0.5) as trained minus FCL with L1 (γ 4, λ 1.5) as trained"


def test_short_names_are_spelt_out_and_words_are_not_touched():
    assert in_words("adaptive-ece (%)") == "adaptive ECE (%)"
    assert in_words("ece, after") == "ECE, after"
    assert in_words("auroc max-probability") == "AUROC by largest probability"
    assert in_words("fpr95 energy") == "FPR at 95 % by energy"
    assert in_words("auroc") == "AUROC"
    assert in_words("recent pre-ece") == "recent pre-ece"
    assert in_words(0.5) == "0.5"
    assert in_words("ece elsewhere") == "ECE elsewhere"
    assert in_words(True) == "yes"
    assert in_words(np.bool_(False)) == "no"


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("fcl 4 3", "FCL (γ 4, λ 3)"),
        ("ece: fcl 3 0.5 as trained minus fcl-l1 4 1.5 as trained", ECE_OF_TWO),
        ("mmce 8", "MMCE (λ 8)"),
        ("mmce, M20", "MMCE, M20"),
        ("label-smoothing 0.05", "label smoothing 0.05"),
        ("dual-focal 2", "dual focal 2"),
        ("flsd-53, best", "FLSD-53, best"),
        ("focal 3", "focal 3"),
        ("tree-lstm-glove", "Tree-LSTM with GloVe vectors"),
        ("fcl 4 1.5, auroc energy", "FCL (γ 4, λ 1.5), AUROC by energy"),
        ("flsd-53: temperature minus none, nll", "FLSD-53: temperature minus as trained, NLL"),
        ("cifar10-c-gaussian-noise-5", "Gaussian noise, severity 5"),
        ("FCL, cifar10-c-jpeg-compression-1: energy", "FCL, JPEG compression, severity 1: energy"),
        ("cifar10-c-fog-3", "fog, severity 3"),
        ("resnet8 on cifar10", "ResNet-8 on CIFAR-10"),
        ("cifar10-record, 11 of 38", "cifar10-record, 11 of 38"),  # a folder
        ("cifar10-c-fog-6", "cifar10-c-fog-6"),  # none
        ("log top own validation", "log of the largest eigenvalue (own loss, validation images)"),
        ("mlp: log trace ce train: focal 3", "MLP: log of the trace (cross-entropy, training images): focal 3"),
        ("ECE with trace own validation", "ECE with the trace (own loss, validation images)"),
        ("log loss factor validation", "log of the factor of the loss (validation images)"),
        ("log spread train", "log of the factor of the spread (training images)"),
        ("log weight norm", "log of the norm of the weights"),
        ("log-gap", "gap in log-loss"),
        ("exact own", "exact own"),
    ],
)
def test_names_of_records_are_spelt_out_once(name, said):
    assert in_words(name) == said
    assert in_words(said) == said


def test_p_values_and_what_is_no_more_than_zero():
    frame = pd.DataFrame(
        {
            "difference": [-0.0001, -0.25],
            "p": [4e-18, 0.0314],
            "p, corrected (Holm)": [0.001, np.nan],
            "n": [50_000, 500],
        }
    )
    text = captioned(frame, "Of two.").to_html()
    cells = BeautifulSoup(text, "html.parser").select("td")
    assert [cell.text for cell in cells] == ["0.000", "< 0.001", "0.001", "50,000", "-0.250", "0.031", "", "500"]
    assert ">&lt; 0.001<" in text


def test_every_corruption_and_set_of_images_has_words():
    assert not [name for name in (*CORRUPTIONS, *IMAGE_SETS) if "-" in in_words(name) and name == in_words(name)]
    assert {in_words(f"cifar10-c-{name}-2") for name in CORRUPTIONS} == {
        f"{in_words(name)}, severity 2" for name in CORRUPTIONS
    }


def test_every_loss_of_runs_has_words():
    assert {loss for loss in LOSSES if "-" in loss or not LOSSES[loss]} <= set(WORDS)


def test_the_colour_of_a_loss_is_that_of_its_label():
    for label in (
        "fcl 4 3",
        "fcl-l1 4 1.5",
        "mmce 8",
        "dual-focal 2",
        "label-smoothing 0.05",
        "flsd-532",
        "proper-focal 2",
    ):
        assert colour_of(in_words(label)) == colour_of(label)


def test_cells_are_spelt_out_where_it_is_asked():
    table = pd.DataFrame({"loss": ["fcl 2 1 <"], "sure": [True], "nll": [0.25], "none": [None]})
    plain, spelt = (captioned(table, "x", index=False, spelt=spelt).to_html() for spelt in (False, True))
    cells = [[cell.get_text() for cell in BeautifulSoup(shown, "html.parser").select("td")] for shown in (plain, spelt)]
    assert cells == [["fcl 2 1 <", "True", "0.250", ""], ["FCL (γ\xa02, λ\xa01) <", "yes", "0.250", ""]]


def test_every_metric_of_the_tables_has_words():
    assert set(METRICS) - {"error"} <= set(WORDS)


def test_caption_heads_numbers_and_gaps():
    table = pd.DataFrame({"nll": [0.12345, None], "words": ["a", "b"]}, index=pd.Index([0.5, 2.0], name="gamma"))
    shown = BeautifulSoup(captioned(table, "What it is").to_html(), "html.parser")
    assert shown.caption.get_text() == "What it is"
    assert [head.get_text().strip() for head in shown.select("thead .col_heading")] == ["NLL", "words"]
    assert [head.get_text() for head in shown.select("tbody th")] == ["0.5", "2"]
    assert [cell.get_text() for cell in shown.select("td")] == ["0.123", "a", "", "b"]
    assert [cell.get_text() for cell in shown.select("td.number")] == ["0.123", ""]
    assert [head.get_text() for head in shown.select("th:has(> .number)")] == ["NLL"]
    assert not BeautifulSoup(captioned(table, "x", index=False).to_html(), "html.parser").select("tbody th")


def test_text_of_numbers_stands_as_numbers_do():
    columns = {"mean": ["1.2 ± 0.3", ""], "interval": ["[−0.5, 1]", "[-1, 2]"], "loss": ["focal 2", "3"], "n": [1, 2]}
    two = pd.DataFrame({("here", name): cells for name, cells in columns.items()} | {("there", "n"): [0.5, 1.5]})
    for table, over in (
        (pd.DataFrame(columns), ["mean", "interval", "n"]),
        (two, ["there", "mean", "interval", "n", "n"]),
    ):
        shown = BeautifulSoup(captioned(table, "x").to_html(), "html.parser")
        assert [head.get_text() for head in shown.select("th:has(> .number)")] == over
        assert "number" in shown.find("td", string="1.2 ± 0.3")["class"]
        assert "number" not in shown.find("td", string="3")["class"]


def test_a_temperature_in_brackets_belongs_to_its_number():
    table = format_as_kk24(read_table("cifar10-resnet8"))[["error (%)", "adaptive ECE (%)"]]
    shown = BeautifulSoup(as_html(captioned(table, "x")), "html.parser")
    assert len(shown.select("td.number")) == len(shown.select("td")) > 0
    assert len(shown.select("thead th:has(> .number)")) == len(shown.select("thead th.col_heading"))
    assert not shown.select("style")
    assert not shown.select("td[id]")


NUMBERS = ["0.1 [0.0, 0.2]", "1.2 ± nan", "1e-5", "< 0.001", "-3 %", "2.0 to 3.0", "(1, 2)"]


@pytest.mark.parametrize("text", [*NUMBERS, "12 of 40", "3 images", "3, a", "a 3", "3x", "-", "2020-01"])
def test_text_reads_as_numbers_or_does_not(text):
    shown = BeautifulSoup(captioned(pd.DataFrame({"x": [text]}), "x").to_html(), "html.parser")
    assert bool(shown.select("td.number")) == bool(shown.select(".number")) == (text in NUMBERS)


def test_equal_names_of_columns_or_rows_are_shown():
    for table in (pd.DataFrame([[1.0, 2.0]], columns=["a", "a"]), pd.DataFrame({"a": [1.0, 2.0]}, index=["x", "x"])):
        shown = BeautifulSoup(captioned(table, "x").to_html(), "html.parser")
        assert [cell.get_text() for cell in shown.select("td")] == ["1.000", "2.000"]
        assert not shown.select(".number")


def test_names_of_an_index_and_of_columns_are_heads():
    table = pd.DataFrame({"x": [1.0]}, index=pd.Index(["a"], name="lambda"))
    assert [h.get_text() for h in BeautifulSoup(captioned(table, "x").to_html(), "html.parser").select("thead th")] == [
        *("λ", "x")
    ]
    table = table.rename_axis(columns="<b>gamma</b>")
    heads = BeautifulSoup(captioned(table, "x").to_html(), "html.parser").select("thead th.index_name")
    assert [head.get_text() for head in heads] == ["<b>γ</b>", "λ"]


def test_the_name_of_an_index_has_no_row_of_its_own():
    runs = pd.DataFrame({("nll", "before"): [0.5], ("nll", "after"): [0.25]}, index=pd.Index(["x"], name="loss"))
    for table, rows in (
        (runs, [["", "NLL"], ["loss", "before", "after"]]),
        (runs["nll"], [["loss", "before", "after"]]),
        (runs["nll"].rename_axis(columns="when"), [["when", "before", "after"], ["loss", "", ""]]),
    ):
        shown = BeautifulSoup(captioned(table, "x").to_html(), "html.parser")
        heads = [[head.get_text().strip() for head in row.select("th")] for row in shown.select("thead tr")]
        assert heads == rows
        assert table.index.name == "loss"


def test_what_looks_like_markup_is_shown_as_it_is():
    table = pd.DataFrame({"<b>x</b>": ["<i>cell</i>"]}, index=["<script>1</script>"])
    shown = BeautifulSoup(captioned(table, "Where p < q & q > 0").to_html(), "html.parser")
    assert shown.caption.get_text() == "Where p < q & q > 0"
    assert [cell.get_text() for cell in shown.select("th.col_heading, th.row_heading, td")] == [
        *("<b>x</b>", "<script>1</script>", "<i>cell</i>")
    ]


def test_cells_and_heads_of_rows_with_many_words_break():
    long, numbers = "a contrast whose name is <i>a</i> sentence", "-0.134 [-0.154, -0.115] * 1e-05"
    table = pd.DataFrame({"x": [long, numbers, "short", "one-word-that-is-long-enough"]}, index=[long, *"abc"])
    shown = BeautifulSoup(captioned(table, "x").to_html(), "html.parser")
    assert [span.get_text() for span in shown.select("tbody .long")] == [long, long]
    assert {span.parent.name for span in shown.select(".long")} == {"th", "td"}
    assert [cell.get_text() for cell in shown.select("td")] == table["x"].tolist()


@pytest.mark.parametrize("caption", [" ", "over $\\gamma$"])
def test_a_caption_that_is_missing_or_has_a_formula_is_refused(caption):
    with pytest.raises(ValueError, match="must have a caption without formulas"):
        captioned(pd.DataFrame(), caption)
