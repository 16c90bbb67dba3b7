"""How long a page takes to read, from what a reader sees of it."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable

from nbformat import NotebookNode

WORDS_PER_MINUTE = 200
FIGURE_MINUTES = 0.5  # of a figure, a table, a formula that stands alone
HOW_TIMED = (
    f"Reading times are counted: {WORDS_PER_MINUTE} words a minute, {60 * FIGURE_MINUTES:g} seconds for a figure, a "
    "table or a formula that stands alone; what is folded is left out."
)

_FOLDED = (
    re.compile(r"<details>.*?</details>", re.DOTALL),
    re.compile(
        r"^(`{3,}|:{3,})\{[^\n]*\n(?::[^\n]*\n)*?:class:[^\n]*\bdropdown\b.*?^\1[ \t]*$", re.DOTALL | re.MULTILINE
    ),
    re.compile(r"^(`{3,}|:{3,})\{dropdown\}.*?^\1[ \t]*$", re.DOTALL | re.MULTILINE),
)
_FORMULA = re.compile(r"^```\{math\}.*?^```[ \t]*$|\$\$.*?\$\$", re.DOTALL | re.MULTILINE)
_MARKUP = re.compile(r"^(?:`{3,}|:{3,}).*$|^:[\w-]+:.*$|^\([\w-]+\)=$|^%.*$|^\|?[-:| ]+\|?$", re.MULTILINE)
_ONE = re.compile(r"\{[\w:]+\}`[^`]*`|\$[^$]+\$|`[^`]*`|\]\([^)]*\)")  # is read as one word
_SHOWN = ("image/png", "image/svg+xml", "text/html")


def _unfolded(text: str) -> str:
    for pattern in _FOLDED:
        text = pattern.sub("", text)
    return text


def count_words(text: str) -> int:
    """The words of a text in MyST that are not folded; a formula within a line is one, one that stands alone none."""
    text = _unfolded(text)
    text = _ONE.sub("x", _MARKUP.sub("", _FORMULA.sub("", text)))
    return len(re.findall(r"\w[\w'’.-]*", text))


def _formulas(text: str) -> int:
    return len(_FORMULA.findall(_unfolded(text)))


def minutes_of_text(text: str) -> int:
    """Whole minutes, at least 1, for a page in MyST."""
    return _rounded(count_words(text), _formulas(text))


def minutes_of_notebook(cells: Iterable[NotebookNode]) -> int:
    """Whole minutes, at least 1, for an executed notebook: its text, what its cells show, no code."""
    words, looks = 0, 0
    for cell in cells:
        texts = [cell.source] if cell.cell_type == "markdown" else []
        for output in cell.get("outputs", []):
            data = output.get("data", {})
            texts += ["".join(data["text/markdown"])] if "text/markdown" in data else []
            looks += "text/markdown" not in data and any(kind in data for kind in _SHOWN)
        words += sum(map(count_words, texts))
        looks += sum(map(_formulas, texts))
    return _rounded(words, looks)


def _rounded(words: int, looks: int) -> int:
    return max(1, math.ceil(words / WORDS_PER_MINUTE + FIGURE_MINUTES * looks))
