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
from reproduction.ledger.links import card_anchor
from reproduction.ledger.page import overview
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
            source=f"{('KK24', 'M20')[i % 2]} Prop. {i}",
            statement=f"For $\\gamma = {i}$ the ECE is lower. (So it is taken.)",
            chapter="06_confidence",
            check=proved if i % 3 else refuted,
            fidelity=kinds[i % 2],
        )
        for i in range(count)
    ]


def _card(claim: Claim, *, in_group: bool) -> str:
    """As the page nests it."""
    statement = f'<div class="claim-statement">{html.escape(claim.statement)}</div>'
    card = f"<div class=\"claim-card\"><a id='{card_anchor(claim.id)}'></a>{statement}</div>"
    return f'<div class="claim-group">{card}</div>' if in_group else card


def page(claims: list[Claim], inside: str) -> str:
    """The table with a card each, in groups and alone, and a script that runs when all is there."""
    cards = "".join(_card(claim, in_group=i % 2 == 0) for i, claim in enumerate(claims))
    table = overview(claims).data.replace("../_static/ledger.js", SCRIPT.as_uri())
    return (
        f'<!doctype html><meta charset="utf-8"><title>ledger</title>{table}{cards}<pre id="found"></pre>'
        f"<script>addEventListener('load', async () => {{ const found = {{}}; {inside}; "
        f"document.getElementById('found').textContent = JSON.stringify(found); }});</script>"
    )


ASKING = """
  const form = document.querySelector("form"), shown = () => [...document.querySelectorAll("tbody tr")]
    .filter((row) => !row.hidden).map((row) => row.dataset.card.split("-").pop());
  const cards = () => [...document.querySelectorAll(".claim-card")].filter((one) => !one.closest("[hidden]")).length;
  const ask = (name, value) => {
    form.elements[name].value = value;
    form.dispatchEvent(new Event("input", { bubbles: true }));
  };
  const later = () => new Promise((done) => setTimeout(done, 50));
  const heading = (name) => [...document.querySelectorAll("th")].find((one) => one.textContent === name);
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
