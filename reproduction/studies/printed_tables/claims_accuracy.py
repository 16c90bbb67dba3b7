"""M20 sections 4, 6 and 7 on accuracy, against the errors printed in Tables 3 and 9."""

from __future__ import annotations

from typing import Any

from reproduction.ledger.evidence import Evidence, Unchecked
from reproduction.ledger.ledger import Rows
from reproduction.ledger.measurement import Measurement
from reproduction.studies.printed_tables.from_m20_tables import FIXED, AsPrinted, m20_cells
from reproduction.studies.printed_tables.from_tables import rows_where

CHAPTER = "14_published_tables"
add_quoted = Rows(CHAPTER, "quoted")
add_reading = Rows(CHAPTER, "our reading")
add_ours = Rows(CHAPTER, "ours")


@add_reading(
    "m20.fig3_errors",
    "M20 section 4, Tables 3 and 9",
    r"Of ResNet-50 on CIFAR-10 with cross-entropy and $\gamma = 1, 2, 3$: 'the classification errors on the test set "
    r"for all four models are also almost the same (refer fifth row of Table 3)'. (Taken as: within half a point; "
    r"$\gamma = 1, 2$ are in Table 9.)",
)
def fig3_errors() -> Evidence:
    """The largest of the four minus the smallest."""
    row: Any = m20_cells("error", "pre", ("cross-entropy", *FIXED)).loc[("CIFAR-10", "ResNet-50")]
    spread = float(row.max() - row.min())
    return AsPrinted((Measurement("largest minus smallest error, points", "almost 0", spread, holds=spread <= 0.5),))


@add_reading(
    "m20.similar_accuracy",
    "M20 section 7, Table 3",
    "'In almost all cases, networks trained with focal loss are more calibrated than those trained with cross-entropy "
    "loss, whilst having similar levels of accuracy.' (Of the second part, taken as: FLSD-53, the mean error over the "
    "rows of Table 3 within half a point, our threshold, of that of cross-entropy. For the first: "
    "m20.almost_all_cases.)",
)
def similar_accuracy() -> Evidence:
    """A difference of means; a remark says how far single rows are apart."""
    wide = m20_cells("error", "pre", ("cross-entropy", "flsd-53"))
    gaps = wide["flsd-53"] - wide["cross-entropy"]
    quantity = f"mean error over {len(gaps)} rows of M20 Table 3, flsd-53 minus cross-entropy, points"
    remark = f"Single rows: {gaps.min():+.2f} to {gaps.max():+.2f}"
    found = Measurement(quantity, "about 0", float(gaps.mean()), 0.0, 0.5, said="claimed", remark=remark)
    return AsPrinted((found,))


@add_ours(
    "m20.least_error",
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
    return AsPrinted(tuple(rows_where(quantity.format(of), found, count) for of, found, count in parts))


# Table 3 holds the authors' own results alone.
add_quoted(
    "m20.state_of_the_art",
    "M20 section 6, Table 3",
    "'For all the dataset-network pairs, we obtain state-of-the-art classification accuracies, as shown in Table 3.'",
    lambda: Unchecked(
        "needs what others had reached with these networks by 2019: Table 3 prints the authors' own errors alone; how "
        "these compare with each other m20.similar_accuracy and m20.least_error say"
    ),
)
