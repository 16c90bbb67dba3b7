"""Rates of the record of tests and intervals, and what was expected of them before it was made."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import pandas as pd

from focal_lib.metrics.intervals import exact_binomial_ends
from reproduction.studies.intervals.methods import OURS

# expected of ours before the first round was recorded, at each number of samples, over all models
LEAST_HELD = 0.93  # share of 95 % intervals that hold the true error, at least
MOST_REJECTED = 0.05  # share of samples of calibrated models that the test of ours rejects at 5 %, at most
MOST_WRONG = 0.025  # share of checks that pass a model above the limit, or fail one that is not, at most
LEAST_FOUND = (
    0.9  # share of samples of over- and underconfident models that the test rejects, at 5,000 samples, at least
)
MOST_BOOTSTRAP = 0.5  # share of percentile intervals of calibrated models that hold their ECE, 0, at most
TEST, ECE_BOOTSTRAP = "Monte Carlo test of the ECE", "ECE, percentile bootstrap"
SCALED = ("overconfident", "underconfident")


def judged(record: pd.DataFrame) -> pd.DataFrame:
    """The record with the number of samples that were not refused, `done`, and of gates whether the answer is wrong.

    A gate is wrong that passes a model whose true ECE is above the limit, or fails one whose ECE is not.
    """
    above = record["true"] > record["limit"]
    wrong = record["passed"].where(above, record["failed"])
    return record.assign(done=record["runs"] - record["refused"], wrong=wrong)


def rate(record: pd.DataFrame, count: str, by: Iterable[str]) -> pd.DataFrame:
    """How often something happened, of the samples that were not refused, in each setting.

    Args:
        record: of `judged`.
        count: its column: 'hits', 'rejected', 'passed', 'failed' or 'wrong'.

    Returns:
        The setting, count, done, rate, and its exact 95 % interval (Clopper & Pearson 1934) from low to high.
    """
    found = record.groupby(list(by), sort=False)[[count, "done"]].sum().reset_index()
    found = found.rename(columns={count: "count"})
    low, high = exact_binomial_ends(found["count"].to_numpy(), found["done"].to_numpy(), 0.025)
    return found.assign(rate=found["count"] / found["done"], low=low, high=high)


def judge_expectations(record: pd.DataFrame) -> pd.DataFrame:
    """Each expectation at each number of samples.

    Returns:
        expectation, method, samples, count, done, rate, low, high, limit; and came: 'reached' or 'not reached' where
        the exact 95 % interval lies on one side of the limit, else 'open'.
    """
    of = judged(record)
    ours, is_test = of["package"] == OURS, of["method"] == TEST
    largest = of["samples"] == of["samples"].max()
    parts = [
        ("intervals hold", of[ours & (of["kind"] == "interval")], "hits", LEAST_HELD, True),
        ("test rejects calibrated", of[is_test & of["calibrated"]], "rejected", MOST_REJECTED, False),
        ("check is wrong", of[ours & (of["kind"] == "gate")], "wrong", MOST_WRONG, False),
        ("test finds", of[is_test & largest & of["model"].isin(SCALED)], "rejected", LEAST_FOUND, True),
        ("bootstrap holds", of[(of["method"] == ECE_BOOTSTRAP) & of["calibrated"]], "hits", MOST_BOOTSTRAP, False),
    ]
    found = []
    for expectation, part, count, limit, least in parts:
        rates = rate(part, count, ["method", "samples"]).assign(expectation=expectation, limit=limit)
        within, beyond = rates["low"] >= limit, rates["high"] < limit
        if not least:
            within, beyond = rates["high"] <= limit, rates["low"] > limit
        found.append(rates.assign(came=np.select([within, beyond], ["reached", "not reached"], "open")))
    columns = ["expectation", "method", "samples", "count", "done", "rate", "low", "high", "limit", "came"]
    return pd.concat(found)[columns].reset_index(drop=True)
