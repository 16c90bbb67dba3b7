"""The search finds a statement in the chapter that is about it: from a file; from a server with excerpts."""

import functools
import re
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

import pytest

from tests.browser.built import HTML
from tests.browser.visit import open_page


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *given):
        pass


@pytest.fixture
def address():
    handler = functools.partial(Quiet, directory=HTML)
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


def search(page, asked):
    box = page.locator("form[action='search.html'] input[name=q], input[name=q]").locator("visible=true").first
    box.fill(asked)
    box.press("Enter")
    page.wait_for_url(re.compile(r"search\.html\?q="))
    page.locator("#search-results .search-summary", has_text=re.compile(r"\d")).wait_for()
    return page.locator("#search-results ul.search > li")


@pytest.mark.parametrize(
    ("asked", "chapter"), [("Prop. 5", "confidence"), ("gamma", "focal_loss"), ("temperature", "temperature_fit")]
)
def test_the_chapter_comes_first(asked, chapter, browser):
    page, log = open_page(browser, (HTML / "search.html").as_uri())
    first = search(page, asked).first.locator("a").first.get_attribute("href")
    page.context.close()
    assert f"notebooks/{chapter}.html" in first
    assert log.findings == []


def test_from_a_server_results_have_excerpts(address, browser):
    page = browser.new_page()  # `open_page` has no network
    page.goto(f"{address}/search.html")
    found = search(page, "Prop. 5").first  # by the index, whose anchors are empty
    assert "#index-" in found.locator("a").first.get_attribute("href")
    excerpt = found.locator("p.context")
    excerpt.wait_for()
    assert "prop" in excerpt.inner_text().lower()
    page.close()
