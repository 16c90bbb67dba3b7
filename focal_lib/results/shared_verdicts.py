"""Samples that networks of several losses all have right, or all wrong, and how confident each is on them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from focal_lib.metrics.scores import top_label
from focal_lib.results.by_run import validation_temperatures
from focal_lib.training.store import Result

__all__ = ["agreed", "confidence_where_agreed"]


def agreed(runs: Sequence[Result], right: bool) -> np.ndarray:
    """Indices of the test samples that all runs classify rightly, or all wrongly, in order.

    Raises:
        ValueError: no runs, or not of the same test samples.
    """
    if not runs or any(not np.array_equal(run.test.labels, runs[0].test.labels) for run in runs):
        raise ValueError("runs must be some, with the same test samples. Got none, or others.")
    correct = np.stack([run.test.logits.argmax(-1) == run.test.labels for run in runs])
    return np.flatnonzero(correct.all(0) if right else ~correct.any(0))


def confidence_where_agreed(runs: Sequence[Result]) -> pd.DataFrame:
    """A row a run, stage ('before', 'after' temperature scaling) and kind ('right', 'wrong'): samples, confidence.

    Runs of one seed are compared; the samples are those that all its losses have right, or wrong. Temperatures have
    the smallest NLL on validation.
    """
    fitted = validation_temperatures(runs).set_index(["gamma", "seed"])["temperature"]
    rows = []
    for seed in sorted({run.spec.seed for run in runs}):
        group = [run for run in runs if run.spec.seed == seed]
        for kind in ("right", "wrong"):
            where = agreed(group, kind == "right")
            for run in group:
                for stage, t in (("before", 1.0), ("after", float(fitted[run.spec.gamma, seed]))):
                    logits = run.test.logits[where].astype(np.float64) / t
                    probs = np.exp(logits - np.logaddexp.reduce(logits, -1, keepdims=True))
                    top = float(top_label(probs, run.test.labels[where])[0].mean()) if len(where) else np.nan
                    key = {"loss": run.spec.label, "gamma": run.spec.gamma, "seed": seed}
                    rows.append(key | {"stage": stage, "kind": kind, "samples": len(where), "confidence": top})
    return pd.DataFrame(rows)
