"""A ledger's page made up of any number of claims, and what a script in it finds in Chromium."""

from __future__ import annotations

import html
import json
import re
from pathlib import Path
from typing import Any

from reproduction.checkout import ROOT
from reproduction.ledger.evidence import Derivation, Disproof, Step
from reproduction.ledger.ledger import Claim, Fidelity
from reproduction.ledger.page import cards
from workflow.chromium import run_page

SCRIPT = ROOT / "book" / "_static" / "ledger.js"


def proved() -> Derivation:
    return Derivation((Step("1 = 1", True),))


def refuted() -> Disproof:
    return Disproof(proved())


class Made(Claim):
    location = "tests/book/made_ledger.py:1"  # looked up once, not a thousand times


def made(count: int) -> list[Claim]:
    """Claims of two papers; every second one of a paper, every third refuted."""
    kinds = (Fidelity.OURS, Fidelity.QUOTED)
    return [
        Made(
            id=f"{('kk24', 'm20')[i % 2]}.made_{i}",
            short=f"Number {i} lowers the gap",
            source=f"{('KK24', 'M20')[i % 2]} Prop. {i}",
            statement=f"For $\\gamma = {i}$ the ECE is lower. (So it is taken.)",
            chapter=("confidence", "binary")[i >= 6],
            check=proved if i % 3 else refuted,
            fidelity=kinds[i % 2],
        )
        for i in range(count)
    ]


def page(claims: list[Claim], inside: str) -> str:
    """The form and the cards, and a script that runs when all is there. What is Markdown in them stays as it is."""
    made = cards(claims).data.replace("../_static/ledger.js", SCRIPT.as_uri())
    return (
        f'<!doctype html><meta charset="utf-8"><title>ledger</title>{made}<pre id="found"></pre>'
        "<script>MathJax.startup.promise = Promise.resolve(); MathJax.typesetPromise = (on) => "
        "{ (window.set ||= []).push(on[0]?.id || on.length); return Promise.resolve(); }; MathJax.startup.pageReady();"
        f"addEventListener('load', async () => {{ const found = {{}}; {inside}; "
        f"document.getElementById('found').textContent = JSON.stringify(found); }});</script>"
    )


ASKING = """
  const form = document.querySelector("form"), every = [...document.querySelectorAll("details.claim")];
  const shown = () => every.filter((one) => !one.hidden).map((one) => one.id.split("-").pop());
  const ask = (name, value) => {
    form.elements[name].value = value;
    form.dispatchEvent(new Event("input", { bubbles: true }));
  };
  const later = () => new Promise((done) => setTimeout(done, 50));
"""


def found_in_chromium(folder: Path, claims: list[Claim], inside: str, address: str = "") -> dict[str, Any]:
    """What the script in the page found."""
    file = folder / "page.html"
    file.write_text(page(claims, ASKING + inside))
    came_to = run_page(file, address)
    kept = re.search(r'<pre id="found">(.+?)</pre>', came_to)
    if kept is None:
        raise ValueError(f"the page must say what was found. Got {came_to}")
    found: dict[str, Any] = json.loads(html.unescape(kept[1]))
    return found
