"""Focal temperature scaling against calibrators with a number, or many, a class, on the networks of Table 1.

The contrasts were written down before they were asked of small ResNets on 4,000 images of CIFAR-10 with nine losses
(`FIRST_CONTRASTS`; one such network, and one of CIFAR-100, had been tried for the time that each method takes).
`CALIBRATOR_CONTRASTS` ask the same of the networks on all of CIFAR-10, with the seven losses that have all seeds. The
answer for the small ones had been seen then, and so had what these networks give after either temperature scaling, but
after none of the others. The primary contrast stands for itself, the others are corrected by Holm.

The default penalties of vector and matrix scaling and of Dirichlet calibration were changed after a first record of
`CALIBRATOR_CONTRASTS` had been seen; the record is of the new ones, that of `FIRST_CONTRASTS` of the old ones.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import pandas as pd

from focal_lib.calibration.methods import METHODS, build
from focal_lib.metrics.intervals import t_interval
from focal_lib.metrics.scores import sample_scores
from focal_lib.metrics.significance import t_p_value
from reproduction.engine.contrasts import Contrast, Setting
from reproduction.engine.store import Result
from reproduction.pages.tables import in_words
from reproduction.studies.shared.over_seeds import correct_together, run_columns
from reproduction.studies.shared.two_way import IMAGES, changes_in, kept_images

FOCAL = "focal-temperature"
_SCALINGS = {
    "temperature": "temperature scaling",
    "vector": "vector scaling",
    "matrix": "matrix scaling",
    "beta": "beta calibration",
    "dirichlet": "Dirichlet calibration",
    "structured-matrix": "structured matrix scaling",
}
OTHERS = tuple(_SCALINGS)
LEFT_OUT = {
    "histogram": "gives a class probability 0, so its NLL may be infinite",
    "isotonic": "gives a class probability 0, so its NLL may be infinite",
    "venn-abers": "counts samples, and gives two probabilities that are merged",
    "platt": "is for two classes",
    "ensemble-temperature": "came after the contrasts were written down",
    "splines": "no library of the lock file has",
}
LOSSES = ("cross-entropy", *(f"focal {gamma}" for gamma in (1, 2, 3, 5, 7)), "flsd-53")  # KK24's
_FIRST_LOSSES = (*LOSSES, "dual-focal 5", "fcl 3 0.5")


def _contrast(other: str, metric: str, losses: tuple[str, ...]) -> Contrast:
    """Focal temperature scaling minus another method, both by their first objective; -1: KK24 claims it improves."""
    ours, theirs = (Setting(losses, method, METHODS[method].first) for method in (FOCAL, other))
    primary = (other, metric) == ("temperature", "nll")
    name = f"{in_words(metric)} against {_SCALINGS[other]}"
    return Contrast("proper scores", name, metric, ours, theirs, -1, primary)


CALIBRATOR_CONTRASTS, FIRST_CONTRASTS = (
    tuple(_contrast(other, metric, losses) for metric in ("nll", "brier") for other in OTHERS)
    for losses in (LOSSES, _FIRST_LOSSES)
)


def compare_calibrators(results: Iterable[Result], methods: Sequence[str] = OTHERS) -> pd.DataFrame:
    """Every method and focal temperature scaling, fitted on validation by NLL, judged on test: a row a score.

    Each method has its defaults, as in `focal calibrate`.

    Returns:
        dataset, model, loss, gamma, seed; method, objective; metric, 'nll', 'brier' or 'error' (share of wrong
        classes); value; images and LEFT_OUT as `measure` has them; difference to focal temperature scaling, negative
        where the method is better, and low and high, the 95 % t interval of it over test samples; p of no difference,
        nan for focal temperature scaling and where no sample differs; seconds of the fit.
    """
    rows: list[dict[str, Any]] = []
    for result in results:
        first: dict[str, np.ndarray] = {}
        for method in (FOCAL, *(name for name in methods if name != FOCAL)):
            started = time.perf_counter()
            fit = build(method).fit(result.validation.logits, result.validation.labels)
            seconds = time.perf_counter() - started
            scores = _scores(fit.predict_proba(result.test.logits.astype(np.float64)), result.test.labels)
            first = first or scores
            for metric, values in scores.items():
                row: dict[str, Any] = {"method": method, "objective": METHODS[method].first, "metric": metric}
                row |= _mean(values) | _paired(values - first[metric]) | {"seconds": seconds}
                rows.append(run_columns(result.spec) | row)
    return pd.DataFrame(rows)


def _scores(probs: np.ndarray, labels: np.ndarray) -> dict[str, np.ndarray]:
    each = sample_scores(probs, labels)
    return {"nll": each.log_loss, "brier": each.brier, "error": 1 - each.correct}


def _mean(values: np.ndarray) -> dict[str, Any]:
    found = [float(values[kept].mean()) for kept in kept_images(len(values))]
    return {"value": found[0], IMAGES: len(values)} | changes_in(found)


def _paired(differences: np.ndarray) -> dict[str, float]:
    i = t_interval(differences)
    p = t_p_value(i) if i.high > i.low else np.nan
    return {"difference": i.estimate, "low": i.low, "high": i.high, "p": p}


def count_clear(table: pd.DataFrame, metric: str) -> pd.DataFrame:
    """Networks on whose test samples a method is clearly better, or worse, than focal temperature scaling.

    Clearly: by Student's t over test samples, with Holm's correction over all networks and methods of the table.

    Returns:
        dataset, method, networks, better, worse.
    """
    chosen = correct_together(table[(table["metric"] == metric) & (table["method"] != FOCAL)])
    chosen = chosen.assign(
        better=chosen["significant"] & (chosen["difference"] < 0),
        worse=chosen["significant"] & (chosen["difference"] > 0),
    )
    groups = chosen.groupby(["dataset", "method"], sort=False)
    counted = groups[["better", "worse"]].sum()
    return counted.assign(networks=groups.size())[["networks", "better", "worse"]].reset_index()
