"""What the papers' tables print, as data.

m20_l25.csv: M20 Tables 1 to 5 and 7 to 13, L25 Tables 4 to 8 and its unnumbered tables of errors and AUROC, every cell.
    In per cent; M20 multiplies NLL by 100 too. temperature: the one printed in brackets.
kk24.csv: the rows of KK24 Table 1 that are legible in the text at hand, both of a pair of temperature scaling (ts) and
    focal temperature scaling (fts), mean and standard deviation over 5 seeds. Errors are 100 minus the accuracy; KK24's
    ECE has bins of equal mass (section 5.1), hence adaptive_ece.
"""

from __future__ import annotations

from importlib.resources import files

import pandas as pd

__all__ = ["kk24_table1", "printed_tables"]


def printed_tables() -> pd.DataFrame:
    """Every printed cell of M20's and L25's tables: paper, table, dataset, network, loss, metric, stage, value.

    stage: 'pre' or 'post' temperature scaling.
    """
    return _read("m20_l25.csv")


def kk24_table1() -> pd.DataFrame:
    """KK24 Table 1 where both rows of a pair are legible: a row a data set, loss and stage ('ts', 'fts')."""
    return _read("kk24.csv")


def _read(name: str) -> pd.DataFrame:
    with files(__name__).joinpath(name).open(encoding="utf-8") as file:
        return pd.read_csv(file)
