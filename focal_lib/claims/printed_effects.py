"""The effects that the papers' tables print, to judge our own against: see `evidence.judge`.

A size counts where the data set is the paper's; on another one only the sign is claimed.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import pandas as pd

from focal_lib.results.printed import kk24_table1, printed_tables

__all__ = ["PrintedEffect", "kk24_change", "kk24_gain", "mean_difference"]

_NAMES = {"cifar10": "CIFAR-10", "cifar100": "CIFAR-100", "tiny-imagenet": "Tiny-ImageNet"}


class PrintedEffect(NamedTuple):
    """What a paper claims of a difference: its sign, and the size its table prints, None where that has none of it."""

    sign: int
    size: float | None
    text: str  # 'negative, by 2.58 on average over 4 networks'


def _effect(sign: int, sizes: Sequence[float], over: str) -> PrintedEffect:
    word = "positive" if sign > 0 else "negative"
    if not len(sizes):
        return PrintedEffect(sign, None, f"{word}; no size is legible")
    mean = round(sum(sizes) / len(sizes), 4) + 0.0  # of numbers with two digits; no -0
    if sign * mean > 0:
        return PrintedEffect(sign, mean, f"{word}, {mean:+.2f}{over}")
    return PrintedEffect(sign, None, f"{word} in words, {mean:+.2f}{over} in the table")


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
    cells = cells[(cells["paper"] == paper) & (cells["dataset"] == _NAMES.get(dataset, dataset))]
    cells = cells[(cells["metric"] == metric) & (cells["stage"] == stage)].drop_duplicates(["network", "loss"])
    wide = cells.pivot(index="network", columns="loss", values="value").reindex(columns=[loss, other])
    sizes = (wide[loss] - wide[other]).dropna()
    return _effect(sign, sizes.tolist(), f" on average over {len(sizes)} networks")


def _kk24(dataset: str) -> pd.DataFrame:
    return kk24_table1().query("dataset == @_NAMES.get(@dataset, @dataset)")


def kk24_gain(dataset: str, losses: Sequence[str]) -> PrintedEffect:
    """KK24 Table 1: adaptive ECE after focal temperature scaling minus after temperature scaling, mean over losses."""
    wide = _kk24(dataset).pivot(index="loss", columns="stage", values="adaptive_ece").reindex(columns=["fts", "ts"])
    gains = (wide["fts"] - wide["ts"])[[loss for loss in losses if loss in wide.index]]
    over = f" on average over the {len(gains)} of {len(losses)} losses that are legible" if len(losses) > 1 else ""
    return _effect(-1, gains.tolist(), over)


def kk24_change(dataset: str, column: str, loss: str, other: str, sign: int) -> PrintedEffect:
    """KK24 Table 1 after temperature scaling: a column ('error', 'adaptive_ece') for a loss minus that for another."""
    values = _kk24(dataset).query("stage == 'ts'").set_index("loss")[column]
    sizes = [values[loss] - values[other]] if {loss, other} <= set(values.index) else []
    return _effect(sign, sizes, "")
