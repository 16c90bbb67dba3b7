"""CalArena's published results, and its calibrators and ours on the networks recorded here: results/calarena/.

    nice python -m reproduction.studies.calibrators.calarena_record CHECKOUT    # of github.com/probkit/CalArena

`table.parquet` has a row for each network and calibrator, of two sources: 'published', as in `results/cv-multiclass` of
the checkout, for CIFAR-10 and CIFAR-100; and 'here', CalArena's calibrators as its `run_benchmark.py` builds them, from
probmetrics, and ours by their adapter. All are fitted to 5,000 images and scored on 10,000 others. The published
networks' logits were not to be had: they are large files that the repository of their authors only points to.
"""

from __future__ import annotations

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")

import argparse
import time
import warnings
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy.special import softmax

from focal_lib.atomic_write import check_target
from focal_lib.metrics.intervals import t_interval_if_any
from focal_lib.metrics.scores import brier, nll
from reproduction.checkout import ROOT, commit
from reproduction.engine.store import Result
from reproduction.studies.calibrators.calarena import CUSTOM_CALIBRATORS
from reproduction.studies.shared.over_seeds import write_table
from reproduction.studies.shared.recorded import load_recorded

OUT = ROOT / "results" / "calarena" / "table.parquet"
RECORDS = {"c10": ("cifar10-resnet18", "cifar10-long"), "c100": ("cifar100-record",)}
AS_GIVEN, REFERENCE = "Base-model", "TS"
THEIRS = {"TS": "TemperatureScaling", "ETS": "ETS", "VS": "VectorScaling", "SVS": "SVS", "SMS": "SMS"}


def read_published(checkout: Path) -> pd.DataFrame:
    """Log-loss and Brier score of CalArena's CIFAR networks, a row for each network and calibrator.

    Raises:
        FileNotFoundError: the folder is no checkout of CalArena.
    """
    parts = []
    for name in (AS_GIVEN, *THEIRS):
        table = pd.read_csv(checkout / "results" / "cv-multiclass" / f"{name}.csv")
        table = table.rename(
            columns={f"{name}_logloss": "logloss", f"{name}_brier": "brier", f"{name}_time": "seconds"}
        )
        table = table[table["dataset"].isin(RECORDS)]
        parts.append(table[["dataset", "model", "logloss", "brier", "seconds"]].assign(calibrator=name))
    return pd.concat(parts, ignore_index=True).assign(source="published")


def their_calibrators() -> dict[str, Callable[[], Any]]:
    """CalArena's, as it builds them."""
    from probmetrics import calibrators

    return {name: getattr(calibrators, f"{of}Calibrator") for name, of in THEIRS.items()}


def compare(runs: Iterable[tuple[str, str, Result]], calibrators: dict[str, Callable[[], Any]]) -> pd.DataFrame:
    """A row for each run, with its data set and name, and calibrator, and for the probabilities as given."""
    rows = []
    for dataset, model, run in runs:
        p_cal, p_test = (
            softmax(part.logits.astype(np.float64), axis=1).astype(np.float32) for part in (run.validation, run.test)
        )
        for name, build in {AS_GIVEN: None, **calibrators}.items():
            start, found = time.process_time(), p_test
            if build is not None:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    calibrator = build()
                    calibrator.fit(p_cal, run.validation.labels)
                    found = np.asarray(calibrator.predict_proba(p_test), dtype=np.float64)
            seconds = time.process_time() - start
            found = np.clip(found.astype(np.float64), np.finfo(np.float32).tiny, None)
            found /= found.sum(1, keepdims=True)
            rows.append(
                {"dataset": dataset, "model": model, "calibrator": name, "seconds": seconds}
                | {"logloss": nll(found, run.test.labels), "brier": brier(found, run.test.labels)}
            )
    return pd.DataFrame(rows).assign(source="here")


def gains(table: pd.DataFrame) -> pd.DataFrame:
    """By how many % a calibrator lowers the log-loss of CalArena's temperature scaling, in the mean over networks.

    Returns:
        source, dataset, calibrator, networks, gain, and its 95 % t interval from low to high.
    """
    keys = ["source", "dataset", "model"]
    reference = table[table["calibrator"] == REFERENCE].set_index(keys)["logloss"]
    joined = table.join(reference.rename("reference"), on=keys)
    joined["gain"] = 100 * (1 - joined["logloss"] / joined["reference"])
    rows = []
    for (source, dataset, calibrator), part in joined.groupby(["source", "dataset", "calibrator"], sort=False):
        found = t_interval_if_any(part["gain"])
        rows.append((source, dataset, calibrator, len(part), found.estimate, found.low, found.high))
    return pd.DataFrame(rows, columns=["source", "dataset", "calibrator", "networks", "gain", "low", "high"])


def main(checkout: Path, out: Path = OUT) -> None:
    """Make the table.

    Raises:
        ValueError: `out` is not named .parquet; before the work begins.
    """
    check_target(out, ending=".parquet")
    published = read_published(checkout)
    runs = [
        (dataset, f"{record} {run.spec.digest}", run)
        for dataset, records in RECORDS.items()
        for record in records
        for run in load_recorded(record, part=True)
        if run.spec.label == "cross-entropy"
    ]
    here = compare(runs, {**their_calibrators(), **CUSTOM_CALIBRATORS})
    table = pd.concat([published, here], ignore_index=True)
    out.parent.mkdir(parents=True, exist_ok=True)
    write_table(table.assign(commit=commit(written="results")), out)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("checkout", type=Path)
    main(parser.parse_args().checkout)
