"""Every page is HTML as the standard has it, but for what the theme gives."""

import re

from tests.browser.built import PAGES, SOURCES
from tests.browser.markup import GIVEN, check, complaints


def test_pages_are_html():
    found = complaints([*PAGES, SOURCES[0]])
    assert not found, "\n".join(f"{said} ({len(places)} times, {places[0]})" for said, places in found.items())


def test_each_exception_is_needed():
    said = {str(error["message"]) for error in check([*PAGES, SOURCES[0]])}
    assert [pattern for pattern in GIVEN if not any(re.search(pattern, one) for one in said)] == []


def test_a_fault_is_found(tmp_path):
    page = tmp_path / "page.html"
    start = "<!DOCTYPE html><html lang=en><title>A page</title><body>"
    page.write_text(f"{start}<p>Well.</p>")
    assert complaints([page]) == {}
    page.write_text(f"{start}<p id=a><p id=a><img src=a.png>")
    assert len(complaints([page])) == 2
