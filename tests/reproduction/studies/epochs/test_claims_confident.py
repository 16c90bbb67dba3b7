"""M20 Table 6 and Fig. 8 on made tables: reproduced where they are as printed, not where they are the opposite."""

import pandas as pd
import pytest

from reproduction.ledger import Verdict, find
from reproduction.studies.epochs import claims_confident as confident_here


def made(column, before, after, **constant):
    """Four seeds; each step of gamma changes the column by so much, before and after temperature scaling."""
    rows = []
    for seed in range(4):
        for gamma in (0.0, *confident_here.GAMMAS):
            for stage, change in (("before", before), ("after", after)):
                value = 0.5 + gamma * change * (1 + 0.05 * seed)
                rows.append({"gamma": gamma, "seed": seed, "stage": stage, column: value} | constant)
    return pd.DataFrame(rows)


@pytest.mark.parametrize(
    ("claim", "table", "column", "sign"),
    [
        (find("m20.table6_before_here").check, "shares", "share", {"before": -0.1, "after": 0.0}),
        (find("m20.table6_after_here").check, "shares", "share", {"before": 0.0, "after": 0.1}),
        (find("m20.fig8_wrong_before_here").check, "where_agreed", "confidence", {"before": -0.1, "after": 0.0}),
        (find("m20.fig8_wrong_after_here").check, "where_agreed", "confidence", {"before": 0.0, "after": -0.1}),
    ],
)
def test_each_stage_is_judged_by_itself(claim, table, column, sign, monkeypatch):
    monkeypatch.setattr(confident_here, table, lambda: made(column, **sign, kind="wrong"))
    assert claim().verdict == Verdict.REPRODUCED
    monkeypatch.setattr(confident_here, table, lambda: made(column, **{s: -v for s, v in sign.items()}, kind="wrong"))
    assert claim().verdict == Verdict.NOT_REPRODUCED


@pytest.mark.parametrize(
    ("right", "verdict"), [(0.9, Verdict.REPRODUCED), (0.999, Verdict.NOT_REPRODUCED), (0.99, Verdict.UNDECIDED)]
)
def test_the_confident_are_right_less_often_than_they_say(right, verdict, monkeypatch):
    rows = [{"gamma": 0.0, "seed": s, "stage": "before", "right": right + 0.001 * (s - 1.5)} for s in range(4)]
    monkeypatch.setattr(confident_here, "shares", lambda: pd.DataFrame(rows))
    assert confident_here.table6_right_here().verdict == verdict
