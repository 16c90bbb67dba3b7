"""Tables of the book: each with its caption, and words where records have short names."""

from __future__ import annotations

import functools
import html
import re
from collections.abc import Collection, Hashable
from typing import Any

import numpy as np
import pandas as pd
from pandas.api.types import is_bool_dtype, is_numeric_dtype
from pandas.io.formats.style import Styler

from focal_lib.loss_records import LOSS_RECORDS
from focal_lib.metrics.detection import DETECTION_SCORES

WORDS = {
    # metrics and scores
    "adaptive-ece": "adaptive ECE",
    "adaptive-ece-change": "change of adaptive ECE",
    "auroc": "AUROC",
    "brier": "Brier score",  # the loss, too
    "classwise-ece": "classwise ECE",
    "classwise-ece-change": "change of classwise ECE",
    "confidence-gap": "confidence minus accuracy",
    "ece": "ECE",
    "ece-change": "change of ECE",
    "epochs-to-error": "epochs to low error",
    "epochs-to-low": "epochs to low loss",
    "fcl-gap": "gap in FCL",
    "focal-gap": "gap in focal loss",
    "fpr95": "FPR at 95 %",
    "kl": "KL",
    "l2": "squared distance",
    "log-gap": "gap in log-loss",
    "max-probability": "largest probability",
    "mce": "MCE",
    "minus none": "minus as trained",
    "nll": "NLL",
    "smooth-ece": "smooth ECE",
    "smooth-ece-change": "change of smooth ECE",
    # losses
    **{name: record.printed for name, record in LOSS_RECORDS.items() if record.printed != name},
    # data sets
    "20-newsgroups": "20 Newsgroups",
    "20-newsgroups-m20": "20 Newsgroups in M20's split",
    "ag-news": "AG News",
    "cifar10": "CIFAR-10",
    "cifar100": "CIFAR-100",
    "fashion-mnist": "Fashion-MNIST",
    "finsen": "FinSen",
    "film-snippets-2": "film snippets in two classes",
    "film-snippets-2-trees": "film snippets in two classes, as trees",
    "film-snippets-3": "film snippets in three classes",
    "mnist-5k": "MNIST",
    "svhn": "SVHN",
    "tiny-imagenet": "Tiny-ImageNet",
    # corruptions; those of one word need none, others are below
    "gaussian-blur": "Gaussian blur",
    "gaussian-noise": "Gaussian noise",
    "jpeg-compression": "JPEG compression",
    # networks
    "airbench-cnn": "AirBench CNN",
    "densenet121": "DenseNet-121",
    "gp-cnn": "GP-CNN",
    "gp-cnn-glove": "GP-CNN with GloVe vectors",
    "mlp": "MLP",
    **{f"resnet{depth}": f"ResNet-{depth}" for depth in (8, 18, 20, 50, 110)},
    "resnet50-tiny-imagenet": "ResNet-50 for Tiny-ImageNet",
    "small-cnn": "small CNN",
    "small-convnext": "small ConvNeXt",
    "small-mixer": "small Mixer",
    "small-vit": "small ViT",
    "tree-lstm": "Tree-LSTM",
    "tree-lstm-glove": "Tree-LSTM with GloVe vectors",
    "wide-resnet-16-4": "Wide ResNet 16-4",
    "wide-resnet-26-10": "Wide ResNet 26-10",
}
WORDS |= {  # calibrators, corruptions and a network whose words are their own
    name: name.replace("-", " ")
    for name in (
        *("focal-temperature", "structured-matrix", "averaged-embedding", "defocus-blur", "elastic-transform"),
        *("glass-blur", "impulse-noise", "motion-blur", "shot-noise", "speckle-noise", "zoom-blur"),
    )
}
_NUMBER = r"(\d+(?:\.\d+)?)"
_WEIGHTED = "|".join(
    name for name, record in LOSS_RECORDS.items() if record.parameters == ("lam",) and name != "label-smoothing"
)
_WITH_BOTH = "|".join(name for name, record in LOSS_RECORDS.items() if record.parameters == ("gamma", "lam"))
_BOTH = re.compile(rf"(?<![\w-])({_WITH_BOTH}) {_NUMBER} {_NUMBER}(?![\w.]*\w)")
_LAMBDA = re.compile(rf"(?<![\w-])({_WEIGHTED}) {_NUMBER}(?![\w.]*\w)")
_CORRUPTED = re.compile(r"(?<![\w-])cifar10-c-([a-z]+(?:-[a-z]+)*)-([1-5])(?![\w-])")
_SCORED = re.compile(rf"\b(auroc|fpr95) ({'|'.join(DETECTION_SCORES)})\b")
_SYMBOL = re.compile(r"(γ|λ) (?=\d)")
_CURVED = re.compile(
    r"(?<![\w-])(log )?(top|trace|exact) (own|ce) (train|validation)\b"
    r"|(?<![\w-])log (loss factor|spread|sensitivity) (train|validation)\b|(?<![\w-])log weight norm\b"
)
_CURVATURES = {"top": "largest eigenvalue", "trace": "trace", "exact": "exact trace"}
_OF = {"own": "own loss", "ce": "cross-entropy", "train": "training images", "validation": "validation images"}
_STYLE_SHEET = re.compile(r"<style.*?</style>\s*", re.DOTALL)
_LETTERS = {"gamma": "γ", "lambda": "λ"}
_LETTER = re.compile(r"\b(?:gamma|lambda)\b")
_LONG = 24  # letters
_ONE = r"(?:[+−-]?\d[\d.,]*(?:e[+−-]?\d+)?(?: %)?|nan)"
_SOME = rf"{_ONE}(?:(?:, | ± | to ){_ONE})*"
_TEXT_OF_NUMBERS = re.compile(rf"(?:< )?{_SOME}(?: [\[(]{_SOME}[\])])?|[\[(]{_SOME}[\])]")
_SHORT = re.compile(rf"(?<![\w-])({'|'.join(sorted(WORDS, key=len, reverse=True))})(?![\w-])")


def in_words(name: Any) -> str:
    """A name as a reader knows it: short names of records spelt out, yes or no, a number in its shortest form.

    'fcl 4 1.5' -> 'FCL (γ 4, λ 1.5)', 'ece elsewhere' -> 'ECE elsewhere', 'cifar10-c-gaussian-noise-5' ->
    'Gaussian noise, severity 5', True -> 'yes'.
    """
    if isinstance(name, bool | np.bool_):
        return "yes" if name else "no"
    if isinstance(name, float):
        return f"{name:g}"
    text = _CURVED.sub(_curved, str(name))
    text = _SCORED.sub(r"\1 by \2", _CORRUPTED.sub(r"\1, severity \2", text))
    text = _LAMBDA.sub(r"\1 (λ \2)", _BOTH.sub(r"\1 (γ \2, λ \3)", text))
    return _SHORT.sub(lambda found: WORDS[found[0]], text)


def _curved(found: re.Match[str]) -> str:
    """'log top own validation' -> 'log of the largest eigenvalue (own loss, validation images)'."""
    log, curvature, loss, images, factor, of_factor = found.groups()
    if curvature:
        return f"{'log of ' if log else ''}the {_CURVATURES[curvature]} ({_OF[loss]}, {_OF[images]})"
    if not factor:
        return "log of the norm of the weights"
    return f"log of the factor of the {factor.removesuffix(' factor')} ({_OF[of_factor]})"


def captioned(
    table: pd.DataFrame, caption: str, *, precision: int = 3, index: bool = True, spelt: bool = False
) -> Styler:
    """The table with a caption, heads in words, and empty cells where there is no value.

    Args:
        precision: digits behind the point, of columns of numbers; p-values, named 'p' or 'p, ...', have three,
            and '< 0.001' below them.
        index: whether the index is shown.
        spelt: whether cells of text, of yes and of no are `in_words`, too; not where they are to be typed as they are.

    Raises:
        ValueError: no caption, or one with a formula, which would be shown as its source.
    """
    if not caption.strip() or "$" in caption:
        raise ValueError(f"a table of the book must have a caption without formulas. Got {caption!r}.")
    cells = functools.partial(_cell, precision=precision)
    numbers = [name for name, kind in table.dtypes.items() if is_numeric_dtype(kind) and not is_bool_dtype(kind)]
    table = _with_heads(table) if index else table.reset_index(drop=True)
    found = Styler(table, cell_ids=False).format(cells, na_rep="", escape="html").set_caption(_with_symbols(caption))
    right = []
    if table.index.is_unique and table.columns.is_unique:  # as a Styler's classes need
        right = [name for name in table.columns if name in numbers or _reads_as_numbers(table[name])]
    if right:
        found = found.set_td_classes(pd.DataFrame("number", index=table.index, columns=pd.Index(right)))
    with_p = [name for name in table.columns if str(name).split(",")[0] == "p"]
    p_values: list[Hashable] = [name for name in with_p if is_numeric_dtype(table[name])]
    found = found.format(_p_value, subset=p_values, na_rep="")
    if spelt:
        found = found.format(_head, subset=table.columns.drop(numbers), na_rep="")
    for level in range(table.columns.nlevels):
        heads = table.columns.get_level_values(level)
        over = set(heads[table.columns.isin(right)]) - set(heads[~table.columns.isin(right)])
        found = found.format_index(functools.partial(_head, right=over), axis="columns", level=level)
    return found.format_index(_head) if index else found.hide()


def as_html(table: Styler) -> str:
    """The table's HTML, to stand within other HTML: without the style sheet, which is empty."""
    return _STYLE_SHEET.sub("", table.to_html())


def _p_value(p: Any) -> str:
    """A p-value for a cell of HTML: three digits behind the point, '&lt; 0.001' below them."""
    return "&lt; 0.001" if p < 0.001 else f"{p:.3f}"


def _cell(value: Any, precision: int) -> Any:
    """A number with so many digits, 0 for what those do not tell from it; 10,000 and more of a count with commas."""
    if isinstance(value, str):
        return _in_lines(value)
    if isinstance(value, int | np.integer) and abs(int(value)) >= 10_000:
        return f"{value:,}"
    if not isinstance(value, float | np.floating):
        return value
    text = f"{value:.{precision}f}"
    return text.removeprefix("-") if float(text) == 0 else text


def _head(name: Any, right: Collection[Any] = ()) -> str:
    """A name for a cell of HTML, a symbol with its number; over numbers, at the right as they are."""
    text = _SYMBOL.sub(r"\1&nbsp;", _with_symbols(in_words(name)))
    return f'<span class="number">{text}</span>' if name in right else _in_lines(text)


def _in_lines(text: str) -> str:
    """Of HTML; long words break between words, where other cells of a table stay in one line, see book.css."""
    if len(html.unescape(text)) <= _LONG or " " not in text or not re.search(r"[^\W\d_]{2}", text):
        return text
    return f'<span class="long">{text}</span>'


def _with_symbols(text: str) -> str:
    """Of plain text the HTML, with the letters gamma and lambda as the formulas have them."""
    return _LETTER.sub(lambda found: _LETTERS[found[0]], html.escape(text))


def _reads_as_numbers(column: pd.Series) -> bool:
    """Whether there is text and all of it is numbers: '0.25', '-1.2 ± 0.3', '[0.1, 0.2]', or empty."""
    texts = [value for value in column if isinstance(value, str) and value]
    return bool(texts) and all(map(_TEXT_OF_NUMBERS.fullmatch, texts))


def _with_heads(table: pd.DataFrame) -> pd.DataFrame:
    """Names of index and columns as heads; the only one in the last row of heads, where it would have its own."""
    shown = table.copy(deep=False)
    rows, columns = ([name and _head(name) for name in axis.names] for axis in (table.index, table.columns))
    if len(rows) == 1 and rows[0] and not any(columns):
        rows, columns = [None], [*columns[:-1], *rows]
    shown.index, shown.columns = table.index.set_names(rows), table.columns.set_names(columns)
    return shown
