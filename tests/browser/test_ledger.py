"""The ledger's page: its search and menus choose among rows and cards, its count says how many."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.built import HTML
from tests.browser.visit import open_page

LEDGER = HTML / "notebooks" / "ledger.html"
ROWS = "table.ledger tbody tr"


@pytest.fixture(scope="module")
def opened(browser: Browser) -> Iterator[Page]:
    """Opened once: a page as long as this one takes seconds to set."""
    page, log = open_page(browser, LEDGER.as_uri())
    yield page
    page.context.close()
    assert log.findings == []


@pytest.fixture
def ledger(opened: Page) -> Page:
    """With every claim shown."""
    opened.locator(".ledger-filter button[type=reset]").click()
    every = opened.locator(ROWS).count()
    expect(opened.locator(".ledger-filter output")).to_have_text(f"{every} of {every} claims")
    return opened


def _shown(page: Page) -> int:
    return page.locator(ROWS).locator("visible=true").count()


def _says(page: Page) -> int:
    """The first number of the count."""
    return int(page.locator(".ledger-filter output").inner_text().split()[0])


@pytest.mark.parametrize("name", ["paper", "verdict"])
def test_menus_choose(ledger, name):
    every = ledger.locator(ROWS).count()
    menu = ledger.locator(f".ledger-filter select[name={name}]")
    values = menu.locator("option").evaluate_all("options => options.map((option) => option.value).filter(Boolean)")
    assert len(values) > 2
    shown = 0
    for value in values:
        menu.select_option(value)
        rows = ledger.locator(ROWS).locator("visible=true")
        assert set(rows.evaluate_all(f"rows => rows.map((row) => row.dataset.{name})")) == {value}
        assert rows.count() == _says(ledger)
        shown += rows.count()
    assert shown == every


def test_the_keyboard_chooses(ledger):
    every = _shown(ledger)
    ledger.locator(".ledger-filter select[name=paper]").focus()
    ledger.keyboard.press("ArrowDown")
    ledger.keyboard.press("Enter")
    expect(ledger.locator(".ledger-filter output")).not_to_have_text(f"{every} of {every} claims")
    assert 0 < _shown(ledger) == _says(ledger) < every


def test_cards_follow(ledger):
    ledger.locator(".ledger-filter input[type=search]").fill("Prop. 5")
    differ = ledger.locator(ROWS).evaluate_all(
        """rows => rows.filter((row) => {
          const card = document.getElementById(row.dataset.card);
          return row.checkVisibility() !== card.closest(".claim-card").checkVisibility();
        }).map((row) => row.dataset.card)"""
    )
    assert differ == []


@pytest.mark.parametrize("width", [1381, 1400, 1920])
def test_no_word_of_the_table_is_broken(browser, width):
    """A column too narrow for a word of its own breaks it; names of claims may break."""
    page, log = open_page(browser, LEDGER.as_uri())
    page.set_viewport_size({"width": width, "height": 900})
    page.add_style_tag(content="table.ledger * { overflow-wrap: normal !important; }")
    cells = page.locator("table.ledger :is(td, th):not(:nth-child(2)), table.ledger td > div:not(:has(.math))")
    looked_at = cells.count()
    broken = cells.evaluate_all(
        "cells => cells.filter((cell) => cell.scrollWidth > cell.clientWidth + 1).map((cell) => cell.textContent)"
    )
    page.context.close()
    assert looked_at > 1000
    assert broken == []
    assert log.findings == []
