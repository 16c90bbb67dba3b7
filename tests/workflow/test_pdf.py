"""The book as one PDF: ids do not meet, nothing is clipped, it is tagged and has bookmarks."""

import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from bs4 import BeautifulSoup

from book.ext.contents import pages_in_order
from reproduction.checkout import ROOT
from workflow.chromium import find_chromium, run_page
from workflow.pdf import clipped, joined_page, make_pdf

needs_chromium = pytest.mark.skipif(find_chromium() is None, reason="needs Chromium: apt install chromium")
PAGE = """<html><head><title>One — A book</title><link rel="stylesheet" href="_static/a.css?v=1">
<script src="_static/other.js"></script></head><body><nav>elsewhere</nav><article class="bd-article">
<section id="question"><h1>{title}<a class="headerlink" href="#question">#</a></h1>
<p><a href="#question">up</a> <a href="b.html#question">other</a> <a href="b.html">page</a>
<a href="_modules/x.html">source</a> <a href="https://example.org/#x">far</a></p>
<label for="box">Label</label><input id="box"><img src="_images/c.svg" alt="A picture" loading="lazy">
<details><summary>Proof</summary><p>folded</p></details><button>Copy</button>{more}</section></article></body></html>
"""


@pytest.fixture
def book(tmp_path):
    def make(more=""):
        for name in "ab":
            (tmp_path / f"{name}.html").write_text(PAGE.format(title=f"Page {name}", more=more))
        return tmp_path

    return make


def test_pages_come_in_the_order_of_the_contents():
    pages = pages_in_order(ROOT / "_toc.yml")
    assert pages[0] == "book/index"
    assert pages.index("notebooks/binary") < pages.index("notebooks/convexity") < pages.index("book/references")


def test_ids_do_not_meet_and_links_lead_where_they_led(book):
    soup = BeautifulSoup(joined_page(book(), ["a", "b"]), "html.parser")
    ids = [tag["id"] for tag in soup.select("[id]")]
    assert ids == ["a", "a--question", "a--box", "b", "b--question", "b--box"]
    links = {tag.get_text(): tag["href"] for tag in soup.select("#a a")}
    assert links == {"up": "#a--question", "other": "#b--question", "page": "#b", "far": "https://example.org/#x"}
    assert "source" in soup.select_one("#a p").get_text()  # without a link: the PDF has no such page
    assert all(tag["href"][1:] in ids for tag in soup.select('a[href^="#"]'))
    assert soup.select_one("#b label")["for"] == "b--box"


def test_only_what_is_read_is_left_and_folds_are_open(book):
    soup = BeautifulSoup(joined_page(book(), ["a", "b"]), "html.parser")
    assert "elsewhere" not in soup.get_text()
    assert not soup.select("button, nav, .headerlink")
    assert all(fold.has_attr("open") for fold in soup.select("details"))
    assert soup.title.get_text() == "A book"
    image = soup.select_one("img")
    assert image["src"] == (book() / "_images" / "c.svg").as_uri()
    assert not image.has_attr("loading")
    assert [tag["href"] for tag in soup.select("link")] == [(book() / "_static" / "a.css").as_uri()]
    assert not soup.select("script[src]")


def test_a_book_that_is_not_there_is_said_to_be_missing(book):
    with pytest.raises(FileNotFoundError, match=r"make book\. Missing in .*: c\."):
        joined_page(book(), ["a", "c"])


def test_what_would_be_clipped_is_refused(book, tmp_path):
    toc = tmp_path / "_toc.yml"
    toc.write_text(yaml.safe_dump({"root": "a", "parts": [{"chapters": [{"file": "b"}]}]}))
    with pytest.raises(RuntimeError, match="Got no answer"):
        clipped(book() / "a.html", lambda page, fragment: "<html></html>")
    answer = '<output id="clipped">["b: &lt;p&gt; by 40 px: wide"]</output>'
    assert clipped(book() / "a.html", lambda page, fragment: answer) == ["b: <p> by 40 px: wide"]


def joined(book, folder, more):
    """The file of a joined page that holds `more`, as it is printed."""
    page = folder / "joined.html"
    styles = f"<style>{(ROOT / 'book/_static/print.css').read_text()}</style>"
    page.write_text(joined_page(book(more), ["a", "b"]).replace("</head>", f"{styles}</head>"))
    return page


@pytest.mark.slow
@needs_chromium
@pytest.mark.parametrize(
    ("width", "fits"),
    [(300, True), (900, True), (3000, False)],  # as it is, made smaller, too wide for that
)
def test_wide_things_are_made_smaller_and_wider_ones_refused(book, tmp_path, width, fits):
    more = f'<table style="width: {width}px; table-layout: fixed"><tr><td>cell</td></tr></table>'
    found = clipped(joined(book, tmp_path, more))
    assert (found == []) == fits
    assert all(re.match(r"[ab]: <\w+> by \d+ px", one) for one in found)


@pytest.mark.slow
@needs_chromium
@pytest.mark.parametrize(
    ("cell", "whole"),
    [('<td class="number">12.5 (1.2)</td>', True), ("<th><p>scaling</p></th>", True), ("<td>a_long_name</td>", False)],
)
def test_numbers_of_a_wide_table_become_small_and_stay_whole(book, tmp_path, cell, whole):
    page = joined(book, tmp_path, f"<table><tr>{cell * 30}</tr></table>")
    table = BeautifulSoup(run_page(page, ""), "html.parser").select_one("#a table")
    assert "tight" in table["class"]
    assert ("zoom" in table.get("style", "")) == whole


@pytest.mark.slow
@needs_chromium
def test_a_book_of_two_pages_becomes_a_tagged_pdf_with_bookmarks(tmp_path):
    config = yaml.safe_load((ROOT / "_config.yml").read_text())
    del config["bibtex_bibfiles"]
    own = {"html_static_path": [str(ROOT / "book" / "_static")], "bibtex_bibfiles": [], "moved_pages": {}}
    config["sphinx"]["config"] |= own
    config["sphinx"]["local_extensions"] = {"book.ext.page_head": str(ROOT)}
    (tmp_path / "_config.yml").write_text(yaml.safe_dump(config))
    (tmp_path / "_toc.yml").write_text("format: jb-book\nroot: one\nparts:\n- caption: P\n  chapters:\n  - file: two\n")
    title = "Second " * 12 + "title"
    long = " + ".join(f"x_{{{i}}}" for i in range(24))
    (tmp_path / "one.md").write_text("# First\n\n## The question\n\nSee [there](two.md).\n")
    (tmp_path / "two.md").write_text(
        f"# {title}\n\n## The question\n\n$$ {long} $$\n\n```{{dropdown}} Proof\nfolded\n```\n"
    )
    subprocess.run([Path(sys.executable).with_name("jupyter-book"), "build", tmp_path, "-q"], check=True)
    out = tmp_path / "book.pdf"
    assert make_pdf(tmp_path / "_build" / "html", tmp_path / "_toc.yml", out) == 2
    printed = out.read_bytes()
    assert b"/StructTreeRoot" in printed, "it is not tagged"
    titles = re.findall(rb"/Title \(([^)]*)\)", printed)
    of_book = yaml.safe_load((ROOT / "_config.yml").read_text())["title"]
    assert sorted(titles) == sorted(one.encode() for one in (of_book, "First", "The question", title, "The question"))
    assert b"+MathJax_Math-Italic" in printed, "formulas are not set"
