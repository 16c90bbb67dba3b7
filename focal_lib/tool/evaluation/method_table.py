"""Every calibrator there is, fitted on the same samples and measured on the same others: one table."""

from __future__ import annotations

import time
from collections.abc import Iterable

import pandas as pd

from focal_lib.calibration.logit_sets import LogitSet
from focal_lib.calibration.methods import AS_GIVEN, METHODS, build, parse
from focal_lib.metrics.ece_interval import classwise_ece_interval_of, ece_interval_of
from focal_lib.tool.evaluation.scoring import score


def method_table(
    validation: LogitSet, test: LogitSet, methods: str | Iterable[str | tuple[str, str]] = "all"
) -> pd.DataFrame:
    """What each method costs, and is worth on samples that were not fitted on.

    Args:
        validation: what is fitted on.
        test: what is measured on; both without weights and groups.
        methods: as for parse; 'all' for those whose libraries are there.

    Returns:
        A row for the logits as given and for each method, by its label: whose code fits it; error, in per cent; NLL and
        Brier score; ECE of 15 bins of equal width, the estimate of it with less bias (see ece_interval) and classwise
        ECE, in per cent; seconds of the fit, by the clock; how many samples have another class than as given.

    Raises:
        ValueError: an unknown method; data that a calibrator cannot be fitted on.
    """
    rows = {}
    for method in (AS_GIVEN, *parse(methods)):
        started = time.perf_counter()
        fit = None if method == AS_GIVEN else build(*method).fit(validation.logits, validation.labels)
        seconds = time.perf_counter() - started
        found = score(fit, test)
        scores = found.scores
        ece = ece_interval_of(scores.confidence, scores.correct).scaled(100)
        rows[method.label] = {
            "fitted by": "" if fit is None else METHODS[method.name].fitted_by,
            "error (%)": 100 * (1 - scores.correct.mean()),
            "nll": scores.log_loss.mean(),
            "brier": scores.brier.mean(),
            "ece (%), equal width": ece.estimate,
            "ece with less bias (%)": ece.debiased,
            "classwise-ece (%)": 100 * classwise_ece_interval_of(found.gaps).estimate,
            "seconds to fit": None if fit is None else seconds,
            "other classes": None if fit is None else found.changed,
        }
    return pd.DataFrame.from_dict(rows, orient="index").astype({"other classes": "Int64"})
