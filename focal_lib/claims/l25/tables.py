"""L25 section 5: conclusions about the tables, against the tables."""

from __future__ import annotations

from focal_lib.claims.evidence import All, Evidence
from focal_lib.claims.from_tables import most_rows_among_lowest, most_rows_won, rows_won, rows_won_in_words
from focal_lib.claims.ledger import claim

CHAPTER = "14_published_tables"
TABLES = ("Table 4", "Table 5", "Table 6", "Table 7")


@claim(
    "l25.fcl_overall_lower",
    source="L25 section 5.1.1, Tables 4 to 7",
    statement=r"'Overall, FCL consistently achieves lower pre-T calibration error compared to other methods.' (Taken as: before temperature "
    r"scaling it has the lowest ECE, smooth, adaptive and classwise ECE of seven losses in most rows of the printed tables.)",
    chapter=CHAPTER,
    fidelity="our reading",
    headline="overall FCL has the lowest ECE of seven losses before scaling, in the printed tables",
    instead=lambda _: rows_won_in_words("L25", "Table 4", "fcl"),
)
def fcl_overall_lower() -> Evidence:
    """Counted in the four printed tables."""
    return All(tuple(most_rows_won("L25", table, "pre", "fcl") for table in TABLES))


@claim(
    "l25.fcl_among_lowest",
    source="L25 section 5.1.1, Tables 4 to 7",
    statement=r"'Post-T calibration error for FCL are also among the lowest.' (Taken as: lowest or second lowest of seven losses in most rows "
    r"of the printed tables.)",
    chapter=CHAPTER,
    fidelity="our reading",
)
def fcl_among_lowest() -> Evidence:
    """Ranks in the four printed tables."""
    return All(tuple(most_rows_among_lowest("L25", table, "post", "fcl", 2) for table in TABLES))


@claim(
    "l25.fcl_mostly_lower",
    source="L25 Table 4, row by row",
    statement=r"Of the seven losses FCL has the lowest ECE in 9 of 12 rows of Table 4 before temperature scaling, Tiny-ImageNet not among "
    r"them, and in 10 of 12 after.",
    chapter=CHAPTER,
    fidelity="ours",
)
def fcl_mostly_lower() -> Evidence:
    """Counted in the printed table."""
    return All((rows_won("L25", "Table 4", "pre", "fcl", 9), rows_won("L25", "Table 4", "post", "fcl", 10)))
