"""How often the advice finds what there is to gain: populations in which a method gains a known share of the NLL."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pandas as pd
from scipy import special
from scipy.optimize import brentq, minimize_scalar

from focal_lib.calibration.methods import AS_GIVEN, TEMPERATURE
from focal_lib.validation import check_number
from reproduction.studies.advice.clouds import bayes_logits
from reproduction.studies.advice.rates import Population, rate_of

GAINING = ("temperature", "vector")  # what gains: a temperature over the logits as given, vector scaling over it
_LARGEST = 0.2  # gain that the distortions below can be found for
_STRONGEST = 32.0  # s
_SIZE = 5_000


def population_with_gain(gaining: str, gain: float, classes: int, *, seed: int = 0, size: int = _SIZE) -> Population:
    """A population in which what is right lowers the expected NLL by this share, (before - after) / before.

    With the logits u of `clouds`, which Bayes' rule gives at an accuracy of 0.8: for 'temperature' they are
    :math:`e^s u`, compared as given; for 'vector' (u - s b) / exp(s a), a and b normal for each class with
    standard deviations 0.2 and 1, compared after the temperature that is best for them. s >= 0 is what gives the gain.

    Args:
        gaining: one of GAINING.
        gain: in [0, 0.2].
        size: of the population.

    Raises:
        ValueError: another kind, a gain out of range or of reach, fewer than 2 classes.
    """
    if gaining not in GAINING:
        raise ValueError(f"gaining must be one of {', '.join(GAINING)}. Got {gaining}.")
    if check_number(gain, "gain", minimum=0.0) > _LARGEST:
        raise ValueError(f"gain must be at most {_LARGEST}, a share of the NLL. Got {gain}.")
    rng = np.random.default_rng([seed, classes, GAINING.index(gaining)])
    u = bayes_logits(size, classes, rng)
    a, b = 0.2 * rng.standard_normal(classes), rng.standard_normal(classes)
    truth = special.softmax(u, axis=1)

    def distorted(s: float) -> np.ndarray:
        return np.exp(s) * u if gaining == "temperature" else (u - s * b) / np.exp(s * a)

    def nll_of(logits: np.ndarray) -> Callable[[float], float]:
        return lambda log_t: float(-(truth * special.log_softmax(logits / np.exp(log_t), axis=1)).sum(1).mean())

    def excess(s: float) -> float:
        nll = nll_of(distorted(s))
        before = nll(0.0) if gaining == "temperature" else float(minimize_scalar(nll, bounds=(-5, 5)).fun)
        return 1 - least / before - gain

    least, end = nll_of(u)(0.0), 1.0
    while excess(end) < 0:
        end *= 2
        if end > _STRONGEST:
            raise ValueError(f"gain must be within reach of s = {_STRONGEST:g} for seed {seed}. Got {gain}.")
    s = float(brentq(excess, 0.0, end, xtol=1e-6)) if gain > 0 else 0.0
    return Population(f"{gaining} gains {gain:g}", distorted(s), truth)


def count_advised(decisions: pd.DataFrame) -> pd.DataFrame:
    """How often the method that can gain was advised, with its 95 % interval (Clopper & Pearson 1934).

    Where a temperature can gain, any method counts, which all have one; where vector scaling can, it alone.

    Args:
        decisions: of judge_advice on these populations, with their 'gaining' and 'gain'.

    Returns:
        gaining, samples, gain, runs, advised, rate with low and high; worth it: the share of decisions in which its
        fit truly gained the relevant amount, over the logits as given or over the fitted temperature, in expected NLL
        or Brier score.
    """
    rows = []
    for (gaining, n, gain), part in decisions.groupby(["gaining", "samples", "gain"]):
        vector = gaining == "vector"
        found = part["advised"].eq("vector") if vector else part["advised"].ne(AS_GIVEN.label)
        before = TEMPERATURE.label if vector else AS_GIVEN.label
        gained = [1 - part[f"{score}: {gaining}"] / part[f"{score}: {before}"] for score in ("nll", "brier")]
        worth = pd.concat(gained, axis=1).ge(part["relevant"], axis=0).any(axis=1)
        rows.append((gaining, n, gain, *rate_of(found), float(worth.mean())))
    columns = ["gaining", "samples", "gain", "runs", "advised", "rate", "low", "high", "worth it"]
    return pd.DataFrame(rows, columns=columns)
