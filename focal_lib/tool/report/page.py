"""A Report as one self-contained HTML page with its figures."""

from __future__ import annotations

import base64
import io
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import matplotlib as mpl
import pandas as pd
from jinja2 import Environment, PackageLoader, StrictUndefined
from matplotlib.figure import Figure

from focal_lib.calibration.methods import Method
from focal_lib.tool.evaluation.slices import describe_worst
from focal_lib.tool.report.fit_notes import name_of

if TYPE_CHECKING:
    from focal_lib.tool.report.report import Report


METRICS_CAPTION = (
    "Error and the ECE family in per cent, on samples that were not fitted on. Of two ECEs, ece has 15 bins of equal "
    "width and adaptive-ece 15 of equal mass. {how}. A bootstrap of a binned error cannot reach 0 and does not cover, "
    "so theirs invert a simulated test, or are bounds for a classwise ECE of few counts; noise only adds to such an "
    "error, which therefore may lie above its interval. In round brackets stands an estimate with less of this bias."
)
DIFFERENCES_CAPTION = (
    "Method minus reference over the same samples. nll and brier, which decide, have t intervals that all {count} hold "
    "together with 95 % (Bonferroni); * where such an interval leaves out 0. Where errors are few one reaches at least "
    "as far as the means of other labels which these samples do not contradict: rare errors may be missing among them. "
    "adaptive-ece, of equal mass, in percentage points, has none, as a bootstrap's does not cover."
)
SHOWN_CLASSES = 20  # rows of the table of classes, the worst first


@dataclass(frozen=True)
class _Table:
    """Table for the template: heads (name, smaller words), and rows whose first cell is their head.

    Attributes:
        row: text before that cell if there is no line of heads; '' if the cell needs none.
    """

    label: str
    row: str
    heads: Sequence[tuple[str, str]]
    rows: Sequence[Sequence[str]]


def render(report: Report, *, whole: bool) -> str:
    """The page, or only the content of its body."""
    template = Environment(
        loader=PackageLoader("focal_lib.tool.report", "templates"), autoescape=True, undefined=StrictUndefined
    ).get_template("report.html")
    return template.render(
        whole=whole,
        report=report,
        summary=report.summary,
        unbroken=_unbroken,
        metrics_caption=_metrics_caption(report),
        differences_caption=DIFFERENCES_CAPTION.format(count=int((report.differences["interval"] != "").sum())),
        metrics=_of_methods("Metrics of each method", report.metric_table()),
        differences=_of_methods("Differences between methods", report.difference_table()),
        reliability=[
            (_data_uri(report.reliability_diagrams([method])), report.reliability_alt(method))
            for method in report.compared
        ],
        landscape=_data_uri(report.landscape()),
        **_decisions(report),
        **_slices(report),
    )


def _metrics_caption(report: Report) -> str:
    design = report.evaluation.design
    over = "samples" if design.groups is None else "groups, whose samples are not independent"
    means = "exact binomial for the error, percentile bootstrap for NLL and Brier score"
    if not design.is_plain:
        means = "Wilson's for the error, Student's t for NLL and Brier score"
    means += ", the last two wider where rare errors may be missing"
    weighted = "" if design.weights is None else "Values are weighted. "
    return METRICS_CAPTION.format(how=f"{weighted}95 % intervals over {over}: {means}")


def _slices(report: Report) -> dict[str, Any]:
    table = report.slice_table()
    if table is None or report.slices is None:
        return {"slices": None}
    return {
        "slices": _plain("Slice by slice", table.reset_index()),
        "worst_slice": describe_worst(report.slices),
        "more_slices": len(report.slices) - len(table),
    }


def _decisions(report: Report) -> dict[str, Any]:
    found = report.decisions
    classes, gains = found.class_table(), found.net_benefit_table()
    return {
        "decisions": found,
        "kept": name_of(report.kept),
        "thresholds": _plain("Thresholds of the confidence", found.threshold_table()),
        "classes": _plain("Classes as predicted", classes.head(SHOWN_CLASSES)),
        "more_classes": max(0, len(classes) - SHOWN_CLASSES),
        "confusion": _plain("Right and wrong by confidence", found.confusion_table()),
        "net_benefit": None if gains is None else _plain("Net benefit by threshold", gains),
    }


def _of_methods(label: str, table: pd.DataFrame) -> _Table:
    """One row for each method, or for each pair of a method and its reference."""
    names: Any = table.index
    heads: Any = table.columns
    cells: Any = table.to_numpy().tolist()
    rows = [(_row_name(*name), *map(_unbroken, own)) for name, own in zip(names, cells, strict=True)]
    return _Table(label, "", [("method", ""), *((str(name), str(how)) for name, how in heads)], rows)


def _row_name(name: str, objective: str, reference: str = "") -> str:
    label = Method(name, objective).label
    return f"{label} minus {reference}" if reference else label


def _plain(label: str, table: pd.DataFrame) -> _Table:
    rows = [
        tuple(_cell(name, cell) for name, cell in zip(table.columns, row, strict=True))
        for row in table.itertuples(index=False)
    ]
    return _Table(label, str(table.columns[0]), [(str(name), "") for name in table.columns], rows)


def _cell(name: str, value: Any) -> str:
    if isinstance(value, float):
        return "none" if value != value else repr(value) if name == "threshold" else f"{value:.3g}"
    return f"{value:,}" if isinstance(value, int) else str(value)


def _unbroken(cell: str) -> str:
    """Let cells break before an interval or a p-value, not within."""
    for text in (", ", " *", "p = ", "p < "):
        cell = cell.replace(text, text.replace(" ", "\N{NO-BREAK SPACE}"))
    return cell


def _data_uri(figure: Figure) -> str:
    """As SVG: sharp on a phone and on paper."""
    stream = io.BytesIO()
    with mpl.rc_context({"svg.hashsalt": "report"}):
        figure.savefig(stream, format="svg", facecolor="white", metadata={"Date": None})
    return f"data:image/svg+xml;base64,{base64.b64encode(stream.getvalue()).decode()}"
