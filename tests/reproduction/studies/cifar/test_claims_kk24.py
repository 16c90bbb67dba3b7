import re
from dataclasses import replace

import pandas as pd
import pytest

from focal_lib.metrics.intervals import t_interval_if_any
from reproduction.engine.contrasts import Contrast, Setting
from reproduction.ledger import Measurement, Verdict
from reproduction.ledger.evidence import All
from reproduction.ledger.ledger import find
from reproduction.studies.cifar.claims_kk24 import (
    ECE,
    RUNS,
    SCALED,
    change_of_ece_by_gamma,
    focal_losses,
    gain_of_focal_losses,
)
from reproduction.studies.shared import from_runs
from reproduction.studies.shared.from_runs import difference
from reproduction.studies.shared.miscalibration import eces_if_calibrated
from reproduction.studies.shared.printed_effects import kk24_gain, kk24_rows
from reproduction.studies.shared.recorded import load_whole_seeds, read_planned, read_whole_seeds
from reproduction.studies.shared.written_contrasts import evaluate_contrasts, primary_contrast

LOSSES = ("focal 7", "cross-entropy")
WAITING = "planned"
PAIR = tuple(Setting(("flsd-53",), *SCALED[method]) for method in ("focal-temperature", "temperature"))


def test_judged_by_ece_of_equal_mass():
    found = find("kk24.table1_ece_every_loss").evidence.found
    assert len(found.parts) == len({"cross-entropy", *focal_losses()} & kk24_rows()) == 5
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


def test_another_ece_gives_another_number():
    printed = kk24_gain("cifar10", ("flsd-53",))
    by_mass, by_width = (difference(RUNS, metric, *PAIR, printed) for metric in ("adaptive-ece", "ece"))
    assert by_mass.measured != by_width.measured
    assert by_mass.over in by_mass.describe()


def test_other_eces_are_named_where_they_say_otherwise():
    """Each remark names the ECEs whose interval is on another side of 0, or whose estimate is, and no other."""
    for part in find("kk24.table1_ece_every_loss").evidence.found.parts:
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
        monkeypatch.setattr(
            "reproduction.studies.shared.from_runs.read_whole_seeds", lambda name: pd.concat(planted[:there])
        )
        return gain_of_focal_losses()

    seeds_told = f"{len(seeds) - 1} of {len(seeds)} planned seeds"
    whole, part = measured(len(seeds)), measured(len(seeds) - 1)
    assert whole.verdict == (Verdict.REPRODUCED if gain < 0 else Verdict.NOT_REPRODUCED)
    assert whole.over == f"{len(seeds)} seeds and 10,000 test images"
    assert part.verdict == All((part,)).verdict == Verdict.UNDECIDED
    assert part.over == seeds_told
    assert part.conclude().endswith(f": only {seeds_told} are in")
    assert WAITING in part.describe()
    assert part.would_change() == "the runs that are planned and not there yet"
    assert "planned" not in whole.describe() + whole.conclude() + whole.would_change()


def test_seeds_are_planned_by_the_losses_of_both_sides():
    """FCL has two seeds where cross-entropy has four: with two it is all there."""
    fcl, ce, focal = (Setting((loss,)) for loss in ("fcl 4 1.5", "cross-entropy", "focal 1"))
    for ours, theirs, planned in ((fcl, ce, 2), (ce, fcl, 2), (focal, ce, 4)):
        assert len(from_runs._planned_seeds(RUNS, Contrast("", "", ECE, ours, theirs, -1))) == planned


def test_planned_runs_of_which_none_is_there_are_waited_for(monkeypatch):
    table = read_whole_seeds(RUNS)
    monkeypatch.setattr(
        "reproduction.studies.shared.from_runs.read_whole_seeds", lambda name: table.query("loss != 'flsd-53'")
    )
    found = gain_of_focal_losses()
    assert found.verdict == Verdict.UNDECIDED
    assert "no whole seed is there yet: UNDECIDED" in found.describe()
    assert "0 of 4 planned seeds" in found.conclude()
    assert "nan" not in found.describe() + found.conclude() + found.would_change()


def test_runs_that_no_grid_plans_are_refused():
    never = Contrast("", "", ECE, Setting(("focal 9",)), Setting(("cross-entropy",)), -1)
    with pytest.raises(ValueError, match=r"cifar10-record.yaml must plan a seed of all of cross-entropy, focal 9"):
        from_runs.measure_contrast(RUNS, never, "", kk24_gain("cifar10", ("focal 9",)))


def test_what_was_not_written_down_says_so():
    """Gamma 7 against gamma 3, M20's question, is in no grid file; gamma 7 against cross-entropy is, of either sign."""
    asked, own = find("m20.gamma_too_high").evidence, find("kk24.table1_gamma_accuracy").evidence
    assert "Not among what was written down before the runs" in asked.describe()
    assert "Not among" not in own.describe()
    turned = replace(primary_contrast(RUNS)[0], claimed=1)
    assert from_runs._is_written(RUNS, turned)
    assert not from_runs._is_written(RUNS, replace(turned, metric="brier"))


def test_a_remark_tells_what_calibrated_networks_would_differ_by():
    """Of gamma 7 less sure after its temperature than cross-entropy: chance makes a larger ECE."""
    found = change_of_ece_by_gamma()
    (by_chance,) = re.findall(r"would differ by ([+-][\d.]+), by chance alone", found.remark)
    assert 0.1 < float(by_chance) < 0.4
    table = read_whole_seeds(RUNS)
    both = {
        loss: table.query("loss == @loss and method == 'temperature' and metric == objective == @ECE")
        for loss in LOSSES
    }
    own = {loss: eces_if_calibrated(load_whole_seeds(RUNS), part)["value"].mean() for loss, part in both.items()}
    assert float(by_chance) == pytest.approx(own["focal 7"] - own["cross-entropy"], abs=0.005)
    assert "by chance alone" not in gain_of_focal_losses().remark


@pytest.mark.parametrize(
    "measured",
    [
        Measurement("q", "p", 1.0, holds=True),
        Measurement("q", "p", 1.0, holds=False),
        Measurement("q", "1", 1.0, 1.0, 0.1),
        Measurement.signed("q", "negative", t_interval_if_any([-1.0]), -1, "1 seed"),
        Measurement.near("q", "1", t_interval_if_any([1.0, 1.1, 0.9]), 1.0, 1.0, "3 seeds"),
    ],
)
def test_whatever_is_measured_a_part_concludes_nothing(measured):
    part = replace(measured, complete=False)
    assert part.verdict == Verdict.UNDECIDED
    for said in (part.conclude(), part.describe()):
        assert WAITING in said
    assert part.would_change() == "the runs that are planned and not there yet"
    assert WAITING not in measured.conclude() + measured.describe()
