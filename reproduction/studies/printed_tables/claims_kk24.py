"""KK24 section 4.1 on the temperature of cross-entropy, against those that three papers print."""

from __future__ import annotations

from reproduction.ledger.evidence import All, Evidence
from reproduction.ledger.ledger import Rows
from reproduction.ledger.measurement import Measurement
from reproduction.studies.printed_tables import kk24_table1
from reproduction.studies.printed_tables.from_tables import rows_near_temperature, rows_where

CHAPTER = "14_published_tables"
add_ours = Rows(CHAPTER, "ours")


@add_ours(
    "kk24.ce_temperature_printed",
    "KK24 section 4.1, asked of Table 1, of M20's Table 1 and of L25's Table 4",
    "KK24 hold a temperature from 2 to 2.5 for typical of cross-entropy. Of those printed for it, chosen by ECE, 7 of 10 in M20's Table 1 "
    "and 10 of 12 in L25's Table 4 are in that range, and neither of the two that are legible in KK24's own Table 1, 1.72 and 1.40.",
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
    return All((*counted, where, *printed))
