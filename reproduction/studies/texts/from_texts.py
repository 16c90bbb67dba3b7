"""Evidence from text classifiers, as recorded in results/texts.

Where the record is missing these functions raise FileNotFoundError, which `claim(needs=...)` turns into a reason.
"""

from __future__ import annotations

from dataclasses import replace

import pandas as pd

from focal_lib.metrics.intervals import t_interval_if_any
from reproduction.engine.contrasts import Contrast
from reproduction.ledger.evidence import All
from reproduction.ledger.measurement import Measurement
from reproduction.studies.shared.from_runs import (
    contrast_by_seed,
    name_metric,
    over_seeds,
    signed_if_any,
)
from reproduction.studies.shared.written_contrasts import difference_by_seed, find_contrast
from reproduction.studies.texts.plan import BEST, ELSEWHERE, SETTINGS, written_contrasts
from reproduction.studies.texts.texts import RECORD, name_kept
from reproduction.studies.texts.texts_record import (
    order_with_printed,
    p_of_no_relation,
    record_of,
    tau_interval,
)
from reproduction.studies.texts.train import IN

NEEDS = f"results/{RECORD}"
SIZE = "film reviews, two small networks, weights of the best validation accuracy"  # for statements


def settings_with(name: str) -> tuple[str, ...]:
    """The settings for which a contrast of that name was written down."""
    return tuple(setting for setting in SETTINGS if name in [c.name for c in written_contrasts(setting)])


def size_with(name: str) -> str:
    """The settings that have a contrast, for statements."""
    return f"film reviews; {' and '.join(settings_with(name))}; weights of the best validation accuracy"


def _asked(setting: str, name: str) -> tuple[str, pd.DataFrame, Contrast]:
    """What a written contrast compares, in words; the record; the contrast."""
    contrast = find_contrast(written_contrasts(setting), name)
    metric, elsewhere, _ = contrast.metric.partition(ELSEWHERE)
    quantity = f"{name_metric(metric)}{elsewhere} of {contrast.ours}, minus {contrast.theirs} [{setting}]"
    return quantity, name_kept(record_of(setting)), contrast


def contrast_of_texts(setting: str, name: str, sign: int, said: str = "claimed") -> Measurement:
    """A contrast that was written down, in one setting, against the sign claimed; paired over seeds."""
    return contrast_by_seed(*_asked(setting, name), said, sign)


def contrasts_everywhere(*names: str, sign: int, said: str = "claimed") -> All:
    """Contrasts that were written down, each in every setting that has it."""
    return All(tuple(contrast_of_texts(setting, name, sign, said) for name in names for setting in settings_with(name)))


def similar_by(setting: str, name: str, tolerance: float) -> Measurement:
    """A contrast that was written down, against 0 within a tolerance; paired over seeds."""
    quantity, table, contrast = _asked(setting, name)
    values = difference_by_seed(table, contrast.metric, contrast.ours, contrast.theirs)
    return Measurement.near(quantity, "about 0", t_interval_if_any(values), 0.0, tolerance, over_seeds(values))


def error_of_texts(setting: str, loss: str, expected: float, tolerance: float) -> Measurement:
    """The test error of a loss in per cent against a number, as trained; BEST weights."""
    table = record_of(setting)
    own = table[(table["kept"] == BEST) & (table["source"] == IN) & (table["metric"] == "error")]
    own = own[(own["method"] == "none") & (own["loss"] == loss)]
    values = own.set_index("seed")["value"]
    quantity = f"test error (%) of {loss} [{setting}]"
    interval, over = t_interval_if_any(values), over_seeds(values)
    return Measurement.near(quantity, f"{expected:g}", interval, expected, tolerance, over, said="asked")


def temperature_of_texts(setting: str, loss: str, other: str, sign: int) -> Measurement:
    """The temperature by ECE of one loss minus that of another, paired over seeds; BEST weights."""
    table = record_of(setting)
    own = table[(table["kept"] == BEST) & (table["source"] == IN) & (table["metric"] == "ece")]
    wide = own[own["objective"] == "ece"].pivot(index="seed", columns="loss", values="temperature")
    values = (wide[loss] - wide[other]).dropna()
    quantity = f"$T$ by ECE (equal width), {loss} minus {other} [{setting}]"
    printed = "negative" if sign < 0 else "positive"
    return signed_if_any(quantity, printed, values, sign)


def order_of_texts(setting: str, paper: str, dataset: str, stage: str) -> Measurement:
    """Kendall's tau of the losses' order by ECE here and in a printed row, a number a seed, against above 0."""
    table = record_of(setting)
    taus = order_with_printed(table, paper, dataset, stage)
    when = "before" if stage == "pre" else "after"
    quantity = (
        f"Kendall's tau of the order by ECE (equal width) {when} scaling with {paper}'s row {dataset} [{setting}]"
    )
    found = Measurement.signed(
        quantity, "positive", tau_interval(table, taus, paper, dataset, stage), 1, over_seeds(taus)
    )
    p = p_of_no_relation(table, paper, dataset, stage)
    return replace(found, said="asked", remark=f"Of all orders of these losses a share of {p:.2g} is as far from 0")
