"""Speed, as ratios measured in one run: python -m benchmarks (or make bench).

Nothing here asserts a time; agreement is shown beside each ratio.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable

import numpy as np
import torch

from focal_lib.calibration import PAPER_GAMMAS, PAPER_TEMPERATURES, FocalTemperatureScaling
from focal_lib.metrics import adaptive_ece_of
from focal_lib.theory import (
    focal_log_probs,
    inverse_focal_log_probs,
    temperature_bounds,
    temperature_bounds_by_search,
)


def median_seconds(function: Callable[[], object], repeats: int) -> float:
    """Median wall time of a call."""
    times = []
    for _ in range(repeats):
        started = time.perf_counter()
        function()
        times.append(time.perf_counter() - started)
    return statistics.median(times)


def synthetic_logits(n: int, classes: int, temperature: float = 2.0) -> tuple[np.ndarray, np.ndarray]:
    """Logits with labels drawn at the given temperature."""
    rng = np.random.default_rng(0)
    z = rng.normal(size=(n, classes)) * 1.5
    z[np.arange(n), rng.integers(0, classes, n)] += rng.normal(5, 2.5, n)
    p = np.exp(focal_log_probs(z / temperature, 0.0))
    return z, (p.cumsum(1) > rng.random((n, 1))).argmax(1)


def plain_ece(z: torch.Tensor, y: torch.Tensor, gamma: float, temperature: float) -> float:
    """Adaptive ECE at one (gamma, T) of a plain loop over torch operations."""
    confidence, predicted = focal_log_probs(z / temperature, gamma).exp().max(-1)
    return adaptive_ece_of(confidence.numpy(), (predicted == y).double().numpy())


def compare_temperature_bounds() -> None:
    """Exact bounds against the paper's brute force."""
    print("temperature bounds: brute-force search / exact")
    for gamma in (4.0, 10.0):
        exact = median_seconds(lambda g=gamma: temperature_bounds(g), 2000)  # type: ignore[misc]
        search = median_seconds(lambda g=gamma: temperature_bounds_by_search(g), 3)  # type: ignore[misc]
        found, true = temperature_bounds_by_search(gamma), temperature_bounds(gamma, 20)
        print(f"  gamma {gamma:4g}: {search / exact:10,.0f} x   differ by {max(abs(np.subtract(found, true))):.4f}")


def compare_searches() -> None:
    """Focal temperature scaling by adaptive ECE: plain loop, grid search, line search."""
    z, y = synthetic_logits(5000, 100)
    tensors = torch.from_numpy(z), torch.from_numpy(y)
    pairs = [(g, t) for g in PAPER_GAMMAS for t in PAPER_TEMPERATURES]
    some = pairs[:: len(pairs) // 90]
    one = median_seconds(lambda: [plain_ece(*tensors, g, t) for g, t in some], 1) / len(some)
    grid = median_seconds(lambda: FocalTemperatureScaling("adaptive-ece", "grid").fit(z, y), 5)
    line = median_seconds(lambda: FocalTemperatureScaling("adaptive-ece", "line").fit(z, y), 5)
    whole = FocalTemperatureScaling("adaptive-ece", "grid").fit(z, y)
    along = FocalTemperatureScaling("adaptive-ece", "line").fit(z, y)
    again = plain_ece(*tensors, whole.gamma_, whole.temperature_)
    print(f"focal temperature scaling by adaptive ECE, 5,000 x 100 logits, {len(pairs):,} pairs")
    print(f"  threads: {torch.get_num_threads()}")
    print(
        f"  plain loop / grid search: {one * len(pairs) / grid:6.0f} x   "
        f"(grid {grid:.2f} s; loop from {len(some)} pairs)"
    )
    print(
        f"  grid search / line search: {grid / line:5.1f} x   adaptive ECE {along.objective_ - whole.objective_:+.5f}"
    )
    print(f"  grid optimum evaluated by the plain loop: adaptive ECE differs by {abs(again - whole.objective_):.1e}")


def compare_maps() -> None:
    """The map and its inverse against log-softmax."""
    z, _ = synthetic_logits(5000, 100)
    softmax = median_seconds(lambda: torch.log_softmax(torch.from_numpy(z), -1), 20)
    forward = median_seconds(lambda: focal_log_probs(z, 2.0), 10)
    mapped = focal_log_probs(z, 2.0)
    inverse = median_seconds(lambda: inverse_focal_log_probs(mapped, 2.0), 3)
    print(f"maps, 5,000 x 100: map / log-softmax {forward / softmax:.0f} x, inverse / map {inverse / forward:.0f} x")


if __name__ == "__main__":
    compare_temperature_bounds()
    compare_maps()
    compare_searches()
