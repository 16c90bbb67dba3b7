"""M20 sections 4, 6 and 7 on accuracy, against the errors printed in Tables 3 and 9."""

from __future__ import annotations

from typing import Any

from reproduction.ledger.evidence import Evidence, Unchecked
from reproduction.ledger.ledger import Rows, claim
from reproduction.ledger.measurement import Measurement
from reproduction.studies.printed_tables.from_m20_tables import FIXED, AsPrinted, m20_cells
from reproduction.studies.printed_tables.from_tables import rows_where

CHAPTER = "14_published_tables"


@claim(
    "m20.fig3_errors",
    source="M20 section 4, Tables 3 and 9",
    statement=r"Of ResNet-50 on CIFAR-10 with cross-entropy and $\gamma = 1, 2, 3$: 'the classification errors on the "
    r"test set for all four models are "
    r"also almost the same (refer fifth row of Table 3)'. (Taken as: within half a point; $\gamma = 1, 2$ are in "
    r"Table 9.)",
    chapter=CHAPTER,
    fidelity="our reading",
)
def fig3_errors() -> Evidence:
    """The largest of the four minus the smallest."""
    row: Any = m20_cells("error", "pre", ("cross-entropy", *FIXED)).loc[("CIFAR-10", "ResNet-50")]
    spread = float(row.max() - row.min())
    return AsPrinted((Measurement("largest minus smallest error, points", "almost 0", spread, holds=spread <= 0.5),))


@claim(
    "m20.similar_accuracy",
    source="M20 section 7, Table 3",
    statement=r"'In almost all cases, networks trained with focal loss are more calibrated than those trained with "
    r"cross-entropy loss, whilst having similar levels of accuracy.' "
    r"(Of the second part, taken as: FLSD-53, the mean error over the rows of Table 3 within half a point, our threshold, of that of cross-entropy. For "
    r"the first: m20.almost_all_cases.)",
    chapter=CHAPTER,
    fidelity="our reading",
)
def similar_accuracy() -> Evidence:
    """A difference of means; a remark says how far single rows are apart."""
    wide = m20_cells("error", "pre", ("cross-entropy", "flsd-53"))
    gaps = wide["flsd-53"] - wide["cross-entropy"]
    quantity = f"mean error over {len(gaps)} rows of M20 Table 3, flsd-53 minus cross-entropy, points"
    remark = f"Single rows: {gaps.min():+.2f} to {gaps.max():+.2f}"
    found = Measurement(quantity, "about 0", float(gaps.mean()), 0.0, 0.5, said="claimed", remark=remark)
    return AsPrinted((found,))


@claim(
    "m20.least_error",
    source="M20 Table 3, row by row",
    statement=r"Of the six losses of Table 3 cross-entropy has the lowest error in 5 of 10 rows, all four of CIFAR-10 "
    r"among them.",
    chapter=CHAPTER,
    fidelity="ours",
)
def least_error() -> Evidence:
    """Counted in the printed table, of all rows and of CIFAR-10's."""
    wide = m20_cells("error", "pre", ("cross-entropy", "brier", "mmce", "focal 3", "focal 5-3-2", "flsd-53"))
    lowest = wide["cross-entropy"] == wide.min(axis="columns")
    quantity = "rows of M20 Table 3{} where cross-entropy has the lowest error"
    on_cifar10 = lowest[lowest.index.get_level_values("dataset") == "CIFAR-10"]
    parts = (("", lowest, 5), (", CIFAR-10,", on_cifar10, 4))
    return AsPrinted(tuple(rows_where(quantity.format(of), found, count) for of, found, count in parts))


add_quoted = Rows(CHAPTER, "quoted")

# Table 3 holds the authors' own results alone.
add_quoted(
    "m20.state_of_the_art",
    "M20 section 6, Table 3",
    r"'For all the dataset-network pairs, we obtain state-of-the-art classification accuracies, as shown in "
    r"Table 3.'",
    lambda: Unchecked(
        "needs what others had reached with these networks by 2019: Table 3 prints the authors' own errors alone; how "
        "these compare "
        "with each other m20.similar_accuracy and m20.least_error say"
    ),
)
