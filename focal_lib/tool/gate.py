"""`check`: is a model calibrated well enough? Pass, fail or investigate, decided by an interval, for CI.

Pass: the whole interval of the error is at most the limit. Fail: the whole interval is above it. Investigate: the
interval contains the limit, or the check did not run. Of two classes the probability of class 1 is judged. A limit that
a model would keep, too, which is always certain of the commonest class, does not pass, nor does a top-label error of
two classes where they cancel. With slices, such as hospitals, the whole and each slice are judged by simultaneous
intervals, and the worst outcome is the check's.
"""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from enum import IntEnum
from pathlib import Path
from typing import Any, NamedTuple, Unpack
from xml.etree import ElementTree

import numpy as np

from focal_lib.atomic_write import write_whole
from focal_lib.calibration.calibrators.base import Calibrator
from focal_lib.calibration.calibrators.temperature import AsGiven, MappedCalibrator
from focal_lib.calibration.logit_sets import LogitSet, row_numbers, slices_of
from focal_lib.metrics.bins import DEFAULT_BINS
from focal_lib.metrics.design import Design
from focal_lib.metrics.design_gaps import LEAST_GROUPS
from focal_lib.metrics.ece_interval import adaptive_ece_interval_of, ece_interval_of
from focal_lib.metrics.intervals import Interval
from focal_lib.metrics.positive import CLIP, event_count, observed_expected_of, positive_ece_interval_of
from focal_lib.tool.evaluation.repeats import group_copies
from focal_lib.tool.evaluation.scoring import event, top_labels
from focal_lib.tool.evaluation.slices import ALL, together
from focal_lib.tool.evaluation.suspicions import find_suspicions
from focal_lib.tool.inputs.logits_file import Holds, read_logits
from focal_lib.validation import check_number


def _relative(p: np.ndarray, y: np.ndarray, *, level: float, design: Design) -> Interval:
    """|O/E - 1|, by how much there are more or fewer events than expected, as a share of these."""
    found = observed_expected_of(p, y, level=level, design=design)
    if np.isnan(found.high):
        return replace(found, estimate=abs(found.estimate - 1), debiased=None)
    low, high = found.low - 1, found.high - 1
    return replace(
        found, estimate=abs(found.estimate - 1), low=max(0.0, low, -high), high=max(abs(low), abs(high)), debiased=None
    )


# of a probability for each sample, and whether what it is of came true
_TOP_LABEL = {"ece": ece_interval_of, "adaptive-ece": adaptive_ece_interval_of}
_OF_EVENT = {"positive-ece": positive_ece_interval_of, "observed-expected": _relative}
INTERVALS: dict[str, Callable[..., Interval]] = _TOP_LABEL | _OF_EVENT
UNIT = "per cent"  # of errors, intervals and limits in a Check; the option --max-ece and `limit` are fractions
_SHOWN = 10  # slices in a sentence
_EVENTS = 10  # with which a ratio of events is known to about a factor of two
_DECIMALS = 9  # by which rows of logits that differ by a constant are compared


class Outcome(IntEnum):
    """Outcome of a check; its number is the exit status of `focal check`.

    Examples:
        >>> Outcome(1)
        <Outcome.FAIL: 1>
    """

    PASS = 0
    FAIL = 1
    INVESTIGATE = 2


_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")  # shown as \\u0007
_JUNIT = {Outcome.FAIL: ("failures", "failure"), Outcome.INVESTIGATE: ("errors", "error")}
_WORST = (Outcome.PASS, Outcome.INVESTIGATE, Outcome.FAIL)  # the worst one last


class Part(NamedTuple):
    """Result for the whole or for one slice, in per cent."""

    name: str
    outcome: Outcome
    value: float
    low: float
    high: float
    samples: int
    why: str = ""  # it does not pass though the interval lies below the limit

    @property
    def words(self) -> str:
        """'2.10 per cent, interval 1.50 to 2.90, 400 samples'."""
        span = "without interval" if math.isnan(self.low) else f"interval {self.low:.2f} to {self.high:.2f}"
        return f"{self.value:.2f} per cent, {span}, {self.samples:,} samples{f'; {self.why}' if self.why else ''}"


@dataclass(frozen=True)
class Check:
    """Result of `check`; errors, interval and limit are in per cent.

    Attributes:
        outcome: the worst outcome of the whole and of the slices.
        metric, limit: the error that is judged, and its limit.
        value, low, high, samples, whole: estimate, interval, number of samples and outcome of the whole.
        level: simultaneous level of all intervals.
        words: the result in sentences.
        slices: the result of each slice, failed ones first.

    Examples:
        >>> logits, labels = [[0.0, 2.1972], [2.1972, 0.0]] * 500, [1, 0] * 375 + [0, 1] * 125
        >>> found = check((logits, labels), limit=0.05)  # confidence 0.9, accuracy 0.75
        >>> found.words
        'Failed: all of the interval is above the limit, 5 per cent. ...'
        >>> round(found.value, 2), round(found.low), round(found.high)
        (15.0, 12, 18)
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
        """One JSON object: outcomes by name, null for unknown numbers; `unit` is that of errors and limit."""
        content = asdict(self) | {"unit": UNIT, "slices": [_plain(part._asdict()) for part in self.slices]}
        return json.dumps(_plain(content), indent=1) + "\n"

    def to_junit(self) -> str:
        """JUnit XML, as CI servers show it: a failure, or an error for INVESTIGATE.

        With slices there is one test case for the whole and one for each slice.
        """
        limit = self.metric if math.isnan(self.limit) else f"{self.metric} <= {self.limit:g} %"
        cases = [(limit, self.outcome, self.words)]
        if self.slices:
            whole = Part(ALL, self.whole, self.value, self.low, self.high, self.samples)
            cases = [(f"{part.name}: {limit}", part.outcome, part.words) for part in (whole, *self.slices)]
        counts = {kind: sum(outcome == one for _, outcome, _ in cases) for one, (kind, _) in _JUNIT.items()}
        of_all = {"name": "focal check", "tests": len(cases)} | counts
        suite = ElementTree.Element("testsuite", {name: str(value) for name, value in of_all.items()})
        for name, outcome, words in cases:
            name, words = (_NOT_XML.sub(lambda found: f"\\u{ord(found[0]):04x}", text) for text in (name, words))
            case = ElementTree.SubElement(suite, "testcase", classname="calibration", name=name)
            if outcome in _JUNIT:
                ElementTree.SubElement(case, _JUNIT[outcome][1], message=words)
        return ElementTree.tostring(suite, encoding="utf-8", xml_declaration=True).decode() + "\n"

    def save(self, path: str | Path) -> None:
        """Write JSON, or JUnit XML if the name ends in .xml, atomically.

        Raises:
            OSError: the file cannot be written.
        """
        text = self.to_junit() if Path(path).suffix == ".xml" else self.to_json()
        write_whole(Path(path), lambda part: part.write_text(text, encoding="utf-8"))


def check(
    data: Any,
    limit: float,
    *,
    metric: str = "",
    calibrator: Calibrator | None = None,
    level: float = 0.95,
    force: bool = False,
    **holds: Unpack[Holds],
) -> Check:
    r"""Test whether the calibration error is at most `limit`, on samples that were not used in any fit.

    Args:
        data: as for calibrate; of two sets the test set is used.
        limit: largest error that passes, a fraction: 0.02 for two points.
        metric: of two classes 'positive-ece', is a 0.3 for class 1 a 0.3 (bins of equal width), or
            'observed-expected', \|O/E - 1\| of the rarer class, for rare events; of the most probable class 'ece'
            (equal width) or 'adaptive-ece' (equal mass). Default: 'positive-ece' for two classes, else 'ece'.
        calibrator: applied first; fitted on other samples than these.
        level: simultaneous level of the intervals.
        force: run the check although the data look wrong; see suspicions.
        holds: arguments of read_logits that describe the data: given, scores, labels, test, label_column, groups,
            slices, weights, class_names, layout, ignore_index, pixels.

    Raises:
        ValueError: invalid data or options.
        TypeError: data of another type.

    Examples:
        >>> logits = [[0.0, 2.1972], [2.1972, 0.0]] * 500  # confidence 0.9
        >>> check((logits, [1, 0] * 450 + [0, 1] * 50), limit=0.05).outcome  # accuracy 0.9
        <Outcome.PASS: 0>
        >>> check((logits, [1, 0] * 375 + [0, 1] * 125), limit=0.05).outcome  # accuracy 0.75
        <Outcome.FAIL: 1>
        >>> rare = check(([0.025] * 1000, [1] * 10 + [0] * 990), limit=0.03, given="probs")  # 1 % are events, not 2.5
        >>> rare.outcome, rare.words
        (<Outcome.INVESTIGATE: 2>, 'Investigate: the limit, 3 per cent, is above the share of the rarer outcome, ...')
    """
    if not check_number(limit, "limit", minimum=0) < 1:
        raise ValueError(f"limit must be a fraction below 1: 0.02 for two points. Got {limit:g}, which all would pass.")
    if metric and metric not in INTERVALS:
        raise ValueError(f"metric must be one of {', '.join(INTERVALS)}. Got {metric}.")
    sets = read_logits(data, **holds)
    test = group_copies(sets["test"] if "test" in sets else sets["all"])
    metric = metric or ("positive-ece" if test.is_binary else "ece")
    if metric in _OF_EVENT and not test.is_binary:
        raise ValueError(
            f"{metric} is of two classes, {' or '.join(_TOP_LABEL)} of more. Got {test.classes:,} classes."
        )
    if not force:
        wrong = find_suspicions(test, test, holds.get("given", "logits"), one_set=True, fitted=False)
        wrong += [] if calibrator is None else _of_another_model(calibrator, test)
        if wrong:
            reason = f"{' '.join(wrong)} If it is as it should be, say --force (force=True)."
            return did_not_run(reason, metric, limit, level, len(test))
    masks, design = slices_of([test]), Design(test.weights, test.groups)
    of_event, each = metric in _OF_EVENT, together(level, len(masks)) if masks else level
    events = event(calibrator, test) if test.is_binary else None
    values = events if of_event and events else top_labels(calibrator, test)
    turned = metric == "observed-expected" and design.mean(values[1]) > 0.5  # of the rarer class
    if turned:
        values = 1 - values[0], 1 - values[1]

    def judged(name: str, inside: Any) -> Part:
        probability, outcome, within = *(own[inside] for own in values), design.take(inside)
        own = INTERVALS[metric](probability, outcome, level=each, design=within)
        why = ""
        if own.high <= limit and metric != "observed-expected":
            if (others := _others(test, inside, within)) <= limit:
                why = _too_coarse(limit, others, test.is_binary)
            elif events and not of_event:
                of_class = positive_ece_interval_of(*(v[inside] for v in events), level=each, design=within)
                why = _cancelled(limit, of_class, _event_name(test, turned=False))
        passes = own.high <= limit and not why
        found = Outcome.PASS if passes else Outcome.FAIL if own.low > limit else Outcome.INVESTIGATE
        i = own.scaled(100)
        return Part(name, found, i.estimate, i.low, i.high, len(probability), why)

    def severity(part: Part) -> int:
        return _WORST.index(part.outcome)

    whole = judged(ALL, slice(None))
    parts = sorted((judged(*one) for one in masks.items()), key=severity, reverse=True)
    outcome = max((whole, *parts), key=severity).outcome
    bins = {"adaptive-ece": "mass", "observed-expected": ""}.get(metric, "width")
    what = f"{metric} of " + (f"class {_event_name(test, turned)}" if of_event else f"{test.classes:,} classes")
    what += f" ({DEFAULT_BINS} bins of equal {bins})" if bins else ""
    words = _words(outcome, what, 100 * limit, level, whole, parts)
    if of_event:
        words += _of_event(*values, design, level)
    words += _cannot_tell(test, values, of_event, design)
    if calibrator is not None:
        words += " After the calibrator: this holds for new samples only if these are others than it was fitted on."
    if outcome == Outcome.PASS and test.groups is not None:
        count = design.independent(len(test))
        unseen = 100 * (1 - (1 - level) ** (1 / count))  # that none of so many is one of them
        words += f" Any one kind of group that is not among these {count:,} may be up to {unseen:.2g} per cent of all."
    _, own, value, low, high, samples, _ = whole
    return Check(outcome, metric, 100 * limit, value, low, high, level, samples, words, own, tuple(parts))


def did_not_run(reason: str, metric: str = "", limit: float = math.nan, level: float = 0.95, samples: int = 0) -> Check:
    """Result of a check that could not run: INVESTIGATE, with the reason as words.

    Args:
        limit: a fraction; nan if unknown.
    """
    nan, words = math.nan, f"Investigate: {reason}"
    return Check(Outcome.INVESTIGATE, metric or "ece", 100 * limit, nan, nan, nan, level, samples, words)


def _event_name(data: LogitSet, turned: bool) -> str:
    """Of the class that is judged: class 1, or class 0."""
    if turned:
        return repr(data.class_names[0]) if data.class_names else "0"
    return repr(data.event) if data.event else "1"


def _others(data: LogitSet, inside: Any, design: Design) -> float:
    """Share of all classes but the commonest: the error of a model that is always certain of that one."""
    if data.layout == "options":  # an option's place says nothing
        return 1.0
    of_classes = np.bincount(data.labels[inside], design.weights)
    return 1 - float(of_classes.max() / of_classes.sum())


def _too_coarse(limit: float, others: float, binary: bool) -> str:
    if binary and others == 0:
        return "one outcome did not come, so that a model that never expects it would keep every limit"
    rest = "the rarer outcome" if binary else "all classes but the commonest"
    cure = ", or judge --metric observed-expected" if binary else ""
    return (
        f"the limit, {100 * limit:g} per cent, is above the share of {rest}, {100 * others:.3g} per cent: a model that "
        f"never expects {'it' if binary else 'these'} would keep it. Set a lower one{cure}"
    )


def _cancelled(limit: float, of_class: Interval, name: str) -> str:
    """Why a top-label error tells too little: a 0.7 and a 0.3 share a bin, and what is off in one hides the other."""
    if of_class.low <= limit:
        return ""
    i = of_class.scaled(100)
    return (
        f"the error of class {name} is above the limit, {100 * limit:g} per cent: {i.estimate:.2f}, interval "
        f"{i.low:.2f} to {i.high:.2f}. Among the most probable classes those of the two cancel: judge --metric "
        "positive-ece"
    )


def _of_event(p: np.ndarray, y: np.ndarray, design: Design, level: float) -> str:
    """' Expected 32.9 per cent, observed 9.62: the probabilities of class 1 are too high.'"""
    expected, observed = 100 * design.mean(p), 100 * design.mean(y)
    ratio = observed_expected_of(p, y, level=level, design=design)
    if not np.isfinite(ratio.estimate):
        return f" Expected 0 per cent, observed {observed:.3g}."
    side = "too high on the whole" if ratio.high < 1 else "too low on the whole" if ratio.low > 1 else ""
    side = f": its probabilities are {side}" if side else ""
    span = "" if np.isnan(ratio.high) else f", interval {ratio.low:.2f} to {ratio.high:.2f}"
    return f" Expected {expected:.3g} per cent, observed {observed:.3g}; O/E {ratio.estimate:.2f}{span}{side}."


def _cannot_tell(data: LogitSet, values: tuple[np.ndarray, np.ndarray], of_event: bool, design: Design) -> str:
    """What no limit finds: samples of one class only, and scores that are all equal."""
    found, (p, y) = "", values
    if of_event and y.min() == y.max():
        rarer, most = 1 - p if y[0] else p, event_count(p, y, level=0.95, design=design)
        end = len(y) - most.low if y[0] else most.high  # of the expected number of the outcome that did not come
        shares = [share for share in (design.mean(rarer), end / len(y)) if share > CLIP]
        enough = f": about {math.ceil(_EVENTS / min(shares)):,} or more" if shares else ""
        found += (
            f" All {len(y):,} samples are {'events' if y[0] else 'without the event'}: they bound its share, and "
            f"cannot tell whether samples with higher scores have it more often. Check samples with at least "
            f"{_EVENTS} of the rarer outcome{enough}."
        )
    if np.ptp(p) == 0 and (of_event or np.ptp(row_numbers(data, _DECIMALS)) == 0):
        found += " All scores are equal: calibrated or not, they rank no sample above another."
    return found


def _of_another_model(calibrator: Calibrator, data: LogitSet) -> list[str]:
    """Signs that the calibrator is that of another model.

    'classes', the default layout, also fits rows of pixels, tokens and binary data; temperatures have no columns.
    """
    own, layout, found = calibrator.layout_, data.layout, []
    if own not in (layout, "classes") and (layout != "classes" or own in ("multi-label", "options")):
        found.append(f"The calibrator was fitted on {own} scores, and these are {layout}: is it that of this model?")
    if isinstance(calibrator, MappedCalibrator | AsGiven) or calibrator.class_names_ is None:
        return found
    for k, (was, now) in enumerate(zip(calibrator.class_names_, data.class_names or (), strict=False)):
        if str(was) != str(now):
            other = f"column {k} was {was}, and here it is {now}"
            return [*found, f"The calibrator was fitted on other columns, or in another order: {other}."]
    return found


def _words(outcome: Outcome, metric: str, limit: float, level: float, whole: Part, parts: list[Part]) -> str:
    what, allowed, sure = f"{metric} {whole.words}", f"the limit, {limit:g} per cent", f"{100 * level:g} %"
    verdict = {Outcome.PASS: "Passed", Outcome.FAIL: "Failed", Outcome.INVESTIGATE: "Investigate"}[outcome]
    if not parts:
        why = {
            Outcome.PASS: f"all of the interval is at most {allowed}",
            Outcome.FAIL: f"all of the interval is above {allowed}",
            Outcome.INVESTIGATE: f"the interval contains {allowed}, so these samples do not decide",
        }[outcome]
        if whole.why:
            return f"{verdict}: {whole.why}. {metric} {whole._replace(why='').words} ({sure})."
        if math.isnan(whole.low):
            why = f"groups worth fewer than {LEAST_GROUPS} of equal size have no interval, so there is no verdict"
        return f"{verdict}: {why}. {what} ({sure})."
    counts = Counter(part.outcome for part in parts)
    shown = [f" {part.name}: {part.words}." for part in parts if part.outcome == outcome != Outcome.PASS]
    more = f" And {len(shown) - _SHOWN} more." if len(shown) > _SHOWN else ""
    return (
        f"{verdict}: {counts[Outcome.PASS]} of {len(parts)} slices pass, {counts[Outcome.FAIL]} fail and "
        f"{counts[Outcome.INVESTIGATE]} are to be investigated at {allowed}. {ALL}: {what}.{''.join(shown[:_SHOWN])}"
        f"{more} All intervals are simultaneous at {sure}."
    )


def _plain(values: dict[str, Any]) -> dict[str, Any]:
    """Replace nan, infinity and enumerations, which JSON does not have."""
    return {
        name: value.name.lower()
        if isinstance(value, Outcome)
        else None
        if isinstance(value, float) and not math.isfinite(value)
        else value
        for name, value in values.items()
    }
