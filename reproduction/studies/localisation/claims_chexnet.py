"""L25 App. A.16, Table 9: AUROC on chest X-rays."""

from __future__ import annotations

import pandas as pd

from reproduction.ledger.evidence import All, Evidence
from reproduction.ledger.ledger import PRINTED, Rows, claim
from reproduction.ledger.measurement import Measurement
from reproduction.studies.printed_tables import l25_table9

CHAPTER = "published_tables"
AVERAGE = "Average"
BASELINE = "CheXNet (BCE)"
TABLE9 = "L25 Table 9 (single runs as printed, without uncertainty)"


def _by_method(column: str = "auroc") -> pd.DataFrame:
    """A column of the table: a row a pathology, and the printed average; a column a method."""
    return l25_table9().pivot(index="pathology", columns="method", values=column)


def _rows_raised(expected: int) -> Measurement:
    """Pathologies in which FCL has the higher AUROC."""
    rows = _by_method().drop(AVERAGE)
    raised = rows["FCL"] > rows[BASELINE]
    return Measurement(
        f"pathologies of {TABLE9} in which FCL has a higher AUROC than {BASELINE}, of {len(rows)}",
        str(expected),
        int(raised.sum()),
        expected,
        said="claimed",
        remark=f"Not in: {', '.join(raised[~raised].index)}",
    )


def _average_gain(column: str, sign: int) -> Measurement:
    average = _by_method(column).loc[AVERAGE].to_dict()
    gain = average["FCL"] - average[BASELINE]
    claimed = "positive" if sign > 0 else "negative"
    quantity = f"average {column} in {TABLE9}, FCL minus {BASELINE}"
    return Measurement(quantity, claimed, gain, holds=sign * gain > 0, said="claimed")


add_reading = Rows(CHAPTER, "our reading", needs=PRINTED)

# The printed averages.
add_reading(
    "l25.table9_average",
    "FCL improves average AUROC, ECE and MCE in Table 9",
    "L25 App. A.16, Table 9",
    r"'FCL consistently yields strong performance gains, particularly in terms of average AUROC and reliability scores (ECE, MCE).' (Taken as: "
    r"in Table 9 its average AUROC is higher than that of CheXNet with BCE, and its ECE and MCE are lower. Row by row: l25.table9_rows; "
    "the averages against the rows: l25.table9_means.)",
    lambda: All(tuple(_average_gain(column, sign) for column, sign in (("auroc", 1), ("ece", -1), ("mce", -1)))),
)

add_ours = Rows(CHAPTER, "ours", needs=PRINTED)

# Row by row.
add_ours(
    "l25.table9_rows",
    "FCL has the higher AUROC in most pathologies of Table 9",
    "L25 Table 9, row by row",
    r"In 10 of the 14 pathologies of Table 9 FCL has a higher AUROC than CheXNet with BCE, in 4 a lower one.",
    lambda: _rows_raised(10),
)


@claim(
    "l25.table9_means",
    short="Most averages of Table 9 are not the means of its rows",
    source="L25 Table 9, its averages against its rows",
    statement=r"Three of the four averages of Table 9 are not the mean of its rows, however these were rounded: printed are .742, .798 and .8440 where "
    r"the rows give .738, .803 and .8414; that of FCL, .8527 where they give .8528, rounding of the rows explains. By its rows FCL gains more over "
    r"CheXNet with BCE than by the printed averages.",
    chapter=CHAPTER,
    fidelity="ours",
    needs=PRINTED,
)
def table9_means() -> Evidence:
    """The mean over the pathologies of each column, to as many digits as rows and average are printed with."""
    found = _by_method()
    printed, means = found.loc[AVERAGE].to_dict(), found.drop(AVERAGE).mean().to_dict()
    claimed = {  # digits, mean of the rows, printed, apart by more than rounding
        "Wang et al.": (3, 0.738, 0.742, True),
        "Yao et al.": (3, 0.803, 0.798, True),
        BASELINE: (4, 0.8414, 0.8440, True),
        "FCL": (4, 0.8528, 0.8527, False),
    }
    parts = []
    for method, (places, mean, average, apart) in claimed.items():
        of_rows, gap = round(means[method], places), abs(printed[method] - means[method])
        parts += [
            Measurement(f"mean of the rows of {method}", str(mean), of_rows, mean, said="claimed"),
            Measurement(f"average printed for {method}", str(average), printed[method], average, said="claimed"),
            Measurement(
                f"distance of the two, which rounding of rows and average explains up to {10**-places:g}",
                "more" if apart else "less",
                gap,
                holds=(gap > 10**-places) == apart,
                said="claimed",
            ),
        ]
    gain = float((means["FCL"] - means[BASELINE]) - (printed["FCL"] - printed[BASELINE]))
    quantity = "gain of FCL in the mean of the rows, minus that in the averages"
    return All((*parts, Measurement(quantity, "positive", gain, holds=gain > 0, said="claimed")))
