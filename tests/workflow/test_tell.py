"""What a build says of each job that ends, by the Snakefile's own rules and by workflow/tell.py alone."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time

import pytest

from reproduction.checkout import ROOT

TELL = [sys.executable, str(ROOT / "workflow" / "tell.py")]


@pytest.fixture
def tell(tmp_path):
    """What is said of a job with this exit status and log, and the exit status of who says it."""

    def run(status, log=None, made=None):
        if log is not None:
            (tmp_path / "log.txt").write_text(log)
        environment = os.environ | {"FOCAL_MADE": str(made or tmp_path / "none")}
        command = [*TELL, str(status), "7", "page x", "log.txt"]
        done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True)
        assert (done.returncode, done.stdout) == (status, "")
        return done.stderr.splitlines()

    return run


def test_a_finished_job_is_told_in_a_line_with_the_time_left(tell, tmp_path):
    made = tmp_path / "made"
    made.write_text(f"3 {time.time() - 120:.0f}\n")
    patterns = ["2 of 3 left, about 4 min", "1 of 3 left, about 1 min", r"the last, after 2\.[01] min"]
    for rest in patterns:
        (line,) = tell(0, made=made)
        assert re.fullmatch(rf"page x +7 s   {rest}", line)


@pytest.mark.parametrize("content", [None, "", "half\n"])
def test_where_nobody_counts_nothing_is_said_of_the_time_left(tell, tmp_path, content):
    if content is not None:
        (tmp_path / "made").write_text(content)
    (line,) = tell(0, made=tmp_path / "made")
    assert re.fullmatch(r"page x +7 s", line)


def test_a_failed_job_shows_the_end_of_its_log(tell):
    first, *shown = tell(3, "".join(f"line {i}\n" for i in range(100)))
    assert first == "page x FAILED, status 3. The end of log.txt:"
    assert shown == [f"    line {i}" for i in range(40, 100)]


def test_a_reason_is_told_in_a_line(tell):
    assert tell(1, "chatter\nError: no data.\n") == ["page x FAILED: no data."]
    assert tell(75, "chatter\nStopped: time is up.\n") == ["page x stopped: time is up."]


def test_a_failed_job_without_a_log_is_named(tell):
    assert tell(137) == ["page x FAILED, status 137. The end of log.txt:"]
