"""M20 sections 4, 6 and 7: conclusions about the tables, of ECE and of accuracy, against the tables."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from reproduction.ledger.evidence import Evidence, Unchecked
from reproduction.ledger.ledger import PRINTED, Rows
from reproduction.ledger.measurement import Measurement
from reproduction.studies.printed_tables.from_tables import (
    FIXED,
    SCALED,
    AsPrinted,
    lower_mean,
    m20_cells,
    rows_where,
    rows_won,
    rows_won_in_words,
)

CHAPTER = "published_tables"
add_reading = Rows(CHAPTER, "our reading", needs=PRINTED)
add_ours = Rows(CHAPTER, "ours", needs=PRINTED)
add_quoted = Rows(CHAPTER, "quoted", needs=PRINTED)


@add_reading(
    "m20.flsd_broadly_lowest",
    "FLSD-53 broadly has the lowest ECE of four losses, as printed",
    "M20 section 6, Tables 1 and 2",
    r"'Focal loss with sample-dependent $\gamma$ outperforms all the baselines (cross-entropy, brier score and MMCE). "
    r"It broadly produces the lowest ECE and AdaECE values both before and after temperature scaling.' (Taken as: of "
    r"these four losses it has the lowest value in most rows of the printed tables, both before and after.)",
    in_readme=True,
    instead=lambda _: rows_won_in_words("M20", "Table 1", "flsd-53"),
)
def flsd_broadly_lowest() -> Evidence:
    """Counted in the printed tables, of ECE and of adaptive ECE."""
    stages, tables = ("pre", "post"), ("Table 1", "Table 2")
    return AsPrinted.of(*(rows_won("M20", table, stage, "flsd-53") for table in tables for stage in stages))


add_ours(
    "m20.flsd_outperforms_most",
    "FLSD-53 has the lowest printed ECE of four losses in most rows",
    "M20 Table 1, row by row",
    r"Of these four losses focal loss with sample-dependent $\gamma$ (5, 3) has the lowest ECE in 7 of 10 rows of "
    r"Table 1 before temperature scaling, SST not among them, and in 9 of 10 after.",
    lambda: AsPrinted.of(
        rows_won("M20", "Table 1", "pre", "flsd-53", 7), rows_won("M20", "Table 1", "post", "flsd-53", 9)
    ),
)
add_reading(
    "m20.almost_all_cases",
    "FLSD-53 is better calibrated than cross-entropy in almost all rows",
    "M20 section 7, Table 1",
    "'In almost all cases, networks trained with focal loss are more calibrated than those trained with cross-entropy "
    "loss, whilst having similar levels of accuracy.' (Of the first part, taken as: FLSD-53 has the lower ECE in at "
    "least 9 of the 10 rows of Table 1, before and after temperature scaling. For the second: m20.similar_accuracy.)",
    lambda: AsPrinted.of(*(_almost_all(stage) for stage in SCALED)),
)


def _almost_all(stage: str) -> Measurement:
    wide = m20_cells("ece", stage, ("cross-entropy", "flsd-53"))
    quantity = f"rows of M20 Table 1 where ECE {SCALED[stage]} is lower for flsd-53 than for cross-entropy"
    found = rows_where(quantity, wide["flsd-53"] < wide["cross-entropy"])
    return replace(found, printed="at least 9", holds=found.measured >= 9)


@add_reading(
    "m20.gamma_three_best",
    "Of fixed gamma 1, 2, 3, gamma 3 has the best printed ECE",
    "M20 section 6, Table 7",
    r"'For focal loss with a fixed $\gamma$, we found that $\gamma = 3$ produced the best ECE results.' (Taken as: of $\gamma = 1, 2, "
    r"3$ it has the lowest mean ECE of the printed Table 7, and the lowest ECE in most of its rows, before temperature scaling. After it: "
    "m20.gamma_three_most.)",
)
def gamma_three_best() -> Evidence:
    """Means and rows of the printed table."""
    means = tuple(lower_mean("M20", "Table 7", "pre", "focal 3", other) for other in FIXED[:2])
    return AsPrinted.of(*means, rows_won("M20", "Table 7", "pre", "focal 3", losses=FIXED))


add_ours(
    "m20.gamma_three_most",
    "Of three gammas 3 has the lowest printed ECE in most rows",
    "M20 Table 7, row by row",
    r"Of $\gamma = 1, 2, 3$, $\gamma = 3$ has the lowest ECE in 8 of 10 rows of Table 7 before temperature scaling, "
    r"and in 5 of 10 after.",
    lambda: AsPrinted.of(
        rows_won("M20", "Table 7", "pre", "focal 3", 8, losses=FIXED),
        rows_won("M20", "Table 7", "post", "focal 3", 5, losses=FIXED),
    ),
)


@add_reading(
    "m20.fig3_errors",
    "Errors of cross-entropy and three gamma are almost the same",
    "M20 section 4, Tables 3 and 9",
    r"Of ResNet-50 on CIFAR-10 with cross-entropy and $\gamma = 1, 2, 3$: 'the classification errors on the test set "
    r"for all four models are also almost the same (refer fifth row of Table 3)'. (Taken as: within half a point; "
    r"$\gamma = 1, 2$ are in Table 9.)",
)
def fig3_errors() -> Evidence:
    """The largest of the four minus the smallest."""
    row: Any = m20_cells("error", "pre", ("cross-entropy", *FIXED)).loc[("CIFAR-10", "ResNet-50")]
    spread = float(row.max() - row.min())
    return AsPrinted.of(Measurement("largest minus smallest error, points", "almost 0", spread, holds=spread <= 0.5))


@add_reading(
    "m20.similar_accuracy",
    "FLSD-53 is about as accurate as cross-entropy, as printed",
    "M20 section 7, Table 3",
    "'In almost all cases, networks trained with focal loss are more calibrated than those trained with cross-entropy "
    "loss, whilst having similar levels of accuracy.' (Of the second part, taken as: FLSD-53, the mean error over the "
    "rows of Table 3 within half a point, our threshold, of that of cross-entropy; 6 of the 10 rows are by themselves, "
    "and all within two points. For the first: m20.almost_all_cases.)",
)
def similar_accuracy() -> Evidence:
    """A difference of means; a remark says how far single rows are apart."""
    wide = m20_cells("error", "pre", ("cross-entropy", "flsd-53"))
    gaps = wide["flsd-53"] - wide["cross-entropy"]
    quantity = f"mean error over {len(gaps)} rows of M20 Table 3, flsd-53 minus cross-entropy, points"
    remark = f"Single rows: {gaps.min():+.2f} to {gaps.max():+.2f}"
    found = Measurement(quantity, "about 0", float(gaps.mean()), 0.0, 0.5, said="claimed", remark=remark)
    rows = (
        rows_where(f"rows where they are within {most} points", gaps.abs() <= most, n)
        for most, n in ((0.5, 6), (2, 10))
    )
    return AsPrinted.of(found, *rows)


@add_ours(
    "m20.least_error",
    "Cross-entropy has the lowest error in half of the rows",
    "M20 Table 3, row by row",
    "Of the six losses of Table 3 cross-entropy has the lowest error in 5 of 10 rows, all four of CIFAR-10 among them.",
)
def least_error() -> Evidence:
    """Counted in the printed table, of all rows and of CIFAR-10's."""
    wide = m20_cells("error", "pre", ("cross-entropy", "brier", "mmce", "focal 3", "focal 5-3-2", "flsd-53"))
    lowest = wide["cross-entropy"] == wide.min(axis="columns")
    quantity = "rows of M20 Table 3{} where cross-entropy has the lowest error"
    on_cifar10 = lowest[lowest.index.get_level_values("dataset") == "CIFAR-10"]
    parts = (("", lowest, 5), (", CIFAR-10,", on_cifar10, 4))
    return AsPrinted.of(*(rows_where(quantity.format(of), found, count) for of, found, count in parts))


add_quoted(
    "m20.state_of_the_art",
    "M20's classification accuracies are state of the art",
    "M20 section 6, Table 3",
    "'For all the dataset-network pairs, we obtain state-of-the-art classification accuracies, as shown in Table 3.'",
    lambda: Unchecked(
        "needs what others had reached with these networks by 2019: Table 3 prints the authors' own errors alone; how "
        "these compare with each other m20.similar_accuracy and m20.least_error say"
    ),
)
