"""Runs made up for tables: logits of four classes, no training."""

import numpy as np
import pandas as pd
import pytest

from reproduction.engine.spec import Spec
from reproduction.engine.store import Logits, Result
from reproduction.studies.shared.recorded import read_table


@pytest.fixture(scope="session")
def make_result():
    def make(loss, seed, **parameters):
        rng = np.random.default_rng([seed, len(loss), int(parameters.get("gamma", 0))])
        parts = []
        for _ in range(3):
            labels = rng.integers(0, 4, 300)
            logits = 3 * np.eye(4)[labels] + 2 * rng.standard_normal((300, 4))
            parts.append(Logits(logits.astype(np.float32), labels))
        return Result(Spec(loss=loss, seed=seed, **parameters), pd.DataFrame(), *parts)

    return make


@pytest.fixture(scope="session")
def made_results(make_result):
    """Cross-entropy and focal loss with gamma 3, four seeds."""
    return [make_result("focal", seed, gamma=gamma) for gamma in (0, 3) for seed in range(4)]


@pytest.fixture
def change_record(monkeypatch):
    """Puts a changed table in the place of results/<name>, for a module that reads it."""

    def put(module, name, change):
        table = change(read_table(name).copy())
        monkeypatch.setattr(module, "read_table", lambda _: table)

    return put
