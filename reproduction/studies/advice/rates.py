"""How often the advice is wrong, by simulation from populations whose truth is known.

A population is a set of logits with the probabilities of their labels: made up so that one method is right, or a
recorded model's logits with its labels, of which the whole is then the truth. Sets to fit and to test on are drawn from
it with replacement, `calibrate`'s methods are fitted and compared and the advice is given as there; what each fit is
worth is its expected NLL and Brier score over the population.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy import special

from focal_lib.calibration.logit_sets import LogitSet
from focal_lib.calibration.methods import AS_GIVEN, DEFAULT, TEMPERATURE, Method, build
from focal_lib.metrics.intervals import exact_binomial_ends
from focal_lib.theory.maps import inverse_focal_log_probs
from focal_lib.tool.evaluation.comparison import Evaluation, differences, hold_out
from focal_lib.tool.evaluation.recommendation import RELEVANT, advise
from focal_lib.tool.inputs.logits_file import read_logits
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
ADVICE_ERRORS = {
    "worse": "advises a richer method that is worse than temperature, by a relevant amount",
    "worse at all": "advises a richer method that is worse than temperature, by however little",
    "harms": "advises a method that is worse than the logits as given, by a relevant amount",
    "misses": "advises a method where another is better by a relevant amount",
    "leaves alone": "advises the logits as given where a method is better by a relevant amount",
}
_TEMPERATURE, _GAMMA = 1.5, 3.0
_RARE_TEMPERATURES = {"overconfident": 3.0, "underconfident": 0.5}  # of those that are rarely wrong
_RARELY_WRONG = 0.985  # accuracy
_NUMBERS = 1_000_000  # in a population: samples times classes
_SCORES = ("nll", "brier")
# in which decisions an error can be made
_POSSIBLE = {"worse": "richer", "worse at all": "richer", "harms": "changed", "misses": "gain", "leaves alone": "gain"}


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


def recorded_population(path: str | Path, name: str) -> Population:
    """A recorded model's logits and labels, of validation and test together.

    Raises:
        ValueError: as read_logits.
    """
    sets = read_logits(path)
    logits = np.concatenate([np.asarray(s.logits[:], dtype=np.float64) for s in sets.values()])
    labels = np.concatenate([s.labels for s in sets.values()])
    return Population(name, logits, np.eye(logits.shape[1])[labels])


def judge_advice(
    population: Population, n: int, seed: int, *, methods: Iterable[Method] = DEFAULT, relevant: float = RELEVANT
) -> dict[str, Any]:
    """One decision: n samples to fit on and n to test on are drawn, and the advice on them is held against the truth.

    Returns:
        The population's name and classes, samples, seed, the label of what is advised; how many intervals of
        differences there were, whether all hold the truth, and whether one is on the wrong side of 0; and of each
        method and of the logits as given the expected 'nll: <label>' and 'brier: <label>'.
    """
    rng = rng_of(population.name, population.classes, n, seed)
    fitted_on, test = population.draw(n, rng), population.draw(n, rng)
    evaluation = hold_out(fitted_on, test, {method: build(*method) for method in methods})
    return judge_evaluation(evaluation, population, seed, relevant=relevant)


def judge_evaluation(
    evaluation: Evaluation, population: Population, seed: int, *, relevant: float = RELEVANT
) -> dict[str, Any]:
    """The advice on methods that were compared on samples of a population: what judge_advice returns."""
    table = differences(evaluation)
    advice = advise(evaluation, table, relevant=relevant)
    logs = {AS_GIVEN: special.log_softmax(population.logits, axis=1)}
    logs |= {method: fit.predict_log_proba(population.logits) for method, fit in evaluation.fits.items()}
    found = {method.label: population.scores(log_probs) for method, log_probs in logs.items()}
    return {
        "truth": population.name,
        "classes": population.classes,
        "samples": evaluation.n_test,
        "seed": seed,
        "relevant": relevant,
        "advised": advice.kept.label,
        **_coverage(table, found | {method.name: found[method.label] for method in list(evaluation.fits)[:1]}),
        **{f"{score}: {label}": values[i] for i, score in enumerate(_SCORES) for label, values in found.items()},
    }


def rng_of(name: str, classes: int, n: int, seed: int) -> np.random.Generator:
    """Of a decision: those of two settings share no samples."""
    return np.random.default_rng([seed, n, classes, zlib.crc32(name.encode())])


def _coverage(differences: pd.DataFrame, scores: dict[str, tuple[float, float]]) -> dict[str, Any]:
    """Of the intervals of differences in the expected scores: how many, whether all hold, whether a side is wrong.

    Scores by labels, of the first method by its name, too, which is how a reference is called.
    """
    known = differences[differences["low"].notna()]
    held, wrong_side = [], []
    names = ("method", "objective", "reference", "metric", "low", "high")
    for method, objective, reference, metric, low, high in zip(*(known[name] for name in names), strict=True):
        i = _SCORES.index(metric)
        truth = scores[Method(method, objective).label][i] - scores[reference][i]
        held.append(low <= truth <= high)
        wrong_side.append((low > 0 > truth) or (high < 0 < truth))
    return {"intervals": len(held), "all hold": bool(all(held)), "wrong side": bool(any(wrong_side))}


def count_advice_errors(
    decisions: pd.DataFrame, *, by: Iterable[str] = ("truth", "classes", "samples")
) -> pd.DataFrame:
    """How often each of ADVICE_ERRORS was made in each setting, with its 95 % interval (Clopper & Pearson 1934).

    Of the decisions in which it could be made: `worse` of those that advise a richer method than temperature, `harms`
    of those that advise a method, `misses` and `leaves alone` of those where something is better by a relevant amount.
    A method is worse than another by an amount where its expected NLL or its expected Brier score is larger by that
    share of the other's; better where one of the two is smaller by that share and the other is no larger.

    Args:
        decisions: of judge_advice, one row each, of the same methods.

    Returns:
        As count_marked.
    """
    marks = []
    for _, row in decisions.iterrows():
        found = errors_of(row)
        marks.append({error: float(found[error]) if found[_POSSIBLE[error]] else np.nan for error in ADVICE_ERRORS})
    return count_marked(decisions, pd.DataFrame(marks, decisions.index), by)


def count_marked(decisions: pd.DataFrame, marked: pd.DataFrame, by: Iterable[str]) -> pd.DataFrame:
    """How often each error was made in each setting: marked as 1 or 0, nan where it could not be made.

    Returns:
        The setting, error, runs, wrong, and rate with low and high.
    """
    columns, rows = list(by), []
    for setting, part in pd.concat([decisions, marked], axis=1).groupby(columns, sort=False):
        rows += [(*setting, error, *rate_of(part[error].dropna())) for error in marked]
    return pd.DataFrame(rows, columns=[*columns, "error", "runs", "wrong", "rate", "low", "high"])


def rate_of(happened: pd.Series) -> tuple[int, int, float, float, float]:
    """Runs, in how many it happened, the rate with its exact 95 % interval (Clopper & Pearson 1934)."""
    count, runs = int(happened.sum()), len(happened)
    low, high = exact_binomial_ends(count, runs, 0.025)
    return runs, count, count / runs if runs else np.nan, float(low), float(high)


def errors_of(row: pd.Series) -> dict[str, bool]:
    """Which of ADVICE_ERRORS a decision of judge_advice makes, and in which kinds of decisions it is.

    `harms at all`, of a method that is worse than the logits as given by however little; `richer` than temperature,
    `changed` logits, and a `gain` of a relevant amount to be had.
    """
    labels = [name.removeprefix("nll: ") for name in row.index if name.startswith("nll: ") and pd.notna(row[name])]
    score = {label: np.array([row[f"{name}: {label}"] for name in _SCORES]) for label in labels}
    advised, amount = row["advised"], row["relevant"]

    def worse(one: str, other: str, share: float) -> bool:
        return bool((score[one] > (1 + share) * score[other]).any())

    def better(one: str, other: str) -> bool:
        return bool((score[one] < (1 - amount) * score[other]).any() and (score[one] <= score[other]).all())

    stays, richer = advised == AS_GIVEN.label, advised not in (AS_GIVEN.label, TEMPERATURE.label)
    missed = any(better(label, advised) for label in labels)
    return {
        "worse": richer and worse(advised, TEMPERATURE.label, amount),
        "worse at all": richer and worse(advised, TEMPERATURE.label, 0.0),
        "harms at all": worse(advised, AS_GIVEN.label, 0.0),
        "harms": worse(advised, AS_GIVEN.label, amount),
        "misses": missed and not stays,
        "leaves alone": missed and stays,
        "richer": richer,
        "changed": not stays,
        "gain": missed or any(better(label, AS_GIVEN.label) for label in labels),
    }
