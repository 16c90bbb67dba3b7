"""The whole book as one tagged PDF with bookmarks: its built pages, one after the other, printed by Chromium.

    python -m workflow.pdf             # make pdf

Writes _build/focal.pdf. The pages of _build/html are joined, rather than built again by Sphinx's `singlehtml`: there
the ids of sections meet, as each chapter has 'The question', so that links and bookmarks would lead to another chapter;
and sphinx-exercise registers its nodes for `singlehtml` alone, after which Sphinx forgets those of all others.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Callable, Sequence
from html import escape
from pathlib import Path
from typing import Any

from bs4 import BeautifulSoup, Tag

from book.ext.contents import pages_in_order
from reproduction.checkout import ROOT
from workflow.chromium import count_pages, print_pdf, run_page

HTML = ROOT / "_build" / "html"
OUT = ROOT / "_build" / "focal.pdf"
SCRIPT = Path(__file__).with_name("fit_to_page.js")
LEFT_OUT = (
    "script, style, .headerlink, button, .copybtn, .explore-controls, .ledger-filter, .d-print-none, .sd-d-print-none"
)
POINTERS = ("id", "for", "headers", "aria-labelledby", "aria-describedby", "aria-controls", "xlink:href")


def joined_page(html: Path, pages: Sequence[str]) -> str:
    """All pages as one, with the head of the first: every id with its page's name before it, and links to match.

    Raises:
        FileNotFoundError: the book has not been built, or lacks a page.
    """
    files = {name: html / f"{name}.html" for name in pages}
    if missing := [name for name, file in files.items() if not file.is_file()]:
        raise FileNotFoundError(f"The book must have been built: make book. Missing in {html}: {', '.join(missing)}.")
    chapters: list[str] = []
    for name, file in files.items():
        soup = BeautifulSoup(file.read_text(), "html.parser")
        if not chapters:
            head = _head(soup, file)
        article = soup.select_one("article.bd-article")
        if article is None:
            raise ValueError(f"a page of the book must have <article class='bd-article'>. Got none in {file}.")
        chapters.append(_chapter(article, name, file, files))
    body = "\n".join(chapters)
    return (
        f'<!DOCTYPE html>\n<html lang="en" data-theme="light" data-mode="light">\n<head>{head}</head>\n'
        f'<body class="whole-book">\n<main>{body}</main>\n<script>{SCRIPT.read_text()}</script>\n</body>\n</html>\n'
    )


def _head(soup: BeautifulSoup, file: Path) -> str:
    """Title, styles, those for print in all media, so that what is measured is what is printed, and MathJax."""
    title = soup.title.get_text() if soup.title else ""
    lines = ['<meta charset="utf-8">', f"<title>{escape(title.rpartition(' — ')[2])}</title>"]
    for tag in soup.select('link[rel~="stylesheet"]'):
        lines.append(f'<link rel="stylesheet" href="{_address(str(tag["href"]), file)}">')
    for tag in soup.select("head script"):
        if "mathjax" in str(tag.get("src", "")):
            lines.append(f'<script src="{_address(str(tag["src"]), file)}"></script>')
        elif "window.MathJax" in tag.get_text():
            lines.append(str(tag))
    return "\n".join(lines)


def _address(link: str, file: Path) -> str:
    return (file.parent / link.partition("?")[0]).resolve().as_uri()


def _key(name: str) -> str:
    return re.sub(r"\W+", "-", name)


def _chapter(article: Tag, name: str, file: Path, files: dict[str, Path]) -> str:
    for tag in article.select(LEFT_OUT):
        tag.decompose()
    for fold in article.select("details"):
        fold["open"] = ""
    key = _key(name)
    for tag in article.find_all(True):
        for pointer in POINTERS:
            if value := tag.get(pointer):
                tag[pointer] = _renamed(value, key)
        if (source := tag.get("src")) and not re.match(r"[a-z]+:", str(source)):
            tag["src"] = _address(str(source), file)
        tag.attrs.pop("loading", None)  # all of it is printed
    _link(article, key, file, {path.resolve(): _key(other) for other, path in files.items()})
    return f'<article class="bd-article" id="{key}">{article.decode_contents()}</article>'


def _renamed(value: Any, key: str) -> str:
    names = value if isinstance(value, list) else str(value).split()
    return " ".join(f"#{key}--{name[1:]}" if name.startswith("#") else f"{key}--{name}" for name in names)


def _link(article: Tag, key: str, file: Path, keys: dict[Path, str]) -> None:
    """Within the book to where it now is; to what is no page of it, source code say, not at all."""
    for tag in article.select("a[href]"):
        target, _, anchor = str(tag["href"]).partition("#")
        if re.match(r"[a-z]+:", target):
            continue
        other = keys.get((file.parent / target.partition("?")[0]).resolve()) if target else key
        if other is None:
            tag.unwrap()
        else:
            tag["href"] = f"#{other}--{anchor}" if anchor else f"#{other}"


def clipped(page: Path, run: Callable[[Path, str], str] = run_page) -> list[str]:
    """What is wider than the printed page even when made smaller, by chapter: measured by the page's own script.

    Raises:
        RuntimeError: the script has not come to its end.
    """
    found = re.search(r'<output id="clipped">(.*?)</output>', run(page, "#measure"), re.DOTALL)
    if found is None:
        raise RuntimeError("The page must say what is clipped. Got no answer: its formulas may not have been set.")
    return [str(one) for one in json.loads(BeautifulSoup(found[1], "html.parser").get_text())]


def make_pdf(html: Path, toc: Path, out: Path) -> int:
    """Join, measure, print; the number of pages.

    Raises:
        FileNotFoundError: no book, or no Chromium.
        ValueError: something would be clipped; the message lists it.
    """
    page = out.with_suffix(".html")
    page.write_text(joined_page(html, pages_in_order(toc)))
    if wide := clipped(page):
        raise ValueError("No line may leave the printed page. Got:\n" + "\n".join(wide))
    print_pdf(page, out)
    return count_pages(out)


def main() -> int:
    try:
        pages = make_pdf(HTML, ROOT / "_toc.yml", OUT)
    except (FileNotFoundError, ValueError, RuntimeError, subprocess.SubprocessError) as error:
        print(error, file=sys.stderr)
        return 1
    print(f"The book is at {OUT.relative_to(ROOT)}, {pages} pages")
    return 0


if __name__ == "__main__":
    sys.exit(main())
