"""Each fault that a visit looks for is found on a small page that has it, and a page without is passed."""

from pathlib import Path

import pytest
from playwright.sync_api import Browser

from tests.browser.visit import THIN, open_page, visit

HEAD = (
    '<meta charset="utf-8"><title>A page</title><meta name="description" content="Of tests.">'
    '<link rel="icon" href="data:,"><meta name="viewport" content="width=device-width">'
)
WIDE = (
    '<mjx-container style="display: inline-block"><mjx-math style="display: inline-block; width: 500px">q</mjx-math>'
    "</mjx-container>"
)
NUMBER = '<span class="eqno" style="position: absolute; left: 40px">(1)</span>'


def page(body: str, head: str = HEAD, start: str = '<html lang="en">') -> str:
    return f"<!DOCTYPE html>{start}<head>{head}</head><body><main><h1>A page</h1>{body}</main></body></html>"


WELL = page(
    '<p>Text.</p><img alt="nothing" src="data:image/gif;base64,R0lGODlhAQABAAAAACw="><details><summary>More</summary>x'
    f'</details><div tabindex="0" style="overflow-x: auto">{WIDE}</div>'
)
FAULTS = {  # name -> page, kind of the finding, where, what it says
    "console error": (page("<script>console.error('went wrong')</script>"), "console", "", "went wrong"),
    "page error": (page("<script>nothing.there</script>"), "console", "", "not defined"),
    "foreign request": (page('<img alt="x" src="https://example.org/a.png">'), "request", "", "is not of the book"),
    "lost file": (page('<img alt="x" src="lost.png">'), "request", "", "lost.png failed"),
    "no alt": (page('<img src="data:,">'), "alt", "", "no alternative text"),
    "empty alt": (page('<img alt="" src="data:,">'), "alt", "", "no alternative text"),
    "no title": (page("", HEAD.replace("A page", " ")), "head", "", "no title"),
    "no language": (page("", start="<html>"), "head", "", "no language"),
    "no description": (page("", HEAD.replace("Of tests.", "")), "head", "", "no description"),
    "no icon": (page("", HEAD.replace("icon", "x")), "head", "", "no icon"),
    "overflow": (page('<div style="width: 400px">wide</div>'), "overflow", "light, 390 px", "makes the page"),
    "overflow in the dark": (
        page("<style>@media (prefers-color-scheme: dark) {p {width: 900px}}</style><p>x</p>"),
        "overflow", "dark, 320 px", "makes the page",
    ),
    "clipped formula": (page(f'<p style="overflow: hidden">{WIDE}</p>'), "clipped", "light, 390 px", "beyond p"),
    "formula cut below": (
        page(f'<p style="overflow: hidden; height: 9px">{WIDE}</p>'), "clipped", "dark, 1400 px", "cut off",
    ),
    "formula that begins outside": (
        page(f'<div style="overflow: auto; display: flex; justify-content: center" tabindex="0">{WIDE}</div>'.replace(
            "inline-block;", "block; flex: none;")),
        "clipped", "light, 320 px", "before what scrolls",
    ),
    "number over its formula": (
        page(f'<div tabindex="0" style="overflow-x: auto">{NUMBER}{WIDE}</div>'),
        "clipped", "light, 1400 px", "under its number",
    ),
    "folded and clipped": (
        page(f'<details><summary>More</summary><p style="overflow: hidden">{WIDE}</p></details>'),
        "clipped", "light, 320 px", "beyond p",
    ),
    "clipped code": (
        page(f'<div style="overflow: hidden"><pre>{"long " * 99}</pre></div>'),
        "clipped", "light, 1400 px", "beyond div",
    ),
    "pale text": (page('<p style="color: #bbb; background: #fff">Pale.</p>'), "axe", "light", "color-contrast"),
    "pale text in the dark": (
        page("<style>@media (prefers-color-scheme: dark) {p {color: #bbb; background: #fff}}</style><p>Pale.</p>"),
        "axe", "dark", "color-contrast",
    ),
    "fold that stays shut": (
        page('<details class="hide" onclick="event.preventDefault()"><summary>More</summary><p>x</p></details>'),
        "fold", "", "does not open",
    ),
    "one theme only": (page("", start='<html lang="en" data-theme="light">'), "mode", "dark", "other colours"),
}  # fmt: skip


def test_a_page_without_faults_passes(browser: Browser, tmp_path):
    path = tmp_path / "page.html"
    path.write_text(WELL)
    assert visit(browser, path) == []


@pytest.mark.parametrize("name", FAULTS)
def test_a_planted_fault_is_found(name, browser: Browser, tmp_path):
    text, kind, where, what = FAULTS[name]
    path = tmp_path / "page.html"
    path.write_text(text)
    found = visit(browser, path, tmp_path / "shots", patience=2000)
    assert [one for one in found if one.kind == kind and one.where == where and what in one.what], found
    if kind in ("overflow", "clipped", "axe"):
        assert list(tmp_path.glob("shots/page-*.png")), "no picture of it was kept"


def test_a_heavy_page_is_found(browser: Browser, tmp_path):
    path = tmp_path / "page.html"
    path.write_text(WELL)
    [finding] = visit(browser, path, heaviest=100)
    assert finding.kind == "weight"
    assert "page.html" in finding.what


def rules_broken(browser: Browser, folder: Path, body: str) -> set[str]:
    """What axe calls wrong with a page of this body."""
    path = folder / "page.html"
    path.write_text(page(body))
    return {finding.what.split(",")[0] for finding in visit(browser, path)}


ALIKE = '<li><a href="x" class="reference">dark</a></li>'
OTHERWISE = {  # one among forty of one make -> what axe says
    "a class": ('<li class="pale"><a href="x" class="reference">dark</a> pale</li>', "color-contrast"),
    "a style": ('<li style="color: #bbb; background: #fff">pale</li>', "color-contrast"),
    "no text": ('<li><a href="x" class="reference"></a></li>', "link-name"),
    "no label": ('<li><input type="text"></li>', "label"),
}


@pytest.mark.parametrize("name", OTHERWISE)
def test_one_fault_among_many_alike_is_found(name, browser: Browser, tmp_path):
    """Of neighbours of one make two are looked at: one that is made otherwise is looked at, too."""
    fault, rule = OTHERWISE[name]
    style = "<style>.pale {color: #bbb; background: #fff}</style>"
    body = f"{style}<article><ul>{ALIKE * 20}{fault}{ALIKE * 20}</ul></article>"
    assert rule in rules_broken(browser, tmp_path, body)


@pytest.mark.parametrize("box", ["article", "nav"])
def test_one_reference_to_nothing_is_found(box, browser: Browser, tmp_path):
    named = '<li><a href="x" aria-labelledby="{}"></a></li>'
    links = named.format("there") * 20 + named.format("lost") + named.format("there") * 20
    body = f'<p id="there">There.</p><{box}><ul>{links}</ul></{box}>'
    assert "link-name" in rules_broken(browser, tmp_path, body)


def test_one_pale_word_of_code_is_found(browser: Browser, tmp_path):
    words = '<span class="k">if</span> ' * 20
    style = "<style>.k {color: #000} .pale .k {color: #bbb} pre {background: #fff}</style>"
    body = f'{style}<pre>{words}</pre><div class="pale"><pre>{words}</pre></div>'
    assert "color-contrast" in rules_broken(browser, tmp_path, body)


def test_one_pale_formula_is_found(browser: Browser, tmp_path):
    formulas = "<p>as <code><span>g</span></code> <em>is</em> <mjx-container>q</mjx-container></p>" * 20
    style = "<style>body {background: #fff} .pale mjx-container {color: #bbb}</style>"
    body = f'{style}<article>{formulas}<div class="pale">{formulas}</div></article>'
    assert "color-contrast" in rules_broken(browser, tmp_path, body)


def test_neighbours_of_one_make_are_left_out(browser: Browser, tmp_path):
    path = tmp_path / "page.html"
    path.write_text(page(f"<article><ul>{ALIKE * 40}</ul></article>"))
    opened, _ = open_page(browser, path.as_uri())
    assert opened.evaluate(THIN) == 38
    opened.context.close()
