"""What the papers' tables print, as data.

m20_l25.csv: M20 Tables 1 to 5 and 7 to 13, L25 Tables 4 to 8 and its unnumbered tables of errors and AUROC, every cell.
    In per cent; M20 multiplies NLL by 100 too. temperature: the one printed in brackets. L25's last table (A.17) is
    left out: our copy has lost its number and its networks' names.
l25_table9.csv: L25 Table 9, every cell: AUROC on chest X-rays, a fraction, by pathology; ECE and MCE of the 'Average'.
kk24.csv: the rows of KK24 Table 1 that are legible in our copy, both of a pair of temperature scaling (ts) and
    focal temperature scaling (fts), mean and standard deviation over 5 seeds. Errors are 100 minus the accuracy; KK24's
    ECE has bins of equal mass (section 5.1), hence adaptive_ece.
m20_table6.csv: M20 Table 6, in per cent: test samples of confidence 0.99 or more, and their accuracy.
m20_fig8.csv: the numbers in M20 Fig. 8, of four test images that all four networks have right and four that all have
    wrong. Our copy gives the boxes of an image in the order of the figure's headings, and so they are assigned.

Read twice: a program that knows column heads and rows, and none of these files, found every cell of the tables of M20
and L25, and every box of Fig. 8, in the texts read, digit for digit (1,990 cells with 616 temperatures, 60 rows of
L25's Table 9, 24 cells of M20's Table 6, 32 boxes). KK24's rows were read again by eye, as that text is damaged;
nothing differs. In it 1 stands as T or I, and points and signs are lost, in places ('93.TX£0.T' for 93.1 ± 0.1,
'773105' for 77.3 ± 0.5); not legible are the log-losses of two rows ('0.8' of AdaFocal, '2.0' of focal 7 on Tiny-
ImageNet) and the gamma of the map after focal 7 on CIFAR-10, left empty here.
reviewed.json of the ledger pins the files: after a change, read it against the papers, then `focal claims --record`.
"""

from __future__ import annotations

import functools
from importlib.resources import files

import pandas as pd


def printed_tables() -> pd.DataFrame:
    """Every printed cell of M20's and L25's tables: paper, table, dataset, network, loss, metric, stage, value.

    stage: 'pre' or 'post' temperature scaling.
    """
    return _m20_l25().copy()


@functools.cache
def _m20_l25() -> pd.DataFrame:
    """Read once: some sixty claims ask for it."""
    return _read("m20_l25.csv")


def kk24_table1() -> pd.DataFrame:
    """KK24 Table 1 where both rows of a pair are legible: a row a data set, loss and stage ('ts', 'fts')."""
    return _read("kk24.csv")


def m20_table6() -> pd.DataFrame:
    """M20 Table 6: dataset, network, loss, stage ('pre', 'post' temperature scaling), share, accuracy in per cent."""
    return _read("m20_table6.csv")


def m20_fig8() -> pd.DataFrame:
    """M20 Fig. 8: image (1 to 8), its label, predicted, loss, stage ('pre', 'post'), confidence as a fraction."""
    return _read("m20_fig8.csv")


def l25_table9() -> pd.DataFrame:
    """L25 Table 9: pathology ('Average' among them, as printed), method, auroc, and ece, mce of the average."""
    return _read("l25_table9.csv")


def _read(name: str) -> pd.DataFrame:
    with files(__name__).joinpath(name).open(encoding="utf-8") as file:
        return pd.read_csv(file)
