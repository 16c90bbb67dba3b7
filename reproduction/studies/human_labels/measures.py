"""How far from the raters models are, as trained, after the focal map, after a temperature, after both."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
import pandas as pd
from scipy.special import log_softmax

from focal_lib.calibration.calibrators.temperature import TemperatureScaling
from focal_lib.metrics.intervals import t_interval
from focal_lib.theory.maps import focal_log_probs
from reproduction.studies.human_labels.plan import Plan
from reproduction.studies.human_labels.train import Outcome, train
from reproduction.studies.shared.votes import (
    Votes,
    divergence_to_raters,
    energy_to_raters,
    squared_distance_to_raters,
)

RECORD = "human-labels"  # results/human-labels/table.parquet


def fit_temperature(logits: np.ndarray, targets: np.ndarray) -> float:
    """T of least cross-entropy to targets (m, K), distributions, for logits (m, K)."""
    m, classes = targets.shape
    labels = np.repeat(np.arange(classes), m)  # each sample as often as there are classes, weighted by its target
    fitted = TemperatureScaling("nll").fit(np.tile(logits, (classes, 1)), labels, targets.T.ravel())
    return float(fitted.temperature_)


def scalings(outcome: Outcome) -> Iterator[tuple[str, str, np.ndarray, float]]:
    """(method, objective, test log-probabilities (n, K), temperature): 'none', 'temperature', 'map', 'map-temperature'.

    The map is that of the loss's own gamma, where the decomposition gives it one; temperatures are fitted on the
    validation part, on labels of the kind that the model was trained on.
    """
    stages = {"": (outcome.validation, outcome.test)}
    if (gamma := outcome.plan.mapped_gamma) is not None:
        stages["map"] = (focal_log_probs(outcome.validation, gamma), focal_log_probs(outcome.test, gamma))
    for stage, (validation, test) in stages.items():
        yield stage or "none", "", log_softmax(test, -1), 1.0
        t = fit_temperature(validation, outcome.targets)
        yield "-".join(filter(None, [stage, "temperature"])), "nll", log_softmax(test / t, -1), t


def measure_distances(log_probs: np.ndarray, votes: Votes) -> dict[str, float]:
    """Means over items, in natural units.

    Returns:
        kl, l2: to the raters, their noise taken out; energy, of more than two classes, taken as ordered: the same (of
        two it is l2); accuracy: the share of raters who say the top class; gap: the top probability less that share.
    """
    top = log_probs.argmax(-1)[:, None]
    agree = np.take_along_axis(votes.shares, top, -1)
    ordered = {"energy": float(energy_to_raters(np.exp(log_probs), votes).mean())} if log_probs.shape[-1] > 2 else {}
    return {
        "kl": float(divergence_to_raters(log_probs, votes).mean()),
        "l2": float(squared_distance_to_raters(np.exp(log_probs), votes).mean()),
        **ordered,
        "accuracy": float(agree.mean()),
        "gap": float((np.exp(np.take_along_axis(log_probs, top, -1)) - agree).mean()),
    }


def measure_plans(plans: Iterable[Plan]) -> pd.DataFrame:
    """Train each plan and measure what comes out: see `measure_outcomes`."""
    return measure_outcomes(outcome for plan in plans for outcome in train(plan))


def measure_outcomes(outcomes: Iterable[Outcome]) -> pd.DataFrame:
    """A row for each outcome, method and metric.

    Returns:
        dataset, model, classes, labels, loss, gamma, kept, seed, method, objective, metric, value; `temperature` is a
        metric of the methods that fit one, `stop` and `gradient` (see Outcome) of 'none'.
    """
    rows: list[dict[str, Any]] = []
    for outcome in outcomes:
        plan = outcome.plan
        about = {"dataset": "movie-reviews", "model": plan.model, "classes": plan.classes, "labels": plan.labels}
        about |= {"loss": plan.label, "gamma": plan.gamma, "kept": outcome.kept, "seed": plan.seed}
        for method, objective, log_probs, t in scalings(outcome):
            found = measure_distances(log_probs, outcome.votes)
            found |= {"stop": outcome.stop, "gradient": outcome.gradient} if method == "none" else {}
            found |= {"temperature": t} if objective else {}
            common = about | {"method": method, "objective": objective}
            rows += [common | {"metric": metric, "value": value} for metric, value in found.items()]
    return pd.DataFrame(rows)


def share_by_prediction(predicted: np.ndarray, shares: np.ndarray, bins: int = 12) -> pd.DataFrame:
    """Mean prediction and mean share of the raters in bins of equal mass of the prediction, (n,), (n,).

    Returns:
        predicted, share, half (of the 95 % t interval of the share over the bin's sentences), one row a bin.

    Raises:
        ValueError: fewer than two sentences a bin.
    """
    if bins < 1 or len(predicted) < 2 * bins:
        raise ValueError(f"each bin must have at least two sentences. Got {len(predicted)} for {bins} bins.")
    rows = []
    for part in np.array_split(np.argsort(predicted, kind="stable"), bins):
        interval = t_interval(shares[part])
        rows.append((predicted[part].mean(), interval.estimate, (interval.high - interval.low) / 2))
    return pd.DataFrame(rows, columns=["predicted", "share", "half"])


def name_settings(table: pd.DataFrame, model: str, classes: int = 2) -> pd.DataFrame:
    """The rows of one model, each loss named with its labels and with what was kept, as `written_contrasts` has it."""
    own = table[(table["model"] == model) & (table["classes"] == classes)]
    return own.assign(loss=own["loss"] + ", " + own["labels"] + ", " + own["kept"])
