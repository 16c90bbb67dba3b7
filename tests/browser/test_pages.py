"""Every page, at every width, light and dark; of the pages of source, one like the other, the three largest at two."""

import pytest

from tests.browser.built import PAGES, REPORT, SHOTS, SOURCES, page_id
from tests.browser.visit import HEAVIEST, MODES, WIDTHS, visit

HEAVY = {"ledger": 3_000_000}  # bytes of a page that holds all evidence: 150 kB of them compressed


@pytest.mark.parametrize("page", PAGES, ids=page_id)
def test_nothing_is_wrong_with(page, browser):
    found = visit(browser, page, SHOTS, heaviest=HEAVY.get(page.stem, HEAVIEST))
    assert not found, "\n".join(map(str, found))


@pytest.mark.parametrize("page", SOURCES[:3], ids=page_id)
def test_nothing_is_wrong_with_source(page, browser):
    """Widest and narrowest; the first as any page."""
    one = {} if page == SOURCES[0] else {"axe": False, "widths": (WIDTHS[0], WIDTHS[-1]), "modes": MODES[:1]}
    found = visit(browser, page, SHOTS, **one)
    assert not found, "\n".join(map(str, found))


def test_nothing_is_wrong_with_a_report(browser):
    """What `focal calibrate` leaves, with every method."""
    found = visit(browser, REPORT, SHOTS)
    assert not found, "\n".join(map(str, found))
