"""`calibrate`: logits with labels in, calibrators and a report on them out."""

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
from matplotlib.figure import Figure

from focal_lib.atomic_write import Writer, write_together
from focal_lib.calibration.calibrators.as_given import AsGiven
from focal_lib.calibration.calibrators.base import Calibrator
from focal_lib.calibration.logit_sets import LogitSet, fit_and_test_sets
from focal_lib.calibration.methods import (
    AS_GIVEN,
    ECE_NUMBERS,
    Method,
    alike_for_all_columns,
    build,
    counting_samples,
    parse,
    to_keep,
)
from focal_lib.calibration.saved import save_calibrator
from focal_lib.threads import few_threads
from focal_lib.tool.evaluation.comparison import Evaluation, cross_fit, differences, hold_out, measure
from focal_lib.tool.evaluation.recommendation import RELEVANT, Advice, advise, check_relevant
from focal_lib.tool.evaluation.slices import by_slice, slice_table
from focal_lib.tool.evaluation.suspicions import find_cautions, find_suspicions
from focal_lib.tool.inputs.logits_file import Holds, options_in_words, read_logits
from focal_lib.tool.report import figures
from focal_lib.tool.report import page as report_page
from focal_lib.tool.report.as_json import report_as_json
from focal_lib.tool.report.decisions import Decisions, decide
from focal_lib.tool.report.fit_notes import (
    calibration_p,
    describe_cautions,
    describe_fit,
    describe_fits,
    describe_theory,
)
from focal_lib.tool.report.model_card import model_card
from focal_lib.tool.report.summary import Summary, summarise
from focal_lib.tool.report.tables import difference_table, metric_table
from focal_lib.validation import check_number

FILES = ("calibrator.json", "metrics.parquet", "report.html")
FORCE = "--force (force=True)"
Progress = Callable[[str, int, int], Any]  # what is being done; how many steps are, of how many
_VERSIONS_OF = ("focal-lib", "numpy", "scipy", "scikit-learn", "torch")


def calibrate(
    data: Any,
    methods: str | Iterable[str | tuple[str, str]] = "",
    *,
    share: float | None = None,
    folds: int = 0,
    seed: int = 0,
    shrinkage: float = 0.0,
    resamples: int = 1000,
    relevant: float = RELEVANT,
    keep: str = "",
    force: bool = False,
    progress: Progress | None = None,
    **holds: Unpack[Holds],
) -> Report:
    """Fit calibration methods, measure them on samples they have not seen, and say which to use.

    Args:
        data: path of an npz, npy, csv or parquet file, which is read once; (scores, labels), arrays or tensors, (n, K)
            and (n,), say; two such pairs, for validation and test; or what read_logits gave.
        methods: names such as 'temperature,vector' or 'focal-temperature:adaptive-ece', after the colon what is
            minimised, in a string or a list; 'all'; default temperature, focal temperature by NLL and (of up to
            5,000,000 logits to fit on) by ECE, vector.
        share: of the samples, to fit on, where there is one set; None for half of them.
        folds: number of folds of cross-fitting, in place of the split, where there is one set; 0 for the split.
        seed: of the split or the folds, and of the intervals.
        shrinkage: draws gamma towards 0, see FocalTemperatureScaling; for few samples.
        resamples: number of resamples of the bootstrap.
        relevant: the smallest gain that matters, a share of the NLL or of the Brier score.
        keep: the method to keep, of those tried, or 'as-given'; '' for the one that is advised.
        force: go on where the data look wrong, see suspicions; they are then among the notes.
        progress: called before each step with what it does, the steps done, and how many there are.
        holds: what the data hold: given, labels, test, label_column, groups, slices, weights, class_names, layout,
            ignore_index, pixels, as for read_logits.

    Raises:
        ValueError: data or options that are not as they should be; the message says what helps.
        TypeError: data of another kind.
    """
    check_number(seed, "seed", minimum=0)
    check_number(resamples, "resamples", minimum=1)
    check_number(shrinkage, "shrinkage", minimum=0)
    check_relevant(relevant)
    calibrators = {method: build(*method) for method in parse(methods)}
    to_keep(keep, calibrators)  # refused before anything is read
    shrunk = [calibrator for calibrator in calibrators.values() if "shrinkage" in calibrator.get_params()]
    for calibrator in shrunk:
        calibrator.set_params(shrinkage=shrinkage)
    from_file = isinstance(data, str | Path)
    if shrinkage and not shrunk:
        raise ValueError(f"shrinkage is for focal-temperature. Got {', '.join(name for name, _ in calibrators)}.")
    if share is not None and folds:
        raise ValueError(f"folds are instead of a share. Got {folds} folds and a share of {share}.")
    given = holds.get("given", "logits")
    say = _Steps(progress, 3 + len(calibrators) * (folds + 1))
    say("reading")
    sets = read_logits(data, seed=int(seed), **holds)
    by_default = not (methods.strip() if isinstance(methods, str) else methods)
    named = not isinstance(methods, str) or methods.strip().lower() not in ("", "all")
    if any(own.layout == "options" for own in sets.values()):
        calibrators = alike_for_all_columns(calibrators, named=named)
    if share is not None and "all" not in sets:
        raise ValueError(f"a share is for data of one set. Got {share}, and sets for validation and test.")
    share = 0.5 if share is None else share
    if folds and "all" not in sets:
        raise ValueError(f"folds are for data of one set. Got {folds} folds, and sets for validation and test.")
    with few_threads(sum(len(part) * part.classes for part in sets.values())):
        say("checking")
        fitted_on, test = (sets["all"], sets["all"]) if folds else fit_and_test_sets(sets, share, seed)
        if not named and (left_out := counting_samples(calibrators, fitted_on.weights)):
            calibrators = {method: own for method, own in calibrators.items() if method not in left_out}
            say.total -= len(left_out) * (folds + 1)
            words = f"Left out, as weights are not whole: {', '.join(method.label for method in left_out)}."
            fitted_on = replace(fitted_on, notes=(*fitted_on.notes, words))
        numbers = len(fitted_on) * fitted_on.classes
        searched = [method for method in calibrators if method.objective in ("ece", "adaptive-ece")]
        if by_default and numbers > ECE_NUMBERS and searched:
            calibrators = {method: own for method, own in calibrators.items() if method not in searched}
            say.total -= len(searched) * (folds + 1)
            names_of = ",".join(f"{method.name}:{method.objective}" for method in searched)
            words = (
                f"Left out, as it takes long with {numbers:,} logits to fit on: {names_of}. Name it, to have it fitted."
            )
            fitted_on = replace(fitted_on, notes=(*fitted_on.notes, words))
        suspicions = find_suspicions(fitted_on, test, given, one_set="all" in sets)
        if suspicions and not force:
            raise ValueError(f"{' '.join(suspicions)} Nothing was fitted. If it is as it should be: {FORCE}.")
        if cautions := find_cautions(fitted_on, test, given):
            fitted_on = replace(fitted_on, notes=(*fitted_on.notes, *cautions))
        names, chosen = list(calibrators), to_keep(keep, calibrators)

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
    options |= {"folds": folds} if folds else {"share": share} if "all" in sets else {}
    options |= {"keep": keep} if keep else {}
    options |= {"force": force} if force else {}
    options |= options_in_words(holds)
    by_folds = f"{folds} folds at random, seed {seed}"
    parted = f"parts of one set at random, seed {seed}" if "all" in sets else "two sets as given"
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
            "split": by_folds if folds else parted,
            "options": ", ".join(f"{name} {value}" for name, value in options.items()),
            "made": f"{datetime.now(UTC):%Y-%m-%d}",
            "versions": ", ".join(
                [f"Python {platform.python_version()}", *(f"{n} {version(n)}" for n in _VERSIONS_OF)]
            ),
        },
    )


class _Steps:
    """Counts the steps, and tells of each before it begins."""

    def __init__(self, progress: Progress | None, total: int) -> None:
        self.progress, self.done, self.total = progress, 0, total

    def __call__(self, doing: str) -> None:
        if self.progress is not None:
            self.progress(doing, self.done, self.total)
        self.done += 1


@dataclass(frozen=True, repr=False)
class Report:
    """What `calibrate` found.

    Attributes:
        evaluation: the fits, and scores of every sample tested on.
        metrics: for each method and metric the value, its interval and how it was made; per cent but NLL and Brier.
        differences: for each method, reference and metric, of proper scores with intervals that hold together.
        advice: the method to use, and why.
        chosen: the method that was asked for, whatever the advice; None where none was.
        fitted_on: the logits and labels that were fitted on.
        suspicions: what looked wrong, where it was gone on all the same.
        provenance: input, options, date and versions.
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
        """The method that `save` keeps, the one asked for, or the recommended; AS_GIVEN where the logits stay."""
        return self.chosen or self.advice.kept

    @property
    def calibrator(self) -> Calibrator:
        """The fit of the method that is kept, or the logits as they are."""
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
        """What to know before the advice is followed, and what was fitted."""
        of_fits = [*describe_cautions(self.evaluation), *describe_fits(self.evaluation)]
        return [*self.suspicions, *self.fitted_on.notes, *of_fits]

    @property
    def theory(self) -> list[str]:
        """Which fits are proved to be optimal, and what the focal calibration map does to these samples."""
        return describe_theory(self.evaluation)

    @cached_property
    def p_values(self) -> dict[Method, float]:
        """Of the hypothesis that it is calibrated, for each of those compared; see calibration_p."""
        return {method: calibration_p(self.evaluation, method) for method in self.compared}

    @cached_property
    def summary(self) -> Summary:
        """What was given, what was found, what to do, and how sure that is."""
        return summarise(self)

    @cached_property
    def decisions(self) -> Decisions:
        """When to answer, and which classes to mistrust, with what is kept, on the samples tested on."""
        return decide([(fits.get(self.kept), data) for fits, data in self.evaluation.parts])

    @property
    def kept_in_words(self) -> str:
        """What calibrator.json holds; where it is not what is advised, that it was asked for."""
        asked = self.chosen is not None and self.chosen != self.advice.kept
        begin = "As asked for, not as advised: " if asked else ""
        if self.kept == AS_GIVEN:
            return f"{begin}calibrator.json leaves the logits as they are (T = 1)."
        return f"{begin}calibrator.json holds the fit of {describe_fit(self.kept, self.calibrator)}"

    @cached_property
    def slices(self) -> pd.DataFrame | None:
        """With what is kept, errors of the whole and slice by slice; None where none were given."""
        return by_slice(self.evaluation, self.kept) if self.evaluation.slices else None

    def slice_table(self) -> pd.DataFrame | None:
        """The slices to read, the first 20; None where none were given."""
        return None if self.slices is None else slice_table(self.slices)

    def metric_table(self) -> pd.DataFrame:
        """The metrics to read: 'value [low, high]', one row for each method."""
        return metric_table(self.metrics)

    def difference_table(self) -> pd.DataFrame:
        """The differences to read: 'difference [low, high]', with * where it is significant."""
        return difference_table(self.differences)

    @property
    def compared(self) -> tuple[Method, ...]:
        """AS_GIVEN; of a method that is kept also the first, which advice compares it with, and itself."""
        simplest = () if self.kept == AS_GIVEN else (next(iter(self.fits)),)
        return tuple(dict.fromkeys((AS_GIVEN, *simplest, self.kept)))

    def reliability_diagrams(self, methods: Iterable[Method] | None = None) -> Figure:
        """Of those compared: as given, after the first method, after the one that is kept; or of the methods."""
        return figures.reliability_figure(self.evaluation, tuple(self.compared if methods is None else methods))

    def reliability_caption(self) -> str:
        return figures.reliability_caption(self.compared)

    def reliability_alt(self, method: Method) -> str:
        """What the diagram of the method shows, for who does not see it."""
        return figures.reliability_alt(self.evaluation, method)

    def landscape(self) -> Figure:
        """Adaptive ECE (equal mass) over gamma and temperature, on the samples fitted on."""
        return figures.landscape_figure(self.evaluation, self.fitted_on)

    def landscape_caption(self) -> str:
        return figures.landscape_caption(self.evaluation, self.fitted_on)

    def to_json(self) -> str:
        """All of it as one object of strict JSON: numbers, intervals, advice, decisions, where it comes from."""
        return report_as_json(self, self.decisions)

    def to_model_card(self) -> str:
        """A section on calibration for a model card, in Markdown."""
        return model_card(self, self.decisions)

    def to_html(self) -> str:
        """One page that opens without a network."""
        return self._page(whole=True)

    def _repr_html_(self) -> str:
        return self._page(whole=False)

    def _page(self, *, whole: bool) -> str:
        with few_threads(len(self.fitted_on) * self.fitted_on.classes):
            return report_page.render(self, whole=whole)

    def save(self, folder: str | Path, also: Mapping[Path, Writer] | None = None) -> None:
        """Write calibrator.json, metrics.parquet and report.html into the folder: all of them, or nothing is changed.

        Args:
            also: files that belong to them, and what writes each.

        Raises:
            OSError: the folder cannot be made or written to.
        """
        page = self.to_html()
        writers: tuple[Writer, ...] = (
            lambda part: save_calibrator(self.calibrator, part),
            lambda part: part.write_bytes(self.metrics.to_parquet()),
            lambda part: part.write_text(page, encoding="utf-8"),
        )
        write_together(Path(folder), dict(zip(FILES, writers, strict=True)), also)
