"""How well heat maps lie on what is asked for, and how well labels are told: numbers of one network after the other."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import pandas as pd
from scipy.special import log_expit, log_softmax

from focal_lib.metrics.by_name import METRICS
from focal_lib.metrics.detection import auroc
from focal_lib.theory.proper import focal_calibration_log_probs
from reproduction.studies.localisation.grad_cam import grad_cam
from reproduction.studies.localisation.heat_maps import energy_in_box, points_into_box, spread
from reproduction.studies.localisation.located import LocatedImages
from reproduction.studies.localisation.plan import ONE, Plan
from reproduction.studies.localisation.train import Outcome, train

RECORD = "where-it-looks"  # results/where-it-looks/table.parquet
_SHOWN = ("error", "nll", "ece", "classwise-ece", "mce")


def measure_maps(maps: np.ndarray, test: LocatedImages) -> dict[str, float]:
    """Means in per cent over the boxes of the test images, maps (m, S, S) in the order of `test.asked()`.

    Returns:
        energy, pointing, spread: see metrics.heat_maps, the last over maps that are not 0 everywhere; empty: the share
        of those that are; box: the boxes' share of the image, the energy of a map that is constant.

    Raises:
        ValueError: no box.
    """
    image, label = test.asked()
    if not len(image):
        raise ValueError("test images must have a box, at least one. Got none.")
    boxes = test.boxes[image, label]
    return {
        "energy": 100 * float(energy_in_box(maps, boxes).mean()),
        "pointing": 100 * float(points_into_box(maps, boxes).mean()),
        "spread": 100 * float(np.nanmean(spread(maps))) if maps.any() else np.nan,
        "empty": 100 * float((~maps.any((1, 2))).mean()),
        "box": 100 * float(energy_in_box(np.ones_like(maps), boxes).mean()),
    }


def auroc_by_label(logits: np.ndarray, test: LocatedImages) -> dict[str, float]:
    """Label -> area under the ROC curve, in per cent; nan where all test images have it, or none."""
    found = {}
    for k, name in enumerate(test.names):
        there = test.labels[:, k] == 1
        both = there.any() and not there.all()
        found[name] = 100 * auroc(logits[there, k], logits[~there, k]) if both else np.nan
    return found


def measure_labels(outcome: Outcome, mapped: bool = False) -> dict[str, float]:
    """Error, NLL and calibration errors as tables show them; of several labels 'auroc', the mean over labels, too.

    Several labels are as many problems of two classes, taken together as `focal calibrate` takes them.

    Args:
        mapped: after the map under which the loss is proper, that of two classes for each of several labels; without
            'auroc', which a map of each label by itself does not change.
    """
    log_probs, labels = _as_one_problem(outcome)
    found = {}
    if mapped:
        log_probs = focal_calibration_log_probs(log_probs, outcome.plan.gamma, outcome.plan.lam)
    elif outcome.plan.setting != ONE:
        found["auroc"] = float(np.nanmean(list(auroc_by_label(outcome.logits, outcome.test).values())))
    return found | {name: METRICS[name].shown(np.exp(log_probs), labels) for name in _SHOWN}


def _as_one_problem(outcome: Outcome) -> tuple[np.ndarray, np.ndarray]:
    """Log-probabilities (m, K) and labels (m,): of one label by softmax, of several n L samples of two classes."""
    z, labels = outcome.logits.astype(np.float64), outcome.test.labels
    if outcome.plan.setting == ONE:
        return log_softmax(z, -1), labels.argmax(-1)
    return np.stack([log_expit(-z), log_expit(z)], -1).reshape(-1, 2), labels.ravel()


def measure_outcomes(outcomes: Iterable[Outcome]) -> pd.DataFrame:
    """A row for each network and metric, in the form that `evaluate_contrasts` takes.

    Returns:
        dataset (the setting), model, loss, gamma, lam, seed, n_train, epochs, method, objective, metric, value. Metrics
        are those of measure_labels, of measure_maps where a test image has a box, and of several labels 'auroc <label>'
        of each; with method 'map', where gamma is above 0, those of measure_labels after the map.
    """
    rows: list[dict[str, Any]] = []
    for outcome in outcomes:
        plan = outcome.plan
        about = {"dataset": plan.setting, "model": plan.network, "loss": plan.label, "gamma": plan.gamma}
        about |= {"lam": plan.lam, "seed": plan.seed, "n_train": plan.n_train, "epochs": plan.epochs}
        found, (image, label) = measure_labels(outcome), outcome.test.asked()
        if len(image):
            found |= measure_maps(grad_cam(outcome, image, label), outcome.test)
        if plan.setting != ONE:
            found |= {f"auroc {name}": value for name, value in auroc_by_label(outcome.logits, outcome.test).items()}
        by_method = {"none": found} | ({"map": measure_labels(outcome, mapped=True)} if plan.gamma else {})
        for method, metrics in by_method.items():
            common = about | {"method": method, "objective": ""}
            rows += [common | {"metric": metric, "value": value} for metric, value in metrics.items()]
    return pd.DataFrame(rows)


def measure_plans(plans: Iterable[Plan]) -> pd.DataFrame:
    """Train each plan and measure what comes out."""
    return measure_outcomes(train(plan) for plan in plans)
