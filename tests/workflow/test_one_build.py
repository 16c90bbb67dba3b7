"""Two builds in one folder come one after the other, whatever ends the first."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from focal_lib.checkout import ROOT
from workflow.one_build import LOCK, take_turn

WAITS = "Another build is at work in this folder: waiting for its end.\n"


def start(folder: Path, *command: str) -> subprocess.Popen[str]:
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    whole = [sys.executable, "-m", "workflow.one_build", *command]
    return subprocess.Popen(whole, cwd=folder, env=environment, stdin=-1, stdout=-1, stderr=-1, text=True)


def test_the_second_waits_for_the_first(tmp_path):
    held = take_turn(tmp_path / LOCK)
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


@pytest.mark.parametrize("word", ["book", "notebooks"])
def test_make_builds_one_at_a_time(word):
    lines = (ROOT / "Makefile").read_text().splitlines()
    assert any(line.startswith("\t@$(SNAKEMAKE) " + word) for line in lines)
    assert any(line.startswith("SNAKEMAKE := ") and "-m workflow.one_build" in line for line in lines)
