import pandas as pd
import pytest

from focal_lib.claims import Verdict
from focal_lib.claims.evidence import All
from focal_lib.claims.from_runs import difference
from focal_lib.claims.kk24.table1 import ECE, RUNS, SCALED, focal_losses, gain_of_focal_losses
from focal_lib.claims.ledger import find
from focal_lib.claims.printed_effects import kk24_gain
from focal_lib.results.recorded import read_planned, read_whole_seeds
from focal_lib.results.written_contrasts import evaluate_contrasts, primary_contrast
from focal_lib.training.contrasts import Setting

PAIR = tuple(Setting(("flsd-53",), *SCALED[method]) for method in ("focal-temperature", "temperature"))


def test_judged_by_ece_of_equal_mass():
    found = find("kk24.table1_ece_every_loss").evidence
    assert len(found.parts) == 1 + len(focal_losses())
    for part in found.parts:
        assert "adaptive-ece (equal mass, %)" in part.quantity
    frame = read_whole_seeds(RUNS).query("metric == 'adaptive-ece' and objective == 'adaptive-ece' and gamma > 0")
    means = frame.query("loss.str.startswith('focal ') or loss == 'flsd-53'", engine="python")
    assert abs(gain_of_focal_losses().measured) < abs(means["value"].mean())


def test_the_claim_is_the_primary_contrast():
    contrast, written = primary_contrast(RUNS)
    row = evaluate_contrasts(read_whole_seeds(RUNS), [contrast]).iloc[0]
    gain = gain_of_focal_losses()
    assert (gain.interval.estimate, gain.interval.low, gain.interval.high) == tuple(row[["difference", "low", "high"]])
    assert ("not written down" in gain.describe()) == (not written)
    assert (gain.verdict == Verdict.REPRODUCED) == (gain.complete and row["high"] < 0)


def test_readme_says_the_gain_with_its_interval():
    gain, words = gain_of_focal_losses(), find("kk24.table1_ece_every_loss").instead
    assert f"{gain.measured:+.2f} points" in words
    assert f"{gain.interval.low:.2f} to {gain.interval.high:.2f}, {gain.over}" in words


def test_another_ece_gives_another_number():
    printed = kk24_gain("cifar10", ("flsd-53",))
    by_mass, by_width = (difference(RUNS, metric, *PAIR, printed) for metric in ("adaptive-ece", "ece"))
    assert by_mass.measured != by_width.measured
    assert by_mass.over in by_mass.describe()


def test_other_eces_are_named_where_they_say_otherwise():
    """Each remark names the ECEs whose interval is on another side of 0, or whose estimate is, and no other."""
    for part in find("kk24.table1_ece_every_loss").evidence.parts:
        side = (part.interval.low > 0) - (part.interval.high < 0)
        losses = next(loss for loss in ("cross-entropy", *focal_losses()) if f" of {loss} after" in part.quantity)
        for metric in ("ece", "classwise-ece", "smooth-ece"):
            pair = (Setting((losses,), *SCALED[method]) for method in ("focal-temperature", "temperature"))
            other = difference(RUNS, metric, *pair, kk24_gain("cifar10", (losses,)))
            same_side = (other.interval.low > 0) - (other.interval.high < 0) == side
            same = same_side and other.measured * part.measured > 0
            assert (f" {metric} (" in part.remark or f"; {metric} (" in part.remark) == (not same), (losses, metric)
    assert ECE not in part.remark


@pytest.mark.parametrize("gain", [-1.0, 1.0])
def test_nothing_is_concluded_before_all_seeds_are_there(monkeypatch, gain):
    """Seeds that agree, planted: with one missing it is UNDECIDED, with all it is as they say."""
    one = read_whole_seeds(RUNS).query("seed == 0")
    focal = (one["method"] == "focal-temperature") & (one["gamma"] > 0)
    seeds = sorted({spec.seed for spec in read_planned(RUNS) if spec.label == "focal 1"})
    planted = [one.assign(seed=s, value=one["value"] + focal * (100 * gain + s / 10)) for s in seeds]

    def measured(there):
        monkeypatch.setattr("focal_lib.claims.from_runs.read_whole_seeds", lambda name: pd.concat(planted[:there]))
        return gain_of_focal_losses()

    whole, part = measured(len(seeds)), measured(len(seeds) - 1)
    assert whole.verdict == (Verdict.REPRODUCED if gain < 0 else Verdict.NOT_REPRODUCED)
    assert whole.over == f"{len(seeds)} seeds"
    assert part.verdict == All((part,)).verdict == Verdict.UNDECIDED
    assert part.over == f"{len(seeds) - 1} of {len(seeds)} planned seeds"
    assert part.conclude().endswith("is of a part of what was planned; nothing is concluded before all is there")
    assert "nothing is concluded" in part.describe()
    assert part.would_change() == "the runs that are planned and not there yet"
    assert "planned" not in whole.describe() + whole.conclude() + whole.would_change()
