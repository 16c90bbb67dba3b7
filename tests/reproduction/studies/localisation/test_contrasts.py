"""Evidence from the record of where networks look, planted faults."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from reproduction.ledger.judgement import Verdict
from reproduction.ledger.ledger import find
from reproduction.studies.localisation import contrasts
from reproduction.studies.localisation.plan import ONE, SEVERAL, losses_compared

CE, FOCAL, FCL = losses_compared()
EFFECTS = {"energy": 2.0, "pointing": 2.0, "spread": -1.0, "auroc": 1.0, "ece": -1.0, "mce": -3.0}


@pytest.fixture
def record(monkeypatch):
    """A made-up record, in which everything is as L25 says, in the place of the real one."""

    def put(factor=1.0, seeds=6):
        noise = np.random.default_rng(0)
        rows = [
            (setting, "small", loss, seed, method, "", metric, 50 + factor * (step + 2 * mapped) * effect + chance)
            for setting in (ONE, SEVERAL)
            for seed in range(seeds)
            for metric, effect in EFFECTS.items()
            for step, loss in enumerate((CE, FOCAL, FCL))
            for mapped, method in enumerate(("none", "map"))
            for chance in [0.1 * noise.normal()]
        ]
        columns = ["dataset", "model", "loss", "seed", "method", "objective", "metric", "value"]
        table = pd.DataFrame(rows, columns=columns)
        monkeypatch.setattr(contrasts, "of_setting", lambda setting: table[table["dataset"] == setting])

    return put


CHECKS = ("fig1_broader", "fig1_precise", "fig1_pointing", "table9_garments", "labels_after_map")


@pytest.mark.parametrize("name", CHECKS)
def test_verdicts_follow_the_record(record, name):
    check = find(f"l25.{name}").check
    found = []
    for factor, seeds in ((1, 6), (-1, 6), (0, 6), (1, 1)):
        record(factor, seeds)
        found.append(check().verdict)
    expected = [Verdict.REPRODUCED, Verdict.NOT_REPRODUCED, Verdict.UNDECIDED, Verdict.UNDECIDED]
    assert found == expected


def test_only_what_was_written_down_is_judged(record):
    record()
    with pytest.raises(ValueError, match=r"contrast must be one of energy: fcl 3 0\.5 minus cross-entropy"):
        contrasts.contrast_of_record(ONE, "auroc: fcl 3 0.5 minus cross-entropy", 1)


def test_what_needs_the_x_rays_names_its_command():
    assert "python -m reproduction.studies.localisation.record --chest" in find("l25.chexnet").check().would_change()
