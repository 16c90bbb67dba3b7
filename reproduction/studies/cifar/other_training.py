"""The same losses and seeds trained in several ways: side by side, paired by seed, one run beside several seeds."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping

import numpy as np
import pandas as pd

from focal_lib.metrics.intervals import paired_t_interval, t_interval
from reproduction.engine.store import Result
from reproduction.studies.shared.miscalibration import confidence_gaps

# heading -> metric, method, objective, column
_Asked = dict[str, tuple[str, str, str, str]]
_OF_LOSSES: _Asked = {  # ECE is of equal width, as M20's
    "error (%)": ("error", "none", "", "value"),
    "NLL": ("nll", "none", "", "value"),
    "ECE (%)": ("ece", "none", "", "value"),
    "T by ECE": ("ece", "temperature", "ece", "temperature"),
    "ECE after T (%)": ("ece", "temperature", "ece", "value"),
}
_GAP = "confidence - accuracy (points)"
_OF_A_RUN: _Asked = {
    "error (%)": ("error", "none", "", "value"),
    "NLL": ("nll", "none", "", "value"),
    "ECE, equal width (%)": ("ece", "none", "", "value"),
    "ECE, equal mass (%)": ("adaptive-ece", "none", "", "value"),
    "T by NLL": ("nll", "temperature", "nll", "temperature"),
    "T by ECE, equal width": ("ece", "temperature", "ece", "temperature"),
}


def _values(table: pd.DataFrame, asked: _Asked) -> pd.DataFrame:
    """A row a loss and seed, a column a heading."""
    columns = {}
    for heading, (metric, method, objective, column) in asked.items():
        of_metric = (table["metric"] == metric) & (table["method"] == method) & (table["objective"] == objective)
        columns[heading] = table[of_metric].set_index(["loss", "seed"])[column]
    return pd.DataFrame(columns)


def compare_training(tables: Mapping[str, pd.DataFrame], runs: Mapping[str, Iterable[Result]]) -> pd.DataFrame:
    """Means over the seeds that all have, on test images; a row a loss and way to train, in the order of `tables`.

    Columns: error, NLL and ECE as trained, mean confidence minus accuracy, the temperature chosen by ECE and the ECE
    after it; seeds.

    Args:
        tables: way to train -> what `measure` gives of its runs; runs: the same way -> these runs.

    Raises:
        ValueError: no loss and seed that all have.
    """
    shared = set.intersection(*(set(zip(t["loss"], t["seed"], strict=True)) for t in tables.values()))
    if not shared:
        raise ValueError(f"tables must have a loss and seed in common. Got none in {', '.join(tables)}.")
    found = []
    for way, table in tables.items():
        kept = table[[key in shared for key in zip(table["loss"], table["seed"], strict=True)]]
        means = _values(kept, _OF_LOSSES).groupby("loss", sort=False).mean()
        gaps = confidence_gaps([run for run in runs[way] if (run.spec.label, run.spec.seed) in shared], ["test"])
        means[_GAP] = 100 * gaps.groupby("loss")["gap"].mean()
        means["seeds"] = kept.groupby("loss")["seed"].nunique()
        found.append(means.assign(steps=way))
    together = pd.concat(found).rename_axis("loss").set_index("steps", append=True)
    losses = {loss for loss, _ in shared}
    order = [loss for loss in next(iter(tables.values()))["loss"].unique() if loss in losses]
    return together.reindex(pd.MultiIndex.from_product([order, list(tables)], names=["loss", "steps"]))


def _of_one_set(name: str, table: pd.DataFrame) -> pd.DataFrame:
    """_OF_A_RUN, a row a loss and seed, unless the table mixes data sets, has a run twice, or lacks a number."""
    networks = table[["dataset", "model"]].drop_duplicates()
    if len(networks) != 1:
        raise ValueError(f"{name} must be of one data set and network. Got {len(networks)}.")
    if twice := int(table.duplicated(["loss", "seed", "metric", "method", "objective"]).sum()):
        raise ValueError(f"{name} must have a loss and seed once. Got {twice} rows again.")
    values = _values(table, _OF_A_RUN).sort_index()
    if lacking := [str(heading) for heading in values if not np.isfinite(values[heading]).all()]:
        raise ValueError(f"{name} must have every number, finite. Got none for {', '.join(lacking)}.")
    return values


def compare_by_seed(here: pd.DataFrame, there: pd.DataFrame) -> pd.DataFrame:
    """What another way to train changes in the runs of one loss, paired by seed.

    Args:
        here, there: what `measure` gives of runs in either way, of one loss and the same seeds, two at least.

    Returns:
        Index error, NLL, ECEs as trained and temperatures, on test images; columns there and here (means over seeds),
        change (here minus there), low and high (95 % t interval of it over seeds), seeds.

    Raises:
        ValueError: other losses or seeds, several losses, one seed; several data sets or networks, a seed twice, or a
            number that is missing or not finite.
    """
    ours, theirs = _of_one_set("here", here), _of_one_set("there", there)
    sets = [" on ".join(t[["model", "dataset"]].iloc[0]) for t in (here, there)]
    if sets[0] != sets[1]:
        raise ValueError(f"here and there must be of one data set and network. Got {sets[0]} and {sets[1]}.")
    if not ours.index.equals(theirs.index) or len(ours) < 2 or ours.index.get_level_values("loss").nunique() != 1:
        have = (", ".join(f"{loss}, seed {seed}" for loss, seed in t.index) or "none" for t in (ours, theirs))
        raise ValueError(
            f"here and there must have one loss, and the same two seeds or more. Got {' and '.join(have)}."
        )
    rows = {}
    for heading in ours:
        change = paired_t_interval(ours[heading], theirs[heading])
        means = theirs[heading].mean(), ours[heading].mean()
        rows[heading] = (*means, change.estimate, change.low, change.high, len(ours))
    return pd.DataFrame.from_dict(rows, orient="index", columns=["there", "here", "change", "low", "high", "seeds"])


def compare_run_with_seeds(run: pd.DataFrame, seeds: pd.DataFrame) -> pd.DataFrame:
    r"""One run beside the run of its loss and seed that was trained in another way, and beside what seeds change there.

    low and high are where a further seed of the other way is expected, the 95 % t prediction interval of n seeds,

    .. math:: \bar x \pm t_{n - 1} s \sqrt{1 + 1 / n},

    so that a change which one run can show is one that leads out of them.

    Args:
        run: what `measure` gives of one run; seeds: the same of runs in the other way, of its loss two at least.

    Returns:
        Index error, NLL, ECEs as trained and temperatures, on test images; columns there (the run of the same seed in
        the other way), here, change, low, high, inside, beyond (the least and the largest of the seeds, which one more
        seed is with probability 2 / (n + 1)); seeds, their number.

    Raises:
        ValueError: more than one run, or not its loss and seed among two or more; as `compare_by_seed`.
    """
    here = _of_one_set("run", run)
    if len(here) != 1:
        raise ValueError(f"run must be one run. Got {len(here)}.")
    loss, seed = here.index[0]
    there = _of_one_set("seeds", seeds[seeds["loss"] == loss])
    own = list(there.index.get_level_values("seed"))
    if len(there) < 2 or seed not in own:
        have = ", ".join(map(str, own)) or "none"
        raise ValueError(f"seeds must have two runs of {loss} or more, seed {seed} among them. Got {have}.")
    rows = {}
    for heading, value in here.iloc[0].items():
        known = there[heading]
        mean = t_interval(known)
        half = (mean.high - mean.estimate) * math.sqrt(len(known) + 1)  # its standard error has 1 / sqrt(n)
        same, low, high = known[loss, seed], mean.estimate - half, mean.estimate + half
        beyond = not known.min() <= value <= known.max()
        rows[heading] = (same, value, value - same, low, high, low <= value <= high, beyond, len(known))
    columns = ["there", "here", "change", "low", "high", "inside", "beyond", "seeds"]
    return pd.DataFrame.from_dict(rows, orient="index", columns=columns)
