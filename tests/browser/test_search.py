"""The search finds a statement in the chapter that is about it, from a file, without a server."""

import re

import pytest

from tests.browser.built import HTML
from tests.browser.visit import open_page


@pytest.mark.parametrize(("asked", "chapter"), [("Prop. 5", "confidence")])
def test_the_chapter_comes_first(asked, chapter, browser):
    page, log = open_page(browser, (HTML / "search.html").as_uri())
    box = page.locator("form[action='search.html'] input[name=q], input[name=q]").locator("visible=true").first
    box.fill(asked)
    box.press("Enter")
    page.wait_for_url(re.compile(r"search\.html\?q="))
    results = page.locator("#search-results ul.search > li")
    page.locator("#search-results .search-summary", has_text=re.compile(r"\d")).wait_for()
    first = results.first.locator("a").first.get_attribute("href")
    page.context.close()
    assert f"notebooks/{chapter}.html" in first
    assert log.findings == []
