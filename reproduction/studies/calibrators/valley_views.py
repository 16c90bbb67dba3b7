"""What the page of open questions shows of searches along the valley: counts, and what a cheap one gives up."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
import pandas as pd

from focal_lib.metrics.intervals import Interval, t_interval_if_any
from reproduction.pages.tables import in_words
from reproduction.studies.calibrators.valley import GAMMAS
from reproduction.studies.shared.recorded import load_recorded, read_planned

NETWORK = ["dataset", "model"]


def count_searched(found: pd.DataFrame, records: Iterable[str]) -> pd.DataFrame:
    """How many runs of each record there are, are planned and were searched: a row a record, data set and network.

    Args:
        found: what `reproduction.studies.calibrators.record` records, `search_valley` with columns `record` and `run`.
        records: names of folders in results/, each of the grid of that name.

    Returns:
        record, dataset, model; losses and seeds, of the runs that are there; planned, recorded, searched.

    Raises:
        FileNotFoundError: a record without runs.
    """
    rows = []
    for record in records:
        planned = read_planned(record)
        kept = [run.spec for run in load_recorded(record, part=True)]
        done = set(found.loc[found["record"] == record, "run"])
        for dataset, model in dict.fromkeys((spec.dataset, spec.model) for spec in planned):
            own = [spec for spec in kept if (spec.dataset, spec.model) == (dataset, model)]
            sizes = len({spec.label for spec in own}), len({spec.seed for spec in own})
            due = sum((spec.dataset, spec.model) == (dataset, model) for spec in planned)
            rows.append((record, dataset, model, *sizes, due, len(own), sum(spec.digest in done for spec in own)))
    columns = ["record", "dataset", "model", "losses", "seeds", "planned", "recorded", "searched"]
    return pd.DataFrame(rows, columns=columns)


def say_missing(found: pd.DataFrame, counts: pd.DataFrame) -> str:
    """Of each grid that is not whole among the searches, how many runs and which are searched, seed by seed, in words.

    Args:
        found: as for `count_searched`.
        counts: what that gives.

    Returns:
        'cifar10-record, 3 of 38: seed 0 cross-entropy, focal 1; seed 1 cross-entropy', or 'none'.
    """
    said = []
    for record, part in counts.groupby("record", sort=False):
        done, planned = part["searched"].sum(), part["planned"].sum()
        if done < planned:
            own = found[found["record"] == record].groupby("seed")["loss"].unique()
            by_seed = "; ".join(f"seed {seed} {', '.join(map(in_words, losses))}" for seed, losses in own.items())
            said.append(f"{record}, {done} of {planned}" + (f": {by_seed}" if done else ""))
    return ". ".join(said) or "none"


def over_training_gamma(found: pd.DataFrame, search: str = "full") -> pd.DataFrame:
    """The calibration gamma of a search over the gamma of training, of cross-entropy and focal losses: a row a gamma.

    Args:
        found: of `search_valley`, one data set and network.

    Returns:
        gamma; mean, low and high of the calibration gamma, Student's t over seeds, cut off where the search ends, nan
        and nan of one; temperature, t_low and t_high, the same of T; seeds.
    """
    rows = []
    plain = found["loss"].isin(["cross-entropy", *(f"focal {g:g}" for g in found["gamma"].unique())])
    for gamma, part in found[plain & (found["search"] == search)].groupby("gamma"):
        i, t = (t_interval_if_any(part[column]) for column in ("calibration_gamma", "temperature"))
        rows.append((gamma, i.estimate, *np.clip((i.low, i.high), *GAMMAS), t.estimate, t.low, t.high, len(part)))
    return pd.DataFrame(rows, columns=["gamma", "mean", "low", "high", "temperature", "t_low", "t_high", "seeds"])


def minus_full(found: pd.DataFrame, search: str, column: str = "nll") -> pd.DataFrame:
    """A column of one search minus that of the full one, a row a network; negative: the search is better.

    Returns:
        dataset, model, loss, gamma, seed; difference; faster, how many times as long the full search took;
        calibration_gamma of the full search.
    """
    keys = [*NETWORK, "loss", "gamma", "seed"]
    ours, full = (found[found["search"] == name].set_index(keys) for name in (search, "full"))
    both = pd.DataFrame({"difference": ours[column] - full[column], "faster": full["seconds"] / ours["seconds"]})
    return both.assign(calibration_gamma=full["calibration_gamma"]).reset_index()


def cheap_searches(
    found: pd.DataFrame, searches: Sequence[str] = ("temperature", "valley", "own line")
) -> pd.DataFrame:
    """What each search gives up of NLL against the full one, and how much faster it is: a row a network and search.

    Where runs are missing, means over losses are of those that every seed has; nan where there is none.

    Returns:
        dataset, model, search; runs; validation, the mean of the loss on validation; test, low, high: on test, mean
        over losses, Student's t over seeds, nan and nan of one; losses, seeds: of how many these are; worst, the
        largest of all runs on test; faster, the median.
    """
    rows = []
    for (dataset, model), part in found.groupby(NETWORK, sort=False):
        for name in searches:
            test, validation = minus_full(part, name), minus_full(part, name, "value")["difference"].mean()
            wide = test.pivot(index="seed", columns="loss", values="difference").dropna(axis="columns")
            i = t_interval_if_any(wide.mean(axis="columns")) if wide.shape[1] else Interval(np.nan, np.nan, np.nan)
            numbers = validation, i.estimate, i.low, i.high, wide.shape[1], wide.shape[0]
            rows.append((dataset, model, name, len(test), *numbers, test["difference"].max(), test["faster"].median()))
    columns = [*NETWORK, "search", "runs", "validation", "test", "low", "high", "losses", "seeds", "worst", "faster"]
    return pd.DataFrame(rows, columns=columns)


def negative_by_loss(found: pd.DataFrame) -> pd.DataFrame:
    """How often the best calibration gamma is below 0, and what it gains: a row a network and loss.

    Returns:
        dataset, model, loss; networks; negative, how many; at_end, how many at the end of the search; validation and
        test: the NLL of the best gamma minus that of the best that is not negative, mean over the networks.
    """
    by = {
        name: minus_full(found, "not negative", column) for name, column in (("validation", "value"), ("test", "nll"))
    }
    base = by["test"]
    each = base.assign(
        negative=base["calibration_gamma"] < 0,
        at_end=base["calibration_gamma"] <= GAMMAS[0] + 1e-6,
        validation=-by["validation"]["difference"],
        test=-base["difference"],
    )
    groups = each.groupby([*NETWORK, "loss"], sort=False)
    counts = groups[["negative", "at_end"]].sum().assign(networks=groups.size())
    means = groups[["validation", "test"]].mean()
    return counts[["networks", "negative", "at_end"]].join(means).reset_index()
