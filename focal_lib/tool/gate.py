"""`check`: is a model calibrated well enough? Pass, fail or investigate, judged by an interval, for CI.

Passed: the whole interval of the error lies below the limit. Failed: all of it lies above. In between the data do not
tell, and a check that did not run tells nothing: both are to be investigated, never passed. With slices, such as
hospitals, the whole and each of them is judged, by intervals that hold together, and the worst outcome is the check's.
"""

from __future__ import annotations

import json
import math
from dataclasses import asdict, dataclass
from enum import IntEnum
from pathlib import Path
from typing import Any, NamedTuple, Unpack
from xml.etree import ElementTree

from focal_lib.atomic_write import write_whole
from focal_lib.calibration.calibrators.as_given import AsGiven
from focal_lib.calibration.calibrators.base import Calibrator
from focal_lib.calibration.calibrators.mapped import MappedCalibrator
from focal_lib.calibration.logit_sets import Layout, LogitSet, slices_of
from focal_lib.metrics.bins import DEFAULT_BINS
from focal_lib.metrics.design import Design
from focal_lib.metrics.design_gaps import LEAST_GROUPS
from focal_lib.metrics.ece_interval import adaptive_ece_interval_of, ece_interval_of
from focal_lib.metrics.intervals import Interval
from focal_lib.tool.evaluation.scoring import top_labels
from focal_lib.tool.evaluation.slices import ALL, together
from focal_lib.tool.evaluation.suspicions import find_suspicions
from focal_lib.tool.inputs.logits_file import Holds, read_logits
from focal_lib.validation import check_number

INTERVALS = {"ece": ece_interval_of, "adaptive-ece": adaptive_ece_interval_of}
UNIT = "per cent"  # of errors, intervals and limits in a Check; the option --max-ece and `limit` are fractions
_SHOWN = 10  # slices in a sentence
_BINS = {"ece": f"{DEFAULT_BINS} bins of equal width", "adaptive-ece": f"{DEFAULT_BINS} bins of equal mass"}


class Outcome(IntEnum):
    """How a check ended, as the exit status that says so."""

    PASS = 0
    FAIL = 1
    INVESTIGATE = 2


_JUNIT = {Outcome.FAIL: ("failures", "failure"), Outcome.INVESTIGATE: ("errors", "error")}
_WORST = (Outcome.PASS, Outcome.INVESTIGATE, Outcome.FAIL)  # the worst one last


class Part(NamedTuple):
    """The whole or one slice: what was found of it alone, in per cent."""

    name: str
    outcome: Outcome
    value: float
    low: float
    high: float
    samples: int


@dataclass(frozen=True)
class Check:
    """What a check found, in per cent; `words` say the outcome, its number and its interval.

    Attributes:
        outcome: the worst of the whole's and of the slices'.
        metric, limit: what must be at most how much.
        value, low, high, samples, whole: of the whole; the last is its outcome.
        level: of all intervals together.
        words: in a sentence.
        slices: each slice, those that fail first.
    """

    outcome: Outcome
    metric: str
    limit: float
    value: float
    low: float
    high: float
    level: float
    samples: int
    words: str
    whole: Outcome = Outcome.INVESTIGATE
    slices: tuple[Part, ...] = ()

    def to_json(self) -> str:
        """As one object; outcomes by their names, null for what is not known; `unit` is that of errors and limit."""
        slices = [_plain(part._asdict()) for part in self.slices]
        return json.dumps(_plain(asdict(self)) | {"unit": UNIT, "slices": slices}, indent=1) + "\n"

    def to_junit(self) -> str:
        """As JUnit's XML, which servers for CI show: a failure, or an error where it is to be investigated.

        With slices there is a case for the whole and for each of them.
        """
        limit = self.metric if math.isnan(self.limit) else f"{self.metric} <= {self.limit:g} %"
        cases = [(limit, self.outcome, self.words)]
        if self.slices:
            whole = Part(ALL, self.whole, self.value, self.low, self.high, self.samples)
            cases = [(f"{part.name}: {limit}", part.outcome, _of_part(part)) for part in (whole, *self.slices)]
        counts = {kind: sum(outcome == one for _, outcome, _ in cases) for one, (kind, _) in _JUNIT.items()}
        suite = ElementTree.Element(
            "testsuite", {"name": "focal check", "tests": str(len(cases))} | {k: str(n) for k, n in counts.items()}
        )
        for name, outcome, words in cases:
            case = ElementTree.SubElement(suite, "testcase", classname="calibration", name=name)
            if outcome in _JUNIT:
                ElementTree.SubElement(case, _JUNIT[outcome][1], message=words)
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
        calibrator: fitted, on other samples than these, and applied first.
        level: of the interval.
        force: check all the same where the data look wrong; see suspicions.
        holds: what the data hold: given, labels, test, label_column, groups, slices, weights, class_names, layout,
            ignore_index, pixels, as for read_logits.

    Raises:
        ValueError: data or options that are not as they should be.
        TypeError: data of another kind.
    """
    if not check_number(limit, "limit", minimum=0) < 1:
        raise ValueError(f"limit must be a fraction below 1: 0.02 for two points. Got {limit:g}, which all would pass.")
    if metric not in INTERVALS:
        raise ValueError(f"metric must be one of {', '.join(INTERVALS)}. Got {metric}.")
    given = holds.get("given", "logits")
    sets = read_logits(data, **holds)
    test = sets["test"] if "test" in sets else sets["all"]
    wrong = [] if force else find_suspicions(test, test, given, one_set=True, fitted=False)
    wrong += [] if force else [*_of_another_layout(calibrator, test.layout), *_of_other_columns(calibrator, test)]
    if wrong:
        words = f"{' '.join(wrong)} If it is as it should be, say --force (force=True)."
        return _without_value(words, metric, limit, level, len(test))
    masks = slices_of([test])
    each, (confidence, correct) = together(level, len(masks)) if masks else level, top_labels(calibrator, test)
    design = Design(test.weights, test.groups)

    def judged(name: str, inside: Any) -> Part:
        own = INTERVALS[metric](confidence[inside], correct[inside], level=each, design=design.take(inside))
        i = own.scaled(100)
        return Part(name, _outcome(own, limit), i.estimate, i.low, i.high, len(confidence[inside]))

    whole = judged(ALL, slice(None))
    parts = sorted((judged(*one) for one in masks.items()), key=lambda p: _WORST.index(p.outcome), reverse=True)
    outcome = max((whole, *parts), key=lambda p: _WORST.index(p.outcome)).outcome
    words = _words(outcome, f"{metric} of {test.classes:,} classes ({_BINS[metric]})", 100 * limit, level, whole, parts)
    _, own, value, low, high, samples = whole
    if calibrator is not None:
        words += " After the calibrator: this tells of new samples only if these are others than it was fitted on."
    if outcome == Outcome.PASS and test.groups is not None:
        count = design.independent(len(test))
        unseen = 100 * (1 - (1 - level) ** (1 / count))  # that none of so many is one of them
        words += f" Any one kind of group that is not among these {count:,} may be up to {unseen:.2g} per cent of all."
    return Check(outcome, metric, 100 * limit, value, low, high, level, samples, words, own, tuple(parts))


def did_not_run(reason: str, metric: str = "ece", limit: float = math.nan, level: float = 0.95) -> Check:
    """What is left for other programs where a check could not run: to be investigated, with the reason as words.

    Args:
        limit: a fraction; nan where it is not known.
    """
    return _without_value(reason, metric, limit, level, 0)


def _without_value(reason: str, metric: str, limit: float, level: float, samples: int) -> Check:
    nan, words = math.nan, f"Investigate: {reason}"
    return Check(Outcome.INVESTIGATE, metric, 100 * limit, nan, nan, nan, level, samples, words)


def _of_another_layout(calibrator: Calibrator | None, layout: Layout) -> list[str]:
    """Classes are the default, which says nothing; rows of pixels, of tokens and of a binary model are classes, too."""
    own = layout if calibrator is None else calibrator.layout_
    rows = own not in ("multi-label", "options") and layout == "classes"
    if own in (layout, "classes") or rows:
        return []
    return [f"The calibrator was fitted on {own} scores, and these are {layout}: is it that of this model?"]


def _of_other_columns(calibrator: Calibrator | None, data: LogitSet) -> list[str]:
    """A temperature treats all columns alike; the others have something of their own for each."""
    if calibrator is None or isinstance(calibrator, MappedCalibrator | AsGiven):
        return []
    if calibrator.class_names_ is None or not data.class_names:
        return []
    for k, (was, now) in enumerate(zip(calibrator.class_names_, data.class_names, strict=False)):
        if str(was) != str(now):
            other = f"column {k} was {was}, and here it is {now}"
            return [f"The calibrator was fitted on other columns, or in another order: {other}."]
    return []


def _outcome(found: Interval, limit: float) -> Outcome:
    return Outcome.PASS if found.high <= limit else Outcome.FAIL if found.low > limit else Outcome.INVESTIGATE


def _words(outcome: Outcome, metric: str, limit: float, level: float, whole: Part, parts: list[Part]) -> str:
    what = f"{metric} {_of_part(whole)}"
    allowed = f"the limit, {limit:g} per cent"
    if not parts:
        said = {
            Outcome.PASS: f"Passed: all of the interval is at most {allowed}.",
            Outcome.FAIL: f"Failed: all of the interval is above {allowed}.",
            Outcome.INVESTIGATE: f"Investigate: the interval holds {allowed}, so these samples do not tell.",
        }
        if math.isnan(whole.low):
            few = f"groups worth fewer than {LEAST_GROUPS} of equal size"
            said[outcome] = f"Investigate: {few} have no interval, so nothing is told."
        return f"{said[outcome]} {what} ({100 * level:g} %)."
    said = {Outcome.PASS: "Passed", Outcome.FAIL: "Failed", Outcome.INVESTIGATE: "Investigate"}
    counts = {one: [part for part in parts if part.outcome == one] for one in _WORST}
    found = f"{len(counts[Outcome.PASS])} of {len(parts)} slices pass, {len(counts[Outcome.FAIL])} fail and "
    found += f"{len(counts[Outcome.INVESTIGATE])} are to be investigated at {allowed}"
    shown = [f" {part.name}: {_of_part(part)}." for part in parts if part.outcome == outcome != Outcome.PASS]
    more = f" And {len(shown) - _SHOWN} more." if len(shown) > _SHOWN else ""
    together_words = f"All intervals hold together with {100 * level:g} %."
    return f"{said[outcome]}: {found}. {ALL}: {what}.{''.join(shown[:_SHOWN])}{more} {together_words}"


def _of_part(part: Part) -> str:
    span = "without interval" if math.isnan(part.low) else f"interval {part.low:.2f} to {part.high:.2f}"
    return f"{part.value:.2f} per cent, {span}, {part.samples:,} samples"


def _plain(values: dict[str, Any]) -> dict[str, Any]:
    """JSON has no nan, and no enumerations."""
    return {
        name: value.name.lower() if isinstance(value, Outcome) else None if value != value else value
        for name, value in values.items()
    }
