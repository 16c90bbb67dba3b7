"""Two builds in one folder come one after the other, whatever ends the first."""

from __future__ import annotations

import errno
import os
import signal
import subprocess
import sys
from pathlib import Path

from focal_lib.checkout import ROOT
from workflow import one_build
from workflow.one_build import take_turn

WAITS = "Another build is at work in this folder: waiting for its end.\n"


def start(folder: Path, *command: str) -> subprocess.Popen[str]:
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    whole = [sys.executable, "-m", "workflow.one_build", *command]
    return subprocess.Popen(whole, cwd=folder, env=environment, stdin=-1, stdout=-1, stderr=-1, text=True)


def test_the_second_waits_for_the_first(tmp_path):
    held = take_turn(tmp_path)
    with start(tmp_path, "echo", "built") as second:
        assert second.stdout.readline() == WAITS
        os.close(held)
        assert second.communicate() == ("built\n", "")
        assert second.returncode == 0


def test_one_that_is_killed_keeps_nobody_waiting(tmp_path):
    with start(tmp_path, "sh", "-c", "echo begun; exec cat") as first:
        assert first.stdout.readline() == "begun\n"
        with start(tmp_path, "echo", "built") as second:
            assert second.stdout.readline() == WAITS
            first.send_signal(signal.SIGKILL)
            assert second.communicate() == ("built\n", "")


def test_a_failure_is_that_of_the_command(tmp_path):
    with start(tmp_path, "sh", "-c", "exit 3") as build:
        assert build.communicate() == ("", "")
        assert build.returncode == 3


def test_who_stops_waiting_leaves_quietly(tmp_path):
    held = take_turn(tmp_path)
    with start(tmp_path, "echo", "built") as second:
        assert second.stdout.readline() == WAITS
        second.send_signal(signal.SIGINT)
        assert second.communicate() == ("", "")
        assert second.returncode == 130
    os.close(held)


def test_an_absent_command_is_named(tmp_path):
    with start(tmp_path, "no-such-command") as build:
        assert build.communicate() == (
            "",
            "a command that there is must come after workflow.one_build. Got no-such-command.\n",
        )
        assert build.returncode == 1


def test_a_file_system_without_locks_is_built_on(tmp_path, monkeypatch, capsys):
    def refuse(held, how):
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr(one_build.fcntl, "flock", refuse)
    os.close(take_turn(tmp_path))
    assert capsys.readouterr().err == "No lock here (No locks available): do not build twice at once.\n"


def test_make_starts_snakemake_behind_the_lock_alone():
    source = (ROOT / "Makefile").read_text().replace("\\\n", " ")
    calls = [line for line in source.splitlines() if "bin/snakemake" in line or "$(BIN)/snakemake" in line]
    assert len(calls) == 1
    assert "-m workflow.one_build" in calls[0].split("$(BIN)/snakemake")[0]
