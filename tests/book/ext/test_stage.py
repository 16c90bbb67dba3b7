"""What Sphinx is given: a landing page with cards, chapters with a beginning, and nothing that is gone."""

import base64
import io

import nbformat
import pytest
import yaml
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output
from PIL import Image

from book.ext.stage import INDEX, SHOWN_WHOLE, TERMS, add_index_entries, check_expected, stage
from reproduction.ledger import ledger, show

CHAPTERS = [{"file": f"notebooks/{name}"} for name in ("one", "two")]
TOC = {"root": "book/index", "parts": [{"caption": "One", "numbered": 1, "chapters": CHAPTERS}]}
SAID = {
    "notebooks/one": {"about": "The first.", "figure": "fig-x"},
    "notebooks/two": {"about": "The second.", "needs": {"notebooks/one": "the map"}, "figure": "fig-x"},
}
PAGE = "# Home\n\nThe ECE.\n\n% cards\n\nEnd.\n"


def chapter(name):
    picture = io.BytesIO()
    Image.new("RGB", (40, 30), "white").save(picture, "PNG")
    output = new_output("display_data", {"image/png": base64.b64encode(picture.getvalue()).decode()})
    figure = new_code_cell("draw()", outputs=[output], id="figure")
    figure.metadata["mystnb"] = {"image": {"alt": "A line."}, "figure": {"name": "fig-x", "caption": "A line."}}
    text = f"(ch-{name})=\n# Chapter of {name}\n\nThe ECE, and again the ECE."
    cells = [new_markdown_cell(text, id="text"), figure, new_code_cell("foot()", id="foot")]
    return nbformat.writes(new_notebook(cells=cells))


@pytest.fixture
def project(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    files = {"_config.yml": "", "_toc.yml": yaml.safe_dump(TOC), "book/chapters.yaml": yaml.safe_dump(SAID)}
    files |= {str(path): "{}" for path in SHOWN_WHOLE} | {
        str(INDEX): PAGE,
        str(TERMS): "# T\n\n```{glossary}\nECE\n  A gap.\n```\n",
    }
    files |= {f"executed/{name}.ipynb": chapter(name) for name in ("one", "two")}
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    return tmp_path


def staged(project):
    stage(project / "executed", project / "source")
    return {str(p.relative_to(project / "source")): p for p in (project / "source").rglob("*") if p.is_file()}


def test_the_landing_page_has_cards_and_links_to_terms(project):
    text = staged(project)[str(INDEX)].read_text()
    assert "The {term}`ECE <ECE>`.\n" in text
    assert text.count(":::{grid-item-card}") == 2
    assert ":img-top: /book/thumbnails/two.png" in text
    assert ":img-alt: A line." in text
    assert text.endswith("End.\n")


def test_a_chapter_has_its_beginning_and_links(project):
    files = staged(project)
    first, second = (nbformat.read(files[f"notebooks/{name}.ipynb"], 4) for name in ("one", "two"))
    lines = second.cells[0].source.split("\n")
    assert lines[:2] == ["(ch-two)=", "# Chapter of two"]
    assert lines[4] == "**What you need:** the map ([chapter 1](#ch-one))."
    assert lines[-1] == "The {term}`ECE <ECE>`, and again the ECE."
    assert first.cells[-1].source == second.cells[-1].source == "foot()"


def test_claims_come_into_the_index_where_their_verdicts_stand():
    shown = show("kk24.prop5", "kk24.prop2")._repr_html_()
    output = nbformat.v4.new_output("display_data", {"text/html": shown})
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell("show()", outputs=[output])])
    add_index_entries(notebook, ledger())
    index, chips = (output.data for output in notebook.cells[0].outputs)
    assert index["text/markdown"].startswith(
        "```{index} ! KK24 Prop. 5, ! KK24 Prop 5, ! kk24.prop5\n```\n\n```{index} ! KK24 Prop. 2,"
    )
    assert chips == {"text/html": shown}


def test_what_did_not_change_is_not_written_and_what_is_gone_is_removed(project):
    files = staged(project)
    times = {name: path.stat().st_mtime_ns for name, path in files.items()}
    (project / "source" / "left_over.md").write_text("old")
    assert {name: path.stat().st_mtime_ns for name, path in staged(project).items()} == times


def test_a_landing_page_that_lost_its_mark_is_refused(project):
    (project / INDEX).write_text(PAGE.replace("% cards\n", ""))
    with pytest.raises(ValueError, match="must have a line '% cards'"):
        staged(project)


def test_a_text_for_other_verdicts_stops_the_build():
    text = "% expect REFUTED: kk24.prop5, l25.a3\n\n**False.** ...\n"
    check_expected(text, {"kk24.prop5": "REFUTED", "l25.a3": "REFUTED"})
    with pytest.raises(ValueError, match=r"is written for l25\.a3: REFUTED\. Got UNDECIDED"):
        check_expected(text, {"kk24.prop5": "REFUTED", "l25.a3": "UNDECIDED"})
    with pytest.raises(ValueError, match="Got None"):
        check_expected(text, {"kk24.prop5": "REFUTED"})
