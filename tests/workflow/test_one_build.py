"""Two builds in one folder come one after the other, whatever ends the first."""

from __future__ import annotations

import errno
import os
import signal
import subprocess
import sys

import pytest

from reproduction.checkout import ROOT
from workflow import one_build
from workflow.one_build import take_turn

WAITS = "Another build is at work in this folder: waiting for its end.\n"


@pytest.fixture
def start(tmp_path):
    """Begin a command behind the lock of a folder; what is left of it at the end is killed."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # a job in the background inherits one ignored
    begun = []

    def begin(*command: str) -> subprocess.Popen[str]:
        whole = [sys.executable, "-m", "workflow.one_build", *command]
        environment = os.environ | {"PYTHONPATH": str(ROOT)}
        begun.append(subprocess.Popen(whole, cwd=tmp_path, env=environment, stdin=-1, stdout=-1, stderr=-1, text=True))
        return begun[-1]

    yield begin
    signal.signal(signal.SIGINT, before)
    for build in begun:
        build.kill()
        build.communicate()


def end(build: subprocess.Popen[str]) -> tuple[str, str]:
    """What it says until it ends, which it must within a minute."""
    return build.communicate(timeout=60)


def test_the_second_waits_for_the_first(start, tmp_path):
    held = take_turn(tmp_path)
    second = start("echo", "built")
    assert second.stdout.readline() == WAITS
    os.close(held)
    assert end(second) == ("built\n", "")
    assert second.returncode == 0


def test_one_that_is_killed_keeps_nobody_waiting(start):
    first = start("sh", "-c", "echo begun; exec cat")
    assert first.stdout.readline() == "begun\n"
    second = start("echo", "built")
    assert second.stdout.readline() == WAITS
    first.send_signal(signal.SIGKILL)
    assert end(second) == ("built\n", "")


def test_a_failure_is_that_of_the_command(start):
    build = start("sh", "-c", "exit 3")
    assert end(build) == ("", "")
    assert build.returncode == 3


def test_who_stops_waiting_leaves_quietly(start, tmp_path):
    held = take_turn(tmp_path)
    second = start("echo", "built")
    assert second.stdout.readline() == WAITS
    second.send_signal(signal.SIGINT)
    assert end(second) == ("", "")
    assert second.returncode == 130
    os.close(held)


def test_an_absent_command_is_named(start):
    build = start("no-such-command")
    said = "a command that there is must come after workflow.one_build. Got no-such-command.\n"
    assert end(build) == ("", said)
    assert build.returncode == 1


def test_a_file_system_without_locks_is_built_on(tmp_path, monkeypatch, capsys):
    def refuse(held, how):
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr(one_build.fcntl, "flock", refuse)
    os.close(take_turn(tmp_path))
    assert capsys.readouterr().err == "No lock here (No locks available): do not build twice at once.\n"


def test_make_starts_snakemake_behind_the_lock_alone():
    source = (ROOT / "Makefile").read_text().replace("\\\n", " ")
    call = "-m workflow.call_snakemake"
    calls = [
        line for line in source.splitlines() if any(way in line for way in (call, "-m snakemake", "bin/snakemake"))
    ]
    assert len(calls) == 1
    assert "-m workflow.one_build" in calls[0].split(call)[0]
