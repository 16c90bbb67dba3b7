"""What is folded opens by keyboard: solutions, tips, code, evidence."""

from __future__ import annotations

from playwright.sync_api import Locator, Page

FOLDS = {  # CSS of a fold -> CSS of what opens it, in it
    ".solution.dropdown": "button.toggle-button",
    ".tip.dropdown": "button.toggle-button",
    "details.hide": "summary",
    "details.sd-dropdown": "summary",
}


def shut_folds(page: Page) -> list[str]:
    """Those that the keyboard did not open, of all solutions and one of each other kind."""
    shut = []
    for fold, opener in FOLDS.items():
        every = page.locator(fold)
        for i in range(every.count() if fold.startswith(".solution") else min(1, every.count())):
            before = _height(every.nth(i))
            if before == 0:
                shut.append(f"{fold} {i} cannot be seen")
                continue
            every.nth(i).locator(opener).first.focus()
            page.keyboard.press("Enter")
            after = _height(every.nth(i))
            if not after > before + 5:
                shut.append(f"{fold} {i} does not open: {before} px high, then {after}")
    return shut


def _height(one: Locator) -> float:
    """In pixels; 0 of what is not shown."""
    box = one.bounding_box()
    return box["height"] if box else 0.0
