"""A watch: seldom a false alarm, soon a true one; its state goes on where it was, and a damaged one is refused."""

import json
import re

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

from focal_lib.cli import main
from focal_lib.tool import CalibrationWatch
from focal_lib.tool.watch import json_checksum
from reproduction.checkout import ROOT
from reproduction.studies.advice.watch_rates import alarm_delays, alarm_times, false_alarm_rates, simulate_stream


def stream(calm, drifted, temperature=2.0, seed=1):
    rng = np.random.default_rng(seed)
    parts = simulate_stream(calm, rng), simulate_stream(drifted, rng, temperature=temperature)
    return tuple(np.concatenate(columns) for columns in zip(*parts, strict=True))


@pytest.fixture(scope="module")
def drifting():
    return stream(2000, 400)


# --- alarms ---------------------------------------------------------------------------------


def test_false_alarms_are_at_most_alpha():
    """Of 200 calibrated streams, with room for chance: 99 % of binomials lie below."""
    times = alarm_times(200, 1000, alpha=0.1)
    table = false_alarm_rates(times, (100, 1000)).set_index("samples")
    assert table.loc[1000, "false alarms"] <= 0.1 + 2.4 * (0.1 * 0.9 / 200) ** 0.5
    assert table.loc[100, "false alarms"] <= table.loc[1000, "false alarms"]
    assert (table["low"] <= table["false alarms"]).all()
    assert (table["high"] >= table["false alarms"]).all()


@pytest.mark.slow
def test_what_is_within_the_tolerance_is_no_drift():
    """Confidences that are too high by 0.03, of 100 streams: seen by a strict watch, and by one that allows 0.01."""
    rng, alarms = np.random.default_rng(0), dict.fromkeys((0.0, 0.01, 0.03, 0.05), 0)
    for _ in range(100):
        confidence = rng.uniform(0.6, 0.95, 4000)
        correct = rng.random(4000) < confidence - 0.03
        for tolerance in alarms:
            alarms[tolerance] += CalibrationWatch(0.05, tolerance=tolerance).update(confidence, correct)
    assert alarms[0.05] <= alarms[0.03] <= 5 + 2.4 * (5 * 0.95) ** 0.5
    assert alarms[0.03] < alarms[0.01] < alarms[0.0]
    assert alarms[0.0] > 80


@pytest.mark.parametrize(("temperature", "direction"), [(2.0, "overconfident"), (0.5, "underconfident")])
@pytest.mark.parametrize("calm", [0, 3000])
def test_a_drift_is_found_and_named(temperature, direction, calm):
    watch = CalibrationWatch(0.01)
    confidence, correct = stream(calm, 1000, temperature)
    assert watch.update(confidence, correct)
    assert watch.alarm
    assert calm < watch.alarm_at <= calm + 600
    assert watch.direction == direction
    assert abs(watch.since - calm) < 300
    assert watch.p_value <= 0.01 <= 100 <= watch.largest_e_value
    assert f"mean confidence {confidence[watch.since - 1 :].mean():.3f}" in watch.words
    assert direction in watch.words


def test_delays_are_those_of_the_alarms():
    times = alarm_times(5, 2000, change=500, temperature=2.0, alpha=1e-6)
    assert ((times > 500) & (times < 1500)).all()
    found = alarm_delays(np.array([100.0, 600, 700, 800, np.inf]), 500)
    assert found == {"false alarms": 0.2, "median delay": 300, "90 % delay": np.inf, "missed": 0.25}
    assert np.isnan(alarm_delays(np.array([10.0]), 500)["median delay"])
    assert alarm_times(2, 10, temperature=1.0).tolist() == [np.inf, np.inf]


def test_an_alarm_stays(drifting):
    watch = CalibrationWatch()
    watch.update(*drifting)
    at = watch.alarm_at
    watch.update(*simulate_stream(20_000, np.random.default_rng(3)))
    assert watch.e_value < 1 / watch.alpha
    assert watch.alarm
    assert watch.alarm_at == at


# --- what it takes -----------------------------------------------------------------------------


@given(st.lists(st.integers(1, 2400), max_size=4))
def test_in_parts_as_in_one(drifting, cuts):
    whole, parts = CalibrationWatch(), CalibrationWatch()
    whole.update(*drifting)
    for one, two in zip(*(np.split(values, sorted(cuts)) for values in drifting), strict=True):
        if len(one):
            parts.update(one, two)
            parts = CalibrationWatch.from_json(parts.to_json())
    assert (parts.steps, parts.alarm_at) == (whole.steps, whole.alarm_at)
    assert parts.e_value == pytest.approx(whole.e_value, rel=1e-9)
    assert parts.words == whole.words


def test_one_at_a_time_and_probabilities_of_every_class():
    rng = np.random.default_rng(0)
    p, y = rng.dirichlet([0.5] * 4, 60), rng.integers(0, 4, 60)
    confidence, correct = p.max(1), p.argmax(1) == y
    first, *watches = (CalibrationWatch() for _ in range(4))
    first.update(confidence, correct)
    watches[0].update(p, y)
    for i in range(60):
        watches[1].update(float(confidence[i]), bool(correct[i]))
        watches[2].update(p[i].tolist(), int(y[i]))
    for watch in watches:
        assert watch.e_value == pytest.approx(first.e_value)
        assert watch.words == first.words


@pytest.mark.parametrize(
    ("confidence", "correct", "message"),
    [
        ([0.5, 1.1], [0, 1], r"confidence must be numbers in \[0, 1\]. Got 1.1"),
        ([0.5, np.nan], [0, 1], r"confidence must be numbers in \[0, 1\]. Got nan"),
        (["a"], [1], "confidence must be numbers"),
        ([0.5], [0.5], "correct must be 0 or 1, or truth values. Got 0.5"),
        ([0.5], ["yes"], "correct must be 0 or 1"),
        ([0.5, 0.5], [1], "shapes"),
        (0.5, [1], "shapes"),
        ([], [], "must not be empty"),
        ([[0.5, 0.4]], [1], "must sum to 1"),
        ([0.5, 0.5], 2, "labels must lie in 0 ... 1"),
        ([[0.5, 0.5]], [[1]], "shapes"),
    ],
)
def test_what_is_refused_is_not_counted(confidence, correct, message):
    watch = CalibrationWatch()
    with pytest.raises(ValueError, match=message):
        watch.update(confidence, correct)
    assert (watch.steps, watch.e_value, watch.words) == (0, 1, "No samples yet.")


@pytest.mark.parametrize(
    "options",
    [{"alpha": 0}, {"alpha": 1}, {"resolution": 0}, {"resolution": 0.2}, {"tolerance": -0.1}, {"tolerance": 0.5}],
)
def test_bad_options(options):
    with pytest.raises(ValueError, match=f"{next(iter(options))} must lie in"):
        CalibrationWatch(**options)


# --- its state -----------------------------------------------------------------------------


def test_state_is_strict_json_and_comes_back(drifting, tmp_path):
    for count in (0, 1, 2400):
        watch = CalibrationWatch(0.01, resolution=1e-3, tolerance=0.02)
        if count:
            watch.update(*(values[:count] for values in drifting))
        watch.save(tmp_path / "w.json")
        json.loads((tmp_path / "w.json").read_text(), parse_constant=pytest.fail)
        again = CalibrationWatch.load(tmp_path / "w.json")
        assert again.to_json() == watch.to_json()
        assert (again.alpha, again.resolution, again.tolerance, again.words) == (0.01, 1e-3, 0.02, watch.words)


def test_a_state_from_before_there_was_a_tolerance_goes_on(drifting):
    watch = CalibrationWatch()
    watch.update(*drifting)
    content = json.loads(watch.to_json()) | {"format": 1}
    del content["tolerance"], content["checksum"]
    old = CalibrationWatch.from_json(json.dumps(content | {"checksum": json_checksum(content)}))
    assert old.to_json() == watch.to_json()


def test_a_damaged_state_is_refused(drifting, tmp_path):
    watch = CalibrationWatch()
    watch.update(*drifting)
    text = watch.to_json()
    for place in range(0, len(text) - 1, 97):
        other = "1" if text[place] != "1" else "2"
        with pytest.raises(ValueError, match="the state must"):
            CalibrationWatch.from_json(text[:place] + other + text[place + 1 :])
    for damaged in (text[:-20], "", "[]", "null", "{}", "[" * 100_000, text.replace("focal watch", "other")):
        with pytest.raises(ValueError, match="the state must"):
            CalibrationWatch.from_json(damaged)
    (tmp_path / "w").write_bytes(b"\xff\xfe")
    with pytest.raises(ValueError, match="w: the state must be text"):
        CalibrationWatch.load(tmp_path / "w")


# --- focal watch --------------------------------------------------------------------------


def call(*arguments, input=None):
    return CliRunner().invoke(main, ["watch", *map(str, arguments)], input=input)


def as_csv(confidence, correct):
    rows = zip(confidence, correct, strict=True)
    return "confidence,correct\n" + "".join(f"{float(c)!r},{int(y)}\n" for c, y in rows)


def as_jsonl(confidence, correct):
    rows = zip(confidence.tolist(), correct.tolist(), strict=True)
    return "".join(json.dumps({"confidence": c, "correct": bool(y)}) + "\n" for c, y in rows)


@pytest.mark.parametrize("write", [as_csv, as_jsonl])
def test_exit_status_says_alarm_or_none(drifting, tmp_path, write):
    (tmp_path / "calm").write_text(write(*(values[:2000].astype(float).round(6) for values in drifting)))
    (tmp_path / "drift").write_text(write(*drifting))
    calm, found, piped = call(tmp_path / "calm"), call(tmp_path / "drift"), call("-", input=write(*drifting))
    assert (calm.exit_code, found.exit_code, piped.exit_code) == (0, 1, 1)
    assert calm.output.startswith("No drift so far")
    watch = CalibrationWatch()
    watch.update(*drifting)
    words, *others = found.output.splitlines()
    assert words == watch.words
    assert others[-1] == "Next: calibrate again, on samples of late (focal calibrate)."
    assert watch.words in piped.output.splitlines()
    assert piped.output.startswith(f"Alarm at sample {watch.alarm_at:,}")


def test_the_state_goes_on(drifting, tmp_path):
    state = tmp_path / "state.json"
    for first, last in ((0, 900), (900, 2400)):
        (tmp_path / "in.csv").write_text(as_csv(*(values[first:last] for values in drifting)))
        found = call(tmp_path / "in.csv", "--state", state)
    whole = CalibrationWatch()
    whole.update(*drifting)
    words, new, *others = found.output.splitlines()
    assert words == whole.words
    assert new == "1,500 of the 2,400 samples are new: those that are given twice count twice."
    assert others[-1].endswith("then watch anew, with another --state than state.json.")
    assert CalibrationWatch.load(state).steps == 2400
    for option in ("--alpha", "--tolerance"):
        assert call(tmp_path / "in.csv", "--state", state, option, 0.1).exit_code == 2
    allowed = call(tmp_path / "in.csv", "--tolerance", 0.3)
    assert (allowed.exit_code, "tolerance 0.3" in allowed.output) == (0, True)
    (tmp_path / "calm.csv").write_text(as_csv(*(values[:5] for values in drifting)))
    assert call(tmp_path / "calm.csv", "--state", state).exit_code == 1


def test_what_did_not_run_is_neither(drifting, tmp_path):
    state, data = tmp_path / "state.json", tmp_path / "in.csv"
    assert call(tmp_path / "none.csv").exit_code == 2
    for text in ("", "\n\n", "confidence,correct\n", "a,b\n1,2\n", '{"confidence": 1'):
        data.write_text(text)
        assert call(data, "--state", state).exit_code == 2
        assert not state.exists()
    good = as_csv(*(values[:3] for values in drifting))
    data.write_text(good)
    for flags in (("--alpha", 2), ("--alpha", "nan"), ("--resolution", 0), ("--tolerance", 1), ("--state", data)):
        assert call(data, *flags).exit_code == 2
    assert call(data, "--state", state).exit_code == 0
    before = state.read_bytes()
    data.write_text(f"{good}0.5,maybe\n")
    found = call(data, "--state", state)
    assert found.exit_code == 2
    assert "in.csv, line 5: correct must be 0, 1, true or false. Got 'maybe'." in found.output
    assert state.read_bytes() == before
    assert call("-", "--state", state, input=f"{good}0.5,maybe\n").exit_code == 2
    assert CalibrationWatch.load(state).steps == 6  # what a pipe gave is gone: it has been counted
    state.write_text(state.read_text()[:-9])
    assert call("-", "--state", state, input=good).exit_code == 2


def test_the_record_is_of_this_code():
    """What reproduction.studies.advice.record watch left: the alarms that the same streams raise now."""
    table = pd.read_parquet(ROOT / "results/watch/alarms.parquet")
    for temperature in (0.67, 1.5):
        recorded = table[(table["temperature"] == temperature) & (table["change"] == 0)]["alarm at"].to_numpy()[:8]
        now = alarm_times(8, 4096, change=0, temperature=temperature, seed=1)
        np.testing.assert_array_equal(now, np.where(recorded <= 4096, recorded, np.inf))


def test_words_agree_with_the_means_they_give():
    """Also where the alarm is false, or what raised it is over: of late is one thing, of all time another."""
    for seed in range(8):
        rng = np.random.default_rng(seed)
        watch = CalibrationWatch(alpha=0.9)
        for part in (simulate_stream(300, rng, temperature=2.0), simulate_stream(1000, rng), simulate_stream(200, rng)):
            watch.update(*part)
            if watch.alarm and watch.since is not None:
                means = re.search(r"mean confidence ([0-9]\.[0-9]+) and accuracy ([0-9]\.[0-9]+)", watch.words)
                over = float(means[1]) > float(means[2])
                assert f"looks {'overconfident' if over else 'underconfident'} since" in watch.words
                assert watch.direction == ("overconfident" if over else "underconfident")


def test_confidences_that_may_be_those_of_the_positive_class_are_pointed_at(tmp_path):
    """An alarm of a calibrated model whose probabilities of one class were given as confidences; and no word else."""

    def watched(confidence, correct):
        (tmp_path / "in.csv").write_text(as_csv(confidence, correct))
        return call(tmp_path / "in.csv")

    rng = np.random.default_rng(0)
    p = rng.random(2000) ** 3
    right = (rng.random(2000) < p) == (p > 0.5)
    wrong = watched(p, right)
    assert wrong.exit_code == 1
    assert f"{(p < 0.5).sum():,} of 2,000 confidences are below 0.5" in wrong.output
    assert (p[:5] < 0.5).any()
    assert len(watched(p[:5], right[:5]).output.splitlines()) == 1  # of ten classes it may be as it should
    as_it_should = watched(np.maximum(p, 1 - p), right)
    assert (as_it_should.exit_code, len(as_it_should.output.splitlines())) == (0, 1)
