"""What cannot hold for focal loss alone must not pass as its effect."""

import numpy as np
import pandas as pd
import pytest

from focal_lib.claims.judgement import Verdict
from focal_lib.claims.kk24 import training

SEEDS = range(5)


def _gaps(gap_by_gamma: dict[float, float]) -> pd.DataFrame:
    noise = np.linspace(-1e-3, 1e-3, len(SEEDS))
    return pd.DataFrame(
        [
            {
                "gamma": gamma,
                "split": "train",
                "seed": seed,
                "accuracy": 1.0,
                "confidence": 1 - gap + (1 + gamma) * noise[seed],
            }
            for gamma, gap in gap_by_gamma.items()
            for seed in SEEDS
        ]
    )


@pytest.mark.parametrize(
    ("of_cross_entropy", "verdict"),
    [(0.01, Verdict.REPRODUCED), (0.3, Verdict.NOT_REPRODUCED)],
    ids=["above cross-entropy", "below cross-entropy, which no positive gap alone would show"],
)
def test_underconfidence_is_measured_against_cross_entropy(monkeypatch, of_cross_entropy, verdict):
    table = _gaps({0.0: of_cross_entropy, 1.0: 0.1, 3.0: 0.2})
    monkeypatch.setattr(training, "gaps", lambda: table)
    assert training.focal_underconfident().verdict == verdict
