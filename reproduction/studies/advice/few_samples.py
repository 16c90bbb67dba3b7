"""How many labelled samples a temperature needs, counted on recorded networks."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from focal_lib.calibration.calibrators.temperature import TemperatureScaling
from focal_lib.calibration.methods import PRIOR_SD
from focal_lib.metrics.bins import ece
from reproduction.engine.store import Result


def ece_by_samples(run: Result, sizes: Sequence[int], draws: int, seed: int = 0) -> pd.DataFrame:
    """Test ECE (%) after a temperature fitted, as `focal calibrate` does, on some of the validation samples.

    Returns:
        A row a number of samples: mean, low and high, the mean and the middle nine tenths over the draws.

    Raises:
        ValueError: more samples than the run has kept for validation.
    """
    kept, rng = len(run.validation.labels), np.random.default_rng(seed)
    if max(sizes) > kept:
        raise ValueError(f"sizes must be at most {kept}, the validation samples. Got {max(sizes)}.")
    rows = []
    for n in sizes:
        errors = []
        for _ in range(draws):
            some = rng.choice(kept, n, replace=False)
            fit = TemperatureScaling(prior_sd=PRIOR_SD).fit(run.validation.logits[some], run.validation.labels[some])
            errors.append(100 * ece(fit.predict_proba(run.test.logits), run.test.labels))
        low, high = np.quantile(errors, [0.05, 0.95])
        rows.append({"samples": n, "mean": np.mean(errors), "low": low, "high": high})
    return pd.DataFrame(rows).set_index("samples")
