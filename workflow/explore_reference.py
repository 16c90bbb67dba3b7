"""Values by which the book's script of moving figures is checked: python -m workflow.explore_reference.

book/_static/explore.js writes formulas of focal_lib.theory again, for a browser. Here focal_lib computes what each
should give; tests/book/explore.test.js compares, tests/book/test_explore.py calls it.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from scipy.optimize import brentq

from focal_lib.metrics import ece, reliability_bins
from focal_lib.theory.confidence import confidence_change
from focal_lib.theory.gain import confidence_threshold, peak_probability
from focal_lib.theory.maps import focal_log_probs
from focal_lib.theory.proper import focal_calibration_minimiser, focal_minimiser
from focal_lib.theory.temperature_bounds import beta, printed_temperature_bounds, temperature_bounds
from reproduction.pages.explore import logit_sample, sample_log_probs, tied

FILE = Path(__file__).resolve().parents[1] / "tests" / "book" / "explore_reference.json"
LOGITS = (0.0, 1e-8, 0.001, 0.3, 0.999, 1.0, 2.4, 4.0, 17.0, 37.0, 800.0, 1e4, -0.5, -3.0, -1e4)
MAP_GAMMAS = (0.0, 0.1, 1.0, 2.0, 5.0, 20.0, 100.0)
SLIDER_GAMMAS = (0.1, 0.5, 1.0, 2.0, 3.0, 5.0, 7.5, 10.0)  # of the figures
CLASSES = (2, 3, 4, 5, 6, 10, 100, 200, 1000)


def tied_crossing(n: int, gamma: float) -> float:
    """Up to which top probability the map lowers it, the others tied; 1/n where it lowers none."""
    peak = peak_probability(gamma)
    if 1 / n >= peak:
        return 1 / n
    return float(brentq(lambda top: float(confidence_change(tied(top, n), gamma)), peak, 0.5, xtol=1e-14))


Cases = list[tuple[list[Any], Any]]  # arguments and value


def _betas() -> Cases:
    return [([s, g], beta(s, g)) for s in LOGITS for g in MAP_GAMMAS]


def _simplex_maps() -> Cases:
    rng = np.random.default_rng(0)
    logits = [(rng.normal(size=n) * scale).tolist() for n, scale in ((2, 1), (3, 0.1), (3, 3), (3, 300), (10, 5))]
    return [([z, g], focal_log_probs(np.array(z), g).tolist()) for z in logits for g in MAP_GAMMAS]


def _told() -> Cases:
    truths = ([0.8, 0.2], [0.5, 0.3, 0.2], [0.9, 0.05, 0.03, 0.02], [0.1] * 10, [0.6, 0.3, 0.0997, 0.0002, 0.0001])
    return [([p, g], focal_minimiser(p, g).tolist()) for p in truths for g in (0.0, *SLIDER_GAMMAS)]


def _bounds() -> Cases:
    pairs = [(g, r) for g in (*SLIDER_GAMMAS, 20.0, 100.0) for r in (2e-5, 0.5, 1.0, 4.0, 20.0)]
    return [([g, r], list(temperature_bounds(g, r))) for g, r in pairs]


def _tied() -> Cases:
    tops = [(q, n) for n in CLASSES for q in (1 / n + 1e-4, 0.3, 0.5, 0.99) if q > 1 / n]
    return [([q, n, g], q + float(confidence_change(tied(q, n), g))) for q, n in tops for g in SLIDER_GAMMAS]


def _minimisers() -> Cases:
    given = [(p, lam) for p in (0.01, 0.2, 0.5, 0.8, 0.99) for lam in (0.0, 0.5, 1.0, 20.0)]
    pairs, lams = np.array([(p, 1 - p) for p, _ in given]), np.array([lam for _, lam in given])
    found: Cases = []
    for g in (0.0, 0.5, 2.0, 5.0, 10.0):
        values = focal_calibration_minimiser(pairs, g, lams)[:, 0].tolist()
        found += [([p, g, lam], value) for (p, lam), value in zip(given, values, strict=True)]
    return found


def reliability(sample: np.ndarray, gamma: float, temperature: float) -> list[Any]:
    """ECE and NLL of a `logit_sample`, then confidence and accuracy of each bin."""
    log_probs, labels = sample_log_probs(sample, gamma, temperature), np.zeros(len(sample), dtype=int)
    bins = reliability_bins(np.exp(log_probs), labels)
    means = [-float(log_probs[:, 0].mean()), *zip(bins.confidence.tolist(), bins.accuracy.tolist(), strict=True)]
    return [ece(np.exp(log_probs), labels), *means]


def _reliability() -> Cases:
    rng = np.random.default_rng(0)
    found: Cases = []
    for n, scale in ((2, 1), (4, 5)):
        sample = logit_sample(rng.normal(size=(30, n)) * scale, rng.integers(n, size=30))
        pairs = [(g, t) for g in (0.0, 1.5, 5.0) for t in (0.2, 1.0, 4.0)]
        found += [([sample.tolist(), g, t], reliability(sample, g, t)) for g, t in pairs]
    return found


FUNCTIONS: dict[str, Callable[[], Cases]] = {  # by their names in the script
    "beta": _betas,
    "focalLogProbs": _simplex_maps,
    "focalMinimiser": _told,
    "temperatureBounds": _bounds,
    "confidenceThreshold": lambda: [([g], confidence_threshold(g)) for g in (*SLIDER_GAMMAS, 100.0)],
    "tiedTop": _tied,
    "tiedCrossing": lambda: [([n, g], tied_crossing(n, g)) for n in CLASSES for g in SLIDER_GAMMAS],
    "fclMinimiser": _minimisers,
    "reliability": _reliability,
    "printedHigh": lambda: [([g], printed_temperature_bounds(g)[1]) for g in SLIDER_GAMMAS],
}


def as_json() -> str:
    """All cases, one a line."""
    blocks = [
        f"{json.dumps(name)}: [\n" + ",\n".join(json.dumps(case) for case in cases()) + "\n]"
        for name, cases in FUNCTIONS.items()
    ]
    return "{\n" + ",\n".join(blocks) + "\n}\n"


if __name__ == "__main__":
    FILE.write_text(as_json())
