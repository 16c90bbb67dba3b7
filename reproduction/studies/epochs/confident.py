"""Very confident predictions, and samples that networks of several losses all have right, or all wrong."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pandas as pd
from scipy.special import softmax

from focal_lib.metrics.scores import top_label
from reproduction.engine.store import Logits, Result
from reproduction.studies.printed_tables import m20_table6
from reproduction.studies.shared.scalings import Fit, compare_scaling

CONFIDENT = 0.99  # M20's set S_99
AS_M20 = Fit("temperature", "adaptive-ece", "grid")  # the temperature with the smallest ECE on validation


def share_above(part: Logits, confidence: float = CONFIDENT, temperature: float = 1.0) -> tuple[float, float]:
    """How many samples are predicted with this confidence or more, and how many of these rightly (nan of none)."""
    top, correct = top_label(softmax(part.logits.astype(np.float64) / temperature, -1), part.labels)
    above = top >= confidence
    return float(above.mean()), float(correct[above].mean()) if above.any() else float("nan")


def confident_shares(runs: Sequence[Result], confidence: float = CONFIDENT) -> pd.DataFrame:
    """A row a run and stage ('before', 'after' temperature scaling): temperature, share, right; M20 Table 6.

    share: of the test samples with this confidence or more; right: of these, see `share_above`. Temperatures are
    chosen as M20 section 6 does, by the ECE on validation; of equal mass here.
    """
    rows = []
    for run, stage, t in _staged(runs):
        share, right = share_above(run.test, confidence, t)
        rows.append(_key(run) | {"stage": stage, "temperature": t, "share": share, "right": right})
    return pd.DataFrame(rows)


def beside_table6(shares: pd.DataFrame) -> pd.DataFrame:
    """Means over seeds of `confident_shares`, and M20's Table 6 below: a row a loss, share and right by stage, in %."""
    ours = 100 * shares.groupby(["gamma", "loss", "stage"])[["share", "right"]].mean().unstack().droplevel("gamma")
    printed = m20_table6().rename(columns={"accuracy": "right"}).replace({"stage": {"pre": "before", "post": "after"}})
    printed["loss"] = printed["loss"] + ", M20, " + printed["network"]
    theirs = printed.pivot(index="loss", columns="stage", values=["share", "right"])
    both = pd.concat([ours, theirs])
    both.columns = both.columns.map(", ".join)
    return both[["share, before", "right, before", "share, after", "right, after"]]


def _key(run: Result) -> dict[str, Any]:
    return {"loss": run.spec.label, "gamma": run.spec.gamma, "seed": run.spec.seed}


def _staged(runs: Sequence[Result]) -> Iterator[tuple[Result, str, float]]:
    """Each run twice: as trained, and with its temperature."""
    for run, temperature in zip(runs, compare_scaling(runs, [AS_M20])["temperature"], strict=True):
        yield run, "before", 1.0
        yield run, "after", float(temperature)


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

    Runs of one seed are compared; the samples are those that all its losses have right, or wrong. Temperatures as
    in `confident_shares`.
    """
    rows = []
    for seed in sorted({run.spec.seed for run in runs}):
        group = [run for run in runs if run.spec.seed == seed]
        staged = list(_staged(group))  # a search for each temperature
        for kind in ("right", "wrong"):
            where = agreed(group, kind == "right")
            for run, stage, t in staged:
                top = softmax(run.test.logits[where].astype(np.float64) / t, -1).max(-1)
                mean = float(top.mean()) if len(where) else float("nan")
                rows.append(_key(run) | {"stage": stage, "kind": kind, "samples": len(where), "confidence": mean})
    return pd.DataFrame(rows)
