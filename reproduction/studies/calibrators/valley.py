r"""The valley of (calibration gamma, T) in the validation NLL, and searches along it (KK24 sections 5.2 and 6).

If the focal calibration map is nearly a temperature t(gamma), a temperature T before the map is nearly T t(gamma)
without it. What is best without the map, T0, then gives the valley

.. math:: T(\gamma) = T_0 / t(\gamma).
"""

from __future__ import annotations

import functools
import time
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
import pandas as pd
from scipy.optimize import minimize, minimize_scalar

from focal_lib.calibration.calibrators.newton import focal_sums
from focal_lib.calibration.methods import build
from focal_lib.metrics.intervals import Interval, t_interval_if_any
from focal_lib.metrics.scores import brier, nll
from focal_lib.theory.closest_temperature import closest_temperature
from focal_lib.theory.maps import focal_log_probs
from reproduction.engine.store import Logits, Result
from reproduction.studies.shared.over_seeds import run_columns
from reproduction.studies.shared.recorded import load_recorded, read_planned
from reproduction.studies.shared.scalings import nll_temperature

GAMMAS = (-0.9, 20.0)  # of the calibration map: what Newton's method searches, too
_COARSE = (-0.9, -0.5, 0.0, 0.5, 1.0, 2.0, 3.5, 5.0, 10.0, 20.0)  # the best of them is refined between its neighbours
_NODES = tuple(g for g in _COARSE if g > 0)
SEARCHES = ("temperature", "map alone", "full", "not negative", "valley", "own line")
_NETWORK = ["dataset", "model"]

Found = tuple[float, float, float]  # validation NLL, gamma, T


def valley_factor(gamma: Any, classes: int) -> np.ndarray:
    """1 / t(gamma): the inverse of the temperature closest to the map over the whole simplex, any shape.

    Linear between gammas at which it is computed; below 0 the line between the first two of them goes on.

    Raises:
        ValueError: gamma outside [-0.9, 20]; classes < 2.
    """
    given = np.asarray(gamma, dtype=np.float64)
    if not ((given >= GAMMAS[0]) & (given <= GAMMAS[1])).all():
        raise ValueError(f"gamma must be between {GAMMAS[0]} and {GAMMAS[1]}. Got {gamma}.")
    known, factors = _nodes(classes)
    slope = (factors[1] - factors[0]) / (known[1] - known[0])
    return np.where(given < 0, 1 + slope * given, np.interp(given, known, factors))


@functools.cache
def _nodes(classes: int) -> tuple[np.ndarray, np.ndarray]:
    found = [closest_temperature(gamma, classes).inverse_temperature for gamma in _NODES]
    return np.array([0.0, *_NODES]), np.array([1.0, *found])


def _mean_nll(part: Logits, gamma: float, temperature: float) -> float:
    log_p = focal_log_probs(part.logits.astype(np.float64) / temperature, gamma)
    return float(-log_p[np.arange(len(part.labels)), part.labels].mean())


def nll_surface(result: Result, gammas: Sequence[float], temperatures: Sequence[float]) -> np.ndarray:
    """Validation NLL, (len(temperatures), len(gammas)), of a run after T, then the map."""
    return np.array([[_mean_nll(result.validation, g, t) for g in gammas] for t in temperatures])


def search_valley(results: Iterable[Result], searches: Sequence[str] = SEARCHES) -> pd.DataFrame:
    """One row a run and search, fitted by validation NLL, judged on test.

    The searches: 'temperature', gamma = 0; 'map alone', T = 1; 'full', Newton steps in both from several starts; 'not
    negative', the same with gamma >= 0; 'valley', gamma alone along T0 / t(gamma) with T0 fitted and t of theory;
    'own line', gamma alone along the line through the best T at gamma 0 and at 1.

    Returns:
        dataset, model, loss, gamma (of training), seed; search, calibration_gamma, temperature; value, the validation
        NLL; nll and brier on test; seconds of the search, in which t(gamma), the same for all runs, is not counted,
        and nan for 'not negative'.

    Raises:
        ValueError: another search.
    """
    if unknown := [name for name in searches if name not in SEARCHES]:
        raise ValueError(f"searches must be among {', '.join(SEARCHES)}. Got {', '.join(unknown)}.")
    rows: list[dict[str, Any]] = []
    for result in results:
        logits = result.test.logits.astype(np.float64)
        valley_factor(1.0, logits.shape[-1])  # once for all runs of so many classes
        full: Found | None = None
        for name in searches:
            started = time.perf_counter()
            found = _not_negative(result, full) if name == "not negative" else _SEARCH[name](result)
            seconds = np.nan if name == "not negative" else time.perf_counter() - started
            full = found if name == "full" else full
            value, gamma, temperature = found
            probs, labels = np.exp(focal_log_probs(logits / temperature, gamma)), result.test.labels
            chosen = {"search": name, "calibration_gamma": gamma, "temperature": temperature, "value": value}
            chosen |= {"nll": nll(probs, labels), "brier": brier(probs, labels), "seconds": seconds}
            rows.append(run_columns(result.spec) | chosen)
    return pd.DataFrame(rows)


def _plain(result: Result) -> Found:
    temperature = build("temperature", "nll").fit(result.validation.logits, result.validation.labels).temperature_
    return _mean_nll(result.validation, 0.0, temperature), 0.0, temperature


def _full(result: Result) -> Found:
    fit = build("focal-temperature", "nll").fit(result.validation.logits, result.validation.labels)
    return fit.objective_, fit.gamma_, fit.temperature_


def _not_negative(result: Result, full: Found | None) -> Found:
    """The full search where it ends at gamma >= 0; else the best of descents within gamma >= 0, or gamma = 0."""
    full = full or _full(result)
    if full[1] >= 0:
        return full
    plain = _plain(result)

    def value(theta: np.ndarray) -> float:
        return _mean_nll(result.validation, float(theta[1]), float(np.exp(theta[0])))

    found = [plain]
    for start in (0.5, 3.0):
        at = np.array([np.log(plain[2] * (1 + 0.6 * start)), start])
        end = minimize(value, at, method="L-BFGS-B", bounds=[(None, None), (0.0, GAMMAS[1])])
        found.append((float(end.fun), float(end.x[1]), float(np.exp(end.x[0]))))
    return min(found)


def _along(result: Result, temperature: Callable[[float], float]) -> Found:
    """The best gamma along a curve: of a few, then between the neighbours of the best."""

    def value(gamma: float) -> float:
        return _mean_nll(result.validation, gamma, temperature(gamma))

    coarse = [g for g in _COARSE if temperature(g) > 0]
    best = int(np.argmin([value(g) for g in coarse]))
    bounds = coarse[max(best - 1, 0)], coarse[min(best + 1, len(coarse) - 1)]
    fine = float(minimize_scalar(value, bounds=bounds, method="bounded", options={"xatol": 1e-3}).x)
    return min((value(g), g, float(temperature(g))) for g in (fine, coarse[best]))


def _valley(result: Result) -> Found:
    classes, (_, _, plain) = result.validation.logits.shape[-1], _plain(result)
    return _along(result, lambda gamma: float(plain * valley_factor(gamma, classes)))


def _own_line(result: Result) -> Found:
    _, _, plain = _plain(result)
    slope = nll_temperature(result, 1.0) - plain
    return _along(result, lambda gamma: plain + slope * gamma)


_SEARCH = {
    "temperature": _plain,
    "map alone": lambda result: _along(result, lambda gamma: 1.0),
    "full": _full,
    "valley": _valley,
    "own line": _own_line,
}


def score_test(result: Result, temperature: float) -> dict[str, float]:
    """What validation data say of gamma at 0, with the best temperature: from first and second derivatives alone.

    Returns:
        slope, of log T by gamma along the valley; z, the score statistic of gamma = 0, standard normal under it; step
        and gain, what a quadratic NLL would give: the best gamma, and how much it lowers the validation NLL.
    """
    part, beta = result.validation, 1 / temperature
    n = len(part.labels)
    _, _, score, by_beta, mixed, by_gamma = focal_sums(beta, 0.0, part.logits.astype(np.float64), part.labels) / n
    curve = by_gamma - mixed**2 / by_beta  # along the valley
    return {
        "slope": mixed / by_beta / beta,
        "z": -score * np.sqrt(n / curve),
        "step": -score / curve,
        "gain": score**2 / curve / 2,
    }


def score_tests(results: Iterable[Result], found: pd.DataFrame) -> pd.DataFrame:
    """`score_test` of every run at its best temperature, without a search: a row a run.

    Args:
        found: what `reproduction.studies.calibrators.record` records of these runs.

    Returns:
        dataset, model, loss, gamma (of training), seed; run, temperature; slope, z, step, the gamma, and gain.
    """
    plain = found[found["search"] == "temperature"].set_index("run")["temperature"]
    rows = []
    for result in results:
        run = result.spec.digest
        at = {"run": run, "temperature": plain[run]}
        rows.append(run_columns(result.spec) | at | score_test(result, float(plain[run])))
    return pd.DataFrame(rows)


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
    keys = [*_NETWORK, "loss", "gamma", "seed"]
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
    for (dataset, model), part in found.groupby(_NETWORK, sort=False):
        for name in searches:
            test, validation = minus_full(part, name), minus_full(part, name, "value")["difference"].mean()
            wide = test.pivot(index="seed", columns="loss", values="difference").dropna(axis="columns")
            i = t_interval_if_any(wide.mean(axis="columns")) if wide.shape[1] else Interval(np.nan, np.nan, np.nan)
            numbers = validation, i.estimate, i.low, i.high, wide.shape[1], wide.shape[0]
            rows.append((dataset, model, name, len(test), *numbers, test["difference"].max(), test["faster"].median()))
    columns = [*_NETWORK, "search", "runs", "validation", "test", "low", "high", "losses", "seeds", "worst", "faster"]
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
    groups = each.groupby([*_NETWORK, "loss"], sort=False)
    counts = groups[["negative", "at_end"]].sum().assign(networks=groups.size())
    means = groups[["validation", "test"]].mean()
    return counts[["networks", "negative", "at_end"]].join(means).reset_index()
