"""Speed of the ledger's search: python -m benchmarks.ledger_page

Over as many made-up claims as there are in the ledger, and over a thousand: milliseconds of script for each change of
the text, mean of 20, in Chromium without a window, and their ratio.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

from reproduction.ledger import ledger
from tests.book.made_ledger import found_in_chromium, made
from workflow.chromium import find_chromium

_ASK = """
  found.times = {};
  for (const text of ["gamma 5", "prop 7", "zzz", "lower", "paper"]) {
    const began = performance.now();
    for (let i = 0; i < 10; i++) { ask("text", text); ask("text", ""); }
    found.times[text] = (performance.now() - began) / 20;
  }
"""


def main() -> None:
    """A line for each text that is searched."""
    if find_chromium() is None:
        print("search of the ledger: not measured, as there is no Chromium (apt install chromium)")
        return
    count = len(ledger())
    with tempfile.TemporaryDirectory() as name:
        few, many = (found_in_chromium(Path(name), made(n), _ASK)["times"] for n in (count, 1000))
    print(f"search of the ledger and back to all, ms: {count} claims, 1,000 claims, ratio")
    for text, milliseconds in many.items():
        print(f"  {text:10} {few[text]:6.2f} {milliseconds:6.2f} {milliseconds / few[text]:6.1f} x")


if __name__ == "__main__":
    main()
