"""Tables of the book: each with its caption, and words where records have short names."""

from __future__ import annotations

import html
import re
from typing import Any

import pandas as pd
from pandas.io.formats.style import Styler

from focal_lib.metrics.detection import DETECTION_SCORES

__all__ = ["WORDS", "captioned", "in_words"]

WORDS = {
    "adaptive-ece": "adaptive ECE",
    "auroc": "AUROC",
    "brier": "Brier score",
    "classwise-ece": "classwise ECE",
    "ece": "ECE",
    "fcl": "FCL",
    "fcl-l1": "FCL-L1",
    "flsd-53": "FLSD-53",
    "fpr95": "FPR at 95 %",
    "max-probability": "largest probability",
    "mce": "MCE",
    "minus none": "minus as trained",
    "nll": "NLL",
    "smooth-ece": "smooth ECE",
}
_SCORED = re.compile(rf"\b(auroc|fpr95) ({'|'.join(DETECTION_SCORES)})\b")
_LOSS = re.compile(r"(?<![\w-])(fcl|fcl-l1) ([\d.]+) ([\d.]+)(?![\w.])")  # as Spec.label has them
_SHORT = re.compile(rf"(?<![\w-])({'|'.join(sorted(WORDS, key=len, reverse=True))})(?![\w-])")


def in_words(name: Any) -> str:
    """A head of a table with the short names of records spelt out; a number in its shortest form."""
    if isinstance(name, float):
        return f"{name:g}"
    spelt = _LOSS.sub(r"\1 (gamma \2, lambda \3)", _SCORED.sub(r"\1 by \2", str(name)))
    return _SHORT.sub(lambda found: WORDS[found[0]], spelt)


def captioned(table: pd.DataFrame, caption: str, *, precision: int = 3, index: bool = True) -> Styler:
    """The table with a caption, heads in words, and empty cells where there is no value.

    Args:
        precision: digits behind the point, of columns of numbers.
        index: whether the index is shown.

    Raises:
        ValueError: no caption, or one with a formula, which would be shown as its source.
    """
    if not caption.strip() or "$" in caption:
        raise ValueError(f"a table of the book must have a caption without formulas. Got {caption!r}.")
    found = table.style.format(precision=precision, na_rep="", escape="html").set_caption(html.escape(caption))
    found = found.format_index(_head, axis="columns")
    return found.format_index(_head) if index else found.hide()


def _head(name: Any) -> str:
    return html.escape(in_words(name))
