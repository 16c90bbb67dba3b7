"""The book loads the icons that it shows, and no others."""

import shutil
from pathlib import Path

import pydata_sphinx_theme
import pytest
from fontTools.ttLib import TTFont

from workflow.icons import FONTS, NAMES, STYLES, trim_icons

THEME = Path(pydata_sphinx_theme.__file__).parent / "theme" / "pydata_sphinx_theme" / "static"
BARS, DRAGON = 0xF0C9, 0xF6D5


@pytest.fixture
def html(tmp_path):
    for name in (STYLES, *(FONTS / f"{name}.{kind}" for name in NAMES for kind in ("ttf", "woff2"))):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(THEME / name.relative_to("_static"), tmp_path / name)
    (tmp_path / "index.html").write_text('<button class="fa-solid fa-bars"></button><i class="fa-plus fa-a"></i>')
    (tmp_path / "_static" / "own.js").write_text("button.classList.add('fa-ghost')")
    (tmp_path / "_static" / "own.css").write_text(r'.mine::before { content: "\f6e2\f111" }')
    return tmp_path


def test_icons_of_pages_scripts_and_styles_stay(html):
    trim_icons(html)
    shown = TTFont(html / FONTS / "fa-solid-900.woff").getBestCmap()
    ghost, circle = 0xF6E2, 0xF111  # of a script, and of a style alone
    assert {BARS, ord("+"), ord("A"), ghost, circle} <= shown.keys()
    assert DRAGON not in shown
    assert len(shown) < 100
    styles = (html / STYLES).read_text()
    assert ".fa-bars:before" in styles
    assert ".fa-ghost:before" in styles
    assert ".fa-dragon:before" not in styles


def test_other_styles_are_as_they_were(html):
    before = (html / STYLES).read_text()
    trim_icons(html)
    after = (html / STYLES).read_text()
    rules, left = ([rule for rule in text.split("}") if ":before{content:" not in rule] for text in (before, after))
    assert [rule for rule in rules if "@font-face" not in rule] == [rule for rule in left if "@font-face" not in rule]
    assert len(left) == len(rules)


def test_what_styles_load_is_there(html):
    trim_icons(html)
    assert {path.name for path in (html / FONTS).iterdir()} == {f"{name}.woff" for name in NAMES}
    styles = (html / STYLES).read_text()
    assert all(f"{name}.woff)" in styles for name in NAMES)
    assert ".woff2" not in styles
    assert ".ttf" not in styles


@pytest.mark.parametrize("old", [":before{content:", ".woff2"])
def test_another_theme_is_refused(html, old):
    (html / STYLES).write_text((html / STYLES).read_text().replace(old, ".x"))
    with pytest.raises(ValueError, match="must"):
        trim_icons(html)
