"""Apply a calibrator to new scores in the layout of its fit; probabilities have their shape."""

from __future__ import annotations

from typing import Any, cast

import numpy as np

from focal_lib.calibration.calibrators.base import Calibrator
from focal_lib.calibration.calibrators.temperature import MappedCalibrator
from focal_lib.calibration.logit_sets import Given, as_logits, is_missing, raise_zeros
from focal_lib.theory.maps import focal_log_probs
from focal_lib.tool.inputs.layouts import binary_logits, option_logits
from focal_lib.tool.inputs.parts import as_array


def class_axis(calibrator: Calibrator, shape: tuple[int, ...]) -> int | None:
    """The axis of the classes in new scores; None if each score is that of a positive class.

    Raises:
        ValueError: a shape that does not fit the calibrator's layout.
    """
    layout, k, rank = calibrator.layout_, calibrator.n_classes_, len(shape)
    if rank == 1 and k == 2 and layout in ("classes", "binary", "multi-label"):
        return None
    if layout == "multi-label" and rank == 2:
        return None
    if layout == "binary" and (rank >= 3 or shape[1:] == (1,)):
        return None
    if layout == "tokens" and rank >= 3 and shape[-1] == k:
        return rank - 1
    if layout == "segmentation" and rank >= 3 and shape[1] == k:
        return 1
    if rank == 2 and (shape[1] >= 2 if layout == "options" else shape[1] == k):
        return 1
    wanted = {
        "classes": f"(n, {k})" + (" or, of the positive class, (n,)" if k == 2 else ""),
        "binary": "(n,), (n, 1), (n, 2) or that of maps, (N, H, W)",
        "multi-label": "(n, L)",
        "segmentation": f"(N, {k}, H, W)",
        "tokens": f"(B, T, {k})",
        "options": "(n, K), K any number from 2",
    }[layout]
    raise ValueError(f"scores of {layout} must have the {k} classes of fit, shape {wanted}. Got {shape}.")


def apply_to_scores(calibrator: Calibrator, scores: Any, given: Given | None = None) -> np.ndarray:
    """Calibrated probabilities in the shape of the scores; scores of a positive class give that class's probability.

    A calibrator of multi-label data is applied to each label. A calibrator of options gives 0 where scores are NaN or
    -inf. Empty scores give an empty array.

    Args:
        calibrator: fitted; its `layout_` defines the shapes that are allowed.
        scores: array or tensor.
        given: kind of the scores; None for the kind in fit.

    Raises:
        ValueError: a shape that does not fit the layout, or scores that are not of the kind `given`.

    Examples:
        >>> from focal_lib.calibration import TemperatureScaling
        >>> fit = TemperatureScaling().fit([[0.0, 2.1972]] * 4, [1, 1, 1, 0])  # T = 2
        >>> apply_to_scores(fit, [2.1972, 0.0]).round(3).tolist()  # scores of class 1
        [0.75, 0.5]
    """
    given = given or cast(Given, calibrator.given_)
    scores = as_array(scores)
    axis = class_axis(calibrator, scores.shape)
    wide = scores.astype(np.float64)
    if not wide.size:
        return wide
    if axis is None:
        logits = binary_logits(wide.ravel(), given, "scores")
        return np.asarray(calibrator.predict_proba(logits))[:, 1].reshape(scores.shape)
    last = np.moveaxis(wide, axis, -1)
    flat = np.ascontiguousarray(last).reshape(-1, last.shape[-1])
    if calibrator.layout_ == "options":
        found = _of_options(calibrator, option_logits(flat, given, "scores"))
    else:
        found = np.asarray(calibrator.predict_proba(as_logits(flat, given, "scores")))
    return np.moveaxis(found.reshape(last.shape), -1, axis)


def _of_options(calibrator: Calibrator, logits: np.ndarray) -> np.ndarray:
    """Probabilities of options: temperatures treat all columns alike, so their number may differ from fit."""
    if not isinstance(calibrator, MappedCalibrator):
        raise ValueError(f"a calibrator of options must be of temperatures. Got {type(calibrator).__name__}.")
    raised = raise_zeros(logits, calibrator.floor_)
    found = np.exp(focal_log_probs(raised / calibrator.temperature_, calibrator.gamma_))
    return np.where(is_missing(logits), 0.0, found)
