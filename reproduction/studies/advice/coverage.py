"""How often intervals of calibration errors hold the truth, by simulation from models whose errors are known."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import special

from focal_lib.metrics.bins import (
    DEFAULT_BINS,
    adaptive_ece_of,
    assign_bins,
    ece_of,
    reliability_bins_of,
    sum_class_gaps,
)
from focal_lib.metrics.calibration_test import calibration_p_value_of
from focal_lib.metrics.ece_interval import (
    adaptive_ece_interval_of,
    classwise_ece_interval_of,
    ece_interval_of,
    mce_interval_of,
)
from focal_lib.metrics.intervals import Interval
from reproduction.studies.advice.clouds import bayes_logits

TEMPERATURES = {"calibrated": 1.0, "slightly overconfident": 1.1, "overconfident": 1.5, "underconfident": 1 / 1.5}
_POPULATION = 1_000_000
_AT_ONCE = 4_000_000  # numbers: samples times classes


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


# --- over sample sizes and numbers of classes ---------------------------------------------


@dataclass(frozen=True)
class TopLabelModel:
    """A large population of top labels: confidences (m,) and the probabilities of being right (m,), its whole truth."""

    confidence: np.ndarray
    truth: np.ndarray

    @classmethod
    def of_clouds(cls, classes: int, temperature: float, *, seed: int = 0, size: int = 200_000) -> TopLabelModel:
        """Of softmax(temperature u), where softmax(u) are the true probabilities of `clouds`.

        Raises:
            ValueError: fewer than 2 classes.
        """
        rng, parts, step = np.random.default_rng([seed, classes]), [], max(1, _AT_ONCE // classes)
        for start in range(0, size, step):
            logits = bayes_logits(min(step, size - start), classes, rng)
            parts.append(tuple(special.softmax(t * logits, axis=1).max(1) for t in (temperature, 1.0)))
        return cls(*(np.concatenate(part) for part in zip(*parts, strict=True)))

    def draw(self, n: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        """Confidences and correctness of n samples, drawn with replacement."""
        index = rng.integers(0, len(self.confidence), n)
        return self.confidence[index], (rng.random(n) < self.truth[index]).astype(float)


def cover_top_label(model: TopLabelModel, n: int, runs: int, *, seed: int = 0) -> list[dict[str, Any]]:
    """For ece, adaptive-ece and mce how often 95 % intervals hold the truth, and how often two tests at 5 % reject.

    The tests are calibration_p_value, and whether a point of the diagram lies outside its simultaneous bands.

    Returns:
        For each, 'of', 'true' and means of 'estimate', 'low', 'high', 'debiased' (in per cent), 'hits' and 'runs'.
    """
    methods = {"ece": ece_interval_of, "adaptive-ece": adaptive_ece_interval_of, "mce": mce_interval_of}
    truths = {
        "ece": ece_of(model.confidence, model.truth),
        "adaptive-ece": adaptive_ece_of(model.confidence, model.truth),
        "mce": _true_mce(model, n),
    }
    found: dict[str, list[Interval]] = {name: [] for name in methods}
    rejected, outside = 0, 0
    for run in range(runs):
        sample = model.draw(n, np.random.default_rng([seed, n, run]))
        for name, method in methods.items():
            found[name].append(method(*sample))
        rejected += calibration_p_value_of(*sample, draws=199, seed=run) <= 0.05
        bins = reliability_bins_of(*sample)
        low, high = bins.consistency_together()
        outside += bool(((bins.accuracy < low - 1e-12) | (bins.accuracy > high + 1e-12)).any())
    rows = [_row(name, truths[name], intervals) for name, intervals in found.items()]
    return [*rows, {"of": "p <= 0.05", "hits": rejected, "runs": runs}, {"of": "bands", "hits": outside, "runs": runs}]


def cover_classwise(classes: int, temperature: float, n: int, runs: int, *, seed: int = 0) -> list[dict[str, Any]]:
    """As cover_top_label, of the classwise ECE of softmax(temperature u); a row for each kind of interval."""
    true, found = _true_classwise(classes, temperature), []
    for run in range(runs):
        rng = np.random.default_rng([seed, n, classes, run])
        logits = bayes_logits(n, classes, rng)
        steps = special.softmax(logits, axis=1).cumsum(1)
        labels = (steps < rng.random((n, 1)) * steps[:, -1:]).sum(1)
        gaps = sum_class_gaps(special.softmax(temperature * logits, axis=1), labels)
        found.append(classwise_ece_interval_of(gaps))
    kinds = sorted({interval.kind for interval in found})
    return [_row("classwise-ece", true, [i for i in found if i.kind == kind]) | {"kind": kind} for kind in kinds]


def _row(name: str, true: float, found: list[Interval]) -> dict[str, Any]:
    hits = sum(i.low - 1e-12 <= true <= i.high + 1e-12 for i in found)
    means = {part: 100 * float(np.mean([getattr(i, part) for i in found])) for part in _PARTS}
    return {"of": name, "true": 100 * true, **means, "hits": hits, "runs": len(found), "kind": found[0].kind}


_PARTS = ("estimate", "low", "high", "debiased")


def _true_mce(model: TopLabelModel, n: int) -> float:
    """The largest gap of the bins in which n samples put one at least as often as not."""
    index = assign_bins(model.confidence, DEFAULT_BINS)
    count, gap = (
        np.bincount(index, minlength=DEFAULT_BINS),
        np.bincount(index, model.confidence - model.truth, DEFAULT_BINS),
    )
    seen = count * n >= len(index) * np.log(2)
    return float(np.abs(gap[seen] / count[seen]).max())


@functools.cache
def _true_classwise(classes: int, temperature: float, samples: int = 40_000) -> float:
    """All classes are alike, so one class' gaps are the mean of all."""
    if temperature == 1:
        return 0.0
    rng, sums, total, step = np.random.default_rng([1, classes]), np.zeros(DEFAULT_BINS), 0, max(1, _AT_ONCE // classes)
    while total < max(samples, 2 * _POPULATION // classes):
        logits = bayes_logits(step, classes, rng)
        p, q = (special.softmax(t * logits, axis=1).ravel() for t in (temperature, 1.0))
        sums += np.bincount(assign_bins(p, DEFAULT_BINS), p - q, DEFAULT_BINS)
        total += step
    return float(np.abs(sums).sum() / total / classes)
