"""A watch: seldom a false alarm, soon a true one; its state goes on where it was, and a damaged one is refused."""

import json
import os
import re
import signal
import sqlite3
import subprocess
import sys
from contextlib import closing

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import expit

from focal_lib.cli import main
from focal_lib.tool import CalibrationWatch
from focal_lib.tool.watch import WatchState
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


def test_what_is_within_the_tolerance_is_no_drift():
    """Confidences that are too high by 0.03, of 40 streams: seen by a strict watch, and by one that allows 0.01."""
    rng, alarms = np.random.default_rng(0), dict.fromkeys((0.0, 0.01, 0.03, 0.05), 0)
    for _ in range(40):
        confidence = rng.uniform(0.6, 0.95, 3000)
        correct = rng.random(3000) < confidence - 0.03
        for tolerance in alarms:
            alarms[tolerance] += CalibrationWatch(0.05, tolerance=tolerance).update(confidence, correct)
    assert alarms[0.05] <= alarms[0.03] <= 5  # 99 % of binomials of 40 and 0.05
    assert alarms[0.03] < alarms[0.01] < alarms[0.0]
    assert alarms[0.0] > 25


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
    assert watch.p_value <= 0.01 <= 100 <= watch.e_value
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


@settings(max_examples=30)
@given(st.lists(st.integers(1, 2400), max_size=4), st.sampled_from([1, 3, 20]))
def test_in_parts_as_in_one(drifting, cuts, block):
    """With the state written and read in between."""
    whole, parts = (CalibrationWatch(0.01, block=block) for _ in range(2))
    whole.update(*drifting)
    for one, two in zip(*(np.split(values, sorted(cuts)) for values in drifting), strict=True):
        if len(one):
            parts.update(one, two)
            parts = CalibrationWatch.from_json(parts.to_json())
    assert (parts.steps, parts.alarm_at, parts.since) == (2400, whole.alarm_at, whole.since)
    assert 2000 < whole.alarm_at <= 2400
    assert whole.alarm_at % block == 0
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
        ([0.5, 1.1], [0, 1], r"in \[0, 1\]. Got values from 0.5 to 1.1"),
        ([0.5, np.nan], [0, 1], r"in \[0, 1\]. Got values from nan"),
        (["a"], [1], "could not convert"),
        ([0.5], [0.5], "labels must be integers"),
        ([0.5], ["yes"], "labels must be integers"),
        ([0.5], [2], "labels must lie in 0 ... 1"),
        ([0.5, 0.5], [1], r"must have shape \(n,\) = \(2,\)"),
        (0.5, [1], "must have shape"),
        ([], [], "must not be empty"),
        ([[0.5, 0.4]], [1], "must sum to 1"),
        ([0.5, 0.5], 2, "labels must lie in 0 ... 1"),
        ([[0.5, 0.5]], [[1]], "must have shape"),
    ],
)
def test_what_is_refused_is_not_counted(confidence, correct, message):
    watch = CalibrationWatch()
    with pytest.raises(ValueError, match=message):
        watch.update(confidence, correct)
    assert (watch.steps, watch.e_value, watch.words) == (0, 1, "No samples yet.")


@pytest.mark.parametrize(
    "options",
    [
        *({"alpha": value} for value in (0, 1)),
        *({"resolution": value} for value in (0, 0.2)),
        *({"tolerance": value} for value in (-0.1, 0.5)),
        *({"block": value} for value in (0, 2.5, 10**5)),
        {"of": "event"},
    ],
)
def test_bad_options(options):
    with pytest.raises(ValueError, match=f"{next(iter(options))} must (lie in|be)"):
        CalibrationWatch(**options)


# --- its state -----------------------------------------------------------------------------


@pytest.mark.parametrize("count", [0, 1, 2400])
def test_state_is_strict_json_and_comes_back(drifting, count):
    watch = CalibrationWatch(0.01, resolution=1e-3, tolerance=0.02, block=7, of="probability")
    if count:
        watch.update(*(values[:count] for values in drifting))
    json.loads(watch.to_json(), parse_constant=pytest.fail)
    again = CalibrationWatch.from_json(watch.to_json())
    assert again.to_json() == watch.to_json()
    assert {name: getattr(again, name) for name in again.OPTIONS} == (
        {"alpha": 0.01, "resolution": 1e-3, "tolerance": 0.02, "block": 7, "of": "probability"}
    )
    assert (again.words, again.steps) == (watch.words, count)


def test_a_damaged_state_is_refused(drifting):
    watch = CalibrationWatch()
    watch.update(*drifting)
    text = watch.to_json()
    for place in range(0, len(text) - 1, 97):
        other = "1" if text[place] != "1" else "2"
        with pytest.raises(ValueError, match="the state must"):
            CalibrationWatch.from_json(text[:place] + other + text[place + 1 :])
    for damaged in (text[:-20], "", "[]", "null", "{}", "[" * 100_000):
        with pytest.raises(ValueError, match="the state must"):
            CalibrationWatch.from_json(damaged)


def test_a_file_that_is_no_state_is_refused_and_left_as_it_is(drifting, tmp_path):
    state = tmp_path / "w.db"
    store = WatchState(state)
    store.count((*drifting, np.full(2400, "", object)), "confidence")
    text, whole = store.watch.to_json(), state.read_bytes()
    assert WatchState(state).watch.to_json() == text
    with closing(sqlite3.connect(tmp_path / "other.db")) as other:
        other.execute("CREATE TABLE state (content TEXT)")
    damaged = {
        "old.json": text.encode(),  # as earlier versions kept it
        "text": b"\xff\xfe",
        "cut": whole[: len(whole) // 2],
        "changed": whole.replace(b'"alpha": 0.05', b'"alpha": 0.04'),
        "other": (tmp_path / "other.db").read_bytes(),
    }
    for name, content in damaged.items():
        path = tmp_path / name
        path.write_bytes(content)
        with pytest.raises(
            ValueError, match=f"^{name} must be a state of focal watch: say another --state, which begins"
        ):
            WatchState(path)
        assert path.read_bytes() == content


# --- outcomes that depend on each other, probabilities of an event ------------------------


def test_blocks_bound_false_alarms_of_dependent_outcomes():
    """At alpha .05, of 60 calibrated streams: far more than that without blocks, not with blocks of 20."""
    alarms = {block: np.isfinite(alarm_times(60, 2000, correlation=0.5, block=block)).sum() for block in (1, 20)}
    assert alarms[1] > 9
    assert alarms[20] <= 3


def test_blocks_of_equal_frames_are_one_sample_each():
    """Ten equal outcomes in a row are no more evidence than one."""
    alarms = 0
    for run in range(60):
        p, y = simulate_stream(200, np.random.default_rng(run))
        alarms += CalibrationWatch(block=10).update(p.repeat(10), y.repeat(10))
    assert alarms <= 7  # 99 % of binomials of 60 and 0.05


@pytest.mark.parametrize(
    ("change", "direction"),
    [
        (lambda z: z - 1, "too high"),
        (lambda z: z + 1, "too low"),
        (lambda z: z / 2, "too extreme"),
        (lambda z: 2 * z, "not extreme enough"),
    ],
)
def test_probabilities_of_an_event_are_named_by_what_is_wrong(change, direction):
    rng = np.random.default_rng(1)
    z = 2 * rng.normal(size=3000)
    watch = CalibrationWatch(of="probability")
    assert watch.update(expit(z), rng.random(3000) < expit(change(z)))
    assert watch.direction == direction
    assert f"predicted probabilities are {direction}" in watch.words
    assert not CalibrationWatch(of="probability").update(expit(z), rng.random(3000) < expit(z))


def test_two_probabilities_are_those_of_an_event():
    one, two = (CalibrationWatch(of="probability") for _ in range(2))
    p, y = np.array([0.2, 0.7, 0.4]), np.array([0, 1, 1])
    one.update(p, y)
    two.update(np.stack([1 - p, p], -1), y)
    assert one.to_json() == two.to_json()
    with pytest.raises(ValueError, match=r"an event must have two probabilities, 1 - p and p\. Got 3"):
        one.update([[0.2, 0.3, 0.5]], [1])


# --- focal watch --------------------------------------------------------------------------


def call(*arguments, input=None):
    return CliRunner().invoke(main, ["watch", *map(str, arguments)], input=input)


def steps(state):
    return WatchState(state).watch.steps


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
    assert others[-1] == "Next: calibrate again, on recent samples (focal calibrate)."
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
    assert new == "1,500 of the 2,400 samples are new."
    assert others[-1].endswith("then watch anew, with another --state than state.json.")
    assert steps(state) == 2400
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
    assert steps(state) == 6  # what a pipe gave is gone: it has been counted
    state.write_bytes(state.read_bytes()[:-5000])
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


# --- calls that are killed, repeated, or made at once -------------------------------------


def start(*arguments, **options):
    command = [sys.executable, "-m", "focal_lib.cli", "watch", *map(str, arguments)]
    return subprocess.Popen(command, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=ROOT, **options)


def test_two_calls_at_once_lose_nothing(tmp_path):
    for name in "ab":
        (tmp_path / f"{name}.csv").write_text("confidence,correct\n" + "0.9,1\n" * 10_000)
    calls = [start(tmp_path / f"{name}.csv", "--state", tmp_path / "st.db") for name in "ab"]
    outputs = [call.communicate()[0] for call in calls]
    assert steps(tmp_path / "st.db") == 20_000, outputs


def test_a_file_counts_once(drifting, tmp_path):
    state, data = tmp_path / "st.db", tmp_path / "in.csv"
    data.write_text(as_csv(*drifting))
    first, again = call(data, "--state", state), call(data, "--state", state)
    assert (first.exit_code, again.exit_code, steps(state)) == (1, 1, 2400)
    assert "0 of the 2,400 samples are new." in again.output
    data.write_text(as_csv(*drifting) + "0.5,1\n")
    assert "2,401 of the 4,801 samples are new." in call(data, "--state", state).output


def test_a_sample_counts_once_and_when_its_outcome_is_there(tmp_path):
    state, data = tmp_path / "st.db", tmp_path / "in.csv"
    data.write_text("key,score,label\na,0.5,1\nb,0.25,\n")
    late = call(data, "--state", state, "--id", "key")
    assert "Left out, without an outcome so far: 1. Give them again when it is there." in late.output
    data.write_text("key,score,label\na,0.5,1\nb,0.25,0\nc,0.5,1\n")
    assert "2 of the 3 samples are new." in call(data, "--state", state, "--id", "key").output
    assert WatchState(state).watch._confidence == pytest.approx(1.25)
    data.write_text("confidence,correct\n0.5,1\n")
    mixed = call(data, "--state", state)
    assert (mixed.exit_code, "of must be that of the state, probability" in mixed.output) == (2, True)


@pytest.mark.skipif(os.name != "posix", reason="a pipe and a signal")
def test_an_alarm_that_was_printed_is_in_the_state(tmp_path):
    state = tmp_path / "st.db"
    running = start("-", "--state", state, stdin=subprocess.PIPE)
    running.stdin.write("confidence,correct\n" + "0.99,0\n" * 10)
    running.stdin.flush()
    assert running.stdout.readline().startswith("Alarm at sample")
    running.send_signal(signal.SIGKILL)
    running.communicate()
    assert WatchState(state).watch.alarm
    found = call("-", "--state", state, input="confidence,correct\n0.9,1\n")
    assert (found.exit_code, steps(state)) == (1, 11)
