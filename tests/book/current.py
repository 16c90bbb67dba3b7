"""Whether the book is built of what stands in the tree."""

import pytest

from reproduction.checkout import ROOT

HTML = ROOT / "_build" / "html"


def book_is_current():
    """Whether make book has run since the last change: links into an older book would mislead."""
    index = HTML / "index.html"
    inputs = [
        p
        for folder in ("book", "notebooks", "focal_lib", "reproduction")
        for p in (ROOT / folder).rglob("*.*")
        if p.is_file()
    ]
    inputs += [*(ROOT / "workflow").glob("*.py"), *ROOT.glob("_*.yml")]
    newest = max(
        p.stat().st_mtime for p in inputs if p.suffix in (".py", ".md", ".css", ".js", ".bib", ".yml", ".yaml")
    )
    return index.exists() and index.stat().st_mtime > newest


needs_book = pytest.mark.skipif(not book_is_current(), reason="make book has not run since the last change")
