"""M20's claims on recorded networks, of its steps, a larger network, a longer training: seeds needed, conclusions."""

import pandas as pd
import pytest

from reproduction.engine.grids import read_contrasts, read_grid
from reproduction.ledger import Verdict, find
from reproduction.studies.cifar import claims_m20_l25 as cifar
from reproduction.studies.cifar.claims_m20_l25 import CLIPPED, change_of_lead
from reproduction.studies.shared.recorded import read_planned, read_table, read_whole_seeds

SEEN = "cifar10-long"  # the runs that suggested what is asked
OVER_BOTH = "3 seeds and 10,000 test images"


def shifted(name, seeds, by):
    """The first seed's rows as these seeds', the ECE as trained with gamma 3 higher by so much, and a little a seed."""
    table = read_table(name)
    first = table[(table["seed"] == 0) & table["loss"].isin(["cross-entropy", "focal 3"])]
    asked = (first["loss"] == "focal 3") & (first["metric"] == "ece") & (first["method"] == "none")
    return pd.concat([first.assign(seed=s, value=first["value"] + asked * (by + 0.01 * s)) for s in seeds])


@pytest.fixture
def records(monkeypatch):
    """Tables of records by name, for the others the real ones."""
    given = {}
    read = lambda name: given[name] if name in given else read_whole_seeds(name)  # noqa: E731
    monkeypatch.setattr("reproduction.studies.shared.from_runs.read_whole_seeds", read)
    return given


def test_seed_0_was_seen_and_is_not_asked():
    fresh, seen = (read_grid(f"workflow/grids/{name}.yaml") for name in (cifar.FRESH, SEEN))
    assert not {spec.seed for spec in fresh} & {spec.seed for spec in seen}
    assert {spec.label for spec in fresh} == {spec.label for spec in seen}
    assert {spec.training for spec in fresh} == {spec.training for spec in seen}
    assert read_contrasts(f"workflow/grids/{cifar.FRESH}.yaml") == read_contrasts(f"workflow/grids/{CLIPPED}.yaml")


@pytest.mark.parametrize(("by", "verdict"), [(0.0, Verdict.REPRODUCED), (9.0, Verdict.NOT_REPRODUCED)])
def test_fresh_seeds_decide(records, by, verdict):
    records[cifar.FRESH] = shifted(SEEN, [1, 2, 3], by)
    found = find("m20.cifar10_before_long").check()
    assert (found.verdict, found.found.over) == (verdict, OVER_BOTH)
    records[cifar.FRESH] = shifted(SEEN, [1, 2], by)
    assert find("m20.cifar10_before_long").check().verdict == Verdict.UNDECIDED


def test_a_change_waits_for_the_seeds_that_both_are_planned_with(records):
    records[cifar.FRESH] = shifted(SEEN, [1, 2, 3], 0.0)
    records[CLIPPED] = shifted(CLIPPED, [0, 1, 2, 3], 0.0)
    found = cifar.longer_training_favours_focal()
    assert (found.complete, found.over, found.verdict) == (True, OVER_BOTH, Verdict.REPRODUCED)  # 1, 2 and 3
    for seeds in ([0, 1, 2], [0]):  # with seed 0 alone there is none in common
        records[CLIPPED] = shifted(CLIPPED, seeds, 0.0)
        found = cifar.longer_training_favours_focal()
        assert (found.complete, found.verdict) == (False, Verdict.UNDECIDED)
        assert "of 3 planned seeds" in found.describe()


def test_a_change_between_runs_without_a_common_seed_is_refused():
    with pytest.raises(ValueError, match=r"cifar10-long-fresh and cifar10-long must be planned with a seed in common"):
        change_of_lead(cifar.FRESH, SEEN, "by nothing")


@pytest.mark.parametrize(
    "check",
    [
        find("kk24.table1_ece_every_loss_resnet18").check,
        find("kk24.table1_ece_focal_losses_resnet18").check,
        find("kk24.table1_gamma_ece_resnet18").check,
        find("kk24.table1_gamma_accuracy_resnet18").check,
        find("m20.cifar10_before_resnet18").check,
        find("m20.cifar10_after_sample_dependent_resnet18").check,
        find("m20.cifar10_after_fixed_resnet18").check,
    ],
)
def test_claims_of_resnet18_read_its_runs_alone(monkeypatch, check):
    def only_these(name):
        assert name == cifar.LARGER
        return read_whole_seeds(name)

    monkeypatch.setattr("reproduction.studies.shared.from_runs.read_whole_seeds", only_these)
    monkeypatch.setattr("reproduction.studies.shared.regimes.read_whole_seeds", only_these)
    found = getattr(check(), "found", check())
    parts = getattr(found, "parts", (found,))
    assert {part.over for part in parts} == {"3 seeds and 10,000 test images"}


def test_the_row_of_the_readme_has_the_trainings_that_say_otherwise():
    row = find("m20.cifar10_before_long")
    others = [cifar.against_cross_entropy("focal 3", "pre", name) for name in (CLIPPED, cifar.LARGER)]
    assert all(f"{one.measured:+.1f} " in row.instead for one in others)
    assert "out of regime" in row.instead
    epochs = {spec.training.epochs for name in (CLIPPED, cifar.LARGER) for spec in read_planned(name)}
    assert f"after {epochs.pop()} epochs" in row.instead
    assert not epochs


def test_a_row_without_the_runs_that_it_names_has_no_words(monkeypatch):
    def missing(*_, **__):
        raise FileNotFoundError("results/cifar10-resnet18")

    row = find("m20.cifar10_before_long")
    assert row.verdict == Verdict.REPRODUCED
    monkeypatch.setattr(cifar, "against_cross_entropy", missing)
    assert row.instead == ""


def test_what_had_been_seen_before_is_remarked():
    assert "seed 0 of either had been seen" in cifar.longer_training_favours_focal().remark


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

    return {cifar.RUNS: table(cifar.RUNS, by_the_mean), CLIPPED: table(CLIPPED, clipped)}


@pytest.mark.parametrize(
    ("by_the_mean", "clipped", "verdict"), [(5.0, 2.0, Verdict.REPRODUCED), (2.0, 5.0, Verdict.NOT_REPRODUCED)]
)
def test_whether_the_steps_favour_focal_loss(records, by_the_mean, clipped, verdict):
    records.update(planted(by_the_mean, clipped, 4))
    found = cifar.clipping_favours_focal()
    assert found.measured == pytest.approx(clipped - by_the_mean)
    assert found.verdict == verdict
    assert found.over == "4 seeds and 10,000 test images"


def test_three_of_four_seeds_decide_nothing(records):
    records.update(planted(5.0, 2.0, 3))
    found = cifar.clipping_favours_focal()
    assert found.measured == pytest.approx(-3.0)
    assert found.verdict == Verdict.UNDECIDED
    assert "only 3 of 4 planned seeds are in" in found.conclude()


def test_the_claim_of_other_steps_reads_other_runs(records):
    records.update(planted(5.0, -2.6, 4))
    found = find("m20.cifar10_before_clipped").check().found
    assert found.measured == pytest.approx(-2.6 + 1.5 * LEAST)
    assert found.verdict == Verdict.REPRODUCED
