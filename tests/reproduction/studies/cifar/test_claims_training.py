"""What cannot hold for focal loss alone must not pass as its effect."""

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import minimize_scalar
from scipy.special import log_softmax

from focal_lib.metrics.intervals import paired_t_interval
from focal_lib.theory.closest_temperature import closest_temperature
from focal_lib.theory.maps import focal_log_probs
from reproduction.ledger import find
from reproduction.ledger.judgement import Verdict
from reproduction.studies.cifar import claims_training as training
from reproduction.studies.shared.from_runs import results, with_gamma
from reproduction.studies.shared.recorded import load_recorded

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
    assert find("kk24.focal_underconfident").check().verdict == verdict


def _temperatures(by_gamma: dict[float, float], *, mapped: float = 1.0, spread: float = 0.01) -> pd.DataFrame:
    """Of cross-entropy 1.5 in every seed; others as many times that, after the map `mapped` times, with a spread."""
    noise = spread * np.linspace(-1, 1, len(SEEDS))
    rows = [(0.0, seed, 1.5, 1.5) for seed in SEEDS]
    for gamma, times in by_gamma.items():
        rows += [(gamma, seed, 1.5 * (times + noise[seed]), 1.5 * (mapped + noise[seed])) for seed in SEEDS]
    return pd.DataFrame(rows, columns=["gamma", "seed", "temperature", "mapped_temperature"])


@pytest.mark.parametrize(
    ("classes_of_closest", "spread", "verdict"),
    [(10, 0.01, Verdict.REPRODUCED), (3, 0.01, Verdict.NOT_REPRODUCED), (10, 0.5, Verdict.UNDECIDED)],
    ids=[
        "the temperature closest for ten classes",
        "for three, which networks of ten do not have",
        "by its mean alone",
    ],
)
def test_one_temperature_is_asked_for_the_networks_classes(monkeypatch, classes_of_closest, spread, verdict):
    closest = {gamma: closest_temperature(gamma, classes_of_closest).temperature for gamma in (1.0, 3.0)}
    assert all(
        abs(closest_temperature(g, 3).temperature / closest_temperature(g, 10).temperature - 1) > 0.1 for g in closest
    )
    monkeypatch.setattr(training, "temperatures", lambda: _temperatures(closest, spread=spread))
    monkeypatch.setattr(training, "classes", lambda: 10)
    assert training.compensation_one_temperature().verdict == verdict


@pytest.mark.parametrize(
    ("mapped", "spread", "verdict"),
    [
        (0.95, 0.01, Verdict.REPRODUCED),
        (1.05, 0.01, Verdict.NOT_REPRODUCED),
        (0.7, 0.01, Verdict.NOT_REPRODUCED),
        (0.95, 0.5, Verdict.UNDECIDED),
    ],
    ids=["up to a tenth less", "more", "less by more than a tenth", "within it by its mean alone"],
)
def test_compensation_is_judged_by_its_interval(monkeypatch, mapped, spread, verdict):
    table = _temperatures({1.0: 0.5, 3.0: 0.5}, mapped=mapped, spread=spread)
    monkeypatch.setattr(training, "temperatures", lambda: table)
    assert training.generalisation_compensation().verdict == verdict


@pytest.mark.parametrize(
    ("mapped_gap", "noise", "verdict"),
    [(0.003, 1e-4, Verdict.REPRODUCED), (0.02, 1e-4, Verdict.NOT_REPRODUCED), (0.003, 0.02, Verdict.UNDECIDED)],
    ids=["within half a point", "beyond it", "within it by its mean alone"],
)
def test_the_proper_part_is_judged_after_the_map(monkeypatch, mapped_gap, noise, verdict):
    """The gap before the map is large in each case."""
    table = _gaps({0.0: 0.0, 1.0: 0.1, 3.0: 0.2}).assign(gap=-0.1)
    table["mapped_gap"] = mapped_gap + noise * np.linspace(-1, 1, len(SEEDS))[table["seed"]]
    monkeypatch.setattr(training, "gaps", lambda: table)
    assert find("kk24.proper_part_calibrated").check().verdict == verdict


def test_on_cifar10_a_mapped_network_needs_more_than_cross_entropy():
    """As kk24.generalisation_compensation says."""
    logs = {}
    for gamma in (0.0, 3.0):
        runs = with_gamma(load_recorded(training.LONG), gamma)
        logs[gamma] = np.array([_log_temperature(run.validation, gamma) for run in runs])
    assert paired_t_interval(logs[3.0], logs[0.0]).low > 0


def _log_temperature(part, gamma):
    """Of least log-loss, after the map."""
    mapped = focal_log_probs(part.logits.astype(np.float64), gamma)

    def loss(log_t):
        return -log_softmax(mapped / np.exp(log_t), -1)[np.arange(len(mapped)), part.labels].mean()

    return minimize_scalar(loss, bounds=(-1, 2), method="bounded").x


def test_a_network_that_has_not_learnt_every_sample_is_underconfident_on_them():
    """As kk24.ce_overconfident says: the gap is wider than the claim's 0.01."""
    for run in with_gamma(load_recorded(training.SHORT), 0.0):
        last = run.history.query("split == 'train'").sort_values("epoch").iloc[-1]
        assert last["error"] > 0.01 < last["accuracy"] - last["confidence"]


@pytest.mark.parametrize("gamma", [3.0, 5.0])
def test_a_larger_gamma_in_the_map_would_pass_too(gamma):
    """As kk24.proper_part_calibrated says: every training sample is learnt, so that a sharper map fits it no worse."""
    run = with_gamma(results(), gamma)[0]
    log_probs = log_softmax(run.train.logits.astype(np.float64), axis=-1)
    accuracy = (log_probs.argmax(-1) == run.train.labels).mean()
    gaps = {g: np.exp(focal_log_probs(log_probs, g).max(-1)).mean() - accuracy for g in (gamma / 4, gamma, 3 * gamma)}
    assert accuracy == 1.0
    assert abs(gaps[gamma / 4]) > 0.005 > abs(gaps[gamma]) > abs(gaps[3 * gamma])
