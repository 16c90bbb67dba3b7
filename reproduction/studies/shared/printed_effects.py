"""The effects that the papers' tables print, to judge our own against: see `judgement.judge`.

A table does not print an effect exactly: networks differ, and means over seeds have a spread. So the effect printed has
an interval of 95 %: for one more network than the table has, where it has one run each of several (M20, L25); of means
and standard deviations over seeds, as if independent, where it has these (KK24), by Welch. Its part on the claimed side
of 0 counts. Of a single network that has one run only the sign counts, and so it does on another data set.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd

from focal_lib.loss_records import LOSS_RECORDS
from focal_lib.metrics.intervals import Interval, t_interval, welch_interval
from reproduction.ledger.judgement import NEGATIVE, POSITIVE, Range
from reproduction.pages.tables import in_words
from reproduction.studies.printed_tables import kk24_table1, printed_tables
from reproduction.studies.shared.over_seeds import summarise

NAMES = {"cifar10": "CIFAR-10", "cifar100": "CIFAR-100", "tiny-imagenet": "Tiny-ImageNet"}
_KK24_SEEDS = 5  # KK24 section 5.1


class PrintedEffect(NamedTuple):
    """What a paper claims of a difference: its sign, and what its table prints of it, None where that has none of it.

    Attributes:
        size: the mean effect; None, too, where its sign is not the claimed one.
        text: 'negative; in the table -2.58 on average over 4 networks (95 % for one more -5.01 to -0.15)'.
        span: the effects of the claimed sign that the table leaves open.
    """

    sign: int
    size: float | None
    text: str
    span: Range | None = None


def _effect(sign: int, sizes: Sequence[float], over: str, found: Interval | None, kind: str) -> PrintedEffect:
    """Of differences that are printed, with the interval of their mean, if they have one, and what kind it is."""
    word = "positive" if sign > 0 else "negative"
    if not len(sizes):
        return PrintedEffect(sign, None, f"{word}; no size is printed or legible")
    mean = round(sum(sizes) / len(sizes), 4) + 0.0  # of numbers with two digits; no -0
    if sign * mean <= 0:
        return PrintedEffect(sign, None, f"{word} in words; in the table {mean:+.2f}{over}")
    if found is None:
        return PrintedEffect(sign, None, f"{word}; in the table {mean:+.2f}{over}")
    least, most = POSITIVE if sign > 0 else NEGATIVE
    spread = f"{100 * found.level:g} % {kind} {found.low:+.2f} to {found.high:+.2f}"
    text = f"{word}; in the table {mean:+.2f}{over} ({spread})"
    return PrintedEffect(sign, mean, text, (max(found.low, least), min(found.high, most)))


def mean_difference(
    paper: str, dataset: str, metric: str, stage: str, loss: str, other: str, sign: int
) -> PrintedEffect:
    """M20's or L25's cells of `loss` minus those of `other`, mean over the networks of a data set.

    Args:
        paper: 'M20' or 'L25'.
        dataset: as runs name it, 'cifar10'.
        stage: 'pre' or 'post' temperature scaling.
        sign: the one claimed.
    """
    cells = printed_tables()
    cells = cells[(cells["paper"] == paper) & (cells["dataset"] == NAMES.get(dataset, dataset))]
    cells = cells[(cells["metric"] == metric) & (cells["stage"] == stage)].drop_duplicates(["network", "loss"])
    wide = cells.pivot(index="network", columns="loss", values="value").reindex(columns=[loss, other])
    sizes = (wide[loss] - wide[other]).dropna()
    found = _for_one_more(sizes.tolist()) if len(sizes) > 1 else None
    over = f" on average over {len(sizes)} networks" if found else ", one run of one network"
    return _effect(sign, sizes.tolist(), over, found, "for one more")


def _for_one_more(sizes: Sequence[float]) -> Interval:
    """Student's prediction interval: where the effect of another such network lies, with probability 95 %."""
    found = t_interval(sizes)
    half = (found.high - found.estimate) * math.sqrt(1 + len(sizes))  # t s sqrt(1 + 1/n), of t s sqrt(1/n)
    return Interval(found.estimate, found.estimate - half, found.estimate + half, "prediction", found.level)


def _kk24(dataset: str) -> pd.DataFrame:
    return kk24_table1().query("dataset == @NAMES.get(@dataset, @dataset)")


def _of_means(sign: int, cells: pd.DataFrame, over: str) -> PrintedEffect:
    """Mean of `ours` minus `theirs`, columns with means over seeds, beside `ours_sd` and `theirs_sd`; a row a loss."""
    if cells.empty:
        return _effect(sign, [], over, None, "")
    means, deviations = (cells[[f"ours{end}", f"theirs{end}"]].to_numpy().ravel() for end in ("", "_sd"))
    weights = np.tile([1, -1], len(cells)) / len(cells)
    found = welch_interval(weights, means, deviations, _KK24_SEEDS)
    sizes = (cells["ours"] - cells["theirs"]).tolist()
    return _effect(sign, sizes, over, found, f"Welch interval over {_KK24_SEEDS} seeds")


def kk24_gain(dataset: str, losses: Sequence[str]) -> PrintedEffect:
    """KK24 Table 1: adaptive ECE after focal temperature scaling minus after temperature scaling, mean over losses."""
    printed = _kk24(dataset).set_index("loss")[["stage", "adaptive_ece", "adaptive_ece_sd"]]
    sides = {"ours": "fts", "theirs": "ts"}
    named = {
        side: printed[printed["stage"] == stage].set_axis(["stage", side, f"{side}_sd"], axis="columns")
        for side, stage in sides.items()
    }
    both = named["ours"].join(named["theirs"], how="inner", rsuffix="_theirs")
    legible = [loss for loss in losses if loss in both.index]
    only = f" on average over {', '.join(map(in_words, legible))} alone, as the others are not printed or not legible"
    over = only if 0 < len(legible) < len(losses) else " on average" if len(losses) > 1 else ""
    return _of_means(-1, both.loc[legible], over)


def kk24_rows() -> set[str]:
    """The losses that have a row in KK24's Table 1, legible for one data set at least."""
    return set(kk24_table1()["loss"])


def kk24_change(dataset: str, column: str, loss: str, other: str, sign: int) -> PrintedEffect:
    """KK24 Table 1 after temperature scaling: a column ('error', 'adaptive_ece') for a loss minus that for another."""
    printed = _kk24(dataset).query("stage == 'ts'").set_index("loss")[[column, f"{column}_sd"]]
    if not {loss, other} <= set(printed.index):
        return _of_means(sign, pd.DataFrame(), "")
    cells = {"ours": printed.loc[loss], "theirs": printed.loc[other]}
    row = {f"{side}{end}": cell[f"{column}{end}"] for side, cell in cells.items() for end in ("", "_sd")}
    return _of_means(sign, pd.DataFrame([row]), "")


# names in this book's runs -> as printed; others are the same
_LOSSES = {"focal-scheduled-531": "focal 5-3-1", "focal-scheduled-532": "focal 5-3-2"}
_WITH_PARAMETERS = {name for name, record in LOSS_RECORDS.items() if record.parameters} - {"focal"}  # printed without
_PAPERS = ("M20", "L25", "KK24")
_HEADINGS = {"pre": "as trained", "post": "after temperature scaling"}


def compare_with_printed(measured: pd.DataFrame, metric: str, dataset: str, network: str = "ResNet-50") -> pd.DataFrame:
    """A row a loss: our mean and standard deviation, and what each paper prints, before and after temperature scaling.

    Our temperature is chosen by ECE of equal width, in steps of 0.1, as M20's is, and L25's by ECE; for 'adaptive-ece'
    by that of equal mass, in steps of 0.01, as KK24's ECE is (section 5.1), whose column is there alone. There M20 has
    steps of 0.1 (section 6), and L25 the temperature that it chose by ECE (section 5).

    Args:
        measured: see `summarise`.
        metric: 'error', 'nll', 'ece', 'adaptive-ece', 'classwise-ece', 'smooth-ece' or 'mce'.
        dataset: as printed, 'CIFAR-10'.
        network: the papers' network to show.
    """
    ours = summarise(measured).query("metric == @metric")
    ours = ours.assign(printed=ours["loss"].map(printed_name))
    scalings = {"pre": ("none", ""), "post": scaling_as_printed(metric)}
    cells = printed_cells(metric, dataset, network)
    found = {}
    for stage in ("pre", "post") if metric != "error" else ("pre",):
        method, objective = scalings[stage]
        part = ours[(ours["method"] == method) & (ours["objective"] == objective)].set_index("loss")
        when = _HEADINGS[stage]
        found[when, "here"], found[when, "sd"] = part["mean"], part["sd"]
        for paper in _PAPERS:
            if (when, paper) in cells:
                found[when, paper] = part["printed"].map(cells[when, paper].get)
    return pd.DataFrame(found).astype(float).dropna(axis="columns", how="all")


def scaling_as_printed(metric: str) -> tuple[str, str]:
    """The scaling and objective of our tables that is nearest to that after which the papers print a metric."""
    return "temperature", "adaptive-ece" if metric == "adaptive-ece" else "ece"


def printed_cells(metric: str, dataset: str, network: str) -> pd.DataFrame:
    """What the papers print: a row a loss, by its `printed_name`; columns as of `compare_with_printed`."""
    cells = printed_tables()
    cells = cells[(cells["dataset"] == dataset) & (cells["network"] == network) & (cells["metric"] == metric)]
    cells = cells.drop_duplicates(["paper", "loss", "stage"])
    if metric == "nll":
        cells = cells.assign(value=cells["value"] / 100)  # M20 prints per cent
    found = {}
    for stage in ("pre", "post") if metric != "error" else ("pre",):
        for paper in _PAPERS[:2]:
            part = cells[(cells["stage"] == stage) & (cells["paper"] == paper)]
            found[_HEADINGS[stage], paper] = part.set_index("loss")["value"]
    if metric == "adaptive-ece" and network == "ResNet-50":
        kk24 = kk24_table1().query("dataset == @dataset and stage == 'ts'").set_index("loss")["adaptive_ece"]
        found[_HEADINGS["post"], "KK24"] = kk24
    return pd.DataFrame(found).astype(float).dropna(axis="columns", how="all")


def printed_beside(measured: pd.DataFrame, metric: str, dataset: str, network: str) -> pd.DataFrame:
    """`compare_with_printed`, and below it the losses that are printed and not measured."""
    ours, cells = compare_with_printed(measured, metric, dataset, network), printed_cells(metric, dataset, network)
    both = pd.concat([ours, cells.drop(index=[*map(printed_name, ours.index)], errors="ignore")])
    columns = [(when, of) for when in _HEADINGS.values() for of in ("here", "sd", *_PAPERS)]
    return both[[column for column in columns if column in both]]


def printed_name(loss: str) -> str:
    """The label of a run as the papers' tables have it: 'mmce 8' -> 'mmce', which they print without parameters."""
    first = loss.split()[0].removesuffix("-m20")
    return first if first in _WITH_PARAMETERS else _LOSSES.get(loss, loss)
