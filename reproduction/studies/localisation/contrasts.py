"""What the recorded networks say of heat maps and labels: the contrasts written down before them, label by label."""

from __future__ import annotations

import numpy as np
import pandas as pd

from focal_lib.metrics.intervals import t_interval_if_any
from focal_lib.metrics.significance import holm, t_p_value
from reproduction.ledger.measurement import Measurement
from reproduction.studies.localisation.measures import RECORD
from reproduction.studies.localisation.plan import written_contrasts
from reproduction.studies.shared.from_runs import contrast_by_seed
from reproduction.studies.shared.recorded import read_table
from reproduction.studies.shared.written_contrasts import evaluate_contrasts, find_contrast


def of_setting(setting: str) -> pd.DataFrame:
    """The recorded rows of a setting.

    Raises:
        ValueError: the record lacks this setting.
    """
    table = read_table(RECORD)
    if setting not in set(table["dataset"]):
        raise ValueError(f"setting must be one of {', '.join(sorted(set(table['dataset'])))}. Got {setting!r}.")
    return table[table["dataset"] == setting].reset_index(drop=True)


def evaluate_written(setting: str) -> pd.DataFrame:
    """The contrasts that were written down for a setting, on its record; Holm's correction within a table.

    Raises:
        FileNotFoundError, ValueError: as of_setting.
    """
    return evaluate_contrasts(of_setting(setting), written_contrasts(setting))


def gains_by_label(table: pd.DataFrame, ours: str, theirs: str) -> pd.DataFrame:
    """AUROC of each label with one loss minus another, paired over seeds, in points; by the order of the labels.

    Returns:
        label, difference, low, high: 95 % t interval, each for itself; p_adjusted: over the labels, by Holm.

    Raises:
        ValueError: rows of several settings.
    """
    if table["dataset"].nunique() != 1:
        raise ValueError(f"table must be of one setting. Got {table['dataset'].nunique()}.")
    rows = table[table["metric"].str.startswith("auroc ")]
    wide = rows.pivot(index="seed", columns=["metric", "loss"], values="value")
    found, p_values = [], []
    for metric in rows["metric"].unique():
        i = t_interval_if_any(wide[metric, ours] - wide[metric, theirs])
        found.append((metric.removeprefix("auroc "), i.estimate, i.low, i.high))
        p_values.append(t_p_value(i) if i.kind else np.nan)
    gains = pd.DataFrame(found, columns=["label", "difference", "low", "high"])
    return gains.assign(p_adjusted=holm(p_values) if not np.isnan(p_values).any() else np.nan)


NEEDS = f"results/{RECORD}"


def contrast_of_record(setting: str, name: str, sign: int) -> Measurement:
    """A contrast that was written down for a setting, in points, against the sign claimed; paired over seeds.

    Raises:
        ValueError: no such contrast was written down.
    """
    contrast = find_contrast(written_contrasts(setting), name)
    return contrast_by_seed(f"{name}, {setting}, in points", of_setting(setting), contrast, "claimed", sign)
