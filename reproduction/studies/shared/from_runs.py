"""Evidence that is measured on recorded training runs.

Where the runs are missing these functions raise FileNotFoundError, which `claim(needs=...)` turns into a reason.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from focal_lib.metrics.by_name import METRICS
from focal_lib.metrics.intervals import Interval, paired_t_interval, t_interval, t_interval_if_any
from reproduction.engine.contrasts import Contrast, Setting
from reproduction.engine.store import Logits, Result
from reproduction.ledger.measurement import Measurement
from reproduction.studies.shared import miscalibration
from reproduction.studies.shared.miscalibration import eces_if_calibrated
from reproduction.studies.shared.over_seeds import ONE_TEST_SET, say_over, say_seeds
from reproduction.studies.shared.printed_effects import PrintedEffect
from reproduction.studies.shared.recorded import (
    BOOK,
    load_recorded,
    load_whole_seeds,
    read_planned,
    read_scalings,
    read_whole_seeds,
    read_written,
)
from reproduction.studies.shared.two_way import BySeed, kept_images
from reproduction.studies.shared.written_contrasts import (
    ECES,
    are_apart,
    compare_eces,
    difference_by_seed,
    evaluate_contrasts,
    interval_of,
    paired_by_seed,
)

COMPENSATION = 0.1  # relative distance from the map's temperature that still counts as it
BOOK_RUNS = f"results/{BOOK}"  # the runs of the book's grid
M20_FIGURES = "m20-figures"  # the grid of M20's own networks, data and epochs
SIZE = "Fashion-MNIST, 2,000 training images, small CNN, 100 epochs"  # of the book's grid, for statements
LONG = "cifar10-long-fresh"  # networks in the regime of M20's
LONG_SIZE = (
    "AirBench CNN, 45,000 images of CIFAR-10, M20's steps in 100 epochs, the learning rate drops after 43 and 71"
)
CIFAR_SIZE = "CIFAR-10, 4,000 training images, ResNet-8, 30 epochs"  # of the networks under shift, for statements


def results() -> tuple[Result, ...]:
    """The runs of the book's grid, as recorded."""
    return load_recorded(BOOK)


def long_results() -> tuple[Result, ...]:
    """Networks of cross-entropy and gamma = 3, trained until they are as overconfident as M20's."""
    return load_recorded(LONG)


def with_gamma(runs: Iterable[Result], gamma: float) -> list[Result]:
    """Those trained with focal loss of this gamma, with 0 cross-entropy, in seed order; other losses have none."""
    return sorted((r for r in runs if r.spec.is_focal and r.spec.gamma == gamma), key=lambda r: r.spec.seed)


def classes() -> int:
    """How many classes the networks of the default grid tell apart."""
    return int(results()[0].test.logits.shape[-1])


@functools.cache
def gaps() -> pd.DataFrame:
    """Confidence gaps of the default grid."""
    return miscalibration.confidence_gaps(results())


@functools.cache
def temperatures() -> pd.DataFrame:
    """Validation temperatures of the default grid."""
    return miscalibration.validation_temperatures(results())


@functools.cache
def comparison(**which: str) -> pd.DataFrame:
    """Temperature against focal temperature scaling on the default grid; `which`: a method, objective or search."""
    table = read_scalings()
    return table[(table[list(which)] == pd.Series(which)).all(axis="columns")]


def values_by_seed(frame: pd.DataFrame, column: str, **where: Any) -> np.ndarray:
    """A column of the rows where other columns have these values, one number a seed, in seed order.

    Raises:
        ValueError: not exactly one such row a seed.
    """
    kept = frame[(frame[list(where)] == pd.Series(where)).all(axis="columns")]
    if kept.empty or kept["seed"].duplicated().any():
        raise ValueError(f"rows must be one a seed. Got {len(kept)} of {kept['seed'].nunique()} seeds for {where}.")
    return kept.sort_values("seed")[column].to_numpy()


def focal_gammas(frame: pd.DataFrame) -> list[float]:
    """The gammas of training above 0."""
    return sorted(g for g in frame["gamma"].unique() if g > 0)


def over_seeds(values: Any) -> str:
    """'4 seeds', for an interval over values one a seed."""
    return say_seeds(len(values))


def on_one_test_set(found: Measurement) -> Measurement:
    """The same, saying that its interval is over seeds alone, all asked about the same test samples."""
    return found if ONE_TEST_SET in found.over else replace(found, over=f"{found.over} {ONE_TEST_SET}")


def say_sign(sign: int) -> str:
    return "positive" if sign > 0 else "negative"


def on_test_images(runs: Iterable[Result], quantity: Callable[[Result], float]) -> BySeed:
    """What a run gives by its test logits, of each run; over test images, too, as `two_way` says.

    Args:
        runs: one a seed, with the same test images.

    Raises:
        ValueError: their test labels differ.
    """
    every = sorted(runs, key=lambda run: run.spec.seed)
    labels = every[0].test.labels
    if others := sum(not np.array_equal(run.test.labels, labels) for run in every):
        raise ValueError(f"runs must be tested on the same images. Got {others} of {len(every)} with other labels.")
    parts = kept_images(len(labels))
    values = [[quantity(replace(r, test=Logits(r.test.logits[k], r.test.labels[k]))) for k in parts] for r in every]
    return BySeed(tuple(run.spec.seed for run in every), np.array(values), len(labels))


def signed_by_seed(quantity: str, printed: str, values: Any, sign: int, said: str = "printed") -> Measurement:
    """The mean of values, `BySeed` or an array with one a seed, against the sign claimed."""
    if isinstance(values, BySeed):
        interval, over = values.interval(), say_over(values)
    else:
        interval, over = t_interval(values), over_seeds(values)
    return replace(Measurement.signed(quantity, printed, interval, sign, over), said=said)


def signed_if_any(quantity: str, printed: str, values: Any, sign: int) -> Measurement:
    """As `signed_by_seed`; of one seed, which has no interval and decides nothing, the value."""
    return Measurement.signed(quantity, printed, t_interval_if_any(values), sign, over_seeds(values))


def contrast_by_seed(
    quantity: str, table: pd.DataFrame, contrast: Contrast, said: str = "printed", sign: int | None = None
) -> Measurement:
    """A contrast that was written down, against the sign claimed, its own by default; of one seed without an interval.

    A remark has `other_eces`.

    Raises:
        ValueError: as `paired_by_seed`.
    """
    sign = contrast.claimed if sign is None else sign
    found = paired_by_seed(table, contrast.metric, contrast.ours, contrast.theirs)
    interval, over = interval_of(found, contrast.metric), say_over(found, contrast.metric)
    measured = Measurement.signed(quantity, say_sign(sign), interval, sign, over)
    return replace(measured, said=said, remark=other_eces(table, contrast))


def measure_among(
    quantity: str, table: pd.DataFrame, contrast: Contrast, family: Sequence[Contrast], said: str = "printed"
) -> Measurement:
    """`contrast_by_seed` as one of a family: its interval excludes 0 just where Holm's correction finds it significant.

    That is the interval whose chance to miss is that of the contrast's own, times its p value over the corrected one.

    Raises:
        ValueError: the contrast is not of the family; as `paired_by_seed`.
    """
    if contrast not in family:
        raise ValueError(f"the contrast must be of the family. Got {contrast.name!r} and {len(family)} others.")
    alone = contrast_by_seed(quantity, table, contrast, said)
    if alone.interval is None or not alone.interval.kind:
        return alone
    row = evaluate_contrasts(table, family).iloc[list(family).index(contrast)]
    if not row["p_adjusted"] > row["p"]:
        return alone
    level = 1 - (1 - alone.interval.level) * row["p"] / row["p_adjusted"]
    corrected = f"p = {row['p']:.2g}, {row['p_adjusted']:.2g} by Holm"
    return with_remark(replace(alone, interval=alone.interval.at(float(level))), corrected)


def paired(quantity: str, printed: str, first: Any, second: Any, sign: int, said: str = "printed") -> Measurement:
    """The mean of first - second, each `BySeed` or an array with one number a seed, against the sign claimed."""
    if isinstance(first, BySeed):
        return signed_by_seed(quantity, printed, first - second, sign, said)
    found = Measurement.signed(quantity, printed, paired_t_interval(first, second), sign, over_seeds(first))
    return replace(found, said=said)


def name_metric(metric: str) -> str:
    """'adaptive-ece (equal mass, %)': a metric's name with its bins and unit; 'adaptive-ece-change' as it is."""
    kind = METRICS.get(metric)
    details = [kind.bins, "%" if kind.per_cent else ""] if kind else []
    return f"{metric} ({', '.join(filter(None, details))})" if any(details) else metric


def difference(
    name: str,
    metric: str,
    ours: Setting,
    theirs: Setting,
    printed: PrintedEffect,
    said: str = "printed",
    *,
    by_chance: bool = False,
) -> Measurement:
    """A metric of recorded runs, one setting minus another, paired over seeds, against the effect claimed.

    Args:
        by_chance: whether a remark tells the difference that calibrated networks would have; of an ECE.
    """
    spec = read_planned(name)[0]
    where = f"{spec.dataset}, {spec.model}, {spec.n_train:,} images"
    quantity = f"{name_metric(metric)} of {ours}, minus {theirs} [{where}]"
    compared = Contrast("", "", metric, ours, theirs, printed.sign)
    found = replace(measure_contrast(name, compared, quantity, printed), said=said)
    chance = _by_chance(name, compared) if by_chance and not math.isnan(found.measured) else ""
    return with_remark(found, chance)


def measure_contrast(name: str, contrast: Contrast, quantity: str, printed: PrintedEffect) -> Measurement:
    """A contrast of recorded runs against the effect claimed, UNDECIDED as long as seeds that are planned are missing.

    A remark names the ECEs of another sign, or whose interval holds 0 where this one does not or the reverse, and says
    if the contrast was not written down before the runs.
    """
    table, planned = read_whole_seeds(name), len(_planned_seeds(name, contrast))
    seeds = (set(table.loc[table["loss"] == loss, "seed"]) for loss in contrast.losses)
    if set.intersection(*seeds):
        differences = paired_by_seed(table, contrast.metric, contrast.ours, contrast.theirs)
        remark = other_eces(table, contrast)
    else:
        differences, remark = _OF_NO_SEED, ""
    unwritten = "" if _is_written(name, contrast) else "Not among what was written down before the runs"
    found = _of_planned(quantity, printed, differences, contrast.metric, planned)
    return replace(found, remark=_join(remark, unwritten))


def measure_change(first: str, second: str, contrast: Contrast, quantity: str, printed: PrintedEffect) -> Measurement:
    """A contrast of the recorded runs `first` minus the same of `second`, paired by seed, against the effect claimed.

    Also UNDECIDED as long as seeds are missing that both are planned with.

    Args:
        first, second: folders of results/, of the same losses and some seeds in common, that differ in something else.

    Raises:
        ValueError: no seed that both are planned with.
    """
    planned = set.intersection(*(_planned_seeds(name, contrast) for name in (first, second)))
    if not planned:
        raise ValueError(f"{first} and {second} must be planned with a seed in common. Got none.")
    tables = [read_whole_seeds(name) for name in (first, second)]

    def changed(metric: str) -> BySeed:
        one, two = (paired_by_seed(table, metric, contrast.ours, contrast.theirs) for table in tables)
        return one - two

    found = _of_planned(quantity, printed, changed(contrast.metric), contrast.metric, len(planned))
    if contrast.metric not in ECES:
        return found
    intervals = {ece: _interval_if_any(changed(ece), ece) for ece in ECES}
    by_ece = pd.DataFrame([(ece, i.estimate, i.low, i.high) for ece, i in intervals.items()], columns=_SHOWN)
    return replace(found, remark=_say_apart(by_ece[are_apart(by_ece, contrast.metric)]))


def _of_planned(quantity: str, printed: PrintedEffect, values: BySeed, metric: str, planned: int) -> Measurement:
    """A metric's differences against the effect claimed; not complete as long as planned seeds are missing."""
    interval, over = _interval_if_any(values, metric), say_over(values, metric, planned)
    found = Measurement.signed(quantity, printed.text, interval, printed.sign, over, printed.size)
    return replace(found, complete=len(values.seeds) >= planned)


def _interval_if_any(values: BySeed, metric: str) -> Interval:
    return interval_of(values, metric) if values.seeds else Interval(np.nan, np.nan, np.nan)


def with_remark(found: Measurement, remark: str) -> Measurement:
    """With this after what is remarked already."""
    return replace(found, remark=_join(found.remark, remark))


def _join(*remarks: str) -> str:
    return ". ".join(filter(None, remarks))


def _is_written(name: str, contrast: Contrast) -> bool:
    """Whether the grid file has that contrast, whatever sign it claims."""
    own = (contrast.metric, contrast.ours, contrast.theirs)
    return any((c.metric, c.ours, c.theirs) == own for c in read_written(name))


def _planned_seeds(name: str, contrast: Contrast) -> set[int]:
    """The seeds that all losses of a contrast are planned with.

    Raises:
        ValueError: none.
    """
    planned = read_planned(name)
    seeds = set.intersection(*({s.seed for s in planned if s.label == loss} for loss in contrast.losses))
    if not seeds:
        raise ValueError(f"workflow/grids/{name}.yaml must plan a seed of all of {', '.join(sorted(contrast.losses))}.")
    return seeds


def other_eces(table: pd.DataFrame, contrast: Contrast) -> str:
    """'By another ECE it is otherwise: ...', of those ECEs that the table has; '' where it is not.

    Of 'ece-change' or 'ece elsewhere' it is the same of another ECE; of another metric ''.
    """
    own = next((ece for ece in ECES if contrast.metric.startswith(ece)), contrast.metric)
    ending = contrast.metric.removeprefix(own)
    eces = [f"{ece}{ending}" for ece in ECES]
    compared = compare_eces(table, [contrast], [ece for ece in eces if (table["metric"] == ece).any()])
    return _say_apart(compared[compared["apart"].astype(bool)])


def _say_apart(apart: pd.DataFrame) -> str:
    said = [f"{name_metric(m)} {d:+.3g} [{low:.3g}, {high:.3g}]" for m, d, low, high in apart[_SHOWN].to_numpy()]
    return f"By another ECE it is otherwise: {'; '.join(said)}" if said else ""


def _by_chance(name: str, contrast: Contrast) -> str:
    table = read_whole_seeds(name)
    fits = [(setting.method, setting.objective) for setting in (contrast.ours, contrast.theirs)]
    fitted = table[["method", "objective"]].apply(tuple, axis="columns").isin(fits)
    of_both = table[fitted & table["loss"].isin(contrast.losses) & (table["metric"] == contrast.metric)]
    expected = eces_if_calibrated(load_whole_seeds(name), of_both)
    by_chance = difference_by_seed(expected, contrast.metric, contrast.ours, contrast.theirs).mean()
    return f"Calibrated networks with the same confidences would differ by {by_chance:+.3g}, by chance alone"


_SHOWN = ["metric", "difference", "low", "high"]
_OF_NO_SEED = BySeed((), np.array([]))
