"""A Report as one HTML page, with its figures inside, that opens without a network."""

from __future__ import annotations

import base64
import io
from typing import TYPE_CHECKING

import pandas as pd
from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup
from matplotlib.figure import Figure

if TYPE_CHECKING:
    from focal_lib.calibration.report import Report

__all__ = ["render"]

METRICS_CAPTION = (
    "Error and the ECE family in per cent, on samples that were not fitted on. Of two ECEs, ece has 15 bins of equal "
    "width and adaptive-ece 15 of equal mass. 95 % intervals over samples: percentile bootstrap for error, NLL and "
    "Brier score. A bootstrap of a binned error cannot reach 0 and does not cover, so theirs invert a simulated test; "
    "noise only adds to such an error, which therefore may lie above its interval. In round brackets stands "
    "an estimate with less of this bias."
)
DIFFERENCES_CAPTION = (
    "Method minus reference over the same samples. nll and brier, which decide, have t intervals that all {count} hold "
    "together with 95 % (Bonferroni); * where such an interval leaves out 0. adaptive-ece, of equal mass, in "
    "percentage points, has none, as a bootstrap's does not cover."
)


def render(report: Report, *, whole: bool) -> str:
    """The page, or what is between its body's tags."""
    template = Environment(
        loader=PackageLoader("focal_lib.calibration", "templates"), autoescape=True, undefined=StrictUndefined
    ).get_template("report.html")
    return template.render(
        whole=whole,
        report=report,
        metrics_caption=METRICS_CAPTION,
        differences_caption=DIFFERENCES_CAPTION.format(count=int((report.differences["interval"] != "").sum())),
        metrics=_table(report.metric_table()),
        differences=_table(report.difference_table()),
        reliability=_data_uri(report.reliability_diagrams()),
        landscape=_data_uri(report.landscape()),
    )


def _table(table: pd.DataFrame) -> Markup:
    """Cells break before the interval where there is little room; pandas escapes what it shows."""
    unbroken = table.map(lambda cell: cell.replace(", ", ",\N{NO-BREAK SPACE}").replace(" *", "\N{NO-BREAK SPACE}*"))
    return Markup(unbroken.to_html(border=0))


def _data_uri(figure: Figure) -> str:
    stream = io.BytesIO()
    figure.savefig(stream, format="png", dpi=160, facecolor="white")
    return f"data:image/png;base64,{base64.b64encode(stream.getvalue()).decode()}"
