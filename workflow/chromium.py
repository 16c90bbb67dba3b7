"""Chromium without a window: a page printed as PDF, or as it is after its scripts have run."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

SECONDS = 1800  # before it is stopped: a whole book on a busy machine
_NAMES = ("chromium", "chromium-browser", "google-chrome")


def find_chromium() -> str | None:
    """Its path, where there is one."""
    return next(filter(None, map(shutil.which, _NAMES)), None)


def _call(page: str, *options: str) -> bytes:
    """Formulas need the files of their fonts; virtual time passes while nothing is left to do."""
    browser = find_chromium()
    if browser is None:
        raise FileNotFoundError("PDFs are printed by Chromium: apt install chromium. Got none in PATH.")
    always = ["--headless", "--no-sandbox", "--disable-gpu", "--allow-file-access-from-files"]
    command = [browser, *always, "--virtual-time-budget=60000", *options, page]
    return subprocess.run(command, check=True, capture_output=True, timeout=SECONDS).stdout


def print_pdf(page: Path, out: Path) -> None:
    """Print an HTML file: tagged, with the headings as bookmarks.

    Raises:
        FileNotFoundError: there is no Chromium.
        subprocess.CalledProcessError: it failed.
    """
    outline = ("--generate-pdf-document-outline", "--export-tagged-pdf")
    _call(page.as_uri(), "--no-pdf-header-footer", *outline, f"--print-to-pdf={out}")


def run_page(page: Path, asked: str = "") -> str:
    """The HTML that a page has come to when its scripts have run, its address followed by what is asked: '#part'.

    Raises:
        FileNotFoundError: there is no Chromium.
        subprocess.CalledProcessError: it failed.
    """
    return _call(f"{page.as_uri()}{asked}", "--dump-dom").decode()


def count_pages(pdf: Path) -> int:
    """Of a PDF whose pages are plain objects, as Chromium writes them."""
    return len(re.findall(rb"/Type\s*/Page\b(?!s)", pdf.read_bytes()))
