"""Tables from many runs: measured to parquet, read with duckdb, as KK24 Table 1 and M20 Tables 1 to 13 print them.

focal grid workflow/grids/cifar10-resnet8.yaml --table table.parquet
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
from scipy import stats
from scipy.special import softmax

from focal_lib.atomic_write import write_whole
from focal_lib.calibration.calibrators import FocalTemperatureScaling, TemperatureScaling
from focal_lib.metrics.bins import adaptive_ece, classwise_ece, ece, mce
from focal_lib.metrics.scores import brier, nll
from focal_lib.metrics.smooth import smooth_ece
from focal_lib.training.store import Result

__all__ = ["METRICS", "STAGES", "against", "as_printed", "measure", "spread", "write"]

# as the papers name them; all in per cent but NLL and Brier
METRICS = {
    "error": lambda p, y: 100 * float((p.argmax(-1) != y).mean()),
    "nll": nll,
    "brier": brier,
    "ece": lambda p, y: 100 * ece(p, y),
    "adaptive-ece": lambda p, y: 100 * adaptive_ece(p, y),
    "classwise-ece": lambda p, y: 100 * classwise_ece(p, y),
    "smooth-ece": lambda p, y: 100 * smooth_ece(p, y),
    "mce": lambda p, y: 100 * mce(p, y),
}
# pre: as trained. Others: fitted on the validation logits by NLL or by equal-mass ECE
STAGES = {
    "pre": None,
    "ts, nll": lambda: TemperatureScaling("nll"),
    "ts, ece": lambda: TemperatureScaling("adaptive-ece"),
    "fts, nll": lambda: FocalTemperatureScaling("nll", "newton"),
    "fts, ece": lambda: FocalTemperatureScaling("adaptive-ece"),
}


def measure(results: Iterable[Result]) -> pd.DataFrame:
    """One row a run, stage and metric, on the test split: dataset, model, loss, gamma, seed, stage, metric, value,
    and the temperature and calibration gamma that the stage chose."""
    rows: list[dict[str, Any]] = []
    for result in results:
        spec, labels = result.spec, result.test.labels
        run = {"dataset": spec.dataset, "model": spec.model, "loss": spec.label, "gamma": spec.gamma, "seed": spec.seed}
        for stage, method in STAGES.items():
            chosen = {"stage": stage, "temperature": 1.0, "calibration_gamma": 0.0}
            if method is None:
                probs = softmax(result.test.logits.astype(np.float64), -1)
            else:
                fit = method().fit(result.validation.logits, result.validation.labels)
                probs = fit.predict_proba(result.test.logits.astype(np.float64))
                chosen |= {"temperature": fit.temperature_, "calibration_gamma": fit.gamma_}
            rows += [run | chosen | {"metric": m, "value": float(f(probs, labels))} for m, f in METRICS.items()]
    return pd.DataFrame(rows)


def write(frame: pd.DataFrame, path: Path) -> None:
    """To parquet, whole or not at all."""
    write_whole(path, frame.to_parquet)


def spread(table: pd.DataFrame | Path) -> pd.DataFrame:
    """Mean, standard deviation and number of seeds, a row each data set, model, loss, stage and metric.

    Args:
        table: what `measure` gives, or a parquet file or glob of files of it.
    """
    return _ask(
        table,
        """
        SELECT dataset, model, loss, stage, metric, avg(value) AS mean, stddev_samp(value) AS sd, count(*) AS seeds,
               avg(temperature) AS temperature, avg(calibration_gamma) AS calibration_gamma
        FROM runs GROUP BY ALL ORDER BY min(place)
        """,
    )


def against(
    table: pd.DataFrame | Path,
    loss: str | None = "cross-entropy",
    stage: str | None = None,
    level: float = 0.95,
) -> pd.DataFrame:
    """Difference to the run of the same seed with this loss, or this stage, and its Student t interval over seeds.

    Args:
        loss: the loss to compare with; None to compare stages of one loss.
        stage: the stage to compare with; None to compare losses at one stage.

    Raises:
        ValueError: neither or both given.
    """
    if (loss is None) == (stage is None):
        raise ValueError(f"must give a loss or a stage to compare with. Got loss={loss!r}, stage={stage!r}.")
    same, other, value = ("stage", "loss", loss) if loss is not None else ("loss", "stage", stage)
    found = _ask(
        table,
        f"""
        SELECT a.dataset, a.model, a.loss, a.stage, a.metric, avg(a.value - b.value) AS difference,
               stddev_samp(a.value - b.value) AS sd, count(*) AS seeds
        FROM runs a JOIN runs b USING (dataset, model, seed, metric, {same})
        WHERE b.{other} = $value AND a.{other} <> $value
        GROUP BY ALL ORDER BY min(a.place)
        """,
        value=value,
    )
    seeds = found["seeds"].to_numpy()
    quantile = stats.t.ppf((1 + level) / 2, np.maximum(seeds - 1, 1))
    half = np.where(seeds > 1, quantile * found["sd"] / np.sqrt(seeds), np.nan)  # one seed proves nothing
    return found.assign(low=found["difference"] - half, high=found["difference"] + half)


def _ask(table: pd.DataFrame | Path, query: str, **parameters: Any) -> pd.DataFrame:
    """A query over `runs`, the table with its row number as `place`."""
    with duckdb.connect() as connection:
        if isinstance(table, pd.DataFrame):
            connection.register("given", table)
            source = "given"
        else:
            source = f"read_parquet('{str(table).replace(chr(39), 2 * chr(39))}')"
        connection.execute(f"CREATE TEMP TABLE runs AS SELECT *, row_number() OVER () AS place FROM {source}")
        return connection.execute(query, parameters).df()


# metric -> the stages that KK24 Table 1 reports for it: T chosen by NLL for NLL, by ECE for ECE
_PRINTED = {"error": ("pre",), "nll": ("pre", "ts, nll", "fts, nll"), "ece": ("pre", "ts, ece", "fts, ece")}


def as_printed(table: pd.DataFrame | Path) -> pd.DataFrame:
    """In the form of KK24 Table 1: a row a loss, 'mean ± sd (mean temperature)', a column a metric and stage."""
    frame = spread(table)
    columns = {}
    for metric, stages in _PRINTED.items():
        for stage in stages:
            part = frame[(frame["metric"] == metric) & (frame["stage"] == stage)].set_index("loss")
            digits = 3 if metric == "nll" else 2
            text = part["mean"].map(f"{{:.{digits}f}}".format)
            if (part["seeds"] > 1).any():
                text += " ± " + part["sd"].map(f"{{:.{digits}f}}".format)
            if stage != "pre":
                text += " (" + part["temperature"].map("{:.2f}".format) + ")"
            columns[metric, stage.split(",")[0]] = text
    return pd.DataFrame(columns)
