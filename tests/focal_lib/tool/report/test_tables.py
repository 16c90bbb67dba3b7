"""Tables to read: cells, units, which ECE, and how an interval was made."""

import numpy as np
import pandas as pd

from focal_lib.tool.report.tables import difference_table, metric_table


def test_metrics():
    columns = ["method", "objective", "metric", "value", "low", "high", "interval", "debiased"]
    rows = [
        ("as given", "", "ece", 13.8, 12.88, 14.7, "inverted test", 13.7),
        ("as given", "", "nll", np.inf, np.nan, np.nan, "", np.inf),
        ("vector", "nll", "ece", 1.5, 0.0, 2.25, "inverted test", 1.25),
        ("vector", "nll", "nll", 1.2345, 1.2, 1.3, "percentile bootstrap", 1.2345),
    ]
    table = metric_table(pd.DataFrame(rows, columns=columns))
    assert table.columns.tolist() == [("ece (%)", "equal width; inverted test"), ("nll", "percentile bootstrap")]
    assert table.index.tolist() == [("as given", ""), ("vector", "nll")]
    assert table.to_numpy().tolist() == [
        ["13.80 (13.70) [12.88, 14.70]", "inf"],
        ["1.50 (1.25) [0.00, 2.25]", "1.234 [1.200, 1.300]"],
    ]
    without = pd.DataFrame([("vector", "nll", "smooth-ece", 1.5, np.nan, np.nan, "", 1.5)], columns=columns)
    assert metric_table(without).columns.tolist() == [("smooth-ece (%)", "no interval")]


def test_differences():
    columns = ["method", "objective", "reference", "metric", "difference", "low", "high", "interval", "significant"]
    rows = [
        ("temperature", "nll", "as given", "adaptive-ece", -12.0, -12.9, -10.1, "percentile bootstrap", True),
        ("vector", "nll", "temperature", "adaptive-ece", 0.1, -0.1, 0.3, "percentile bootstrap", False),
    ]
    table = difference_table(pd.DataFrame(rows, columns=columns))
    assert table.columns.tolist() == [("adaptive-ece (%)", "equal mass; percentile bootstrap")]
    assert table.index.names == ["method", "objective", "reference"]
    assert table.iloc[:, 0].tolist() == ["-12.00 [-12.90, -10.10] *", "0.10 [-0.10, 0.30]"]
