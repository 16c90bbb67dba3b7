"""What a visit to a page finds wrong: at four widths, in the dark at two of them, everything that is folded opened.

A page is loaded once, from its file; the width of the window and the colours are changed while it is open.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple
from urllib.parse import unquote, urlsplit

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, Request, TimeoutError

from tests.browser.folds import shut_folds

WIDTHS = (1400, 768, 390, 320)
MODES = ("light", "dark")
HEAVIEST = 2_500_000  # bytes that a page may load, its own among them

_GEOMETRY = Path(__file__).with_name("geometry.js").read_text()
_AXE = {"resultTypes": ["violations"], "preload": False}  # it would fetch styles, which a file may not
_OF_COLOURS = {"runOnly": ["color-contrast", "link-in-text-block"]}  # the rules that look at colours
_GRAVE = ("serious", "critical")
_AT_REST = "*, *::before, *::after { transition: none !important; animation: none !important }"
_UNFOLD = """() => {
  document.querySelectorAll("details").forEach((fold) => (fold.open = true));
  document.querySelectorAll(".toggle-hidden").forEach((fold) => fold.classList.remove("toggle-hidden"));
}"""
# What axe need not see hundreds of times: the inside of formulas, which is MathJax's; of words in boxes of one kind,
# and of neighbours of one make, such as the ledger's cards, all but the first two. Of one kind are those with the same
# tag and attributes; of one make those with elements of the same kinds in the same order, with text in the same places.
THIN = """() => {
  document.querySelectorAll("mjx-container").forEach((formula) => formula.replaceChildren("formula"));
  const often = (of, key) => of.set(key, (of.get(key) ?? 0) + 1).get(key) > 2;
  const own = new Set(["id", "href", "src", "alt", "title", "for", "name", "value", "headers", "d"]);
  const names = /^(aria-(labelledby|describedby|controls|owns)|data-(clipboard|bs)-target)$/; // other elements
  const found = (id) => document.getElementById(id.replace(/^#/, "")) !== null;
  const attribute = ({ name, value }) =>
    names.test(name) ? `${name} ${value.trim().split(/\\s+/).every(found)}`
    : own.has(name) ? `${name} ${value.trim() !== ""}` : `${name} ${value}`;
  const kind = (one) => [one.tagName, ...[...one.attributes].map(attribute)].join();
  const boxes = (one) => (one ? `${kind(one)};${boxes(one.parentElement)}` : "");
  const [seen, kept] = [new Map(), new Set()];
  const words = "article :is(span, em, strong, code, mjx-container):not(:has(*), [id], [role], [tabindex])";
  for (let left = true; left; ) {
    left = false;
    for (const word of document.querySelectorAll(words)) {
      if (kept.has(word) || !often(seen, boxes(word))) kept.add(word);
      else left = word.replaceWith(...word.childNodes) ?? true;
    }
  }
  const name = (one) => `${kind(one)},${one.textContent.trim() !== ""}`;
  const make = (one) => [one, ...one.querySelectorAll("*")].map(name).join(";");
  let removed = 0;
  for (const parent of [...document.querySelectorAll("body *")].reverse()) {
    if (parent.childElementCount < 6) continue;
    const makes = new Map();
    for (const child of [...parent.children]) if (often(makes, make(child))) removed += child.remove() ?? 1;
  }
  return removed;
}"""
_SHOWS = "(mode) => [undefined, mode].includes(document.documentElement.dataset.theme)"
_AFTER_RESIZING = "() => new Promise((done) => setTimeout(done, 400))"  # scripts of pages wait 300 ms for the last
_HEAD = """() => {
  const text = (selector, name) => document.querySelector(selector)?.getAttribute(name)?.trim();
  return {
    "title": document.title.trim(),
    "language": text("html", "lang"),
    "description": text("meta[name=description]", "content"),
    "icon": text("link[rel~=icon]", "href"),
  };
}"""
_WITHOUT_ALT = "() => [...document.querySelectorAll('img:not([alt]), img[alt=\"\"]')].map((image) => image.outerHTML)"


class Finding(NamedTuple):
    """One thing that is wrong."""

    kind: str  # console, request, head, alt, weight, fold, mode, axe, overflow, clipped
    where: str  # '' for the page at any width
    what: str

    def __str__(self) -> str:
        return f"{self.kind}{self.where and f', {self.where}'}: {self.what}"


class Log:
    """What a page said and asked for while it was open."""

    def __init__(self, page: Page) -> None:
        self.findings: list[Finding] = []
        self.loaded: dict[Path, int] = {}  # file -> bytes
        page.on("console", lambda said: said.type == "error" and self._add("console", said.text))
        page.on("pageerror", lambda error: self._add("console", str(error)))
        page.on("requestfailed", self._note_failure)
        page.on("request", self._note)

    def _add(self, kind: str, what: str) -> None:
        self.findings.append(Finding(kind, "", what))

    def _note_failure(self, request: Request) -> None:
        if request.failure != "net::ERR_ABORTED":  # the page was left before it came
            self._add("request", f"{request.url} failed: {request.failure}")

    def _note(self, request: Request) -> None:
        address = urlsplit(request.url)
        if address.scheme in ("data", "blob"):
            return
        if address.scheme != "file":
            self._add("request", f"{request.url} is not of the book")
            return
        path = Path(unquote(address.path))
        self.loaded[path] = path.stat().st_size if path.is_file() else 0

    def weight(self, heaviest: int) -> list[Finding]:
        total = sum(self.loaded.values())
        if total <= heaviest:
            return []
        heavy = sorted(self.loaded.items(), key=lambda one: -one[1])[:4]
        most = ", ".join(f"{path.name} {size:,}" for path, size in heavy)
        return [Finding("weight", "", f"{total:,} bytes are loaded, at most {heaviest:,} may be; {most}")]


def open_page(
    browser: Browser, address: str, width: int = WIDTHS[0], *, fingers: bool = False, scripts: bool = True
) -> tuple[Page, Log]:
    """A page whose formulas are set; nothing outside this machine can be reached. Close its context.

    Args:
        fingers: on a screen that is touched.
        scripts: none of the page's run without.
    """
    context = browser.new_context(
        viewport={"width": width, "height": 900},
        color_scheme="light",
        reduced_motion="reduce",
        offline=True,
        has_touch=fingers,
        java_script_enabled=scripts,
    )
    page = context.new_page()
    log = Log(page)
    page.set_default_timeout(120_000)
    page.goto(address)
    if scripts:
        page.evaluate("async () => { await window.MathJax?.startup?.promise; await document.fonts.ready; }")
    return page, log


def visit(
    browser: Browser,
    path: Path,
    shots: Path | None = None,
    axe: bool = True,
    widths: Sequence[int] = WIDTHS,
    modes: Sequence[str] = MODES,
    heaviest: int = HEAVIEST,
    patience: int = 30_000,
) -> list[Finding]:
    """All that is wrong with a page.

    Args:
        browser: of playwright.
        path: the HTML file.
        shots: folder for pictures of what was wrong, named as the page, with mode and width.
        axe: whether to check accessibility, too, at the first width.
        widths: of the window, in pixels.
        modes: 'light', 'dark'.
        heaviest: bytes that the page may load.
        patience: milliseconds until the page must have the colours that the reader asks for.
    """
    page, log = open_page(browser, path.as_uri())
    try:
        found = _at_any_width(page) + log.weight(heaviest)
        found += [Finding("fold", "", shut) for shut in shut_folds(page)]
        page.evaluate(_UNFOLD)
        page.add_style_tag(content=_AT_REST)
        for mode in modes:
            page.emulate_media(color_scheme=mode)
            found += _mode(page, mode, patience)
            for width in widths if mode == modes[0] else {widths[0], widths[-1]}:
                page.set_viewport_size({"width": width, "height": 900})
                found += _kept(_geometry(page, f"{mode}, {width} px"), page, shots, f"{path.stem}-{mode}-{width}")
        if axe:
            page.set_viewport_size({"width": widths[0], "height": 900})
            page.evaluate(_AFTER_RESIZING)
            page.evaluate(THIN)
            for mode in reversed(modes):  # the last is still shown
                page.emulate_media(color_scheme=mode)
                found += _mode(page, mode, patience)
                wrong = _axe(page, mode, _AXE if mode == modes[0] else _AXE | _OF_COLOURS)
                found += _kept(wrong, page, shots, f"{path.stem}-{mode}-axe")
        return list(dict.fromkeys(log.findings + found))
    finally:
        page.context.close()


def _kept(wrong: list[Finding], page: Page, shots: Path | None, name: str) -> list[Finding]:
    """What is wrong, as it came, with a picture of it."""
    if wrong and shots:
        shots.mkdir(parents=True, exist_ok=True)
        page.screenshot(path=shots / f"{name}.png")
    return wrong


def _at_any_width(page: Page) -> list[Finding]:
    missing = [what for what, content in page.evaluate(_HEAD).items() if not content]
    without_alt = page.evaluate(_WITHOUT_ALT)
    return [Finding("head", "", f"no {what}") for what in missing] + [
        Finding("alt", "", f"no alternative text: {image[:120]}") for image in without_alt
    ]


def _mode(page: Page, mode: str, patience: int) -> list[Finding]:
    """The book's pages follow the reader's choice of colours."""
    try:
        page.wait_for_function(_SHOWS, arg=mode, timeout=patience)
    except TimeoutError:
        return [Finding("mode", mode, "the page has other colours")]
    return []


def _geometry(page: Page, where: str) -> list[Finding]:
    return [Finding(kind, where, what) for kind, what in page.evaluate(_GEOMETRY)]


def _axe(page: Page, mode: str, options: dict[str, object]) -> list[Finding]:
    violations = Axe().run(page, options=options).response["violations"]
    return [
        Finding(
            "axe", mode, f"{one['id']}, {one['impact']}, {len(one['nodes'])} times: {one['nodes'][0]['html'][:200]}"
        )
        for one in violations
        if one["impact"] in _GRAVE
    ]
