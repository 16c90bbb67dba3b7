"""What M20 section 6 and KK24 section 4.1 say of optimal temperatures, against those that the papers' tables print."""

from __future__ import annotations

import pandas as pd

from reproduction.ledger.evidence import All, Evidence
from reproduction.ledger.ledger import PRINTED, Rows
from reproduction.ledger.measurement import Measurement
from reproduction.studies.printed_tables import kk24_table1
from reproduction.studies.printed_tables.from_tables import (
    BASELINES,
    FIXED,
    SAMPLE_DEPENDENT,
    SCHEDULED,
    AsPrinted,
    m20_cells,
    rows_near_temperature,
    rows_where,
)

CHAPTER = "published_tables"
TABLES = {"ece": "Table 1", "adaptive-ece": "Table 2"}
OTHERS = (*FIXED, *SCHEDULED, SAMPLE_DEPENDENT[0])  # than FLSD-53
NEAR_ONE, PRINTED_RANGE = (0.9, 1.1), (2.0, 2.8)
WELL_CALIBRATED = 2.0  # ECE in percent
add_reading = Rows(CHAPTER, "our reading", needs=PRINTED)
add_ours = Rows(CHAPTER, "ours", needs=PRINTED)


def _temperatures(metric: str, *losses: str) -> pd.Series:
    """Indexed by data set, network and loss."""
    return pd.Series(m20_cells(metric, "post", losses, "temperature").stack())


def _within(metric: str, low_high: tuple[float, float], *losses: str) -> pd.Series:
    """Whether each temperature lies in a range, both ends included; the index ends with the temperature."""
    found = _temperatures(metric, *losses)
    return found.between(*low_high).set_axis(
        [(*place, f"T = {t:g}") for place, t in zip(found.index, found, strict=True)]
    )


add_reading(
    "m20.temperatures_sample_dependent",
    "Printed temperatures of FLSD-53 mostly lie between 0.9 and 1.1",
    "M20 section 6, Tables 1 and 2",
    r"'For focal loss with sample-based $\gamma$ (refer Tab. 1 and Tab. 2), beside most other focal loss models, the "
    r"optimal temperatures are very close to 1, mostly lying between 0.9 and 1.1.' (Of sample-based $\gamma$, "
    r"FLSD-53, taken as: in most rows of either table.)",
    lambda: AsPrinted.of(
        *(
            rows_where(f"{t} of M20: rows where T of flsd-53 is 0.9 to 1.1", _within(m, NEAR_ONE, "flsd-53"))
            for m, t in TABLES.items()
        )
    ),
)


@add_reading(
    "m20.temperatures_other_focal",
    "Temperatures of other focal losses mostly lie between 0.9 and 1.1",
    "M20 section 6, Tables 4 and 5",
    r"'For focal loss with sample-based $\gamma$ (refer Tab. 1 and Tab. 2), beside most other focal loss models, the "
    r"optimal temperatures are very close to 1, mostly lying between 0.9 and 1.1.' (Of the other focal losses, for "
    r"which it names no table, taken as: for most of the temperatures of $\gamma = 3$ and of the schedule 5,3,2, "
    r"printed in Tables 4 and 5, and for most of those that Table 7 prints of the six other than FLSD-53.)",
    instead="half or fewer of them do",
)
def temperatures_other_focal() -> Evidence:
    """Counted in the printed tables."""
    losses = (FIXED[-1], SCHEDULED[-1])
    asked = (("ece", "Table 4", losses), ("adaptive-ece", "Table 5", losses), ("ece", "Table 7", OTHERS))
    quantity = "{} of M20: temperatures from 0.9 to 1.1 of {}"
    return AsPrinted.of(
        *(
            rows_where(quantity.format(table, ", ".join(of)), _within(metric, NEAR_ONE, *of), name_others=False)
            for metric, table, of in asked
        )
    )


@add_reading(
    "m20.temperatures_baselines",
    "Temperatures of cross-entropy and MMCE mostly lie between 2.0 and 2.8",
    "M20 section 6, Tables 1 and 2",
    "'By contrast, the optimal temperatures for the baselines (cross-entropy and MMCE) are significantly higher, with "
    "values lying between 2.0 to 2.8.' (Of the second part, taken as the 'mostly' before it is: most of those printed "
    "in Table 1, and in Table 2.)",
    in_readme=True,
    instead=lambda _: f"all {_range_in_words('cross-entropy', 'mmce')}",
)
def temperatures_baselines() -> Evidence:
    """Counted in the printed tables; a remark names the others."""
    found = {metric: _within(metric, PRINTED_RANGE, "cross-entropy", "mmce") for metric in TABLES}
    quantity = "{} of M20: temperatures of cross-entropy and MMCE from 2.0 to 2.8"
    return AsPrinted.of(*(rows_where(quantity.format(TABLES[m]), near) for m, near in found.items()))


def _range_in_words(*losses: str) -> str:
    """'from 1.5 to 3.4; on CIFAR from 1.8 to 2.8'."""
    every = pd.concat([_temperatures(metric, *losses) for metric in TABLES])
    cifar = every[every.index.get_level_values("dataset").str.startswith("CIFAR")]
    return f"from {every.min():g} to {every.max():g}; on CIFAR from {cifar.min():g} to {cifar.max():g}"


@add_reading(
    "m20.temperatures_higher",
    "Cross-entropy and MMCE have higher temperatures than FLSD-53 in every row",
    "M20 section 6, Tables 1 and 2",
    "'By contrast, the optimal temperatures for the baselines (cross-entropy and MMCE) are significantly higher.' (Of "
    "the first part, taken as: higher than that of FLSD-53 in every row of Tables 1 and 2; by how much is not judged.)",
)
def temperatures_higher() -> Evidence:
    """Compared row by row."""
    parts = []
    for metric, table in TABLES.items():
        wide = m20_cells(metric, "post", (*BASELINES, "flsd-53"), "temperature")
        for loss in ("cross-entropy", "mmce"):
            higher = wide[loss] > wide["flsd-53"]
            parts.append(rows_where(f"{table} of M20: rows where T of {loss} is the higher", higher, len(higher)))
    return AsPrinted.of(*parts)


@add_ours(
    "m20.temperatures_printed",
    "Temperatures in Table 1 keep to the claimed ranges in most rows",
    "M20 Table 1, row by row",
    "In Table 1, 15 of the 20 temperatures of cross-entropy and MMCE lie between 2.0 and 2.8, all of them from 1.5 to "
    "3.4; 7 of the 10 of FLSD-53 between 0.9 and 1.1, all from 0.7 to 1.5; of the other focal losses in Table 7, 15 "
    "of 60, all from 0.5 to 2.6.",
)
def temperatures_printed() -> Evidence:
    """Counts and ends of the printed ranges."""
    expected = (
        (("cross-entropy", "mmce"), PRINTED_RANGE, 15, (1.5, 3.4)),
        (("flsd-53",), NEAR_ONE, 7, (0.7, 1.5)),
        (OTHERS, NEAR_ONE, 15, (0.5, 2.6)),
    )
    parts: list[Measurement] = []
    for losses, within, count, ends in expected:
        found, names = _temperatures("ece", *losses), ", ".join(losses)
        near = int(found.between(*within).sum())
        quantity = f"temperatures of {names} from {within[0]} to {within[1]}, of {len(found)}"
        parts.append(Measurement(quantity, str(count), near, count, said="claimed"))
        for end, value, claimed in zip(("lowest", "highest"), (found.min(), found.max()), ends, strict=True):
            parts.append(Measurement(f"{end} of them", f"{claimed:g}", float(value), claimed, said="claimed"))
    return AsPrinted.of(*parts)


def _scaled_near_one(loss: str) -> pd.DataFrame:
    """Rows of Table 1 in which T of FLSD-53 is printed as 0.9 to 1.1: ECE of a loss before and after."""
    stages = {stage: m20_cells("ece", stage, (loss,))[loss] for stage in ("pre", "post")}
    near = m20_cells("ece", "post", ("flsd-53",), "temperature")["flsd-53"].between(*NEAR_ONE)
    return pd.DataFrame(stages)[near]


@add_reading(
    "m20.near_one_calibrated",
    "Where its temperature is near 1, FLSD-53 gains less than cross-entropy",
    "M20 section 6, Table 1",
    "'An optimal temperature close to 1 indicates that the model is innately calibrated and cannot be made "
    "significantly more calibrated by temperature scaling.' (What is significant the paper does not say; taken as the "
    "contrast with cross-entropy that the paragraph draws: in most rows of Table 1 where FLSD-53 has $T$ from 0.9 to "
    "1.1, its ECE falls by less than cross-entropy's in the same row, in points and as a share of the ECE before. By "
    "itself it still falls, m20.near_one_still_falls, so that the sentence as it stands is not judged.)",
)
def near_one_calibrated() -> Evidence:
    """ECE before and after, as printed beside those temperatures, and cross-entropy's in the same rows."""
    focal, entropy = _scaled_near_one("flsd-53"), _scaled_near_one("cross-entropy")
    falls = [rows["pre"] - rows["post"] for rows in (focal, entropy)]
    shares = [fall / rows["pre"] for fall, rows in zip(falls, (focal, entropy), strict=True)]
    quantity = (
        "rows of M20 Table 1 with T of flsd-53 from 0.9 to 1.1 where its ECE falls by fewer {} than cross-entropy's"
    )
    return AsPrinted.of(
        *(rows_where(quantity.format(unit), f < e) for unit, (f, e) in (("points", falls), ("percent", shares)))
    )


@add_ours(
    "m20.near_one_still_falls",
    "A temperature near 1 still lowers FLSD-53's ECE by over a third",
    "M20 Table 1, row by row",
    "In 6 of the 7 rows of Table 1 where FLSD-53 has $T$ from 0.9 to 1.1 a temperature so close to 1 still lowers its "
    "ECE by more than a third, our threshold; in the other $T$ is 1.00, which leaves everything as it is.",
)
def near_one_still_falls() -> Evidence:
    """The same rows."""
    rows = _scaled_near_one("flsd-53")
    quantity = "rows of M20 Table 1 with T of flsd-53 from 0.9 to 1.1 where scaling lowers ECE by more than a third"
    lowered = rows["post"] < 2 / 3 * rows["pre"]
    temperatures = m20_cells("ece", "post", ("flsd-53",), "temperature")["flsd-53"][rows.index]
    other = Measurement("T in the other row", "1", float(temperatures[~lowered].iloc[0]), 1.0, said="claimed")
    return AsPrinted.of(rows_where(quantity, lowered, 6), other)


@add_reading(
    "m20.adaptive_brings_out",
    "Adaptive ECE reveals miscalibration that ECE misses",
    "M20 section 6, Tables 1 and 2",
    "'In fact our results show that in situations where ECE might imply that the model is well calibrated, AdaECE "
    "brings out the miscalibration present in the model. For example, in the case of WideResNet on CIFAR10 for Cross "
    "Entropy, the best ECE obtained is 0.92, implying almost no miscalibration, whereas AdaECE is 1.69'. (Taken as: "
    "these two numbers, and the larger AdaECE in most cells of the two tables whose ECE after temperature scaling is "
    "below 2, our threshold; either metric after a temperature chosen by itself.)",
)
def adaptive_brings_out() -> Evidence:
    """Cell by cell; each after a temperature chosen by itself."""
    row, (ece, adaptive) = ("CIFAR-10", "Wide-ResNet-26-10"), _both_eces("post")
    example = (("ECE", ece, 0.92), ("AdaECE", adaptive, 1.69))
    cells = f"of M20 Tables 1 and 2, cross-entropy, {', '.join(row)}, after temperature scaling"
    values = [Measurement(f"{n} {cells}", f"{v}", float(e.loc[(*row, "cross-entropy")]), v) for n, e, v in example]
    low = ece < WELL_CALIBRATED
    quantity = "cells with ECE below 2 after temperature scaling where AdaECE is the higher"
    return AsPrinted.of(*values, rows_where(quantity, adaptive[low] > ece[low], name_others=False))


def _both_eces(stage: str) -> tuple[pd.Series, pd.Series]:
    """ECE and AdaECE of the four losses of Tables 1 and 2, indexed by data set, network and loss."""
    ece, adaptive = (pd.Series(m20_cells(metric, stage, (*BASELINES, "flsd-53")).stack()) for metric in TABLES)
    return ece, adaptive


@add_ours(
    "m20.adaptive_counted",
    "Adaptive ECE is mostly above ECE after scaling, not before",
    "M20 Tables 1 and 2, cell by cell",
    "After temperature scaling AdaECE is above ECE in 30 of the 40 cells that Tables 1 and 2 share, before it in 7 of "
    "40 and below ECE in 21. (After it each has the temperature of its own ECE: the two cells are not of one network.)",
)
def adaptive_counted() -> Evidence:
    """Cell by cell."""
    after, before = _both_eces("post"), _both_eces("pre")
    return AsPrinted.of(
        rows_where(
            "cells after temperature scaling where AdaECE is above ECE", after[1] > after[0], 30, name_others=False
        ),
        rows_where("cells before it where AdaECE is above ECE", before[1] > before[0], 7, name_others=False),
        rows_where("cells before it where AdaECE is below ECE", before[1] < before[0], 21, name_others=False),
    )


@add_ours(
    "kk24.ce_temperature_printed",
    "In M20 and L25 cross-entropy's temperatures mostly lie from 2 to 2.5",
    "KK24 section 4.1, asked of Table 1, of M20's Table 1 and of L25's Table 4",
    "KK24 hold a temperature from 2 to 2.5 for typical of cross-entropy. Of those printed for it, chosen by ECE, 7 of 10 in M20's Table 1 "
    "and 10 of 12 in L25's Table 4 are in that range, its ends included, and neither of the two that are legible in KK24's own Table 1, 1.72 and 1.40. (L25's column, headed Weight Decay, is taken to be cross-entropy.)",
)
def ce_temperature_printed() -> Evidence:
    """Counted in the printed tables; KK24's ECE has bins of equal mass, the others' equal width."""
    own = (
        kk24_table1()
        .query("loss == 'cross-entropy' and stage == 'ts'")
        .set_index("dataset")["adaptive_ece_temperature"]
    )
    asked = (("M20", "Table 1", 7), ("L25", "Table 4", 10))
    counted = [rows_near_temperature(paper, table, "cross-entropy", 2.0, 2.5, n) for paper, table, n in asked]
    where = rows_where(
        "legible rows of KK24 Table 1 with T from 2 to 2.5 for cross-entropy",
        own.between(2.0, 2.5),
        0,
        name_others=False,
    )
    printed = [
        Measurement(
            f"T of cross-entropy in KK24 Table 1, {dataset}", f"{t:.2f}", own[dataset], t, 0.005, said="claimed"
        )
        for dataset, t in (("CIFAR-10", 1.72), ("Tiny-ImageNet", 1.40))
    ]
    return All.of(*counted, where, *printed)
