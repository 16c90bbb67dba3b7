"""The built book: where it lies, its pages."""

from __future__ import annotations

from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
HTML = ROOT / "_build" / "html"
REPORT = ROOT / "_build" / "browser-report" / "report.html"  # workflow/browser.py has it written
SHOTS = ROOT / "_build" / "browser"  # pictures of pages that failed


def _largest_first(pages: list[Path]) -> list[Path]:
    """So that no worker waits for one long page at the end."""
    return sorted(pages, key=lambda page: -page.stat().st_size)


_FRONT = HTML / "index.html"  # Jupyter Book writes it: it leads to the first page at once
_MOVED = "<title>Moved</title>"  # book/ext/moved.py writes these: they lead on at once, too
_ALL = [
    page
    for page in HTML.rglob("*.html")
    if "_static" not in page.parts and page != _FRONT and _MOVED not in page.read_text()[:200]
]
SOURCES = _largest_first([page for page in _ALL if HTML / "_modules" in page.parents])  # of Python, one like the other
PAGES = _largest_first([page for page in _ALL if HTML / "_modules" not in page.parents])


def page_id(page: Path) -> str:
    return str(page.relative_to(HTML).with_suffix(""))
