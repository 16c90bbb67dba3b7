"""Every page, at every width, light and dark."""

import pytest

from tests.browser.built import PAGES, SHOTS, SOURCES, page_id
from tests.browser.visit import visit


@pytest.mark.parametrize("page", PAGES, ids=page_id)
def test_nothing_is_wrong_with(page, browser):
    found = visit(browser, page, SHOTS)
    assert not found, "\n".join(map(str, found))


@pytest.mark.parametrize("page", SOURCES, ids=page_id)
def test_nothing_is_wrong_with_source(page, browser):
    found = visit(browser, page, SHOTS, axe=page == SOURCES[0])
    assert not found, "\n".join(map(str, found))
