"""Tests and intervals of calibration, of ours and of other libraries, on models with known truth, recorded.

    pip install uncertainty-calibration calzone-tool model-diagnostics netcal relplot torchmetrics
    nice python -m reproduction.studies.intervals.record --minutes 15      # goes on where it stopped

A row is a round of twenty draws of one model and number of samples, judged by one method: of intervals how many hold
the true error, of tests how many reject, of gates how many pass and fail. Slow methods judge the first one or four of
the twenty. `notebooks/advice.py` reads it. Bootstraps of relplot have no seed; all else is the same at each run.
"""

from __future__ import annotations

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")

import functools
import itertools
import time
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from reproduction.checkout import ROOT
from reproduction.studies.intervals.methods import ALPHA, FAIL, OWN, PASS, Method
from reproduction.studies.intervals.models import MODELS, Model, Sample, true_errors
from reproduction.studies.intervals.others import OTHERS, version_of
from reproduction.studies.shared.going_on import go_on, read_options

RECORD = ROOT / "results/intervals/methods.parquet"
SAMPLES = (200, 1_000, 5_000)
METHODS: tuple[Method, ...] = (*OWN, *OTHERS)
_DRAWS = 20  # a round
_WARM = 60  # samples of a first call, which loads what a library needs and is not timed


def judge(
    model: Model, n: int, number: int, methods: Sequence[Method] = METHODS, draws: int = _DRAWS
) -> list[dict[str, Any]]:
    """One round of draws: a row for each method.

    Returns:
        method, kind, package, version, 'of', whether the model is calibrated, its limit, `true` and `true_error` (of
        gates, the ECE), runs, `refused` (an error, or nan), `hits`, `rejected`, `passed` and `failed` of those that
        were not, mean `width`, and mean seconds of processor time a call.
    """
    samples = [
        model.draw(n, np.random.default_rng([n, number, draw, model.classes, *model.name.encode()]))
        for draw in range(draws)
    ]
    errors = true_errors(model)
    return [
        _row(method, model, samples[: max(1, draws * method.draws // _DRAWS)], errors.get(method.of, (np.nan, np.nan)))
        for method in methods
        if method.of != "classwise" or model.classes > 2
    ]


def _row(method: Method, model: Model, samples: Sequence[Sample], true: tuple[float, float]) -> dict[str, Any]:
    _warm(method, model)
    start = time.process_time()
    found = [result for sample in samples if (result := _result(method, model, sample)) is not None]
    seconds = (time.process_time() - start) / len(samples)
    row = {
        "method": method.name,
        "kind": method.kind,
        "package": method.package,
        "version": version_of(method),
        "of": method.of,
        "calibrated": model.calibrated,
        "limit": model.limit,
        "true": true[0],
        "true_error": true[1],
        "runs": len(samples),
        "refused": len(samples) - len(found),
        "seconds": seconds,
    }
    if method.kind == "interval":
        row["hits"] = sum(low - 1e-12 <= true[0] <= high + 1e-12 for low, high in found)
        row["width"] = float(np.mean([high - low for low, high in found])) if found else np.nan
    elif method.kind == "test":
        row["rejected"] = sum(p <= ALPHA for p in found)
    else:
        row |= {"passed": found.count(PASS), "failed": found.count(FAIL)}
    return row


def _result(method: Method, model: Model, sample: Sample) -> Any:
    """None where the method refuses the sample: an error, or nan."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            found = method.run(sample, model)
        except (ArithmeticError, AssertionError, IndexError, ValueError):
            return None
    return None if method.kind != "gate" and np.isnan(found).any() else found


@functools.cache
def _warm(method: Method, model: Model) -> None:
    _result(method, model, model.draw(_WARM, np.random.default_rng(0)))


def main(minutes: float, rounds: int, out: Path = RECORD) -> None:
    """Go on with the record until the processor time or the rounds are used up."""
    todo = (
        ((number, n, model.classes, model.name), functools.partial(judge, model, n, number))
        for number, n, model in itertools.product(range(rounds), SAMPLES, MODELS)
    )
    go_on(out, __file__, ("round", "samples", "classes", "model"), todo, minutes)


if __name__ == "__main__":
    import torch

    torch.set_num_threads(1)
    main(**read_options(__doc__, minutes=15, rounds=100))
