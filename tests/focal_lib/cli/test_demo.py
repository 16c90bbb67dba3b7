"""focal demo: the commands it prints work on the files it leaves, and find the temperature of 2."""

import pytest
from click.testing import CliRunner

from focal_lib.calibration.saved import load_calibrator
from focal_lib.cli import main


def test_the_next_commands_are_right(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    run = CliRunner().invoke
    done = run(main, ["demo"])
    assert done.exit_code == 0, done.output
    commands = [line.split()[1:] for line in done.output.splitlines() if line.startswith("  focal ")]
    quick = {"calibrate": ["--methods", "temperature", "--resamples", "20", "--keep", "temperature"]}
    found = {name: run(main, [name, *rest, *quick.get(name, [])]) for name, *rest in commands}
    assert {name: one.exit_code for name, one in found.items()} == {"calibrate": 0, "check": 1, "watch": 1}
    assert "They look too extreme since" in found["watch"].output
    fits = [load_calibrator("focal-demo/report/calibrator.json")]
    again = ["calibrate", "focal-demo/classes.npz", "--out", "r", *quick["calibrate"]]
    assert run(main, again).exit_code == 0
    for fit in (*fits, load_calibrator("r/calibrator.json")):
        assert fit.temperature_ == pytest.approx(2, rel=0.15)


def test_it_is_the_same_again(tmp_path):
    for name in "ab":
        assert CliRunner().invoke(main, ["demo", "--out", str(tmp_path / name)]).exit_code == 0
    first, second = ({path.name: path.read_bytes() for path in (tmp_path / name).iterdir()} for name in "ab")
    assert first == second
