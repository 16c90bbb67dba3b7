r"""The map and focal temperature scaling on networks of several architectures (KK24 has ResNet-50).

The map is a fixed function of the probabilities; what an architecture changes is which probabilities it meets.
`ARCHITECTURE_CONTRASTS` were written down before the runs of workflow/grids/fashion-mnist-architectures.yaml; those of
all networks are corrected together, by Holm.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import pandas as pd
from scipy.optimize import minimize_scalar
from scipy.special import log_softmax

from focal_lib.metrics.intervals import t_interval_if_any
from focal_lib.theory.maps import focal_log_probs
from reproduction.engine.contrasts import Contrast, Setting
from reproduction.engine.store import Result
from reproduction.studies.shared.over_seeds import correct_together
from reproduction.studies.shared.scalings import nll_temperature
from reproduction.studies.shared.written_contrasts import evaluate_contrasts

_LOSSES = ("cross-entropy", "focal 3")


def _focal_minus_plain(metric: str) -> Contrast:
    """Focal temperature scaling minus temperature scaling, both by the metric itself."""
    ours, theirs = (Setting(_LOSSES, method, metric) for method in ("focal-temperature", "temperature"))
    return Contrast("other architectures", metric, metric, ours, theirs, -1)


ARCHITECTURE_CONTRASTS = (_focal_minus_plain("nll"), _focal_minus_plain("adaptive-ece"))


def nearest_temperature(logits: np.ndarray, gamma: float) -> float:
    r"""The temperature whose softmax comes nearest to the map after softmax, on given predictions.

    .. math:: \arg\min_T \sum_i \mathrm{KL}\bigl(\phi_\gamma(\mathrm{softmax}(z_i)) \,\|\, \mathrm{softmax}(z_i / T)
        \bigr),

    convex in 1/T, which is searched from a tenth of min(1, gamma + 1) to twice max(1, gamma + 1): with two classes it
    lies between 1 and gamma + 1 (KK24 Prop. 3 sharpened, `theory.temperature_bounds`).

    Args:
        logits: (n, K).
        gamma: of the map, > -1.

    Returns:
        the temperature; nan where the search ends at an end, as with predictions that any temperature leaves alone.
    """
    z = np.asarray(logits, dtype=np.float64)
    mapped = np.exp(focal_log_probs(z, gamma))

    def divergence(inverse: float) -> float:  # without the map's entropy, which no T changes
        return float(-(mapped * log_softmax(z * inverse, -1)).sum(-1).mean())

    low, high = 0.1 * min(1.0, gamma + 1), 2 * max(1.0, gamma + 1)
    found = float(minimize_scalar(divergence, bounds=(low, high), method="bounded", options={"xatol": 1e-6}).x)
    return 1 / found if 1.001 * low < found < 0.999 * high else np.nan


def share_lowered(logits: np.ndarray, gamma: float) -> float:
    """Share of predictions, (n, K) logits, whose top probability the map lowers (KK24 Prop. 5: none)."""
    z = np.asarray(logits, dtype=np.float64)
    top, mapped = np.exp(log_softmax(z, -1)).max(-1), np.exp(focal_log_probs(z, gamma)).max(-1)
    return float((mapped < top - 1e-12).mean())


def map_by_network(results: Iterable[Result], gamma: float, loss: str = "cross-entropy") -> pd.DataFrame:
    """What the map does to the test predictions of networks trained with one loss: a row a data set and network.

    Returns:
        dataset, model, classes, networks; error, the share of wrong classes, mean; nearest, the mean nearest
        temperature, with low and high, its t interval over seeds, nan and nan of one; factor, the mean of the best T by
        validation NLL at calibration gamma 1 over that at 0; lowered, the mean share that loses confidence.

    Raises:
        ValueError: several runs of a data set, network and seed, which are no replicates.
    """
    rows = []
    for result in results:
        if result.spec.label != loss:
            continue
        logits, labels = result.test.logits, result.test.labels
        key = (result.spec.dataset, result.spec.model, logits.shape[-1], result.spec.seed)
        numbers = (
            float((logits.argmax(-1) != labels).mean()),
            nearest_temperature(logits, gamma),
            nll_temperature(result, 1.0) / nll_temperature(result, 0.0),
            share_lowered(logits, gamma),
        )
        rows.append((*key, *numbers))
    each = pd.DataFrame(rows, columns=["dataset", "model", "classes", "seed", "error", "nearest", "factor", "lowered"])
    if each.duplicated(["dataset", "model", "seed"]).any():
        raise ValueError(f"results must have one {loss} run a data set, network and seed. Got {len(each)} runs.")
    groups = each.drop(columns="seed").groupby(["dataset", "model", "classes"], sort=False)
    intervals = groups["nearest"].apply(t_interval_if_any)
    means = groups.mean().assign(
        networks=groups.size(), low=intervals.map(lambda i: i.low), high=intervals.map(lambda i: i.high)
    )
    return means[["networks", "error", "nearest", "low", "high", "factor", "lowered"]].reset_index()


def contrasts_by_network(table: pd.DataFrame, contrasts: Iterable[Contrast]) -> pd.DataFrame:
    """Contrasts of a grid with several networks, each network by itself, all p values corrected together by Holm.

    Args:
        table: what `measure` gives.

    Returns:
        as `evaluate_contrasts`, with model first and without primary.
    """
    written = list(contrasts)
    networks = table.groupby("model", sort=False)
    every = [evaluate_contrasts(part, written).assign(model=model) for model, part in networks]
    found = correct_together(pd.concat(every, ignore_index=True))
    return found[["model", *(column for column in found.columns if column not in ("model", "primary"))]]
