"""Rounds of the record: what is counted, what is refused, and that it goes on."""

import numpy as np
import pandas as pd
import pytest

from reproduction.studies.intervals import record
from reproduction.studies.intervals.methods import FORMULA, Method
from reproduction.studies.intervals.models import MODELS, true_errors


def _fails(sample, model):
    raise ValueError("too few")


KNOWN = (
    Method("all", "interval", FORMULA, "ece", lambda sample, model: (0.0, 1.0)),
    Method("none", "interval", FORMULA, "ece", lambda sample, model: (0.9, 1.0)),
    Method("classes", "interval", FORMULA, "classwise", lambda sample, model: (0.0, 1.0)),
    Method("always", "test", FORMULA, "nothing", lambda sample, model: 0.0, 4),
    Method("few", "test", FORMULA, "nothing", _fails),
    Method("nan", "test", FORMULA, "nothing", lambda sample, model: np.nan, 1),
    Method("passes", "gate", FORMULA, "ece", lambda sample, model: "pass"),
)


@pytest.fixture(autouse=True)
def _small(monkeypatch):
    monkeypatch.setattr(record, "true_errors", lambda model: true_errors(model, 200))


def test_a_row_for_each_method():
    rows = {row["method"]: row for row in record.judge(MODELS[0], 30, 0, KNOWN)}
    assert set(rows) == {method.name for method in KNOWN} - {"classes"}  # of two classes
    assert (rows["all"]["hits"], rows["all"]["runs"], rows["all"]["width"]) == (20, 20, 1)
    assert rows["none"]["hits"] == 0
    assert (rows["always"]["rejected"], rows["always"]["runs"]) == (4, 4)
    assert (rows["few"]["refused"], rows["few"]["rejected"]) == (20, 0)
    assert (rows["nan"]["refused"], rows["nan"]["runs"]) == (1, 1)
    assert (rows["passes"]["passed"], rows["passes"]["failed"]) == (20, 0)
    assert rows["all"]["calibrated"]
    assert rows["all"]["true"] == 0


def test_the_record_goes_on(tmp_path, monkeypatch):
    three = next(model for model in MODELS if model.classes == 3)
    monkeypatch.setattr(record, "MODELS", (MODELS[0], three))
    monkeypatch.setattr(record, "SAMPLES", (30,))
    monkeypatch.setattr(record, "METHODS", KNOWN[:3])
    monkeypatch.setattr(record.judge, "__defaults__", (KNOWN[:3], 20))
    out = tmp_path / "methods.parquet"
    record.main(1, 1, out)
    first = pd.read_parquet(out)
    assert first[["classes", "method"]].to_numpy().tolist() == [
        [2, "all"],
        [2, "none"],
        [3, "all"],
        [3, "none"],
        [3, "classes"],
    ]
    record.main(1, 2, out)
    both = pd.read_parquet(out)
    pd.testing.assert_frame_equal(both.head(len(first)), first)
    assert both["round"].tolist() == [0] * 5 + [1] * 5
