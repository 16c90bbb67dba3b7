"""The figures that move: by finger and keyboard each control changes the picture and the sentence under it."""

import re

import pytest
from playwright.sync_api import Page

from tests.browser.built import HTML, ROOT, page_id
from tests.browser.visit import open_page

_NAME = re.compile(r'data-explore="(\w+)"')
FIGURES = [(page, name) for page in sorted(HTML.glob("*/*.html")) for name in _NAME.findall(page.read_text())]

each_figure = pytest.mark.parametrize(
    ("path", "name"), FIGURES, ids=[f"{page_id(path)}-{name}" for path, name in FIGURES]
)


def _state(figure) -> tuple[list[str], str]:
    """All that is drawn, and what is said."""
    drawn = figure.locator("[data-part]").evaluate_all("parts => parts.map((part) => part.getAttribute('d'))")
    return drawn, figure.locator(".explore-says").inner_text()


def _pressed(page: Page, figure, control, keys: list[str]) -> list[str]:
    """What the keys did not change: the picture, the sentence."""
    control.focus()
    before = _state(figure)
    for key in keys:
        page.keyboard.press(key)
    after = _state(figure)
    return [what for what, was, is_now in zip(("picture", "sentence"), before, after, strict=True) if was == is_now]


def test_every_figure_of_the_notebooks_is_in_the_book():
    asked = re.findall(r'explore\("(\w+)"', "".join(path.read_text() for path in (ROOT / "notebooks").glob("*.py")))
    assert asked
    assert {name for _, name in FIGURES} == set(asked)


def _middle(element) -> tuple[float, float]:
    element.scroll_into_view_if_needed()
    box = element.bounding_box()
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


@each_figure
def test_a_finger_and_the_keyboard_move_it(path, name, browser):
    """A slider is where a finger says; every control answers to keys."""
    page, log = open_page(browser, path.as_uri(), width=320, fingers=True)
    figure = page.locator(f"[data-explore={name}]")
    slider = figure.locator("input[type=range]").first
    _, y = _middle(slider)
    box, before = slider.bounding_box(), _state(figure)
    page.touchscreen.tap(box["x"] + 0.9 * box["width"], y)
    assert box["height"] >= 24, "too low for a finger"
    assert all(was != is_now for was, is_now in zip(before, _state(figure), strict=True))
    controls = figure.locator("input:not([type=hidden]), [tabindex='0']")
    assert controls.count() > 0
    still = []
    for i in range(controls.count()):
        control = controls.nth(i)
        kind = control.get_attribute("type")
        at_end = kind == "range" and control.evaluate("slider => slider.value === slider.max")
        keys = ["Space"] if kind == "checkbox" else ["ArrowLeft" if at_end else "ArrowRight"] * 5
        if kind == "checkbox":  # it may already be as it asks: move what it undoes first
            first = figure.locator("input[type=range]").last
            first.focus()
            page.keyboard.press("ArrowRight")
        wrong = _pressed(page, figure, control, keys)
        still += [f"{control.get_attribute('name') or 'the grip'} leaves the {what}" for what in wrong]
    page.context.close()
    assert still + log.findings == []


_WITH_GRIP = [(path, name) for path, name in FIGURES if name == "simplex"]


def test_a_figure_has_a_grip():
    assert _WITH_GRIP


@pytest.mark.parametrize(("path", "name"), _WITH_GRIP, ids=[page_id(path) for path, _ in _WITH_GRIP])
def test_a_finger_drags_the_grip(path, name, browser):
    """It follows, and the page does not scroll away below it."""
    page, log = open_page(browser, path.as_uri(), width=390, fingers=True)
    figure = page.locator(f"[data-explore={name}]")
    x, y = _middle(figure.locator("[data-part=grip]"))
    before, scrolled = _state(figure), page.evaluate("scrollY")
    finger = page.context.new_cdp_session(page)
    for kind, at in (("touchStart", (x, y)), ("touchMove", (x + 20, y - 30)), ("touchMove", (x + 40, y - 60))):
        finger.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": [{"x": at[0], "y": at[1]}]})
    finger.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})
    now = _middle(figure.locator("[data-part=grip]"))
    after, scrolls = _state(figure), page.evaluate("scrollY")
    page.context.close()
    assert all(was != is_now for was, is_now in zip(before, after, strict=True))
    assert now == (pytest.approx(x + 40, abs=3), pytest.approx(y - 60, abs=3))
    assert scrolls == scrolled
    assert log.findings == []


@each_figure
def test_without_scripts_it_is_a_picture(path, name, browser):
    page, _ = open_page(browser, path.as_uri(), width=390, scripts=False)
    figure = page.locator(f"[data-explore={name}]")
    shown = figure.locator(".explore-picture").is_visible(), figure.locator("figcaption").is_visible()
    drawn = [line for line in _state(figure)[0] if line]
    controls = figure.locator("input:visible, button:visible").count()
    page.context.close()
    assert shown == (True, True)
    assert drawn
    assert controls == 0
