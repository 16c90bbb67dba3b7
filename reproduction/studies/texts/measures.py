"""How good and how well calibrated text classifiers are: as trained, and after a temperature as the papers fit it."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator
from typing import Any

import pandas as pd
from scipy.special import softmax
from sklearn.exceptions import ConvergenceWarning

from focal_lib.calibration.calibrators.temperature import M20_TEMPERATURES
from focal_lib.calibration.methods import build
from focal_lib.metrics.by_name import METRICS, all_metrics
from reproduction.engine.store import Logits
from reproduction.studies.texts.plan import BEST, ELSEWHERE
from reproduction.studies.texts.train import IN, TextRun

RECORD = "texts"  # results/texts/table.parquet
TEXT_METRICS = ("error", "nll", "brier", "ece", "adaptive-ece")
_OBJECTIVES = ("nll", "ece", "adaptive-ece")  # of a temperature, on the validation part


def measure_texts(runs: Iterable[TextRun]) -> pd.DataFrame:
    """A row for each run, kept weights, set of test texts, scaling and metric.

    Returns:
        dataset, model, loss, gamma, seed; kept ('best', 'last'), epoch; source (IN, or where the texts are from);
        method, objective, temperature; metric of TEXT_METRICS, value as tables show it: errors in per cent.
    """
    rows: list[dict[str, Any]] = []
    for run in runs:
        spec = run.spec
        about = {"dataset": spec.dataset, "model": spec.model, "loss": spec.label, "gamma": spec.gamma}
        for kept, weights in run.weights.items():
            where = about | {"seed": spec.seed, "kept": kept, "epoch": weights.epoch}
            for method, objective, temperature in _temperatures(weights.validation):
                scaled = where | {"method": method, "objective": objective, "temperature": temperature}
                for source, part in weights.tests.items():
                    values = all_metrics(softmax(part.logits / temperature, -1), part.labels)
                    rows += [
                        scaled | {"source": source, "metric": name, "value": METRICS[name].unit * values[name]}
                        for name in TEXT_METRICS
                    ]
    return pd.DataFrame(rows)


def _temperatures(validation: Logits) -> Iterator[tuple[str, str, float]]:
    """(method, objective, T): as trained; by NLL; by ECE and by adaptive ECE in steps of 0.1 up to 10, as M20.

    A network that is not above chance on the validation part gets a T by NLL without bound, which is no news here.
    """
    yield "none", "", 1.0
    for objective in _OBJECTIVES:
        options = {} if objective == "nll" else {"temperatures": M20_TEMPERATURES}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            fitted: Any = build("temperature", objective, **options).fit(validation.logits, validation.labels)
        yield "temperature", objective, float(fitted.temperature_)


def name_kept(table: pd.DataFrame) -> pd.DataFrame:
    """Rows as `written_contrasts` names them: the loss with what was kept, a metric elsewhere with that word.

    'ece elsewhere' is the mean over the sources other than IN; of the BEST weights alone.
    """
    inside = table[table["source"] == IN]
    outside = table[(table["source"] != IN) & (table["kept"] == BEST)]
    keys = [name for name in table if name not in ("source", "value")]
    means = outside.groupby(keys, sort=False, dropna=False)["value"].mean().reset_index()
    means = means.assign(metric=means["metric"] + ELSEWHERE)
    both = pd.concat([inside.drop(columns="source"), means], ignore_index=True)
    return both.assign(loss=both["loss"] + ", " + both["kept"])
