"""The browser of this machine, which prints the article and tests the book."""

from __future__ import annotations

import shutil

__all__ = ["find_chromium"]


def find_chromium() -> str | None:
    """The path of Chromium or Chrome."""
    return next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
