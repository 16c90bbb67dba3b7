"""The printed tables in the form in which the papers have them, to be shown."""

from __future__ import annotations

import pandas as pd

from reproduction.pages.tables import in_words
from reproduction.studies.printed_tables import (
    kk24_table1,
    l25_table9,
    m20_fig8,
    m20_table6,
    printed_tables,
)

_STAGES = {"pre": "before scaling", "post": "after", "ts": "temperature", "fts": "focal temperature"}
NAMES = {"error": "table of errors", "AUROC table": "table of AUROC"}  # which have no number in L25's text
_KK24 = {"error": 1, "nll": 2, "adaptive_ece": 2}  # digits


def tables_as_printed() -> dict[str, pd.DataFrame]:
    """Every printed table that is data here, by its caption: of M20 and L25, KK24's legible rows, M20 Fig. 8's numbers.

    Cells are text: with a temperature in brackets where one is printed, after ± with a standard deviation; '' where the
    text at hand has lost the number.
    """
    cells = printed_tables()
    kk24 = "KK24, Table 1, its legible rows: error (100 minus accuracy) and adaptive ECE in per cent; in brackets T"
    found = {kk24: _kk24()}
    for key, part in cells.groupby(["paper", "table"], sort=False):
        paper, table = map(str, key)
        metrics = ", ".join(map(in_words, part["metric"].unique()))
        unit = "times 100" if metrics == "NLL" else "in per cent"
        scaled = "; in brackets T" if part["temperature"].notna().any() else ""
        found[f"{paper}, {NAMES.get(table, table)}: {metrics}, {unit}{scaled}"] = _pivoted(part)
    six = m20_table6().melt(["dataset", "network", "loss", "stage"], var_name="metric")
    found["M20, Table 6: test samples of confidence 0.99 or more, and their accuracy, in per cent"] = _pivoted(six)
    eight = m20_fig8().rename(columns={"confidence": "value"}).assign(metric="confidence")
    found["M20, Fig. 8: confidence in the predicted class"] = _pivoted(eight, ("image", "label", "predicted"), 4)
    nine = l25_table9().melt(["pathology", "method"], var_name="metric").dropna().rename(columns={"method": "loss"})
    found["L25, Table 9: AUROC, and ECE and MCE of the average"] = _pivoted(nine.assign(stage=""), ("pathology",), 4)
    return found


def _pivoted(cells: pd.DataFrame, rows: tuple[str, ...] = ("dataset", "network"), digits: int = 2) -> pd.DataFrame:
    """A column a loss, and a metric and a stage where there are several, in the order of the paper."""
    text = cells["value"].map(f"{{:.{digits}f}}".format)
    if "temperature" in cells:
        text += cells["temperature"].map(" ({:.1f})".format).where(cells["temperature"].notna(), "")
    part = cells.assign(text=text, stage=cells["stage"].map(_STAGES))
    columns = [c for c in ("loss", "metric", "stage") if c == "loss" or part[c].nunique() > 1]
    part[columns] = part[columns].map(in_words)
    wide = part.set_index([*rows, *columns])["text"].unstack(columns, sort=False, fill_value="")
    wide.columns.names = [None] * len(columns)
    return wide.rename_axis(index=[name.replace("dataset", "data set") for name in rows])


def _kk24() -> pd.DataFrame:
    """A row a data set, loss and scaling: '1.03 ± 0.17 (1.72)'."""
    frame = kk24_table1()
    found = frame[["dataset", "loss", "stage", "gamma"]].assign(stage=frame["stage"].map(_STAGES))
    found["loss"] = found["loss"].map(in_words)
    found["gamma"] = found["gamma"].map("{:g}".format).where(found["gamma"].notna(), "")
    for metric, digits in _KK24.items():
        number = f"{{:.{digits}f}}".format
        text = frame[metric].map(number) + " ± " + frame[f"{metric}_sd"].map(number)
        if f"{metric}_temperature" in frame:
            text += frame[f"{metric}_temperature"].map(" ({:.2f})".format)
        found[in_words(metric.replace("_", "-"))] = text.where(frame[metric].notna(), "")
    return found.rename(columns={"dataset": "data set", "stage": "scaling"}).set_index(["data set", "loss", "scaling"])
