"""The test of the law: predictions made from cross-entropy runs against the focal runs of results/law."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from focal_lib.metrics.intervals import Interval, t_interval
from reproduction.checkout import ROOT
from reproduction.studies.law.plan import CELLS, GAMMAS, SEEDS, SURE

RECORD = "law"
CELL = ["dataset", "model", "n_train", "epochs"]
_REVIEWS = ("movie-reviews", "film-snippets-2", "film-snippets-3")  # the same sentences, with labels of three kinds
ALWAYS = 3.0  # gamma of a rival


@functools.cache
def read_law() -> pd.DataFrame:
    """Rows of `judge_runs` for the record. Raises FileNotFoundError where it is not there."""
    return judge_runs(pd.read_parquet(ROOT / "results" / RECORD / "table.parquet"))


def judge_runs(record: pd.DataFrame) -> pd.DataFrame:
    """A row for each focal run of a record, see `measure_cell`, with its cross-entropy run; all in points.

    own: overconfidence (mean confidence minus accuracy) on test; cross_entropy: that of cross-entropy, G;
    added: D; change: ECE minus cross-entropy's; for each prediction, from validation samples of the cross-entropy run
    alone: plain_own and plain_change, sharper_own and sharper_change.
    """
    by = [*CELL, "seed"]
    first = record[record["gamma"] == 0].set_index(by)
    focal = record[record["gamma"] > 0].reset_index(drop=True)
    base = first.loc[pd.MultiIndex.from_frame(focal[by])].reset_index(drop=True)
    found = focal[[*by, "gamma", "added", "test_ece", "validation_ece"]].copy()
    found["own"] = focal["test_confidence"] + focal["test_error"] - 100
    found["cross_entropy"] = base["test_confidence"] + base["test_error"] - 100
    found["cross_entropy_ece"] = base["test_ece"]
    found["cross_entropy_validation_ece"] = base["validation_ece"]
    found["cross_entropy_validation_confidence"] = base["validation_confidence"]
    found["cross_entropy_validation"] = base["validation_confidence"] + base["validation_error"] - 100
    found["validation_n"] = base["validation_n"]
    found["error"] = focal["test_error"]
    found["temperature_ece"] = base["temperature_ece"]
    found["change"] = focal["test_ece"] - base["test_ece"]
    for name in ("plain", "sharper"):
        found[f"{name}_own"] = focal[f"{name}_confidence"] + base["validation_error"] - 100
        found[f"{name}_change"] = focal[f"{name}_ece"] - base["validation_ece"]
        found[f"{name}_ece"] = focal[f"{name}_ece"]
        found[f"{name}_confidence"] = focal[f"{name}_confidence"]
    return found


def over_cells(runs: pd.DataFrame, value: Callable[[pd.DataFrame], pd.Series] | str) -> Interval:
    """Mean over cells of a cell's mean of a value, with Student's t interval over cells: seeds of one are no others."""
    return t_interval(_by_source(runs, value).to_numpy())


def sources(runs: pd.DataFrame) -> pd.Series:
    """Where the samples of each row come from: its data set, of all film reviews one."""
    return runs["dataset"].where(~runs["dataset"].isin(_REVIEWS), "film reviews").rename("source")


def over_data_sets(runs: pd.DataFrame, value: Callable[[pd.DataFrame], pd.Series] | str) -> Interval:
    """The same mean, with the jackknife over `sources`: cells of one share test samples, and are alike."""
    cells = _by_source(runs, value)
    whole = float(cells.mean())
    found = _jackknife([own for _, own in cells.groupby("source")], lambda parts: float(pd.concat(parts).mean()))
    moved = whole - found.estimate
    return replace(found, estimate=whole, low=found.low + moved, high=found.high + moved)


def each_source_alike(runs: pd.DataFrame, value: Callable[[pd.DataFrame], pd.Series] | str) -> Interval:
    """The mean of the means of `sources`, so that one with many cells counts no more, with Student's t interval."""
    return t_interval(_by_source(runs, value).groupby("source").mean().to_numpy())


def _by_source(runs: pd.DataFrame, value: Callable[[pd.DataFrame], pd.Series] | str) -> pd.Series:
    """A cell's mean of a value, by source and cell."""
    values = runs[value] if isinstance(value, str) else value(runs)
    return values.groupby([sources(runs), *(runs[name] for name in CELL)]).mean()


def sign_predicted(runs: pd.DataFrame) -> pd.Series:
    """Whether the change of ECE has the predicted sign, of runs with a predicted change of at least SURE; else nan."""
    predicted = runs["sharper_change"]
    right = (np.sign(predicted) == np.sign(runs["change"])).astype(float)
    return right.where(predicted.abs() >= SURE)


def below_twice(runs: pd.DataFrame) -> pd.Series:
    """Whether ECE falls exactly if D < 2 G."""
    return ((runs["added"] < 2 * runs["cross_entropy"]) == (runs["change"] < 0)).astype(float)


def slope(runs: pd.DataFrame, by: list[str] | pd.Series = CELL, *, of_change: bool = False) -> Interval:
    """Slope of the true overconfidence on the predicted one, with the jackknife over cells, or other groups of runs.

    of_change: of both minus cross-entropy's, which is a part of each and alone would make a slope near 1.
    """
    if of_change:
        predicted, own = runs["sharper_own"] - runs["cross_entropy_validation"], runs["own"] - runs["cross_entropy"]
        runs = runs.assign(sharper_own=predicted, own=own)

    def of(parts: Sequence[pd.DataFrame]) -> float:
        joined = pd.concat(parts)
        return float(np.polyfit(joined["sharper_own"], joined["own"], 1)[0])

    return _jackknife([part for _, part in runs.groupby(by)], of)


def _jackknife(parts: list[Any], of: Callable[[Sequence[Any]], float]) -> Interval:
    """Student's t interval of the pseudo-values that leaving out each part gives."""
    whole, n = of(parts), len(parts)
    return t_interval([n * whole - (n - 1) * of(parts[:i] + parts[i + 1 :]) for i in range(n)])


def forecasts(runs: pd.DataFrame) -> pd.DataFrame:
    """Name -> overconfidence forecast for each run, in points: the law's, and rivals that know less.

    'as cross-entropy': nothing changes; 'the usual drop': what this gamma takes away in the other cells, on average.
    """
    before = runs["cross_entropy_validation"]
    drop = runs["own"] - before
    cell = runs.groupby(CELL).ngroup()
    usual = [drop[(cell != c) & (runs["gamma"] == g)].mean() for c, g in zip(cell, runs["gamma"], strict=True)]
    return pd.DataFrame(
        {
            "as cross-entropy": before,
            "the map alone": runs["plain_own"],
            "the usual drop of this gamma": before + usual,
            "the map, sharpened": runs["sharper_own"],
        }
    )


def choices(runs: pd.DataFrame) -> pd.DataFrame:
    """A row for each cell and seed: test ECE of the networks that four rules choose, and the gamma of the law.

    law: least predicted ECE, cross-entropy (gamma 0) among them; always: gamma 3; all: least ECE on validation after
    training with every gamma; temperature: cross-entropy after a temperature.
    """
    rows = []
    for key, part in runs.groupby([*CELL, "seed"]):
        test = dict(zip(part["gamma"], part["test_ece"], strict=True)) | {0.0: part["cross_entropy_ece"].iloc[0]}
        own = part["cross_entropy_validation_ece"].iloc[0]
        by_law = {0.0: own} | dict(zip(part["gamma"], part["sharper_ece"], strict=True))
        by_all = {0.0: own} | dict(zip(part["gamma"], part["validation_ece"], strict=True))
        law, best = min(by_law, key=by_law.__getitem__), min(by_all, key=by_all.__getitem__)
        rows.append(
            dict(zip([*CELL, "seed"], key, strict=True))
            | {"gamma_law": law, "law": test[law], "all": test[best], "always": test[ALWAYS]}
            | {"cross-entropy": test[0.0], "temperature": part["temperature_ece"].iloc[0]}
        )
    return pd.DataFrame(rows)


def is_complete(runs: pd.DataFrame) -> bool:
    """Whether all planned runs are there."""
    return len(runs) == len(CELLS) * len(SEEDS) * len(GAMMAS)
