"""How large the ECEs of calibrated networks would be that have the confidences of ours: by chance alone, not 0."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
import pandas as pd

from focal_lib.metrics.bins import Binning
from focal_lib.metrics.by_name import METRICS
from focal_lib.metrics.calibration_test import calibration_p_value_of, expected_ece_of
from focal_lib.theory.maps import focal_log_probs
from reproduction.engine.store import Result
from reproduction.pages.tables import in_words
from reproduction.studies.shared.by_run import format_mean_sd

_BINNED: dict[str, Binning] = {"ece": "width", "adaptive-ece": "mass"}
_RUN = ["dataset", "model", "loss", "seed"]


def eces_if_calibrated(results: Iterable[Result], table: pd.DataFrame, *, draws: int = 1000) -> pd.DataFrame:
    """The table's rows of ECE and adaptive ECE, each value that of a calibrated network with the same confidences.

    On average over labels drawn from the confidences, see `metrics.expected_ece_of`; in per cent, as in the table.

    Args:
        results: the runs of the table.
        table: what `measure` gives, with the temperature and calibration gamma of each row.

    Raises:
        KeyError: a run that is not among the results.
    """
    kept = table[table["metric"].isin(list(_BINNED))]
    expected = {}
    for row, run, confidence in _confidences(results, kept):
        ece = expected_ece_of(confidence, binning=_BINNED[row[-1]], draws=draws, seed=run.spec.seed)
        expected[row] = METRICS[row[-1]].unit * ece
    return kept.assign(value=[expected[row] for row in _rows(kept)])


def calibration_p_values(results: Iterable[Result], table: pd.DataFrame) -> pd.DataFrame:
    """The table's rows of adaptive ECE, each value the p value of the hypothesis that such a network is calibrated.

    See `metrics.calibration_p_value_of`, whose statistic is the adaptive ECE. Arguments and errors are those of
    `eces_if_calibrated`.
    """
    kept = table[table["metric"] == "adaptive-ece"]
    found = {}
    for row, run, confidence in _confidences(results, kept):
        correct = run.test.logits.argmax(axis=1) == run.test.labels
        found[row] = calibration_p_value_of(confidence, correct, seed=run.spec.seed)
    return kept.assign(value=[found[row] for row in _rows(kept)])


def _rows(table: pd.DataFrame) -> list[tuple[Any, ...]]:
    return list(table[[*_RUN, "temperature", "calibration_gamma", "metric"]].itertuples(index=False, name=None))


def _confidences(
    results: Iterable[Result], table: pd.DataFrame
) -> Iterator[tuple[tuple[Any, ...], Result, np.ndarray]]:
    """Run, temperature, calibration gamma and metric of each row; its run; the confidences that they make, on test."""
    runs = {_key(run): run for run in results}
    for row in dict.fromkeys(_rows(table)):
        run, (temperature, gamma, _) = runs[row[:4]], row[4:]
        log_probs = focal_log_probs(run.test.logits.astype(np.float64) / temperature, gamma)
        yield row, run, np.exp(log_probs).max(axis=1)


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
