"""`calibrate`: fit and compare calibrators on logits with labels; its result is a Report."""

from __future__ import annotations

import platform
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import cached_property
from importlib.metadata import version
from pathlib import Path
from typing import Any, Unpack

import numpy as np
import pandas as pd

from focal_lib.atomic_write import Writer, write_together
from focal_lib.calibration.calibrators.base import Calibrator
from focal_lib.calibration.calibrators.temperature import AsGiven
from focal_lib.calibration.logit_sets import LogitSet, Sets, fit_and_test_sets, floor_of_zeros
from focal_lib.calibration.methods import (
    AS_GIVEN,
    Method,
    alike_for_all_columns,
    build_with_prior,
    counting_samples,
    not_of,
    parse,
    to_keep,
)
from focal_lib.calibration.saved import save_calibrator
from focal_lib.threads import few_threads
from focal_lib.tool.evaluation.comparison import Evaluation, cross_fit, differences, hold_out, measure
from focal_lib.tool.evaluation.recommendation import RELEVANT, Advice, advise, check_relevant
from focal_lib.tool.evaluation.repeats import group_copies
from focal_lib.tool.evaluation.slices import by_slice, slice_table
from focal_lib.tool.evaluation.suspicions import find_cautions, find_suspicions
from focal_lib.tool.inputs.logits_file import Holds, options_in_words, read_logits
from focal_lib.tool.report import figures
from focal_lib.tool.report.as_json import report_as_json
from focal_lib.tool.report.decisions import Decisions, decide
from focal_lib.tool.report.model_card import model_card
from focal_lib.tool.report.summary import (
    Summary,
    describe_cautions,
    describe_fit,
    describe_fits,
    describe_theory,
    summarise,
)
from focal_lib.tool.report.tables import difference_table, metric_table
from focal_lib.validation import check_number

FILES = ("calibrator.json", "metrics.csv", "report.html")
FORCE = "--force (force=True)"
_FOLDS = 5
_CROSS_FITTED = 5_000_000  # logits: half of so many are enough to fit on
Progress = Callable[[str, int, int], Any]  # description, steps done, steps in all
_VERSIONS_OF = ("focal-lib", "numpy", "scipy", "scikit-learn")


def calibrate(
    data: Any,
    methods: str | Iterable[str | tuple[str, str]] = "",
    *,
    share: float | None = None,
    folds: int | None = None,
    seed: int = 0,
    shrinkage: float = 0.0,
    resamples: int = 1000,
    relevant: float = RELEVANT,
    keep: str = "",
    force: bool = False,
    progress: Progress | None = None,
    **holds: Unpack[Holds],
) -> Report:
    """Fit calibration methods, measure them on held-out samples, and recommend one.

    Args:
        data: path of an npz, npy, csv or parquet file; a pair (scores, labels) of arrays or tensors, such as (n, K) and
            (n,); two such pairs, for validation and test; or the result of read_logits.
        methods: names, with the objective after a colon, as a string or a list: 'temperature,vector',
            'focal-temperature:adaptive-ece'; or 'all'. Default: methods.DEFAULT.
        share: share of a single set to fit on; the rest are tested on.
        folds: number of folds of cross-fitting of a single set, by which all samples are tested on and what is kept is
            fitted on all; 0 for a split, in halves unless there is a share. Default: 5; a split for a share, or for
            more than 5,000,000 logits.
        seed: seed of the split or the folds, and of the bootstrap.
        shrinkage: draws gamma towards 0, for few samples; see FocalTemperatureScaling.
        resamples: number of bootstrap resamples.
        relevant: the smallest relevant gain, as a share of the NLL or of the Brier score.
        keep: the method to keep, one of those tried, or 'as-given'; '' for the recommended one.
        force: continue although the data look wrong (see suspicions), and note it in the report.
        progress: called before each step with its description, the number of steps done and their total.
        holds: arguments of read_logits that describe the data: given, scores, labels, test, label_column, groups,
            slices, weights, class_names, layout, ignore_index, pixels.

    Raises:
        ValueError: invalid data or options; the message gives the remedy.
        TypeError: data of another type.

    Examples:
        >>> random = np.random.default_rng(0)
        >>> logits = random.normal(size=(400, 3))
        >>> labels = (logits + random.gumbel(size=(400, 3))).argmax(1)  # drawn from softmax(logits)
        >>> calibrate((2 * logits, labels), "temperature", resamples=50)
        Report on logits in memory: Use temperature scaling: the NLL falls by 0.129 (12.4%), ...
    """
    check_number(seed, "seed", minimum=0)
    check_number(resamples, "resamples", minimum=1)
    check_number(shrinkage, "shrinkage", minimum=0)
    check_relevant(relevant)
    calibrators = {method: build_with_prior(method) for method in parse(methods)}
    to_keep(keep, calibrators)  # refused before anything is read
    shrunk = [calibrator for calibrator in calibrators.values() if "shrinkage" in calibrator.get_params()]
    for calibrator in shrunk:
        calibrator.set_params(shrinkage=shrinkage)
    if shrinkage and not shrunk:
        raise ValueError(f"shrinkage is for focal-temperature. Got {', '.join(name for name, _ in calibrators)}.")
    check_number(0 if folds is None else folds, "folds", minimum=0)
    if share is not None and folds:
        raise ValueError(f"folds are instead of a share. Got {folds} folds and a share of {share}.")
    given = holds.get("given", "logits")
    asked = methods.strip().lower() if isinstance(methods, str) else methods
    say = _Steps(progress, len(calibrators), folds or 0)
    say("reading")
    sets = {name: group_copies(own) for name, own in read_logits(data, seed=int(seed), **holds).items()}
    one_set = "all" in sets
    if given == "probs":
        sets = _with_floor(sets)
    if any(own.layout == "options" for own in sets.values()):
        calibrators = alike_for_all_columns(calibrators, named=asked not in ("", "all"))
    if share is not None and not one_set:
        raise ValueError(f"a share is for data of one set. Got {share}, and sets for validation and test.")
    if folds and not one_set:
        raise ValueError(f"folds are for data of one set. Got {folds} folds, and sets for validation and test.")
    if folds is None:
        folds = _folds(sets["all"]) if one_set and share is None else 0
    say.folds, share = folds, 0.5 if share is None else share
    with few_threads(sum(len(part) * part.classes for part in sets.values())):
        say.methods = len(calibrators)
        say("checking")
        fitted_on, test = (sets["all"], sets["all"]) if folds else fit_and_test_sets(sets, share, seed)
        notes = []
        if asked in ("", "all"):
            others = not_of(calibrators, len(fitted_on), fitted_on.classes, default=not asked)
            calibrators = {method: own for method, own in calibrators.items() if method not in others}
            if counting := counting_samples(calibrators, fitted_on.weights):
                calibrators = {method: own for method, own in calibrators.items() if method not in counting}
                notes += [f"Left out, as weights are not whole: {', '.join(method.label for method in counting)}."]
        suspicions = find_suspicions(fitted_on, test, given, one_set=one_set)
        if suspicions and not force:
            raise ValueError(f"{' '.join(suspicions)} Nothing was fitted. If it is as it should be: {FORCE}.")
        notes += find_cautions(fitted_on, test, given)
        fitted_on = replace(fitted_on, notes=(*fitted_on.notes, *notes))
        chosen, names = to_keep(keep, calibrators), list(calibrators)
        say.methods = len(names)

        def fitting(method: Method) -> None:
            say(f"fitting {method.label}, {names.index(method) + 1} of {len(names)}")

        if folds:
            evaluation = cross_fit(sets["all"], calibrators, folds=folds, seed=seed, before_fit=fitting)
        else:
            evaluation = hold_out(fitted_on, test, calibrators, before_fit=fitting)
        say("measuring")
        found = differences(evaluation)
        metrics = measure(evaluation, resamples=resamples, seed=seed)
    options: dict[str, Any] = {"given": given, "seed": seed, "shrinkage": shrinkage}
    options |= {"resamples": resamples, "relevant": relevant}
    options |= {"folds": folds} if folds else {"share": share} if one_set else {}
    options |= {name: value for name, value in {"keep": keep, "force": force}.items() if value}
    options |= options_in_words(holds)
    parts = f"{folds} folds" if folds else "parts of one set"
    versions = [f"Python {platform.python_version()}", *(f"{name} {version(name)}" for name in _VERSIONS_OF)]
    from_file = isinstance(data, str | Path)
    return Report(
        evaluation=evaluation,
        metrics=metrics,
        differences=found,
        advice=advise(evaluation, found, relevant=relevant),
        chosen=chosen,
        fitted_on=fitted_on,
        suspicions=tuple(suspicions),
        provenance={
            "input": Path(data).name.encode(errors="replace").decode() if from_file else "logits in memory",
            "read as": given,
            "split": f"{parts} at random, seed {seed}" if one_set else "two sets as given",
            "options": ", ".join(f"{name} {value}" for name, value in options.items()),
            "made": f"{datetime.now(UTC):%Y-%m-%d}",
            "versions": ", ".join(versions),
        },
    )


def _with_floor(sets: Sets) -> Sets:
    """The sets with what fits read a probability of 0 as, found on the one to fit on, and a note on how many."""
    first = next(iter(sets))
    floor, count = floor_of_zeros(sets[first].logits)
    if floor is None:
        return sets
    readers = "the fits, and slope and intercept," if sets[first].is_binary else "the fits"
    note = f"{count:,} of {len(sets[first]):,} samples have a probability of 0, which {readers} read as {floor:.2g}."
    floored = {name: replace(own, floor=floor) for name, own in sets.items()}
    return floored | {first: replace(floored[first], notes=(*floored[first].notes, note))}


def _folds(data: LogitSet) -> int:
    """Folds of a single set by default: as many as its classes and groups bear; 0, a split, where samples abound."""
    if len(data) * data.classes > _CROSS_FITTED:
        return 0
    most = [_FOLDS, int(np.bincount(data.labels).max())]
    most += [] if data.groups is None else [len(np.unique(data.groups))]
    return max(2, min(most))


class _Steps:
    """Counts the steps, and reports each before it begins."""

    def __init__(self, progress: Progress | None, methods: int, folds: int) -> None:
        self.progress, self.methods, self.folds, self.done = progress, methods, folds, 0

    def __call__(self, doing: str) -> None:
        if self.progress is not None:
            self.progress(doing, self.done, 3 + self.methods * (self.folds + 1))
        self.done += 1


@dataclass(frozen=True, repr=False)
class Report:
    """Result of `calibrate`: fits, metrics with intervals, advice; saved as files or shown as a page.

    Attributes:
        evaluation: the fits, and the scores of every test sample.
        metrics: value, interval and kind of interval for each method and metric; in per cent except NLL and Brier.
        differences: for each method, reference and metric; those of proper scores have simultaneous intervals.
        advice: the recommended method, and the reasons.
        chosen: the method named by `keep`; None without.
        fitted_on: the logits and labels used in the fits.
        suspicions: signs of wrong data that `force` passed over.
        provenance: input, options, date and versions.

    Examples:
        >>> random = np.random.default_rng(0)
        >>> logits = random.normal(size=(400, 3))
        >>> labels = (logits + random.gumbel(size=(400, 3))).argmax(1)  # drawn from softmax(logits)
        >>> report = calibrate((2 * logits, labels), "temperature", resamples=50)
        >>> report.kept.label, round(report.calibrator.temperature_, 1)
        ('temperature', 2.1)
    """

    evaluation: Evaluation
    metrics: pd.DataFrame
    differences: pd.DataFrame
    advice: Advice
    chosen: Method | None
    fitted_on: LogitSet
    suspicions: tuple[str, ...]
    provenance: dict[str, str]

    def __repr__(self) -> str:
        return f"Report on {self.provenance['input']}: {self.advice.words}"

    @property
    def fits(self) -> dict[Method, Calibrator]:
        """The fitted calibrators by (method, objective)."""
        return self.evaluation.fits

    @property
    def kept(self) -> Method:
        """The method that `save` keeps: the chosen or the recommended one; AS_GIVEN for unchanged logits."""
        return self.chosen or self.advice.kept

    @property
    def calibrator(self) -> Calibrator:
        """The fit of the kept method, or AsGiven."""
        if self.kept == AS_GIVEN:
            found: Calibrator = AsGiven().fit(self.fitted_on.logits, self.fitted_on.labels)
        else:
            found = self.fits[self.kept]
        found.layout_, found.given_ = self.fitted_on.layout, self.provenance["read as"]
        if self.fitted_on.score_columns:
            found.score_columns_ = np.array(self.fitted_on.score_columns)
        if self.fitted_on.class_names:
            found.class_names_ = np.array(self.fitted_on.class_names)
        return found

    @property
    def notes(self) -> list[str]:
        """Cautions, then a description of the fits."""
        of_fits = [*describe_cautions(self.evaluation), *describe_fits(self.evaluation)]
        return [*self.suspicions, *self.fitted_on.notes, *of_fits]

    @property
    def theory(self) -> list[str]:
        """Which fits are proved optimal, and how the focal calibration map changes these samples."""
        return describe_theory(self.evaluation)

    @cached_property
    def p_values(self) -> dict[Method, float]:
        """p-value of calibration for each compared method; see Evaluation.calibration_p."""
        return {method: self.evaluation.calibration_p(method) for method in self.compared}

    @cached_property
    def summary(self) -> Summary:
        """The data, the result, the advice and its certainty, in sentences."""
        return summarise(self)

    @cached_property
    def decisions(self) -> Decisions:
        """`decide` for the kept method, on the test samples."""
        return decide([(fits.get(self.kept), data) for fits, data in self.evaluation.parts])

    @property
    def kept_in_words(self) -> str:
        """What calibrator.json holds, and whether that was chosen against the advice."""
        asked = self.chosen is not None and self.chosen != self.advice.kept
        begin = "As asked for, not as advised: " if asked else ""
        if self.kept == AS_GIVEN:
            return f"{begin}calibrator.json leaves the logits as they are (T = 1)."
        return f"{begin}calibrator.json holds the fit of {describe_fit(self.kept, self.calibrator)}"

    @cached_property
    def slices(self) -> pd.DataFrame | None:
        """`by_slice` for the kept method; None without slices."""
        return by_slice(self.evaluation, self.kept) if self.evaluation.slices else None

    @property
    def intervals(self) -> int:
        """Number of the differences' intervals, which hold together."""
        return int((self.differences["interval"] != "").sum())

    # functions of a Report, each with its rendering
    reliability_diagrams = figures.reliability_diagrams
    reliability_caption = figures.reliability_caption
    reliability_alt = figures.reliability_alt
    landscape = figures.landscape
    landscape_caption = figures.landscape_caption
    to_json = report_as_json
    to_model_card = model_card

    def slice_table(self) -> pd.DataFrame | None:
        """The first 20 slices, formatted; None without slices."""
        return None if self.slices is None else slice_table(self.slices)

    def metric_table(self) -> pd.DataFrame:
        """The metrics, formatted as 'value [low, high]', one row for each method."""
        return metric_table(self.metrics)

    def difference_table(self) -> pd.DataFrame:
        """The differences, formatted as 'difference [low, high]', with * if significant."""
        return difference_table(self.differences)

    @property
    def compared(self) -> tuple[Method, ...]:
        """AS_GIVEN and, if a method is kept, the first method (its reference) and itself."""
        simplest = () if self.kept == AS_GIVEN else (next(iter(self.fits)),)
        return tuple(dict.fromkeys((AS_GIVEN, *simplest, self.kept)))

    def to_html(self, *, whole: bool = True) -> str:
        """The report as one self-contained HTML page, or only the content of its body."""
        from focal_lib.tool.report.page import render

        with few_threads(len(self.fitted_on) * self.fitted_on.classes):
            return render(self, whole=whole)

    def _repr_html_(self) -> str:
        return self.to_html(whole=False)

    def save(self, folder: str | Path, also: Mapping[Path, Writer] | None = None) -> None:
        """Write calibrator.json, metrics.csv and report.html into the folder: either all of them or none.

        Args:
            also: further files to write with them, each with its writer.

        Raises:
            OSError: the folder cannot be created or written to.
        """
        page = self.to_html()
        writers: tuple[Writer, ...] = (
            lambda part: save_calibrator(self.calibrator, part),
            lambda part: self.metrics.to_csv(part, index=False),
            lambda part: part.write_text(page, encoding="utf-8"),
        )
        write_together(Path(folder), dict(zip(FILES, writers, strict=True)), also)
