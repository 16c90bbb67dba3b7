"""Sphinx: an address that a page once had leads to where it is now, with the fragment, which no refresh would keep."""

from __future__ import annotations

from pathlib import Path

from sphinx.application import Sphinx

PAGE = """<!DOCTYPE html>
<html lang="en">
<meta charset="utf-8">
<title>Moved</title>
<link rel="canonical" href="{address}">
<script>location.replace("{address}" + location.search + location.hash)</script>
<noscript><meta http-equiv="refresh" content="0; url={address}"></noscript>
<p>This page is now <a href="{address}">here</a>.
</html>
"""


def write_moved(folder: Path, moved: dict[str, str]) -> None:
    """A page at each old place under a folder, 'notebooks/03_binary', that leads to a page beside it, 'binary'.

    Raises:
        ValueError: the page that it should lead to is not there, or one is at the old place.
    """
    for old, new in moved.items():
        page = folder / f"{old}.html"
        if not page.with_name(f"{new}.html").exists():
            raise ValueError(f"moved_pages must lead to pages of the book. Got {new} for {old}.")
        text = PAGE.format(address=f"{new}.html")
        if page.exists() and page.read_text() != text:
            raise ValueError(f"moved_pages must be addresses without a page. Got {old}.")
        page.write_text(text)


def _write(app: Sphinx, error: Exception | None) -> None:
    if error is None and app.builder.format == "html":
        write_moved(Path(app.outdir), app.config.moved_pages)


def setup(app: Sphinx) -> dict[str, bool]:
    app.add_config_value("moved_pages", {}, "")
    app.connect("build-finished", _write)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
