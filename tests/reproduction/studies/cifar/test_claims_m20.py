"""M20's Tables 1 and 7 on recorded networks, by the mean and with the sum and clipping of its published code."""

import pandas as pd
import pytest

from reproduction.ledger import Verdict, find
from reproduction.studies.cifar import claims_m20 as cifar
from reproduction.studies.shared.recorded import read_whole_seeds

LEAST = 0.05  # per cent, of each seed beside the one before


def planted(by_the_mean, clipped, seeds):
    """Tables of seeds with these differences of ECE as trained, gamma 3 minus cross-entropy."""

    def table(name, difference):
        one = read_whole_seeds(name).query("seed == 0 and loss in ['cross-entropy', 'focal 3']")
        of_focal, as_trained = one["loss"] == "focal 3", (one["metric"] == "ece") & (one["method"] == "none")
        base = float(one.loc[as_trained & ~of_focal, "value"].iloc[0])
        value = one["value"].mask(as_trained & of_focal, base + difference)
        shifts = [one.assign(seed=seed, value=value + seed * LEAST * of_focal) for seed in range(seeds)]
        return pd.concat(shifts)

    tables = {cifar.RUNS: table(cifar.RUNS, by_the_mean), cifar.CLIPPED: table(cifar.CLIPPED, clipped)}
    return tables.__getitem__


@pytest.mark.parametrize(
    ("by_the_mean", "clipped", "verdict"),
    [(5.0, 2.0, Verdict.REPRODUCED), (2.0, 5.0, Verdict.NOT_REPRODUCED)],
)
def test_whether_the_steps_favour_focal_loss(monkeypatch, by_the_mean, clipped, verdict):
    monkeypatch.setattr("reproduction.studies.shared.from_runs.read_whole_seeds", planted(by_the_mean, clipped, 4))
    found = cifar.clipping_favours_focal()
    assert found.measured == pytest.approx(clipped - by_the_mean)
    assert found.verdict == verdict
    assert found.over == "4 seeds"


def test_three_of_four_seeds_decide_nothing(monkeypatch):
    monkeypatch.setattr("reproduction.studies.shared.from_runs.read_whole_seeds", planted(5.0, 2.0, 3))
    found = cifar.clipping_favours_focal()
    assert found.measured == pytest.approx(-3.0)
    assert found.verdict == Verdict.UNDECIDED
    assert "only 3 of 4 planned seeds are in" in found.conclude()


def test_the_claim_of_other_steps_reads_other_runs(monkeypatch):
    monkeypatch.setattr("reproduction.studies.shared.from_runs.read_whole_seeds", planted(5.0, -2.6, 4))
    assert find("m20.cifar10_before_clipped").check().measured == pytest.approx(-2.6 + 1.5 * LEAST)
    assert find("m20.cifar10_before_clipped").check().verdict == Verdict.REPRODUCED
