"""What is folded opens by keyboard: solutions, tips, code, evidence."""

from __future__ import annotations

from playwright.sync_api import Page

__all__ = ["FOLDS", "shut_folds"]

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
            before = every.nth(i).bounding_box()["height"]
            every.nth(i).locator(opener).first.focus()
            page.keyboard.press("Enter")
            after = every.nth(i).bounding_box()["height"]
            if not after > before + 5:
                shut.append(f"{fold} {i} does not open: {before} px high, then {after}")
    return shut
