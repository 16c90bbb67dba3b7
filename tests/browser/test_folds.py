"""What is folded opens by keyboard: solutions, tips, code, evidence. One of each kind a page, all solutions."""

import re

import pytest

from tests.browser.built import PAGES, page_id
from tests.browser.visit import open_page

FOLDS = {  # CSS of a fold -> CSS of what opens it, in it
    ".solution.dropdown": "button.toggle-button",
    ".tip.dropdown": "button.toggle-button",
    "details.hide": "summary",
    "details.sd-dropdown": "summary",
}
_FOLD = re.compile(r'class="(?:(?:solution|tip) dropdown|admonition hide|[\w -]*sd-dropdown)')
FOLDED = [page for page in PAGES if _FOLD.search(page.read_text())]


def test_the_book_has_every_kind_of_fold():
    text = "".join(page.read_text() for page in FOLDED)
    assert {found[7:] for found in _FOLD.findall(text)} >= {"solution dropdown", "tip dropdown", "admonition hide"}


@pytest.mark.parametrize("path", FOLDED, ids=page_id)
def test_folds_open(path, browser):
    page, log = open_page(browser, path.as_uri())
    shut = []
    for fold, opener in FOLDS.items():
        every = page.locator(fold)
        for i in range(every.count() if fold.startswith(".solution") else min(1, every.count())):
            before = every.nth(i).bounding_box()["height"]
            every.nth(i).locator(opener).first.focus()
            page.keyboard.press("Enter")
            after = every.nth(i).bounding_box()["height"]
            if not after > before + 5:
                shut.append(f"{fold} {i}: {before} px high, then {after}")
    page.context.close()
    assert shut + log.findings == []
