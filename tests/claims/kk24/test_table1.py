from focal_lib.claims.from_runs import Setting, difference
from focal_lib.claims.kk24.table1 import RUNS, gain_of_focal_losses
from focal_lib.claims.ledger import find
from focal_lib.results.recorded import read_table


def test_judged_by_ece_of_equal_mass():
    for part in find("kk24.table1_ece_every_loss").evidence.parts:
        assert "adaptive-ece (equal mass, %)" in part.quantity
    frame = read_table(RUNS).query("metric == 'adaptive-ece' and objective == 'adaptive-ece' and gamma > 0")
    means = frame.query("loss.str.startswith('focal ') or loss == 'flsd-53'", engine="python")
    assert abs(gain_of_focal_losses().measured) < abs(means["value"].mean())


def test_readme_says_the_gain_with_its_interval():
    gain, words = gain_of_focal_losses(), find("kk24.table1_ece_every_loss").instead
    assert f"{gain.measured:+.2f} points" in words
    assert f"{gain.interval.low:.2f} to {gain.interval.high:.2f}, 3 seeds" in words


def test_another_ece_gives_another_number():
    pair = Setting("flsd-53", "focal-temperature", "adaptive-ece"), Setting("flsd-53", "temperature", "adaptive-ece")
    by_mass, by_width = (difference(RUNS, metric, *pair, "negative", -1) for metric in ("adaptive-ece", "ece"))
    assert by_mass.measured != by_width.measured
    assert "3 seeds" in by_mass.describe()
