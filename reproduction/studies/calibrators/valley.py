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

from focal_lib.calibration.methods import build
from focal_lib.metrics.scores import brier, nll
from focal_lib.theory.closest_temperature import closest_temperature
from focal_lib.theory.maps import focal_log_probs
from reproduction.engine.store import Logits, Result
from reproduction.studies.shared.scalings import nll_temperature

GAMMAS = (-0.9, 20.0)  # of the calibration map: what Newton's method searches, too
_COARSE = (-0.9, -0.5, 0.0, 0.5, 1.0, 2.0, 3.5, 5.0, 10.0, 20.0)  # the best of them is refined between its neighbours
_NODES = tuple(g for g in _COARSE if g > 0)
SEARCHES = ("temperature", "map alone", "full", "not negative", "valley", "own line")

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
        spec, logits = result.spec, result.test.logits.astype(np.float64)
        valley_factor(1.0, logits.shape[-1])  # once for all runs of so many classes
        run = {"dataset": spec.dataset, "model": spec.model, "loss": spec.label, "gamma": spec.gamma, "seed": spec.seed}
        full: Found | None = None
        for name in searches:
            started = time.perf_counter()
            found = _not_negative(result, full) if name == "not negative" else _SEARCH[name](result)
            seconds = np.nan if name == "not negative" else time.perf_counter() - started
            full = found if name == "full" else full
            value, gamma, temperature = found
            probs, labels = np.exp(focal_log_probs(logits / temperature, gamma)), result.test.labels
            chosen = {"search": name, "calibration_gamma": gamma, "temperature": temperature, "value": value}
            rows.append(run | chosen | {"nll": nll(probs, labels), "brier": brier(probs, labels), "seconds": seconds})
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


def _map_alone(result: Result) -> Found:
    return _along(result, lambda gamma: 1.0)


def _valley(result: Result) -> Found:
    classes, (_, _, plain) = result.validation.logits.shape[-1], _plain(result)
    return _along(result, lambda gamma: float(plain * valley_factor(gamma, classes)))


def _own_line(result: Result) -> Found:
    _, _, plain = _plain(result)
    slope = nll_temperature(result, 1.0) - plain
    return _along(result, lambda gamma: plain + slope * gamma)


_SEARCH = {
    "temperature": _plain,
    "map alone": _map_alone,
    "full": _full,
    "valley": _valley,
    "own line": _own_line,
}
