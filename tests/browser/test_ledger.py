"""The ledger's page: its search and menus choose among cards, its count says how many, an address opens one."""

from __future__ import annotations

import time
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.built import HTML
from tests.browser.visit import open_page

LEDGER = HTML / "notebooks" / "ledger.html"
CARDS = "details.claim"
SECONDS = 10  # on a busy machine; alone it takes less than two


@pytest.fixture(scope="module")
def opened(browser: Browser) -> Iterator[Page]:
    page, log = open_page(browser, LEDGER.as_uri())
    yield page
    page.context.close()
    assert log.findings == []


@pytest.fixture
def ledger(opened: Page) -> Page:
    """With every claim shown."""
    opened.locator(".ledger-filter button[type=reset]").click()
    every = opened.locator(CARDS).count()
    expect(opened.locator(".ledger-filter output")).to_have_text(f"{every} of {every} claims")
    return opened


def _shown(page: Page) -> int:
    return page.locator(f"{CARDS}:not([hidden])").count()


def _says(page: Page) -> int:
    """The first number of the count."""
    return int(page.locator(".ledger-filter output").inner_text().split()[0])


@pytest.mark.parametrize("name", ["paper", "verdict", "chapter"])
def test_menus_choose(ledger, name):
    every = ledger.locator(CARDS).count()
    menu = ledger.locator(f".ledger-filter select[name={name}]")
    values = menu.locator("option").evaluate_all("options => options.map((option) => option.value).filter(Boolean)")
    assert len(values) > 2
    shown = 0
    for value in values:
        menu.select_option(value)
        cards = ledger.locator(f"{CARDS}:not([hidden])")
        assert set(cards.evaluate_all(f"cards => cards.map((card) => card.dataset.{name})")) == {value}
        assert cards.count() == _says(ledger)
        shown += cards.count()
    assert shown == every


def test_the_keyboard_chooses(ledger):
    every = _shown(ledger)
    ledger.locator(".ledger-filter select[name=paper]").focus()
    ledger.keyboard.press("ArrowDown")
    ledger.keyboard.press("Enter")
    expect(ledger.locator(".ledger-filter output")).not_to_have_text(f"{every} of {every} claims")
    assert 0 < _shown(ledger) == _says(ledger) < every


@pytest.mark.parametrize("width", [390, 1400])
def test_an_address_chooses_and_opens_a_card(browser, width):
    """Quickly: the formulas of cards that are shut are not set. Those of one that opens are."""
    page, log = open_page(browser, f"{LEDGER.as_uri()}?paper=kk24")
    page.set_viewport_size({"width": width, "height": 844})
    assert 0 < _shown(page) == _says(page) < page.locator(CARDS).count()
    assert page.locator(f"{CARDS}:not([open]) .claim-statement mjx-container").count() == 0
    began = time.monotonic()
    page.goto(f"{LEDGER.as_uri()}#claim-kk24-prop5")
    page.reload()
    card = page.locator("#claim-kk24-prop5")
    expect(card.locator(".claim-statement mjx-container").first).to_be_visible()
    assert time.monotonic() - began < SECONDS
    assert page.locator(f"{CARDS}:not([open]) .claim-statement mjx-container").count() == 0
    assert card.get_attribute("open") is not None
    assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0
    page.context.close()
    assert log.findings == []
