"""Grad-CAM, heat maps against boxes, and metrics of labels: what the networks on garments and X-rays come to."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import pandas as pd
import torch
from scipy.special import log_expit, log_softmax

from focal_lib.metrics.by_name import METRICS
from focal_lib.metrics.detection import auroc
from focal_lib.theory.proper import focal_calibration_log_probs
from reproduction.studies.localisation.canvases import LocatedImages
from reproduction.studies.localisation.plan import ONE, Plan
from reproduction.studies.localisation.train import Outcome, train


def energy_in_box(maps: Any, boxes: Any) -> np.ndarray:
    r"""Share of a map's sum that lies in the box, (n, H, W), (n, 4) -> (n,); 0 of a map that is 0 everywhere.

    .. math:: \sum_{x \in \mathrm{box}} m(x) \Big/ \sum_x m(x)

    Wang et al. (2020), 'Score-CAM', section 4.3. Of a constant map it is the box's share of the image.

    Raises:
        ValueError: maps that are not finite, at least 0 and of shape (n, H, W); boxes that are empty or reach outside.
    """
    m, inside = _checked(maps, boxes)
    total = m.sum((1, 2))
    return (m * inside).sum((1, 2)) / np.where(total > 0, total, 1)


def points_into_box(maps: Any, boxes: Any) -> np.ndarray:
    """Whether the highest pixel lies in the box, (n,): 1 or 0; of several highest ones the share that do.

    The pointing game of Zhang et al. (2018), without its tolerance of some pixels; 0 of a map that is 0 everywhere.
    Arguments and errors as energy_in_box.
    """
    m, inside = _checked(maps, boxes)
    highest = m == m.max((1, 2), keepdims=True)
    found: np.ndarray = (highest & inside).sum((1, 2)) / highest.sum((1, 2))
    return np.where(m.any((1, 2)), found, 0.0)


def spread(maps: Any, share: float = 0.5) -> np.ndarray:
    """The smallest share of the pixels that holds this share of a map's sum, (n, H, W) -> (n,); nan of a map of 0.

    Broad maps have a large one: a constant map `share`, up to the last pixel, a single pixel 1 / (H W).

    Raises:
        ValueError: maps as energy_in_box; share not in (0, 1].
    """
    if not 0 < share <= 1:
        raise ValueError(f"share must be in (0, 1]. Got {share}.")
    m = _checked_maps(maps)
    falling = -np.sort(-m.reshape(len(m), -1), axis=1)
    held = falling.cumsum(1)
    needed = (held < share * held[:, -1:] * (1 - 1e-12)).sum(1) + 1  # whatever rounding makes of the sum
    return np.where(held[:, -1] > 0, needed / falling.shape[1], np.nan)


def _checked_maps(maps: Any) -> np.ndarray:
    m = np.asarray(maps, dtype=np.float64)
    if m.ndim != 3 or not m.size or not np.isfinite(m).all() or m.min() < 0:
        raise ValueError(f"maps must be finite, at least 0, of shape (n, H, W). Got shape {m.shape}.")
    return m


def _checked(maps: Any, boxes: Any) -> tuple[np.ndarray, np.ndarray]:
    """Maps float64 (n, H, W), and which of their pixels are in the box."""
    m, b = _checked_maps(maps), np.asarray(boxes)
    if b.shape != (len(m), 4) or not np.issubdtype(b.dtype, np.integer):
        raise ValueError(f"boxes must be integers of shape {(len(m), 4)}. Got {b.dtype} {b.shape}.")
    (height, width), (top, left, bottom, right) = m.shape[1:], b.T[..., None, None]
    if not ((top >= 0) & (top < bottom) & (bottom <= height) & (left >= 0) & (left < right) & (right <= width)).all():
        raise ValueError(f"boxes must be top < bottom, left < right, within {height} x {width}. Got others.")
    rows, columns = np.arange(height)[:, None], np.arange(width)
    return m, (top <= rows) & (rows < bottom) & (left <= columns) & (columns < right)


def grad_cam(outcome: Outcome, image: np.ndarray, label: np.ndarray, batch: int = 500) -> np.ndarray:
    r"""Heat maps float32 (m, S, S), at least 0, of these test images for these labels, (m,) each.

    .. math:: \max\Big(0, \sum_c \overline{\partial z_k/\partial A_c}\,A_c\Big)

    of the feature maps :math:`A_c` that are pooled, the derivative of the label's logit averaged over a map; then
    enlarged to the image, linearly (Selvaraju et al. 2017).

    Raises:
        ValueError: images and labels of different number.
    """
    from captum.attr import LayerAttribution, LayerGradCam  # slow to import

    if image.shape != label.shape or image.ndim != 1:
        raise ValueError(f"image and label must both have shape (m,). Got {image.shape} and {label.shape}.")
    outcome.model.eval()
    method = LayerGradCam(outcome.model, outcome.model.features)
    size, found = tuple(outcome.inputs.shape[-2:]), []
    for at in range(0, len(image), batch):
        rows = slice(at, at + batch)
        inputs, asked = outcome.inputs[image[rows]], torch.from_numpy(label[rows])
        coarse = method.attribute(inputs, target=asked, relu_attributions=True)
        found.append(LayerAttribution.interpolate(coarse, size, "bilinear").detach()[:, 0].numpy())
    return np.concatenate(found) if found else np.zeros((0, *size), np.float32)


RECORD = "where-it-looks"  # results/where-it-looks/table.parquet
_SHOWN = ("error", "nll", "ece", "classwise-ece", "mce")


def measure_maps(maps: np.ndarray, test: LocatedImages) -> dict[str, float]:
    """Means in per cent over the boxes of the test images, maps (m, S, S) in the order of `test.asked()`.

    Returns:
        energy, pointing, spread: see above, the last over maps that are not 0 everywhere; empty: the share of those
        that are; box: the boxes' share of the image, the energy of a map that is constant.

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
