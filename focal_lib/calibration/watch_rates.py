"""How often a watch raises a false alarm, and how late a true one, by simulation."""

from __future__ import annotations

import numpy as np
from scipy.special import log_softmax
from scipy.stats import beta

from focal_lib.calibration.watch import CalibrationWatch

__all__ = ["alarm_rates", "simulate_stream"]

_CHUNK = 4096


def simulate_stream(
    length: int, rng: np.random.Generator, *, temperature: float = 1.0, classes: int = 10, spread: float = 3.0
) -> tuple[np.ndarray, np.ndarray]:
    """Confidences of softmax(z) and correctness (length,) each, where labels are drawn from softmax(z / temperature).

    Args:
        temperature: 1 for a calibrated model, more for one that is overconfident.
        spread: standard deviation of the logits, which are normal.
    """
    z = spread * rng.normal(size=(length, classes))
    top = z.argmax(1)[:, None]
    stated, true = (np.exp(np.take_along_axis(log_softmax(z / t, 1), top, 1)[:, 0]) for t in (1.0, temperature))
    return stated, (rng.random(length) < true).astype(float)


def alarm_rates(
    runs: int,
    horizon: int,
    *,
    change: int | None = None,
    temperature: float = 1.0,
    alpha: float = 0.05,
    seed: int = 0,
) -> dict[str, float]:
    """Of streams of a calibrated model that drifts after `change` samples: false alarms, missed drifts, delays.

    Args:
        runs: streams.
        horizon: samples in each, unless an alarm ends it.
        change: samples before the drift; None for no drift at all.
        temperature: of the labels after that, see simulate_stream.
        alpha: of the watch.

    Returns:
        Shares of false alarms (before the change), with a 95 % upper bound, and of missed drifts; median and 90 %
        quantile of the delay in samples, nan where there is no drift.
    """
    before = horizon if change is None else min(change, horizon)
    false, delays = 0, []
    for run in range(runs):
        rng = np.random.default_rng((seed, run))
        watch = CalibrationWatch(alpha)
        while not watch.alarm and watch.steps < horizon:
            calm = watch.steps < before
            length = min(_CHUNK, (before if calm else horizon) - watch.steps)
            watch.update(*simulate_stream(length, rng, temperature=1.0 if calm else temperature))
        if watch.alarm_at is not None and watch.alarm_at <= before:
            false += 1
        elif change is not None:
            delays.append(np.inf if watch.alarm_at is None else watch.alarm_at - before)
    late = np.quantile(delays, (0.5, 0.9), method="higher") if delays else (np.nan, np.nan)
    most = float(beta.ppf(0.95, false + 1, runs - false)) if false < runs else 1.0
    missed = float(np.mean(np.isinf(delays))) if delays else np.nan
    names = ("false alarms", "at most", "missed", "median delay", "90 % delay")
    return dict(zip(names, (false / runs, most, missed, float(late[0]), float(late[1])), strict=True))
