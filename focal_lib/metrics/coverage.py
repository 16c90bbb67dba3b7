"""How often an interval of the ECE holds the truth, by simulation from models whose ECE is known."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from focal_lib.metrics.bins import adaptive_ece_of
from focal_lib.metrics.intervals import Interval

__all__ = ["estimate_coverage", "simulate_sample"]

_POPULATION = 1_000_000


def simulate_sample(n: int, gap: float, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Confidences c, correctness, and the probability of being correct, c - gap sin(pi c), each (n,).

    Confidences are Beta(5, 1.2), and 0.1 at least; a model with gap 0 is calibrated.
    """
    rng = np.random.default_rng(seed)
    confidence = np.maximum(rng.beta(5, 1.2, n), 0.1)
    truth = np.clip(confidence - gap * np.sin(np.pi * confidence), 0, 1)
    return confidence, (rng.random(n) < truth).astype(float), truth


def estimate_coverage(
    n: int, gap: float, intervals: Mapping[str, Callable[[np.ndarray, np.ndarray], Interval]], runs: int, seed: int = 0
) -> dict[str, float]:
    """Share of `runs` simulated samples of size n whose interval holds the adaptive ECE of the model.

    Args:
        gap: of the model, as in simulate_sample.
        intervals: name -> function of confidences (n,) and correctness (n,).

    Returns:
        The sample size, the true adaptive ECE in per cent, and the share for each name.
    """
    confidence, _, truth = simulate_sample(_POPULATION, gap, seed)
    true_ece = adaptive_ece_of(confidence, truth)
    hits = dict.fromkeys(intervals, 0)
    for run in range(runs):
        sample = simulate_sample(n, gap, seed + 1 + run)[:2]
        for name, interval in intervals.items():
            found = interval(*sample)
            hits[name] += found.low <= true_ece <= found.high
    return {"samples": n, "true ECE (%)": 100 * true_ece} | {name: hit / runs for name, hit in hits.items()}
