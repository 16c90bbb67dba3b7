"""The printed tables alone: as printed, to be shown; do they agree with themselves and each other, are ranks stable."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence

import numpy as np
import pandas as pd

from focal_lib.metrics.intervals import correlation_interval, welch_interval
from focal_lib.metrics.significance import holm, t_p_value
from reproduction.pages.tables import in_words
from reproduction.studies.printed_tables import kk24_table1, l25_table9, m20_fig8, m20_table6, printed_tables

NAMES = {"error": "table of errors", "AUROC table": "table of AUROC"}  # which have no number in L25's text
CELL = ["dataset", "network", "loss", "metric", "stage"]
Column = tuple[str, str]  # metric, stage


def match_restated(frame: pd.DataFrame, paper: str) -> pd.DataFrame:
    """Cells that a paper prints in two tables: one row a pair, with both values."""
    own = frame[frame["paper"] == paper]
    pairs = own.merge(own, on=CELL, suffixes=("", "_again"))
    return pairs[_number(pairs["table"]) < _number(pairs["table_again"])]


def _number(table: pd.Series) -> pd.Series:
    return table.str.extract(r"(\d+)")[0].astype(float)


def match_papers(frame: pd.DataFrame) -> pd.DataFrame:
    """Cells of M20 (its first table of each) that L25 prints too, for its own training of the same setting."""
    m20 = frame[frame["paper"] == "M20"].drop_duplicates(CELL)
    l25 = frame[frame["paper"] == "L25"].drop_duplicates(CELL)
    return m20.merge(l25, on=CELL, suffixes=("_m20", "_l25"))


def find_moved_columns(frame: pd.DataFrame) -> pd.DataFrame:
    """Where L25 prints M20's values before and after temperature scaling, both, under another loss's name."""
    m20 = frame[frame["paper"] == "M20"].drop_duplicates(CELL)
    l25 = frame[frame["paper"] == "L25"].drop_duplicates(CELL)
    same = m20.merge(l25, on=["dataset", "network", "metric", "stage", "value"], suffixes=("_m20", "_l25"))
    same = same[same["loss_m20"] != same["loss_l25"]]
    keys = ["dataset", "network", "metric", "loss_m20", "loss_l25"]
    return same[same.groupby(keys)["stage"].transform("nunique") == 2].reset_index(drop=True)


def find_equal_rows(frame: pd.DataFrame, least: int = 3) -> pd.DataFrame:
    """Pairs of rows of one table that share at least `least` cells, value and loss alike, and their number of cells.

    A metric in per cent with two digits repeats by chance now and then; a row does not.
    """
    found = []
    for (paper, table), part in frame.groupby(["paper", "table"], sort=False):
        rows = part.pivot_table(
            index=["dataset", "network"], columns=["metric", "loss", "stage"], values="value", sort=False
        )
        for (one, a), (two, b) in itertools.combinations(zip(rows.index, rows.to_numpy(), strict=True), 2):
            if (same := int((a == b).sum())) >= least:
                found.append((paper, table, " ".join(one), " ".join(two), same, rows.shape[1]))
    return pd.DataFrame(found, columns=["paper", "table", "row", "other row", "equal", "cells"])


def count_best(frame: pd.DataFrame, paper: str, table: str, losses: list[str] | None = None) -> pd.DataFrame:
    """How often each loss has the smallest value of a row of the table, by stage; ties count for each."""
    part = frame[(frame["paper"] == paper) & (frame["table"] == table)]
    if losses is not None:
        part = part[part["loss"].isin(losses)]
    least = part.groupby(["dataset", "network", "metric", "stage"])["value"].transform("min")
    counts = (
        part.assign(best=part["value"] == least).groupby(["stage", "loss"], sort=False)["best"].agg(["sum", "size"])
    )
    return counts.rename(columns={"sum": "best", "size": "rows"}).reset_index()


def correlate_orders(
    frame: pd.DataFrame, paper: str, pairs: Sequence[tuple[Column, Column]], permutations: int = 2000, seed: int = 0
) -> pd.DataFrame:
    """Kendall's tau between the orders that two columns give the losses: mean over networks, then over data sets.

    Networks of one data set are not independent. So the interval is Student's t over the means of the data sets, which
    holds its level with few of them, whatever their variances (Ibragimov and Mueller 2010); it is cut at -1 and 1. For
    the p value of no relation the losses of the second column are permuted, in all networks of a data set alike.

    Returns:
        order by, and by, datasets, networks, tau, low, high, p. With one data set low and high are nan.

    Raises:
        ValueError: networks of one data set with different losses.
    """
    own = frame[frame["paper"] == paper].drop_duplicates(CELL)
    rng = np.random.default_rng(seed)
    found = []
    for first, second in pairs:
        taus = [_taus(networks, permutations, rng) for networks in _by_dataset(own, first, second)]
        means = np.mean([t.mean(0) for t in taus], axis=0)  # as printed, then permuted
        i = correlation_interval([float(t[:, 0].mean()) for t in taus])
        p = float((np.abs(means) >= abs(means[0]) - 1e-12).mean())  # the printed order is one of them
        row = (" ".join(first), " ".join(second), len(taus), sum(map(len, taus)), i.estimate, i.low, i.high, p)
        found.append(row)
    return pd.DataFrame(found, columns=["order by", "and by", "datasets", "networks", "tau", "low", "high", "p"])


def _by_dataset(own: pd.DataFrame, first: Column, second: Column) -> Iterator[np.ndarray]:
    """For each data set both columns: (networks, 2, losses)."""
    wide = own.pivot_table(index=["dataset", "network", "loss"], columns=["metric", "stage"], values="value")
    for name, part in wide[[first, second]].dropna().groupby(level="dataset"):
        table = part.unstack("loss")
        if table.isna().to_numpy().any():
            raise ValueError(f"networks of one data set must have the same losses. Got others in {name}.")
        yield table.to_numpy().reshape(len(table), 2, -1)


def _taus(networks: np.ndarray, permutations: int, rng: np.random.Generator) -> np.ndarray:
    """Kendall's tau-b of each network, as printed and with the second column permuted: (networks, 1 + permutations)."""
    losses = networks.shape[2]
    orders = np.stack([np.arange(losses), *(rng.permutation(losses) for _ in range(permutations))])
    signs = np.sign(networks[..., :, None] - networks[..., None, :])  # (networks, 2, losses, losses)
    shuffled = signs[:, 1][:, orders[:, :, None], orders[:, None, :]]
    pairs = np.sqrt((signs**2).sum((2, 3)).prod(1))  # that are no ties
    return np.asarray(np.einsum("nij,npij->np", signs[:, 0], shuffled) / pairs[:, None])


_GAINS = ["difference", "low", "high", "p"]


def gains_of_kk24(frame: pd.DataFrame, seeds: int = 5) -> pd.DataFrame:
    """Adaptive ECE after focal temperature scaling (`fts`) minus after temperature scaling (`ts`), Welch's interval.

    The paper prints means and standard deviations, not the paired differences: seeds in common would narrow it.
    Returns dataset, loss, ts, fts, difference, low, high, each interval for itself, p and p_adjusted, by Holm.
    """
    ts, fts = (frame[frame["stage"] == stage] for stage in ("ts", "fts"))
    both = ts.merge(fts, on=["dataset", "loss"], suffixes=("", "_fts"))
    names = ["adaptive_ece_fts", "adaptive_ece"]
    sides = zip(both[names].to_numpy(), both[["adaptive_ece_sd_fts", "adaptive_ece_sd"]].to_numpy(), strict=True)
    found = [welch_interval((1, -1), means, deviations, seeds) for means, deviations in sides]
    columns = pd.DataFrame([(i.estimate, i.low, i.high, t_p_value(i)) for i in found], both.index, _GAINS)
    named = both[["dataset", "loss"]].assign(ts=both["adaptive_ece"], fts=both["adaptive_ece_fts"])
    return named.join(columns).assign(p_adjusted=holm(columns["p"]))


_STAGES = {"pre": "before scaling", "post": "after", "ts": "temperature", "fts": "focal temperature"}
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
