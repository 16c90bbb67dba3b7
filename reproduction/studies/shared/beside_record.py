"""Own runs beside recorded ones and printed tables: differences, intervals, Holm, the smallest effect that would show.

focal compare mine --with cifar10-record
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from focal_lib.metrics.by_name import METRICS
from focal_lib.metrics.intervals import Interval
from focal_lib.metrics.significance import smallest_effect, t_p_value
from reproduction.checkout import ROOT, require_checkout
from reproduction.engine.contrasts import SCALINGS
from reproduction.engine.spec import Spec
from reproduction.engine.store import SPEC, Result
from reproduction.pages.tables import in_words
from reproduction.studies.shared.over_seeds import correct_together, measure_logits, say_over
from reproduction.studies.shared.printed_effects import NAMES, printed_beside, printed_cells, scaling_as_printed
from reproduction.studies.shared.recorded import load_recorded, read_planned, read_table
from reproduction.studies.shared.trained_alike import Trained, find_differences, settings_of
from reproduction.studies.shared.two_way import BySeed, unpaired_interval
from reproduction.studies.shared.written_contrasts import STEPS, digits_of, interval_of

Scaling = tuple[str, str]
AS_TRAINED: Scaling = ("none", "")
CROSS_ENTROPY = "cross-entropy"
LEVEL = 0.05
_PAPERS = ("m20-tables", "l25-tables", "kk24-table1")  # grids with the settings of the papers' tables


class NotAlike(ValueError):
    """Runs that are not to be compared; the message has a line for each difference."""


@dataclass(frozen=True)
class Comparison:
    """Own runs beside a record.

    Attributes:
        differences: in how they were trained; where there are any, `rows` have neither p values nor answers.
        notes: what else a reader has to know, in sentences.
        rows: a row a contrast: loss, against, best (whether that is the record's best), metric, scaling; here, there,
            the means; difference, low, high; over; seeds, of the side that has fewer; p, p_adjusted (Holm's, of all
            rows); smallest: the difference that would have been significant with probability 0.8, even where Holm is
            strictest; answer.
    """

    differences: tuple[str, ...]
    notes: tuple[str, ...]
    rows: pd.DataFrame


def recorded_names() -> list[str]:
    """The folders of results/ with a table of runs of a grid."""
    root = require_checkout("a record to compare with")
    grids = {path.stem for path in (root / "workflow" / "grids").glob("*.yaml")}
    return sorted(path.parent.name for path in (root / "results").glob("*/table.parquet") if path.parent.name in grids)


def scalings_for(metric: str) -> tuple[Scaling, ...]:
    """As trained, and after a temperature chosen by the metric where tables have it, else by log-loss."""
    if metric == "error":  # which no temperature changes
        return (AS_TRAINED,)
    by_itself = ("temperature", metric)
    return AS_TRAINED, by_itself if by_itself in SCALINGS else ("temperature", "nll")


def compare_with_record(
    runs: Sequence[Trained],
    name: str,
    metrics: Sequence[str] = ("nll", "ece"),
    against: Sequence[str] = (),
    *,
    anyway: bool = False,
) -> Comparison:
    """Each loss of own runs minus cross-entropy, and minus the best loss, of the runs in results/<name>.

    Paired by seed where the validation labels of the seeds are the same, else by Welch; over test images, too, where
    all have the same test labels. The best is that of the smallest mean, among losses with cross-entropy's seeds.

    Args:
        runs: of one data set and network.
        against: losses of the record in their place.
        anyway: show numbers, and no verdict, where runs differ in how they were trained.

    Raises:
        NotAlike: they differ, in data, sizes, recipe, epochs, precision or threads.
        ValueError: own runs of several data sets or networks, or two of a loss and seed; an unknown name, metric or
            loss; a record of several networks, none of which is that of the runs.
    """
    dataset, model = _of_one_network(runs)
    _require("metric", metrics, METRICS)
    _require("record", [name], recorded_names())
    table, there = read_table(name), _network_there(name, model)
    table = table[table["model"] == there]
    losses = list(dict.fromkeys(table["loss"]))
    _require("loss of the record", against, losses)
    planned = [spec for spec in read_planned(name) if spec.model == there]
    recorded = [run for run in load_recorded(name, part=True) if run.spec.model == there]
    own = [(run.loss, run.settings) for run in runs]
    differences, untold = find_differences(own, [settings_of(spec, _record_of(name, spec)) for spec in planned])
    labels = recorded[0].test.labels
    others = [run.loss for run in runs if not np.array_equal(run.test.labels, labels)]
    if others and dataset == recorded[0].spec.dataset:
        differences.append(f"test labels here other than there ({', '.join(dict.fromkeys(others))})")
    if differences and not anyway:
        told = "".join(f"\n  {line}" for line in differences)
        raise NotAlike(f"runs must be trained as those of {name}. Got{told}\n--anyway shows their numbers.")
    scalings = (scaling for metric in metrics for scaling in scalings_for(metric))
    measured = _measure(runs, scalings, by_images=not others)
    same_data = _same_data(runs, recorded)
    rows = [
        {"loss": loss, "against": other, "best": best, "metric": metric, "scaling": " by ".join(filter(None, scaling))}
        | _contrast(_of(measured, loss, metric, scaling), _of(table, other, metric, scaling), metric, same_data)
        for loss in dict.fromkeys(measured["loss"])
        for metric in metrics
        for scaling in scalings_for(metric)
        for other, best in dict.fromkeys(against, False).items() or _default_against(table, metric, scaling)
    ]
    notes = [f"Not told on one side: {', '.join(untold)}."] if untold else []
    if there != model:
        notes.append(f"Networks differ: {in_words(model)} here, {in_words(there)} there; a difference may be theirs.")
    if not against and len(losses) > 1:
        notes.append("The best there was chosen by the same numbers, which flatters it a little.")
    return Comparison(tuple(differences), tuple(notes), _judged(pd.DataFrame(rows), not differences))


def _of_one_network(runs: Sequence[Trained]) -> tuple[str, str]:
    networks = {(run.dataset, run.model) for run in runs}
    if len(networks) > 1:
        raise ValueError(f"runs must be of one data set and network. Got {_listed(networks)}.")
    seen: set[tuple[str, int]] = set()
    for run in runs:
        if (run.loss, run.seed) in seen:
            raise ValueError(f"runs must be one a loss and seed. Got several of {run.loss}, seed {run.seed}.")
        seen.add((run.loss, run.seed))
    return networks.pop()


def _listed(networks: set[tuple[str, str]]) -> str:
    return "; ".join(f"{model} on {dataset}" for dataset, model in sorted(networks))


def _require(what: str, given: Iterable[str], known: Collection[str]) -> None:
    if unknown := [name for name in given if name not in known]:
        raise ValueError(f"{what} must be one of {', '.join(known)}. Got {unknown[0]!r}.")


def _network_there(name: str, model: str) -> str:
    """Own network, or else the one there is."""
    networks = list(dict.fromkeys(spec.model for spec in read_planned(name)))
    if model not in networks and len(networks) > 1:
        raise ValueError(f"network must be one of {', '.join(networks)}, as {name} has several. Got {model}.")
    return model if model in networks else networks[0]


def _record_of(name: str, spec: Spec) -> Mapping[str, Any]:
    path = ROOT / "results" / name / spec.digest / SPEC
    return json.loads(path.read_text()) if path.is_file() else {}


def _measure(runs: Sequence[Trained], scalings: Iterable[Scaling], *, by_images: bool) -> pd.DataFrame:
    """As `measure`, of runs that may be imported."""
    asked = list(dict.fromkeys(scalings))
    return pd.DataFrame(
        {"dataset": run.dataset, "model": run.model, "loss": run.loss, "seed": run.seed} | row
        for run in runs
        for row in measure_logits(run.validation, run.test, asked, by_images=by_images)
    )


def _same_data(runs: Sequence[Trained], recorded: Sequence[Result]) -> set[int]:
    """The seeds whose validation images are the same on both sides, as far as labels tell."""
    there = {run.spec.seed: run.validation.labels for run in recorded}
    nothing = np.array([], dtype=np.int64)
    apart = {run.seed for run in runs if not np.array_equal(run.validation.labels, there.get(run.seed, nothing))}
    return {run.seed for run in runs} - apart


def _of(table: pd.DataFrame, loss: str, metric: str, scaling: Scaling) -> BySeed:
    method, objective = scaling
    kept = (table["metric"] == metric) & (table["method"] == method) & (table["objective"] == objective)
    return BySeed.of_rows(table[kept & (table["loss"] == loss)])


def _default_against(table: pd.DataFrame, metric: str, scaling: Scaling) -> list[tuple[str, bool]]:
    """Cross-entropy, and the loss of the smallest mean among those with its seeds; each with whether it is the best."""
    seeds = table.groupby("loss", sort=False)["seed"].agg(set)
    whole = seeds.get(CROSS_ENTROPY, max(seeds, key=len))
    means = {loss: _of(table, loss, metric, scaling).of_all.mean() for loss in seeds[seeds == whole].index}
    best = min(means, key=lambda loss: means[loss])
    return [(loss, loss == best) for loss in dict.fromkeys([*({CROSS_ENTROPY} & set(seeds.index)), best])]


def _contrast(one: BySeed, two: BySeed, metric: str, same_data: set[int]) -> dict[str, Any]:
    """What does not depend on the other contrasts."""
    both, fewer = set(one.seeds) & set(two.seeds), min(len(one.seeds), len(two.seeds))
    if both and both <= same_data and len(both) == fewer:
        found = one - two
        here, there = (side.of_all[list(found.seeds)].mean() for side in (one, two))
        interval, over = interval_of(found, metric), f"{say_over(found, metric)}, paired"
    else:
        here, there = one.of_all.mean(), two.of_all.mean()
        none = Interval(here - there, np.nan, np.nan)
        interval = unpaired_interval(one, two, step=STEPS.get(metric, 0.0)) if fewer > 1 else none
        images = f"and {one.images:,} test images" if one.images and one.images == two.images else "alone"
        over = f"{len(one.seeds)} and {len(two.seeds)} seeds {images}, not paired"
    row = {"here": here, "there": there, "difference": interval.estimate, "low": interval.low, "high": interval.high}
    return row | {"over": over, "seeds": fewer, "interval": interval}


def _judged(rows: pd.DataFrame, are_alike: bool) -> pd.DataFrame:
    """With p values, the smallest difference that would show, and the answers; with none where runs differ."""
    every, columns = rows.pop("interval"), ["p", "p_adjusted", "smallest", "answer"]
    if not are_alike:
        return rows.assign(**dict.fromkeys(columns[:-1], np.nan), answer="")
    tested = sum(bool(i.kind) for i in every)
    rows["p"] = [t_p_value(i) if i.kind else np.nan for i in every]
    rows["smallest"] = [
        smallest_effect(i.at(1 - LEVEL / tested)) if seeds > 2 else np.nan  # two tell next to nothing of the spread
        for i, seeds in zip(every, rows["seeds"], strict=True)
    ]
    rows = correct_together(rows, 1 - LEVEL).drop(columns="significant")
    return rows.assign(answer=[_answer(row) for row in rows.to_dict("records")])


def _answer(row: Mapping[Any, Any]) -> str:
    """'lower: 0.2101 instead of 0.2500'."""
    if np.isnan(row["p"]):
        return "no verdict: one seed has no interval"
    number = f"{{:.{digits_of(row['metric'])}f}}".format
    if row["p_adjusted"] <= LEVEL:
        side = "lower" if row["difference"] < 0 else "higher"
        return f"{side}: {number(row['here'])} instead of {number(row['there'])}"
    would = "two seeds show little" if row["seeds"] < 3 else f"one of {number(row['smallest'])} would have shown"
    return f"no difference shown; {would}"


def compare_with_papers(runs: Sequence[Trained], metrics: Sequence[str]) -> tuple[dict[str, pd.DataFrame], list[str]]:
    """Own means beside what M20, L25 and KK24 print for that data set and network, by metric; none where they do not.

    Returns:
        The tables of `printed_beside`; in what the runs differ from those of the papers, as `find_differences` says.

    Raises:
        ValueError: as `compare_with_record`.
    """
    dataset, model = _of_one_network(runs)
    _require("metric", metrics, METRICS)
    printed, network = NAMES.get(dataset, dataset), in_words(model).partition(" for ")[0].replace(" ", "-")
    there = [metric for metric in metrics if not printed_cells(metric, printed, network).empty]
    if not there:
        return {}, []
    measured = _measure(runs, [AS_TRAINED, *map(scaling_as_printed, there)], by_images=False)
    planned = [
        spec for grid in _PAPERS for spec in read_planned(grid) if (spec.dataset, spec.model) == (dataset, model)
    ]
    own = [(run.loss, run.settings) for run in runs]
    differences, _ = find_differences(own, [settings_of(spec, {}) for spec in planned])
    return {metric: printed_beside(measured, metric, printed, network) for metric in there}, differences
