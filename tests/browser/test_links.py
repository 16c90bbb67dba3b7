"""Links within the book lead to files, and to anchors that are there."""

from __future__ import annotations

from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

from tests.browser.built import HTML, PAGES, SOURCES, page_id


class _Links(HTMLParser):
    """The links and the anchors of a page."""

    def __init__(self, page: Path) -> None:
        super().__init__()
        self.links: set[str] = set()
        self.anchors: set[str] = set()
        self.feed(page.read_text())

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        if tag in ("a", "area") and given.get("href"):
            self.links.add(given["href"])
        self.anchors |= {value for name in ("id", "name") if (value := given.get(name))}


def broken_links(pages: list[Path], name=str) -> list[str]:
    """Those of the pages that lead nowhere; links out of the book are left out."""
    found = {page.resolve(): _Links(page) for page in pages}
    broken = []
    for page, links in found.items():
        for link in sorted(links.links):
            address = urlsplit(link)
            if address.scheme or address.netloc:
                continue
            target = (page.parent / unquote(address.path)).resolve() if address.path else page
            anchor = unquote(address.fragment)
            if not target.exists() or (anchor and target in found and anchor not in found[target].anchors):
                broken.append(f"{name(page)} -> {link}")
    return broken


def test_links_within_the_book_lead_somewhere():
    broken = broken_links([*PAGES, *SOURCES], page_id)
    assert not broken, "\n".join(broken)


def test_the_front_leads_to_the_first_page(browser):
    page = browser.new_page()
    page.goto((HTML / "index.html").as_uri(), wait_until="commit")
    page.wait_for_url("**/book/index.html")
    page.close()


def test_broken_links_are_found(tmp_path):
    (tmp_path / "two.html").write_text('<p id="here">')
    (tmp_path / "one.html").write_text(
        '<a href="two.html#here"><a href="#x"><a href="two.html#gone"><a href="no.html">'
    )
    found = broken_links(sorted(tmp_path.glob("*.html")), lambda page: page.name)
    assert found == ["one.html -> #x", "one.html -> no.html", "one.html -> two.html#gone"]
