"""Runs that were recorded before the law was tested, and the sharpening fitted on them: results/law/earlier.parquet.

python -m reproduction.studies.law.earlier      # reads the logits in results/, trains nothing
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd
from scipy.special import log_softmax

from focal_lib.atomic_write import write_whole
from focal_lib.calibration.focal_training import focal_trained_log_probs
from focal_lib.metrics.bins import ece
from focal_lib.theory.maps import focal_log_probs
from reproduction.checkout import ROOT
from reproduction.engine.store import Logits, Result
from reproduction.studies.law.judged import RECORD
from reproduction.studies.shared.recorded import load_recorded

OUT = ROOT / "results" / RECORD / "earlier.parquet"
RECORDS = (
    *("cifar10-record", "cifar10-resnet18", "cifar10-clipped", "cifar10-long", "cifar10-long-fresh", "cifar10-resnet8"),
    *("cifar100-record", "fashion-mnist-architectures"),
)
SHARPENINGS = (0.0, 0.06, 0.08, 0.1, 0.12, 0.14)
SEEDS = (0, 1, 2)  # of each record, so that none counts for more


def pairs() -> Iterator[tuple[str, Result, Result]]:
    """Record, cross-entropy run and focal run of one network, seed and length."""
    for name in RECORDS:
        runs = [run for run in load_recorded(name, part=True) if run.spec.is_focal and run.spec.seed in SEEDS]
        plain = {_key(run): run for run in runs if run.spec.is_cross_entropy}
        for run in runs:
            if not run.spec.is_cross_entropy and _key(run) in plain:
                yield name, plain[_key(run)], run


def _key(run: Result) -> tuple[Any, ...]:
    return run.spec.dataset, run.spec.model, run.spec.seed, run.spec.training.epochs


def measure_pair(name: str, plain: Result, focal: Result) -> dict[str, Any]:
    """One row, in points, with the columns of `judge_runs`; predicted_<sharpening>: overconfidence, on validation."""
    gamma = focal.spec.gamma
    before, after = _log_probs(plain.test), _log_probs(focal.test)
    held = _log_probs(plain.validation)
    right = float((held.argmax(-1) == plain.validation.labels).mean())
    row = {"record": name, "model": focal.spec.model, "epochs": focal.spec.training.epochs, "gamma": gamma}
    row |= {
        "seed": focal.spec.seed,
        "cross_entropy": _gap(before, plain.test.labels),
        "own": _gap(after, focal.test.labels),
    }
    row["added"] = 100 * (_confidence(focal_log_probs(after, gamma)) - _confidence(after))
    row["change"] = 100 * (ece(np.exp(after), focal.test.labels) - ece(np.exp(before), plain.test.labels))
    for sharpening in SHARPENINGS:
        predicted = focal_trained_log_probs(held, gamma, sharpening)
        row[f"predicted_{sharpening:g}"] = 100 * (_confidence(predicted) - right)
    return row


def _log_probs(part: Logits) -> np.ndarray:
    return np.asarray(log_softmax(part.logits.astype(np.float64), axis=-1))


def _confidence(log_probs: np.ndarray) -> float:
    return float(np.exp(log_probs.max(-1)).mean())


def _gap(log_probs: np.ndarray, labels: np.ndarray) -> float:
    return 100 * (_confidence(log_probs) - float((log_probs.argmax(-1) == labels).mean()))


def errors(earlier: pd.DataFrame) -> pd.Series:
    """Sharpening -> root mean square error of the predicted overconfidence; a record, network and gamma counts once."""
    groups = [earlier[name] for name in ("record", "model", "epochs", "gamma")]
    squares = {
        sharpening: ((earlier["own"] - earlier[f"predicted_{sharpening:g}"]) ** 2).groupby(groups).mean().mean()
        for sharpening in SHARPENINGS
    }
    return pd.Series(squares) ** 0.5


def main() -> None:
    """Measure all pairs anew."""
    OUT.parent.mkdir(parents=True, exist_ok=True)
    table = pd.DataFrame([measure_pair(*pair) for pair in pairs()])
    write_whole(OUT, lambda part: table.to_parquet(part, index=False))


if __name__ == "__main__":
    main()
