"""Speed of the ledger's search, over the claims of today and a thousand: python -m benchmarks.ledger_page

Milliseconds of script for each keystroke, the least of 15, in Chromium without a window; as ratio, to what it takes for
the claims there are.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

from focal_lib.claims import ledger
from tests.book.made_ledger import found_in_chromium, made
from workflow.chromium import find_chromium

_ASK = """
  found.times = {};
  for (let i = 0; i < 15; i++) for (const text of ["gamma 5", "", "prop 7", "zzz", "lower", "paper"]) {
    const began = performance.now(); ask("text", text);
    found.times[text || "all"] = Math.min(found.times[text || "all"] ?? Infinity, performance.now() - began);
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
    print(f"search of the ledger, ms: {count} claims, 1,000 claims, ratio")
    for text, milliseconds in many.items():
        print(f"  {text:10} {few[text]:6.2f} {milliseconds:6.2f} {milliseconds / few[text]:6.1f} x")


if __name__ == "__main__":
    main()
