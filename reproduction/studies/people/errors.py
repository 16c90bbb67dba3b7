"""How much distances to people would differ with other images, other people and other trainings.

Images are resampled, and of each image its votes (multinomial). Every distance is linear in the shares of the votes, so
that all contrasts share the draws. Votes are nested in images: to resample images alone already counts the chance of
the votes, so that to resample both is careful. Who gave which vote is not in the data: that one person rated many
images is not counted.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.special import softmax

from focal_lib.calibration.calibrators.temperature import TemperatureScaling
from focal_lib.metrics.intervals import Interval
from reproduction.studies.people.measures import FLOOR, Network, fit_to_people
from reproduction.studies.shared.two_way import interval_of_two
from reproduction.studies.shared.votes import Votes

LEVEL = 0.95


def terms(log_probs: np.ndarray, metric: str) -> tuple[np.ndarray, np.ndarray]:
    """a (n, K) and b (n,) with distance = sum of shares a + b, but for what is the same for every network.

    Args:
        metric: kl, kl_floor or l2.

    Raises:
        ValueError: another metric.
    """
    if metric == "kl":
        return -log_probs, np.zeros(len(log_probs))
    probs = np.exp(log_probs)
    if metric == "kl_floor":
        return -np.log((1 - FLOOR) * probs + FLOOR / probs.shape[-1]), np.zeros(len(probs))
    if metric == "l2":
        return -2 * probs, (probs**2).sum(-1)
    raise ValueError(f"metric must be kl, kl_floor or l2. Got {metric!r}.")


def draw_errors(
    parts: Sequence[tuple[np.ndarray, np.ndarray]], votes: Votes, resamples: int, seed: int = 0
) -> list[tuple[float, float]]:
    """Standard deviation of each mean distance over draws of images and raters, and over draws of images alone.

    Args:
        parts: of each distance, or difference of two, what `terms` gives.
    """
    rng = np.random.default_rng(seed)
    n = len(votes)
    by_vote = np.stack([votes_part.ravel() for votes_part, _ in parts])  # (contrasts, n K)
    by_image = np.stack([image_part for _, image_part in parts])
    fixed = np.stack([(votes.shares * a).sum(-1) + b for a, b in parts])  # (contrasts, n)
    both, images = (np.empty((resamples, len(parts))) for _ in range(2))
    for i in range(resamples):
        times = rng.multinomial(n, np.full(n, 1 / n))
        weights = times / n
        drawn = rng.multinomial(times * votes.raters, votes.shares)  # of an image drawn twice, other votes each time
        both[i] = by_vote @ (drawn / (n * votes.raters[:, None])).ravel() + by_image @ weights
        images[i] = fixed @ weights
    return list(zip(both.std(0, ddof=1).tolist(), images.std(0, ddof=1).tolist(), strict=True))


def ratio_error(networks: Sequence[Network], votes: Votes) -> float:
    """Standard error over images of the mean over seeds of log(T for people / T for labels), by the delta method.

    Of an estimate beta = 1/T with sum of g_i(beta) = 0, an image moves log T by g_i / (n h beta), h the mean slope. The
    validation images of the seeds are taken as the same ones.
    """
    people, labels = [], []
    for network in networks:
        z = network.logits
        people.append(_influence(z, votes.shares, 1 / fit_to_people(z, votes)))
        given = network.validation or (z, network.labels)
        t = float(TemperatureScaling("nll").fit(*given).temperature_)
        moved = _influence(given[0], np.eye(z.shape[-1])[given[1]], 1 / t)
        labels.append(np.sqrt((moved**2).sum()))
    return float(np.hypot(np.sqrt((np.mean(people, axis=0) ** 2).sum()), np.mean(labels)))


def _influence(logits: np.ndarray, targets: np.ndarray, beta: float) -> np.ndarray:
    probs = softmax(beta * logits, -1)
    mean = (probs * logits).sum(-1)
    slope = ((probs * logits**2).sum(-1) - mean**2).mean()
    found: np.ndarray = (mean - (targets * logits).sum(-1)) / (len(logits) * slope * beta)
    return found


def two_way_interval(by_seed: np.ndarray, error: float) -> Interval:
    """Interval of a mean over seeds whose variance has a part from seeds and one from images and raters.

    As of every claim, see `interval_of_two`; the degrees of freedom of the images are taken as infinite. What images
    and seeds do together is in both parts, so that the interval is rather too wide.

    Raises:
        ValueError: fewer than two seeds.
    """
    if len(by_seed) < 2:
        raise ValueError(f"seeds must be at least two. Got {len(by_seed)}.")
    of_seeds = float(np.var(by_seed, ddof=1) / len(by_seed))
    return interval_of_two(float(np.mean(by_seed)), (of_seeds, error**2), (len(by_seed) - 1, np.inf), LEVEL)
