"""How often an interval of the ECE holds the truth, by simulation from models whose ECE is known."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from focal_lib.metrics.bins import adaptive_ece_of
from focal_lib.metrics.intervals import Interval, bootstrap

__all__ = ["bootstrap_interval", "coverage", "draw_sample"]

_POPULATION = 1_000_000


def draw_sample(n: int, gap: float, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Confidences c, correctness, and the probability of being correct, c - gap sin(pi c), each (n,)."""
    rng = np.random.default_rng(seed)
    confidence = np.maximum(rng.beta(5, 1.2, n), 0.1)
    truth = np.clip(confidence - gap * np.sin(np.pi * confidence), 0, 1)
    return confidence, (rng.random(n) < truth).astype(float), truth


def bootstrap_interval(confidence: np.ndarray, correct: np.ndarray, resamples: int = 100, seed: int = 0) -> Interval:
    """Percentile bootstrap interval of the adaptive ECE: the common way, which does not cover."""
    return bootstrap(adaptive_ece_of, confidence, correct, resamples=resamples, seed=seed)


def coverage(
    n: int, gap: float, intervals: Mapping[str, Callable[..., Interval]], runs: int, seed: int = 0
) -> dict[str, float]:
    """Share of `runs` samples of n whose interval holds the adaptive ECE of the model, for each kind."""
    confidence, _, truth = draw_sample(_POPULATION, gap, seed)
    true_ece = adaptive_ece_of(confidence, truth)
    hits = dict.fromkeys(intervals, 0)
    for run in range(runs):
        sample = draw_sample(n, gap, seed + 1 + run)[:2]
        for name, interval in intervals.items():
            found = interval(*sample)
            hits[name] += found.low <= true_ece <= found.high
    return {"rows": n, "true ECE (%)": 100 * true_ece} | {name: hit / runs for name, hit in hits.items()}
