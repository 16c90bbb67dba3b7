"""Every page, at every width, light and dark; pages of source at two."""

import pytest

from tests.browser.built import PAGES, REPORT, SHOTS, SOURCES, page_id
from tests.browser.visit import MODES, WIDTHS, visit


@pytest.mark.parametrize("page", PAGES, ids=page_id)
def test_nothing_is_wrong_with(page, browser):
    found = visit(browser, page, SHOTS)
    assert not found, "\n".join(map(str, found))


@pytest.mark.parametrize("page", SOURCES, ids=page_id)
def test_nothing_is_wrong_with_source(page, browser):
    """One like the other: widest and narrowest; the first as any page."""
    one = {} if page == SOURCES[0] else {"axe": False, "widths": (WIDTHS[0], WIDTHS[-1]), "modes": MODES[:1]}
    found = visit(browser, page, SHOTS, **one)
    assert not found, "\n".join(map(str, found))


def test_nothing_is_wrong_with_a_report(browser):
    """What `focal calibrate` leaves, with every method."""
    found = visit(browser, REPORT, SHOTS)
    assert not found, "\n".join(map(str, found))
