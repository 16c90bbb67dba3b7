"""How far the confidence of runs is from their accuracy: gaps, temperatures, reliability; what chance alone makes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from scipy.special import softmax

from focal_lib.calibration.calibrators.temperature import TemperatureScaling
from focal_lib.metrics.bins import Binning, Bins, adaptive_ece_of, reliability_bins
from focal_lib.metrics.by_name import METRICS
from focal_lib.metrics.calibration_test import calibration_p_value_of, expected_ece_of
from focal_lib.metrics.scores import top_label
from focal_lib.theory.maps import focal_log_probs
from reproduction.engine.store import Result
from reproduction.pages.tables import in_words
from reproduction.studies.shared.over_seeds import RUN, format_mean_sd, run_key

_GAP = ("confidence", "gap", "adaptive_ece")
_BINNED: dict[str, Binning] = {"ece": "width", "adaptive-ece": "mass"}


def _maps(result: Result) -> tuple[tuple[str, float], ...]:
    """What columns begin with, and the gamma of the map before them: none, and that of training, if it has one."""
    return (("", 0.0), ("mapped_", result.spec.gamma)) if result.spec.is_focal else (("", 0.0),)


def confidence_gaps(results: Iterable[Result], splits: Sequence[str] = ("train", "test")) -> pd.DataFrame:
    """One row a run and split: accuracy, confidence, gap (confidence - accuracy), adaptive_ece, all as fractions.

    `mapped_*` are the same after the focal calibration map with the gamma of training: the
    probabilities that the proper part sees (KK24 section 4.1). They are nan of other losses than cross-entropy and
    focal loss of one gamma, which have no such map.

    Args:
        splits: recorded runs have no 'train'.
    """
    rows = []
    for result in results:
        for split in splits:
            part = getattr(result, split)
            row = {"loss": result.spec.label, "gamma": result.spec.gamma, "seed": result.spec.seed, "split": split}
            for prefix, gamma in _maps(result):
                confidence, correct = top_label(
                    np.exp(focal_log_probs(part.logits.astype(np.float64), gamma)), part.labels
                )
                row["accuracy"] = correct.mean()
                values = confidence.mean(), confidence.mean() - correct.mean(), adaptive_ece_of(confidence, correct)
                row |= {f"{prefix}{name}": value for name, value in zip(_GAP, values, strict=True)}
            rows.append(row)
    columns = ["loss", "gamma", "seed", "split", "accuracy", *_GAP, *(f"mapped_{name}" for name in _GAP)]
    return pd.DataFrame(rows).reindex(columns=columns)


def validation_temperatures(results: Iterable[Result]) -> pd.DataFrame:
    """One row a run: loss, gamma, seed, and the temperature that minimises the validation NLL.

    `mapped_temperature` is the one after the map of `confidence_gaps`, nan where a loss has none.
    """
    rows = []
    for result in results:
        logits, labels = result.validation.logits.astype(np.float64), result.validation.labels
        row = {"loss": result.spec.label, "gamma": result.spec.gamma, "seed": result.spec.seed}
        for prefix, gamma in _maps(result):
            fit = TemperatureScaling("nll").fit(focal_log_probs(logits, gamma) if gamma else logits, labels)
            row[f"{prefix}temperature"] = fit.temperature_
        rows.append(row)
    return pd.DataFrame(rows).reindex(columns=["loss", "gamma", "seed", "temperature", "mapped_temperature"])


def reliability_by_loss(
    results: Iterable[Result], losses: Sequence[str], temperatures: Mapping[tuple[str, int], float] | None = None
) -> dict[str, Bins]:
    """loss -> 15 bins of equal width on test data, the samples of all seeds together.

    Args:
        losses: labels, in the order asked for.
        temperatures: (loss, seed) -> what the logits are divided by; None: by 1.

    Raises:
        ValueError: no run of a loss. KeyError: no temperature of a run.
    """
    parts: dict[str, list[Result]] = {loss: [] for loss in losses}
    for result in results:
        parts.get(result.spec.label, []).append(result)
    found = {}
    for loss, runs in parts.items():
        if not runs:
            raise ValueError(f"results must hold runs of each loss. Got none of {loss}.")
        by = [1.0 if temperatures is None else temperatures[loss, run.spec.seed] for run in runs]
        logits = [run.test.logits.astype(np.float64) / t for run, t in zip(runs, by, strict=True)]
        labels = np.concatenate([run.test.labels for run in runs])
        found[loss] = reliability_bins(softmax(np.concatenate(logits), -1), labels)
    return found


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
    return list(table[[*RUN, "temperature", "calibration_gamma", "metric"]].itertuples(index=False, name=None))


def _confidences(
    results: Iterable[Result], table: pd.DataFrame
) -> Iterator[tuple[tuple[Any, ...], Result, np.ndarray]]:
    """Run, temperature, calibration gamma and metric of each row; its run; the confidences that they make, on test."""
    runs = {run_key(run.spec): run for run in results}
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
            values = format_mean_sd(chosen[["loss", "value"]].groupby("loss", sort=False))["value"]
            columns[f"{in_words(metric)} (%)", name] = values
    return pd.DataFrame(columns).rename_axis(index="loss", columns=("", ""))
