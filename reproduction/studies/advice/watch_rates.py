"""How often a watch raises a false alarm, and how late a true one, by simulation."""

from __future__ import annotations

import numpy as np
import pandas as pd
from scipy.signal import lfilter
from scipy.special import log_softmax, ndtr

from focal_lib.metrics.intervals import exact_binomial_ends
from focal_lib.tool.watch import CalibrationWatch

_CHUNK, _SETTLED = 4096, 100  # samples after which an AR(1) has forgotten where it began


def simulate_stream(
    length: int,
    rng: np.random.Generator,
    *,
    temperature: float = 1.0,
    classes: int = 10,
    spread: float = 3.0,
    correlation: float = 0.0,
) -> tuple[np.ndarray, np.ndarray]:
    """Confidences of softmax(z) and correctness (length,) each, where labels are drawn from softmax(z / temperature).

    Args:
        temperature: 1 for a calibrated model, more for one that is overconfident.
        spread: standard deviation of the logits, which are normal.
        correlation: of neighbours in the AR(1) of normal numbers by which labels are drawn; 0 for independent ones.
    """
    z = spread * rng.normal(size=(length, classes))
    top = z.argmax(1)[:, None]
    stated, true = (np.exp(np.take_along_axis(log_softmax(z / t, 1), top, 1)[:, 0]) for t in (1.0, temperature))
    if not correlation:
        return stated, (rng.random(length) < true).astype(float)
    noise = rng.normal(size=length + _SETTLED)
    return stated, (ndtr(lfilter([(1 - correlation**2) ** 0.5], [1, -correlation], noise)[_SETTLED:]) < true).astype(
        float
    )


def alarm_times(
    runs: int,
    horizon: int,
    *,
    change: int | None = None,
    temperature: float = 1.0,
    alpha: float = 0.05,
    seed: int = 0,
    correlation: float = 0.0,
    block: int = 1,
) -> np.ndarray:
    """At which sample the alarm comes in each of so many streams, inf where none does, (runs,).

    Args:
        horizon: samples in a stream.
        change: samples of a calibrated model before the drift; None for no drift at all.
        temperature: of the labels after that, see simulate_stream.
        alpha, block: of the watch.
        correlation: of outcomes, see simulate_stream.
    """
    before = horizon if change is None else min(change, horizon)
    found = np.full(runs, np.inf)
    for run in range(runs):
        rng = np.random.default_rng((seed, run))
        watch = CalibrationWatch(alpha, block=block)
        while watch.alarm_at is None and watch.steps < horizon:
            calm = watch.steps < before
            length = min(_CHUNK, (before if calm else horizon) - watch.steps)
            watch.update(
                *simulate_stream(length, rng, temperature=1.0 if calm else temperature, correlation=correlation)
            )
        found[run] = np.inf if watch.alarm_at is None else watch.alarm_at
    return found


def false_alarm_rates(times: np.ndarray, horizons: tuple[int, ...], *, level: float = 0.95) -> pd.DataFrame:
    """Share of streams without drift in which there was an alarm by each horizon, with its interval.

    Args:
        times: of alarm_times, with change None and a horizon of at least these.
        level: of the interval (Clopper & Pearson 1934).
    """
    n, tail, rows = len(times), (1 - level) / 2, []
    for horizon in horizons:
        alarms = int(np.count_nonzero(times <= horizon))
        low, high = exact_binomial_ends(alarms, n, tail)
        rows.append((horizon, n, alarms / n, float(low), float(high)))
    return pd.DataFrame(rows, columns=["samples", "streams", "false alarms", "low", "high"])


def alarm_delays(times: np.ndarray, change: int) -> dict[str, float]:
    """Of streams that drift after `change` samples: how long after it the alarm comes, in samples.

    Returns:
        The share of false alarms, which came before; of the rest, median and 90 % quantile of the delay, inf for no
        alarm, and the share without one; nan where there is no rest.
    """
    rest = times[times > change] - change
    names = ("false alarms", "median delay", "90 % delay", "missed")
    if not len(rest):
        return dict(zip(names, (1.0, np.nan, np.nan, np.nan), strict=True))
    median, late = np.quantile(rest, (0.5, 0.9), method="higher")
    return dict(zip(names, (float((times <= change).mean()), median, late, float(np.isinf(rest).mean())), strict=True))
