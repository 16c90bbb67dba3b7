"""Made-up models whose true probabilities are known: calibrated, and miscalibrated in ways that tests differ on."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.special import expit, softmax

from focal_lib.metrics.bins import ece_of
from focal_lib.metrics.smooth import smooth_ece_of
from focal_lib.metrics.truthful import averaged_two_bin_error_of

_BATCHES, _BATCH = 10, 100_000  # of samples, for true errors
_WIDTH = 1 / 15  # of a bin: the saw-tooth cancels within each
_LEAVES = ((0.05, 0.2, 0.4, 0.7, 0.9), (0.35, 0.25, 0.2, 0.1, 0.1))  # probabilities of a tree, and how often each is

Draw = Callable[[int, np.random.Generator], tuple[np.ndarray, np.ndarray]]


class Sample(NamedTuple):
    """Probabilities (n, K), labels (n,) and true probabilities (n, K)."""

    probs: np.ndarray
    labels: np.ndarray
    truth: np.ndarray

    def judged(self) -> tuple[np.ndarray, np.ndarray]:
        """Of two classes the probability of class 1, else the confidence, (n,); and 1 where it came true, (n,)."""
        top = self._judged()
        return self.probs[np.arange(len(top)), top], (self.labels == top).astype(np.int64)

    def judged_truth(self) -> np.ndarray:
        """The true probability of what is judged, (n,)."""
        return self.truth[np.arange(len(self.truth)), self._judged()]

    def _judged(self) -> np.ndarray:
        n, classes = self.probs.shape
        return np.ones(n, dtype=np.int64) if classes == 2 else self.probs.argmax(1)


@dataclass(frozen=True)
class Model:
    """A model and the truth.

    Attributes:
        name: of the truth, without the number of classes.
        classes: K.
        limit: of the ECE, a fraction, at which a check passes.
        calibrated: whether its probabilities are the true ones.
        pairs: n and a generator -> probabilities and true probabilities, (n, K) each.
    """

    name: str
    classes: int
    limit: float
    calibrated: bool
    pairs: Draw

    def draw(self, n: int, rng: np.random.Generator) -> Sample:
        """n samples, labels by the true probabilities."""
        probs, truth = self.pairs(n, rng)
        steps = truth.cumsum(1)
        labels = (steps < rng.random((n, 1)) * steps[:, -1:]).sum(1)
        return Sample(probs, labels, truth)


def _binary(p: np.ndarray, truth: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    return np.stack([1 - p, p], 1), np.stack([1 - truth, truth], 1)


def _scaled(classes: int, factor: float) -> Draw:
    """Normal logits, and the model's are `factor` times as large."""

    def pairs(n: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        if classes == 2:
            logits = rng.normal(0, 1.5, n)
            return _binary(expit(factor * logits), expit(logits))
        many = rng.normal(0, 2, (n, classes))
        return softmax(factor * many, axis=1), softmax(many, axis=1)

    return pairs


def _one_class(classes: int) -> Draw:
    """Class 0 has e times the odds that it should."""

    def pairs(n: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        logits = rng.normal(0, 2, (n, classes))
        return softmax(logits + np.eye(classes)[0], axis=1), softmax(logits, axis=1)

    return pairs


def _sawtooth(n: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Too low by 0.15 in the lower half of each of 15 bins, too high by as much in the upper."""
    p = rng.uniform(3 * _WIDTH, 12 * _WIDTH, n)
    return _binary(p, p + np.where(p / _WIDTH % 1 < 0.5, 0.15, -0.15))


def _rare(ratio: float) -> Draw:
    """One sample in a hundred is an event, and the model says `ratio` times the odds."""

    def pairs(n: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        logits = rng.normal(-5.3, 1.2, n)
        return _binary(expit(logits + np.log(ratio)), expit(logits))

    return pairs


def _tied(share: float) -> Draw:
    """Five probabilities, of which events are the `share`."""

    def pairs(n: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        p = rng.choice(_LEAVES[0], n, p=_LEAVES[1])
        return _binary(p, share * p)

    return pairs


def _models() -> tuple[Model, ...]:
    scaled = {"calibrated": 1.0, "overconfident": 1.5, "underconfident": 1 / 1.5}
    found = [
        Model(name, classes, 0.05, factor == 1, _scaled(classes, factor))
        for classes in (2, 3, 10)
        for name, factor in scaled.items()
    ]
    found += [Model("one class too likely", classes, 0.05, False, _one_class(classes)) for classes in (3, 10)]
    found.append(Model("saw-tooth within bins", 2, 0.05, False, _sawtooth))
    found += [
        Model(name, 2, 0.005, ratio == 1, _rare(ratio))
        for name, ratio in {"rare events, calibrated": 1.0, "rare events, too likely": 2.5}.items()
    ]
    found += [
        Model(name, 2, 0.05, share == 1, _tied(share))
        for name, share in {"ties, calibrated": 1.0, "ties, too likely": 0.8}.items()
    ]
    return tuple(found)


MODELS = _models()


@functools.cache
def true_errors(model: Model, batch: int = _BATCH) -> dict[str, tuple[float, float]]:
    """Errors of the population, each with its Monte Carlo standard error.

    Returns:
        'ece' (15 bins of equal width), 'truthful' (averaged two-bin) and 'smooth', of what is judged; of more than two
        classes 'classwise'; and 'mean', the mean distance of what is judged from its true probability.
    """
    batches = [model.draw(batch, np.random.default_rng([7, number])) for number in range(_BATCHES)]
    whole = _errors(Sample(*(np.concatenate(part) for part in zip(*batches, strict=True))))
    each = [_errors(sample) for sample in batches]
    return {
        name: (value, float(np.std([errors[name] for errors in each], ddof=1) / np.sqrt(_BATCHES)))
        for name, value in whole.items()
    }


def _errors(sample: Sample) -> dict[str, float]:
    p, truth = sample.judged()[0], sample.judged_truth()
    found = {
        "ece": ece_of(p, truth),
        "truthful": averaged_two_bin_error_of(p, truth),
        "smooth": smooth_ece_of(p, truth),
        "mean": float(np.abs(p - truth).mean()),
    }
    if sample.probs.shape[1] > 2:
        of_classes = [ece_of(*pair) for pair in zip(sample.probs.T, sample.truth.T, strict=True)]
        found["classwise"] = float(np.mean(of_classes))
    return found
