"""How far networks are from people: as trained, after the focal map, after temperatures for labels and for people."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.optimize import minimize_scalar
from scipy.special import log_softmax

from focal_lib.calibration.calibrators.temperature import TemperatureScaling
from focal_lib.theory.maps import focal_log_probs
from reproduction.studies.shared.votes import Votes, divergence_to_raters, squared_distance_to_raters

RECORD = "people"  # results/people/
RARE = 0.01  # a class that gets less than this is 'almost excluded'
PRIOR = 0.1  # votes added to each class, of the posterior mean of a Dirichlet prior
FLOOR = 0.01  # of a uniform distribution mixed into the network's
DISTANCES = ("kl", "l2")
_HALVES_SEED = 0


@dataclass(frozen=True)
class Network:
    """Logits of one trained network on the test images, and what its temperature for labels is fitted on."""

    record: str
    model: str
    loss: str
    gamma: float | None  # of the focal loss; None: it has no map
    seed: int
    logits: np.ndarray
    labels: np.ndarray
    validation: tuple[np.ndarray, np.ndarray] | None  # logits and labels; None: halves of the test images


def halves(n: int) -> tuple[np.ndarray, np.ndarray]:
    """Two parts of n images, drawn once: a temperature fitted on one is tried on the other."""
    order = np.random.default_rng(_HALVES_SEED).permutation(n)
    return np.sort(order[: n // 2]), np.sort(order[n // 2 :])


def fit_to_people(logits: np.ndarray, votes: Votes, distance: str = "kl") -> float:
    """The temperature T for which softmax(logits / T) is nearest to the votes, in KL or squared distance.

    Raises:
        ValueError: another distance.
    """
    if distance not in DISTANCES:
        raise ValueError(f"distance must be one of {', '.join(DISTANCES)}. Got {distance!r}.")

    def away(log_t: float) -> float:
        log_probs = log_softmax(logits / np.exp(log_t), -1)
        if distance == "kl":
            return float(-(votes.shares * log_probs).sum(-1).mean())
        return float(((np.exp(log_probs) - votes.shares) ** 2).sum(-1).mean())

    found = minimize_scalar(away, bounds=(np.log(0.05), np.log(20)), method="bounded", options={"xatol": 1e-6})
    return float(np.exp(found.x))


def settings(network: Network, votes: Votes) -> Iterator[tuple[str, np.ndarray, float]]:
    """(method, test log-probabilities, temperature) of a network.

    none: as trained; map: after the focal calibration map of its gamma; temperature: fitted on the validation labels,
    of a network without them on one half of the test labels for the other; map-temperature: the same after the map;
    people, people-l2: fitted on the votes on one half of the images for the other. The temperature of a pair is its
    geometric mean.
    """
    stages = {"": (network.logits, network.validation)}
    if network.gamma:
        own = network.validation
        mapped = None if own is None else (focal_log_probs(_log(own[0]), network.gamma), own[1])
        stages["map"] = (focal_log_probs(_log(network.logits), network.gamma), mapped)
    for stage, (logits, validation) in stages.items():
        yield stage or "none", _log(logits), 1.0
        name = f"{stage}-temperature".lstrip("-")
        if validation is not None:
            t = _fit_labels(*validation)
            yield name, _log(logits / t), t
        else:
            yield name, *_crossed(logits, lambda part: _fit_labels(network.logits[part], network.labels[part]))
    for distance, name in zip(DISTANCES, ("people", "people-l2"), strict=True):

        def on(part: np.ndarray, distance: str = distance) -> float:
            return fit_to_people(network.logits[part], votes.take(part), distance)

        yield name, *_crossed(network.logits, on)


def _log(logits: np.ndarray) -> np.ndarray:
    found: np.ndarray = log_softmax(logits.astype(np.float64), -1)
    return found


def _fit_labels(logits: np.ndarray, labels: np.ndarray) -> float:
    return float(TemperatureScaling("nll").fit(logits, labels).temperature_)


def _crossed(logits: np.ndarray, fit: Any) -> tuple[np.ndarray, float]:
    """Each half after the temperature of the other, and the geometric mean of the two."""
    parts, log_probs, fitted = halves(len(logits)), np.empty(logits.shape), []
    for own, other in (parts, parts[::-1]):
        fitted.append(fit(other))
        log_probs[own] = _log(logits[own] / fitted[-1])
    return log_probs, float(np.exp(np.mean(np.log(fitted))))


def measure_distances(log_probs: np.ndarray, votes: Votes, labels: np.ndarray) -> dict[str, float]:
    """Means over images, in natural units.

    Returns:
        kl, l2: to the people, the noise of few votes taken out; kl_rare, l2_rare: the parts of both from classes to
        which the network gives less than `RARE`; kl_prior: KL to the posterior mean of the votes, `PRIOR` votes added
        to each class; kl_floor: KL from the network mixed with `FLOOR` of the uniform distribution; gap: top
        probability minus the share of people who say that class; label_gap: minus whether it is the label; accuracy.
    """
    probs, shares = np.exp(log_probs), votes.shares
    classes, top = shares.shape[-1], log_probs.argmax(-1)
    rows = np.arange(len(top))
    added = (votes.counts + PRIOR) / (votes.raters + classes * PRIOR)[:, None]
    mixed = np.log((1 - FLOOR) * probs + FLOOR / classes)
    rare = probs < RARE
    ratio = np.log(np.where(shares > 0, shares, 1)) - log_probs
    return {
        "kl": float(divergence_to_raters(log_probs, votes).mean()),
        "l2": float(squared_distance_to_raters(probs, votes).mean()),
        "kl_rare": float((shares * ratio * rare).sum(-1).mean()),
        "l2_rare": float(((probs - shares) ** 2 * rare).sum(-1).mean()),
        "kl_prior": float((added * (np.log(added) - log_probs)).sum(-1).mean()),
        "kl_floor": float(divergence_to_raters(mixed, votes).mean()),
        "gap": float((probs[rows, top] - shares[rows, top]).mean()),
        "label_gap": float((probs[rows, top] - (top == labels)).mean()),
        "accuracy": float((top == labels).mean()),
    }
