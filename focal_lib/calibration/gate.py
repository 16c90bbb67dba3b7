"""`check`: is a model calibrated well enough? Pass, fail or investigate, judged by an interval, for CI.

Passed: the whole interval of the error lies below the limit. Failed: all of it lies above. In between the data do not
tell, and a check that did not run tells nothing: both are to be investigated, never passed.
"""

from __future__ import annotations

import json
import math
from dataclasses import asdict, dataclass
from enum import IntEnum
from pathlib import Path
from typing import Any, Unpack
from xml.etree import ElementTree

import torch
from torch import Tensor

from focal_lib.atomic_write import write_whole
from focal_lib.calibration.calibrators.base import Calibrator
from focal_lib.calibration.logit_sets import LogitSet
from focal_lib.calibration.logits_file import Holds, read_logits
from focal_lib.calibration.suspicions import find_suspicions
from focal_lib.metrics.ece_interval import adaptive_ece_interval_of, ece_interval_of
from focal_lib.metrics.intervals import Interval
from focal_lib.metrics.samples import Samples
from focal_lib.metrics.scores import top_of_chunk
from focal_lib.validation import check_number

__all__ = ["Check", "Outcome", "check"]

INTERVALS = {"ece": ece_interval_of, "adaptive-ece": adaptive_ece_interval_of}
_BINS = {"ece": "15 bins of equal width", "adaptive-ece": "15 bins of equal mass"}


class Outcome(IntEnum):
    """How a check ended, as the exit status that says so."""

    PASS = 0
    FAIL = 1
    INVESTIGATE = 2


@dataclass(frozen=True)
class Check:
    """What a check found: `words` say the outcome, its number and its interval; per cent."""

    outcome: Outcome
    metric: str
    limit: float
    value: float
    low: float
    high: float
    level: float
    samples: int
    words: str

    def to_json(self) -> str:
        """As one object; the outcome by its name, null for what is not known."""
        found = {name: None if value != value else value for name, value in asdict(self).items()}  # JSON has no nan
        return json.dumps(found | {"outcome": self.outcome.name.lower()}, indent=1) + "\n"

    def to_junit(self) -> str:
        """As JUnit's XML, which servers for CI show: a failure, or an error where it is to be investigated."""
        found = {Outcome.FAIL: ("failures", "failure"), Outcome.INVESTIGATE: ("errors", "error")}.get(self.outcome)
        counts = {"failures": "0", "errors": "0"} | ({found[0]: "1"} if found else {})
        suite = ElementTree.Element("testsuite", {"name": "focal check", "tests": "1", **counts})
        case = ElementTree.SubElement(
            suite, "testcase", classname="calibration", name=f"{self.metric} <= {self.limit:g} %"
        )
        if found:
            ElementTree.SubElement(case, found[1], message=self.words)
        return ElementTree.tostring(suite, encoding="unicode", xml_declaration=True) + "\n"

    def save(self, path: str | Path) -> None:
        """Write JSON, or JUnit's XML where the name ends in .xml, whole or not at all.

        Raises:
            OSError: it cannot be written.
        """
        text = self.to_junit() if Path(path).suffix == ".xml" else self.to_json()
        write_whole(Path(path), lambda part: part.write_text(text, encoding="utf-8"))


def check(
    data: Any,
    limit: float,
    *,
    metric: str = "ece",
    calibrator: Calibrator | None = None,
    level: float = 0.95,
    force: bool = False,
    **holds: Unpack[Holds],
) -> Check:
    """Whether the calibration error of a model is at most `limit`, on samples that nothing was fitted on.

    Args:
        data: as for calibrate; of two sets the one for testing.
        limit: of the error, a fraction: 0.02 for two points.
        metric: 'ece' (equal width) or 'adaptive-ece' (equal mass).
        calibrator: fitted, applied first.
        level: of the interval.
        force: check all the same where the data look wrong; see suspicions.
        holds: what the data hold: given, labels, test, label_column, groups, slices, weights, class_names, layout,
            ignore_index, pixels, as for read_logits.

    Raises:
        ValueError: data or options that are not as they should be.
        TypeError: data of another kind.
    """
    check_number(limit, "limit", minimum=0)
    if metric not in INTERVALS:
        raise ValueError(f"metric must be one of {', '.join(INTERVALS)}. Got {metric}.")
    given = holds.get("given", "logits")
    sets = read_logits(data, **holds)
    test = sets["test"] if "test" in sets else sets["all"]
    if not force and (wrong := find_suspicions(test, test, given, one_set=True, fitted=False)):
        words = f"{' '.join(wrong)} If it is as it should be, say --force (force=True)."
        none = Interval(math.nan, math.nan, math.nan, level=level)
        return _concluded(Outcome.INVESTIGATE, metric, limit, none, test, words)
    found = INTERVALS[metric](*_top_labels(test, calibrator), level=level)
    outcome = Outcome.PASS if found.high <= limit else Outcome.FAIL if found.low > limit else Outcome.INVESTIGATE
    return _concluded(outcome, metric, limit, found, test, _words(outcome, metric, limit, found, len(test)))


def _top_labels(data: LogitSet, calibrator: Calibrator | None) -> tuple[Any, Any]:
    def chunk(z: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
        return top_of_chunk(torch.softmax(z, -1) if calibrator is None else calibrator.predict_proba(z), y)

    confidence, correct = Samples(data.logits, data.labels).gather(chunk)
    return confidence, correct


def _words(outcome: Outcome, metric: str, limit: float, found: Interval, n: int) -> str:
    span = f"{100 * found.low:.2f} to {100 * found.high:.2f}"
    said = {
        Outcome.PASS: f"Passed: all of the interval is at most {100 * limit:g}.",
        Outcome.FAIL: f"Failed: all of the interval is above {100 * limit:g}.",
        Outcome.INVESTIGATE: f"Investigate: the interval holds {100 * limit:g}, so these samples do not tell.",
    }
    what = f"{metric} ({_BINS[metric]}) {100 * found.estimate:.2f} per cent, {100 * found.level:g} % interval {span}"
    return f"{said[outcome]} {what}, {n:,} samples."


def _concluded(outcome: Outcome, metric: str, limit: float, found: Interval, test: LogitSet, words: str) -> Check:
    limit, value, low, high = (100 * number for number in (limit, found.estimate, found.low, found.high))
    return Check(outcome, metric, limit, value, low, high, found.level, len(test), words)
