"""Populations of known truth: made up so that one method is right, of rare events, or a recorded model's samples."""

from __future__ import annotations

import zlib
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from scipy import special
from scipy.optimize import brentq

from focal_lib.calibration.logit_sets import LogitSet
from focal_lib.theory.maps import inverse_focal_log_probs
from focal_lib.tool.inputs.logits_file import read_logits
from focal_lib.validation import check_number
from reproduction.studies.advice.clouds import bayes_logits

# what is right in a made-up population
KNOWN_TRUTHS = (
    "calibrated",
    "calibrated, rarely wrong",
    "overconfident, rarely wrong",
    "underconfident, rarely wrong",
    "temperature",
    "temperature, unequal classes",
    "focal temperature",
    "vector",
)
PREVALENCES = (0.01, 0.001)
EVENT_MODELS = ("calibrated", "2.5 times as likely", "odds times 5")  # what a model says of rare events
_TEMPERATURE, _GAMMA = 1.5, 3.0
_RARE_TEMPERATURES = {"overconfident": 3.0, "underconfident": 0.5}  # of those that are rarely wrong
_RARELY_WRONG = 0.985  # accuracy
_NUMBERS = 1_000_000  # in a population: samples times classes
_LARGEST_GAIN = 0.2


@dataclass(frozen=True)
class Population:
    """Logits (m, K) with the probabilities of their labels (m, K), which are the truth."""

    name: str
    logits: np.ndarray
    truth: np.ndarray

    @property
    def classes(self) -> int:
        return int(self.logits.shape[1])

    def draw(self, n: int, rng: np.random.Generator) -> LogitSet:
        """n samples with replacement, each with a label of its own."""
        index = rng.integers(0, len(self.logits), n)
        steps = np.cumsum(self.truth[index], axis=1)
        labels = (steps < rng.random((n, 1)) * steps[:, -1:]).sum(1)
        return LogitSet(self.logits[index], labels.astype(np.int64))

    def scores(self, log_probs: np.ndarray) -> tuple[float, float]:
        """Expected NLL and Brier score of log-probabilities (m, K) of these samples."""
        probs = np.exp(log_probs)
        nll = -np.where(self.truth > 0, self.truth * log_probs, 0.0)  # 0 log 0 is 0
        brier = (probs * probs).sum(1) - 2 * (probs * self.truth).sum(1) + 1
        return float(nll.sum(1).mean()), float(brier.mean())


def made_up_population(truth: str, classes: int, *, seed: int = 0, size: int | None = None) -> Population:
    """A population for which one method is right: its fit, with enough samples, is calibrated.

    With the logits u of `clouds`, which Bayes' rule gives at an accuracy of 0.8, they are u (calibrated), 1.5 u
    (temperature), those whose focal map with gamma = 3 gives softmax(u) (focal temperature), or (u - b) / a with a and
    b for each class (vector); rarely wrong, at an accuracy of 0.985, u (calibrated), 3 u (overconfident) or 0.5 u
    (underconfident). With unequal classes the k-th is 1 / k times as frequent as the first.

    Args:
        truth: one of KNOWN_TRUTHS.
        size: of the population; default between 2,500 and 20,000, fewer for more classes.

    Raises:
        ValueError: another truth; fewer than 2 classes.
    """
    if truth not in KNOWN_TRUTHS:
        raise ValueError(f"truth must be one of {', '.join(KNOWN_TRUTHS)}. Got {truth}.")
    rng = np.random.default_rng([seed, classes, KNOWN_TRUTHS.index(truth)])
    m = size or int(np.clip(_NUMBERS // classes, 2_500, 20_000))
    name, _, rest = truth.partition(", ")
    frequencies = 1 / np.arange(1, classes + 1) if rest == "unequal classes" else np.ones(classes)
    accuracy = _RARELY_WRONG if rest == "rarely wrong" else 0.8
    u = bayes_logits(m, classes, rng, accuracy=accuracy, frequencies=frequencies / frequencies.sum())
    right = special.log_softmax(u, axis=1)
    if name in _RARE_TEMPERATURES:
        u = _RARE_TEMPERATURES[name] * u
    elif name == "temperature":
        u = _TEMPERATURE * u
    elif name == "focal temperature":
        u = inverse_focal_log_probs(right, _GAMMA)
    elif name == "vector":
        u = (u - 0.5 * rng.standard_normal(classes)) / np.exp(0.3 * rng.standard_normal(classes))
    return Population(truth, u, np.exp(right))


def rare_event_population(prevalence: float, model: str, *, seed: int = 0, size: int = 20_000) -> Population:
    """Two classes, of which the second is rare: its log-odds are normal with standard deviation 1.

    Args:
        prevalence: mean probability of the event, in (0, 1).
        model: what the logits say, one of EVENT_MODELS: these probabilities p; min(2.5 p, 0.999), as after sampling;
            or five times their odds, as after weighting.

    Raises:
        ValueError: another model; a prevalence out of range.
    """
    if model not in EVENT_MODELS:
        raise ValueError(f"model must be one of {', '.join(EVENT_MODELS)}. Got {model}.")
    if not 0 < prevalence < 1:
        raise ValueError(f"prevalence must lie in (0, 1). Got {prevalence}.")
    z = np.random.default_rng([seed, EVENT_MODELS.index(model)]).standard_normal(size)
    shift = brentq(lambda at: float(special.expit(z + at).mean()) - prevalence, -30, 30)
    odds, p = z + shift, special.expit(z + shift)
    if model == EVENT_MODELS[1]:
        odds = special.logit(np.minimum(2.5 * p, 0.999))
    elif model == EVENT_MODELS[2]:
        odds = odds + np.log(5)
    return Population(
        event_name(prevalence, model), np.stack([np.zeros(size), odds], axis=1), np.stack([1 - p, p], axis=1)
    )


def event_name(prevalence: float, model: str) -> str:
    """'1 % events, calibrated'."""
    return f"{100 * prevalence:g} % events, {model}"


def population_with_gain(gain: float, classes: int, *, seed: int = 0, size: int = 5_000) -> Population:
    """A population in which a temperature lowers the expected NLL by this share, (before - after) / before.

    The logits are e^s u with u of `clouds` at an accuracy of 0.8, and s >= 0 is what gives the gain.

    Raises:
        ValueError: a gain outside [0, 0.2]; fewer than 2 classes.
    """
    if check_number(gain, "gain", minimum=0.0) > _LARGEST_GAIN:
        raise ValueError(f"gain must be at most {_LARGEST_GAIN}, a share of the NLL. Got {gain}.")
    u = bayes_logits(size, classes, np.random.default_rng([seed, classes, 0]))
    population = Population(f"temperature gains {gain:g}", u, special.softmax(u, axis=1))

    def nll(s: float) -> float:
        return population.scores(special.log_softmax(np.exp(s) * u, axis=1))[0]

    s = float(brentq(lambda s: 1 - nll(0.0) / nll(s) - gain, 0.0, 3.0, xtol=1e-6)) if gain > 0 else 0.0
    return Population(population.name, np.exp(s) * u, population.truth)


def recorded_population(path: str | Path, name: str) -> Population:
    """A recorded model's logits and labels, of validation and test together, as if they were all there is.

    Raises:
        ValueError: as read_logits.
    """
    sets = read_logits(path)
    logits = np.concatenate([np.asarray(s.logits[:], dtype=np.float64) for s in sets.values()])
    labels = np.concatenate([s.labels for s in sets.values()])
    return Population(name, logits, np.eye(logits.shape[1])[labels])


def rng_of(name: str, classes: int, n: int, seed: int) -> np.random.Generator:
    """Of a decision: those of two settings share no samples."""
    return np.random.default_rng([seed, n, classes, zlib.crc32(name.encode())])
