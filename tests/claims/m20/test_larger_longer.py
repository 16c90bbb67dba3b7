"""M20's claims of a larger network and of a longer training: which seeds they wait for, and what they conclude."""

import pandas as pd
import pytest

from focal_lib.claims import Verdict
from focal_lib.claims.evidence import Unchecked
from focal_lib.claims.m20 import larger_longer
from focal_lib.claims.m20.cifar import CLIPPED
from focal_lib.results.recorded import read_table, read_whole_seeds
from focal_lib.training.grids import read_contrasts, read_grid

SEEN = "cifar10-long"  # the runs that suggested what is asked


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
    monkeypatch.setattr("focal_lib.claims.from_runs.read_whole_seeds", read)
    return given


def test_without_fresh_runs_nothing_is_judged(monkeypatch):
    def missing(name):
        raise FileNotFoundError(name)

    monkeypatch.setattr("focal_lib.claims.from_runs.read_whole_seeds", missing)
    for check in (larger_longer.cifar10_before_long, larger_longer.longer_training_favours_focal):
        found = check()
        assert isinstance(found, Unchecked)
        assert larger_longer.LONGER in found.describe()


def test_seed_0_was_seen_and_is_not_asked():
    fresh, seen = (read_grid(f"workflow/grids/{name}.yaml") for name in (larger_longer.LONGER, SEEN))
    assert not {spec.seed for spec in fresh} & {spec.seed for spec in seen}
    assert {spec.label for spec in fresh} == {spec.label for spec in seen}
    assert {spec.training for spec in fresh} == {spec.training for spec in seen}
    assert read_contrasts(f"workflow/grids/{larger_longer.LONGER}.yaml") == read_contrasts(
        f"workflow/grids/{CLIPPED}.yaml"
    )


@pytest.mark.parametrize(("by", "verdict"), [(0.0, Verdict.REPRODUCED), (9.0, Verdict.NOT_REPRODUCED)])
def test_fresh_seeds_decide(records, by, verdict):
    records[larger_longer.LONGER] = shifted(SEEN, [1, 2, 3], by)
    found = larger_longer.cifar10_before_long()
    assert (found.verdict, found.over) == (verdict, "3 seeds")
    records[larger_longer.LONGER] = shifted(SEEN, [1, 2], by)
    assert larger_longer.cifar10_before_long().verdict == Verdict.UNDECIDED


def test_a_change_waits_for_the_seeds_that_both_are_planned_with(records):
    records[larger_longer.LONGER] = shifted(SEEN, [1, 2, 3], 0.0)
    records[CLIPPED] = shifted(CLIPPED, [0, 1, 2], 0.0)
    found = larger_longer.longer_training_favours_focal()
    assert (found.complete, found.over) == (True, "2 seeds")  # 1 and 2
    records[CLIPPED] = shifted(CLIPPED, [0, 1], 0.0)
    assert not larger_longer.longer_training_favours_focal().complete


def test_that_the_larger_network_was_seen_before_is_told():
    assert "had been seen" in larger_longer.larger_network_favours_focal().describe()
