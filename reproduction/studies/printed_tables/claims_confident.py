"""M20 Table 6 and App. F, Fig. 8: how confident the networks are, in the printed numbers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pandas as pd

from reproduction.ledger.evidence import Evidence
from reproduction.ledger.ledger import PRINTED, Rows
from reproduction.ledger.measurement import Measurement
from reproduction.studies.printed_tables import m20_fig8, m20_table6
from reproduction.studies.printed_tables.from_tables import SCALED, AsPrinted, m20_cells

CHAPTER = "published_tables"
ORDER = "The order of the numbers in our copy says whose each is."  # an assumption of m20_fig8.csv
add_reading = Rows(CHAPTER, "our reading", needs=PRINTED)
add_ours = Rows(CHAPTER, "ours", needs=PRINTED)


def _of_table_6(quantity: str, shares: pd.DataFrame, sign: int) -> Iterator[Measurement]:
    """Focal loss minus cross-entropy and MMCE, a row a network: numbers with two digits."""
    for network, row in shares.iterrows():
        for other in ("cross-entropy", "mmce"):
            difference = round(float(row["focal"] - row[other]), 6)
            yield Measurement.of_sign(f"{quantity.format(network)}, focal minus {other}, points", difference, sign)


def _compared(stage: str, sign: int) -> Iterator[Measurement]:
    wide = m20_table6().query("stage == @stage").pivot(index="network", columns="loss", values="share")
    return _of_table_6(f"share above 0.99 of {{}} {SCALED[stage]}", wide, sign)


add_reading(
    "m20.table6_printed",
    "Table 6: focal loss is less confident before scaling, more after",
    "M20 section 6, Table 6, as printed",
    "'$|S_{99}|$ for the focal loss model is much lower than for the cross-entropy or MMCE models before temperature "
    "scaling. However, after temperature scaling, $|S_{99}|$ for focal loss is significantly higher than for both "
    "MMCE and cross-entropy.' (Taken as: lower and higher, for both networks of Table 6; by how much is not judged.)",
    lambda: AsPrinted.of(*_compared("pre", -1), *_compared("post", 1)),
)


@add_reading(
    "m20.table6_temperatures",
    "Its temperature near 1 leaves focal loss confident, in Table 6",
    "M20 section 6, on Table 6; Table 1",
    "Of ResNet-50 and ResNet-110 on CIFAR-10: 'with an optimal temperature of 1.1, the confidence of the "
    "temperature-scaled model for focal loss does not reduce as much as those of the models for cross-entropy and "
    "MMCE, for which the optimal temperatures lie between 2.5 to 2.8'. (Taken as: these temperatures, in Table 1; and "
    "that $|S_{99}|$ of Table 6 falls by fewer points for focal loss than for either, in both networks. That the "
    "temperature is why is not judged.)",
)
def table6_temperatures() -> Evidence:
    """The six temperatures in brackets, and by how much the shares of Table 6 fall."""
    wide = m20_cells("ece", "post", None, "temperature")
    parts = []
    for network in ("ResNet-50", "ResNet-110"):
        row: Any = wide.loc[("CIFAR-10", network)]
        parts.append(Measurement(f"T of flsd-53, {network}", "1.1", float(row["flsd-53"]), 1.1))
        for loss in ("cross-entropy", "mmce"):
            value = float(row[loss])
            parts.append(Measurement(f"T of {loss}, {network}", "2.5 to 2.8", value, holds=2.5 <= value <= 2.8))
    shares = m20_table6().pivot(index=["network", "loss"], columns="stage", values="share")
    falls = (shares["pre"] - shares["post"]).unstack()
    return AsPrinted.of(*parts, *_of_table_6("fall of the share above 0.99 of {}", falls, -1))


def confidences(right: bool) -> pd.DataFrame:
    """Fig. 8: a row an image and stage, a column a loss, of the images that all networks have right, or wrong."""
    cells = m20_fig8()
    cells = cells[(cells["label"] == cells["predicted"]) == right]
    return cells.pivot(index=["stage", "image"], columns="loss", values="confidence")


def _fig8(right: bool, stage: str, quantity: str, claimed: str, value: float, holds: bool) -> Measurement:
    which = f"that all networks have {'right' if right else 'wrong'}, {SCALED[stage]}"
    named = f"{quantity} on the four images of M20 Fig. 8 {which}"
    return Measurement(named, claimed, value, holds=holds, said="claimed")


@add_reading(
    "m20.fig8_right",
    "Focal loss is very confident on correct samples, in Fig. 8",
    "M20 App. F, Fig. 8",
    "'For all the correctly classified samples, the model trained using focal loss has very confident predictions both "
    f"pre and post temperature scaling.' (Taken as: a confidence above 0.95, our threshold, on the four printed. {ORDER})",
)
def fig8_right() -> Evidence:
    """The lowest of them."""
    lowest = confidences(True)["flsd-53"].groupby("stage").min()
    quantity = "lowest confidence of focal loss"
    return AsPrinted.of(*(_fig8(True, s, quantity, "above 0.95", lowest[s], lowest[s] > 0.95) for s in SCALED))


@add_reading(
    "m20.fig8_wrong",
    "Focal loss is less confident than cross-entropy on mistakes, in Fig. 8",
    "M20 App. F, Fig. 8",
    "'However, on misclassified samples, we observe a very low confidence for the focal loss model.' (Taken as: lower "
    "than cross-entropy's on each of the four printed, before and after temperature scaling; how low is not judged, "
    f"but see m20.fig8_wrong_counted. {ORDER})",
)
def fig8_wrong() -> Evidence:
    """The smallest of the four differences."""
    wide = confidences(False)
    least = (wide["cross-entropy"] - wide["flsd-53"]).groupby("stage").min()
    quantity = "smallest gap of confidence, cross-entropy minus focal loss,"
    return AsPrinted.of(*(_fig8(False, s, quantity, "positive", least[s], least[s] > 0) for s in SCALED))


@add_ours(
    "m20.fig8_wrong_counted",
    "Focal loss is the least confident on most mistakes as trained",
    "M20 Fig. 8, image by image",
    "Of the four losses focal loss is the least confident on 3 of the 4 printed mistakes before temperature scaling, "
    f"and on 2 after; its mean confidence on them is 0.62 before and 0.60 after. {ORDER}",
)
def fig8_wrong_counted() -> Evidence:
    """Counts and means of printed numbers."""
    wide, parts = confidences(False), []
    for stage, count, mean in (("pre", 3, 0.62), ("post", 2, 0.60)):
        four: Any = wide.loc[stage]  # a row an image
        least, found = int((four.idxmin(axis="columns") == "flsd-53").sum()), float(four["flsd-53"].mean())
        quantity = "images where focal loss is least confident"
        parts.append(_fig8(False, stage, quantity, str(count), least, least == count))
        quantity = "mean confidence of focal loss"
        parts.append(_fig8(False, stage, quantity, f"{mean:.2f}", found, abs(found - mean) < 0.005))
    return AsPrinted.of(*parts)


@add_reading(
    "m20.fig8_cross_entropy",
    "Cross-entropy is very confident even on mistakes, in Fig. 8",
    "M20 App. F, Fig. 8",
    "'The ResNet-50 network trained using cross entropy is very confident even on the misclassified samples, "
    "particularly before temperature scaling.' (Taken as: on the four printed a mean confidence above 0.95, our "
    f"threshold, before temperature scaling, and a lower one after it. {ORDER})",
)
def fig8_cross_entropy() -> Evidence:
    """Means of printed numbers."""
    means, quantity = confidences(False)["cross-entropy"].groupby("stage").mean(), "mean confidence of cross-entropy"
    return AsPrinted.of(
        _fig8(False, "pre", quantity, "above 0.95", means["pre"], means["pre"] > 0.95),
        _fig8(False, "post", quantity, "lower than before", means["post"], means["post"] < means["pre"]),
    )


@add_reading(
    "m20.fig8_brier",
    "Besides focal loss only Brier is less confident on mistakes",
    "M20 App. F, Fig. 8",
    "'Apart from focal loss, the only model which has relatively low confidences on misclassified test samples is the "
    "one trained using Brier score.' (Taken as: on the four printed its mean is below those of cross-entropy and MMCE, "
    f"before and after temperature scaling. {ORDER})",
)
def fig8_brier() -> Evidence:
    """The mean of Brier minus the lower of the two others."""
    means = confidences(False).groupby("stage").mean()
    above = means["brier"] - means[["cross-entropy", "mmce"]].min(axis="columns")
    quantity = "mean confidence of Brier minus the lower of cross-entropy's and MMCE's"
    return AsPrinted.of(*(_fig8(False, s, quantity, "negative", above[s], above[s] < 0) for s in SCALED))
