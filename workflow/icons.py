"""Drop from the built book the icons that no page shows: of Font Awesome's 1,400 a dozen or so are used,
and each page would load all.

    python -m workflow.icons _build/html
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

from fontTools import subset
from fontTools.ttLib import TTFont

STYLES = Path("_static/styles/pydata-sphinx-theme.css")
FONTS = Path("_static/vendor/fontawesome/webfonts")
NAMES = ("fa-solid-900", "fa-regular-400", "fa-brands-400")
_NAMED = re.compile(r"\bfa-[a-z0-9]+(?:-[a-z0-9]+)*")
_RULE = re.compile(r'((?:\.fa-[a-z0-9-]+::?before,?)+)\{content:"[^"]*"\}')
_ESCAPED = re.compile(r"\\([0-9a-f]{2,4})\b")


def trim_icons(html: Path) -> None:
    """Keep the icons that pages, scripts or styles name, in a font of their own, and the styles of these alone.

    Raises:
        ValueError: the theme's styles do not name fonts and icons in the form that is known here.
    """
    styles = html / STYLES
    pages = (*html.rglob("*.html"), *(html / "_static").rglob("*.js"))
    used = {name for path in pages for name in _NAMED.findall(path.read_text())}
    text = _RULE.sub(lambda rule: rule[0] if used & set(_NAMED.findall(rule[1])) else "", styles.read_text())
    if not _RULE.search(text):
        raise ValueError(f"{STYLES} must have rules of icons that pages show, .fa-name:before. Got none.")
    for name in NAMES:
        font = f"url(../vendor/fontawesome/webfonts/{name}"
        named = f'{font}.woff2) format("woff2"),{font}.ttf) format("truetype")'
        if named not in text:
            raise ValueError(f"{STYLES} must load {name}.woff2, else .ttf. Got no such rule.")
        text = text.replace(named, f'{font}.woff) format("woff")')
    styles.write_text(text)
    every = "".join(path.read_text() for path in html.rglob("*.css"))  # icons are written as they are, or escaped
    for name in NAMES:
        _write_subset(html / FONTS / name, {*map(ord, every), *(int(code, 16) for code in _ESCAPED.findall(every))})


def _write_subset(path: Path, codes: set[int]) -> None:
    """As WOFF, for which Python has what it takes; WOFF2 is not smaller at this size."""
    font = TTFont(path.with_suffix(".ttf"))
    options = subset.Options(flavor="woff")
    cut = subset.Subsetter(options)
    cut.populate(unicodes=codes)
    cut.subset(font)
    subset.save_font(font, path.with_suffix(".woff"), options)
    for old in (".ttf", ".woff2"):
        path.with_suffix(old).unlink()


if __name__ == "__main__":
    trim_icons(Path(sys.argv[1]))
