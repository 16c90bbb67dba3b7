"""A Report as one self-contained HTML page with its figures."""

from __future__ import annotations

import base64
import io
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import matplotlib as mpl
import pandas as pd
from jinja2 import Environment, PackageLoader, StrictUndefined
from matplotlib.figure import Figure

from focal_lib.calibration.methods import Method
from focal_lib.metrics.bins import DEFAULT_BINS
from focal_lib.tool.evaluation.slices import describe_worst
from focal_lib.tool.report.figures import has_landscape
from focal_lib.tool.report.summary import name_of

if TYPE_CHECKING:
    from focal_lib.tool.report.report import Report

METRICS_CAPTION = (
    "Error and the ECE family in per cent, on samples that were not fitted on. Of two ECEs, ece has "
    f"{DEFAULT_BINS} bins of equal width and adaptive-ece {DEFAULT_BINS} of equal mass. "
    "{how}. A bootstrap of a binned error cannot reach 0 and does not cover, so theirs invert a simulated test, or are "
    "bounds for a classwise ECE of few counts; noise only adds to such an error, which therefore may lie above its "
    "interval. In round brackets stands an estimate with less of this bias."
)
DIFFERENCES_CAPTION = (
    "Method minus reference over the same samples. nll and brier, which decide, have t intervals that all {count} hold "
    "together with 95 % (Bonferroni); * where such an interval leaves out 0. Where errors are few one reaches at least "
    "as far as the means of other labels which these samples do not contradict: rare errors may be missing among them. "
    "adaptive-ece, of equal mass, in percentage points, has none, as a bootstrap's does not cover."
)
SHOWN_CLASSES = 20  # rows of the table of classes, the worst first


class _Table(NamedTuple):
    """A table for the template: heads (name, smaller words), and rows whose first cell is their head.

    `row` stands before that cell if there is no line of heads; '' if the cell needs none.
    """

    label: str
    row: str
    heads: Sequence[tuple[str, str]]
    rows: Sequence[Sequence[str]]


def render(report: Report, *, whole: bool) -> str:
    """The page, or only the content of its body."""
    environment = Environment(
        loader=PackageLoader("focal_lib.tool.report", "templates"), autoescape=True, undefined=StrictUndefined
    )
    decisions, slices = report.decisions, report.slice_table()
    classes, gains = decisions.class_table(), decisions.net_benefit_table()
    panels = [(report.reliability_diagrams([method]), report.reliability_alt(method)) for method in report.compared]
    return environment.get_template("report.html").render(
        whole=whole,
        report=report,
        summary=report.summary,
        unbroken=_unbroken,
        metrics_caption=_metrics_caption(report),
        differences_caption=DIFFERENCES_CAPTION.format(count=report.intervals),
        metrics=_of_methods("Metrics of each method", report.metric_table()),
        differences=_of_methods("Differences between methods", report.difference_table()),
        reliability=[(_data_uri(figure), alt) for figure, alt in panels],
        landscape=_data_uri(report.landscape()) if has_landscape(report) else "",
        decisions=decisions,
        kept=name_of(report.kept),
        thresholds=_plain("Thresholds of the confidence", decisions.threshold_table()),
        classes=_plain("Classes as predicted", classes.head(SHOWN_CLASSES)),
        more_classes=max(0, len(classes) - SHOWN_CLASSES),
        confusion=_plain("Right and wrong by confidence", decisions.confusion_table()),
        net_benefit=None if gains is None else _plain("Net benefit by threshold", gains),
        slices=None if slices is None else _plain("Slice by slice", slices.reset_index()),
        worst_slice="" if report.slices is None else describe_worst(report.slices),
        more_slices=0 if report.slices is None or slices is None else len(report.slices) - len(slices),
    )


def _metrics_caption(report: Report) -> str:
    design = report.evaluation.design
    over = "samples" if design.groups is None else "groups, whose samples are not independent"
    means = "exact binomial for the error, percentile bootstrap for NLL and Brier score"
    if not design.is_plain:
        means = "Wilson's for the error, Student's t for NLL and Brier score"
    weighted = "" if design.weights is None else "Values are weighted. "
    twice = "A Brier score is the sum over both classes, twice scikit-learn's brier_score_loss. "
    weighted += twice if report.evaluation.is_binary else ""
    how = f"{weighted}95 % intervals over {over}: {means}, the last two wider where rare errors may be missing"
    return METRICS_CAPTION.format(how=how)


def _of_methods(label: str, table: pd.DataFrame) -> _Table:
    """One row for each method, or for each pair of a method and its reference."""
    names: Any = table.index
    heads: Any = table.columns
    rows = []
    for (name, objective, *reference), cells in zip(names, table.to_numpy().tolist(), strict=True):
        of = " minus ".join((Method(name, objective).label, *reference))
        rows.append((of, *map(_unbroken, cells)))
    return _Table(label, "", [("method", ""), *((str(name), str(how)) for name, how in heads)], rows)


def _plain(label: str, table: pd.DataFrame) -> _Table:
    names = [str(name) for name in table.columns]
    rows = [tuple(map(_cell, names, row)) for row in table.itertuples(index=False)]
    return _Table(label, names[0], [(name, "") for name in names], rows)


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
