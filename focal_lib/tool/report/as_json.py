"""A Report as JSON for other programs: numbers, intervals, advice and provenance.

Strict JSON: unknown and infinite numbers (an NLL may be infinite) are null; `infinite` names the infinite ones.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from focal_lib.metrics.bins import reliability_bins_of
from focal_lib.metrics.scores import SampleScores

if TYPE_CHECKING:
    from focal_lib.calibration.methods import Method
    from focal_lib.tool.report.report import Report

FORMAT = 1


def report_as_json(report: Report) -> str:
    """The report as one object of strict JSON: numbers, intervals, advice, decisions, provenance."""
    evaluation = report.evaluation
    content = {
        "format": FORMAT,
        "focal_lib": version("focal-lib"),
        "advice": {**_named(report.advice.method), "words": report.advice.words},
        "kept": {**_named(report.kept), "words": report.kept_in_words},
        "samples": {
            "fit": evaluation.n_fit,
            "test": evaluation.n_test,
            "classes": evaluation.n_classes,
            "classes without a sample to fit on": evaluation.unseen,
            "folds": evaluation.folds,
        },
        "methods": [
            {**_named(method), "parameters": _numbers_of(fit), "changed": evaluation.changed[method]}
            for method, fit in evaluation.fits.items()
        ],
        "summary": report.summary,
        "calibration_test": [{**_named(method), "p": p} for method, p in report.p_values.items()],
        "metrics": rows_of(report.metrics),
        "differences": rows_of(report.differences),
        "reliability": [
            {**_named(method), "bins": "equal width", **_bins_of(scores, evaluation.design.given)}
            for method, scores in evaluation.scores.items()
        ],
        "slices": [] if report.slices is None else rows_of(report.slices),
        "notes": report.notes,
        "theory": report.theory,
        "suspicions": report.suspicions,
        "provenance": report.provenance,
        "decisions": report.decisions,
    }
    return json.dumps(plain(content), indent=1, allow_nan=False) + "\n"


def rows_of(table: pd.DataFrame) -> list[dict[str, Any]]:
    """A table's rows as objects; `infinite` names the columns where null stands for an infinite number."""
    found = []
    for row in table.to_dict("records"):
        infinite = [name for name, value in row.items() if isinstance(value, float) and math.isinf(value)]
        found.append(plain(row) | ({"infinite": infinite} if infinite else {}))
    return found


def plain(value: Any) -> Any:
    """As JSON types: arrays become lists, dataclasses objects, non-finite numbers null.

    Raises:
        TypeError: a value of another type.
    """
    if is_dataclass(value) and not isinstance(value, type):
        return {field.name: plain(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, Mapping):
        return {str(name): plain(entry) for name, entry in value.items()}
    if isinstance(value, np.ndarray | np.generic):
        return plain(value.tolist())
    if isinstance(value, list | tuple):
        return [plain(entry) for entry in value]
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if value is None or isinstance(value, str | bool | int):
        return value
    raise TypeError(f"a value must be a number, text, or made of these. Got {type(value).__name__}.")


def _named(method: Method | None) -> dict[str, str | None]:
    return dict(zip(("method", "objective"), method or (None, None), strict=True))


def _numbers_of(fit: Any) -> dict[str, float]:
    """Scalar fitted attributes, such as temperature and gamma; arrays are in calibrator.json."""
    numbers = {name.rstrip("_"): value for name, value in vars(fit).items() if name.endswith("_")}
    return {name: float(value) for name, value in numbers.items() if isinstance(value, float | np.floating)}


def _bins_of(scores: SampleScores, weights: np.ndarray | None) -> dict[str, np.ndarray]:
    """Non-empty bins; low and high are the diagram's bands, simultaneous at 95 %."""
    bins = reliability_bins_of(scores.confidence, scores.correct, weights=weights)
    low, high = bins.consistency_together()
    found = {"count": bins.count, "confidence": bins.confidence, "accuracy": bins.accuracy}
    return found | {"low if calibrated": low, "high if calibrated": high}
