"""One browser for each worker, and the pages of the book."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, sync_playwright

from workflow.chromium import find_chromium


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """This machine's Chromium. Its sandbox does not work for root, as which containers run."""
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=find_chromium(), chromium_sandbox=os.getuid() != 0)
        yield started
        started.close()
