"""How large the ECEs of calibrated networks would be that have the confidences of ours: by chance alone, not 0."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import pandas as pd

from focal_lib.metrics.bins import Binning
from focal_lib.metrics.by_name import METRICS
from focal_lib.metrics.calibration_test import expected_ece_of
from focal_lib.pages.tables import in_words
from focal_lib.results.by_run import format_mean_sd
from focal_lib.theory.maps import focal_log_probs
from focal_lib.training.store import Result

__all__ = ["eces_if_calibrated", "format_beside_calibrated"]

_BINNED: dict[str, Binning] = {"ece": "width", "adaptive-ece": "mass"}
_RUN = ["dataset", "model", "loss", "seed"]


def eces_if_calibrated(results: Iterable[Result], table: pd.DataFrame, *, draws: int = 100) -> pd.DataFrame:
    """The table's rows of ECE and adaptive ECE, each value that of a calibrated network with the same confidences.

    On average over labels drawn from the confidences, see `metrics.expected_ece_of`; in per cent, as in the table.

    Args:
        results: the runs of the table.
        table: what `measure` gives, with the temperature and calibration gamma of each row.

    Raises:
        KeyError: a run that is not among the results.
    """
    runs = {_key(run): run for run in results}
    kept = table[table["metric"].isin(list(_BINNED))]
    rows = list(kept[[*_RUN, "temperature", "calibration_gamma", "metric"]].itertuples(index=False, name=None))
    expected: dict[tuple[Any, ...], float] = {}
    for row in dict.fromkeys(rows):
        run, (temperature, gamma, metric) = runs[row[:4]], row[4:]
        log_probs = focal_log_probs(run.test.logits.astype(np.float64) / temperature, gamma)
        ece = expected_ece_of(np.exp(log_probs).max(axis=1), binning=_BINNED[metric], draws=draws, seed=run.spec.seed)
        expected[row] = METRICS[metric].unit * ece
    return kept.assign(value=[expected[row] for row in rows])


def format_beside_calibrated(table: pd.DataFrame, expected: pd.DataFrame, method: str = "temperature") -> pd.DataFrame:
    """A row a loss: ECE and adaptive ECE after a scaling chosen by it, 'mean ± sd' over seeds, here and if calibrated.

    Args:
        table: what `measure` gives; expected: what `eces_if_calibrated` gives of it.
    """
    columns = {}
    for metric in _BINNED:
        for name, of in {"here": table, "if calibrated": expected}.items():
            chosen = of.query("metric == @metric and objective == @metric and method == @method")
            columns[f"{in_words(metric)} (%)", name] = format_mean_sd(
                chosen[["loss", "value"]].groupby("loss", sort=False)
            )["value"]
    return pd.DataFrame(columns).rename_axis(index="loss", columns=("", ""))


def _key(run: Result) -> tuple[str, str, str, int]:
    spec = run.spec
    return spec.dataset, spec.model, spec.label, spec.seed
