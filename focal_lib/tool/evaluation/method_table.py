"""All calibrators, fitted on one set and measured on another, in one table."""

from __future__ import annotations

import time
from collections.abc import Iterable

import pandas as pd

from focal_lib.calibration.logit_sets import LogitSet
from focal_lib.calibration.methods import AS_GIVEN, METHODS, build, not_of, parse
from focal_lib.metrics.ece_interval import classwise_ece_interval_of, ece_interval_of
from focal_lib.tool.evaluation.scoring import score


def method_table(
    validation: LogitSet, test: LogitSet, methods: str | Iterable[str | tuple[str, str]] = "all"
) -> pd.DataFrame:
    """Fit each method on one set and measure it on another.

    Args:
        validation: the set to fit on.
        test: the set to measure on; both without weights and groups.
        methods: as for methods.parse; 'all' for those whose packages are installed.

    Returns:
        One row for the logits as given and one for each method. Columns: package that fits it; error (%); NLL; Brier
        score; ECE (%) in 15 bins of equal width; its estimate with less bias (see ece_interval); classwise ECE (%);
        wall-clock seconds of the fit; number of samples whose predicted class changes.

    Raises:
        ValueError: an unknown method, or data that a calibrator refuses.

    Examples:
        >>> import numpy as np
        >>> data = LogitSet(np.array([[0.0, 2.1972]] * 4), np.array([1, 1, 1, 0]))  # confidence 0.9, accuracy 0.75
        >>> method_table(data, data, "temperature")["nll"].round(3).to_dict()
        {'as given': 0.655, 'temperature': 0.562}
    """
    rows = {}
    tried = parse(methods)
    left_out = not_of(tried, len(validation), test.classes) if methods == "all" else []
    for method in (AS_GIVEN, *(method for method in tried if method not in left_out)):
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
