"""What is measured of the networks of a cell, and the predictions made from its cross-entropy run."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import log_softmax

from focal_lib.calibration.calibrators.temperature import TemperatureScaling
from focal_lib.calibration.focal_training import focal_trained_log_probs
from focal_lib.metrics.bins import ece
from focal_lib.metrics.scores import nll
from focal_lib.theory.maps import focal_log_probs
from reproduction.engine.fit import do_epoch, final_logits, prepare
from reproduction.engine.spec import Spec
from reproduction.studies.law.plan import GAMMAS, Cell

PREDICTIONS = {"plain": 0.0, "sharper": None}  # sharpening of focal_trained_log_probs; None: its default


def measure_cell(cell: Cell, seed: int) -> list[dict[str, Any]]:
    """A row for each gamma, 0 first, of the networks of a cell with this seed; in points where not nll or temperature.

    test_... and validation_...: error, confidence, ece (15 bins of equal width), nll of the network as trained;
    added: mean confidence that the focal calibration map adds on test; temperature: fitted on the validation logits,
    temperature_ece: on test after it; deviation: standard deviation of confidence minus correctness, minus that of
    cross-entropy, over test samples; predicted_confidence and predicted_ece: of the cross-entropy network's validation
    log-probabilities after `focal_trained_log_probs`, plain and sharper.
    """
    rows = []
    for gamma in (0.0, *GAMMAS):
        logits, train = _train(cell.spec(gamma, seed))
        said = {part: log_softmax(z.astype(float), axis=-1) for part, (z, _) in logits.items()}
        labels = {part: y for part, (_, y) in logits.items()}
        gaps = _gaps(said["test"], labels["test"])
        if gamma == 0:
            cross_entropy, own_gaps = said["validation"], gaps
        row: dict[str, Any] = {"gamma": gamma, "test_n": len(gaps), "validation_n": len(said["validation"])}
        for part in ("test", "validation"):
            row |= {f"{part}_{name}": value for name, value in _scores(said[part], labels[part]).items()}
        row |= {f"train_{name}": train[name] for name in ("error", "confidence", "nll")}
        row["added"] = 100 * float(
            (_confidence(focal_log_probs(said["test"], gamma)) - _confidence(said["test"])).mean()
        )
        scaling = TemperatureScaling().fit(logits["validation"][0], labels["validation"])
        row["temperature"] = float(scaling.temperature_)
        row["temperature_ece"] = 100 * ece(scaling.predict_proba(logits["test"][0]), labels["test"])
        row["deviation"] = 100 * float(np.std(gaps - own_gaps))
        for name, sharpening in PREDICTIONS.items():
            given = {} if sharpening is None else {"sharpening": sharpening}
            predicted = focal_trained_log_probs(cross_entropy, gamma, **given)
            row[f"{name}_confidence"] = 100 * float(_confidence(predicted).mean())
            row[f"{name}_ece"] = 100 * ece(np.exp(predicted), labels["validation"])
        rows.append(row)
    return rows


def _train(spec: Spec) -> tuple[dict[str, tuple[np.ndarray, np.ndarray]], dict[str, float]]:
    """Logits and labels of 'validation' and 'test'; error, confidence (points) and nll on training samples."""
    trainer, parts = prepare(spec, "cpu")
    while trainer.epoch < trainer.recipe.epochs:
        rows = do_epoch(spec, trainer, parts)
    train = next(row for row in rows if row["split"] == "train")
    arrays = final_logits(trainer, parts)
    found = {part: (arrays[f"{part}_logits"], arrays[f"{part}_labels"]) for part in ("validation", "test")}
    return found, {"error": 100 * train["error"], "confidence": 100 * train["confidence"], "nll": train["nll"]}


def _confidence(log_probs: np.ndarray) -> np.ndarray:
    return np.exp(log_probs.max(-1))


def _gaps(log_probs: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """Confidence minus whether right, of each sample."""
    return _confidence(log_probs) - (log_probs.argmax(-1) == labels)


def _scores(log_probs: np.ndarray, labels: np.ndarray) -> dict[str, float]:
    probs = np.exp(log_probs)
    return {
        "error": 100 * float((log_probs.argmax(-1) != labels).mean()),
        "confidence": 100 * float(_confidence(log_probs).mean()),
        "ece": 100 * ece(probs, labels),
        "nll": nll(probs, labels),
    }
