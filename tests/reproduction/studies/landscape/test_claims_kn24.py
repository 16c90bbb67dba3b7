"""Claims on the landscape, on measurements made up: each part by its own network, and the signs that are claimed."""

import numpy as np
import pandas as pd
import pytest

from reproduction.ledger import find
from reproduction.ledger.evidence import All
from reproduction.ledger.judgement import Verdict
from reproduction.studies.landscape import claims_kn24 as landscape
from reproduction.studies.landscape.measures import add_logs
from reproduction.studies.landscape.plan import NETWORKS


def made_up(top, trace_ce, ece):
    """Values of gamma, the same for each network and, but for a little, each seed."""
    found = []
    for model, gammas in NETWORKS.items():
        for gamma in gammas:
            for seed in range(4):
                label = f"focal {gamma:g}" if gamma else "cross-entropy"
                named = {"dataset": "made up", "model": model, "loss": label, "gamma": gamma, "seed": seed}
                values = {"top own validation": top(gamma), "trace own validation": top(gamma), "ece": ece(gamma)}
                values |= {f"trace ce {split}": trace_ce(gamma) for split in ("validation", "train")}
                values |= {"spread validation": 1 + gamma}
                for metric, value in values.items():
                    row = {"method": "none", "objective": "", "metric": metric, "value": value * (1 + seed / 1000)}
                    found.append(named | row | {"error": 0.0})
    return add_logs(pd.DataFrame(found))


@pytest.fixture
def given(monkeypatch):
    return lambda **how: monkeypatch.setattr(landscape, "read_landscape", lambda: made_up(**how))


def test_correlations_stay_between_their_ends(given):
    given(top=lambda g: np.exp(-g), trace_ce=lambda g: 1 / (1 + g), ece=lambda g: np.exp(-g))
    found = landscape.relation()
    assert found.verdict == Verdict.REPRODUCED
    for part in found.parts:
        assert part.measured == pytest.approx(1)
        assert part.interval.low < part.interval.high == 1  # of equal seeds, too
    shown = landscape.relation().parts[0].interval.at(0.999)
    assert shown.high == 1


def test_a_flatter_landscape_with_the_least_ece_in_the_middle(given):
    given(top=lambda g: np.exp(-g), trace_ce=lambda g: 1 / (1 + g), ece=lambda g: 1 + (g - 3) ** 2)
    assert find("kn24.fig2").check().found.verdict == Verdict.REPRODUCED
    assert len(find("kn24.fig2").check().found.parts) == 5 + 5 + 3
    for claim in (
        find("kn24.fig2_ends").check,
        lambda: find("kn24.fig2_ece").check().found,
        lambda: find("kn24.fig3").check().found,
        find("kn24.one_landscape").check,
        find("kn24.spread").check,
    ):
        assert isinstance(claim(), All)
        assert claim().verdict == Verdict.REPRODUCED


def test_one_step_that_rises_contradicts(given):
    given(top=lambda g: np.exp(-g) if g < 5 else 1.0, trace_ce=lambda g: 1 + g, ece=lambda g: 9 - g)
    assert find("kn24.fig2").check().found.verdict == Verdict.NOT_REPRODUCED
    assert find("kn24.fig2_ece").check().found.verdict == Verdict.NOT_REPRODUCED
    assert find("kn24.fig3").check().found.verdict == Verdict.NOT_REPRODUCED
    assert find("kn24.one_landscape").check().verdict == Verdict.NOT_REPRODUCED
    assert find("kn24.one_landscape_train").check().verdict == Verdict.NOT_REPRODUCED


def test_relations_are_by_seed_and_need_a_sign(given):
    given(top=lambda g: np.exp(-g), trace_ce=lambda g: 1.0, ece=lambda g: 9 - g)
    assert landscape.relation().verdict == Verdict.REPRODUCED
    given(top=lambda g: np.exp(-g), trace_ce=lambda g: 1.0, ece=lambda g: 1 + g)
    assert landscape.relation().verdict == Verdict.NOT_REPRODUCED


def test_the_derivation_needs_the_true_factor(monkeypatch):
    assert landscape.flat_by_scaling().verdict == Verdict.PROVED
    real = landscape.step
    doubled = lambda text, *pairs: real(text, *((2 * left, right) for left, right in pairs))  # noqa: E731
    monkeypatch.setattr(landscape, "step", doubled)
    assert landscape.flat_by_scaling().verdict == Verdict.FAILED
