"""The first steps on made tables: reproduced where they do as is claimed, not where they do the opposite."""

import numpy as np
import pandas as pd
import pytest

from focal_lib.metrics.intervals import paired_t_interval
from focal_lib.theory import log_gain
from reproduction.ledger import Verdict
from reproduction.studies.epochs import claims_regularisation as first_steps
from reproduction.studies.shared.from_runs import LONG, with_gamma
from reproduction.studies.shared.recorded import load_recorded

STEPS = np.arange(41)


def made(early=0.02, late=-0.1, seeds=4):
    """Cross-entropy's q grows by 0.02 a step; focal losses lead by `early` up to step 20, by `late` after it."""
    rows = []
    for seed in range(seeds):
        for gamma in (0.0, *first_steps.GAMMAS):
            gain = np.where((STEPS > 0) & (STEPS <= 20), early, np.where(STEPS > 20, late, 0.0)) * (gamma > 0)
            for step, q in enumerate(0.1 + 0.02 * STEPS + gain * (1 + 0.01 * seed)):
                norm = 1 + 0.1 * step + gain[step] * (1 + 0.01 * seed)
                rows.append({"gamma": gamma, "seed": seed, "epoch": step, "true_class": q, "weight_norm": norm})
    return pd.DataFrame(rows)


@pytest.mark.parametrize(
    ("options", "gains", "weights"),
    [
        ({}, Verdict.REPRODUCED, Verdict.REPRODUCED),
        ({"early": -0.02}, Verdict.NOT_REPRODUCED, Verdict.NOT_REPRODUCED),
        ({"late": 0.1}, Verdict.REPRODUCED, Verdict.NOT_REPRODUCED),
    ],
)
def test_verdicts_follow_the_steps(monkeypatch, options, gains, weights):
    monkeypatch.setattr(first_steps, "first_steps", lambda *size: made(**options))
    assert first_steps.gains_faster().verdict == gains
    assert first_steps.weights_lead_then_trail().found.verdict == weights


@pytest.mark.parametrize("gamma", first_steps.GAMMAS)
def test_the_step_is_the_last_at_which_the_factor_is_above_one(gamma):
    steps = made()
    at = first_steps.step_before_threshold(steps, gamma, 2)
    base = steps[(steps["gamma"] == 0) & (steps["seed"] == 2)]["true_class"].to_numpy()
    assert log_gain(base[at], gamma) > 0 >= log_gain(base[at + 1], gamma)


def test_a_threshold_that_is_never_passed_is_told_or_left_out():
    short = made()
    short = short[short["epoch"] <= 2]
    with pytest.raises(ValueError, match="must be passed"):
        first_steps.step_before_threshold(short, 1.0, 0)
    assert first_steps.threshold_steps(short) == {}
    at = first_steps.threshold_steps(made())
    assert list(at) == list(first_steps.GAMMAS)
    assert list(at.values()) == sorted(at.values(), reverse=True)


def test_by_m20s_steps_cross_entropy_has_the_smaller_weights_early():
    """As m20.weight_norm_fifth says, of the first epoch that the longer runs keep."""
    norms = {}
    for gamma in (0.0, 3.0):
        rows = [run.history.query("split == 'train'") for run in with_gamma(load_recorded(LONG), gamma)]
        norms[gamma] = np.array([row.loc[row["epoch"].idxmin(), "weight_norm"] for row in rows])
    assert paired_t_interval(norms[0.0], norms[3.0]).high < 0


def test_the_lead_is_counted_from_its_first_step():
    assert first_steps.steps_in_lead(made(), "weight_norm", 2.0) == 20
    assert first_steps.steps_in_lead(made(late=0.1), "weight_norm", 2.0) == 40  # to the last
    assert first_steps.steps_in_lead(made(early=-0.1), "weight_norm", 2.0) == 0


def test_no_step_that_is_taken_sees_the_rate_drop():
    for spec in first_steps.specifications():
        assert spec.training.batch_size == spec.n_train
        assert min(spec.training.drops) > first_steps.STEPS
